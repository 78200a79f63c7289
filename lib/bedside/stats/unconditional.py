"""Exact unconditional tests of two independent shares: Barnard's and Boschloo's."""

from collections.abc import Iterable

import numpy as np

TABLES = 20_000_000  # pairs of counts, times tables of two shares


def unconditional_p(x: Iterable[int], n: int, y: Iterable[int], m: int) -> dict[str, np.ndarray]:
    """All two-sided p that counts x of n and y of m allow, by test; empty if there are too many.

    As scipy.stats.barnard_exact and boschloo_exact. Each p is the largest over the share that both
    have under the null. Programs differ in how finely they look for it, and in whether statistics
    are equal that differ only as floats do: so each has several.
    """
    from scipy.stats import hypergeom

    pairs = [(a, b) for a in x for b in y]
    if len(pairs) * (n + 1) * (m + 1) > TABLES:
        return {}
    a, b = np.arange(n + 1)[:, None], np.arange(m + 1)
    pooled = (a + b) / (n + m)
    errors = {
        "Barnard's exact": pooled * (1 - pooled) * (1 / n + 1 / m),
        "Barnard's exact, unpooled": a / n * (1 - a / n) / n + b / m * (1 - b / m) / m,
    }
    made = {}
    for name, variance in errors.items():
        apart = abs(a / n - b / m)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(apart > 0, apart / np.sqrt(variance), 0)
        far = [z >= z[pair] * nearly for pair in pairs for nearly in (1, 1 - 1e-12)]
        made[name] = np.concatenate([_largest(each, n, m) for each in far])
    less = hypergeom.cdf(a, n + m, a + b, n), hypergeom.sf(a - 1, n + m, a + b, n)
    sides = [[_largest(p <= p[pair] * (1 + 1e-12), n, m) for p in less] for pair in pairs]
    made["Boschloo's exact"] = np.minimum(1, 2 * np.min(sides, axis=1).ravel())
    return made


def _largest(far, n, m):
    """The largest chance of tables (n + 1, m + 1) over shares in steps of 0.01, 0.001 and finer."""
    from scipy.stats import binom

    def chance(share):
        one, other = (binom.pmf(np.arange(size + 1)[:, None], size, share) for size in (n, m))
        return (one * (far @ other)).sum(axis=0)

    steps = np.linspace(0, 1, 1001)
    p = chance(steps)
    near = steps[p.argmax()] + np.linspace(-0.001, 0.001, 41)
    return np.array([p[::10].max(), p.max(), chance(near.clip(0, 1)).max()])
