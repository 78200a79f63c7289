"""Tests without resampling: paired and independent proportions, power, corrections of p values."""

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from .inputs import booleans, by_unit, numbers, require

ALPHA, POWER = 0.05, 0.8  # of planned tests: the error allowed, and how often they should find


def mcnemar(a: ArrayLike, b: ArrayLike) -> float:
    """Exact two-sided McNemar p of paired booleans (n,); 1.0 when no pair is discordant."""
    a, b = booleans(a, b)
    return mcnemar_counts((a & ~b).sum(), (~a & b).sum())


def mcnemar_counts(b: int, c: int) -> float:
    """Exact two-sided McNemar p from the two discordant counts."""
    from scipy.special import bdtr  # a hundred times faster than scipy.stats.binomtest

    require((b >= 0 and c >= 0 and b % 1 == c % 1 == 0, f"{b} and {c} are not two counts"))
    return float(min(1, 2 * bdtr(min(b, c), b + c, 0.5)))


def mcnemar_power(n: int, lost: float, won: float, exact: bool = True) -> float:
    """Power of McNemar's test with n pairs, the exact one or chi-squared without correction.

    lost and won: the shares of the pairs that are discordant one way and the other.
    """
    from scipy.special import bdtr, chdtrc
    from scipy.stats import multinomial

    known = n >= 1 and 0 <= lost and 0 <= won and lost + won <= 1 + 1e-12
    require((known, f"need n >= 1 and shares, not {n}, {lost}, {won}"))
    b, both = np.triu_indices(n + 1)  # all b, c with b + c <= n
    c, same = both - b, max(0.0, 1 - lost - won)
    chance = multinomial.pmf(np.column_stack([b, c, n - both]), n, [lost, won, same])
    if exact:
        p = 2 * bdtr(np.minimum(b, c), both, 0.5)
    else:
        p = chdtrc(1, (b - c) ** 2 / np.maximum(both, 1))
    return float(chance[np.where(both > 0, p, 1) < ALPHA].sum())


def mde_paired(n: float, discordant: float) -> float:
    """Smallest difference d of two paired proportions that McNemar's test finds with POWER.

    discordant: the share psi of the n pairs in which the two differ. Solves
    z(1 - ALPHA/2) sqrt(psi) + z(POWER) sqrt(psi - d^2) = d sqrt(n) (Connor 1987); NaN when d would
    have to exceed psi.
    """
    from scipy.special import ndtri

    require((n >= 1 and 0 <= discordant <= 1, f"need n >= 1 and a share, not {n} and {discordant}"))
    z, z_power = ndtri(1 - ALPHA / 2), ndtri(POWER)
    if n < z**2:
        return nan
    root = z * sqrt(n) + z_power * sqrt(n + z_power**2 - z**2)
    d = float(sqrt(discordant) * root / (n + z_power**2))
    return d if 0 < d <= discordant else nan


def detectable(differences: ArrayLike, units: ArrayLike | None = None) -> float:
    """Smallest difference that a paired test finds with POWER, given how these pairs differ.

    differences (n,): a boolean minus its pair's, so -1, 0 or 1. units: labels (n,) of what repeats;
    the test flips the differences of a unit together. As `mde_paired` of as many independent pairs
    as give the units' sums the same spread, so that copies of a row in its unit change nothing. NaN
    where no such difference exists: with too few units for p < ALPHA whatever they say (five),
    or if the units' sums are all 0.
    """
    apart = numbers(differences)
    sums, _ = by_unit(apart, units)
    discordant, spread = float((apart**2).sum()), float((sums**2).sum())
    if 2.0 ** (1 - len(sums)) >= ALPHA or not spread:
        return nan
    return mde_paired(len(apart) * discordant / spread, discordant / len(apart))


def two_proportions(x1: int, n1: int, x2: int, n2: int) -> float:
    """Two-sided pooled z test of two independent proportions; 1.0 when all or none succeed."""
    from scipy.stats import chi2_contingency

    met = 0 <= x1 <= n1 > 0 and 0 <= x2 <= n2 > 0
    require((met, f"not proportions: {x1} of {n1}, {x2} of {n2}"))
    if x1 + x2 in (0, n1 + n2):
        return 1.0
    return float(chi2_contingency([[x1, n1 - x1], [x2, n2 - x2]], correction=False).pvalue)


def holm(p_values: ArrayLike) -> np.ndarray:
    """Holm-adjusted p values (m,) in the order given; NaN stays NaN and is not counted.

    As statsmodels' multipletests, which collects garbage at each call.
    """
    p = np.array(p_values, float)
    known = p.ndim == 1 and not (abs(p - 0.5) > 0.5).any()
    require((known, "p values must be (m,), between 0 and 1"))
    left = np.arange(np.isfinite(p).sum(), 0, -1)
    order = np.argsort(p)[: left.size]  # NaN comes last
    p[order] = np.maximum.accumulate(p[order] * left).clip(max=1)
    return p
