"""p values and intervals by all usual formulas, to hold printed ones against."""

from collections.abc import Iterable
from math import sqrt

import numpy as np

TRIED = 2_000_000  # pairs of counts, times n


def paired_p(x: Iterable[int], y: Iterable[int], n: int) -> dict[str, np.ndarray]:
    """All two-sided p of McNemar's test that margins x and y out of n pairs allow, by version.

    Over all overlaps: 1 where no pair is discordant. "exact" as `mcnemar_counts`.
    """
    from scipy.special import bdtr, chdtrc
    from scipy.stats import binom

    far = {}  # by how far the margins differ: the most discordant pairs
    for a in x:
        for b in y:
            far[abs(a - b)] = max(far.get(abs(a - b), 0), min(a + b, 2 * n - a - b))
    apart = np.concatenate([np.full(len(range(d, most + 1, 2)), d) for d, most in far.items()])
    both = np.concatenate([np.arange(d, most + 1, 2) for d, most in far.items()])
    fewer, some = (both - apart) // 2, np.maximum(both, 1)
    exact, chance = np.minimum(1, 2 * bdtr(fewer, both, 0.5)), binom.pmf(fewer, both, 0.5)
    tied = np.where(both > 0, 1 - chance / 2, 1)  # as many pairs either way, or none
    return {
        "exact": exact,
        "mid-p": np.where(apart > 0, exact - chance, tied),
        "chi-squared": chdtrc(1, apart**2 / some),
        "chi-squared with continuity correction": chdtrc(1, np.maximum(apart - 1, 0) ** 2 / some),
    }


def unpaired_p(x: Iterable[int], n: int, y: Iterable[int], m: int) -> dict[str, np.ndarray]:
    """All two-sided p that counts x of n and y of m allow, by test of two independent shares."""
    from scipy.special import chdtrc, ndtr
    from scipy.stats import fisher_exact, hypergeom

    a, b = np.array([(a, b) for a in x for b in y]).T
    fisher = np.array([fisher_exact([[i, n - i], [j, m - j]]).pvalue for i, j in zip(a, b)])
    apart, pooled = abs(a / n - b / m), (a + b) / (n + m)
    error = pooled * (1 - pooled) * (1 / n + 1 / m)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = apart / np.sqrt(a / n * (1 - a / n) / n + b / m * (1 - b / m) / m)
        less = np.maximum(0, apart - (1 / n + 1 / m) / 2)
        squared, yates = np.nan_to_num([apart**2 / error, less**2 / error])
    return {
        "z (chi-squared)": chdtrc(1, squared),
        "Fisher's exact": fisher,
        "z unpooled": np.where(np.isfinite(z), 2 * ndtr(-z), np.where(apart > 0, 0.0, 1.0)),
        "chi-squared with continuity correction": chdtrc(1, yates),
        "N - 1 chi-squared": chdtrc(1, squared * (n + m - 1) / (n + m)),
        "Fisher's mid-p": np.maximum(0, fisher - hypergeom.pmf(a, n + m, a + b, n) / 2),
        "G": chdtrc(1, _g(a, n, b, m, 0)),
        "G with continuity correction": chdtrc(1, _g(a, n, b, m, 0.5)),
    }


def _g(a, n, b, m, correction):
    """The likelihood ratio of counts a of n and b of m; correction: towards what is expected."""
    from scipy.special import xlogy

    seen = np.array([a, n - a, b, m - b], dtype=float)
    share = (a + b) / (n + m)
    expected = np.array([n * share, n * (1 - share), m * share, m * (1 - share)])
    apart = expected - seen
    seen += np.sign(apart) * np.minimum(correction, abs(apart))
    there = expected > 0
    parts = xlogy(seen, np.divide(seen, expected, out=np.ones_like(seen), where=there))
    return np.maximum(0, 2 * parts.sum(axis=0))


def statistic_p(test: str, values: Iterable[float], free: Iterable[float]) -> tuple[float, float]:
    """Least and most two-sided p of a statistic from values[0] to values[1].

    test: t, z, chi2, F or r. free: degrees of freedom, two for F and none for z.
    """
    from scipy.special import chdtrc, fdtrc, ndtr, stdtr

    ends, free = sorted(values), list(free)
    if test in ("chi2", "F"):
        ends = np.maximum(0, ends)
        p = fdtrc(*free, ends) if test == "F" else chdtrc(free[0], ends)
        return float(p[1]), float(p[0])
    least = 0.0 if ends[0] < 0 < ends[1] else min(map(abs, ends))
    size = np.array([least, max(map(abs, ends))])
    if test == "r":
        size = np.minimum(size, 1)
        with np.errstate(divide="ignore"):
            size = size * np.sqrt(free[0] / (1 - size**2))
    p = 2 * (ndtr(-size) if test == "z" else stdtr(free[0], -size))
    return float(p[1]), float(p[0])


def share_intervals(count: int, n: int, level: float = 0.95) -> dict[str, tuple[float, float]]:
    """The confidence interval of a share by each usual formula, {its name: (low, high)}."""
    from scipy.special import ndtri, stdtrit
    from statsmodels.stats.proportion import proportion_confint

    p, z = count / n, ndtri(0.5 + level / 2)
    wald, more = z * sqrt(p * (1 - p) / n), (count + z**2 / 2) / (n + z**2)
    agresti = z * sqrt(more * (1 - more) / (n + z**2))
    wide = wald + 0.5 / n
    names = {"Wilson": "wilson", "exact": "beta", "Jeffreys": "jeffreys"}
    found = {name: proportion_confint(count, n, 1 - level, how) for name, how in names.items()}
    if count in (0, n):  # whose end is the scale's
        low, high = found["Jeffreys"]
        found["Jeffreys"] = (low, 1.0) if count else (0.0, high)
    found["Wald"], found["Wald with continuity correction"] = (
        (p - wald, p + wald),
        (p - wide, p + wide),
    )
    found["Agresti-Coull"] = more - agresti, more + agresti  # beyond 0 and 1, as some print them
    if n > 1:
        half = stdtrit(n - 1, 0.5 + level / 2) * sqrt(p * (1 - p) / (n - 1))
        found["t"] = p - half, p + half
    return {name: (float(low), float(high)) for name, (low, high) in found.items()}
