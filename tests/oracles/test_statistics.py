"""Tests of significance on random worlds, against libraries and sums over all cases."""

import tomllib
from itertools import product
from math import isnan, nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import brentq
from statsmodels.stats import proportion as compare
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from units_of_worlds import SEEDS, close

from bedside import stats
from bedside.checking import formulas

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("seed", SEEDS)
def test_mcnemars_test_is_a_librarys_for_pairs_counts_and_all_overlaps(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, 90)) < rng.random((2, 1))
    won, lost = int((a & ~b).sum()), int((b & ~a).sum())
    known = mcnemar([[0, won], [lost, 0]], exact=True).pvalue
    assert close([stats.mcnemar(a, b), stats.mcnemar_counts(lost, won)], [known] * 2)
    n = int(rng.integers(5, 14))
    x, y = (sorted(rng.integers(0, n + 1, 2).tolist()) for _ in "ab")
    settings = {
        "exact": (True, False),
        "chi-squared": (False, False),
        "chi-squared with continuity correction": (False, True),
    }
    every = {name: [] for name in (*settings, "mid-p")}
    for one, other in product(range(x[0], x[1] + 1), range(y[0], y[1] + 1)):
        for both in range(max(0, one + other - n), min(one, other) + 1):
            cells = [[both, one - both], [other - both, n - one - other + both]]
            apart, fewer = one + other - 2 * both, min(one, other) - both
            for name, how in settings.items():
                p = mcnemar(cells, *how).pvalue if apart else 1.0
                if "correction" in name and one == other:
                    p = 1.0  # and not the p of -1
                every[name].append(p)
            chance = scipy_stats.binom.pmf(fewer, apart, 0.5)
            exact = min(1, 2 * scipy_stats.binom.cdf(fewer, apart, 0.5))
            mid = exact - (chance / 2 if 2 * fewer == apart else chance)  # Fagerland and others
            every["mid-p"].append(mid if apart else 1.0)
    found = stats.paired_p(range(x[0], x[1] + 1), range(y[0], y[1] + 1), n)
    for name, p in found.items():
        ours, all_tables = ({*np.round(np.add(x, 1e-12), 9)} for x in (p, every[name]))
        assert ours == all_tables, name  # 1e-12: an exact p has its last digit at a tie
    only = stats.paired_p([x[0]], [y[0]], n)["exact"]
    assert stats.mcnemar_range(x[0], y[0], n) == (only.min(), only.max())


