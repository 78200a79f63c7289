"""What printed numbers allow, by brute force on small n: every count, set of grades and matrix."""

import itertools
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn import metrics
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from bedside import stats
from bedside.stats import printed

WAYS = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_HALF_DOWN)


def prints(value, step):
    """All that a fraction prints as, by each way to round, as fractions."""
    places = value / step
    exact = Decimal(places.numerator) / Decimal(places.denominator)
    return {int(exact.quantize(Decimal(1), way)) * step for way in WAYS}


@pytest.mark.parametrize("digits", [0, 1, 2, 3])
def test_counts_behind_a_share_are_those_that_round_to_it(digits):
    step = Fraction(1, 10**digits)
    for n in range(1, 33):
        shown = [{round(v / step) for v in prints(Fraction(k, n), step)} for k in range(n + 1)]
        for value in range(10**digits + 1):
            found = stats.wholes(*stats.span(value * step, step), n)
            assert [*found] == [k for k in range(n + 1) if value in shown[k]], (n, value)
        assert stats.printable(n, step) == (len(set.union(*shown)), 10**digits + 1)


def test_585_questions_have_586_of_1001_shares():
    assert stats.printable(585, Fraction(1, 1000)) == (586, 1001)


def test_a_truncated_number_lies_between_it_and_the_next():
    low, high = stats.span(Fraction(12, 100), Fraction(1, 100), True)
    assert low == Fraction(12, 100) and Fraction(12999, 100000) < high < Fraction(13, 100)
    low, high = stats.span(Fraction(-12, 100), Fraction(1, 100), True)
    assert high == Fraction(-12, 100) and Fraction(-13, 100) < low < Fraction(-12999, 100000)


def test_grim_counts_are_as_before():
    """Half up, half to even, or as a float, counted one by one."""
    for n, decimals in itertools.product(range(1, 41), (0, 1)):
        for digits in range(100 * 10**decimals + 1):
            percent, scale = digits / 10**decimals, 10**decimals
            found = []
            for k in range(n + 1):
                twice = 2 * (100 * scale * k - digits * n)
                tie = twice == n and (digits % 2 == 0 or round(100 * k / n, decimals) == percent)
                if -n <= twice < n or tie:
                    found.append(k)
            assert stats.grim_counts(percent, n, decimals) == found, (percent, n)


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_deviations_are_those_of_some_grades(n):
    step, real = Fraction(1, 100), {}
    for grades in itertools.combinations_with_replacement(range(1, 6), n):
        both = real.setdefault(sum(grades), {"sample": set(), "population": set()})
        for name, lost in (("sample", 1), ("population", 0)):
            both[name] |= {
                round(v / step) for v in prints(Fraction(np.std(grades, ddof=lost)), step)
            }
    for total, both in real.items():
        for value in range(301):
            ends = stats.span(value * step, step)
            found = stats.deviations([total], n, *ends, (1, 5))
            assert found == [name for name in both if value in both[name]], (total, value)
            assert {*found} <= {*stats.deviations([total], n, *ends, None)}


def test_bounds_of_deviations_never_exclude_what_is_counted_out(monkeypatch):
    step = Fraction(1, 100)
    cases = [
        ([t], n, *stats.span(v * step, step), (0, 4))
        for n in (7, 9)
        for t in (3, 14, 25)
        for v in range(0, 230, 3)
    ]
    exact = [{*stats.deviations(*case)} for case in cases]
    monkeypatch.setattr(printed, "EXACT", 0)
    wide = [{*stats.deviations(*case)} for case in cases]
    assert all(a <= b for a, b in zip(exact, wide)) and sum(map(len, wide)) < 2 * len(wide)


def test_the_sum_of_squares_is_odd_where_the_sum_is():
    """Four whole numbers that add up to 8 have no squares that add up to 17, as 0.577 needs."""
    ends = stats.span(Fraction(577, 1000), Fraction(1, 1000))
    assert stats.deviations([8], 4, *ends, None) == []
    half = stats.span(Fraction(1, 2), Fraction(1, 1000))
    assert stats.deviations([9], 4, *half, None) == ["sample"]  # 4 + 4 + 4 + 9 = 21


