"""Signs, ties and ranks of sums of printed numbers: those of exact decimals."""

from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from bedside import stats

CENTS = st.integers(-10_000, 10_000)  # numbers with two decimals
FOURS = st.lists(st.tuples(CENTS, CENTS, CENTS, CENTS), min_size=2, max_size=8)


@given(FOURS)
def test_signs_and_ranks_of_sums_are_those_of_exact_decimals(fours):
    exact = [Fraction(a + b - c - d, 100) for a, b, c, d in fours]
    made = pd.Series([a / 100 + b / 100 - c / 100 - d / 100 for a, b, c, d in fours])
    made = stats.drop_noise(made)
    assert list(np.sign(made)) == [(x > 0) - (x < 0) for x in exact]
    order = sorted(set(exact))
    assert list(made.rank(method="dense") - 1) == [order.index(x) for x in exact]


@given(st.lists(st.integers(0, 85), min_size=4, max_size=4))
def test_a_difference_of_counts_is_0_if_the_counts_say_so(counts):
    a, b, c, d = counts
    made = stats.drop_noise(a / 85 + b / 85 - c / 85 - d / 85)
    assert np.sign(made) == np.sign(a + b - c - d)


def test_nothing_is_shown_as_less_than_0_that_is_0():
    assert str(float(stats.drop_noise(0.3 - 0.1 - 0.2))) == "0.0"


def test_a_percentage_has_its_counts_however_it_was_computed():
    # 57% of 100, as printed and as 100 times the share 0.57, which is 56.99999999999999
    for percent in (57.0, 100 * 0.57):
        assert stats.grim_counts(percent, 200, 0) == stats.grim_counts(57.0, 200, 0)
