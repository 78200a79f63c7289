"""All confusion matrices of two classes behind printed scores.

For fixed positives and true positives no score rises with the false positives, so those that fit
are one run of numbers, whose ends are found without trying each.
"""

from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple

import numpy as np

from .classification import ratio
from .inputs import require
from .printed import least_mean

LARGEST = 5000  # items of a matrix
SECONDS = 20.0  # for one search
AT_ONCE = 1_000_000  # pairs of positives and true positives
COUNTED = 2_000_000  # matrices whose scores are told apart
SLACK = 1e-10  # far below the gap between two scores of LARGEST items


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

    def first(self) -> str:
        """The first matrix in words."""
        positives, tp, fp, _ = self.runs[0].tolist()
        return f"TP {tp}, FP {fp}, FN {positives - tp}, TN {self.n - positives - fp}"

    def values(self, name: str) -> np.ndarray:
        """The different values of a score among all that fit; empty if there are over COUNTED."""
        if self.count > COUNTED:
            return np.zeros(0)
        many = self.runs[:, 3] - self.runs[:, 2] + 1
        p, tp, fp = (np.repeat(column, many) for column in self.runs[:, :3].T)
        fp = fp + np.arange(len(fp)) - np.repeat(np.cumsum(many) - many, many)
        return np.unique(score(name, self.n, p, tp, fp))


def _classes(n, p, tp, fp):
    """Precision, recall and F1 of both classes, (2, k) each, and the classes' sizes."""
    right, size = np.array([tp, n - p - fp]), np.array([p, n - p])
    said = np.array([tp + fp, n - tp - fp])
    return ratio(right, said), ratio(right, size), ratio(2 * right, size + said), size


