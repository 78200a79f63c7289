"""Judged items: every reply with what judges and people said of it, as rows.

Explorer, raters and seminar share them.

    document = Document("sample")
    run = document.run("my_paper", "03_evaluation")  # a notebook's settings, replayed; asks nobody
    document.share("my_paper q1", text("Question", ...))
    document.add(run, "4.3 evaluation", "q1", "smollm2-135m", "plain", title=..., reply=...,
                 verdicts=[verdict("lexical", "graded", "1 corrected", True)])
    frame(document.content())

A row is one reply of one model to one item under one configuration. Each study's room `rows` fills
a document, its room `labels` says what raters decide. The words, here and in the page's data:

    block       what is shown beside the reply under a heading (its `label`): `text`, `entries` (a
                list), `marked` (a text with places marked), `aligned` (lists side by side) or
                `dialogue`
    shared      blocks that many rows have, such as the question; a row holds their keys
    unit        what repeats, of which intervals are: the question, the case, the patient
    by          whose reply it is: a model's, that of rules without one, a person's, or written for
                the project
    calls       the calls that led to a reply, each with what was sent and what came back
    verdicts    what judges say on the study's main question (`verdict`, `verdicts_by_item`): a
                status, a value if it is `graded`, and whether that is right, that is no failure
    human       what people say on the same question, in the words of the verdicts (`human_label`)
    more        what judges or raters say on other questions (`other_verdict`)
    task        a question that raters are asked about a paper's rows (`Task`)

blocks: what stands at a row. recorded: runs and the document. task: what raters decide. studies:
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
