"""A class on one page: who has done what, wrong answers by kind, free texts to read aloud.

    write("handed_in")      # handed_in/class.html and class.csv

The recorded answers are checked once more, as data, since anybody can write a file. It shows what
the files hold, whatever that is. Nothing in them is run or followed.
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

from . import built, kind, names
from . import sheet as made_sheet
from .classroom import DONE, folder_of, students
from .tasks import Feedback, open_in

COLUMNS = ["student", "done", "time", "files"]
WORDS = 4  # that a text to read aloud has at least
OPEN = ("open", "", None)  # of a task that isn't in a file
MOST = 50  # texts of one answer
LONG = 10_000  # characters of a text
SIGNS = {state: sign for state, (sign, *_) in Feedback.LOOKS.items()}


def write(folder: Path, named: bool = False) -> tuple[Path, str]:
    """Write class.html and class.csv into a folder of hand-ins; returns the page and a sentence.

    named: whether free texts are shown with pseudonyms. BedsideError if there is no hand-in, or if
    one of the two files was edited.
    """
    folder = folder_of(folder)
    everybody, faults = students(folder, names())
    if not everybody and not faults:
        raise BedsideError(f"nobody has handed in yet: there is no *.json in {paths.rel(folder)}")
    html, csv = folder / "class.html", folder / "class.csv"
    built.refuse_changed([html, csv])
    by = {s: [e for e in everybody if e.sheet == s] for s in _sheets(everybody)}
    why = {s: check(s, those) for s, those in by.items()}
    columns, lines = table(by)
    built.put(csv, tables.csv_text(columns, lines).encode("utf-8-sig"))
    sheets = [sheet(s, those) | {"unchecked": why[s]} for s, those in by.items()]
    made = pages.template(Path(__file__).parent / "overview.html.j2").render(
        frame=pages.frame({f"#{s['id']}": s["title"] for s in sheets}),
        sheets=sheets,
        faults={text(k, 200): text(why, 300) for k, why in faults.items()},
        named=named,
        signs=SIGNS,
        style=(Path(__file__).parent / "overview.css").read_text(encoding="utf-8"),
    )
    built.put(html, prompts.plain(made).encode())
    told = f"{many(everybody, 'hand-in')} of {many(sheets, 'sheet')}"
    return html, told + (f"; {many(faults, 'file')} can't be read" if faults else "")


def check(paper, those):
    """Put what the sheet's checks say in place of what these files say; "" or why that can't be."""
    try:
        made = made_sheet(paper)
    except BedsideError as e:  # a sheet on released data that are not here
        return str(e)
    for one in those:
        for n in made.tasks().keys() & one.answers.keys():
            one.answers[n] = (*_checked(made, n, *one.answers[n]), one.answers[n][2])
    return ""


def _checked(made, task, state, said, answer):
    """What the check says of a recorded answer; a function isn't run, but kept to be read."""
    if made.tasks()[task].code and not open_in(answer):
        return "collected" if state == "right" else state, said
    with contextlib.redirect_stdout(io.StringIO()):
        found = made.feedback(task, answer)
    return found.state, found.text


def many(those, what):
    """A number with its noun, in the plural if need be."""
    return f"{len(those)} {what}{'s' * (len(those) != 1)}"


def _sheets(everybody):
    """The papers whose sheets were handed in, ordered by the numbers of their tasks."""
    return sorted({s.sheet for s in everybody}, key=lambda s: (next(iter(kind(s).tasks())), s))


def _tasks_of(paper, those):
    """The tasks of a sheet that are in somebody's file: a lecturer may have taken out some."""
    every = kind(paper).tasks()
    there = {n for s in those for n in s.answers}
    return [n for n in every if n in there] or list(every)


def table(by):
    """Columns and rows of the CSV, a row for each student: {sheet: its students} in.

    Each task has two columns: the state by the check, and the answer as JSON.
    """
    tasks = {paper: _tasks_of(paper, those) for paper, those in by.items()}
    parts = ("check", "answer")
    columns = COLUMNS + [f"{s} {n} {part}" for s in by for n in tasks[s] for part in parts]
    found = {}
    for paper, those in by.items():
        for s in those:
            found.setdefault(s.label, {})[paper] = s
    return columns, [_row(label, mine, tasks) for label, mine in sorted(found.items())]


def _row(label, mine, tasks):
    """A student's row, in the order of the CSV's columns; mine: {sheet: what was handed in}."""
    cells, done = [], 0
    for paper, numbers in tasks.items():
        for n in numbers:
            s = mine.get(paper)
            state, _, answer = s.answers.get(n, OPEN) if s else ("", "", None)
            done += state in DONE
            cells += [state, "" if answer is None else json.dumps(answer, ensure_ascii=False)]
    files = " ".join(f for s in mine.values() for f in s.files)
    return label, done, max(s.time for s in mine.values()), files, *cells


def titles(paper):
    """A sheet's title and its tasks' titles by number, from its source; without one the paper."""
    for source in sorted((paths.NOTEBOOKS / "seminar").rglob("[0-9]*.ipynb")):
        cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
        whole = "\n".join("".join(c["source"]) for c in cells)
        if f'seminar.sheet("{paper}"' in whole:
            title = re.search(r"^# (?:\d\w?\. )?(.+)$", whole, re.M)
            headings = re.findall(r"^## (\d\.\d+) (.+?)(?: \([^()]*\))?$", whole, re.M)
            return (title[1] if title else paper), dict(headings)
    return paths.papers().get(paper, {}).get("name", paper), {}


