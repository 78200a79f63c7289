"""MedHalu's Table 7: detected and labelled spans compared (section 4.1)."""

import math

import pandas as pd

from bedside import stats
from bedside.read.checks import joined
from bedside.write.tables import Row, frame

from ..data import PEOPLE
from ..printed import long
from ..spans import TOKEN_SCORES, compared, whole

MEDIAN = "median edit distance"
PRINTED = {"Mean": "mean edit distance", "Med": MEDIAN}
DISTANCES = {
    "distance": "mean edit distance",
    "or_empty": "mean edit distance, nothing detected counted as no text",
}
EXPERTS = f"{PEOPLE}expert"


def span_table(run, judged, items, right):
    """Table 7: edit distances, printed and of this run, and token scores; right: {item: spans}.

    Experts are left out on items whose labelled spans are their own.
    """
    printed = frame(
        Row(f"{r.dataset}: {r.row}", PRINTED[r.metric], "published", r.value)
        for r in long(run, "Table 7").itertuples()
    )
    known = items[items["item"].isin(right)]
    own = items.loc[items["spans"].map(lambda spans: isinstance(spans, list)), "item"]
    fair = judged[(judged["evaluator"] != EXPERTS) | judged["item"].isin(own)]
    every = pd.concat([fair, whole(known)])
    found = _span_scores(compared(every, items, right))
    return pd.concat([printed, found, unread(every, known, right, found)], ignore_index=True)


def unread(judged, known, right, found):
    """Rows of evaluators without any readable reply on a dataset's items `known`."""
    judged = joined(
        judged[judged["item"].isin(known["item"])],  # other answers have no labelled span
        known[["item", "dataset"]],
        validate="many_to_one",
        whole="left",
    )
    lost = judged.drop_duplicates(["dataset", "evaluator", "item"])
    lost = lost.assign(row=lost["dataset"] + ": " + lost["evaluator"], of=lost["item"].map(right))
    lost = lost[~lost["row"].isin(found["row"])]
    return frame(
        Row(row, DISTANCES["distance"], part["source"].iloc[0], None, n=0, unscored=n)
        for row, part in lost.groupby("row", sort=False)
        for n in [int(part["of"].map(len).sum())]
    )


def _span_scores(rows):
    """Edit distances (mean and median) and token scores by dataset and evaluator: table rows.

    rows: as of `compared`. Repeats are averaged for each labelled span (token scores: for each
    item); intervals are over questions. n counts spans (token scores: items), unscored those for
    which nothing was ever detected.
    """
    made = []
    for (dataset, name, source), part in rows.groupby(
        ["dataset", "evaluator", "source"], sort=False
    ):
        spans = (
            part.groupby(["item", "unit", "span"], sort=False)[list(DISTANCES)].mean().reset_index()
        )
        words = part.groupby(["item", "unit"], sort=False)[TOKEN_SCORES].mean().reset_index()
        for means, columns in ((spans, DISTANCES), (words, {c: c for c in TOKEN_SCORES})):
            for column, label in columns.items():
                found = intervals(means, column, label)
                got = int(means[column].notna().sum())
                made += [
                    Row(f"{dataset}: {name}", c, source, *i[:3], got, len(means) - got)
                    for c, i in found.items()
                ]
    return frame(made)


def intervals(means, column, label):
    """{label: interval over questions} of a column's mean, and of the distance's median; or NaN."""
    got = means[means[column].notna()]
    if got.empty:
        names = [label, MEDIAN] if column == "distance" else [label]
        return dict.fromkeys(names, [float("nan")] * 3)
    values, units = got[column].to_numpy(), got["unit"].to_numpy()
    scale = (0, 1 if column in TOKEN_SCORES else math.inf)
    found = {label: stats.mean(values, units, scale=scale)}
    if column == "distance":
        found[MEDIAN] = stats.median(values, units)
    return found
