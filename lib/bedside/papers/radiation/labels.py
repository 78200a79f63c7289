"""Radiation: what raters decide about its pairs of terms, and what becomes of their labels."""

from bedside.rows import Task, text_of


def record(row, value, by):
    """A settled label as a row of the source radiation_rated."""
    return {
        "pair": row["id"],
        "predicted": row["reply"],
        "reference": text_of(row, "Reference term"),
        "label": value,
        "kind": "rated",
        "why": "",
        "labelled_by": by,
    }


TASKS = (
    Task(
        name="side_effect",
        paper="radiation",
        title="Radiation: side effects",
        question="Do the predicted and the reference term name the same side effect?",
        guide=(
            "The same if they mean one thing in other words. A family and one of its members, a"
            " cause and its consequence, and the same complaint at another place are different."
        ),
        choices=(("1", "same", "the same side effect"), ("2", "different", "different ones")),
        sections=("3.5 pairs of this run",),
        shows=("Reference term",),
        reply="Predicted side effect",
        positive="same",
        file="radiation/rated.jsonl",
        record=record,
    ),
)
