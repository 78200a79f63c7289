"""MedHalu: sensitivity and specificity behind printed scores, and the p values that they allow.

The rates follow from accuracy and macro recall alone (`scores.rates`), so every row has them, be it
one matrix or a mean over raters or runs. The answers are Table 4's, or a sample of them.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from bedside import stats

from ..scores import METRICS, rates
from .numbers import PEOPLE, ROUNDED, answered, by_row, classes, share_error

GRID = np.linspace(0, 1, 21)  # rates that a rater may have, for `mean_ends`
OVERLAPS = {  # of what two rows get right
    "best": np.minimum,
    "none": np.multiply,  # as if unpaired
    "worst": lambda x, y: np.maximum(0, x + y - 1),
}


class Printed(NamedTuple):
    """The numbers that tests start from; keys of scores and at: (table, evaluator, dataset).

    sizes: {dataset: (2,)} as of `classes`; scores: {metric: value}; at: sensitivity and
    specificity (2,).
    """

    sizes: dict
    scores: dict
    at: dict


def printed_rates(run):
    """Tables 6 and 10 with the rates behind them."""
    sizes, scores, at = {d: np.array(n) for d, n in classes(run).items()}, {}, {}
    for table in ("Table 6", "Table 10"):
        found = behind(run, table).set_index(["row", "dataset"])[["sensitivity", "specificity"]]
        for key, told in by_row(run, table).items():
            scores[table, *key], at[table, *key] = told, found.loc[key].to_numpy()
    return Printed(sizes, scores, at)


def behind(run, table, sampled=PEOPLE):
    """Sensitivity and specificity behind each row of Table 6 or 10, with what rounding allows.

    Rows with row, dataset, n (answers judged, of Table 4 or of its sample) and both rates, each
    with its least and most value. sampled: evaluators who judged the sample, in which the share of
    hallucinated answers may be off Table 4's by two standard errors.
    """
    rows, judged = [], answered(run)
    for (name, dataset), told in by_row(run, table).items():
        positive, negative = classes(run)[dataset]
        share, off = positive / (positive + negative), 0
        if name in sampled:
            off = share_error(run, dataset)
        row = {"row": name, "dataset": dataset, "n": judged[name, dataset]}
        found = rates(told["Acc"], told["ma-R"], share)
        ends = _ends_of(told["Acc"], told["ma-R"], share, off).T
        for rate, value, end in zip(("sensitivity", "specificity"), np.clip(found, 0, 1), ends):
            row |= {rate: float(value), f"{rate} least": end.min(), f"{rate} most": end.max()}
        rows.append(row)
    return pd.DataFrame(rows)


def _ends_of(accuracy, recall, share, off=0):
    """Both rates (k, 2) at the limits of what rounding and share -+ off allow."""
    ends = itertools.product(*((-end, end) if end else (0,) for end in (ROUNDED, ROUNDED, off)))
    return np.clip([rates(accuracy + a, recall + r, share + s) for a, r, s in ends], 0, 1)


def confusion(at, positive, negative):
    """Expected confusion matrix (..., 4) of rates (..., 2) on so many answers of each class."""
    tp, tn = at[..., 0] * positive, at[..., 1] * negative
    return np.stack([tp, negative - tn, positive - tp, tn], axis=-1)


def pooled(known, name):
    """Least and most macro-F1 over all answers of Table 4 that a row of Table 6 allows."""
    parts = []
    for dataset, sizes in known.sizes.items():
        told = known.scores["Table 6", name, dataset]
        ends = _ends_of(told["Acc"], told["ma-R"], sizes[0] / sizes.sum())
        parts.append(confusion(ends, *sizes))
    f1 = [stats.macro(sum(ends))[3] for ends in itertools.product(*parts)]
    return float(min(f1)), float(max(f1))


def mean_rates(known, name):
    """A row's rates over all of Table 4's answers (2,), and the share of hallucinated ones."""
    right = sum(known.at["Table 6", name, d] * sizes for d, sizes in known.sizes.items())
    total = sum(known.sizes.values())
    return right / total, total[0] / total.sum()


def mean_ends(at, share):
    """Least and most mean macro-F1 of raters whose mean rates are `at`, however raters differ."""
    grid = np.stack([side.ravel() for side in np.meshgrid(GRID, GRID)], axis=-1)
    f1 = stats.macro(confusion(grid, share, 1 - share))[:, 3]
    return tuple(side * stats.least_mean(side * f1, grid.T, at, at) for side in (1, -1))


def p_ends(known, a, b, metric, weights, judged=(1, 1), overlaps=("none", "none")):
    """Least and most p that rounding and overlaps allow for a scoring higher than b.

    a, b: (table, evaluator); weights: of the subsets, {dataset: weight}; judged: the shares of
    Table 4's answers that they judged. A two-sided z-test whose standard error comes from the rates
    behind both by the delta method; overlaps: those on which the least and the most p rest.
    """
    from scipy.special import ndtr

    gap = sum(
        w * (known.scores[*a, d][metric] - known.scores[*b, d][metric]) for d, w in weights.items()
    )
    ends = gap + 2 * ROUNDED * sum(weights.values()), gap - 2 * ROUNDED * sum(weights.values())
    errors = [error(known, a, b, metric, weights, judged, each) for each in overlaps]
    return tuple(float(min(1, 2 * ndtr(-end / e))) for end, e in zip(ends, errors))


def error(known, a, b, metric, weights, judged=(1, 1), overlap="none"):
    """Standard error of the difference that `p_ends` tests."""
    total, k = 0, list(METRICS).index(metric)
    for dataset, weight in weights.items():
        sizes, at = known.sizes[dataset], [known.at[*who, dataset] for who in (a, b)]
        up = [slope(each, sizes, k) for each in at]
        both = OVERLAPS[overlap](*at) - at[0] * at[1]
        variance = [g**2 * x * (1 - x) / part for g, x, part in zip(up, at, judged)]
        shared = 2 * up[0] * up[1] * both / max(judged)
        total += weight**2 * ((sum(variance) - shared) / sizes).sum()
    return float(np.sqrt(total))


STEP = 1e-5


def slope(at, sizes, k):
    """The derivative of score k of `stats.macro` by either rate, (2,)."""
    moved = at + STEP * np.array([np.eye(2), -np.eye(2)])
    up, down = stats.macro(confusion(moved, *sizes))[..., k]
    return (up - down) / (2 * STEP)
