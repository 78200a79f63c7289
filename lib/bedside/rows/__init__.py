"""Judged items: every reply with the verdicts of judges and the labels of people, as rows.

Explorer, raters and seminar share them.

    document = Document("sample")
    run = document.run("my_paper", "03_evaluation")  # a notebook's settings; it only replays
    document.share("my_paper q1", text("Question", ...))
    document.add(run, "4.3 evaluation", "q1", "smollm2-135m", "plain", title=..., reply=...,
                 verdicts=[verdict("lexical", "graded", "1 corrected", True)])
    frame(document.content())

A row is one reply of one model to one item under one configuration. Each study's room `rows` fills
a document; its room `labels` defines what raters decide. The terms, here and in the page's data:

    block       a part shown beside the reply under a heading (its `label`): `text`, `entries` (a
                list), `marked` (a text with marked places), `aligned` (lists side by side) or
                `dialogue`
    shared      blocks that many rows have, such as the question; a row holds their keys
    unit        what repeats and is resampled: the question, the case, the patient
    by          who wrote the reply: a model, rules without one, a person, or this project
    calls       the calls that led to a reply, each with what was sent and what came back
    verdicts    the judges' verdicts on the study's main question (`verdict`, `verdicts_by_item`): a
                status, a value if it is `graded`, and whether that value is right (no failure)
    human       people's labels on the same question, in the words of the verdicts (`human_label`)
    more        verdicts or labels on other questions (`other_verdict`)
    task        a question that raters answer about a paper's rows (`Task`)

blocks: the parts of a row. recorded: runs and the document. task: what raters decide. studies:
all studies' tasks and items. forms: frames and text.
"""

from .blocks import (
    ABSENT,
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
    verdicts_by_item,
)
from .forms import ROW, VERDICT, as_text, frame
from .recorded import BY, Document, Recorded, call, row_id
from .studies import collect, tasks
from .task import JOINED, Task

__all__ = [
    "ABSENT",
    "BY",
    "JOINED",
    "ROW",
    "VERDICT",
    "Document",
    "Recorded",
    "Task",
    "aligned",
    "as_text",
    "call",
    "collect",
    "dialogue",
    "entries",
    "frame",
    "human_label",
    "marked",
    "other_verdict",
    "pieces",
    "row_id",
    "tasks",
    "text",
    "text_of",
    "verdict",
    "verdicts_by_item",
]
