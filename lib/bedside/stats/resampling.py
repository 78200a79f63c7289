"""Intervals and tests by resampling: bootstrap over units, sign flips of pairs."""

from collections.abc import Callable, Iterator
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from .inputs import by_unit, numbers, require
from .intervals import Interval

LEAST = 10  # units: of fewer, percentiles of resamples cover far less than they say
CELLS = 2**17  # in one block of resamples: 1 MB, for the cache and to bound the memory


def bootstrap(
    values: ArrayLike,
    rng: np.random.Generator,
    *,
    units: ArrayLike | None = None,
    statistic: str | Callable = "mean",
    combine: Callable | None = None,
    method: str = "percentile",
    resamples: int = 10_000,
    level: float = 0.95,
    least: int = LEAST,
) -> Interval | list[Interval]:
    """Bootstrap interval of a mean, or of another statistic, resampling rows or whole units.

    values (n,) gives an Interval; (n, k), k models over the same items, k Intervals from the same
    resamples. units: n labels; the mean stays that over rows. statistic: "mean", or
    f(rows, axis=0) of the (rows, k) resampled, called once a resample (slower). combine:
    f(means (..., k)) to (..., m) numbers made of the means, such as `macro`; gives m Intervals,
    and resamples where a number is NaN are left out of its limits. method: "percentile" or "bca".

    Fewer than `least` units have no limits: NaN. Constant values give low == high == value, which
    is no certainty: read n.
    ValueError for no rows, NaN, or units of another length. As scipy.stats.bootstrap, which takes
    the same draws from a seed.
    """
    values = numbers(values)
    _check(values, statistic, combine, method, level)
    n, columns = len(values), values.reshape(len(values), -1)
    rows = np.column_stack([columns, np.ones(n)])
    table, unit = by_unit(rows, units)  # a unit's sums and, last, its number of rows
    count = len(table)

    def estimate(drawn):  # (resamples, units): how often each unit was drawn
        if statistic == "mean":
            sums = drawn @ table
            means = sums[:, :-1] / sums[:, -1:]
            return combine(means) if combine else means
        samples = (np.repeat(columns, times, axis=0) for times in drawn[:, unit])
        return np.array([statistic(sample, axis=0) for sample in samples])

    value = estimate(np.ones((1, count), bool))[0]
    if count < least:
        found = [Interval(v, nan, nan, n) for v in value.tolist()]
        return found[0] if values.ndim == 1 and not combine else found
    draws = np.concatenate([estimate(drawn) for drawn in drawn_units(rng, resamples, count)])
    noise = 1e-12 * np.abs(draws).max(axis=0)  # what summing in another order may change
    levels = np.tile([[0.5 - level / 2], [0.5 + level / 2]], len(value))
    if method == "bca" and count > 1:
        parts = np.array_split(np.eye(count, dtype=bool), count // 256 + 1)
        jackknife = np.concatenate([estimate(~left_out) for left_out in parts])
        levels = _bca_levels(value, draws, jackknife, levels, noise)
    constant = np.ptp(draws, axis=0) <= noise  # not so where some are NaN
    low, high = np.where(constant, value, _quantiles(draws, levels))
    found = [Interval(*row, n) for row in np.column_stack([value, low, high]).tolist()]
    return found[0] if values.ndim == 1 and not combine else found


def _check(values, statistic, combine, method, level):
    full = values.ndim in (1, 2) and values.size
    usable = callable(statistic) or statistic == "mean"
    plain = (statistic, method) == ("mean", "percentile")
    require(
        (full, f"values must be (n,) or (n, k), n > 0, not {values.shape}"),
        (method in ("percentile", "bca"), f"method must be 'percentile' or 'bca', not {method!r}"),
        (usable, f"statistic must be 'mean' or a function, not {statistic!r}"),
        (combine is None or plain, "combine takes percentile limits of means"),
        (0 < level < 1, f"level must lie between 0 and 1, not {level}"),
    )


def _quantiles(draws, levels):
    """Each column's finite draws at its two levels: (2, k), NaN for a column without any."""
    finite = [column[np.isfinite(column)] for column in draws.T]
    return np.array(
        [
            np.quantile(column, pair) if column.size else (nan, nan)
            for column, pair in zip(finite, levels.T)
        ]
    ).T


def _bca_levels(value, draws, jackknife, levels, noise):
    """Levels (2, k) corrected for bias and acceleration (Efron 1987); a tie counts half below."""
    from scipy.special import ndtr, ndtri

    below = ((draws < value - noise).mean(axis=0) + (draws <= value + noise).mean(axis=0)) / 2
    bias = ndtri(np.clip(below, 0.5 / len(draws), 1 - 0.5 / len(draws)))
    away = jackknife.mean(axis=0) - jackknife
    spread = 6 * (away**2).sum(axis=0) ** 1.5
    z = bias + ndtri(levels)
    return ndtr(bias + z / (1 - (away**3).sum(axis=0) / np.where(spread > 0, spread, 1) * z))


def paired_permutation(
    a: ArrayLike,
    b: ArrayLike,
    rng: np.random.Generator,
    *,
    units: ArrayLike | None = None,
    resamples: int = 10_000,
) -> float:
    """Two-sided sign-flip p of the mean difference of paired values (n,).

    units (n,): the differences of a unit flip together. Up to 13 units every sign pattern is
    counted and p is exact; beyond, p = (hits + 1) / (resamples + 1). As
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
    flips = _integers(rng, 2, resamples, count)
    hits = sum((np.abs((1 - 2 * flip) @ sums) >= reached).sum() for flip in flips)
    return float((hits + 1) / (resamples + 1))


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


def drawn_units(rng: np.random.Generator, resamples: int, units: int) -> Iterator[np.ndarray]:
    """How often each unit is in each resample, in blocks (rows, units)."""
    for picks in _integers(rng, units, resamples, units):
        cells = picks + units * np.arange(len(picks))[:, None]
        yield np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)


def _integers(rng, high, resamples, units):
    """Integers below high, in blocks (rows, units): the same ones for any size of block."""
    step = max(1, CELLS // units)
    for start in range(0, resamples, step):
        yield rng.integers(0, high, size=(min(step, resamples - start), units))
