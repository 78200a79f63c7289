"""Scores of a classifier from its counts."""

from math import nan

import numpy as np
from numpy.typing import ArrayLike


def harmonic(p: float | np.ndarray, q: float | np.ndarray) -> float | np.ndarray:
    """Harmonic mean of two rates: F1 of precision and recall. As scipy.stats.hmean([p, q]).

    Where both are 0: NaN for arrays, ZeroDivisionError for numbers.
    """
    return 2 * p * q / (p + q)


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, 0 where the whole is 0: a class that is never predicted."""
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) > 0)


def macro(counts: ArrayLike) -> np.ndarray:
    """Accuracy and macro precision, recall and F1 of two classes, (..., 4), from counts (..., 4).

    counts: true positives, false positives, false negatives, true negatives, or their shares. A
    class that is never predicted has precision and F1 0. Without a single case of one class the
    three macro numbers are NaN: there is nothing to average, and what stands in its place
    elsewhere (1, 0 or half the F1) depends on the software. As sklearn.metrics.accuracy_score and
    precision_recall_fscore_support(average="macro", zero_division=0).
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    there = np.where((tp + fn > 0) & (fp + tn > 0), 1, nan)
    accuracy = (tp + tn) / (tp + fp + fn + tn)
    sides = (
        [ratio(true, true + wrong), ratio(true, true + lost), ratio(2 * true, 2 * true + fp + fn)]
        for true, wrong, lost in ((tp, fp, fn), (tn, fn, fp))
    )
    means = np.mean([*sides], axis=0) * there
    return np.stack([accuracy, *means], axis=-1)
