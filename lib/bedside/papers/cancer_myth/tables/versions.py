"""Rows on the paper and the summary of its second version."""

from bedside.read import published
from bedside.write.tables import Row, frame, published_text_rows

from ..printed import SUMMARY

KINDS = {
    "different": "different numbers",
    "changed": "changed since the first version",
    "rounded": "the same, rounded",
}


def text_table(run):
    """Every number of the texts outside their tables, each with its place."""
    known = published.load(run.paper)["table"].unique()
    rows = frame(
        published_text_rows(run.published(*(name for name in known if "Table" not in name)))
    )
    return rows.assign(row=rows["row"].map(named))


def named(place):
    """A place of data/published in words: which text, and where in it."""
    return place.replace("v1 ", "paper, ").replace("v2 ", f"{SUMMARY}, ")


def versions_table(found):
    """What is printed differently (`disagreements`), by place; different numbers come first."""
    rows = []
    for kind, label in KINDS.items():
        for quantity, part in found[found["kind"] == kind].groupby("quantity", sort=False):
            for r in part.itertuples():
                source = "recomputed" if r.place.startswith("recomputed") else "published"
                rows.append(Row(f"{label}: {quantity}", named(r.place), source, r.value))
    return frame(rows)
