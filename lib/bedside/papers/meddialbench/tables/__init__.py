"""MedDialBench: the rows of tables and figures, a module for each notebook."""

import pandas as pd

from bedside import stats
from bedside.tables import cut_note

from ..rules import NAME as RULES

SCORES = {
    "correct": "share right",
    "misled": "share misled",
    "per_turn": "coverage per turn",
    "full": "full pass",
}


def cut(done, *columns):
    """What captions say of this run's consultations of which a reply was cut at its limit.

    done: a row a consultation, with model, truncated and `columns`, the scores that are shown.
    """
    note = cut_note(done, {c: SCORES.get(c, c) for c in columns})
    counted = "Counted are consultations, cut with any of their replies. "
    return f"{note} {counted if (done['truncated'] > 0).any() else ''}" if note else ""


def over(cases):
    """What captions say of the unit of intervals; cases: a case for each row (n,)."""
    if not (n := cases.nunique()):
        return ""
    few = f"; by bootstrap there are none over fewer than {stats.LEAST}" * (n < stats.LEAST)
    return f"Intervals are over {n} cases{few}. "


def by_doctor(run, done):
    """[(doctor, its rows)], those of the run's doctors that have none too."""
    found = dict(list(done.groupby("model", sort=False)))
    return [(m, found.get(m, done[:0])) for m in dict.fromkeys([*found, *run.models, RULES])]


def unscored(values):
    """How many numbers are missing, for a row's last column; None if all are there."""
    return int(values.isna().sum()) or None


def stack(*frames):
    """Table rows one below the other."""
    return pd.concat([f for f in frames if len(f)], ignore_index=True)
