"""New study: what raters decide about its answers, and records of their labels."""

from bedside.publish.judged_items import Task

from .display import WORDS


def record(row: dict, value: str, by: str) -> dict:
    """A settled label as a row of the source new_study_rated."""
    return {
        "answer_id": row["id"],
        "item": row["item"],
        "answer": row["reply"],
        "label": int(value),
        "labelled_by": by,
    }


TASKS = (
    Task(
        name="new_study",
        paper="new_study",
        title="New study: right answers",
        question="Does the answer say what the reference says?",
        guide="Other words are fine. Leaving out or contradicting the main point is not.",
        choices=(("1", "1", "yes"), ("2", "0", "no")),
        sections=("1 answers",),
        shows=("Question", "Reference"),
        reply="Answer",
        positive="1",
        file="new_study/rated.jsonl",
        record=record,
        words={str(value): words for value, words in WORDS.items()},
    ),
)
