"""MedHalu: what raters decide about its answers, and what becomes of their labels."""

from bedside.rows import Task

from .rows import SAYS


def record(label):
    """A rater's own label as a row of the source medhalu_annotations."""
    return {
        "item": label.item,
        "rater": label.rater,
        "group": label.group or "rater",
        "hallucinated": label.value,
        "type": label.type,
        "spans": "\n".join(label.spans),
        "reason": label.reason,
    }


TASKS = (
    Task(
        name="hallucination",
        paper="medhalu",
        title="MedHalu: hallucinations",
        question="Does the answer hold a hallucination?",
        guide=(
            "Yes if anything in it misses what was asked, contradicts itself, or is false. Then say"
            " of which type it mainly is, and mark each place. A reason helps later readers, for"
            " yes and for no."
        ),
        choices=(("1", "yes", "yes, it holds one"), ("2", "no", "no")),
        sections=("2.2 answers",),
        shows=("Question",),
        reply="Answer",
        types=(
            ("i", "input", "input: it misses or contradicts what was asked"),
            ("c", "context", "context: it contradicts itself"),
            ("f", "fact", "fact: it is false"),
        ),
        spans_for="yes",
        positive="yes",
        file="medhalu/annotations.csv",
        record=record,
        each_rater=True,
        words={"yes": SAYS[1.0], "no": SAYS[0.0]},
    ),
)
