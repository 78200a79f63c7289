"""Blind annotation: a rater labels replies without seeing whose they are; each label is on disk before the next item.

In a notebook, with a document of judged items:

    session = annotation.Session(annotation.rows(document), "my_task", "Ann", group="expert", size=30)
    annotation.widget(session)

Labels go to data/external/annotations/<task>/<rater>.jsonl. Running the cells again resumes where
the file stops.

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
