"""What a printed number stands for: the whole numbers and sums that print so.

low and high are the ends of what a number may be before it was printed, as exact fractions.
"""

from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike


def drop_noise(values: ArrayLike) -> np.ndarray:
    """Sums and differences of printed numbers, or of shares of whole counts, rounded to 12 digits.

    Floating point puts 0.1 + 0.2 - 0.3 above 0, and 0.77 - 0.70 above 0.69 - 0.62. Rounded,
    signs, ties and ranks are those of exact decimals, as long as none that are printed or counted
    differ by less. Not for p values and other numbers that may be so small.
    """
    return np.round(values, 12) + 0.0  # no -0.0


def span(value: Fraction, step: Fraction, truncated: bool = False) -> tuple[Fraction, Fraction]:
    """What a number may be that prints as `value`, with last digits of size `step`.

    Both halves belong to it, since people round them up, down, or to even. truncated: later digits
    were cut off instead.
    """
    if not truncated:
        return value - step / 2, value + step / 2
    nearly = step * (1 - Fraction(1, 10**9))
    return (value, value + nearly) if value >= 0 else (value - nearly, value)


def wholes(low: Fraction, high: Fraction, n: int, least: int = 0, most: int = 1) -> range:
    """The whole sums of n numbers, each from least to most, with a mean from low to high."""
    return range(max(least * n, ceil(low * n)), min(most * n, floor(high * n)) + 1)


def least_mean(
    values: np.ndarray, parts: ArrayLike, low: ArrayLike, high: ArrayLike
) -> float | None:
    """Least mean of values (k,) over all weights of k kinds that keep other means in bounds.

    parts (m, k): what has a mean from low to high, (m,) each. None if no weights do.
    """
    from scipy.optimize import linprog

    bounds = np.concatenate([parts, np.negative(parts)]), np.concatenate([high, np.negative(low)])
    found = linprog(values, *bounds, np.ones((1, len(values))), [1.0])
    return None if found.status else float(found.fun)