def test_permutation_tests_flip_pairs_or_units():
    rng = np.random.default_rng(0)

    def difference(x, y, axis):
        return np.mean(x - y, axis=axis)

    given = {"permutation_type": "samples", "n_resamples": 10_000, "vectorized": True}
    for n, tolerance in ((9, 1e-12), (13, 1e-12), (14, 0.02), (60, 0.02)):
        a, b = rng.normal(0.3, 1, size=n), rng.normal(size=n)
        known = scipy_stats.permutation_test((a, b), difference, rng=rng, **given).pvalue
        assert close(stats.paired_permutation(a, b, rng), known, abs=tolerance)
        twice = [np.repeat(x, 2) for x in (a, b)]
        found = stats.paired_permutation(*twice, rng, units=np.repeat(np.arange(n), 2))
        assert close(found, known, abs=tolerance)
    # 0.1, 0.2 and 0.3: only the two patterns of equal sign in eight reach 0.6, however rounded.
    assert stats.paired_permutation([0.1, 0.2, 0.3], [0, 0, 0], rng) == 0.25
    # Forty equal differences: the exact p is 2 / 2^40, so no hit in 10,000: 1 / 10,001.
    assert stats.paired_permutation(np.ones(40), np.zeros(40), rng) == 1 / 10_001
    one, same, other = (
        stats.paired_permutation(a, b, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert one == same != other


def test_the_p_of_two_sets_of_grades_lie_between_that_of_like_with_like_and_its_opposite():
    assert close(stats.permutation_range([0, 1], [-1, 0]), (0.5, 1))  # by hand
    rng = np.random.default_rng(1)
    a, b = rng.integers(-1, 2, 60), np.minimum(rng.integers(-1, 2, 60), 0)
    low, high = stats.permutation_range(a, b)
    ends = [np.sort(a) - np.sort(b), np.sort(a) - np.sort(b)[::-1]]
    known = [stats.paired_permutation(d, np.zeros(60), rng) for d in ends]
    assert close((low, high), known, abs=0.02)
    for _ in range(50):
        d = a - rng.permutation(b)
        assert low <= stats.permutation_range(d, np.zeros(60, int))[0] <= high


def test_what_a_null_draws():
    null = np.random.default_rng(4).normal(size=(999, 3))
    seen = np.array([0.5, -1.0, 3.0])
    known = [(1 + (abs(null[:, k]) >= abs(v)).sum()) / 1000 for k, v in enumerate(seen)]
    assert close(stats.two_sided_p(seen, null), known)
    assert stats.two_sided_p(0.5, null[:, 0]) == known[0]
    low, high = stats.ordered_band(null)
    assert close(
        (low[0], high[2]), (np.quantile(null.min(1), 0.025), np.quantile(null.max(1), 0.975))
    )


def test_holms_correction_is_that_of_a_library_and_what_is_missing_does_not_count():
    rng = np.random.default_rng(4)
    for p in (rng.random(size).round(2) ** 3 for size in range(1, 9)):
        assert stats.holm(p).tolist() == multipletests(p, method="holm")[1].tolist()
    assert close(stats.holm([nan, 0.01, 0.04, nan, 0.03]), [nan, 0.03, 0.06, nan, 0.06])
    assert stats.holm([]).shape == (0,)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "n, lost, won", [(1, 0.5, 0.2), (6, 0.7, 0.3), (25, 0.3, 0.1), (25, 0.2, 0), (10, 0.1, 0.6)]
)
def test_power_is_the_sum_over_all_tables(n, lost, won, exact):
    shares = [lost, won, 1 - lost - won]
    known = sum(
        scipy_stats.multinomial.pmf([b, c, n - b - c], n, shares)
        for b, c in product(range(n + 1), repeat=2)
        if 0 < b + c <= n and mcnemar([[0, b], [c, 0]], exact, False).pvalue < 0.05
    )
    assert close(stats.mcnemar_power(n, lost, won, exact), known, abs=1e-9)


def test_what_a_study_can_detect_solves_connors_equation():
    z = scipy_stats.norm.ppf

    def gap(d, n, psi):
        return z(0.975) * sqrt(psi) + z(0.8) * sqrt(psi - d**2) - d * sqrt(n)

    for given in product([20, 585], [0.15, 0.6, 1.0]):
        psi = given[1]
        known = brentq(gap, 0, psi, given, xtol=1e-14) if gap(psi, *given) <= 0 else nan
        assert close(stats.mde_paired(*given), known)
        pairs = np.repeat([1, -1, 0], [given[0], given[0] * 2, given[0] * 3])  # half differ
        assert close(stats.detectable(pairs), stats.mde_paired(len(pairs), 0.5))
    assert all(isnan(stats.mde_paired(*given)) for given in ((10, 0.1), (2, 0.5), (100, 0)))


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_p_of_two_shares_and_of_statistics_are_those_of_libraries(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(6, 20, 2).tolist()
    pairs = [(a, b) for a in (0, 2, n) for b in (0, m - 2, m)]
    found = formulas.unpaired_p((0, 2, n), n, (0, m - 2, m), m)
    for at, (a, b) in enumerate(pairs):
        p = {name: values[at] for name, values in found.items()}
        chance = scipy_stats.hypergeom.pmf(a, n + m, a + b, n)
        assert close(p["Fisher's mid-p"], p["Fisher's exact"] - chance / 2, abs=1e-12)
        pooled = (a + b) / (n + m)
        z = (
            (a / n - b / m) / sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
            if 0 < a + b < n + m
            else 0
        )
        assert close(p["z (chi-squared)"], 2 * scipy_stats.norm.sf(abs(z)))
        assert close(stats.two_proportions(a, n, b, m), p["z (chi-squared)"])
        less = abs(z) * sqrt((n + m - 1) / (n + m))
        assert close(p["N - 1 chi-squared"], 2 * scipy_stats.norm.sf(less))
        if 0 < a < n and 0 < b < m:
            known = compare.test_proportions_2indep(a, n, b, m, method="wald").pvalue
            assert close(p["z unpooled"], known)
    x, df, more = rng.uniform(0.2, 4), int(rng.integers(2, 60)), int(rng.integers(2, 60))
    r = x / 4.1
    known = {
        ("t", -x, (df,)): 2 * scipy_stats.t.sf(x, df),
        ("z", x, ()): 2 * scipy_stats.norm.sf(x),
        ("chi2", x, (df,)): scipy_stats.chi2.sf(x, df),
        ("F", x, (df, more)): scipy_stats.f.sf(x, df, more),
        ("r", r, (df,)): 2 * scipy_stats.t.sf(r * sqrt(df / (1 - r**2)), df),
    }
    for (test, value, free), p in known.items():
        assert close(formulas.statistic_p(test, [value, value], free), (p, p))
        ends = value - 0.05, value + 0.05
        each = [formulas.statistic_p(test, [end, end], free)[0] for end in ends]
        assert formulas.statistic_p(test, ends, free) == (min(each), max(each))
        assert test in ("F", "chi2") or formulas.statistic_p(test, [-0.1, 0.2], free)[1] == 1


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_intervals_of_shares_are_those_of_libraries(seed):
    rng = np.random.default_rng(seed)
    n, level = int(rng.integers(3, 90)), rng.uniform(0.8, 0.99)
    for count in (0, int(rng.integers(1, n)), n):
        found = stats.share_intervals(count, n, level)
        names = {"Agresti-Coull": "agresti_coull", "Wald": "normal"}
        names |= {"Wilson": "wilson", "exact": "beta"}
        for name, method in names.items():
            interval = np.clip(compare.proportion_confint(count, n, 1 - level, method), 0, 1)
            assert close(np.clip(found[name], 0, 1), interval), name
        wider = np.array(found["Wald"]) + np.array([-1, 1]) / 2 / n
        assert close(found["Wald with continuity correction"], wider)
        if 0 < count < n:
            hits = [1] * count + [0] * (n - count)
            known = scipy_stats.t.interval(level, n - 1, count / n, scipy_stats.sem(hits))
            assert close(found["t"], known)


REFUSED = tomllib.loads(Path(__file__).with_name("statistics.toml").read_text("utf-8"))["refused"]
REFUSED += [["corrected_rate", [*(stats.Interval(v, v, v, 1) for v in (27, 0.8, 0.9)), 0]]]


@pytest.mark.parametrize("statistic, given", [(r[0], r[1:]) for r in REFUSED])
def test_what_is_no_number_no_share_or_no_pair_is_refused(statistic, given):
    with pytest.raises(ValueError):
        getattr(stats, statistic)(*given[0], **dict(*given[1:]))