def sheet(paper, those):
    """What the page shows of one sheet and of those who handed it in."""
    title, headings = titles(paper)
    checks, tasks = kind(paper).tasks(), _tasks_of(paper, those)
    kinds = {n: found for n in tasks if (found := wrong(n, those))}
    odd = {s.label: list(s.odd) for s in those}
    for s in those:
        if strange := [text(n, 20) for n in s.answers if n not in checks]:
            odd[s.label].append(f"tasks that the sheet doesn't have: {', '.join(strange[:5])}")
    return {
        "id": paper,
        "title": f"Sheet {tasks[0].partition('.')[0]}: {text(title, 120)}",
        "tasks": {n: headings.get(n, "") for n in tasks},
        "students": [_line(s, tasks) for s in those],
        "counts": {n: _counts(n, those) for n in tasks},
        "wrong": {n: found for n, found in kinds.items() if not checks[n].free},
        "again": {n: found for n, found in kinds.items() if checks[n].free},
        "lists": lists(tasks, those),
        "texts": texts(tasks, those),
        "odd": {label: told for label, told in odd.items() if told},
    }


def _line(student, tasks):
    """A student's row."""
    cells = {n: student.answers.get(n, OPEN) for n in tasks}
    return {
        "name": student.label,
        "done": sum(state in DONE for state, *_ in cells.values()),
        "states": {n: state for n, (state, *_) in cells.items()},
        "time": student.time or "no time",
        "files": len(student.files),
    }


def _counts(task, those):
    """How many students are in each state, without empty states."""
    found = Counter(s.answers.get(task, OPEN)[0] for s in those)
    return {state: found[state] for state in SIGNS if found[state]}


def wrong(task, those):
    """The feedback of a task's check on answers that it didn't accept, most frequent first.

    A list of (feedback, how many, their answers as (text, how many)).
    """
    kinds = {}
    for s in those:
        state, said, answer = s.answers.get(task, OPEN)
        if state == "not yet":
            said = said.removeprefix(f"Task {task}: ")
            given = json.dumps(answer, ensure_ascii=False)
            kinds.setdefault(text(said, 500), []).append(text(given, LONG))
    ordered = sorted(kinds.items(), key=lambda k: (-len(k[1]), k[0]))
    return [
        (said, len(given), Counter(sorted(given, key=_mixed)).most_common())
        for said, given in ordered
    ]


def _mixed(text):
    """What to sort texts by in an order that says nothing about their authors."""
    return hashlib.sha256(prompts.clean(text).encode()).digest()


def texts(tasks, those):
    """The longer texts in answers: {task: {part of the answer: [(text, who wrote it, state)]}}.

    Those that the check didn't accept come first. Equal texts are shown once. A text that a student
    repeats from an earlier task is left out. The order says nothing about who wrote them, and is
    the same each time.
    """
    found = {n: {} for n in tasks}
    for s in those:
        told = set()
        for n in tasks:
            state, _, answer = s.answers.get(n, OPEN)
            for leaf in islice(leaves(answer), MOST) if state != "open" else ():
                if leaf not in told:
                    part, said = leaf
                    key = text(said, LONG), state
                    found[n].setdefault(part, {}).setdefault(key, []).append(s.label)
                told.add(leaf)

    def order(said):
        words, _, state = said
        return state != "not yet", _mixed(words)

    def ordered(said):
        return sorted(((w, who, state) for (w, state), who in said.items()), key=order)

    return {
        n: {part: ordered(said) for part, said in sorted(parts.items())}
        for n, parts in found.items()
        if parts
    }


def lists(tasks, those):
    """What the lists of short texts hold: {task: [(entry, how many wrote it, its places)]}.

    The entries are those as written, whatever their case and punctuation; most frequent first.
    """
    found = {}
    for n in tasks:
        entries = {}
        for s in those:
            answer = s.answers.get(n, OPEN)[2]
            if isinstance(answer, list) and all(isinstance(e, str) for e in answer):
                for place, entry in enumerate(answer[:MOST], 1):
                    entries.setdefault(normal(text(entry, 120)), []).append((place, s.label))
        if entries:
            rows = [
                (e, len({who for _, who in at}), sorted(p for p, _ in at))
                for e, at in entries.items()
            ]
            found[n] = sorted(rows, key=lambda r: (-r[1], -len(r[2]), r[2], r[0]))
    return found


def leaves(answer, part=""):
    """The texts of at least WORDS words in an answer: (the keys that lead to it, text)."""
    if isinstance(answer, str):
        if len(answer.split()) >= WORDS:
            yield part, answer
    elif isinstance(answer, dict):
        for key, value in answer.items():
            yield from leaves(value, f"{part} {text(key, 40)}".strip())
    elif isinstance(answer, list):
        for value in answer:
            yield from leaves(value, part)


def text(value, longest):
    """Anybody's text for the page, without control characters and not longer than this."""
    made = re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", prompts.clean(value)
    )
    return made if len(made) <= longest else made[:longest] + " … (cut)"
