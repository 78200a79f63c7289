"""What printed numbers allow: the counts behind percentages, the p values and kappas of margins."""

from math import isclose

import numpy as np
from numpy.typing import ArrayLike

from .inputs import require
from .tests import mcnemar_counts


def grim(percent: float, n: int, decimals: int) -> bool:
    """Whether a printed percentage can come from a whole number out of n items (GRIM test)."""
    return bool(grim_counts(percent, n, decimals))


def grim_counts(percent: float, n: int, decimals: int) -> list[int]:
    """The counts out of n that print as this percentage.

    Rounded half up, half to even, or as a float of this language.
    """
    scale = 10**decimals
    digits = round(percent * scale)
    require((n >= 1, f"n must be at least 1, not {n}"))
    whole = isclose(digits, percent * scale, abs_tol=1e-6)
    require((whole, f"{percent} has more than {decimals} decimals"))

    def prints(count):
        twice = 2 * (100 * scale * count - digits * n)  # how far off: n is half a last digit
        as_float = round(100 * count / n, decimals) == percent  # 1.15 prints 1.1
        return -n <= twice < n or (twice == n and (digits % 2 == 0 or as_float))

    return [count for count in range(n + 1) if prints(count)]


def mcnemar_range(x: int, y: int, n: int) -> tuple[float, float]:
    """Smallest and largest exact McNemar p that margins x and y out of n pairs allow."""
    require((0 <= x <= n and 0 <= y <= n, f"margins {x} and {y} must lie between 0 and n = {n}"))
    overlaps = range(max(0, x + y - n), min(x, y) + 1)
    p = [mcnemar_counts(x - both, y - both) for both in overlaps]
    return min(p), max(p)


def most_kappa(accuracy: ArrayLike) -> float | np.ndarray:
    """The largest kappa of two raters on two classes with this share of equal ratings.

    Whatever the classes' shares: chance agreement is smallest, 1/2 - (1 - accuracy)^2 / 2, where
    one rater is as far above one half as the other below.
    """
    off = 1 - np.asarray(accuracy, dtype=float)
    return 1 - off / (0.5 + off**2 / 2)
