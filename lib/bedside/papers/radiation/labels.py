"""Radiation: what raters decide about pairs and lists (3.5), and how their labels are stored."""

from pathlib import Path

from bedside.publish.judged_items import text_of
from bedside.read import paths

from .display import DECISIONS


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


FUNCTIONS = {
    "side_effect": {"record": record},
    "side_effect_list": {"record": flag, "split": pieces},
}
ASKED = paths.toml(Path(__file__).with_name("tasks.toml"))
TASKS = tuple(
    {"name": name, "paper": "radiation", **FUNCTIONS[name]}
    | {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    for name, fields in ASKED.items()
)
