"""MedHalu: confusion matrices behind the printed scores of Tables 6, 8 and 10.

Scores are {score as BRIEF: value}, tables of them evaluators by score and base set, and answers
{base set: (hallucinated, other)} as a frame.
"""

import itertools

import numpy as np
import pandas as pd

from bedside import stats

from .printed import BRIEF, RATES, ROUNDED
from .scores import METRICS

FITS = ROUNDED + 1e-9  # a score that is off by no more prints the same
LEFT_OUT = 0.02  # of a model's replies, that may have said neither yes nor no


def fitting(answers, scores, hallucinated=None):
    """All matrices of so many answers whose scores print as these (`stats.matrices`)."""
    full = dict(zip(BRIEF, METRICS.values()))
    ends = {full[m].lower(): (v - FITS, v + FITS) for m, v in scores.items()}
    return stats.matrices(answers, ends, hallucinated)


def confusions(positive, negative, scores):
    """True positives and negatives (k, 2) of all matrices whose scores print as these."""
    runs = fitting(positive + negative, scores, positive).runs
    right = [(tp, negative - fp) for _, tp, low, high in runs for fp in range(low, high + 1)]
    return np.array(right, dtype=int).reshape(-1, 2)


def each(table: pd.DataFrame, answers: pd.DataFrame, found) -> pd.Series:
    """found(hallucinated, other, scores) by evaluator and base set."""
    return pd.Series(
        {
            (who, d): found(int(p), int(n), row.xs(d, level=1).to_dict())
            for who, row in table.iterrows()
            for d, (p, n) in answers.iterrows()
        }
    )


def one(positive, negative, scores):
    """Whether one matrix prints so."""
    return fitting(positive + negative, scores, positive).count > 0


def any_share(positive, negative, scores):
    """Whether one matrix of 200 answers prints so, or one of these, whatever share is which."""
    return one(positive, negative, scores) or fitting(200, scores).count > 0


def some_left_out(positive, negative, scores):
    """Whether one prints so, if LEFT_OUT of the answers at most are left without a verdict."""
    most = int(LEFT_OUT * (positive + negative))
    ways = ((lost - k, k) for lost in range(most + 1) for k in range(lost + 1))
    return any(one(positive - k, negative - rest, scores) for rest, k in ways)


def mean_of_three(positive, negative, scores):
    """Whether the mean scores of some three matrices print so: raters of a batch (2.3), or runs.

    Searches some 1,500 matrices with a sensitivity of at least 1/5 and a specificity of at least
    1/10.
    """
    from scipy.spatial import KDTree

    tp, tn = np.mgrid[-(-positive // 5) : positive + 1, -(-negative // 10) : negative + 1]
    made = stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1)).reshape(-1, 4)
    made = made[:: max(1, len(made) // 1500)]
    tree, mean = KDTree(made), np.array([scores[m] for m in BRIEF])
    for first in made[np.abs(made - mean).max(axis=1).argsort(kind="stable")]:
        thirds = 3 * mean - first - made  # what each second one leaves to a third
        if np.isfinite(tree.query(thirds, p=np.inf, distance_upper_bound=3 * FITS)[0]).any():
            return True
    return False


def types_apart(six: pd.DataFrame, eight: pd.DataFrame, four: pd.DataFrame) -> pd.Series:
    """How many answers Tables 6 and 8 are apart at least, by model and base set.

    If each type of Table 8 is set against none, a model's types share the true negatives, and their
    true positives add up to Table 6's. By Table 6's accuracy alone where no matrix has all four
    scores; infinite where Table 8 itself doesn't fit together. four: Table 4, types by base sets.
    """
    apart, none = {}, four.loc["None-conflict"].astype(int)
    for who, d in itertools.product(eight.index, four):
        shared, n = _by_negatives(eight.loc[who], four[d], d), none[d]
        scores = six.loc[who].xs(d, level=1).to_dict()
        whole = int(four.at["Total", d]) - n, n
        right = confusions(*whole, scores)
        right = right if len(right) else confusions(*whole, {"Acc": scores["Acc"]})
        tn, (low, high) = shared.index.to_numpy()[:, None], shared.to_numpy().T[..., None]
        off = np.maximum(0, np.maximum(low - right[:, 0], right[:, 0] - high))
        apart[who, d] = (off + abs(right[:, 1] - tn)).min(initial=np.inf)
    return pd.Series(apart)


def _by_negatives(eight, four, dataset):
    """Least and most true positives of all types, by true negatives that fit each of them."""
    parts = []
    for kind in eight.index.unique(0):
        n = (int(four[f"{name}-conflict"]) for name in (kind, "None"))
        right = confusions(*n, eight[kind].xs(dataset, level=1).to_dict())
        parts.append(pd.Series(*right.T).groupby(level=0).agg(["min", "max"]))
    return sum(parts).dropna()


def implied(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Rates of the matrices that print as each row of Table 6 or 10, by evaluator and base set.

    Columns: fits (how many matrices do), and sensitivity, specificity and share of yes, each the
    mean, and its least and most value; NaN where nothing fits.
    """
    found = each(table, answers, _rates).apply(pd.Series)
    return found.rename_axis(["row", "dataset"])


def _rates(positive, negative, scores):
    right, row = confusions(positive, negative, scores), {}
    made = right / [positive, negative]
    yes = (right[:, 0] + negative - right[:, 1]) / (positive + negative)
    for name, v in zip([*RATES, "yes"], [*made.T, yes] if len(right) else ()):
        row |= {name: v.mean(), f"{name} least": v.min(), f"{name} most": v.max()}
    return {"fits": len(right)} | row
