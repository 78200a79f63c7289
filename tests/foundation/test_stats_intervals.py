"""Bootstraps, shares, balanced accuracy: by hand, and against a library that has them too."""

from itertools import product
from math import erfc, isnan, nan, sqrt

import closeness
import numpy as np
import pytest
from closeness import Z2_LEVEL, close, close_interval

import interval_worlds as worlds
from bedside import stats

rng = closeness.rng  # a fixture

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


# means and differences


def test_a_mean_on_a_scale_without_ends_has_students_interval(rng):
    from scipy.stats import t

    values = rng.normal(size=15)
    expected = t.interval(0.95, 14, values.mean(), values.std(ddof=1) / sqrt(15))
    assert close(stats.mean(values)[1:3], expected)


def test_a_mean_on_a_scale_by_hand():
    # Ten scores from 0 to 1: half 0.4 and half 0.6, mean 0.5, squared error 0.1 / 90 = 1/900. As
    # many booleans say as much as (0.5 * 0.5) * 900 = 225, so that the limits are Wilson's of 225,
    # with t of 9 degrees for z.
    from scipy.stats import t

    z = t.ppf(0.975, 9)
    half = sqrt(z**2 / 4 / 225 + (z**2 / 450) ** 2) / (1 + z**2 / 225)
    found = stats.mean([0.4, 0.6] * 5, scale=(0, 1))
    assert found == close_interval(0.5, 0.5 - half, 0.5 + half, 10)
    # the same in percent, from -1 to 1, and for several columns at once
    assert close(stats.mean([40, 60] * 5, scale=(0, 100))[:3], np.array(found[:3]) * 100)
    assert close(stats.mean([-0.2, 0.2] * 5, scale=(-1, 1))[:3], np.array(found[:3]) * 2 - 1)
    columns = stats.mean([[0.4, 0.6], [0.6, 0.4]] * 5, scale=(0, 1))
    assert close(np.array(columns), np.array([found] * 2))


def test_limits_of_a_count_are_where_the_count_is_t_errors_away():
    # The error's square grows with the mean: at a limit m it is that of the sample times m / mean.
    from scipy.stats import t

    values = [0, 1, 1, 2, 2, 3, 3, 4, 5, 9, 1, 2]
    found, error = stats.mean(values, scale=(0, np.inf)), np.std(values, ddof=1) / sqrt(12)
    for limit in found[1:3]:
        away = abs(found.value - limit) / (error * sqrt(limit / found.value))
        assert close(away, t.ppf(0.975, 11))


def test_a_mean_over_units_leaves_out_one_after_the_other(rng):
    from scipy.stats import t

    values, units = rng.normal(size=40), np.repeat(np.arange(10), 4)
    without = np.array([values[units != unit].mean() for unit in range(10)])
    error = sqrt(0.9 * ((without - without.mean()) ** 2).sum())
    found = stats.mean(values, units)
    assert close((found.high - found.low) / 2, t.ppf(0.975, 9) * error)
    # Every row five times: by row the interval shrinks, by unit it is that of the rows once.
    many, of = np.repeat(values, 5), np.repeat(np.arange(40), 5)
    assert close(stats.mean(many, of)[:3], stats.mean(values)[:3])
    narrow = stats.mean(many)
    assert narrow.high - narrow.low < 0.5 * (stats.mean(values).high - stats.mean(values).low)


def test_no_interval_is_without_width():
    from scipy.stats import t

    z = t.ppf(0.975, 11)
    part = z**2 / (12 + z**2)  # what Wilson's interval of 0 of 12 reaches
    assert stats.mean([-1] * 12, scale=(-1, 1)) == close_interval(-1, -1, 2 * part - 1, 12)
    assert stats.mean([1 / 3] * 12, scale=(0, 1)) == close_interval(
        1 / 3, (1 - part) / 3, 1 / 3 + part * 2 / 3, 12
    )
    for scale in ((0, np.inf), (-np.inf, np.inf)):  # who knows how far others would be
        assert stats.mean([3] * 12, scale=scale) == close_interval(3, nan, nan, 12)
    alike = [1, 0] * 6
    for a, b in ((alike, alike), ([1] * 12, [0] * 12), ([0.5] * 12, [0.5] * 12)):
        found = stats.difference(a, b)
        assert found.low < found.high and found.low <= found.value <= found.high
    assert stats.kappa(alike * 2, alike * 2, [0, 1]).low < 1
    assert stats.krippendorff_alpha([alike * 2] * 2).low < 1
    # A judge that calls half of the wrong answers right calls none of sixty right: no rate fits.
    sens, spec = stats.share([True] * 12), stats.share(alike * 5)
    never = stats.corrected_rate(stats.share([False] * 60), sens, spec, np.random.default_rng(0))
    assert never == close_interval(0, nan, nan, 60)


