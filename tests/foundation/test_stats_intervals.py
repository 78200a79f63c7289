"""Bootstraps, shares, balanced accuracy: by hand, and against a library that has them too."""

from itertools import product
from math import erfc, isnan, nan, sqrt

import closeness
import numpy as np
import pytest
from closeness import Z2_LEVEL, close, close_interval

from bedside import stats
from bedside.stats import Interval, resampling

rng = closeness.rng  # a fixture

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


# bootstrap


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", ["mean", np.mean])
def test_bootstrap_by_hand(rng, method, statistic):
    # Two items 0 and 1 resample to means 0, 1/2, 1 with chances 1/4, 1/2, 1/4. The 30th and 70th
    # centiles are 1/2, the 2.5th and 97.5th are 0 and 1. Half of the draws (1/4 and half of 1/2)
    # lie below 1/2 and the jackknife is symmetric, so that BCa corrects nothing.
    given = {"method": method, "statistic": statistic, "least": 2}
    assert stats.bootstrap([0, 1], rng, level=0.4, **given) == Interval(0.5, 0.5, 0.5, 2)
    assert stats.bootstrap([0, 1], rng, level=0.95, **given) == Interval(0.5, 0.0, 1.0, 2)


def test_bootstrap_units_by_hand(rng):
    # Unit a has rows 1, 1, 1 and b has 0: aa gives 1, ab 3/4, bb 0, with chances 1/4, 1/2, 1/4.
    values, units = [1, 0, 1, 1], ["a", "b", "a", "a"]
    assert stats.bootstrap(values, rng, units=units, level=0.4, least=2) == Interval(
        0.75, 0.75, 0.75, 4
    )
    assert stats.bootstrap(values, rng, units=units, level=0.6, least=2) == Interval(
        0.75, 0.0, 1.0, 4
    )


def test_bootstrap_equals_gathering_rows():
    values = np.random.default_rng(1).normal(size=(57, 3))
    rows = np.random.default_rng(2).integers(0, 57, size=(500, 57))
    low, high = np.quantile(values[rows].mean(axis=1), [0.05, 0.95], axis=0)
    found = stats.bootstrap(values, np.random.default_rng(2), resamples=500, level=0.9)
    assert [each.n for each in found] == [57] * 3
    assert close(np.array(found)[:, :3], np.column_stack([values.mean(axis=0), low, high]))


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", ["mean", np.median])
def test_bootstrap_against_scipy(rng, method, statistic):
    from scipy.stats import bootstrap

    values = rng.exponential(size=61)
    rng, given = np.random.default_rng(3), {"method": method}
    found = stats.bootstrap(values, rng, statistic=statistic, resamples=1000, **given)
    rng, function = np.random.default_rng(3), np.mean if statistic == "mean" else statistic
    reference = bootstrap((values,), function, n_resamples=1000, rng=rng, **given)
    assert close(found[1:3], tuple(reference.confidence_interval))  # scipy draws the same


def test_bca_leans_to_the_long_tail(rng):
    values = rng.exponential(size=40) ** 2
    plain = stats.bootstrap(values, np.random.default_rng(0), method="percentile")
    leaning = stats.bootstrap(values, np.random.default_rng(0), method="bca")
    assert plain.value == leaning.value and plain.low < leaning.low and plain.high < leaning.high