def every(n):
    """All matrices of n items with both classes: positives, true positives, false positives."""
    made = [(p, tp, fp) for p in range(1, n) for tp in range(p + 1) for fp in range(n - p + 1)]
    return np.array(made).T


def test_scores_are_those_of_a_library():
    averages = {"": "binary", "macro ": "macro", "weighted ": "weighted"}
    for p, tp, fp in every(6).T.tolist():
        truth = [1] * p + [0] * (6 - p)
        said = [1] * tp + [0] * (p - tp) + [1] * fp + [0] * (6 - p - fp)
        known = {"accuracy": metrics.accuracy_score(truth, said)}
        known["specificity"] = metrics.recall_score(truth, said, pos_label=0, zero_division=0)
        known["kappa"] = metrics.cohen_kappa_score(truth, said)
        for mean, average in averages.items():
            found = metrics.precision_recall_fscore_support(
                truth, said, average=average, zero_division=0
            )
            known |= {mean + of: v for of, v in zip(("precision", "recall", "f1"), found)}
        for name, value in known.items():
            assert stats.score(name, 6, p, tp, fp)[0] == pytest.approx(value), (name, p, tp, fp)


def spans(rng, n, names, all_of):
    """Ends of scores as they print, of a matrix or of none."""
    p, tp, fp = all_of[:, rng.integers(all_of.shape[1])]
    step = rng.choice([0.1, 0.01, 0.001])
    made = {}
    for name in names:
        value = round(float(stats.score(name, n, p, tp, fp)[0]) / step) * step
        value += rng.choice([0, 0, 0, step])
        made[name] = value - step / 2, value + step / 2
    return made


EXTRA = ["positives", "predicted"]


@pytest.mark.parametrize("n", [2, 3, 7, 11, 16])
def test_the_search_finds_every_matrix_and_no_other(n):
    rng, all_of = np.random.default_rng(n), every(n)
    for size in [1] * 60 + [2, 3] * 60:
        names = rng.choice([*stats.SCORES, *EXTRA], size, replace=False).tolist()
        bounds = spans(rng, n, names, all_of)
        known = int(rng.integers(1, n)) if rng.random() < 0.3 else None
        fits = all_of[0] == known if known else np.full(all_of.shape[1], True)
        for name, (low, high) in bounds.items():
            value = stats.score(name, n, *all_of)
            fits &= (value >= low - 1e-10) & (value <= high + 1e-10)
        found = stats.matrices(n, bounds, known)
        runs = {(p, tp, fp) for p, tp, a, b in found.runs.tolist() for fp in range(a, b + 1)}
        assert found.complete and runs == {*map(tuple, all_of[:, fits].T.tolist())}, bounds
        assert found.count == len(runs)
        values = stats.score("f1", n, *all_of[:, fits])
        assert np.allclose(found.values("f1"), np.unique(values))


def test_no_score_rises_with_false_positives():
    """The search rests on it; for F1 of the means and kappa too."""
    n = 13
    p, tp, fp = every(n)
    there = fp < n - p
    p, tp, fp = p[there], tp[there], fp[there]
    for name in stats.SCORES:
        before, after = (stats.score(name, n, p, tp, k) for k in (fp, fp + 1))
        assert (after <= before + 1e-12).all(), name


def test_five_thousand_items_are_searched_and_the_limit_of_time_is_kept():
    n, p, tp, fp = 5000, 1234, 1000, 345
    names = ("accuracy", "precision", "f1", "macro precision")
    values = {m: round(float(stats.score(m, n, p, tp, fp)[0]), 4) for m in names}
    bounds = {m: (v - 0.00005, v + 0.00005) for m, v in values.items()}
    found = stats.matrices(n, bounds, p)
    assert [p, tp, fp, fp] in found.runs.tolist() and found.complete
    cut = stats.matrices(n, bounds, seconds=0)
    assert not cut.complete and cut.count == 0
    with pytest.raises(ValueError, match="2 to 5000"):
        stats.matrices(5001, bounds)


