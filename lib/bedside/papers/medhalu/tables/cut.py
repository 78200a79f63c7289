"""MedHalu: what captions say of replies cut at their limit, and how the uncut score."""

import pandas as pd

from bedside import stats
from bedside.read.checks import complete
from bedside.write.tables import cut_note

from ..data import PEOPLE, TYPES
from ..scores import COUNTS, averaged
from ..spans import compared


def note(judged, items, score):
    """A caption's words on replies cut at their limit, over all subsets.

    judged: detections; people's have no `truncated` and are left out. score: a function of one
    evaluator's uncut detections and the items that returns {name: number}.
    """
    models = ~complete(judged, ["evaluator"])["evaluator"].str.startswith(PEOPLE)
    replies = complete(judged[models], ["truncated"])
    whole = replies[~replies["truncated"].astype(bool)]
    found = {who: score(part, items) for who, part in whole.groupby("evaluator", sort=False)}
    found = pd.DataFrame.from_dict(found, orient="index")
    said = cut_note(replies.join(found, on="evaluator"), {c: c for c in found}, by="evaluator")
    return f"{said} " if said else ""


def overall(judged, items):
    """Accuracy and macro-F1."""
    accuracy, _, _, f1 = macro(averaged(judged, items))
    return {"accuracy": accuracy, "macro-F1": f1}


def rates(judged, items):
    """Sensitivity and specificity, as shares."""
    yes = averaged(judged, items).groupby("hallucinated")["yes"].mean()
    return {"sensitivity": yes.get(True), "specificity": 1 - yes.get(False, float("nan"))}


def by_type(judged, items):
    """Macro-F1 of each type against the answers without a hallucination."""
    shares = averaged(judged, items)
    parts = {t: shares[shares["type"].isin([t, "none"])] for t in TYPES if t != "none"}
    return {f"macro-F1 of {TYPES[t]}": macro(p)[3] for t, p in parts.items() if len(p)}


def span_distance(right):
    """A function for `note`: the mean edit distance; right: {item: spans}."""

    def score(judged, items):
        rows = compared(judged, items, right)
        return {"mean edit distance": rows.groupby(["item", "span"])["distance"].mean().mean()}

    return score


def macro(shares):
    """`stats.macro` of the shares of yes that could be read; NaN without any."""
    read = shares.dropna(subset=["yes"])
    return stats.macro(read[COUNTS].sum()) if len(read) else [float("nan")] * 4
