"""p values that two independent shares and test statistics allow, by all usual formulas."""

from collections.abc import Iterable
from itertools import product
from math import sqrt

import numpy as np

CHI2 = {  # correction and power of scipy's chi2_contingency
    "z (chi-squared)": (False, 1),
    "chi-squared with continuity correction": (True, 1),
    "G": (False, 0),
    "G with continuity correction": (True, 0),
}


def unpaired_p(x: Iterable[int], n: int, y: Iterable[int], m: int) -> dict[str, np.ndarray]:
    """All two-sided p that counts x of n and y of m allow, by test of two independent shares."""
    from scipy.stats import chi2, chi2_contingency, fisher_exact, hypergeom, norm

    made = []
    for a, b in product(x, y):
        table = [[a, n - a], [b, m - b]]
        fisher, mid = fisher_exact(table).pvalue, hypergeom.pmf(a, n + m, a + b, n) / 2
        p = dict.fromkeys([*CHI2, "N - 1 chi-squared"], 1.0)
        if 0 < a + b < n + m:
            every = {name: chi2_contingency(table, *how) for name, how in CHI2.items()}
            p = {name: one.pvalue for name, one in every.items()}
            squared = every["z (chi-squared)"].statistic
            p["N - 1 chi-squared"] = chi2.sf(squared * (n + m - 1) / (n + m), 1)
        apart, error = abs(a / n - b / m), sqrt(a * (n - a) / n**3 + b * (m - b) / m**3)
        p["z unpooled"] = 2 * norm.sf(apart / error) if error else float(apart == 0)
        made.append(p | {"Fisher's exact": fisher, "Fisher's mid-p": max(0, fisher - mid)})
    return {name: np.array([p[name] for p in made]) for name in made[0]}


def statistic_p(test: str, values: Iterable[float], free: Iterable[float]) -> tuple[float, float]:
    """Least and most two-sided p of a statistic from values[0] to values[1].

    test: t, z, chi2, F or r. free: degrees of freedom, two for F and none for z.
    """
    from scipy import stats

    low, high = sorted(values)
    if test in ("chi2", "F"):
        law = stats.f(*free) if test == "F" else stats.chi2(*free)
        return float(law.sf(high)), float(law.sf(low))
    sizes = np.array([max(-low, high), max(0, low, -high)])
    if test == "r":
        sizes = np.minimum(sizes, 1)
        with np.errstate(divide="ignore"):
            sizes = sizes * np.sqrt(free[0] / (1 - sizes**2))
    p = 2 * (stats.norm() if test == "z" else stats.t(*free)).sf(sizes)
    return float(p[0]), float(p[1])
