"""Seminars: sheets whose tasks check themselves, and what is handed out made from one source.

    sheet = seminar.sheet("cancer_myth")        # bedside/seminar/cancer_myth/sheet.py
    sheet.check("1.2", {"a": -1, "b": ...})     # says what is right, what isn't yet, how to go on

Rooms: `tasks` (a sheet, its checks, what they say), `answers` (what checks share), `display`,
`classroom` (what is handed in), `overview` (a class on a page), `editions` (students',
instructors', the zip), and a package a sheet with its `material` (what is shown) and its `sheet`
(the checks of its tasks).
"""

import importlib
from pathlib import Path

from bedside import choose
from bedside.shown import prose as shown

from .answers import choice, fields, near, nothing, number, numbers, right
from .classroom import handed_in
from .display import finished
from .tasks import Feedback, Sheet, Wrong, needs, open_in, task

__all__ = [
    "Feedback",
    "Sheet",
    "Wrong",
    "choice",
    "fields",
    "finished",
    "handed_in",
    "kind",
    "names",
    "near",
    "needs",
    "nothing",
    "number",
    "numbers",
    "open_in",
    "right",
    "sheet",
    "shown",
    "task",
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
    made = kind(paper)()
    made.paper = paper
    return made
