"""MedHalu's printed numbers: what lies behind them, and that other numbers turn the readings."""

import numpy as np
import pytest

from bedside import stats
from bedside.papers.medhalu import data, scores, tables
from bedside.papers.medhalu.implied import (
    benchmark,
    matrices,
    numbers,
    rates,
)
from bedside.read import claims, sources


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


# ---- what lies behind them


def test_counts_behind_printed_scores_are_recovered():
    tp, tn, positive, negative = 130, 40, 200, 50
    made = stats.macro([tp, negative - tn, positive - tp, tn]).round(2)
    found, off = matrices.confusions(positive, negative, dict(zip(scores.METRICS, made)))
    assert [tp, tn] in found.tolist() and off <= 0.005 and len(found) < 60
    none, off = matrices.confusions(
        positive, negative, {"Acc": 0.9, "ma-P": 0.9, "ma-R": 0.5, "ma-F1": 0.9}
    )
    assert len(none) == 0 and off > 0.1
    two, _ = matrices.confusions(10, 10, {"Acc": 1.0, "ma-F1": 1.0})
    assert two.tolist() == [[10, 10]]


def test_a_mean_of_three_matrices_is_found_where_there_is_one():
    three = stats.macro([[18, 2, 2, 8], [10, 5, 10, 5], [19, 9, 1, 1]]).mean(axis=0)
    names = dict(zip(scores.METRICS, three.round(2)))
    assert matrices.mean_of_three(20, 10, names)
    assert not matrices.mean_of_three(20, 10, names | {"ma-F1": 0.99})


def test_replies_left_out_are_counted():
    told = dict(zip(scores.METRICS, stats.macro([100, 30, 70, 40]).round(2)))
    assert matrices.with_some_left_out(170, 70, told) == 0
    assert matrices.with_some_left_out(171, 71, told) in (0, 1, 2)
    assert matrices.with_some_left_out(171, 71, told | {"Acc": 0.99}) is None


def test_averages_over_base_sets_are_equal_or_by_size(run):
    f1 = numbers.wide(run, "Table 6", "ma-F1")
    assert numbers.overall(f1)["GPT-4"] == pytest.approx(1.64 / 3)
    weighted = numbers.overall(f1, numbers.shares(run))
    assert weighted["GPT-4"] == pytest.approx((1141 * 0.57 + 246 * 0.52 + 690 * 0.55) / 2077)
    known = rates.printed_rates(run)
    least, most = rates.pooled(known, "GPT-4")
    assert least < 0.5550 and most > 0.5573  # of the matrices that print so
    at, share = rates.mean_rates(known, "Experts")  # of raters who may differ
    least, most = rates.mean_ends(at, share)
    assert least < stats.macro(rates.confusion(at, share, 1 - share))[3] < most


def test_p_values_by_the_delta_method_are_those_of_draws(run):
    """Of one subset: macro-F1 of GPT-4 and LLaMA-2 on HealthQA, unpaired, drawn as binomials."""
    known, rng = rates.printed_rates(run), np.random.default_rng(0)
    positive, negative = known.sizes["HealthQA"]
    f1 = []
    for name in ("GPT-4", "LLaMA-2"):
        s, c = known.at["Table 6", name, "HealthQA"]
        tp, tn = rng.binomial(positive, s, 20_000), rng.binomial(negative, c, 20_000)
        f1.append(stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1))[:, 3])
    both = ("Table 6", "GPT-4"), ("Table 6", "LLaMA-2")
    error = rates.error(known, *both, "ma-F1", {"HealthQA": 1})
    assert error == pytest.approx((f1[0] - f1[1]).std(), rel=0.03)
    best, worst = (
        rates.error(known, *both, "ma-F1", {"HealthQA": 1}, overlap=o) for o in ("best", "worst")
    )
    assert best < error < worst


def test_a_tie_is_no_order_and_scores_that_print_apart_are_apart():
    assert numbers.apart(0.61 - 0.61, least=0) is None
    assert numbers.apart(0.63 - 0.62, least=0) is True
    assert numbers.apart([0.02, -0.02], least=0) is False


# ---- readings


# ---- base sets


def test_the_released_questions_hold_nothing_personal(run, monkeypatch):
    if not sources.here("medicationqa"):
        pytest.skip("MedicationQA isn't there: make data")
    monkeypatch.setattr(run, "profile", "public")
    lengths = tables.benchmark.length_table(run, data.printed_sets(run))
    made = benchmark.questions(run, lengths)
    assert made["mh-personal"]["MedicationQA"][0].startswith("0 of 690")
    for what in ("pairs", "mean", "deviation"):
        id = f"mh-medicationqa-{what}"
        assert claims.judged("medhalu", id, made[id])[0] == "holds"
