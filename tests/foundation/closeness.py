"""When a statistic is what it should be, and a generator, for tests of statistics."""

from math import erfc, sqrt

import numpy as np
import pytest

Z2_LEVEL = 1 - erfc(2 / sqrt(2))  # the level whose z is 2, for wilson by hand


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


def close(found, expected, **tolerance):
    return found == pytest.approx(expected, **tolerance)


def close_interval(value, low, high, n):
    return pytest.approx((value, low, high, n), nan_ok=True)
