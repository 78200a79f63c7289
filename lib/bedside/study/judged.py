"""An own study's items, for the explorer and for raters."""

from bedside.models import NOT_RECORDED
from bedside.rows import Document, Task, call, human_label, text, text_of, verdict

from .own import PAPER, labelled

WORDS = {1: "1 right", 0: "0 wrong"}
SECTION = "own questions"


def record(row, value, by):
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
    """The judged items of a study as `rows.Document.content`, for explorer and annotation."""
    made = Document()
    made.papers[PAPER], made.judge[PAPER] = own.name, own.judge
    made.heard |= {key: call(*asked) for key, asked in own.asked.items()}
    people = {r.answer_id: r for r in labelled(own).itertuples()}
    for r in own.items.itertuples():
        blocks = [text("Question", r.question)]
        blocks += [text("Reference", r.reference)] if r.reference else []
        made.share(f"{PAPER} {r.item}", *blocks)
    for r in graded.itertuples():
        if r.reply_status == NOT_RECORDED:
            continue
        id = made.add(
            own,
            SECTION,
            r.item,
            r.model,
            "plain",
            unit=r.unit,
            by="model",
            sent=r.sent,
            category=r.group,
            title=r.question,
            shared=[f"{PAPER} {r.item}"],
            reply=r.answer,
            status=r.reply_status,
            truncated=r.truncated,
            verdicts=_verdicts(own, r),
        )
        if id in people:
            label = people[id]
            made.rows[id]["human"].append(human_label(label.labelled_by, WORDS[int(label.label)]))
    content = made.content("These are your own questions; this project has not checked them.")
    return content | {"profile": own.name}


def _verdicts(own, r):
    if not own.judge or r.status == "":
        return []
    value = WORDS.get(r.value, "") if r.status == "graded" else ""
    return [verdict(own.judge, r.status, value, r.value == 1, r.raw)]