def test_bca_of_a_value_that_no_resample_reaches(rng):
    # Thirty different items: a resample of them has about 19 different ones, and never 30.
    def different(rows, axis):
        return [len(np.unique(rows))]

    found = stats.bootstrap(np.arange(30), rng, statistic=different, method="bca")
    assert found.value == 30 and 19 < found.low <= found.high < 30


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_function_equals_fast_path(method):
    values = np.random.default_rng(1).normal(size=(30, 2))
    units = np.repeat([f"case {i}" for i in range(10)], [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    given = {"units": units, "method": method, "resamples": 300}
    fast, slow = (
        stats.bootstrap(values, np.random.default_rng(2), statistic=statistic, **given)
        for statistic in ("mean", np.mean)
    )
    assert close(np.array(fast), np.array(slow))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_does_not_depend_on_blocks(monkeypatch, method):
    correct = np.random.default_rng(1).random((41, 2)) < 0.3
    found = []
    for cells in (1, 1000, 2**20):
        monkeypatch.setattr(resampling, "CELLS", cells)
        rng = np.random.default_rng(2)
        found.append(stats.bootstrap(correct, rng, method=method, resamples=501))
    assert found[0] == found[1] == found[2]


def test_bootstrap_clusters_widen(rng):
    # Every row five times: by row the interval shrinks by sqrt(5), by unit it is that of the 40.
    once = rng.normal(size=40)
    fivefold, units = np.repeat(once, 5), np.repeat(np.arange(40), 5)
    found = (
        stats.bootstrap(once, np.random.default_rng(0)),
        stats.bootstrap(fivefold, np.random.default_rng(0), units=units),
        stats.bootstrap(fivefold, np.random.default_rng(0)),
    )
    widths = [each.high - each.low for each in found]
    assert close(widths[1], widths[0])
    assert close(widths[1] / widths[2], sqrt(5), rel=0.1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_without_variation(rng, method):
    found = stats.bootstrap([1 / 3] * 23, rng, method=method)  # thirds: sums differ by rounding
    assert found.low == found.value == found.high and close(found.value, 1 / 3)
    assert stats.bootstrap([3], rng, method=method, least=1) == Interval(3, 3, 3, 1)
    found = stats.bootstrap([1, 2], rng, units=["a", "a"], method=method, least=1)
    assert found == Interval(1.5, 1.5, 1.5, 2)
    constant, varied = stats.bootstrap([[1, 0], [1, 1], [1, 0]], rng, method=method, least=3)
    assert constant == Interval(1, 1, 1, 3) and varied.low < varied.high


def test_fewer_than_ten_units_have_no_limits(rng):
    values, units = list(range(18)), [i // 2 for i in range(18)]
    assert stats.bootstrap(values[:9], rng) == close_interval(4, nan, nan, 9)
    assert stats.bootstrap(values, rng, units=units) == close_interval(8.5, nan, nan, 18)
    assert stats.bootstrap(values[:10], rng).low < 4.5
    several = stats.bootstrap(np.eye(3), rng, combine=lambda means: means[..., :2])
    assert several == [close_interval(1 / 3, nan, nan, 3)] * 2
    ratings = ["a", "b"] * 9
    assert stats.kappa(ratings, ratings, "ab", rng=rng, units=units) == close_interval(
        1, nan, nan, 18
    )
    assert stats.kappa(ratings, ratings, "ab", rng=rng).low == 1
    alpha = stats.krippendorff_alpha([values, values], rng, units=units)
    assert alpha == close_interval(1, nan, nan, 18)


def test_bootstrap_shapes(rng):
    assert isinstance(stats.bootstrap([True, False], rng), Interval)
    assert len(stats.bootstrap([[True], [False]], rng)) == 1


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
        ([1, 2], {"method": "basic"}),
        ([1, 2], {"statistic": "median"}),
        ([1, 2], {"level": 95}),
    ],
)
def test_bootstrap_refuses(rng, values, given):
    with pytest.raises(ValueError):
        stats.bootstrap(values, rng, **given)


def test_missing_pandas_values_are_refused(rng):
    pandas = pytest.importorskip("pandas")
    scored = pandas.Series([True, None, False], dtype="boolean")
    with pytest.raises(ValueError, match="scored values only"):
        stats.bootstrap(list(scored), rng)
    with pytest.raises(ValueError):
        stats.bootstrap(scored, rng)


def test_a_seed_reproduces():
    data = np.random.default_rng(0)
    a, b = data.normal(size=30), data.normal(size=30)
    grades = data.integers(0, 3, size=(2, 30))
    for statistic in (
        lambda rng: stats.bootstrap(a, rng),
        lambda rng: stats.paired_permutation(a, b, rng),
        lambda rng: stats.kappa(*grades, range(3), rng=rng),
        lambda rng: stats.krippendorff_alpha(grades, rng),
    ):
        one, same, other = (statistic(np.random.default_rng(seed)) for seed in (5, 5, 6))
        assert one == same != other


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
    # 8 rows in 4 units of two, p = 1/2: unit sums 2, 2, 0, 0 lie 1 off what p lets expect. Variance
    # of the share 4 * 4/3 / 8**2 = 1/12, of 8 single rows 1/32: effect 8/3, effective number 3.
    hits, units = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 2, 2, 3, 3, 4, 4]
    from scipy.stats import t

    level = 2 * t.cdf(2, 3) - 1  # so that t = 2
    half = sqrt(4 * 0.25 / 3 + (4 / 6) ** 2) / (1 + 4 / 3)
    assert stats.share(hits, units, level) == close_interval(0.5, 0.5 - half, 0.5 + half, 8)


def test_share_of_what_does_not_repeat_is_wilsons():
    assert stats.share([1, 0, 0], list("abc")) == stats.wilson(1, 3)
    assert stats.share([], []) == close_interval(nan, nan, nan, 0)
    assert stats.share([1, 0], list("aa")) == close_interval(0.5, nan, nan, 2)


def test_share_without_variation_counts_units():
    from scipy.stats import t

    z = t.ppf(0.975, 2)
    found = stats.share([0] * 6, [1, 1, 2, 2, 3, 3])
    assert found == close_interval(0, 0, z**2 / (3 + z**2), 6)
    assert stats.share([1] * 6, [1, 1, 2, 2, 3, 3]).high == 1


@pytest.mark.parametrize("units", [6, 17, 60])
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
