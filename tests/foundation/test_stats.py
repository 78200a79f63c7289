"""Every statistic against a value worked out by hand, and against a library that has it too."""

import subprocess
import sys
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import product
from math import comb, erfc, isnan, nan, sqrt

import numpy as np
import pytest

from bedside import stats
from bedside.stats import Interval, resampling

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

Z2_LEVEL = 1 - erfc(2 / sqrt(2))  # the level whose z is 2, for wilson by hand

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: four observers, twelve units.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
)


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


def close(found, expected, **tolerance):
    return found == pytest.approx(expected, **tolerance)


def close_interval(value, low, high, n):
    return pytest.approx((value, low, high, n), nan_ok=True)


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


# paired tests


def test_mcnemar_by_hand():
    # One pair for a, six for b: 2 * (C(7,0) + C(7,1)) / 2^7 = 16/128.
    assert close(stats.mcnemar_counts(1, 6), 0.125)
    assert close(stats.mcnemar_counts(6, 1), 0.125)
    # 2 * P(X <= 2 of 4) = 2 * 11/16 is above one.
    assert stats.mcnemar_counts(2, 2) == 1
    assert stats.mcnemar_counts(0, 0) == 1
    # a alone is right in three pairs, b in none: 2 / 2^3.
    assert close(stats.mcnemar([1, 1, 1, 0, 1], np.array([False, False, False, False, True])), 0.25)


def test_mcnemar_against_scipy():
    from scipy.stats import binomtest

    for b, c in product([0, 1, 2, 7, 40], [1, 2, 9, 55, 300]):
        assert close(stats.mcnemar_counts(b, c), binomtest(b, b + c).pvalue)


def test_mcnemar_range_by_hand():
    # 8 and 2 of 10 share 0, 1 or 2 items: discordant 8:2, 7:1, 6:0, p = 2*56/1024, 2*9/256, 2/64.
    assert close(stats.mcnemar_range(8, 2, 10), (2 / 64, 112 / 1024))
    # 9 and 8 of 10 share at least 7: discordant 2:1 and 1:0, both p = 1.
    assert stats.mcnemar_range(9, 8, 10) == (1, 1)


def test_permutation_range_by_hand():
    """[1, 0] against [0, -1]: like with like 1 and 1, which flip to 2 or -2 in half of four ways;

    high with low 2 and 0, which flips to 2 or -2 always.
    """
    assert close(stats.permutation_range([0, 1], [-1, 0]), (0.5, 1))


def test_permutation_range_holds_pairings_and_agrees_with_ours(rng):
    a, b = rng.integers(-1, 2, 60), np.minimum(rng.integers(-1, 2, 60), 0)
    low, high = stats.permutation_range(a, b)
    apart = np.sort(a) - np.sort(b)[::-1]
    assert stats.paired_permutation(apart, np.zeros(60), rng) == pytest.approx(high, abs=0.02)
    for _ in range(100):
        d = a - rng.permutation(b)
        assert low <= stats.permutation_range(d, np.zeros(60, int))[0] <= high


def test_mcnemar_range_holds_every_pairing():
    patterns = np.array(list(product([False, True], repeat=6)))
    a = np.array([True] * 5 + [False])
    found = [stats.mcnemar(a, b) for b in patterns if b.sum() == 2]
    assert close((min(found), max(found)), stats.mcnemar_range(5, 2, 6))


