"""MedDialBench: tasks for raters of its consultations, and the rows that labels become."""

from collections.abc import Mapping
from pathlib import Path

from bedside.publish.judged_items import text_of
from bedside.read import paths


def diagnosis(row: dict, value: str, by: str) -> dict:
    """A settled label as a row of meddialbench_rated."""
    names = text_of(row, "True diagnosis").split("; ")
    return {
        "pair": row["id"],
        "item": row["item"],
        "truth": names[0],
        "references": names,
        "diagnosis": row["reply"],
        "label": value,
        "kind": "rated",
        "labelled_by": by,
    }


def adherence(row: dict, value: Mapping[str, str], by: str) -> dict:
    """A settled label, {behaviour: yes or no}, as a row of meddialbench_rated_adherence."""
    turns = next(b["turns"] for b in row["blocks"] if b["kind"] == "dialogue")
    lines = [(t["who"], "".join(words for words, _ in t["pieces"])) for t in turns]
    return {
        "dialogue": row["id"],
        "item": row["item"],
        "levels": [] if row["category"] == "cooperative" else row["category"].split(" + "),
        "text": "\n".join(f"{who}: {words}" for who, words in lines),
        "said": "\n".join(words for who, words in lines if who == "Patient"),
        "shown": [part for part, v in value.items() if v == "yes"],
        "labelled_by": by,
    }


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


RECORDS = {"diagnosis": diagnosis, "adherence": adherence}
ASKED = paths.toml(Path(__file__).with_name("tasks.toml"))
TASKS = tuple(
    {"name": name, "paper": "meddialbench", "record": RECORDS[name]}
    | {k: _tuples(v) for k, v in fields.items()}
    for name, fields in ASKED.items()
)
