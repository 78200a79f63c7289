"""MedDialBench: rows of tables and figures, one module for each notebook."""

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, groups
from bedside.write.tables import cut_note, percent

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


def over(rows, cases):
    """What a caption says about the unit of intervals, for each source that its table has.

    rows: the table; cases: the case of each consultation of this run (n,).
    """
    said = ""
    if (n := cases.nunique()) and (rows["source"] == "run").any():
        few = f"; an interval needs at least {stats.LEAST}" * (n < stats.LEAST)
        said = f"This run's intervals are over {n} cases{few}. "
    theirs = rows[(rows["source"] == "recomputed") & rows["low"].notna()]["n"].unique()
    for n in theirs:
        said += f"Recomputed ranges rest on the paper's {n:g} cases. "
    return said


def basis(rows, done, *columns):
    """What a caption says about the cases behind a table, and about cut consultations; see `cut`.

    rows: the table; done: one row for each consultation.
    """
    return over(rows, complete(done, ["case"])["case"]) + cut(done, *columns)


def by_doctor(run, done):
    """[(doctor, its rows)] for all doctors of the run, including those without any row."""
    found = dict(list(groups(done, "model", ["case"])))
    return [(m, found.get(m, done[:0])) for m in dict.fromkeys([*found, *run.models, RULES])]


def with_limits(counts, hits):
    """Counts of `hits` among n scored rows of `of` in all, with limits in percent.

    Adds low and high (Wilson), unscored, and least and most: the share if all unscored rows were no
    hits, or hits.
    """
    limits = [percent(k, n)[1:3] for k, n in zip(counts[hits], counts["n"])]
    low, high = np.array(limits, float).reshape(-1, 2).T
    lost, scale = counts["of"] - counts["n"], 100 / counts["of"]
    least, most = counts[hits] * scale, (counts[hits] + lost) * scale
    return counts.assign(low=low, high=high, unscored=lost, worst=least, best=most)


def unscored(values):
    """How many values are missing, for a row's last column; None if none is."""
    return int(values.isna().sum()) or None


def stack(*frames):
    """Frames of table rows, one below the other."""
    return pd.concat([f for f in frames if len(f)], ignore_index=True)
