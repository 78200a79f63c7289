"""Where numbers vary: between units, and within a unit that is measured several times."""

from math import nan

import numpy as np
from numpy.typing import ArrayLike

from .inputs import by_unit, numbers


def components(values: ArrayLike, units: ArrayLike) -> tuple[float, float]:
    """Variance (between units, within a unit) of values (n,) in units (labels, (n,)).

    By one-way analysis of variance; units may have different numbers of values. Unbiased, but
    the one between units is held at 0 where the estimate is below. Both are NaN if no unit repeats,
    and that one for a single unit.
    """
    values = numbers(values)
    (sums, unit), n = by_unit(np.column_stack([values, np.ones(len(values))]), units), len(values)
    size, count = sums[:, 1], len(sums)
    if count == n:
        return nan, nan
    means = sums[:, 0] / size
    within = float(((values - means[unit]) ** 2).sum() / (n - count))
    if count == 1:
        return nan, within
    among = float((size * (means - values.mean()) ** 2).sum() / (count - 1))
    each = (n - (size**2).sum() / n) / (count - 1)  # values in a unit, where they differ in number
    return max(0.0, float((among - within) / each)), within
