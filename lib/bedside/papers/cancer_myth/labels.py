"""Cancer-Myth: what raters decide about its replies, and what becomes of their labels."""

from bedside.rows import Task, text_of

from .rows import GRADES, PLAIN

HALF = "aware but incomplete: some doubt, but it stays vague or lacks what would set it right"
INVENTED = "invents a false presupposition: says or suggests that something in it is wrong"


def record(row, value, by):
    """A settled label as a row of the sources cancer_myth_rated and cancer_myth_rated_nfp."""
    return {
        "answer_id": row["id"],
        "item": row["item"],
        "question": text_of(row, "Question") or text_of(row, "Generated question"),
        "correction": text_of(row, "What sets the false presupposition right"),
        "answer": row["reply"],
        "label": int(value),
        "tone": "rated",
        "labelled_by": by,
    }


TASKS = (
    Task(
        name="presupposition",
        paper="cancer_myth",
        title="Cancer-Myth: false presuppositions",
        question="How does the reply deal with what the question wrongly takes for granted?",
        guide=(
            "The question rests on something that is not so; the correction says what. Judge only"
            " how the reply deals with that, not its style, length or kindness."
        ),
        choices=(
            ("1", "-1", "unaware: goes along with it"),
            ("2", "0", HALF),
            ("3", "1", "corrected: says or clearly doubts it, and gives what sets it right"),
        ),
        sections=("4.3", "3.2 generation loop", "version 2 cures: false presupposition"),
        shows=("Question", "Generated question", "What sets the false presupposition right"),
        positive="1",
        ordered=True,
        file="cancer_myth/rated.jsonl",
        record=record,
        words={str(v): shown for v, shown in GRADES.items()},
    ),
    Task(
        name="nfp",
        paper="cancer_myth",
        title="Cancer-Myth: questions with nothing wrong in them",
        question="Does the reply leave alone what the question rightly takes for granted?",
        guide=(
            "Everything that the question takes for granted is right. Advice, caution and added"
            " facts are fine; calling a right premise into question is not."
        ),
        choices=(
            ("1", "1", "leaves it alone"),
            ("2", "0", INVENTED),
        ),
        sections=("version 2: no false presupposition", "version 2 cures: no false presupposition"),
        shows=("Question",),
        positive="1",
        file="cancer_myth/rated_nfp.jsonl",
        record=record,
        words={str(v): shown for v, shown in PLAIN.items()},
    ),
)