def test_a_difference_of_shares_is_bonett_and_prices():
    # 24 pairs, 7 won and 2 lost. With one more of each: (8 - 3) / 26, of which the variance is
    # (11 / 26 - (5 / 26)^2) / 25, with t for z.
    from scipy.stats import t

    a = [1] * 7 + [0] * 2 + [1] * 8 + [0] * 7
    b = [0] * 7 + [1] * 2 + [1] * 8 + [0] * 7
    half = t.ppf(0.975, 23) * sqrt((11 / 26 - (5 / 26) ** 2) / 25)
    expected = close_interval(5 / 24, 5 / 26 - half, 5 / 26 + half, 24)
    assert stats.difference(a, b) == expected
    back = stats.difference(b, a)
    assert close((-back.value, -back.high, -back.low), stats.difference(a, b)[:3])
    points = stats.difference(100 * np.array(a), 100 * np.array(b), scale=(0, 100))
    assert close(points[:3], 100 * np.array(stats.difference(a, b)[:3]))
    twice = stats.difference(a * 2, b * 2, list(range(24)) * 2)  # copies say nothing new
    assert close(twice[:3], stats.difference(a, b)[:3])


def test_a_difference_of_scores_is_the_mean_difference(rng):
    a, b = rng.random((2, 30))
    units = np.arange(30) // 2
    assert stats.difference(a, b, units) == stats.mean(a - b, units, scale=(-1, 1))


def test_a_medians_limits_are_values(rng):
    values = rng.exponential(size=40)
    found = stats.median(values)
    assert found.value == np.median(values) and found.low < found.value < found.high
    assert {found.low, found.high} <= set(values)
    assert isnan(stats.median(values[:19]).low)


