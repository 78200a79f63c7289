"""All confusion matrices of two classes behind printed scores.

Most scores are one sum of cells over another, so a score between two ends is two linear
inequalities. For fixed positives and true positives no score rises with the false positives, and
those that fit are one run of numbers, whose ends are found without trying each.
"""

from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple

import numpy as np

from .classification import ratio
from .inputs import require

LARGEST = 5000  # items of a matrix
SECONDS = 20.0  # for one search
AT_ONCE = 1_000_000  # pairs of positives and true positives
SLACK = 1e-10  # far below the gap between two scores of LARGEST items
Ends = tuple[float, float]

# scores as (numerator, denominator), each of the cells TP, FP, FN, TN
LINES = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
    "specificity": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "positives": ((1, 0, 1, 0), (1, 1, 1, 1)),
    "predicted": ((1, 1, 0, 0), (1, 1, 1, 1)),
    "weighted recall": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "other precision": ((0, 0, 0, 1), (0, 0, 1, 1)),  # of the class that is not positive
    "other f1": ((0, 0, 0, 2), (0, 1, 1, 2)),
}
OTHERS = {"precision": "other precision", "recall": "specificity", "f1": "other f1"}
MEANS = [f"{mean} {of}" for mean in ("macro", "weighted") for of in OTHERS]
SCORES = ["accuracy", "precision", "recall", "f1", "specificity", *MEANS, "f1 of means", "kappa"]


class Fits(NamedTuple):
    """Matrices that fit: runs (k, 4) of positives, true positives, least and most false positives.

    complete: whether all were searched before the time was over.
    """

    n: int
    runs: np.ndarray
    complete: bool

    @property
    def count(self) -> int:
        """How many matrices fit."""
        return int((self.runs[:, 3] - self.runs[:, 2] + 1).sum())

    def ends(self, name: str) -> Ends:
        """The least and the greatest value of a score among all that fit."""
        p, tp, *fp = self.runs.T
        values = np.concatenate([score(name, self.n, p, tp, end) for end in fp])
        return float(values.min()), float(values.max())


