"""How MedHalu's answers, and what models and people say of them, are shown."""

from bedside.publish.judged_items import Display, Row, human_label, marked, text

from .labels import SAYS
from .study import AGAINST, YES

JUDGE = AGAINST  # whose verdicts come first
# models and people, with and without a note: one section, so that they can be set side by side
SECTION = "3 detection"
WORDS = {YES[v]: said for v, said in SAYS.items()}


def answer(row: Row) -> dict[str, list[dict]]:
    """What all readings of an answer share."""
    question, said = (
        text("Question", row["question"]),
        text("Answer under judgement", row["answer"]),
    )
    expert = text("Expert answer", row["expert_answer"])
    return {
        f"medhalu {row['item']}": [question, said],
        f"medhalu {row['item']} key": [expert, text("Label of the answer", row["why"])],
    }


def people(rows: list[Row]) -> list[dict]:
    """People's labels of the answer."""
    return [human_label(*label) for label in rows[0]["people"]]


def spans(rows: list[Row]) -> list[dict]:
    """The answer with labelled and detected spans marked in it, and the note in the prompt."""
    r = rows[0]
    places = {"labelled": r["labelled_spans"], "detected": r["detected_spans"]}
    blocks = [marked("Answer, labelled and detected spans", r["answer"], **places)]
    return blocks + ([text("Note in the prompt", r["note"])] if r["note"] else [])


def _read(section, notebook):
    return Display(
        section,
        notebook,
        SECTION,
        status="failed",
        category=lambda row: f"{row['dataset']}, {row['named']}",
        words=WORDS,
        shared=answer,
        blocks=spans,
        human=people,
        reason=lambda row: "; ".join(row["spans"]),
    )


DISPLAYS = (
    Display(
        "answers",
        "01_benchmark",
        "2.2 answers",
        category="dataset",
        words=WORDS,
        shared=lambda row: {f"medhalu {row['item']} question": [text("Question", row["question"])]},
        human=people,
        reason=lambda row: row["why"],
    ),
    _read("detection", "02_detection"),
    _read("notes", "03_expert_in_the_loop"),
)
