"""An own study's items, for the explorer and for raters."""

import numpy as np

from bedside.publish.judged_items import Display, Document, Task, human_label, row_id, text, text_of
from bedside.write.frames import checked, sent_and_returned

from .study import PAPER, labelled

WORDS = {1: "1 right", 0: "0 wrong"}
SECTION = "own questions"


def record(row: dict, value: str, by: str) -> dict:
    """A settled label as a line of the own studies' labels, on which trust cards rest."""
    return {
        "study": row["id"].split("/")[1],
        "answer_id": row["id"],
        "item": row["item"],
        "question": text_of(row, "Question"),
        "reference": text_of(row, "Reference"),
        "answer": row["reply"],
        "label": int(value),
        "labelled_by": by,
    }


TASK = Task(
    name="own",
    paper=PAPER,
    title="Own questions",
    question="Is the answer right?",
    guide=(
        "With a reference, an answer is right if it says what the reference says, in any words, and"
        " nothing that contradicts it. Without a reference, decide by what you know, and name in"
        " the reason what you consulted."
    ),
    examples=(
        ("Reference: twice a day. Answer: every twelve hours.", "right", "the same in other words"),
        ("Reference: twice a day. Answer: once a day.", "wrong", "it contradicts the reference"),
    ),
    choices=(("1", "1", "right"), ("2", "0", "wrong")),
    sections=(SECTION,),
    shows=("Question", "Reference"),
    reply="Answer",
    positive="1",
    file="rated.jsonl",
    record=record,
    words={str(v): shown for v, shown in WORDS.items()},
)


def document(own, graded):
    """The judged items of a study as `Document.content`, for explorer and annotation."""
    made, people = Document(own.name), {r.answer_id: r for r in labelled(own).itertuples()}
    made.papers[PAPER], made.judge[PAPER] = own.name, own.judge
    calls = {key: sent_and_returned(*asked) for key, asked in own.asked.items()}
    made.add(PAPER, shaped(own, graded).to_dict("records"), _display(own, people), calls)
    return made.content("These are your own questions; this project has not checked them.")


def shaped(own, frame):
    """Answers with verdicts as `frames.checked`, a row for each; `frame` as of `verdicts`."""
    judged = frame["status"] != ""
    return checked(
        frame.assign(
            configuration="plain",
            judge=np.where(judged, own.judge, ""),
            value=frame["value"].where(frame["status"] == "graded", None),
            right=frame["value"] == 1,
            key=frame["sent"],
            reply=frame["answer"],
            finish=[own.asked[k][1].finish if k in own.asked else "" for k in frame["sent"]],
        ),
        own.name,
    )


def _display(own, people):
    """How the answers of a study are shown, with the user's labels by id."""

    def question(row):
        told = [text("Question", row["question"])]
        told += [text("Reference", row["reference"])] if row["reference"] else []
        return {f"{PAPER} {row['item']}": told}

    def human(rows):
        id = row_id(PAPER, own.name, rows[0]["item"], rows[0]["model"], "plain")
        found = [people[id]] if id in people else []
        return [human_label(label.labelled_by, WORDS[int(label.label)]) for label in found]

    return Display(
        own.name, own.name, SECTION, category="group", words=WORDS, shared=question, human=human
    )