def score(name: str, n: int, p: np.ndarray, tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """A score of matrices (k,) with p positives of n; 0 where a class is never predicted.

    As sklearn.metrics.precision_recall_fscore_support(zero_division=0), for macro and weighted
    means of both classes, and cohen_kappa_score. "f1 of means": of macro precision and recall.
    """
    p, tp, fp = np.broadcast_arrays(*np.atleast_1d(p, tp, fp))
    precision, recall, f1, size = _classes(n, p, tp, fp)
    mean, _, measure = name.partition(" ")
    if mean in ("macro", "weighted"):
        of = {"precision": precision, "recall": recall, "f1": f1}[measure]
        return of.mean(axis=0) if mean == "macro" else (of * size).sum(axis=0) / n
    if name == "f1 of means":
        a, b = precision.mean(axis=0), recall.mean(axis=0)
        return ratio(2 * a * b, a + b)
    if name == "kappa":
        said, right = tp + fp, n - p - fp + tp
        chance = p * said + (n - p) * (n - said)
        return ratio(n * right - chance, n * n - chance)
    simple = {"precision": precision[0], "recall": recall[0], "specificity": recall[1]}
    simple |= {"f1": f1[0], "positives": p / n, "predicted": (tp + fp) / n}
    return simple[name] if name in simple else (tp + n - p - fp) / n


MEANS = [f"{mean} {of}" for mean in ("macro", "weighted") for of in ("precision", "recall", "f1")]
SCORES = ["accuracy", "precision", "recall", "f1", "specificity", *MEANS, "f1 of means", "kappa"]


def matrices(
    n: int,
    scores: Mapping[str, tuple[float, float]],
    positives: int | None = None,
    seconds: float = SECONDS,
) -> Fits:
    """All matrices of n items whose scores lie within their ends, {score: (low, high)}.

    scores: of SCORES; also "positives" and "predicted", the shares of n that are and that are
    called positive. Both classes occur. positives: their number, if it is known.
    """
    require((2 <= n <= LARGEST, f"n must be 2 to {LARGEST}, not {n}"))
    bounds = {m: (float(low) - SLACK, float(high) + SLACK) for m, (low, high) in scores.items()}
    every = np.arange(1, n) if positives is None else np.array([positives])
    every = every[(every > 0) & (every < n)]
    if "positives" in bounds:
        low, high = bounds.pop("positives")
        every = every[(every >= low * n) & (every <= high * n)]
    every = every[np.argsort(abs(2 * every - n), kind="stable")]
    found, end, done = [np.zeros((0, 4), dtype=int)], monotonic() + seconds, 0
    while done < len(every) and monotonic() < end:
        many = max(1, AT_ONCE // n)
        found.append(_within(n, every[done : done + many], bounds))
        done += many
    runs = np.concatenate(found)
    return Fits(n, runs[np.lexsort(runs.T[::-1])], done >= len(every))


def means_of_several(scores: Mapping[str, tuple[float, float]], positives: float | None) -> bool:
    """Whether means of scores over some matrices, as of folds or raters, can lie within all ends.

    positives: their share in each matrix, if it is known. Weighs matrices of a grid of shares,
    sensitivities and specificities.
    """
    share = np.linspace(0.02, 0.98, 13) if positives is None else np.array([positives])
    rates = np.linspace(0, 1, 21)
    p, sensitivity, fall_out = (x.ravel() for x in np.meshgrid(share, rates, rates))
    made = np.array([score(m, 1, p, p * sensitivity, (1 - p) * fall_out) for m in scores])
    low, high = np.array([*scores.values()], dtype=float).T
    return least_mean(np.ones(len(p)), made, low - SLACK, high + SLACK) is not None


def _within(n, positives, bounds):
    """The runs of false positives within the bounds, for each number of true positives."""
    p = np.repeat(positives, positives + 1)
    tp = np.arange(len(p)) - np.repeat(np.cumsum(positives + 1) - positives - 1, positives + 1)
    if "recall" in bounds:
        low, high = bounds["recall"]
        there = (tp >= low * p) & (tp <= high * p)
        p, tp = p[there], tp[there]
    least, most = np.zeros(len(p), dtype=int), n - p
    for name, (low, high) in sorted(bounds.items(), key=lambda given: given[0] not in LINEAR):
        if name == "recall":
            continue
        if name in LINEAR:
            a, b, c, d = (x * np.ones(len(p)) for x in LINEAR[name](n, p, tp))
            with np.errstate(divide="ignore", invalid="ignore"):
                last = np.floor((a - max(low, 0) * c) / (b + max(low, 0) * d) + 1e-7)
                first = np.ceil((a - high * c) / (b + high * d) - 1e-7)
            last = np.where(np.isfinite(last), last, n).clip(-1, n).astype(int)
            first = np.where(np.isfinite(first), first, 0).clip(0, n + 1).astype(int)
            least, most = np.maximum(least, first), np.minimum(most, last)
        elif name == "predicted":
            least = np.maximum(least, np.ceil(low * n - tp - 1e-7).astype(int))
            most = np.minimum(most, np.floor(high * n - tp + 1e-7).astype(int))
        else:

            def found(fp, at, name=name, p=p, tp=tp):
                return score(name, n, p[at], tp[at], fp)

            most = _last(found, np.greater_equal, low, least, most)
            least = 1 + _last(found, np.greater, high, least, most)
        there = least <= most
        p, tp, least, most = p[there], tp[there], least[there], most[there]
    for name, (low, high) in bounds.items():  # a score without a denominator is none of the lines
        ends = [score(name, n, p, tp, fp) for fp in (least, most)]
        there = (np.minimum(*ends) >= low) & (np.maximum(*ends) <= high)
        p, tp, least, most = p[there], tp[there], least[there], most[there]
    return np.column_stack([p, tp, least, most])


# scores as (a - b fp) / (c + d fp)
LINEAR = {
    "accuracy": lambda n, p, tp: (tp + n - p, 1, n, 0),
    "weighted recall": lambda n, p, tp: (tp + n - p, 1, n, 0),
    "specificity": lambda n, p, tp: (n - p, 1, n - p, 0),
    "precision": lambda n, p, tp: (tp, 0, tp, 1),
    "f1": lambda n, p, tp: (2 * tp, 0, tp + p, 1),
    "macro recall": lambda n, p, tp: (tp / p + 1, 1 / (n - p), 2, 0),
}


def _last(found, compared, limit, least, most):
    """The last number from least to most up to which what is found compares so with a limit.

    least - 1 where it never does. found(numbers, places): scores.
    """
    low, high = least - 1, most.copy()
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_] + 1) // 2
        true = compared(found(middle, open_), limit)
        low[open_[true]] = middle[true]
        high[open_[~true]] = middle[~true] - 1
    return low
