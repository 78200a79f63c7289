"""Radiation: is each printed table consistent in itself: F1, means and intervals?"""

import pandas as pd

from bedside import stats
from bedside.read.claims import reading

from . import ROUNDED, TABLES, all_scores, rows_of, slack

ASIDE = 0.25  # of the half width; in most bootstraps the mean is nearer to the middle


def f1_bounds(run):
    """Is each mean F1 possible, given mean precision and mean recall?

    Frame model, regime, f1, least, most, fits, below. The harmonic mean is concave, so the mean F1
    is at most the F1 of the means; it is at least P + R - 1. below: the printed F1 is below the F1
    of the means by more than rounding, so it must be a mean of F1.
    """
    parts = []
    for regime, scores in all_scores(run).items():
        s, (p, q, f1) = slack(regime), (scores[c] for c in ("Precision", "Recall", "F1"))
        part = pd.DataFrame({"regime": regime, "f1": f1, "least": (p + q - 1 - 2 * s).clip(0)})
        part["most"] = stats.harmonic(p + s, q + s)
        part["fits"] = f1.between(part["least"] - s, part["most"] + s)
        parts.append(part.assign(below=f1 + s < stats.harmonic(p - s, q - s)))
    return pd.concat(parts).rename_axis("model").reset_index()


def intervals(run):
    """All printed intervals: frame table, row, column, value, low, high, inside, lean.

    lean: the distance of the value from the middle, less rounding, as a share of the interval's
    half width (1: at an end).
    """
    rows = pd.concat([rows_of(run, table) for table in TABLES], ignore_index=True)
    rows = rows[["table", "row", "column", "value", "low", "high"]]
    away = (2 * rows["value"] - rows["low"] - rows["high"]).abs() - 4 * ROUNDED
    return rows.assign(
        inside=rows["value"].between(rows["low"], rows["high"]),
        lean=away.clip(lower=0) / (rows["high"] - rows["low"]),
    )


def readings(run):
    """{id: readings} of our questions about Tables 1 to 7: do means, F1 and intervals fit?

    A mean off the middle of its interval is no proof of an error: a bias-corrected bootstrap may
    have it.
    """
    f1, spans = f1_bounds(run), intervals(run)
    aside = spans[spans["lean"] > ASIDE]
    where = aside.groupby(["table", "row"])["column"].agg(", ".join)
    leaning = "; ".join(f"{table}, {row}: {columns}" for (table, row), columns in where.items())
    below = f"{f1['below'].sum()} of {len(f1)}"
    return {
        "rad-f1": reading(f"{f1['fits'].sum()} do", f1["fits"].all()),
        "rad-f1-means": reading(
            f"{below} lie below the F1 of the means by more than rounding", f1["below"].any()
        ),
        "rad-intervals": reading(f"{spans['inside'].sum()} do", spans["inside"].all()),
        "rad-lean": reading(
            f"further off: {leaning or 'none'}",
            aside.empty or None,
            name="no mean a quarter of the half width off the middle",
        ),
    }
