"""MedHalu: confusion matrices behind the printed scores of Tables 6, 8 and 10."""

import functools
import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run

from ..data import TYPES
from ..scores import METRICS
from .numbers import LLMS, ROUNDED, by_row, classes, sizes

FITS = ROUNDED + 1e-9  # a score that is off by no more prints the same
LEFT_OUT = 0.02  # of a model's replies, that may have said neither yes nor no


@functools.lru_cache(maxsize=16)  # megabytes each
def _every(positive, negative):
    """All pairs of true positives and negatives, (positive + 1, negative + 1), and 4 scores."""
    tp, tn = np.meshgrid(np.arange(positive + 1), np.arange(negative + 1), indexing="ij")
    return tp, tn, stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1))


@functools.cache
def _other_shares():
    """The scores (k, 4) of all matrices of 200 answers, 2% to 98% of them hallucinated."""
    made = (_every.__wrapped__(k, 200 - k)[2].reshape(-1, 4) for k in range(4, 200, 4))
    return np.concatenate(list(made))


def _off(made, scores):
    """How far the worst score of matrices is off; scores: {metric as printed: value}."""
    mine = made[..., [list(METRICS).index(m) for m in scores]]
    return np.abs(mine - list(scores.values())).max(-1)


def confusions(positive, negative, scores):
    """True positives and negatives (k, 2) whose scores print as these; how far the nearest is off.

    positive, negative: answers with and without a hallucination. scores: {metric as printed:
    value}. Matrices fit if all scores are off by ROUNDED at most.
    """
    tp, tn, made = _every(positive, negative)
    off = _off(made, scores)
    fits = off <= FITS
    return np.column_stack([tp[fits], tn[fits]]), float(off.min())


def implied(run: Run, table: str) -> pd.DataFrame:
    """Sensitivity, specificity and share of yes of each row of Table 6 or 10, if one matrix.

    The matrix is a confusion matrix over Table 4's answers. Rows with row, dataset, fits (how many
    matrices print so), off (how far the nearest is off), n, anyhow (off at the best of all shares
    of hallucinated answers) and the three rates, each with its least and most value; NaN where
    nothing fits.
    """
    rows, there = [], classes(run)
    for (name, dataset), scores in by_row(run, table).items():
        positive, negative = there[dataset]
        found, off = confusions(positive, negative, scores)
        row = {
            "row": name,
            "dataset": dataset,
            "fits": len(found),
            "off": off,
            "n": positive + negative,
            "anyhow": min(off, float(_off(_other_shares(), scores).min())),
        }
        rows.append(row | (rates(found, positive, negative) if len(found) else {}))
    return pd.DataFrame(rows)


def rates(found, positive, negative):
    """Mean, least and most sensitivity, specificity and share of yes of fitting matrices."""
    tp, tn = found.T
    made = {
        "sensitivity": tp / positive,
        "specificity": tn / negative,
        "yes": (tp + negative - tn) / (positive + negative),
    }
    row = {}
    for rate, v in made.items():
        row |= {rate: float(np.mean(v)), f"{rate} least": float(v.min())}
        row |= {f"{rate} most": float(v.max())}
    return row


def with_some_left_out(positive, negative, scores):
    """The fewest answers that must be without a verdict for the scores of the others to fit.

    LEFT_OUT of the answers at most; None if that is not enough. Arguments as of `confusions`.
    """
    ends = {METRICS[m].lower(): (v - FITS, v + FITS) for m, v in scores.items()}
    for lost in range(int(LEFT_OUT * (positive + negative)) + 1):
        for k in range(lost + 1):
            if stats.matrices(positive + negative - lost, ends, positive - k).count:
                return lost
    return None


def mean_of_three(positive, negative, scores):
    """Whether the mean scores of some three confusion matrices print as these; as `confusions`.

    The three are raters of a batch (section 2.3), or runs. Searches some 1,500 matrices with a
    sensitivity of at least 1/5 and a specificity of at least 1/10.
    """
    return _three(positive, negative, tuple(scores.values()))


@functools.cache  # printed numbers don't change
def _three(positive, negative, mean):
    from scipy.spatial import KDTree

    tp, tn, made = _every(positive, negative)
    made = made[(tp >= positive / 5) & (tn >= negative / 10)]
    made = made[:: max(1, len(made) // 1500)]
    tree, mean = KDTree(made), np.array(mean)
    for one in made[np.abs(made - mean).max(axis=1).argsort(kind="stable")]:
        thirds = 3 * mean - one - made  # what each second one leaves to a third
        if np.isfinite(tree.query(thirds, p=np.inf, distance_upper_bound=3 * FITS)[0]).any():
            return True
    return False


def types_agree(run):
    """Whether Table 8 can be each type against none, with the matrices behind Table 6.

    If so, the three types of a model and subset share the answers without a hallucination, and
    their true positives add up to Table 6's. Columns: row (model), dataset, alone (whether the
    three types of Table 8 fit together) and moved (how many answers Table 6 is off at least; by its
    accuracy alone where no matrix has all four scores; NaN where Table 8 doesn't fit together).
    """
    rows, six, eight = [], by_row(run, "Table 6"), by_row(run, "Table 8")
    for model, (dataset, n) in itertools.product(LLMS, sizes(run).items()):
        ranges = []
        for t, name in list(TYPES.items())[1:]:
            found, _ = confusions(n[t], n["none"], eight[f"{model}, {name}", dataset])
            ranges.append(_ends_by_negatives(found))
        shared = set.intersection(*map(set, ranges))
        both, scores = (sum(n.values()) - n["none"], n["none"]), six[model, dataset]
        whole, _ = confusions(*both, scores)
        if not len(whole):
            whole, _ = confusions(*both, {"Acc": scores["Acc"]})  # right answers are known anyhow
        moved = min((_off_by(tn, ranges, whole) for tn in shared), default=np.nan)
        rows.append((model, dataset, bool(shared), moved))
    return pd.DataFrame(rows, columns=["row", "dataset", "alone", "moved"])


def _ends_by_negatives(found):
    """{true negatives: (least, most) true positives} of matrices as of `confusions`."""
    by = {tn: found[found[:, 1] == tn, 0] for tn in set(found[:, 1])}
    return {tn: (tp.min(), tp.max()) for tn, tp in by.items()}


def _off_by(tn, ranges, whole):
    """How many answers the types, with tn true negatives, are off the nearest of `whole`."""
    least, most = (sum(r[tn][end] for r in ranges) for end in (0, 1))
    over = np.maximum(0, np.maximum(least - whole[:, 0], whole[:, 0] - most))
    return int((over + abs(whole[:, 1] - tn)).min())