def test_fewer_units_than_a_method_needs_have_no_limits():
    values, units = list(range(18)), [i // 2 for i in range(18)]
    assert stats.mean(values[:9]) == close_interval(4, nan, nan, 9)
    assert stats.mean(values, units) == close_interval(8.5, nan, nan, 18)
    assert stats.mean(values[:10]).low < 4.5
    several = stats.mean(np.eye(3), combine=lambda means: means[..., :2])
    assert several == [close_interval(1 / 3, nan, nan, 3)] * 2
    hits = [1, 0, 1] * 3
    assert stats.share(hits) == close_interval(2 / 3, nan, nan, 9)
    assert stats.share([*hits, 1]).low < 0.7
    assert stats.difference(hits, hits[::-1]) == close_interval(0, nan, nan, 9)
    ratings = ["a", "b"] * 10
    few = np.repeat(np.arange(10), 2)
    assert stats.kappa(ratings, ratings, "ab", units=few) == close_interval(1, nan, nan, 20)
    assert stats.kappa(ratings[1:], ratings[1:], "ab") == close_interval(1, nan, nan, 19)
    assert stats.kappa(ratings, ratings, "ab").low < 1
    alpha = stats.krippendorff_alpha([values, values], units=units)
    assert alpha == close_interval(1, nan, nan, 18)


@pytest.mark.parametrize(
    "values, given",
    [
        ([], {}),
        (np.zeros((2, 2, 2)), {}),
        ([1, nan], {}),
        ([[1, 2], [nan, 3]], {}),
        ([1, None], {}),
        ([1, 2], {"units": ["a"]}),
        ([1, 2], {"units": ["a", nan]}),
        ([1, 2], {"units": [1, nan]}),
        ([1, 2], {"scale": (0, 1)}),
    ],
)
def test_mean_refuses(values, given):
    with pytest.raises(ValueError):
        stats.mean(values, **given)


def test_missing_pandas_values_are_refused():
    pandas = pytest.importorskip("pandas")
    scored = pandas.Series([True, None, False], dtype="boolean")
    with pytest.raises(ValueError, match="scored values only"):
        stats.mean(list(scored))
    with pytest.raises(ValueError):
        stats.mean(scored)


def test_a_seed_reproduces():
    a, b = np.random.default_rng(0).normal(size=(2, 30))
    one, same, other = (
        stats.paired_permutation(a, b, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert one == same != other


# how often they cover


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "clustered"])
@pytest.mark.parametrize("n", [12, 20])
@pytest.mark.parametrize(
    "world",
    [
        "share: 0.05",
        "mean: grades -1, 0, 1 with chances 0.7, 0.2, 0.1",
        "mean: scores from 0 to 1, beta(6, 1.5)",
        "mean: counts, Poisson of 3",
        "difference: shares, 0.15 won, 0.05 lost",
        "difference: shares, 0.2 won, 0 lost",
        "kappa: 0.8, two labels, half each",
        "quadratic kappa: 0.8, neighbours",
        "ordinal alpha: 0.5, three raters, three grades",
    ],
)
def test_intervals_of_small_samples_cover(world, n, clustered):
    """Of 400 intervals at least 90% hold the truth: of 93%, 400 give less in one of a hundred.

    Each has a width, or `coverage` raises. `tests/interval_worlds.py` makes the whole table.
    """
    found = {f"{w[0]}: {w[1]}": w for w in worlds.worlds()}[world]
    covered, given = worlds.coverage(found, n, clustered, 400)
    if "kappa" in world or "alpha" in world:
        assert given == (n >= 20)
    assert given in (0, 1) and (given == 0 or covered >= 0.90)


# proportions


def test_wilson_by_hand():
    # z = 2, 2 of 4: centre (1/2 + 4/8) / (1 + 1) = 1/2, half width
    # sqrt(4 * 1/4 / 4 + 1/4) / 2 = sqrt(1/8).
    half = sqrt(1 / 8)
    assert stats.wilson(2, 4, Z2_LEVEL) == close_interval(0.5, 0.5 - half, 0.5 + half, 4)
    # 0 of 4: centre (0 + 4/8) / 2 = 1/4 and half width sqrt(1/4) / 2 = 1/4; the limit 0 is exact.
    assert stats.wilson(0, 4, Z2_LEVEL) == close_interval(0, 0, 0.5, 4)
    for n in range(1, 100):
        assert stats.wilson(0, n).low == 0 and stats.wilson(n, n).high == 1
    assert stats.wilson(0, 0) == close_interval(nan, nan, nan, 0)


def test_share_by_hand():
    # 24 rows in 12 units of two, p = 1/2: unit sums 2 or 0 lie 1 off what p lets expect. Variance
    # of the share 12 * 12/11 / 24**2 = 1/44, of 24 single rows 1/96: effect 24/11, effective
    # number 11.
    hits, units = [1] * 12 + [0] * 12, np.arange(24) // 2
    from scipy.stats import t

    level = 2 * t.cdf(2, 11) - 1  # so that t = 2
    half = sqrt(4 * 0.25 / 11 + (4 / 22) ** 2) / (1 + 4 / 11)
    assert stats.share(hits, units, level) == close_interval(0.5, 0.5 - half, 0.5 + half, 24)


def test_share_of_what_does_not_repeat_is_wilsons_with_t():
    from scipy.stats import norm, t

    level = 2 * norm.cdf(t.ppf(0.975, 11)) - 1
    expected = stats.wilson(5, 12, level)
    assert stats.share([1] * 5 + [0] * 7) == close_interval(*expected)
    assert stats.share([1] * 5 + [0] * 7, list("abcdefghijkl")) == close_interval(*expected)
    assert stats.share([], []) == close_interval(nan, nan, nan, 0)


def test_share_without_variation_counts_units():
    from scipy.stats import t

    z, units = t.ppf(0.975, 9), np.arange(20) // 2
    assert stats.share([0] * 20, units) == close_interval(0, 0, z**2 / (10 + z**2), 20)
    assert stats.share([1] * 20, units).high == 1


@pytest.mark.parametrize("units", [10, 17, 60])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_share_covers_where_rows_repeat(rng, units, p):
    """Of 400 shares with an intraclass correlation of a half at least 92% are covered."""
    owner, covered, plain = np.repeat(np.arange(units), 4), 0, 0
    for _ in range(400):
        hits = rng.random(len(owner)) < rng.beta(p, 1 - p, units)[owner]
        i, w = stats.share(hits, owner), stats.wilson(int(hits.sum()), len(hits))
        covered, plain = covered + (i.low <= p <= i.high), plain + (w.low <= p <= w.high)
    assert covered >= 0.92 * 400 - 8 and plain < 0.9 * 400  # 8: chance of the simulation


def test_wilson_against_scipy():
    from scipy.stats import binomtest

    for (x, n), level in product([(0, 9), (1, 10), (37, 585), (585, 585)], [0.8, 0.95]):
        expected = binomtest(x, n).proportion_ci(level, method="wilson")
        assert close(stats.wilson(x, n, level)[1:3], tuple(expected))


def test_two_proportions_by_hand():
    # 8 and 2 of 10: pooled 1/2, error sqrt(1/4 * 2/10), z = 0.6 / sqrt(0.05) = sqrt(7.2);
    # p = erfc(z / sqrt(2)).
    assert close(stats.two_proportions(8, 10, 2, 10), erfc(sqrt(3.6)))
    assert stats.two_proportions(0, 5, 0, 9) == stats.two_proportions(5, 5, 9, 9) == 1


def test_two_proportions_against_scipy():
    from scipy.stats import chi2_contingency

    table = [[30, 70], [45, 75]]  # the squared z is Pearson's chi-squared
    expected = chi2_contingency(table, correction=False).pvalue
    assert close(stats.two_proportions(30, 100, 45, 120), expected)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: stats.wilson(5, 4),
        lambda: stats.wilson(nan, 4),
        lambda: stats.wilson(1, 4, 95),
        lambda: stats.two_proportions(0, 0, 1, 2),
        lambda: stats.two_proportions(3, 2, 1, 2),
    ],
)
def test_proportions_refuse(wrong):
    with pytest.raises(ValueError):
        wrong()


