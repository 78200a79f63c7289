"""Radiation: what raters decide about pairs of terms (3.5), and how their labels are stored."""

from bedside.rows import Task, text_of


def record(row, value, by):
    """An agreed label as a row of the source radiation_rated."""
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
            "The same: one thing in different words. Different: a family and one of its members, a"
            " cause and its consequence, the same complaint at another place."
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
