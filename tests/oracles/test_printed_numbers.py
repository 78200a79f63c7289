"""What printed numbers allow, by brute force on small n: every count, set of grades and matrix."""

from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from bedside import stats

WAYS = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_HALF_DOWN)


def prints(value, step, ways=WAYS):
    """All that a fraction prints as, by each way to round, as numbers of steps."""
    places = value / step
    exact = Decimal(places.numerator) / Decimal(places.denominator)
    return {int(exact.quantize(Decimal(1), way)) for way in ways}


@pytest.mark.parametrize("digits", [0, 2])
def test_counts_behind_a_share_are_those_that_round_to_it(digits):
    step = Fraction(1, 10**digits)
    for n in range(1, 16):
        shown = [prints(Fraction(k, n), step) for k in range(n + 1)]
        for value in range(10**digits + 1):
            found = stats.wholes(*stats.span(value * step, step), n)
            assert [*found] == [k for k in range(n + 1) if value in shown[k]], (n, value)


@pytest.mark.parametrize("n, decimals", [(3, 0), (8, 1), (40, 2)])
def test_counts_behind_a_percentage_are_those_that_people_and_floats_round_to_it(n, decimals):
    printed, step = {}, Fraction(1, 10**decimals)
    for k in range(n + 1):
        forms = prints(Fraction(100 * k, n), step, (ROUND_HALF_UP, ROUND_HALF_EVEN))
        for form in forms | {round(round(100 * k / n, decimals) * 10**decimals)}:
            printed.setdefault(form, []).append(k)
    for form in range(104 * 10**decimals):
        found = stats.grim_counts(form / 10**decimals, n, decimals)
        assert found == printed.get(form, []) and stats.grim(form / 10**decimals, n, decimals) == (
            form in printed
        )
    for percent in (57.0, 100 * 0.57):  # however it was computed: 56.99999999999999
        assert stats.grim_counts(percent, 200, 0) == stats.grim_counts(57.0, 200, 0)


def test_signs_and_ranks_of_sums_are_those_of_exact_decimals():
    rng = np.random.default_rng(3)
    for most in [30, 10_000] * 50:  # cents; of few there are ties
        fours = rng.integers(-most, most + 1, (rng.integers(2, 9), 4)).tolist()
        exact = [Fraction(a + b - c - d, 100) for a, b, c, d in fours]
        made = pd.Series([a / 100 + b / 100 - c / 100 - d / 100 for a, b, c, d in fours])
        made = stats.drop_noise(made)
        assert list(np.sign(made)) == [(x > 0) - (x < 0) for x in exact]
        order = sorted(set(exact))
        assert list(made.rank(method="dense") - 1) == [order.index(x) for x in exact]
        assert "-0.0" not in map(str, made.tolist())


# ---- confusion matrices


def every(n):
    """All matrices of n items with both classes: positives, true positives, false positives."""
    made = [(p, tp, fp) for p in range(1, n) for tp in range(p + 1) for fp in range(n - p + 1)]
    return np.array(made).T


def test_scores_are_those_of_a_library():
    averages = {"": "binary", "macro ": "macro", "weighted ": "weighted"}
    for p, tp, fp in every(6).T[::3].tolist():
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
        a, b = known["macro precision"], known["macro recall"]
        known["f1 of means"] = 2 * a * b / (a + b) if a + b else 0
        for name, value in known.items():
            assert stats.score(name, 6, p, tp, fp)[0] == pytest.approx(value), (name, p, tp, fp)


@pytest.mark.parametrize("n", [3, 11])
def test_the_search_finds_every_matrix_and_no_other(n):
    rng, all_of = np.random.default_rng(n), every(n)
    for size in [1] * 20 + [2, 3] * 30:
        names = rng.choice([*stats.SCORES, "positives", "predicted"], size, replace=False)
        p, tp, fp = all_of[:, rng.integers(all_of.shape[1])]
        step, bounds = rng.choice([0.1, 0.01, 0.001]), {}
        for name in names.tolist():  # as they print, of a matrix or of none
            value = round(float(stats.score(name, n, p, tp, fp)[0]) / step) * step
            value += rng.choice([0, 0, 0, step])
            bounds[name] = value - step / 2, value + step / 2
        known = int(rng.integers(1, n)) if rng.random() < 0.3 else None
        fits = all_of[0] == known if known else np.full(all_of.shape[1], True)
        for name, (low, high) in bounds.items():
            value = stats.score(name, n, *all_of)
            fits &= (value >= low - 1e-10) & (value <= high + 1e-10)
        found = stats.matrices(n, bounds, known)
        runs = {(p, tp, fp) for p, tp, a, b in found.runs.tolist() for fp in range(a, b + 1)}
        assert found.complete and runs == {*map(tuple, all_of[:, fits].T.tolist())}, bounds
        assert found.count == len(runs)
        if found.count:
            value = stats.score("f1", n, *all_of[:, fits])
            assert found.ends("f1") == pytest.approx((value.min(), value.max()))


def test_five_thousand_items_are_searched_and_the_limit_of_time_is_kept():
    n, p, tp, fp = 5000, 1234, 1000, 345
    names = ("accuracy", "precision", "f1", "macro precision")
    values = {m: round(float(stats.score(m, n, p, tp, fp)[0]), 4) for m in names}
    bounds = {m: (v - 0.00005, v + 0.00005) for m, v in values.items()}
    found = stats.matrices(n, bounds, p)
    assert [p, tp, fp, fp] in found.runs.tolist() and found.complete
    assert not stats.matrices(n, bounds, seconds=0).complete
    with pytest.raises(ValueError, match="2 to 5000"):
        stats.matrices(5001, bounds)


def test_kappa_lies_within_its_range_and_reaches_it():
    rng = np.random.default_rng(8)
    for _ in range(200):
        tp, fp, fn, tn = rng.multinomial(40, rng.dirichlet([0.5] * 4)) / 40
        agree, one, two = tp + tn, tp + fn, tp + fp
        chance = one * two + (1 - one) * (1 - two)
        if chance > 1 - 1e-9:
            continue
        kappa = (agree - chance) / (1 - chance)
        exact = stats.kappa_range((agree, agree), (one, one), (two, two))
        assert exact == pytest.approx((kappa, kappa)) and kappa <= stats.most_kappa(agree) + 1e-9
        wide = [(x - 0.005, x + 0.005) for x in (agree, one, two)]
        for bounds in (wide, wide[:1], [(0, 1), *wide[1:]]):
            low, high = stats.kappa_range(*bounds)
            assert low - 1e-9 <= kappa <= high + 1e-9
    low, high = stats.kappa_range((0.8, 0.8))
    assert low == pytest.approx(-1 / 9)  # 80 yes twice, 10 and 10 apart: 0.80 for 0.82 by chance
    assert high == pytest.approx(stats.most_kappa(0.8))
    assert stats.kappa_range((0.97, 0.97), (0.4, 0.4), (0.5, 0.5)) is None  # a tenth differs
    assert stats.most_kappa(np.array([1.0, 0.81])) == pytest.approx([1, 1 - 0.19 / 0.51805])
