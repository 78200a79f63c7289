"""Seminars: sheets whose tasks check themselves, and the two editions and the hand-out made from one source.

    sheet = seminar.sheet("cancer_myth")        # papers/cancer_myth_seminar.py
    sheet.check("1.2", {"a": -1, "b": ...})     # says what is right, what isn't yet, and how to go on

A source (notebooks/seminar/) is the instructors' edition: cells tagged `solution` follow the task that they solve, cells
tagged `instructor` are notes for who teaches. The students' edition lacks both. What isn't solved yet never raises.
"""

import asyncio
import contextlib
import functools
import html
import importlib
import json
import re
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from numbers import Real
from pathlib import Path

from bedside import BedsideError, choose, paths
from bedside.notebooks import execute

OURS = {"solution", "instructor"}  # tags of the cells that students don't get
FOLDER = paths.ROOT / "seminar"
NEEDED = (
    "LICENSE",
    "Makefile",
    "README.md",
    "environment.yml",
    "pyproject.toml",
    "requirements.lock",
    "data/*.toml",
    "data/prompts",
    "data/published",
    "data/sample",
    "data/seen",
    "data/recordings/*/sample",
    "figures/sample/*/trust_*.json",
    "figures/sample/explorer.html",
    "lib/bedside",
    "notebooks/*/[0-9][0-9]_*.ipynb",
)  # of the checkout, for students


class Feedback:
    """What a check says: ok (None: not answered yet) and text; a notebook shows it."""

    def __init__(self, ok, text):
        self.ok, self.text = ok, text

    def __repr__(self):
        return f"{ {True: '✓', False: '✗', None: '…'}[self.ok] } {self.text}"

    def _repr_html_(self):
        edge = {True: "solid", False: "double", None: "dotted"}[self.ok]
        return (
            f'<div style="border-left: 6px {edge}; padding: 0.4em 0.8em; max-width:'
            f' 60em">{html.escape(repr(self))}</div>'
        )


def open_in(answer):
    """Whether something is still to be answered: an Ellipsis or None anywhere in it, or blank text."""
    if isinstance(answer, dict):
        return not answer or any(open_in(v) for v in answer.values())
    if isinstance(answer, (list, tuple, set)):
        return any(open_in(v) for v in answer)
    return answer is ... or answer is None or (isinstance(answer, str) and not answer.strip())


def task(number, asks):
    """Mark a method of a sheet as the check of a task: it takes the answer and returns praise, or raises Wrong with what to look at.

    asks: what an answer looks like, for whom hasn't answered or answered with something else.
    """

    def mark(method):
        method.task, method.asks = number, asks
        return method

    return mark


class Wrong(ValueError):
    """An answer that isn't right yet; the text says what to look at."""


def needs(*numbers):
    """A method that takes answers to tasks and shows something: Feedback in its place while one of the answers is open."""

    def wrap(method):
        @functools.wraps(method)
        def shown(self, *answers, **more):
            if lacking := [n for n, a in zip(numbers, answers) if open_in(a)]:
                return Feedback(
                    None,
                    f"This follows from task {' and '.join(lacking)}: answer it, then run this cell"
                    " again.",
                )
            try:
                return method(self, *answers, **more)
            except (TypeError, ValueError, KeyError, AttributeError, IndexError) as e:
                return Feedback(
                    False,
                    f"That can't be shown ({e}). Check the answer of task {' and '.join(numbers)}"
                    " first.",
                )

        return shown

    return wrap


class Sheet:
    """A sheet's data and checks; papers/<paper>_seminar.py derives `class Sheet` from it."""

    def tasks(self):
        """The checks by task number."""
        found = (getattr(type(self), n) for n in dir(type(self)))
        return {m.task: m for m in found if hasattr(m, "task")}

    def check(self, number, answer=...):
        """Feedback on an answer; never raises for an answer, whatever it is."""
        method = self.tasks().get(choose(str(number), self.tasks(), "task"))
        if open_in(answer):
            return Feedback(None, f"Task {number}: not answered yet. {method.asks}")
        try:
            return Feedback(True, f"Task {number}: {method(self, answer)}")
        except Wrong as e:
            return Feedback(False, f"Task {number}: {e}")
        except Exception:  # an answer of another kind than the check expects
            return Feedback(False, f"Task {number}: this can't be read as an answer. {method.asks}")


def sheet(paper):
    """The sheet of a paper."""
    return importlib.import_module(f"bedside.papers.{paper}_seminar").Sheet()


# ---- what sheets share


def finished(coroutine):
    """The result of a coroutine, in a thread of its own: a notebook's loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def shown(frame, digits=2):
    """A frame as a table to be read: texts wrapped and escaped, no index."""
    made = (
        frame.reset_index(drop=True)
        .style.hide(axis="index")
        .format(escape="html", precision=digits, na_rep="")
    )
    made = made.set_properties(
        **{
            "text-align": "left",
            "vertical-align": "top",
            "white-space": "pre-wrap",
            "min-width": "3.5em",
        }
    )
    return made.set_table_styles([{"selector": "th", "props": "text-align: left"}])


def fields(answer, names):
    """An answer's values in the order of these names; Wrong if it is no dict with exactly them."""
    if not isinstance(answer, dict) or set(answer) != set(names):
        raise Wrong(f"Write a dictionary with exactly these keys: {', '.join(map(repr, names))}.")
    return [answer[n] for n in names]


