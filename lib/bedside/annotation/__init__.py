"""Blind annotation: a rater labels replies without seeing whose they are.

In a notebook, with a document of judged items:

    rows = annotation.rows(document)
    annotation.box(rows, "my_task", group="expert", size=30)    # asks who labels
    session = annotation.Session(rows, "my_task", "Ann", group="expert", size=30)
    annotation.widget(session)                                  # the same for one that is known

Each label is on disk, in data/external/annotations/<task>/<rater>.jsonl, before the next item
comes. Running the cells again resumes where the file stops.

blind: what a rater sees. sampling: which rows. log: labels on disk. session: the way through a
sample. faults: what is wrong with a label. training: items of a study's protocol that come first.
widget: the same on screen. raters: labels of several people together, and judges held against them.
"""

from .blind import alias, candidates, material, rows
from .log import ADJUDICATED, FIELDS, FOLDER, Log, read
from .sampling import Entry, coverage, sample
from .session import Session
from .widget import box, widget

__all__ = [
    "ADJUDICATED",
    "FIELDS",
    "FOLDER",
    "Entry",
    "Log",
    "Session",
    "alias",
    "box",
    "candidates",
    "coverage",
    "material",
    "read",
    "rows",
    "sample",
    "widget",
]
