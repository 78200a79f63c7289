"""p values and intervals by all usual formulas, to hold printed ones against."""

from collections.abc import Iterable
from itertools import product
from math import sqrt

import numpy as np


def paired_p(x: Iterable[int], y: Iterable[int], n: int) -> dict[str, np.ndarray]:
    """All two-sided p of McNemar's test that margins x and y out of n pairs allow, by version.

    Over all overlaps: 1 where no pair is discordant. "exact" as `mcnemar_counts`.
    """
    from scipy.special import bdtr, chdtrc
    from scipy.stats import binom

    far = {}  # by how far the margins differ: the most discordant pairs
    for a, b in product(x, y):
        far[abs(a - b)] = max(far.get(abs(a - b), 0), min(a + b, 2 * n - a - b))
    pairs = [(d, both) for d, most in far.items() for both in range(d, most + 1, 2)]
    apart, both = np.array(pairs).reshape(-1, 2).T
    fewer, some = (both - apart) // 2, np.maximum(both, 1)
    exact, chance = np.minimum(1, 2 * bdtr(fewer, both, 0.5)), binom.pmf(fewer, both, 0.5)
    tied = np.where(both > 0, 1 - chance / 2, 1)  # as many pairs either way, or none
    return {
        "exact": exact,
        "mid-p": np.where(apart > 0, exact - chance, tied),
        "chi-squared": chdtrc(1, apart**2 / some),
        "chi-squared with continuity correction": chdtrc(1, np.maximum(apart - 1, 0) ** 2 / some),
    }


def share_intervals(count: int, n: int, level: float = 0.95) -> dict[str, tuple[float, float]]:
    """The confidence interval of a share by each usual formula, {its name: (low, high)}.

    Those around the share may lie beyond 0 and 1, as some print them.
    """
    from scipy.special import ndtri, stdtrit
    from statsmodels.stats.proportion import proportion_confint

    z, p = ndtri(0.5 + level / 2), count / n
    more, wald = (count + z**2 / 2) / (n + z**2), z * sqrt(p * (1 - p) / n)
    names = {"Wilson": "wilson", "exact": "beta", "Jeffreys": "jeffreys"}
    found = {name: proportion_confint(count, n, 1 - level, how) for name, how in names.items()}
    if count in (0, n):  # whose end is the scale's
        low, high = found["Jeffreys"]
        found["Jeffreys"] = (low, 1.0) if count else (0.0, high)
    around = {
        "Wald": (p, wald),
        "Wald with continuity correction": (p, wald + 0.5 / n),
        "Agresti-Coull": (more, z * sqrt(more * (1 - more) / (n + z**2))),
    }
    if n > 1:
        around["t"] = p, stdtrit(n - 1, 0.5 + level / 2) * sqrt(p * (1 - p) / (n - 1))
    found |= {name: (middle - half, middle + half) for name, (middle, half) in around.items()}
    return {name: (float(low), float(high)) for name, (low, high) in found.items()}
