"""A class on one page: for each task how answers are spread, wrong ones by kind, free texts.

    write("handed_in")      # handed_in/class.html and class.csv

The recorded answers are checked once more by the sheet's own data, since anybody can write a file.
Nothing in them is run or followed.
"""

import contextlib
import hashlib
import io
import json
from pathlib import Path

import pandas as pd

from bedside import BedsideError
from bedside.publish import pages
from bedside.read import paths, prompts
from bedside.read.checks import normal
from bedside.write import tables

from . import NAMES, built
from . import sheet as opened
from .answers import number
from .classroom import FOLDER, students
from .sheets import DONE, LOOKS

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
    parts = [sheet(s, those) for s, those in by.items() if those]
    made = pages.template(Path(__file__).with_name("overview.html.j2")).render(
        frame=pages.frame({f"#{s['id']}": s["title"] for s in parts}),
        sheets=parts,
        faults={text(k, 200): text(v, 300) for k, v in faults.items()},
        named=named,
        signs=SIGNS,
        done=DONE,
    )
    csv = tables.csv_text(*table([s["rows"] for s in parts])).encode("utf-8-sig")
    built.put(folder, {"class.csv": csv, "class.html": prompts.plain(made).encode()})
    told = f"{len(everybody)} hand-in{'s' * (len(everybody) != 1)}"
    return folder / "class.html", told + (f"; {len(faults)} files can't be read" if faults else "")


def sheet(paper, those):
    """What the page shows of one sheet and of those who handed it in."""
    made, there = opened(paper), {n for s in those for n in s.answers}
    known = {n: t.get("title", "") for n, t in made.tasks().items() if n in there}
    rows = pd.DataFrame(
        [row for s in those for row in checked(made, s, known)],
        columns=["student", "task", "state", "said", "answer"],
        dtype=object,
    )
    return {
        "id": paper,
        "title": f"Sheet {made.number}: {paths.papers()[paper]['name']}",
        "tasks": known,
        "students": those,
        "rows": rows.assign(column=[f"{paper} {n}" for n in rows["task"]]),
        "each": [task(n, known[n], mine) for n, mine in rows.groupby("task", sort=False)],
        "strange": [text(n, 20) for n in sorted(there - {*known})][:5],
    }


def checked(made, student, tasks):
    """What a sheet's checks say of a student's answers, a row for each of these tasks."""
    made.checked.clear()
    for n in tasks:
        answer = student.answers.get(n)
        with contextlib.redirect_stdout(io.StringIO()):
            found = made.check(n, answer)
        yield student.label, n, found.state, found.text, answer


def table(sheets):
    """Columns and rows of the CSV, a row for each student.

    Each task has two columns: the state by the check, and the answer as JSON.
    """
    rows = pd.concat(sheets, ignore_index=True) if sheets else pd.DataFrame()
    if rows.empty:
        return ["student"], []
    answers = [None if a is None else json.dumps(a, ensure_ascii=False) for a in rows["answer"]]
    wide = rows.assign(check=rows["state"], answer=answers).pivot(
        index="student", columns="column", values=["check", "answer"]
    )
    wide = wide.swaplevel(axis=1)[list(rows["column"].unique())]
    wide.columns = map(" ".join, wide.columns)
    done = rows["state"].isin(DONE).groupby(rows["student"]).sum()
    wide.insert(0, "done", done)
    return ["student", *wide], wide.reset_index().itertuples(index=False)


def task(n, title, rows):
    """One task: counts by state, answers as bars by part, wrong ones by kind, and free texts."""
    answered = rows[rows["state"] != "open"]
    values = [
        (r.student, part, value)
        for r in answered.itertuples()
        for part, value in [*_parts(r.answer)][:MOST]
    ]
    flat = pd.DataFrame(values, columns=["student", "part", "value"], dtype=object)
    free = flat["value"].map(lambda v: isinstance(v, str) and len(v.split()) > 3).astype(bool)
    short = flat[~free].assign(value=flat["value"].map(_short))
    wrong = answered[answered["state"] == "not yet"]
    texts = flat[free].assign(value=flat["value"].map(lambda v: text(v, LONG)))
    texts = texts.groupby(["part", "value"])["student"].unique().reset_index()
    texts = texts.sort_values("value", key=lambda column: column.map(_mixed), kind="stable")
    return {
        "number": n,
        "title": title,
        "counts": [(s, k) for s in LOOKS if (k := (rows["state"] == s).sum())],
        "n": len(rows),
        "spread": {part: most(v) for part, v in short.groupby("part", sort=False)["value"]},
        "wrong": [
            (text(said.partition(": ")[2], 500), len(given), most(given.map(_written)))
            for said, given in wrong.groupby("said")["answer"]
        ],
        "texts": {part: mine for part, mine in texts.groupby("part")},
    }


def most(values):
    """The twelve most frequent values with their counts."""
    counts = (
        values.value_counts()
        .reset_index()
        .sort_values(["count", values.name], ascending=[False, True])
    )
    return list(counts.itertuples(index=False, name=None))[:12]


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
    if (made := number(value)) is not None:
        return f"{made:.2f}".rstrip("0").rstrip(".")
    return normal(text(value, 80)) or "-"


def _written(answer):
    return text(json.dumps(answer, ensure_ascii=False), 300)


def _mixed(said):
    """What to sort texts by in an order that says nothing about their authors."""
    return hashlib.sha256(said.encode()).digest()


def text(value, longest):
    """Anybody's text for the page, without control characters and not longer than this."""
    made = prompts.plain(value)
    return made if len(made) <= longest else made[:longest] + " … (cut)"