@pytest.mark.parametrize(
    "a, b", [([1, 0], [1]), ([1, nan], [1, 0]), ([1, 2], [1, 0]), ([[1]], [[1]])]
)
def test_booleans_are_checked(a, b):
    for statistic in (stats.mcnemar, stats.sens_spec):
        with pytest.raises(ValueError):
            statistic(a, b)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: stats.mcnemar_counts(-1, 2),
        lambda: stats.mcnemar_counts(1.5, 2),
        lambda: stats.mcnemar_counts(nan, 2),
        lambda: stats.mcnemar_range(11, 2, 10),
    ],
)
def test_mcnemar_refuses(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_permutation_by_hand(rng):
    # Differences 3 and 1: the four sign patterns sum to 4, 2, -2, -4; two reach 4.
    assert stats.paired_permutation([3, 2], [0, 1], rng) == 0.5
    # 0.1, 0.2 and 0.3: only the two patterns of equal sign in eight reach 0.6, however rounded.
    assert stats.paired_permutation([0.1, 0.2, 0.3], [0, 0, 0], rng) == 0.25
    # The first two rows flip together: sums 2 and 1, again two patterns of four.
    assert stats.paired_permutation([1, 1, 1], [0, 0, 0], rng, units=["x", "x", "y"]) == 0.5
    assert stats.paired_permutation([1, 2], [1, 2], rng) == 1
    # Twenty equal differences: the exact p is 2 / 2^20, so no hit in a hundred: 1 / 101.
    assert stats.paired_permutation(np.ones(20), np.zeros(20), rng, resamples=100) == 1 / 101
    assert stats.paired_permutation(np.ones(20), np.ones(20), rng, resamples=100) == 1


@pytest.mark.parametrize("n, tolerance", [(9, 1e-12), (13, 1e-12), (14, 0.02), (60, 0.02)])
def test_permutation_against_scipy(rng, n, tolerance):
    from scipy.stats import permutation_test

    def difference(x, y, axis):
        return np.mean(x - y, axis=axis)

    a, b = rng.normal(0.3, 1, size=n), rng.normal(size=n)
    given = {"permutation_type": "samples", "n_resamples": 10_000, "vectorized": True}
    reference = permutation_test((a, b), difference, rng=rng, **given)
    assert close(stats.paired_permutation(a, b, rng), reference.pvalue, abs=tolerance)


def test_permutation_blocks(monkeypatch):
    a = np.random.default_rng(1).integers(0, 2, size=(2, 31))
    found = set()
    for cells in (1, 500, 2**20):
        monkeypatch.setattr(resampling, "CELLS", cells)
        found.add(stats.paired_permutation(*a, np.random.default_rng(2), resamples=501))
    assert len(found) == 1


@pytest.mark.parametrize("a, b", [([], []), ([1, nan], [1, 1]), ([1], [1, 2]), ([[1]], [[1]])])
def test_permutation_refuses(rng, a, b):
    with pytest.raises(ValueError):
        stats.paired_permutation(a, b, rng)


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


def test_holm_by_hand():
    # Sorted 0.01, 0.03, 0.04 times 3, 2, 1: 0.03, 0.06, 0.04, and the last may not fall below 0.06.
    assert close(stats.holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    found = stats.holm([nan, 0.01, 0.04, nan, 0.03])
    assert close(found, [nan, 0.03, 0.06, nan, 0.06], nan_ok=True)
    assert close(stats.holm([0.6, 0.7]), [1, 1])
    assert stats.holm([]).shape == (0,)
    for wrong in ([0.5, 1.2], [-0.1], [[0.1]]):
        with pytest.raises(ValueError):
            stats.holm(wrong)


def test_holm_against_statsmodels(rng):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = rng.random(20) ** 3
    assert close(stats.holm(p), multitest.multipletests(p, method="holm")[1])


# agreement


def test_kappa_by_hand(rng):
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: agreement 0.7, by chance
    # 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = stats.kappa(a, b, ["no", "yes"], rng=rng)
    assert close(found.value, 0.4) and found.low < 0.4 < found.high and found.n == 50
    assert stats.kappa(a, b, ["no", "yes"]) == close_interval(0.4, nan, nan, 50)
    # 0/0, 1/2, 2/2: squared distance 1 in all; by chance (rows 1 1 1, columns 1 0 2)
    # (5 + 2 * 5) / 3. 1 - 3/15.
    found = stats.kappa([0, 1, 2], [0, 2, 2], range(3), weights="quadratic")
    assert close(found.value, 0.8)


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_kappa_conventions(rng, weights):
    labels = ["bad", "fair", "good"]
    found = stats.kappa(["good"] * 9, ["good"] * 9, labels, weights=weights, rng=rng)
    assert found == close_interval(nan, nan, nan, 9)
    # A constant guesser knows nothing; a resample without the one "bad" has no kappa, and is not 1.
    others = ["good"] * 9 + ["bad"]
    found = stats.kappa(["good"] * 10, others, labels, weights=weights, rng=rng)
    assert found == Interval(0, 0, 0, 10)
    assert stats.kappa(["good"] * 9, ["bad"] * 9, labels, weights=weights).value == 0


@pytest.mark.parametrize("weights", [None, "quadratic"])
@pytest.mark.parametrize("used", [[0, 1, 2, 3], [0, 1, 3], [3, 1]])
def test_kappa_against_sklearn(rng, weights, used):
    from sklearn.metrics import cohen_kappa_score

    a = rng.choice(used, size=80)
    b = np.where(rng.random(80) < 0.6, a, rng.choice(4, size=80))
    for x, y in ((a, b), (b, a), (a, a)):
        expected = cohen_kappa_score(x, y, labels=range(4), weights=weights)
        assert close(stats.kappa(x, y, range(4), weights=weights).value, expected)


def test_kappa_interval_is_that_of_resampled_items():
    a, b = np.random.default_rng(1).integers(0, 3, size=(2, 40))
    rows = np.random.default_rng(2).integers(0, 40, size=(300, 40))
    given = {"labels": range(3), "weights": "quadratic"}
    draws = [stats.kappa(a[each], b[each], **given).value for each in rows]
    found = stats.kappa(a, b, rng=np.random.default_rng(2), resamples=300, **given)
    assert close(found[1:3], np.quantile(draws, [0.025, 0.975]))


def test_kappa_units_widen(rng):
    a, b = np.repeat(rng.integers(0, 2, size=(2, 30)), 4, axis=1)
    plain = stats.kappa(a, b, [0, 1], rng=rng)
    by_case = stats.kappa(a, b, [0, 1], rng=rng, units=np.repeat(np.arange(30), 4))
    assert by_case.value == plain.value and by_case.n == plain.n == 120
    assert by_case.high - by_case.low > 1.5 * (plain.high - plain.low)


@pytest.mark.parametrize(
    "a, b, given",
    [
        ([], [], {}),
        ([1], [1, 0], {}),
        ([1, nan], [1, 0], {}),
        ([1, 7], [1, 0], {}),
        ([1, None], [1, 0], {}),
        ([1, 0], [1, 0], {"weights": "linear"}),
    ],
)
def test_kappa_refuses(a, b, given):
    with pytest.raises(ValueError):
        stats.kappa(a, b, [0, 1], **given)


@pytest.mark.parametrize(
    "level, expected", [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_worked_example(rng, level, expected):
    found = stats.krippendorff_alpha(OBSERVERS, rng, level=level)
    assert close(found.value, expected, abs=0.0005)
    assert found.low < found.value < found.high
    assert found.n == 11  # the twelfth unit has one rating
    without = stats.krippendorff_alpha(OBSERVERS, level=level)
    assert without == close_interval(found.value, nan, nan, 11)


def test_alpha_by_hand():
    # 0/0, 1/1, 0/1: six ratings, three of each; off-diagonal pairs 2, by chance
    # 3 * 3 * 2 / 5 = 3.6. 1 - 2/3.6.
    for level in ("nominal", "ordinal", "interval"):
        found = stats.krippendorff_alpha([[0, 1, 0], [0, 1, 1]], level=level)
        assert close(found.value, 1 - 2 / 3.6)
    # 0/0, 4/4, 0/1: margins 3, 1, 2 of 0, 1, 4. Interval: observed 2 * 1, by chance
    # 2 * (3*1*1 + 3*2*16 + 1*2*9) / 5 = 46.8. Ordinal: midranks 1.5, 3.5, 5, so that observed is
    # 2 * 4 and chance 2 * (3*1*4 + 3*2*12.25 + 1*2*2.25) / 5 = 36.
    ratings = [[0, 4, 0], [0, 4, 1]]
    assert close(stats.krippendorff_alpha(ratings, level="interval").value, 1 - 2 / 46.8)
    assert close(stats.krippendorff_alpha(ratings, level="ordinal").value, 1 - 8 / 36)


def test_alpha_without_variation(rng):
    assert stats.krippendorff_alpha([[2, 2, 2], [2, 2, 2]], rng) == close_interval(nan, nan, nan, 3)
    found = stats.krippendorff_alpha([[1, 2, 2], [1, 2, 2]], rng, least=3)
    assert found == Interval(1, 1, 1, 3)


def test_alpha_interval_is_that_of_resampled_units():
    ratings = OBSERVERS[:, :11]
    columns = np.random.default_rng(2).integers(0, 11, size=(300, 11))
    draws = [stats.krippendorff_alpha(ratings[:, each]).value for each in columns]
    found = stats.krippendorff_alpha(ratings, np.random.default_rng(2), resamples=300)
    assert close(found[1:3], np.quantile(draws, [0.025, 0.975]))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_against_krippendorff(rng, level):
    krippendorff = pytest.importorskip("krippendorff")
    ratings = np.where(rng.random((4, 30)) < 0.3, nan, rng.choice([0, 1, 3, 7], size=(4, 30)))
    expected = krippendorff.alpha(ratings, level_of_measurement=level)
    assert close(stats.krippendorff_alpha(ratings, level=level).value, expected)


@pytest.mark.parametrize(
    "ratings, given",
    [
        ([1, 2], {}),
        ([[1, 2], [nan, nan]], {}),
        ([[1, np.inf], [1, 2]], {}),
        ([[1, 2], [1, 2]], {"level": "ratio"}),
        (np.ones((2, 1)) * range(101), {}),
    ],
)
def test_alpha_refuses(ratings, given):
    with pytest.raises(ValueError):
        stats.krippendorff_alpha(ratings, **given)


def test_gwet_of_the_worked_example():
    """Gwet (2014) and his package irrCAC print AC1 0.77544 for these four raters."""
    assert stats.gwet(OBSERVERS, range(1, 6)) == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_gwet_pair_by_pair(rng, weights):
    """Agreement over all pairs of ratings, chance from the mean margins; nobody gave a 4."""
    ratings = rng.choice([1, 2, 3, 5], size=(3, 40))
    power = {"linear": 1, "quadratic": 2}.get(weights)
    alike = {
        (a, b): 1 - (abs(a - b) / 4) ** power if power else float(a == b)
        for a, b in product(range(1, 6), repeat=2)
    }
    pairs = [(i, j) for i, j in product(range(3), repeat=2) if i != j]
    seen = np.mean([alike[unit[i], unit[j]] for unit in ratings.T for i, j in pairs])
    share = [(ratings == k).mean() for k in range(1, 6)]
    chance = sum(alike.values()) / 20 * sum(p * (1 - p) for p in share)
    expected = (seen - chance) / (1 - chance)
    assert stats.gwet(ratings, range(1, 6), weights=weights) == pytest.approx(expected)


@pytest.mark.parametrize(
    "ratings, given",
    [([[1, 6], [1, 2]], {}), ([[1, nan], [nan, 2]], {}), ([[1], [1]], {"weights": "cubic"})],
)
def test_gwet_refuses(ratings, given):
    with pytest.raises(ValueError):
        stats.gwet(ratings, range(1, 6), **given)


def test_sens_spec_by_hand():
    # Of three ill two are found, of two well one is cleared. z = 2, 1 of 2: centre
    # (1/2 + 1) / (1 + 2) = 1/2, half width sqrt(4 * 1/4 / 2 + 1) / 3.
    sensitivity, specificity = stats.sens_spec([1, 1, 1, 0, 0], [True, True, False, False, True])
    assert sensitivity == stats.wilson(2, 3) and close(sensitivity.value, 2 / 3)
    assert specificity == stats.wilson(1, 2)
    half = sqrt(1.5) / 3
    assert stats.wilson(1, 2, Z2_LEVEL) == close_interval(0.5, 0.5 - half, 0.5 + half, 2)
    sensitivity, specificity = stats.sens_spec([0, 0], [0, 0])
    assert isnan(sensitivity.value) and sensitivity.n == 0 and specificity.value == 1


def test_sens_spec_against_sklearn(rng):
    from sklearn.metrics import recall_score

    truth, predicted = rng.random((2, 50)) < 0.4
    expected = [recall_score(truth, predicted, pos_label=label) for label in (True, False)]
    assert close([found.value for found in stats.sens_spec(truth, predicted)], expected)


# what a study can show


def test_mde_by_hand():
    # n = 100, psi = 0.2:
    # sqrt(0.2) * (1.959964 * 10 + 0.841621 * sqrt(100 + 0.708326 - 3.841459)) / 100.708326
    # = 0.447214 * (19.59964 + 0.841621 * 9.842096) / 100.708326
    # = 0.447214 * 27.882955 / 100.708326.
    assert close(stats.mde_paired(100, 0.2), 0.123819, abs=1e-6)
    # Power one half leaves z(alpha/2) sqrt(psi / n): 1.959964 * sqrt(0.25 / 400) = 0.048999.
    assert close(stats.mde_paired(400, 0.25, power=0.5), 0.0489991)
    for given in ((10, 0.1), (2, 0.5), (100, 0)):
        assert isnan(stats.mde_paired(*given))


def test_mde_solves_its_equation():
    from scipy.optimize import brentq
    from scipy.special import ndtri

    def gap(d, n, psi, alpha, power):
        found = ndtri(1 - alpha / 2) * sqrt(psi) + ndtri(power) * sqrt(psi - d**2)
        return found - d * sqrt(n)

    for given in product([20, 585], [0.15, 0.6, 1.0], [0.01, 0.05], [0.8, 0.95]):
        _, psi, *_ = given
        expected = brentq(gap, 0, psi, given, xtol=1e-14) if gap(psi, *given) <= 0 else nan
        assert close(stats.mde_paired(*given), expected, nan_ok=True)


def test_mde_is_found_with_its_power(rng):
    n, psi = 500, 0.3
    d = stats.mde_paired(n, psi)
    b, c, _ = rng.multinomial(n, [(psi + d) / 2, (psi - d) / 2, 1 - psi], size=4000).T
    assert close((np.abs(b - c) / np.sqrt(b + c) > 1.959964).mean(), 0.8, abs=0.03)


@pytest.mark.parametrize(
    "given", [(0, 0.2), (10, 1.2), (10, nan), (10, 0.2, 0), (10, 0.2, 0.05, 0.3)]
)
def test_mde_refuses(given):
    with pytest.raises(ValueError):
        stats.mde_paired(*given)


def test_grim_by_hand():
    # Thirds print as 0, 33, 67 and 100.
    assert stats.grim(33, 3, 0) and not stats.grim(50, 3, 0)
    # An eighth is 12.5: to even 12, up 13. Three eighths are 37.5: both ways 38, never 37.
    assert stats.grim_counts(12, 8, 0) == stats.grim_counts(13, 8, 0) == [1]
    assert stats.grim_counts(38, 8, 0) == [3] and not stats.grim(37, 8, 0)
    # One of 585 is 0.17 points, so 43.1 (251.84 to 252.43) is 252 only, and to no decimal 43 is
    # 249 to 254.
    assert stats.grim_counts(43.1, 585, 1) == [252]
    assert stats.grim_counts(43, 585, 0) == list(range(249, 255))
    # 23 of 2000 is 1.15, which as a float lies below and prints 1.1; 21 is 1.05, up 1.1.
    assert stats.grim_counts(1.1, 2000, 1) == [21, 22, 23]
    # 49 of 2000 is 2.45, which as a float lies above and prints 2.5, but to even is 2.4; 47 is
    # 2.35, up 2.4.
    assert stats.grim_counts(2.4, 2000, 1) == [47, 48, 49]
    assert stats.grim_counts(0, 9, 1) == [0] and stats.grim_counts(100, 9, 1) == [9]
    assert not stats.grim(104, 9, 0)


def test_grim_against_decimal():
    for n, decimals in product([7, 8, 40], [0, 1, 2]):
        printed = {}
        for count in range(n + 1):
            exact = Decimal(100 * count) / n  # exact enough: 28 digits
            step = Decimal(10) ** -decimals
            roundings = (ROUND_HALF_UP, ROUND_HALF_EVEN)
            forms = [float(exact.quantize(step, rounding)) for rounding in roundings]
            for form in (*forms, round(100 * count / n, decimals)):
                printed.setdefault(form, set()).add(count)
        for step in range(100 * 10**decimals + 1):
            percent = round(step / 10**decimals, decimals)
            assert set(stats.grim_counts(percent, n, decimals)) == printed.get(percent, set())


@pytest.mark.parametrize("given", [(43.15, 585, 1), (50, 0, 0), (nan, 10, 1)])
def test_grim_refuses(given):
    with pytest.raises(ValueError):
        stats.grim(*given)


def test_import_brings_only_numpy():
    heavy = {"scipy", "sklearn", "pandas", "statistics"}
    code = f"import sys, bedside.stats; print({heavy} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_binomial_tail_of_a_long_study():
    # 2 * sum of C(2000, k), k <= 950, over 2^2000, in whole numbers.
    expected = 2 * sum(comb(2000, k) for k in range(951)) / 2**2000
    assert close(stats.mcnemar_counts(950, 1050), expected, rel=1e-10)


def test_corrected_rate_by_hand():
    # 8% judged positive, sensitivity 0.8, specificity 0.95:
    # (0.08 + 0.95 - 1) / (0.8 + 0.95 - 1) = 0.03 / 0.75 = 0.04
    sens, spec = stats.wilson(80, 100), stats.wilson(95, 100)

    def found(hits):
        return stats.corrected_rate(stats.wilson(hits, 100), sens, spec, np.random.default_rng(0))

    assert found(8).value == pytest.approx(0.04) and found(8).low <= 0.04 <= found(8).high
    assert found(8) == found(8)
    # fewer positives than the judge's false alarms: none are left
    assert found(2).value == 0
    # a perfect judge changes nothing, and its interval is close to Wilson's
    sure, rate = stats.wilson(10**6, 10**6), stats.wilson(30, 100)
    perfect = stats.corrected_rate(rate, sure, sure, np.random.default_rng(0))
    assert close(perfect.value, 0.3) and close(perfect.low, stats.wilson(30, 100).low, abs=0.01)


def test_corrected_rate_of_a_judge_without_skill_is_nothing():
    half, rate = stats.wilson(50, 100), stats.wilson(8, 100)
    assert np.isnan(stats.corrected_rate(rate, half, half, np.random.default_rng(0)).value)


@pytest.mark.parametrize("hits, n", [(0, 7), (3, 11), (5, 5), (40, 97), (1, 1)])
def test_the_size_behind_a_score_interval_is_its_count(hits, n):
    # Wilson's limits of n booleans give n back, so a rate without repeats is drawn from its counts.
    rate, sure = stats.wilson(hits, n), stats.wilson(10**9, 10**9)
    found = stats.corrected_rate(rate, sure, sure, np.random.default_rng(3))
    draws = np.random.default_rng(3).beta(hits + 0.5, n - hits + 0.5, 10_000)
    assert close(found[1:3], np.quantile(draws, [0.025, 0.975]), abs=1e-5)
    assert close(found.value, hits / n)


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


# macro scores of two classes


def test_macro_by_hand():
    # 6 found, 1 accused, 2 missed, 1 let pass. Precision 6/7 and 1/3, recall 3/4 and 1/2, F1 12/15
    # and 2/5.
    assert close(stats.macro([6, 1, 2, 1]), [0.7, (6 / 7 + 1 / 3) / 2, 0.625, 0.6])
    # Always yes on three of each: the other class has precision, recall and F1 0.
    assert close(stats.macro([3, 3, 0, 0]), [0.5, 0.25, 0.5, 1 / 3])
    assert close(stats.macro(np.array([6, 1, 2, 1]) / 10), stats.macro([6, 1, 2, 1]))
    assert stats.macro(np.ones((5, 3, 4))).shape == (5, 3, 4)


@pytest.mark.parametrize(
    "counts, accuracy", [([3, 0, 1, 0], 0.75), ([4, 0, 0, 0], 1.0), ([0, 1, 0, 3], 0.75)]
)
def test_macro_without_one_class_is_nothing(counts, accuracy):
    made = stats.macro(counts)
    assert made[0] == accuracy and np.isnan(made[1:]).all()


def test_macro_against_sklearn(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    given = {"average": "macro", "zero_division": 0}
    for _ in range(20):
        truth, said = rng.integers(0, 2, (2, 12))
        if 0 < truth.sum() < 12:
            scores = metrics.precision_recall_fscore_support(truth, said, **given)[:3]
            expected = [metrics.accuracy_score(truth, said), *scores]
            assert close(stats.macro(confused(truth, said).sum(axis=0)), expected)


def confused(truth, said):
    """True and false positives, false and true negatives of 0s and 1s (n,), an item a row."""
    cells = [truth * said, (1 - truth) * said, truth * (1 - said), (1 - truth) * (1 - said)]
    return np.column_stack(cells)


def test_harmonic_against_scipy(rng):
    hmean = pytest.importorskip("scipy.stats").hmean
    rates = rng.random((2, 30))
    assert close(stats.harmonic(*rates), hmean(rates))
    assert close(stats.harmonic(0.5, 1), 2 / 3)  # 1 over the mean of 2 and 1


def test_bootstrap_of_numbers_made_of_means(rng):
    # Two items, (1, 0) and (0, 1): resampled means are (1, 0), (1/2, 1/2), (0, 1) with chances
    # 1/4, 1/2, 1/4. The second number is left out of its limits where it is NaN.
    def combine(means):
        first, second = means[:, 0], means[:, 1]
        return np.stack([first * second, np.where(first > 0.6, first, nan)], axis=-1)

    values = np.eye(2)
    both = stats.bootstrap(values, rng, combine=combine, least=2)
    assert both[0] == Interval(0.25, 0.0, 0.25, 2)
    assert isnan(both[1].value) and (both[1].low, both[1].high) == (1.0, 1.0)
    with pytest.raises(ValueError, match="percentile limits of means"):
        stats.bootstrap(values, rng, combine=stats.macro, method="bca")


def test_bootstrap_of_macro_scores_matches_resampling(rng):
    cells = confused(*rng.integers(0, 2, (2, 60)))

    def f1(rows, axis):
        return stats.macro(cells[rows.ravel().astype(int)].mean(0))[3:]

    fast = stats.bootstrap(cells, np.random.default_rng(1), combine=stats.macro)
    slow = stats.bootstrap(np.arange(60.0), np.random.default_rng(1), statistic=f1)
    assert close(fast[3], slow)


def test_most_kappa_against_every_table():
    n = 24
    for same in (12, 18, 22):
        found = []
        for yes_yes, yes_no in product(range(same + 1), range(n - same + 1)):
            no_yes, no_no = n - same - yes_no, same - yes_yes
            a = [1] * (yes_yes + yes_no) + [0] * (no_yes + no_no)
            b = [1] * yes_yes + [0] * yes_no + [1] * no_yes + [0] * no_no
            found.append(stats.kappa(a, b, [0, 1]).value)
        assert stats.most_kappa(same / n) - 0.02 < max(found) <= stats.most_kappa(same / n) + 1e-12
    assert close(stats.most_kappa(np.array([1.0, 0.81])), [1, 1 - 0.19 / (0.5 + 0.19**2 / 2)])


def test_even_against_scipy():
    chisquare = pytest.importorskip("scipy.stats").chisquare
    for counts in ([538, 535, 497, 507], [1, 9], [5, 5, 5]):
        assert close(stats.even(counts), chisquare(counts).pvalue)


# Fisher's exact test


def test_fisher_by_hand():
    # 3 of 3 against 0 of 3: the table and its mirror image, 2 of the 20 ways to choose 3 of 6.
    assert close(stats.fisher(3, 3, 0, 3), 0.1)
    # 9 of 9 against 6 of 9: 3 failures of 18 in one group, comb(9, 3) / comb(18, 3) = 84 / 816,
    # and the same the other way round.
    assert close(stats.fisher(9, 9, 6, 9), 168 / 816)
    for counts in ((2, 4, 3, 6), (0, 4, 0, 6), (4, 4, 6, 6)):
        assert close(stats.fisher(*counts), 1)


def test_fisher_against_scipy(rng):
    exact = pytest.importorskip("scipy.stats").fisher_exact
    counts = []
    for m, n in product(range(1, 7), repeat=2):
        counts += [(a, m, b, n) for a, b in product(range(m + 1), range(n + 1))]
    for m, n in rng.integers(20, 400, (40, 2)).tolist():
        counts.append((int(rng.integers(0, m + 1)), m, int(rng.integers(0, n + 1)), n))
    for a, m, b, n in counts:
        found = stats.fisher(a, m, b, n)
        assert close(found, exact([[a, m - a], [b, n - b]]).pvalue, abs=1e-12)
        assert close(found, stats.fisher(b, n, a, m), abs=1e-12)


@pytest.mark.parametrize(
    "counts", [(4, 3, 1, 3), (-1, 3, 1, 3), (0, 0, 1, 3), (1, 3, 0, 0), (1, 3, 4, 3)]
)
def test_fisher_refuses_what_is_no_proportion(counts):
    with pytest.raises(ValueError, match="not proportions"):
        stats.fisher(*counts)


def test_fisher_of_many_cases():
    assert close(stats.fisher(500, 1500, 500, 1500), 1)


# power of McNemar's test


def mcnemar_p(b, c):
    return min(1, 2 * sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c))


@pytest.mark.parametrize(
    "n, lost, won",
    [
        (1, 0.5, 0.2),
        (6, 0.7, 0.1),
        (12, 0.4, 0.05),
        (25, 0.3, 0.1),
        (25, 0.5, 0.5),
        (25, 0.2, 0),
        (10, 0.1, 0.6),
    ],
)
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_power_against_the_sum_over_all_tables(n, lost, won, alpha):
    expected = sum(
        comb(n, b) * comb(n - b, c) * lost**b * won**c * (1 - lost - won) ** (n - b - c)
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if mcnemar_p(b, c) < alpha
    )
    assert close(stats.mcnemar_power(n, lost, won, alpha), expected, abs=1e-9)


def test_power_by_hand():
    # Six pairs all lost give p = 2 / 64, five p = 2 / 32.
    assert close(stats.mcnemar_power(6, 1, 0), 1) and stats.mcnemar_power(5, 1, 0) == 0
    assert close(stats.mcnemar_power(6, 0.5, 0), 0.5**6)
    assert close(stats.mcnemar_power(6, 0.5, 0.5), 2 * 0.5**6)
    assert stats.mcnemar_power(50, 0, 0) == 0
    assert close(stats.mcnemar_power(85, 0.3, 0.1), stats.mcnemar_power(85, 0.1, 0.3))
    assert stats.mcnemar_power(85, 0.2, 0.2) < 0.05


def test_power_against_a_simulation(rng):
    draws = rng.multinomial(85, [31 / 85, 15 / 85, 39 / 85], 20_000)
    pairs = [tuple(row) for row in draws[:, :2].tolist()]
    significant = {(b, c): stats.mcnemar_counts(b, c) < 0.05 for b, c in set(pairs)}
    hits = np.mean([significant[pair] for pair in pairs])
    assert close(stats.mcnemar_power(85, 31 / 85, 15 / 85), hits, abs=4 * sqrt(0.25 / 20_000))


@pytest.mark.parametrize(
    "arguments", [(0, 0.1, 0.1), (10, -0.1, 0.1), (10, 0.1, -0.1), (10, 0.6, 0.5)]
)
def test_power_refuses_what_is_no_share(arguments):
    with pytest.raises(ValueError, match="need n >= 1 and shares"):
        stats.mcnemar_power(*arguments)


# prediction-powered inference


def test_prediction_powered_by_hand():
    # y = 1 1 0 0, f = 1 0 0 0: covariance (3/8 - 1/8 + 1/8 + 1/8) / 3 = 1/6. f and u = 1 1 1 0
    # together: 4 of 8, variance 2/7. Weight (1/6) / ((1 + 4/4) 2/7) = 7/24, value
    # 1/2 + 7/24 (3/4 - 1/4) = 31/48. y - 7/24 f = 17/24 1 0 0 has variance 1779/9216, u 3/16:
    # standard error sqrt(49/576 x 3/16 / 4 + 1779/9216 / 4) = sqrt(1926) / 192. The upper limit is
    # cut.
    found = stats.prediction_powered([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0])
    assert close(found, (31 / 48, 31 / 48 - 1.959963985 * sqrt(1926) / 192, 1, 4))
    low = stats.prediction_powered([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1])  # all turned round
    assert close(low, (17 / 48, 0, 17 / 48 + 1.959963985 * sqrt(1926) / 192, 4))


def test_prediction_powered_covers_and_is_narrower_than_the_labels(rng):
    inside, width, plain = 0, [], []
    for _ in range(400):
        truth = rng.random(1060) < 0.3
        judged = np.where(rng.random(1060) < 0.9, truth, ~truth)
        found = stats.prediction_powered(truth[:60], judged[:60], judged[60:])
        alone = stats.wilson(int(truth[:60].sum()), 60)
        inside += found.low <= 0.3 <= found.high
        width.append(found.high - found.low)
        plain.append(alone.high - alone.low)
    assert 0.90 < inside / 400 < 0.985 and np.mean(width) < 0.8 * np.mean(plain)
    # A judge that says yes half of the time without looking.
    biased = np.where(rng.random(50_000) < 0.5, True, rng.random(50_000) < 0.3)
    truth = rng.random(50_000) < 0.3
    judged = biased | truth
    found = stats.prediction_powered(truth[:5000], judged[:5000], judged[5000:])
    assert close(found.value, 0.3, abs=0.03)


def test_prediction_powered_without_what_it_needs():
    nothing = stats.prediction_powered([], [], [True, False])
    assert nothing == close_interval(nan, nan, nan, 0)
    for y, f, u in (
        ([True], [True], [False] * 9),
        ([1, 1, 1], [0, 1, 1], [0, 0]),
        ([0, 0], [1, 0], [1, 1]),
        ([1, 0, 1], [1, 0, 0], []),
    ):
        assert stats.prediction_powered(y, f, u) == stats.wilson(sum(y), len(y))


@pytest.mark.parametrize(
    "labels, judged, others",
    [
        # constant; as often right as wrong in both classes; says the opposite
        ([1, 1, 1, 0, 0, 0], [1] * 6, [1] * 50),
        ([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 1], [1] * 40 + [0] * 10),
        ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1] * 50),
    ],
)
def test_prediction_powered_by_a_useless_judge_is_the_labels_alone(labels, judged, others):
    found, p = stats.prediction_powered(labels, judged, others), sum(labels) / 6
    half = 1.959963985 * sqrt(p * (1 - p) / 6)
    assert close(found, (p, max(0, p - half), min(1, p + half), 6))


def test_prediction_powered_where_units_repeat():
    # Every reply twice, in 48 units: nothing new is learnt, so that the error is that of half as
    # many replies, but for sqrt(48 / 47) and t of 47.
    y, f, u = [1, 1, 0, 0] * 6, [1, 0, 0, 0] * 6, [1, 1, 1, 0] * 6
    once = stats.prediction_powered(y, f, u)
    own = [f"a{i}" for i in range(24)], [f"b{i}" for i in range(24)]
    assert close(stats.prediction_powered(y, f, u, own), once)
    both = own[0] * 2, own[1] * 2
    plain = stats.prediction_powered(y * 2, f * 2, u * 2)
    twice = stats.prediction_powered(y * 2, f * 2, u * 2, both)
    assert close(twice.value, plain.value) and twice.n == 48
    wider = sqrt(2) * sqrt(48 / 47) * 2.011740514 / 1.959963985  # t of 47
    assert close(twice.high - twice.low, wider * (plain.high - plain.low))
    alike = stats.prediction_powered([1] * 6, [1] * 6, [1] * 6, ([1, 1, 2, 2, 3, 3], range(6)))
    assert alike == stats.share([1] * 6, [1, 1, 2, 2, 3, 3])


def test_prediction_powered_takes_what_a_frame_holds_in_any_order(rng):
    import pandas as pd

    frame = pd.DataFrame({"y": rng.random(40) < 0.4, "f": rng.random(40) < 0.5})
    others = pd.Series(rng.random(90) < 0.6)
    found = stats.prediction_powered(frame["y"], frame["f"], others)
    mixed = frame.sample(frac=1, random_state=2)
    for y, f, u in (
        (mixed["y"], mixed["f"], others[::-1]),
        (mixed["y"].astype(int), mixed["f"].astype(float), others.tolist()),
        (mixed["y"].astype(object), mixed["f"].to_numpy(), others),
    ):
        assert close(stats.prediction_powered(y, f, u), found)
    assert not close(stats.prediction_powered(frame["f"], frame["y"], others).value, found.value)


@pytest.mark.parametrize(
    "arguments",
    [
        ([1, nan], [1, 0], [1]),
        ([1, 0], [nan, 0], [1]),
        ([1, 0], [1, 0], [nan]),
        ([1, 2], [1, 0], [1]),
        ([1, 0], [1], [1]),
        ([1, 0], [None, 1], [0]),
    ],
)
def test_prediction_powered_refuses_what_is_no_label(arguments):
    with pytest.raises(ValueError):
        stats.prediction_powered(*arguments)