@pytest.mark.parametrize("known", [True, False])
def test_means_of_several_matrices_are_told(known):
    rng = np.random.default_rng(3)
    names = [name for name in stats.SCORES if name != "f1 of means"]
    for _ in range(12):
        chosen, n = rng.choice(names, 4, replace=False).tolist(), 90
        p = np.full(3, rng.integers(2, n - 2)) if known else rng.integers(2, n - 2, 3)
        tp, fp = rng.integers(0, p + 1), rng.integers(0, n - p + 1)
        values = {m: stats.score(m, n, p, tp, fp).mean() for m in chosen}
        ends = {m: (v - 0.005, v + 0.005) for m, v in values.items()}
        assert stats.means_of_several(ends, p[0] / n if known else None), values


def test_no_mean_of_f1_lies_above_the_f1_of_mean_precision_and_a_recall_of_1():
    """2 * 0.84 / 1.84 = 0.913."""
    ends = {"accuracy": (0.895, 0.905), "precision": (0.835, 0.845)}
    assert stats.means_of_several(ends | {"f1": (0.895, 0.905)}, None)
    assert not stats.means_of_several(ends | {"f1": (0.945, 0.955)}, None)


def test_as_mlscorecheck_where_it_is_installed():
    binary = pytest.importorskip("mlscorecheck.check.binary")
    named = {"acc": "accuracy", "sens": "recall", "spec": "specificity", "bacc": "macro recall"}
    named |= {"ppv": "precision", "f1": "f1"}  # its kappa goes by intervals, which let more pass
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(20, 400))
        p = int(rng.integers(2, n - 2))
        tp, fp = int(rng.integers(1, p)), int(rng.integers(1, n - p))
        chosen = rng.choice([*named], 3, replace=False).tolist()
        scores = {s: round(float(stats.score(named[s], n, p, tp, fp)[0]), 3) for s in chosen}
        scores[chosen[0]] = round(scores[chosen[0]] + float(rng.choice([0, 0.001, 0.01])), 3)
        known = binary.check_1_testset_no_kfold({"p": p, "n": n - p}, scores, 0.0005)
        ends = {named[s]: (v - 0.0005, v + 0.0005) for s, v in scores.items()}
        assert known["inconsistency"] == (stats.matrices(n, ends, p).count == 0), (n, p, scores)


@pytest.mark.parametrize("x, y, n", [((3, 5), (2, 2), 6), ((0, 1), (7, 8), 8), ((4, 4), (4, 4), 9)])
def test_paired_p_are_those_of_all_overlaps(x, y, n):
    known = {"exact": set(), "chi-squared": set(), "chi-squared with continuity correction": set()}
    for a, b in itertools.product(range(x[0], x[1] + 1), range(y[0], y[1] + 1)):
        for both in range(max(0, a + b - n), min(a, b) + 1):
            cells = [[both, a - both], [b - both, n - a - b + both]]
            apart = a + b > 2 * both
            for name, settings in zip(known, ((True, False), (False, False), (False, True))):
                done = mcnemar(cells, *settings).pvalue if apart else 1.0
                one_apart = "correction" in name and a == b  # ours is 1, not the p of -1
                known[name].add(round(1.0 if one_apart else float(done), 9))
    found = stats.paired_p(range(x[0], x[1] + 1), range(y[0], y[1] + 1), n)
    for name, values in known.items():
        assert {*found[name].round(9).tolist()} == values, name
    assert (found["mid-p"] <= found["exact"]).all()