def numbers(answer, names, share=()):
    """The same as numbers; Wrong for what is none, and for a `share` that is written as a percentage."""
    found = fields(answer, names)
    for name, value in zip(names, found):
        if isinstance(value, bool) or not isinstance(value, Real) or value != value:
            raise Wrong(f"{name!r} has to be a number, not {value!r}.")
        if name in share and not 0 <= value <= 1:
            looks = "looks like a percentage" if 1 < value <= 100 else "is none"
            raise Wrong(f"{name!r} has to be a share between 0 and 1; {value:g} {looks}.")
    return found


def near(value, right, by=0.01):
    """Whether a number is right up to rounding."""
    return abs(value - right) <= by + 1e-9


def right(answer, truth, mistakes=(), hint="", by=0.006):
    """Raise Wrong unless an answer's numbers are those of `truth`, both by name.

    First comes percent for a share, or the other way round, if that explains all that is off; then `mistakes`, pairs
    (what to say, {name: the number that this mistake leads to}), of which the first that fits is named; then the hint.
    """
    value = dict(zip(truth, numbers(answer, list(truth))))
    off = [k for k, x in truth.items() if not near(value[k], x, by)]
    if not off:
        return
    if all(truth[k] and near(value[k], 100 * truth[k], max(0.6, by)) for k in off):
        raise Wrong(
            f"{', '.join(off)}: this looks like percent. A share is asked for: write 0.25 for 25%."
        )
    if all(truth[k] and near(100 * value[k], truth[k], max(0.6, by)) for k in off):
        raise Wrong(
            f"{', '.join(off)}: this looks like a share. Percent are asked for: write 25 for 0.25."
        )
    for say, made in mistakes:
        if any(k in off for k in made) and all(near(value[k], x, by) for k, x in made.items()):
            raise Wrong(say)
    raise Wrong(f"not right yet: {', '.join(off)}. {hint}".strip())


LABELS = paths.ROOT / "labels"  # what a class hands in; not in FOLDER, which `build` empties


def hand_in(number, answer, name="", folder=LABELS):
    """Write an answer to folder/<task>_<name>.json, for the class's table; name: a pseudonym. Says in a sentence what was done."""
    if not name.strip() or open_in(answer):
        return (
            f"Nothing was handed in for task {number}: that takes a pseudonym, and an answer"
            " without gaps."
        )
    Path(folder).mkdir(parents=True, exist_ok=True)
    plain = re.sub(r"\W+", "-", name.lower())
    path = Path(folder) / f"{number}_{plain}.json"
    path.write_text(json.dumps(answer))
    return f"Handed in for task {number}: {paths.rel(path)}"


def handed_in(number, folder=LABELS):
    """What was handed in for a task: {name: answer}; a file that can't be read is left out."""
    found = {}
    for path in sorted(Path(folder).glob(f"{number}_*.json")):
        with contextlib.suppress(ValueError):
            found[path.stem.partition("_")[2]] = json.loads(path.read_text())
    return found


# ---- editions


def sources():
    """The sheets' sources in order."""
    return sorted((paths.NOTEBOOKS / "seminar").glob("[0-9]*.ipynb"))


def edition(source, students):
    """A source as notebook for students, without what is not theirs, or for instructors, with that told apart; no outputs."""
    made = json.loads(source.read_text(encoding="utf-8"))
    made["cells"] = [
        c for c in made["cells"] if not (students and OURS & set(c["metadata"].get("tags", [])))
    ]
    for c in made["cells"]:
        tags, text = c["metadata"].get("tags", []), "".join(c["source"])
        if "instructor" in tags:
            c["source"] = "".join(f"> {line}" for line in text.splitlines(keepends=True))
        elif "solution" in tags:
            c["source"] = f"# a solution\n{text}"
        if c["cell_type"] == "code":
            c["outputs"], c["execution_count"] = [], None
    return made


def said(notebook):
    """What the checks of a notebook that has run say, a line each."""
    return [
        line
        for c in notebook["cells"]
        for o in c.get("outputs", [])
        for line in "".join(o.get("data", {}).get("text/plain", o.get("text", ""))).splitlines()
        if line.startswith(("✓", "✗", "…"))
    ]


def build(folder=None):
    """Write both editions and the students' zip; the instructors' are run, so that solutions and results can be read. Returns the zip.

    BedsideError if a solved sheet doesn't run through, or a check in it isn't passed.
    """
    folder = Path(folder or FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("students", "instructors"):
        (folder / name).mkdir(parents=True)
        for source in sources():
            made = edition(source, students=name == "students")
            (folder / name / source.name).write_text(
                json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    for source in sources():
        path = folder / "instructors" / source.name
        execute(path, path, {})
        if failed := [
            line
            for line in said(json.loads(path.read_text(encoding="utf-8")))
            if not line.startswith("✓")
        ]:
            raise BedsideError(f"{paths.rel(source)}: the solutions don't pass: {failed[0]}")
    return hand_out(folder)


def hand_out(folder):
    """The zip for students: their edition, the library, sample data and recordings; no solutions, the same bytes each time."""
    path = folder / "bedside-seminar.zip"
    files = {
        p.relative_to(paths.ROOT).as_posix(): p
        for pattern in NEEDED
        for top in paths.ROOT.glob(pattern)
        for p in ([top] if top.is_file() else top.rglob("*"))
        if p.is_file() and "__pycache__" not in p.parts
    }
    files |= {f"seminar/{p.name}": p for p in (folder / "students").glob("*.ipynb")}
    files["START.md"] = paths.NOTEBOOKS / "seminar" / "START.md"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files):
            z.writestr(
                zipfile.ZipInfo(f"bedside-seminar/{name}", (1980, 1, 1, 0, 0, 0)),
                files[name].read_bytes(),
                zipfile.ZIP_DEFLATED,
            )
    return path
