"""What a judge's errors do to a share: corrected shares, and where a conclusion turns."""

import numpy as np
from numpy.typing import ArrayLike

from .inputs import require


def true_share(observed: ArrayLike, sensitivity: ArrayLike, specificity: ArrayLike) -> np.ndarray:
    """The share behind one that a judge reports, both in 0..1 (Rogan and Gladen 1978).

    Arrays are broadcast. Cut to 0..1; NaN where the judge is no better than chance (sensitivity
    and specificity add up to 1 or less). For an interval: `intervals.corrected_rate`.
    """
    seen, sens, spec = _shares(observed, sensitivity, specificity)
    better = np.where(sens + spec - 1 > 1e-12, sens + spec - 1, np.nan)
    return np.clip((seen + spec - 1) / better, 0, 1)


def turning_sensitivity(
    observed: ArrayLike, threshold: ArrayLike, specificity: ArrayLike
) -> np.ndarray:
    """The sensitivity at which the share behind an observed one is a threshold, all in 0..1.

    With a lower sensitivity more is missed, and the true share lies above the threshold. Arrays are
    broadcast; NaN where no judge better than chance gives it.
    """
    seen, limit, spec = _shares(observed, threshold, specificity)
    with np.errstate(divide="ignore", invalid="ignore"):
        sens = (seen - (1 - spec) * (1 - limit)) / limit
    possible = (sens >= 0) & (sens <= 1 + 1e-12) & (sens + spec > 1 + 1e-12)
    return np.where(possible, np.minimum(sens, 1), np.nan)


def _shares(*values):
    shares = [np.asarray(v, dtype=float) for v in values]
    inside = all(np.all((v >= 0) & (v <= 1) | np.isnan(v)) for v in shares)
    require((inside, "shares lie between 0 and 1"))
    return shares
