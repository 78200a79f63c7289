"""Blind annotation: a rater labels replies without seeing whose they are.

In a notebook, with a document of judged items:

    rows = annotation.rows(document)
    session = annotation.Session(rows, "my_task", "Ann", group="expert", size=30)
    annotation.widget(session)

Each label is on disk, in data/external/annotations/<task>/<rater>.jsonl, before the next item
comes. Running the cells again resumes where the file stops.

blind: what a rater sees. sampling: which rows. log: labels on disk. session: the way through a
sample. widget: the same on screen. raters: labels of several people together, and judges held
against them.
"""

from .blind import candidates, material, rows
from .log import FIELDS, FOLDER, Log, read
from .sampling import Entry, coverage, sample
from .session import Session
from .widget import widget

__all__ = [
    "FIELDS",
    "FOLDER",
    "Entry",
    "Log",
    "Session",
    "candidates",
    "coverage",
    "material",
    "read",
    "rows",
    "sample",
    "widget",
]
