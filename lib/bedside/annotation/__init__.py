"""Blind annotation: a rater labels replies without seeing who wrote them.

In a notebook, with a document of judged items:

    rows = annotation.rows(document)
    annotation.box(rows, "my_task", group="expert", size=30)    # asks who labels
    session = annotation.Session(rows, "my_task", "Ann", "expert", annotation.Draw(size=30))
    annotation.widget(session)                                  # the same for a known rater

Each label is written to data/external/annotations/<task>/<rater>.jsonl before the next item comes.
Running the cells again resumes where the file stops.

What a study asks raters is in its `labels`, how a reply is shown in `publish.judged_items`, and
whether a judge agrees with people in `judging.trust_cards`.

labelling: all tasks. blind: what a rater sees. sampling: which rows are drawn. log: labels on disk.
session: the way through a sample. handed: pages that need no server, and what comes back. faults:
faults of a label. entrance, training, attention: a study's protocol: consent and background, items
that come first, items with a known answer. widget: the session on screen. raters: labels of several
raters, and judges compared with them.
"""

from . import handed
from .blind import alias, candidates, material, rows
from .labelling import tasks
from .log import ADJUDICATED, FIELDS, FOLDER, Log, read
from .sampling import Draw, Entry, coverage, sample
from .session import Rules, Session, assigned, grouped
from .widget import box, widget

__all__ = [
    "ADJUDICATED",
    "FIELDS",
    "FOLDER",
    "Draw",
    "Entry",
    "Log",
    "Rules",
    "Session",
    "alias",
    "assigned",
    "box",
    "candidates",
    "coverage",
    "grouped",
    "handed",
    "material",
    "read",
    "rows",
    "sample",
    "tasks",
    "widget",
]