# balanced accuracy


def test_balanced_accuracy_by_hand():
    # Shares 1/2 and 1: mean 3/4. Each side is the root of the two Wilson distances squared, halved.
    a, b = stats.wilson(2, 4), stats.wilson(6, 6)
    found = stats.balanced_accuracy(2, 4, 6, 6)
    low, high = 0.75 - sqrt((0.5 - a.low) ** 2 + (1 - b.low) ** 2) / 2, 0.75 + (a.high - 0.5) / 2
    assert close(found, (0.75, low, high, 10))


def test_a_mean_of_two_keeps_what_units_say():
    a, b = stats.Interval(0.5, 0.3, 0.7, 20), stats.Interval(0.9, 0.6, 1.0, 30)
    # 0.7, minus half of the hypotenuse of 0.2 and 0.3, plus half of that of 0.2 and 0.1
    expected = (0.7, 0.7 - 0.13**0.5 / 2, 0.7 + 0.05**0.5 / 2, 50)
    assert stats.mean_of(a, b) == pytest.approx(expected)
    nothing = stats.wilson(0, 0)
    assert all(x != x for x in stats.mean_of(a, nothing)[:3])


@pytest.mark.parametrize("hits, n, kept, m", [(0, 20, 20, 20), (7, 40, 31, 33), (0, 5, 0, 7)])
def test_balanced_accuracy_is_newcombes_difference(hits, n, kept, m):
    # (p + q) / 2 = (p - (1 - q) + 1) / 2, and MOVER with Wilson limits is Newcombe's interval of a
    # difference
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    low, high = proportion.confint_proportions_2indep(hits, n, m - kept, m, method="newcomb")
    found = stats.balanced_accuracy(hits, n, kept, m)
    assert close(found[1:3], ((low + 1) / 2, (high + 1) / 2))


def test_balanced_accuracy_is_fair_and_has_width_at_the_ends():
    found = stats.balanced_accuracy(0, 20, 20, 20)
    assert found.value == stats.balanced_accuracy(20, 20, 0, 20).value == 0.5
    assert found.low < 0.5 < found.high
    assert stats.balanced_accuracy(9, 9, 5, 5).high == 1
    assert isnan(stats.balanced_accuracy(0, 0, 3, 5).value)
