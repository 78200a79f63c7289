"""MedDialBench: which cases can have changed sides, from counts, marks and printed shares.

A table says how many of N cases are right in each of four configurations: the baseline, two levels
and their pair. Which cases these are it doesn't say. Everything here is over all whole tables of
four such verdicts that have the printed counts and, if asked for, marks.
"""

import itertools

import numpy as np
import pandas as pd

from bedside import stats

from .design import BASELINE
from .printed import MODELS, N, combinations, counts

CELLS = np.array(list(itertools.product([0, 1], repeat=4)))  # baseline, two levels, their pair


def right_in_both(x: int, y: int, starred: bool | None = None, n: int = N) -> tuple[int, int]:
    """Least and most cases right in both of two configurations, of which x and y of n are right.

    starred: whether the exact McNemar test is below 0.05; None: not known. ValueError if no overlap
    fits.
    """
    both = np.arange(max(0, x + y - n), min(x, y) + 1)
    if starred is not None:
        p = np.array([stats.mcnemar_counts(int(x - k), int(y - k)) for k in both])
        both = both[(p < 0.05) == starred]
    if not len(both):
        raise ValueError(f"no overlap of {x} and {y} right of {n} has the mark {starred}")
    return int(both[0]), int(both[-1])


def failing(right: tuple, overlaps: tuple, n: int = N) -> pd.DataFrame:
    """Fewest and most eligible cases that fail under a pair, by how many are eligible.

    right: how many of n cases are right at baseline, under each level and under their pair.
    overlaps: least and most cases right both at baseline and in each of the other three. Eligible
    cases are right in the first three; failing ones not under the pair. Frame: eligible, fewest,
    most; empty if no table fits. Integer programs, since a linear one may end between counts.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    eligible = CELLS[:, :3].all(axis=1).astype(float)
    fails = eligible * (1 - CELLS[:, 3])
    shared = CELLS[:, :1] * CELLS[:, 1:]
    fixed = np.vstack([np.ones(len(CELLS)), CELLS.T, shared.T])
    least = np.array([n, *right, *(low for low, _ in overlaps)], dtype=float)
    most = np.array([n, *right, *(high for _, high in overlaps)], dtype=float)

    def end(objective, sign, *more):
        found = milp(
            sign * objective,
            constraints=[LinearConstraint(fixed, least, most), *more],
            integrality=np.ones(len(CELLS)),
            bounds=Bounds(0, n),
        )
        return round(sign * found.fun) if found.success else None

    ends, rows = [end(eligible, side) for side in (1, -1)], []
    for e in range(ends[0], ends[1] + 1) if None not in ends else ():
        only = LinearConstraint(eligible[None], e, e)
        rows.append((e, end(fails, 1, only), end(fails, -1, only)))
    return pd.DataFrame(rows, columns=["eligible", "fewest", "most"]).dropna().astype(int)


def pooled(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """`failing` of several models together: eligible, fewest, most of their sums."""
    total = {0: (0, 0)}
    for part in parts:
        made: dict[int, tuple] = {}
        for (e, (low, high)), r in itertools.product(total.items(), part.itertuples()):
            ends = made.get(e + r.eligible, (low + r.fewest, high + r.most))
            made[e + r.eligible] = min(ends[0], low + r.fewest), max(ends[1], high + r.most)
        total = made
    rows = [(e, *total[e]) for e in sorted(total)]
    return pd.DataFrame(rows, columns=["eligible", "fewest", "most"])


def within(found: pd.DataFrame, low: float = 0.0, high: float = 1.0) -> dict[str, float]:
    """Ends of the share of eligible cases that fail, and of their number, if low <= share < high.

    {"low", "high", "fewest", "most"}: of the share, and of the eligible cases; NaN if none fits.
    """
    e = found["eligible"].to_numpy()
    first = np.maximum(found["fewest"], np.abs(np.ceil(low * e - 1e-9)))
    last = np.minimum(found["most"], e if high >= 1 else np.ceil(high * e - 1e-9) - 1)
    fits = (first <= last) & (e > 0)
    if not fits.any():
        return dict.fromkeys(("low", "high", "fewest", "most"), float("nan"))
    shares = (first / np.maximum(e, 1))[fits].min(), (last / np.maximum(e, 1))[fits].max()
    return dict(zip(("low", "high", "fewest", "most"), (*shares, e[fits].min(), e[fits].max())))


def of_pairs(run, design) -> pd.DataFrame:
    """`failing` of each pair and model, with the printed counts and without an interaction.

    Frame: pair, model, basis, eligible, fewest, most. basis: "margins" (counts alone), "marks" (and
    marks) or "O/E 1": the count of the pair is the nearest to what equation 1 expects, the other
    three keep theirs, and the pair has no mark.
    """
    starred = run.published("Table 9 marks").set_index(["column", "row"])["value"].astype(bool)
    right, rows = counts(), []
    for (pair, levels), model in itertools.product(combinations(design).items(), MODELS):
        four = [int(right.at[c, model]) for c in (BASELINE, *levels, pair)]
        even = [*four[:3], round(four[1] * four[2] / four[0])]
        marks = [bool(starred[c, model]) for c in (*levels, pair)]
        tried = (("margins", four, 3 * [None]), ("marks", four, marks))
        for basis, of, mark in (*tried, ("O/E 1", even, [*marks[:2], None])):
            both = tuple(right_in_both(of[0], y, m) for y, m in zip(of[1:], mark))
            rows.append(failing(of, both).assign(pair=pair, model=model, basis=basis))
    return pd.concat(rows)[["pair", "model", "basis", "eligible", "fewest", "most"]]
