"""Rows on the paper and the summary of its second version."""

from bedside.tables import Row, frame

from ..printed import SUMMARY

KINDS = {
    "different": "different numbers",
    "changed": "changed since the first version",
    "rounded": "the same, rounded",
}


def versions_table(found):
    """What the two texts print differently (`disagreements`), by place; different numbers first."""
    rows = []
    for kind, label in KINDS.items():
        for quantity, part in found[found["kind"] == kind].groupby("quantity", sort=False):
            for r in part.itertuples():
                source = "recomputed" if r.place.startswith("recomputed") else "published"
                place = r.place.replace("v1 ", "paper, ").replace("v2 ", f"{SUMMARY}, ")
                rows.append(Row(f"{label}: {quantity}", place, source, r.value))
    return frame(rows)
