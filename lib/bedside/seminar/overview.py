"""A class on one page: for each task how answers are spread, wrong ones by kind, free texts.

    write("handed_in")      # handed_in/class.html and class.csv

The recorded answers are checked once more by the sheet's own data, since anybody can write a file.
Nothing in them is run or followed.
"""

import contextlib
import hashlib
import io
import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path

from bedside import BedsideError
from bedside.publish import pages
from bedside.read import paths, prompts
from bedside.read.checks import normal
from bedside.write import tables

from . import NAMES, built, kind
from . import sheet as opened
from .answers import number
from .classroom import DONE, FOLDER, STATES, students
from .sheets import LOOKS

COLUMNS = ["student", "done", "time", "files"]
OPEN = ("open", "", None)  # of a task that isn't in a file
MOST, LONG = 50, 10_000  # texts of one answer; characters of a text
SIGNS = {state: sign for state, (sign, *_) in LOOKS.items()}


def write(folder: Path | None = None, named: bool = False) -> tuple[Path, str]:
    """Write class.html and class.csv into a folder of hand-ins; returns the page and a sentence.

    named: whether free texts are shown with pseudonyms. BedsideError if there is no hand-in, or if
    one of the two files was edited.
    """
    folder = Path(folder or FOLDER)
    if not folder.is_dir():
        raise BedsideError(f"no folder {folder}: put the class's files into one folder and name it")
    everybody, faults = students(folder, NAMES)
    if not everybody and not faults:
        raise BedsideError(f"nobody has handed in yet: there is no *.json in {paths.rel(folder)}")
    by = {s: [e for e in everybody if e.sheet == s] for s in NAMES}
    by = {s: those for s, those in by.items() if those}
    why = {s: check(s, those) for s, those in by.items()}
    parts = [sheet(s, those) | {"unchecked": why[s]} for s, those in by.items()]
    made = pages.template(Path(__file__).with_name("overview.html.j2")).render(
        frame=pages.frame({f"#{s['id']}": s["title"] for s in parts}),
        sheets=parts,
        faults={text(k, 200): text(v, 300) for k, v in faults.items()},
        named=named,
        signs=SIGNS,
        style=Path(__file__).with_name("overview.css").read_text(encoding="utf-8"),
    )
    csv = tables.csv_text(*table(by)).encode("utf-8-sig")
    built.put(folder, {"class.csv": csv, "class.html": prompts.plain(made).encode()})
    told = f"{len(everybody)} hand-in{'s' * (len(everybody) != 1)}"
    return folder / "class.html", told + (f"; {len(faults)} files can't be read" if faults else "")


def check(paper, those):
    """Put what the sheet's checks say in place of what these files say; "" or why that can't be."""
    try:
        made = opened(paper)
    except BedsideError as e:  # a sheet on released data that are not here
        return str(e)
    for one in those:
        made.checked.clear()
        for n in made.tasks():
            if n in one.answers:
                with contextlib.redirect_stdout(io.StringIO()):
                    found = made.check(n, one.answers[n][2])
                one.answers[n] = found.state, found.text, one.answers[n][2]
    return ""


def _tasks_of(paper, those):
    """The tasks of a sheet that are in somebody's file: a lecturer may have taken out some."""
    there = {n for s in those for n in s.answers}
    return [n for n in kind(paper).tasks() if n in there]


def table(by):
    """Columns and rows of the CSV, a row for each student: {sheet: its students} in.

    Each task has two columns: the state by the check, and the answer as JSON.
    """
    tasks = {paper: _tasks_of(paper, those) for paper, those in by.items()}
    columns = COLUMNS + [
        f"{s} {n} {part}" for s in by for n in tasks[s] for part in ("check", "answer")
    ]
    found = {}
    for paper, those in by.items():
        for s in those:
            found.setdefault(s.label, {})[paper] = s
    return columns, [_row(label, mine, tasks) for label, mine in sorted(found.items())]


