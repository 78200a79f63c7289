"""What must not move when data are copied, reordered or renamed: intervals and tests over units."""

from math import isnan

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.write import tables

# booleans of 10 to 56 rows in 10 to 14 units, each with at least one row
RNG_SEED = 7


def copies(k, *arrays):
    """Arrays with each row k times."""
    return [np.repeat(a, k, axis=0) for a in arrays]


def rng():
    return np.random.default_rng(RNG_SEED)


@pytest.mark.parametrize("k", [2, 50])
def test_copies_of_items_in_their_units_leave_the_detectable_difference(k):
    apart, units = np.array([1] * 6 + [-1] * 2 + [0] * 12), np.arange(20)
    expected = stats.mde_paired(20, 0.4)
    assert stats.detectable(apart, units) == pytest.approx(expected)
    many, of = copies(k, apart, units)
    assert stats.detectable(many, of) == pytest.approx(expected)
    p = stats.paired_permutation(apart, apart * 0, rng(), units=units)
    assert stats.paired_permutation(many, many * 0, rng(), units=of) == p


def test_what_no_test_of_so_few_units_can_find_has_no_detectable_difference():
    # With five units the least p of all sign patterns is 2 / 2^5 = 0.0625.
    apart = np.repeat([1, 1, 1, 1, 1], 20)
    assert isnan(stats.detectable(apart, np.repeat(np.arange(5), 20)))
    assert isnan(stats.detectable([1, -1] * 12, np.repeat(np.arange(12), 2)))  # sums are all 0
    assert isnan(stats.detectable([0] * 20))


def frame_of(both, units):
    """Verdicts of the models a and b as `tables.paired` takes them."""
    parts = [
        pd.DataFrame({"item": range(len(units)), "model": m, "value": v.astype(int), "unit": units})
        for m, v in zip("ab", both.T)
    ]
    return pd.concat(parts).assign(status="graded")


class Seeds:
    """What a Run gives to statistics: a generator for each name."""

    def rng(self, *name):
        return np.random.default_rng(abs(hash(name)) % 2**32)


def test_the_pair_table_is_over_units():
    both = np.array([[1, 0]] * 6 + [[0, 1]] * 2 + [[1, 1]] * 4 + [[0, 0]] * 8, dtype=bool)
    units = np.arange(20)
    found = [
        tables.paired(frame_of(*copies(k, both, units)), Seeds()).iloc[0] for k in (1, 2, 10, 50)
    ]
    assert [r["test"] for r in found] == ["McNemar"] + ["permutation of units"] * 3
    # 8 discordant units, 6 one way: 2 (1 + 8 + 28) / 2^8 by both tests, were they exact
    assert found[0]["p"] == pytest.approx(74 / 256)
    assert [r["p"] for r in found[1:]] == pytest.approx([74 / 256] * 3, abs=0.02)
    assert len({round(r["detectable"], 9) for r in found}) == 1
    assert len({round(r["difference"], 9) for r in found}) == 1
