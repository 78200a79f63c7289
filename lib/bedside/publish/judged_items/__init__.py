"""Judged items: every reply with the verdicts of judges and the labels of people, as rows.

Explorer, raters and seminar share them.

    content = collect("sample")     # what the studies' notebooks kept, as the explorer shows it
    frame(content)                  # a row for each reply and judge

A row is one reply of one model to one item under one configuration. Each study's room `display`
says how its sections are shown, its room `labels` what raters decide. The terms, here and in the
page's data:

    block       a part shown beside the reply under a heading (its `label`): `text`, `entries` (a
                list), `marked` (a text with marked places), `aligned` (lists side by side) or
                `dialogue`
    shared      blocks that many rows have, such as the question; a row holds their keys
    unit        what repeats and is resampled: the question, the case, the patient
    by          who wrote the reply: a model, rules without one, a person, or this project
    calls       the calls that led to a reply, each with what was sent and what came back
    verdicts    the judges' verdicts on the study's main question (`verdict`): a
                status, a value if it is `graded`, and whether that value is right (no failure)
    human       people's labels on the same question, in the words of the verdicts (`human_label`)
    more        verdicts or labels on other questions (`other_verdict`)
    task        a question that raters answer about a paper's rows (`Task`)

blocks: the parts of a row. display: how a section is shown. document: the rows of a profile. task:
what raters decide. studies: all studies' items. forms: frames and text.
"""

from .blocks import (
    aligned,
    dialogue,
    entries,
    human_label,
    marked,
    other_verdict,
    pieces,
    text,
    text_of,
    verdict,
)
from .display import Display, Row
from .document import BY, Document, row_id
from .forms import ROW, VERDICT, as_text, frame
from .studies import collect, display_of, here
from .task import JOINED, Task, read_task

__all__ = [
    "BY",
    "JOINED",
    "ROW",
    "VERDICT",
    "Display",
    "Document",
    "Row",
    "Task",
    "aligned",
    "as_text",
    "collect",
    "dialogue",
    "display_of",
    "entries",
    "frame",
    "here",
    "human_label",
    "marked",
    "other_verdict",
    "pieces",
    "read_task",
    "row_id",
    "text",
    "text_of",
    "verdict",
]
