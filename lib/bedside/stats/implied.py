"""What printed numbers allow: the counts behind percentages, the p values and kappas of margins."""

from fractions import Fraction
from math import isclose

import numpy as np
from numpy.typing import ArrayLike

from .inputs import require
from .printed import span, wholes
from .reported import paired_p


def grim(percent: float, n: int, decimals: int) -> bool:
    """Whether a printed percentage can come from a whole number out of n items (GRIM test)."""
    return bool(grim_counts(percent, n, decimals))


def grim_counts(percent: float, n: int, decimals: int) -> list[int]:
    """The counts out of n that print as this percentage.

    Rounded half up, half to even, or as a float of this language.
    """
    scale = 10**decimals
    step = Fraction(1, 100 * scale)
    digits = round(percent * scale)
    require((n >= 1, f"n must be at least 1, not {n}"))
    whole = isclose(digits, percent * scale, abs_tol=1e-6)
    require((whole, f"{percent} has more than {decimals} decimals"))

    def prints(count):
        tie = 2 * (100 * scale * count - digits * n) == n  # half a last digit above
        as_float = round(100 * count / n, decimals) == digits / scale  # 1.15 prints 1.1
        return not tie or digits % 2 == 0 or as_float

    return list(filter(prints, wholes(*span(Fraction(digits, 100 * scale), step), n)))


def mcnemar_range(x: int, y: int, n: int) -> tuple[float, float]:
    """Smallest and largest exact McNemar p that margins x and y out of n pairs allow."""
    require((0 <= x <= n and 0 <= y <= n, f"margins {x} and {y} must lie between 0 and n = {n}"))
    p = paired_p([x], [y], n)["exact"]
    return float(p.min()), float(p.max())


def permutation_range(a: ArrayLike, b: ArrayLike) -> tuple[float, float]:
    """Smallest and largest p of a paired permutation test that two sets of whole grades allow.

    The mean difference is the same however the grades are paired: p is least if like is paired with
    like, and greatest if high is paired with low. Exact (all flips of signs); of a few items
    another pairing's p may lie slightly outside, where its sums are coarser.
    """
    a, b = np.sort(a), np.sort(b)
    return _flips_p(a - b), _flips_p(a - b[::-1])


def _flips_p(differences):
    """Exact two-sided p of all flips of the signs of whole differences."""
    from scipy.stats import binom

    sizes, counts = np.unique(np.abs(differences), return_counts=True)
    chance = np.ones(1)  # of each sum, from minus to plus the sum of all sizes
    for size, many in zip(sizes[sizes > 0], counts[sizes > 0]):
        flipped = np.zeros(2 * size * many + 1)
        flipped[:: 2 * size] = binom.pmf(np.arange(many + 1), many, 0.5)
        chance = np.convolve(chance, flipped)
    sums = np.arange(len(chance)) - len(chance) // 2
    return min(1.0, float(chance[abs(sums) >= abs(np.sum(differences))].sum()))


def most_kappa(accuracy: ArrayLike) -> float | np.ndarray:
    """The largest kappa of two raters on two classes with this share of equal ratings.

    Whatever the classes' shares: chance agreement is smallest, 1/2 - (1 - accuracy)^2 / 2, where
    one rater is as far above one half as the other below.
    """
    off = 1 - np.asarray(accuracy, dtype=float)
    return 1 - off / (0.5 + off**2 / 2)
