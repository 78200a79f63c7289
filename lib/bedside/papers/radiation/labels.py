"""Radiation: what raters decide about pairs and lists (3.5), and how their labels are stored."""

from bedside.publish.judged_items import text_of

from .display import DECISIONS
from .matching import FLAGS


def record(row: dict, value: str, by: str) -> dict:
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


def pieces(row: dict) -> list[dict]:
    """The decisions of a list's matcher, each as a row whose reply is the decision."""
    made = next((b["text"] for b in row["blocks"] if b["label"] == DECISIONS), "").splitlines()
    by = row["verdicts"][0]["judge"] if row["verdicts"] else ""
    one = {**row, "verdicts": [], "matcher": by}
    return [{**one, "id": f"{row['id']}#{n}", "reply": said} for n, said in enumerate(made, 1)]


def flag(row: dict, value: str, by: str) -> dict:
    """An agreed flag as a row of the source radiation_flagged."""
    whole = row["id"].rpartition("#")[0]
    said = {"matcher": row["matcher"], "list": whole, "decision": row["reply"]}
    return {**said, "label": value, "labelled_by": by}


RIGHT, WRONG, LOST = FLAGS
WORDS = {
    RIGHT: "right",
    WRONG: "false positive: the item means something else than the term",
    LOST: "false negative: it means a term of the reference that nothing else took",
}
TASKS = (
    dict(
        name="side_effect",
        paper="radiation",
        title="Radiation: side effects",
        question="Do the predicted and the reference term name the same side effect?",
        guide=(
            "The same: one thing in different words. Different: a family and one of its members, a"
            " cause and its consequence, the same complaint at another place."
        ),
        examples=(
            ("tiredness, and fatigue", "same", "two words for one thing"),
            ("redness of the skin, and skin reaction", "different", "a member and its family"),
            ("swelling of the arm, and swelling of the breast", "different", "another place"),
        ),
        choices=(("1", "same", "the same side effect"), ("2", "different", "different ones")),
        sections=("3.5 pairs of this run",),
        shows=("Reference term",),
        reply="Predicted side effect",
        positive="same",
        file="radiation/rated.jsonl",
        record=record,
    ),
    dict(
        name="side_effect_list",
        paper="radiation",
        title="Radiation: what the matcher made of a list",
        question="Is the matcher right about this item of the list?",
        guide=(
            "Each list comes item by item, with the reference of the patient's site and all that"
            " was decided on the list. One item counts for one term, and one term for one item: a"
            " second item for a term is rightly left alone."
        ),
        examples=(
            ("tiredness → fatigue", "right", "two words for one thing"),
            ("pain in the ribs → broken rib", "false positive", "pain isn't a fracture"),
            ("tiredness → none, though fatigue is free", "false negative", "nothing else took it"),
        ),
        choices=tuple((str(n), *both) for n, both in enumerate(WORDS.items(), 1)),
        sections=("4 lists",),
        shows=("Reference of the site", DECISIONS),
        reply="Item → term",
        positive=RIGHT,
        split=pieces,
        file="radiation/flagged.jsonl",
        record=flag,
    ),
)
