"""Rows on the paper's two versions."""

from bedside.tables import Row, frame

KINDS = {
    "contradicts": "contradicts",
    "changed": "changed between the versions",
    "rounded": "the same, rounded",
}


def versions_table(found):
    """What the versions print differently (`disagreements`), by place; contradictions first."""
    rows = []
    for kind, label in KINDS.items():
        for quantity, part in found[found["kind"] == kind].groupby("quantity", sort=False):
            for r in part.itertuples():
                source = "recomputed" if r.place.startswith("recomputed") else "published"
                rows.append(Row(f"{label}: {quantity}", r.place, source, r.value))
    return frame(rows)
