"""MedHalu's printed numbers: what lies behind them, regions of rates, costs."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from bedside import stats
from bedside.papers.medhalu import matrices, regions
from bedside.papers.medhalu import printed as medhalu
from bedside.papers.medhalu.printed import BRIEF
from bedside.papers.medhalu.scores import METRICS
from bedside.stats.rounded import Rounded
from cells import wanted


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


def test_counts_behind_printed_scores_are_recovered():
    tp, tn, positive, negative = 130, 40, 200, 50
    made = stats.macro([tp, negative - tn, positive - tp, tn]).round(2)
    found = matrices.confusions(positive, negative, dict(zip(BRIEF, made)))
    assert [tp, tn] in found.tolist() and len(found) < 60
    none = {"Acc": 0.9, "P": 0.9, "R": 0.5, "F1": 0.9}
    assert not matrices.one(positive, negative, none)
    assert not matrices.any_share(positive, negative, none)
    assert matrices.any_share(
        50, 200, dict(zip(BRIEF, stats.macro([100, 20, 20, 60]).round(2)))
    )  # of another share
    two = matrices.confusions(10, 10, {"Acc": 1.0, "F1": 1.0})
    assert two.tolist() == [[10, 10]]


def test_a_mean_of_three_matrices_is_found_where_there_is_one():
    three = stats.macro([[18, 2, 2, 8], [10, 5, 10, 5], [19, 9, 1, 1]]).mean(axis=0)
    names = dict(zip(BRIEF, three.round(2)))
    assert matrices.mean_of_three(20, 10, names)
    assert not matrices.mean_of_three(20, 10, names | {"F1": 0.99})


def test_a_matrix_is_found_if_some_replies_were_left_out():
    told = dict(zip(BRIEF, stats.macro([100, 30, 70, 40]).round(2)))
    assert matrices.some_left_out(170, 70, told) and matrices.some_left_out(171, 71, told)
    assert not matrices.some_left_out(171, 71, told | {"Acc": 0.99})


def test_types_that_share_their_negatives_are_as_far_from_the_whole_as_they_were_moved():
    kinds = {"Context": (20, 12), "Fact": (30, 20), "Input": (25, 10)}  # answers, found ones
    columns = pd.MultiIndex.from_product([kinds, ["Acc", "F1"], ["A"]])
    eight = [stats.macro([tp, 18, n - tp, 22])[[0, 3]] for n, tp in kinds.values()]
    eight = pd.DataFrame([np.concatenate(eight)], ["x"], columns)
    four = pd.Series({f"{k}-conflict": n for k, (n, _) in kinds.items()} | {"None-conflict": 40})
    four = four.to_frame("A")
    four.loc["Total"] = four.sum()
    for moved in (0, 5):
        six = stats.macro([42 + moved, 18, 33 - moved, 22])
        six = pd.DataFrame([six], ["x"], pd.MultiIndex.from_product([BRIEF, ["A"]]))
        apart = matrices.types_apart(six.round(3), eight.round(3), four)["x", "A"]
        assert moved - 2 <= apart <= moved


def test_rates_give_the_scores_that_they_are_behind_in_each_base_set(run):
    n, T6 = medhalu.answers(run), medhalu.rounded_table(run, "Table 6")
    at, wide = medhalu.rounded_rates(T6, n), medhalu.rounded_rates(T6, n, 0.05)
    for d, (p, k) in n.iterrows():
        s, c = (at.value[rate, d].to_numpy() for rate in medhalu.RATES)
        assert (p * s + k * c) / (p + k) == pytest.approx(T6.value.Acc[d].to_numpy())
        assert (s + c) / 2 == pytest.approx(T6.value.R[d].to_numpy())
    assert (at.low < at.value).all(axis=None) and (at.value < at.high).all(axis=None)
    assert (wide.low <= at.low).all(axis=None) and (at.high <= wide.high).all(axis=None)


def test_scores_over_all_answers_and_means_over_raters_hold_what_made_them(run):
    n, T6 = medhalu.answers(run), medhalu.rounded_table(run, "Table 6")
    pooled = medhalu.pooled(T6, n)
    assert pooled.low["GPT-4"] < 0.5550 and pooled.high["GPT-4"] > 0.5573  # matrices that print so
    at = medhalu.rounded_rates(T6, n).value.loc["Experts"].unstack()
    whole = n.sum()
    s, c = (at.loc[r] @ n[k] / whole[k] for r, k in zip(medhalu.RATES, n))
    f1 = stats.macro(medhalu.confusion(np.array([s, c]), *whole))[3]
    mean = medhalu.mean_f1(T6, n)
    assert mean.low["Experts"] < f1 < mean.high["Experts"]


def test_p_values_by_the_delta_method_are_those_of_draws(run):
    """Of one subset: macro-F1 of GPT-4 and LLaMA-2 on HealthQA, unpaired, drawn as binomials."""
    n, rng = medhalu.answers(run), np.random.default_rng(0)
    value = medhalu.rounded_table(run, "Table 6").value
    T6 = Rounded(value, value, value)
    positive, negative = n.loc["HealthQA"]
    at, f1 = medhalu.rounded_rates(T6, n).value, []
    for name in ("GPT-4", "LLaMA-2"):
        s, c = (at.at[name, (rate, "HealthQA")] for rate in medhalu.RATES)
        tp, tn = rng.binomial(positive, s, 20_000), rng.binomial(negative, c, 20_000)
        f1.append(stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1))[:, 3])
    both, alone = (T6.of("GPT-4"), T6.of("LLaMA-2"), "F1"), pd.Series([1.0, 0, 0], n.index)
    gap = T6.F1.value.at["GPT-4", "HealthQA"] - T6.F1.value.at["LLaMA-2", "HealthQA"]
    p = {o: medhalu.p_ends(*both, alone, (1, 1), (o, o), answers=n) for o in medhalu.OVERLAPS}
    error = {o: gap / -ndtri(found.value.iloc[0] / 2) for o, found in p.items()}
    assert error["none"] == pytest.approx((f1[0] - f1[1]).std(), rel=0.03)
    assert error["best"] < error["none"] < error["worst"]


# ---- base sets

NOTEBOOK = "medhalu/04_robustness"


def printed(rates, share):
    """Mean scores of raters (k, 2) as printed, with two decimals."""
    s, c = np.asarray(rates, float).T
    four = np.stack([share * s, (1 - share) * (1 - c), share * (1 - s), (1 - share) * c], axis=-1)
    return dict(zip(METRICS, stats.macro(four).mean(axis=0).round(2)))


def inside(corners, points):
    """Whether points (k, 2) are in a convex polygon, whose corners go counterclockwise."""
    along = np.roll(corners, -1, axis=0) - corners
    away = np.asarray(points)[:, None] - corners
    return (along[:, 0] * away[..., 1] - along[:, 1] * away[..., 0] > -1e-7).all(axis=1)


@pytest.mark.parametrize("seed", range(2))
def test_mean_rates_of_any_raters_are_in_their_region(seed):
    rng = np.random.default_rng(seed)
    share, raters = rng.choice([0.25, 0.7, 0.75]), rng.uniform(size=(3, 2))
    raters[0] = rng.choice([0, 1], size=2)  # one always says the same, or is always right or wrong
    found = regions.corners(printed(raters, share), np.array([share]), steps=12)
    assert inside(found, [raters.mean(axis=0)]).all()
    assert np.ptp(found, axis=0).max() < 0.1  # and that isn't the whole plane


def test_all_matrices_that_fit_are_in_their_region():
    scores = printed([[0.7, 0.4]], 0.75)
    brief = {m.removeprefix("ma-"): v for m, v in scores.items()}
    whole = matrices.confusions(60, 20, brief)
    found = regions.corners(scores, np.array([0.75]), steps=20)
    assert len(whole) and inside(found, whole / [60, 20]).all()


# ---- what notebook 04 computes


def cost(rates, share, miss):
    """Expected cost of 1,000,000 answers, counted out, in false alarms an answer."""
    bad, good = 1e6 * share, 1e6 * (1 - share)
    return (miss * bad * (1 - rates[0]) + good * (1 - rates[1])) / 1e6


def test_at_the_turning_weight_both_cost_the_same(run):
    there, turning = wanted(NOTEBOOK, "there", "turning", run=run)
    turning = turning.set_index(["row", "column"])
    for a, b in (("GPT-4 told", "GPT-4"), ("GPT-4", "LLaMA-2"), ("Experts", "flagging all")):
        row = turning.loc[(f"HealthQA: {a}, {b}", "same cost at weight")]
        for share in (0.2, 0.6):  # the weight is the cost of a miss times the odds
            miss = row["value"] * (1 - share) / share
            two = [cost(there.middle[who, "HealthQA"], share, miss) for who in (a, b)]
            assert two[0] == pytest.approx(two[1])
        at = turning.loc[
            (f"HealthQA: {a}, {b}", "same cost at share, %, if a miss costs 1"), "value"
        ]
        two = [cost(there.middle[who, "HealthQA"], at / 100, 1) for who in (a, b)]
        assert two[0] == pytest.approx(two[1]) and row["low"] < row["value"] < row["high"]
