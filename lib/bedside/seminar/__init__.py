"""The seminar: sheets with tasks that are checked, and both editions made from one source.

    sheet = seminar.sheet("cancer_myth")        # bedside/seminar/cancer_myth/
    sheet.check("1.2", {"a": -1, "b": ...})     # right, or what to look at

What a paper's numbers are, and how they are computed, is in the study; a sheet shows them and
checks answers. Notebooks of the seminar are in notebooks/seminar/.

Modules: `tasks` (a sheet, its checks and their feedback), `answers` (what checks share), `display`,
`field` (a pseudonym), `classroom` (what is handed in), `overview` (a class on one page), `editions`
(both editions and their build), `built` (whose files are whose), `handout` (the zip), `projector`
and `demo` (fifteen minutes without an installation). Each sheet has a package: its `material` (what
it shows), its `sheet` (the checks of its tasks), and what these say (words.toml).
"""

import importlib
from pathlib import Path

from bedside import choose
from bedside.write.prose import prose as shown

from . import field
from .answers import Wrong, choice, fields, near, number, numbers, right
from .classroom import handed_in
from .display import finished, graded, run, wrapped
from .tasks import Feedback, Sheet, needs, open_in, task

__all__ = [
    "Feedback",
    "Sheet",
    "Wrong",
    "choice",
    "fields",
    "finished",
    "graded",
    "handed_in",
    "kind",
    "names",
    "near",
    "needs",
    "number",
    "numbers",
    "open_in",
    "right",
    "run",
    "sheet",
    "shown",
    "task",
    "wrapped",
]


def names():
    """The papers that have a sheet."""
    return sorted(p.parent.name for p in Path(__file__).parent.glob("*/sheet.py"))


def kind(paper):
    """The class of a paper's sheet; BedsideError if it has none."""
    name = choose(paper, names(), "sheet")
    return importlib.import_module(f"bedside.seminar.{name}.sheet").Sheet


def sheet(paper):
    """The sheet of a paper; BedsideError if it has none."""
    field.hints()
    made = kind(paper)()
    made.paper = paper
    return made
