"""What must not move when data are copied, reordered or renamed: intervals and tests over units."""

from math import isnan

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.judging import trust_cards
from bedside.write import tables

# booleans of 10 to 56 rows in 10 to 14 units, each with at least one row
RNG_SEED = 7


def copies(k, *arrays):
    """Arrays with each row k times."""
    return [np.repeat(a, k, axis=0) for a in arrays]


def rng():
    return np.random.default_rng(RNG_SEED)


# ---- copies inside a unit


@pytest.mark.parametrize("k", [2, 10, 50])
def test_copies_of_items_in_their_units_leave_the_detectable_difference(k):
    # 20 items, one a unit: 8 discordant, 6 for a and 2 for b. By hand at psi = 0.4, n = 20:
    # d = sqrt(0.4) (1.960 sqrt(20) + 0.8416 sqrt(20 + 0.8416^2 - 1.960^2)) / (20 + 0.8416^2).
    x, y = [1] * 10 + [0] * 10, [1] * 4 + [0] * 6 + [1] * 2 + [0] * 8
    z, power = 1.959964, 0.841621
    root = z * 20**0.5 + power * (20 + power**2 - z**2) ** 0.5
    expected = 0.4**0.5 * root / (20 + power**2)
    apart, units = np.array(x) - y, np.arange(20)
    assert stats.detectable(apart, units) == pytest.approx(expected, rel=1e-6)
    assert stats.detectable(*copies(k, apart, units)) == pytest.approx(expected, rel=1e-6)
    p = stats.paired_permutation(apart, apart * 0, rng(), units=units)
    many, of = copies(k, apart, units)
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


# ---- shares


# ---- rates corrected for a judge's errors


def labelled(k=1):
    """Labels, verdicts and units of 40 labelled answers, each k times: 15 of 20, and 18 of 20."""
    truth = np.array([1] * 20 + [0] * 20, dtype=bool)
    said = np.array([1] * 15 + [0] * 5 + [1] * 2 + [0] * 18, dtype=bool)
    return copies(k, truth, said, np.arange(40))


def card_of(k=1):
    truth, said, units = labelled(k)
    verdicts = pd.DataFrame({"status": "graded", "value": said.astype(int)})
    return trust_cards.trust_card(truth.astype(int), verdicts, [0, 1], units=units)


def test_a_corrected_rate_by_hand():
    # Judged positive 12 of 30 = 0.4, sensitivity 15/20, specificity 18/20:
    # (0.4 + 0.9 - 1) / (0.75 + 0.9 - 1) = 0.3 / 0.65.
    rate = tables.share([1] * 12 + [0] * 18, range(30))
    value, low, high, n = trust_cards.corrected(rate, card_of(), rng())
    assert value == pytest.approx(30 / 0.65) and n == 30
    # the sizes behind the intervals are the counts, less what t takes off: (1.96 / t)^2 of them
    r, counts = rng(), ((12, 30, 2.04523), (15, 20, 2.093024), (18, 20, 2.093024))
    sizes = [(h / m, m * (1.959964 / t) ** 2) for h, m, t in counts]
    a, b, c = (r.beta(p * m + 0.5, (1 - p) * m + 0.5, 10_000) for p, m in sizes)
    draws = np.clip((a + c - 1) / (b + c - 1), 0, 1)[b + c > 1]
    assert (low, high) == pytest.approx(100 * np.quantile(draws, [0.025, 0.975]), abs=0.01)


@pytest.mark.parametrize("k", [4, 16])
def test_copies_of_answers_narrow_no_corrected_rate(k):
    # Units repeat, so t of their number takes the place of z: a little wider, whatever k is.
    hits, units = np.array([1] * 12 + [0] * 18), np.arange(30)

    def found(k):
        return trust_cards.corrected(tables.share(*copies(k, hits, units)), card_of(k), rng())

    once, twice, many = found(1), found(2), found(k)
    assert many[:3] == pytest.approx(twice[:3], abs=1e-6)
    assert many[0] == pytest.approx(once[0]) and many[2] - many[1] >= once[2] - once[1]


# ---- a test's family


@pytest.mark.parametrize("k", [3, 5])
def test_means_differences_and_kappa_are_over_units_too(k):
    grades, units = rng().integers(-1, 2, 24), np.arange(24)
    other = np.where(rng().random(24) < 0.7, grades, 0)
    values, of = copies(k, grades, units)
    once = stats.mean(grades, units, scale=(-1, 1))
    assert stats.mean(values, of, scale=(-1, 1))[:3] == pytest.approx(once[:3])
    scale = [-1, 0, 1]
    kappa = stats.kappa(grades.tolist(), other.tolist(), scale, units=units)
    a, b, of = copies(k, grades, other, units)
    again = stats.kappa(a.tolist(), b.tolist(), scale, units=of)
    assert again[:3] == pytest.approx(kappa[:3])