def score(name: str, n: int, p: np.ndarray, tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """A score of matrices (k,) with p positives of n; 0 where a class is never predicted.

    As sklearn.metrics.precision_recall_fscore_support(zero_division=0), for macro and weighted
    means of both classes, and cohen_kappa_score. "f1 of means": of macro precision and recall.
    """
    p, tp, fp = np.broadcast_arrays(*np.atleast_1d(p, tp, fp))
    cells = np.array([tp, fp, p - tp, n - p - fp])
    if name in LINES:
        return ratio(*np.array(LINES[name]) @ cells)
    mean, _, measure = name.partition(" ")
    if mean in ("macro", "weighted"):
        weight = p / n if mean == "weighted" else 0.5
        one, other = (score(m, n, p, tp, fp) for m in (measure, OTHERS[measure]))
        return weight * one + (1 - weight) * other
    if name == "f1 of means":
        a, b = (score(f"macro {m}", n, p, tp, fp) for m in ("precision", "recall"))
        return ratio(2 * a * b, a + b)
    chance = p * (tp + fp) + (n - p) * (n - tp - fp)
    return ratio(n * (cells[0] + cells[3]) - chance, n * n - chance)


def matrices(
    n: int, scores: Mapping[str, Ends], positives: int | None = None, seconds: float = SECONDS
) -> Fits:
    """All matrices of n items whose scores lie within their ends, {score: (low, high)}.

    scores: of SCORES and LINES. Both classes occur. positives: their number, if it is known.
    """
    require((2 <= n <= LARGEST, f"n must be 2 to {LARGEST}, not {n}"))
    bounds = {m: (float(low) - SLACK, float(high) + SLACK) for m, (low, high) in scores.items()}
    order = ["recall", *LINES, *SCORES]  # what leaves least, and is found fastest
    bounds = dict(sorted(bounds.items(), key=lambda given: order.index(given[0])))
    every = np.arange(1, n) if positives is None else np.array([positives])
    every = every[(every > 0) & (every < n)]
    every = every[np.argsort(abs(2 * every - n), kind="stable")]
    found, end, done = [np.zeros((0, 4), dtype=int)], monotonic() + seconds, 0
    while done < len(every) and monotonic() < end:
        many = max(1, AT_ONCE // n)
        found.append(_within(n, every[done : done + many], bounds))
        done += many
    runs = np.concatenate(found)
    return Fits(n, runs[np.lexsort(runs.T[::-1])], done >= len(every))


def _within(n, positives, bounds):
    """The runs of false positives within the bounds, for each number of true positives."""
    p = np.repeat(positives, positives + 1)
    tp = np.arange(len(p)) - np.repeat(np.cumsum(positives + 1) - positives - 1, positives + 1)
    rows = np.array([p, tp, np.zeros(len(p), dtype=int), n - p])
    for name, (low, high) in bounds.items():
        p, tp, least, most = rows
        if name in LINES:
            first, last = _line((tp, p - tp, n - p), *_sides(name, low, high))
            rows[2:] = np.maximum(least, first), np.minimum(most, last)
        else:
            last = _last(name, np.greater_equal, low, n, rows)
            rows[2:] = 1 + _last(name, np.greater, high, n, [p, tp, least, last]), last
        rows = rows[:, rows[2] <= rows[3]]
    for name, (low, high) in bounds.items():  # a score without a denominator is none of the lines
        ends = [score(name, n, *rows[:2], fp) for fp in rows[2:]]
        rows = rows[:, (np.minimum(*ends) >= low) & (np.maximum(*ends) <= high)]
    return rows.T


def _sides(name, low, high):
    """low <= score <= high as two rows r with r · cells >= 0."""
    top, below = np.array(LINES[name])
    return top - low * below, high * below - top


def _line(cells, *sides):
    """The first and last false positives, taken from the true negatives, that meet all sides.

    cells: true positives, false negatives, and negatives.
    """
    first, last = 0, cells[2]
    for a, b, c, d in sides:
        left = sum(k * x for k, x in zip((a, c, d), cells) if k)
        if abs(b - d) < 1e-12:
            last = np.where(left < -1e-7, -1, last)
        elif b > d:
            first = np.maximum(first, np.ceil(-left / (b - d) - 1e-7))
        else:
            last = np.minimum(last, np.floor(-left / (b - d) + 1e-7))
    return first, last


def _last(name, compared, limit, n, rows):
    """The last false positives up to which a score compares so with a limit.

    One below the least where it never does. rows: positives, true positives, least, most.
    """
    p, tp, least, most = rows
    low, high = least - 1, most.copy()
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_] + 1) // 2
        true = compared(score(name, n, p[open_], tp[open_], middle), limit)
        low[open_[true]] = middle[true]
        high[open_[~true]] = middle[~true] - 1
    return low


def meet(a: Ends, b: Ends) -> bool:
    """Whether two ranges have a number in common, however floating point rounds their ends."""
    return a[0] <= b[1] + 1e-9 and b[0] <= a[1] + 1e-9


def kappa_range(agreement: Ends, one: Ends = (0, 1), other: Ends = (0, 1)) -> Ends | None:
    """What the kappa of two raters and two classes can be, given the ends of their agreement and
    of the shares that each calls yes; None if these contradict each other.

    Chance agreement is at least 1/2 - (1 - a)^2 / 2 and at most (1 + a^2) / 2, whatever the shares.
    """
    agreement, one, other = (np.clip(ends, 0, 1).tolist() for ends in (agreement, one, other))
    apart = max(one[0] - other[1], other[0] - one[1], 0)
    alike = max(one[0] + other[0] - 1, 1 - one[1] - other[1], 0)
    low, high = max(agreement[0], alike), min(agreement[1], 1 - apart)
    chance = [p * q + (1 - p) * (1 - q) for p in one for q in other]  # bilinear: most at a corner
    most = min(max(chance), (1 + low * low) / 2)
    least = max(min(chance), (1 - (1 - high) ** 2) / 2)
    if low > high + 1e-9 or least >= 1 - 1e-12:
        return None if low > high + 1e-9 else (-1.0, 1.0)
    return (low - most) / (1 - most) if most < 1 - 1e-12 else -1.0, (high - least) / (1 - least)
