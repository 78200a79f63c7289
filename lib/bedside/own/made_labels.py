"""Labels made elsewhere, such as physicians' grades of answers: which of them say right or wrong.

    labels("grades.csv", items, criteria)

A file has COLUMNS. What was labelled is its `answer`, or the reply of its `model` in the study.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from bedside.read import user_files

COLUMNS = ("item", "label", "answer", "model", "repeat", "criterion", "labelled_by")


def labels(
    path: str | Path, items: Collection[str], criteria: Mapping[str, Collection[str]] | None = None
) -> list[tuple[str, dict[str, str]]]:
    """The checked rows of a file of labels, each ("line 2", {column: text}).

    items: those that may be labelled. criteria: {item: ids of the criteria that may be labelled},
    None without a rubric. label: 1 (right, or met) or 0; repeat: from 1, which is what an empty one
    means. Raises BedsideError for a faulty file.
    """
    table, seen = user_files.of_file(path, COLUMNS, COLUMNS[:2]), {}
    for place, row in table.rows:
        row["label"], row["repeat"] = row["label"].strip(), row["repeat"].strip() or "1"
        row["criterion"] = row["criterion"].strip()
        row["labelled_by"] = " ".join(row["labelled_by"].split()) or table.name
        if row["item"] not in items:
            table.fault(place, "item", f"{row['item']!r} is none of the questions")
        elif criteria is not None and row["criterion"] not in criteria[row["item"]]:
            told = ", ".join(criteria[row["item"]])
            table.fault(place, "criterion", f"{row['criterion']!r} is none of: {told}")
        if criteria is None and row["criterion"]:
            table.fault(place, "criterion", "there are no criteria. Name their file with RUBRIC=.")
        if row["label"] not in ("0", "1"):
            table.fault(place, "label", f"{row['label']!r} is neither 1 (right, or met) nor 0")
        if not row["repeat"].isdecimal() or int(row["repeat"]) < 1:
            table.fault(place, "repeat", f"{row['repeat']!r} isn't a whole number of at least 1")
        if bool(row["answer"].strip()) == bool(row["model"]):
            told = "give what was labelled: its text, or the model whose reply it is (and not both)"
            table.fault(place, "answer", told)
        table.once(seen, place, tuple(row.values()), "this label")
    table.close("label")
    return table.rows
