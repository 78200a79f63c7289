"""MedDialBench: rows of tables and figures, one module for each notebook."""

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
    """What captions say about consultations of this run in which a reply was cut at its limit.

    done: one row for each consultation, with model, truncated and `columns`, the scores shown.
    """
    note = cut_note(done, {c: SCORES.get(c, c) for c in columns})
    counted = "A consultation counts as cut if any of its replies was. "
    return f"{note} {counted if (done['truncated'] > 0).any() else ''}" if note else ""


def over(cases):
    """What captions say about the unit of intervals; cases: the case of each row (n,)."""
    if not (n := cases.nunique()):
        return ""
    few = f"; a bootstrap interval needs at least {stats.LEAST}" * (n < stats.LEAST)
    return f"Intervals are over {n} cases{few}. "


def by_doctor(run, done):
    """[(doctor, its rows)] for all doctors of the run, including those without any row."""
    found = dict(list(done.groupby("model", sort=False)))
    return [(m, found.get(m, done[:0])) for m in dict.fromkeys([*found, *run.models, RULES])]


def unscored(values):
    """How many values are missing, for a row's last column; None if none is."""
    return int(values.isna().sum()) or None


def stack(*frames):
    """Frames of table rows, one below the other."""
    return pd.concat([f for f in frames if len(f)], ignore_index=True)
