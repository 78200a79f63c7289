"""An own study's items, for the explorer and for raters."""

from dataclasses import dataclass, field

from bedside.publish.comparison import FAILS_AT
from bedside.publish.judged_items import Display, Document, human_label, row_id, text, text_of
from bedside.write.frames import checked, sent_and_returned

from .judging import said_of
from .study import ANSWER, PAPER, labelled

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


TASK = dict(
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
        ("A refusal, or an answer to something else.", "wrong", "the question stays unanswered"),
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
    made, people = Document(own.name), {}
    for r in () if own.criteria else labelled(own, graded).itertuples():
        people.setdefault(r.answer_id, []).append(r)
    made.papers[PAPER], made.judge[PAPER] = own.name, own.judge
    calls = {key: sent_and_returned(*asked) for key, asked in own.asked.items()}
    made.add(PAPER, shaped(own, graded).to_dict("records"), _display(own, people), calls)
    about = "These are your own questions; this project has not checked them."
    failed = f" An answer fails if its score is at most {100 * own.fails_at:g}% of the points."
    return made.content(about + failed * bool(own.criteria))


def shaped(own, frame):
    """Answers with verdicts as `frames.checked`, a row for each; `frame` as of `verdicts`.

    Below them is what a log's own scorers said of its answers, each as a judge. A score of a rubric
    is right if it is above the one that still fails.
    """
    import pandas as pd

    theirs = of_scorers(own, frame)
    value = frame["value"].astype(float)
    right = value > own.fails_at if own.criteria else value == 1
    frame = pd.concat([frame.assign(right=right), *[theirs] * bool(len(theirs))], ignore_index=True)
    return checked(
        frame.assign(
            value=frame["value"].where(frame["status"] == "graded", None),
            key=frame["sent"],
            reply=frame["answer"],
            finish=[own.asked[k][1].finish if k in own.asked else "" for k in frame["sent"]],
        ),
        own.name,
    )


def of_scorers(own, graded):
    """What a log's scorers said of its answers, as rows of `verdicts`, with the column number.

    A score that is no number is unparsed; `raw` holds it.
    """
    import pandas as pd

    answers = graded.drop_duplicates(ANSWER)
    by = {(r["item"], r["model"], r["configuration"]): r for r in answers.to_dict("records")}
    rows, several = [], len({r["file"] for r in own.scored_elsewhere}) > 1
    for r in own.scored_elsewhere:
        again = f"repeat {r['repeat']}" if r["repeat"] > 1 else "plain"
        model = f"{r['model']} (from {r['file']})".replace(",", ";")
        if answer := by.get((r["item"], model, again)):
            number = r["number"]  # on another scale nobody knows the best and the worst
            said = {"status": "unparsed", "value": None, "raw": r["value"], "right": None}
            if number is not None:
                right = number > FAILS_AT if 0 <= number <= 1 else None
                said |= {"status": "graded", "value": r["value"], "raw": "", "right": right}
            judge = f"{r['scorer']} (from {'the logs' if several else r['file']})"
            said |= {"number": number, "criteria": None, "call": ""}
            rows.append({**answer, "judge": judge, **said})
    return pd.DataFrame(rows)


def _display(own, people):
    """How the answers of a study are shown, with the user's labels by id."""

    def question(row):
        told = [text("Question", row["question"])]
        told += [text("Reference", row["reference"])] if row["reference"] else []
        return {f"{PAPER} {row['item']}": told}

    def human(rows):
        id = row_id(PAPER, own.name, *(rows[0][name] for name in ANSWER))
        found = people.get(id, [])
        return [human_label(label.labelled_by, WORDS[int(label.label)]) for label in found]

    def words(row):
        if own.criteria and isinstance(row["value"], float):
            return {row["value"]: f"{round(100 * row['value'])} % of the points"}
        return WORDS

    texts = {(item, c.id): c.text for item, of in own.criteria.items() for c in of}
    return _Display(
        own.name,
        own.name,
        SECTION,
        category="group",
        words=words,
        shared=question,
        human=human,
        texts=texts,
    )


@dataclass(frozen=True)
class _Display(Display):
    """A display whose verdicts may have a score in percent, and what was said of criteria.

    texts: of criteria, {(item, id): text}.
    """

    texts: dict = field(default_factory=dict)

    def verdict(self, row):
        made, number, listed = super().verdict(row), row.get("number"), row.get("criteria")
        of_rubric = isinstance(listed, list)
        if made["right"] is not None and (of_rubric or (number is not None and number == number)):
            made["score"] = round(100 * (row["value"] if of_rubric else number), 1)
        if of_rubric:
            made["criteria"] = [
                {k: c[k] for k in ("id", "group", "points")}
                | {"text": self.texts[row["item"], c["id"]], "said": said_of(c)}
                for c in listed
            ]
        return made
