"""The seminar: sheets with tasks that are checked, made of one text each in notebooks/seminar/.

    sheet = seminar.sheet("cancer_myth")
    sheet.check("1.5", {"sensitivity": "33/40", "specificity": ...})    # right, or what to look at

A sheet's text has its words, tasks, solutions and slides; what an answer is held against is data
in it (`tasks`). Modules: `answers` (reading what students write), `tasks` (the one check),
`sheets` (a sheet in a notebook), a module for each sheet's numbers and displays, `classroom` (what
is handed in), `overview` (a class on one page), `editions` (the build: notebooks, slides, marking
guide, zip) and `demo` (fifteen minutes without an installation).
"""

import importlib

from bedside import choose

from . import sheets

__all__ = ["NAMES", "sheet"]
NAMES = tuple(sheets.READ)


def sheet(name):
    """The sheet of a study; BedsideError if there is none of this name."""
    sheets.hints()
    return importlib.import_module(f"bedside.seminar.{choose(name, NAMES, 'sheet')}").Sheet()
