"""MedDialBench: which cases can have changed sides, from counts, marks and printed shares.

A table says how many of N cases are right in each of four configurations: the baseline, two levels
and their pair. Which cases these are it doesn't say. Everything here is over all sets of cases that
have the printed counts and, if asked for, marks.
"""

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run

from .design import BASELINE, Design
from .printed import MODELS, N, combinations, counts


def right_in_both(x: int, y: int, starred: bool | None = None, n: int = N) -> tuple[int, int]:
    """Least and most cases right in both of two configurations, of which x and y of n are right.

    starred: whether the exact McNemar test is below 0.05; None: not known.
    """
    both = range(max(0, x + y - n), min(x, y) + 1)
    fits = [k for k in both if starred in (None, stats.mcnemar_counts(x - k, y - k) < 0.05)]
    return fits[0], fits[-1]


def failing(base: int, overlaps: list[tuple[int, int]]) -> pd.DataFrame:
    """Fewest and most eligible cases that fail under a pair, by how many are eligible.

    base: how many cases are right at baseline. overlaps: least and most of them that are right
    under each level and under the pair. Eligible cases are right in the first three; failing ones
    not under the pair. Frame: eligible, fewest, most; any number between the ends can occur.
    """
    (a, most_a), (b, most_b), (least, most) = overlaps
    eligible = np.arange(max(0, a + b - base), min(most_a, most_b) + 1)
    ends = {"fewest": np.maximum(0, eligible - most), "most": np.minimum(eligible, base - least)}
    return pd.DataFrame({"eligible": eligible, **ends})


def pooled(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """`failing` of several models together.

    With each further eligible case the fewest rise ever faster and the most ever slower, so the
    ends of the sum take the models' steps in order.
    """
    steps = pd.concat(part.diff().iloc[1:] for part in parts)
    steps = steps.assign(fewest=steps["fewest"].sort_values().to_numpy())
    steps = steps.assign(most=steps["most"].sort_values(ascending=False).to_numpy())
    first = sum(part.iloc[[0]] for part in parts)
    return pd.concat([first, steps], ignore_index=True).cumsum().astype(int)


def within(ends: pd.DataFrame, low: float = 0.0, high: float = 1.0) -> tuple[float, ...]:
    """Ends of the share of eligible cases that fail, and of their number, if low <= share < high.

    ends: of `pooled`. Least and most share, fewest and most eligible cases; NaN if none fits.
    """
    e = ends["eligible"]
    first = np.maximum(ends["fewest"], np.ceil(low * e - 1e-9) + 0)
    last = np.minimum(ends["most"], e if high >= 1 else np.ceil(high * e - 1e-9) - 1)
    fits = (first <= last) & (e > 0)
    first, last, e = first[fits], last[fits], e[fits]
    return (first / e).min(), (last / e).max(), e.min(), e.max()


def of_pairs(run: Run, design: Design) -> dict[tuple[str, str], pd.DataFrame]:
    """`failing` of all models together, with the printed counts: {(pair, basis): frame}.

    basis: "margins" (counts alone), "marks" (and marks) or "O/E 1": the count of the pair is the
    nearest to what equation 1 expects, the other three keep theirs, and the pair has no mark.
    """
    starred = run.published("Table 9 marks").set_index(["column", "row"])["value"].astype(bool)
    right, found = counts().astype(int), {}
    for pair, (a, b) in combinations(design).items():
        for m in MODELS:
            base, x, y, both = (int(k) for k in right.loc[[BASELINE, a, b, pair], m])
            marks = [bool(starred[c, m]) for c in (a, b, pair)]
            for basis, last, mark in (
                ("margins", both, [None] * 3),
                ("marks", both, marks),
                ("O/E 1", round(x * y / base), [*marks[:2], None]),
            ):
                shared = [right_in_both(base, *three) for three in zip((x, y, last), mark)]
                found.setdefault((pair, basis), []).append(failing(base, shared))
    return {key: pooled(parts) for key, parts in found.items()}
