"""The two editions, made from one source, and a lecturer's own: those in seminar/, as edited there.

A source (notebooks/seminar/) is the instructors' edition: cells tagged `solution` follow the task
that they solve, and cells tagged `instructor` are notes for instructors. The students' edition
lacks both.

    sheets(folder, sources)         # {file: (students' edition, instructors' edition)}
    differences(ours, theirs)       # changed in "1.5 How good is the judge?": 1 cell

What was edited is the instructors' sheet, from which the students' is made, or the students' alone.
"""

import difflib
import json
import re

from bedside import BedsideError, seminar
from bedside.read import paths

from . import built

EDITIONS = "students", "instructors"
OURS = {"solution", "instructor"}  # tags of the cells that students don't get
SOLUTION = "# a solution\n"
WORDS = {"replace": "changed", "delete": "left out", "insert": "added"}
MADE = re.compile(r'seminar\.sheet\("(\w+)"\)')
CHECK = re.compile(r'sheet\.check\("([\d.]+)"')


def tags(cell):
    """A cell's tags."""
    return cell["metadata"].get("tags", [])


def theirs(cell):
    """Whether a cell is for instructors only; a marked solution is, if its tag was lost."""
    return bool(OURS & set(tags(cell))) or "".join(cell["source"]).startswith(SOLUTION)


def edition(source, students):
    """A source as notebook without outputs, for students or for instructors.

    Students don't get the cells for instructors; in the instructors' edition these are marked. The
    source may be an instructors' edition.
    """
    made = json.loads(source.read_text(encoding="utf-8"))
    made["cells"] = [c for c in made["cells"] if not (students and theirs(c))]
    for c in made["cells"]:
        text = "".join(c["source"])
        if "instructor" in tags(c) and not text.startswith("> "):
            c["source"] = "".join(f"> {line}" for line in text.splitlines(keepends=True))
        elif "solution" in tags(c) and not text.startswith(SOLUTION):
            c["source"] = f"{SOLUTION}{text}"
        if c["cell_type"] == "code":
            c["outputs"], c["execution_count"] = [], None
    return made


def ours(sources):
    """{file: (students' edition, instructors' edition)} of the sources."""
    return {p.name: tuple(edition(p, who) for who in (True, False)) for p in sources}


def sheets(folder, sources):
    """The same of the sheets in a folder, as they were edited there; a sheet may be new or gone.

    BedsideError if there are none, one can't be read, or both editions of one were edited.
    """
    known, made = ours(sources), {}
    there = {p.name for who in EDITIONS for p in (folder / who).glob("[0-9]*.ipynb")}
    if not there:
        raise BedsideError(
            f"there are no sheets in {paths.rel(folder)} yet: run `make seminar` first, then edit"
        )
    for name in sorted(there):
        found = [_read(folder / who / name, students=who == "students") for who in EDITIONS]
        edited = [
            sheet is not None and (name not in known or _text(sheet) != _text(known[name][k]))
            for k, sheet in enumerate(found)
        ]
        if all(edited) and _text(found[0]) != _text(_students(folder / "instructors" / name)):
            raise BedsideError(
                f"{name}: both editions were edited. Put all changes into the instructors' sheet,"
                f" and delete {paths.rel(folder / 'students' / name)}"
            )
        if edited[1] or found[0] is None:
            found[0] = _students(folder / "instructors" / name)
        made[name] = tuple(_fitted(f) for f in (found[0], found[1] or known[name][1]))
    return made


def _students(path):
    return _read(path, students=True)


def _read(path, students):
    """A sheet of the folder as an edition; None if it isn't there."""
    if not path.is_file():
        return None
    try:
        return edition(path, students)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BedsideError(f"{paths.rel(path)} is no notebook: mend it, or delete it") from None


def _text(sheet):
    return built.content(sheet)


def _fitted(sheet):
    """A sheet that leaves out the tasks whose checks were taken out of it."""
    code = "\n".join("".join(c["source"]) for c in sheet["cells"] if c["cell_type"] == "code")
    if not (paper := MADE.search(code)):
        return sheet
    gone = [n for n in seminar.kind(paper[1]).tasks() if n not in CHECK.findall(code)]
    told = f'seminar.sheet("{paper[1]}", without={gone!r})'
    for c in sheet["cells"] if gone else ():
        c["source"] = MADE.sub(told, "".join(c["source"]))
    return sheet


def differences(before, after):
    """In sentences, where two editions of a sheet differ."""
    old, new = _text(before), _text(after)
    steps = difflib.SequenceMatcher(None, [*map(str, old)], [*map(str, new)], autojunk=False)
    for what, i, i2, j, j2 in steps.get_opcodes():
        if what != "equal":
            cells, at, n = (old, i, i2 - i) if what == "delete" else (new, j, j2 - j)
            yield f"{WORDS[what]} in “{_heading(cells, at)}”: {n} cell{'s' * (n != 1)}"


def _heading(cells, at):
    """The heading that a cell stands under, or has."""
    above = [
        re.search(r"^#+ (.+)$", text, re.M) for kind, text, _ in cells[: at + 1] if kind != "code"
    ]
    return next((h[1] for h in reversed(above) if h), "the beginning")
