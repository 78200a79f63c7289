"""Tests, their power, what printed numbers allow: by hand, and against a library that has it."""

import subprocess
import sys
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import product
from math import comb, isnan, nan, sqrt

import closeness
import numpy as np
import pytest
from closeness import close

from bedside import stats
from bedside.stats import resampling

rng = closeness.rng  # a fixture

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


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


# several tests


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