def test_unpaired_p_are_those_of_libraries():
    found = stats.unpaired_p(range(3, 6), 12, range(7, 9), 15)
    pairs = [(a, b) for a in range(3, 6) for b in range(7, 9)]
    for at, (a, b) in enumerate(pairs):
        cells = [[a, 12 - a], [b, 15 - b]]
        fisher = scipy_stats.fisher_exact(cells).pvalue
        assert found["Fisher's exact"][at] == pytest.approx(fisher)
        for name, corrected in (
            ("z (chi-squared)", False),
            ("chi-squared with continuity correction", True),
        ):
            known = scipy_stats.chi2_contingency(cells, correction=corrected).pvalue
            assert found[name][at] == pytest.approx(known), name
            name = "G with continuity correction" if corrected else "G"
            known = scipy_stats.chi2_contingency(cells, corrected, "log-likelihood").pvalue
            assert found[name][at] == pytest.approx(known), name
        error = (a / 12 * (1 - a / 12) / 12 + b / 15 * (1 - b / 15) / 15) ** 0.5
        known = 2 * scipy_stats.norm.sf(abs(a / 12 - b / 15) / error)
        assert found["z unpooled"][at] == pytest.approx(known)


@pytest.mark.parametrize(
    "a, n, b, m", [(30, 40, 24, 40), (3, 12, 7, 15), (0, 5, 3, 4), (9, 9, 2, 6)]
)
def test_unconditional_p_are_those_of_a_library(a, n, b, m):
    cells = [[a, b], [n - a, m - b]]  # a column for each group
    known = {
        "Barnard's exact": scipy_stats.barnard_exact(cells, n=128).pvalue,
        "Barnard's exact, unpooled": scipy_stats.barnard_exact(cells, pooled=False, n=128).pvalue,
        "Boschloo's exact": scipy_stats.boschloo_exact(cells, n=128).pvalue,
    }
    found = stats.unconditional_p([a], n, [b], m)
    assert {*found} == {*known}
    for name, p in known.items():
        assert abs(found[name] / p - 1).min() < 1e-4, name
    assert stats.unconditional_p(range(100), 5000, range(100), 5000) == {}


def test_g_of_counts_without_a_difference_or_without_a_hit():
    found = stats.unpaired_p([0], 10, [0, 3], 12)
    assert found["G"][0] == found["G with continuity correction"][0] == 1
    assert 0 < found["G"][1] < 1


@pytest.mark.parametrize(
    "test, value, free, known",
    [
        ("t", -2.1, (17,), 2 * scipy_stats.t.sf(2.1, 17)),
        ("z", 1.7, (), 2 * scipy_stats.norm.sf(1.7)),
        ("chi2", 5.3, (2,), scipy_stats.chi2.sf(5.3, 2)),
        ("F", 3.3, (2, 30), scipy_stats.f.sf(3.3, 2, 30)),
        ("r", 0.41, (23,), None),
    ],
)
def test_p_of_a_statistic(test, value, free, known):
    if test == "r":  # df = n - 2
        known = 2 * scipy_stats.t.sf(value * (23 / (1 - value**2)) ** 0.5, 23)
    assert stats.statistic_p(test, [value, value], free) == pytest.approx((known, known))
    low, high = stats.statistic_p(test, [value - 0.05, value + 0.05], free)
    assert low < known < high
    if test in "tzr":
        assert stats.statistic_p(test, [-0.1, 0.2], free)[1] == 1


@pytest.mark.parametrize("count, n", [(0, 10), (3, 17), (17, 17), (40, 85)])
def test_intervals_are_those_of_a_library(count, n):
    found = stats.share_intervals(count, n, 0.9)
    names = {"Wilson": "wilson", "exact": "beta", "Agresti-Coull": "agresti_coull"}
    for name, method in (names | {"Wald": "normal"}).items():
        known = proportion_confint(count, n, 0.1, method)
        assert np.clip(found[name], 0, 1) == pytest.approx(np.clip(known, 0, 1)), name
    if 0 < count < n:
        known = proportion_confint(count, n, 0.1, "jeffreys")
        assert found["Jeffreys"] == pytest.approx(known)
        hits = [1] * count + [0] * (n - count)
        error = scipy_stats.sem(hits)
        known = scipy_stats.t.interval(0.9, n - 1, np.mean(hits), error)
        assert found["t"] == pytest.approx(known)
