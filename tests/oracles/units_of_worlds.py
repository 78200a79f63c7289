"""Random worlds for tests of statistics, and what their errors are by leaving out units."""

from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats as scipy_stats

SEEDS = range(4)


def close(found, expected, **tolerance):
    return np.asarray(found) == pytest.approx(np.asarray(expected), nan_ok=True, **tolerance)


def units_of(rng, n, clustered):
    """Labels of n rows: each its own, or in 10 to 40 units of different sizes."""
    if not clustered:
        return np.arange(n)
    count = rng.integers(10, min(40, n // 2))
    return rng.permutation(np.append(np.arange(count), rng.integers(0, count, n - count)))


def quantile(units):
    """Student's t for these units; few large ones count as fewer."""
    sizes = np.unique(units, return_counts=True)[1]
    return scipy_stats.t.ppf(0.975, sizes.sum() ** 2 / (sizes**2).sum() - 1)


def left_out(estimate, units):
    """The standard error of estimate(rows kept), leaving out one unit after the other."""
    each = np.array([estimate(units != unit) for unit in np.unique(units)])
    return np.sqrt((len(each) - 1) * each.var(axis=0))


def own_error(limit, value, error, scale=(0, 1)):
    """The error at a limit: its square falls towards the ends of the scale."""
    low, high = scale

    def room(x):
        return (x - low if low > -inf else 1) * (high - x if high < inf else 1)

    return error * sqrt(room(limit) / room(value))


def assert_score(found, t, error, scale=(0, 1)):
    """Both limits are where the value is t of their own errors away."""
    assert found.low < found.value < found.high
    for limit in found[1:3]:
        assert close(abs(found.value - limit), t * own_error(limit, found.value, error, scale))
