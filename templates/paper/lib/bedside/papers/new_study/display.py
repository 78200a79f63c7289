"""New study: how its graded replies are shown in the explorer and to raters."""

from bedside.publish.judged_items import Display, Row, human_label, text

WORDS = {0: "0 not right", 1: "1 right"}


def question(row: Row) -> dict[str, list[dict]]:
    """A question and its reference answer, which all replies to it share."""
    blocks = [text("Question", row["question"]), text("Reference", row["reference"])]
    return {f"new_study {row.get('asked', row['item'])}": blocks}


def label(rows: list[Row]) -> list[dict]:
    """The label of a written answer."""
    return [human_label(rows[0]["labelled_by"], WORDS[rows[0]["label"]])]


NOTEBOOK = "01_first_section"
DISPLAYS = (
    Display("answers", NOTEBOOK, "1 answers", words=WORDS, shared=question),
    Display("labelled", NOTEBOOK, "1 labelled answers", words=WORDS, shared=question, human=label),
)
