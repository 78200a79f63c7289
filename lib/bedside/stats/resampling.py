"""Tests by chance: sign flips of pairs, and what a null draws."""

import numpy as np
from numpy.typing import ArrayLike

from .inputs import RESAMPLES, by_unit, numbers, require

CELLS = 2**17  # in one block of flips: 1 MB, for the cache and to bound the memory


def paired_permutation(
    a: ArrayLike,
    b: ArrayLike,
    rng: np.random.Generator,
    *,
    units: ArrayLike | None = None,
) -> float:
    """Two-sided sign-flip p of the mean difference of paired values (n,).

    units (n,): the differences of a unit flip together. Up to 13 units every sign pattern is
    counted and p is exact; beyond, p = (hits + 1) / (RESAMPLES + 1). As
    scipy.stats.permutation_test of the mean difference, permutation_type="samples".
    """
    a, b = numbers(a), numbers(b)
    pairs = a.shape == b.shape == (a.size,) and a.size
    require((pairs, f"need pairs (n,), n > 0, not {a.shape} and {b.shape}"))
    sums, _ = by_unit(a - b, units)
    count, reached = len(sums), abs(sums.sum()) - 1e-12 * np.abs(sums).sum()  # a tie is a hit
    if count <= 13:
        signs = 1 - 2 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)
        return float((np.abs(signs @ sums) >= reached).mean())
    step, hits = max(1, CELLS // count), 0
    for start in range(0, RESAMPLES, step):
        flips = 1 - 2 * rng.integers(0, 2, size=(min(step, RESAMPLES - start), count))
        hits += (np.abs(flips @ sums) >= reached).sum()
    return float((hits + 1) / (RESAMPLES + 1))


def two_sided_p(values: ArrayLike, null: ArrayLike) -> np.ndarray:
    """p of values (k,) against a null drawn for them (draws, k): how often it is as far from 0.

    What was observed counts as one more draw. Also of a single value against (draws,).
    """
    seen, drawn = np.abs(np.asarray(values)), np.abs(np.asarray(null))
    return (1 + (drawn >= seen - 1e-9).sum(axis=0)) / (1 + len(drawn))


def ordered_band(null: ArrayLike) -> np.ndarray:
    """Limits (2, k) of 95% of a null's draws (draws, k) at each place, each draw in order of size.

    Between them lies a specification curve, in its order, where there is no effect.
    """
    return np.quantile(np.sort(null, axis=1), [0.025, 0.975], axis=0)