def _row(label, mine, tasks):
    cells, done = [], 0
    for paper, numbers in tasks.items():
        for n in numbers:
            state, _, answer = mine[paper].answers.get(n, OPEN) if paper in mine else ("", "", None)
            done += state in DONE
            cells += [state, "" if answer is None else json.dumps(answer, ensure_ascii=False)]
    files = " ".join(f for s in mine.values() for f in s.files)
    return label, done, max(s.time for s in mine.values()), files, *cells


def sheet(paper, those):
    """What the page shows of one sheet and of those who handed it in."""
    known, tasks = kind(paper).tasks(), _tasks_of(paper, those)
    odd = {s.label: list(s.odd) for s in those}
    for s in those:
        if strange := [text(n, 20) for n in s.answers if n not in known]:
            odd[s.label].append(f"tasks that the sheet doesn't have: {', '.join(strange[:5])}")
    told = {s.label: set() for s in those}
    return {
        "id": paper,
        "title": f"Sheet {kind(paper).number}: {paths.papers().get(paper, {}).get('name', paper)}",
        "tasks": {n: known[n].get("title", "") for n in tasks},
        "students": [_line(s, tasks) for s in those],
        "each": [_task(n, known[n], those, told) for n in tasks],
        "odd": {label: what for label, what in odd.items() if what},
        "n": len(those),
    }


def _line(student, tasks):
    states = {n: student.answers.get(n, OPEN)[0] for n in tasks}
    done = sum(state in DONE for state in states.values())
    return {
        "name": student.label,
        "done": done,
        "states": states,
        "time": student.time,
        "files": len(student.files),
    }


def _task(n, task, those, told):
    """One task: counts by state, answers as bars by part, wrong ones by kind, and free texts."""
    given = [(s.label, *s.answers.get(n, OPEN)) for s in those]
    counts = Counter(state for _, state, *_ in given)
    spread, wrong, texts = {}, {}, {}
    for label, state, said, answer in given:
        if state == "open":
            continue
        for part, value in islice(_parts(answer), MOST):
            if isinstance(value, str) and len(value.split()) > 3:
                if (part, value) not in told[label]:
                    texts.setdefault(part, {}).setdefault(text(value, LONG), []).append(label)
                told[label].add((part, value))
            else:
                spread.setdefault(part, Counter())[_short(value)] += 1
        if state == "not yet":
            shown = text(json.dumps(answer, ensure_ascii=False), 300)
            wrong.setdefault(text(said.partition(": ")[2], 500), Counter())[shown] += 1
    return {
        "number": n,
        "title": task.get("title", ""),
        "free": task.get("free", False),
        "counts": [(s, counts[s]) for s in STATES if counts[s]],
        "spread": {
            p: sorted(c.most_common(), key=lambda e: (-e[1], e[0]))[:12] for p, c in spread.items()
        },
        "wrong": sorted(wrong.items(), key=lambda w: (-w[1].total(), w[0])),
        "texts": {
            p: sorted(t.items(), key=lambda e: _mixed(e[0])) for p, t in sorted(texts.items())
        },
    }


def _parts(answer, part=""):
    """An answer's values: (the keys that lead to each, value); a list's entries share theirs."""
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield from _parts(value, f"{part} {text(key, 40)}".strip())
    elif isinstance(answer, list):
        for value in answer:
            yield from _parts(value, part)
    else:
        yield part, answer


def _short(value):
    """A value as it is counted: numbers to two decimals, words whatever their case."""
    made = number(value)
    return (
        f"{made:.2f}".rstrip("0").rstrip(".")
        if made is not None
        else normal(text(value, 80)) or "-"
    )


def _mixed(said):
    """What to sort texts by in an order that says nothing about their authors."""
    return hashlib.sha256(said.encode()).digest()


def text(value, longest):
    """Anybody's text for the page, without control characters and not longer than this."""
    made = re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", prompts.clean(str(value))
    )
    return made if len(made) <= longest else made[:longest] + " … (cut)"
