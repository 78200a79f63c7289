"""MedHalu's printed numbers: what lies behind them, regions of rates, costs."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from bedside import stats
from bedside.papers.medhalu import matrices, regions
from bedside.papers.medhalu import printed as medhalu
from bedside.papers.medhalu.printed import BRIEF
from bedside.papers.medhalu.scores import METRICS
from bedside.stats.rounded import exact
from cells import wanted


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


def printed(*four, names=BRIEF):
    """Mean scores of confusion matrices with two decimals."""
    return dict(zip(names, stats.macro(np.array(four)).mean(axis=0).round(2)))


def test_matrices_behind_printed_scores_are_found_where_there_are_any():
    found = matrices.confusions(200, 50, printed([130, 10, 70, 40]))
    assert [130, 40] in found.tolist() and len(found) < 60
    assert matrices.confusions(10, 10, {"Acc": 1.0, "F1": 1.0}).tolist() == [[10, 10]]
    for search, n, *four in (
        (matrices.one, (200, 50), [130, 10, 70, 40]),
        (matrices.any_share, (50, 200), [100, 20, 20, 60]),  # of another share
        (matrices.some_left_out, (170, 70), [100, 30, 70, 40]),
        (matrices.some_left_out, (171, 71), [100, 30, 70, 40]),
        (matrices.mean_of_three, (20, 10), [18, 2, 2, 8], [10, 5, 10, 5], [19, 9, 1, 1]),
    ):
        assert search(*n, printed(*four)), search
        assert not search(*n, printed(*four) | {"R": 0.5, "F1": 0.99}), search


def test_types_that_share_their_negatives_are_as_far_from_the_whole_as_they_were_moved():
    kinds = {"Context": (20, 12), "Fact": (30, 20), "Input": (25, 10)}  # answers, found ones
    columns = pd.MultiIndex.from_product([kinds, ["Acc", "F1"], ["A"]])
    eight = [stats.macro([tp, 18, n - tp, 22])[[0, 3]] for n, tp in kinds.values()]
    eight = pd.DataFrame([np.concatenate(eight)], ["x"], columns)
    four = pd.Series({f"{k}-conflict": n for k, (n, _) in kinds.items()} | {"None-conflict": 40})
    four = pd.concat([four, pd.Series({"Total": four.sum()})]).to_frame("A")
    for moved in (0, 5):
        six = pd.DataFrame(stats.macro([42 + moved, 18, 33 - moved, 22]), BRIEF, ["x"])
        six = pd.concat({"A": six}).swaplevel().T
        apart = matrices.types_apart(six.round(3), eight.round(3), four)["x", "A"]
        assert moved - 2 <= apart <= moved


def test_rates_give_the_scores_that_they_are_behind_and_widen_with_the_sample(run):
    n, T6 = medhalu.answers(run), medhalu.rounded_table(run, "Table 6")
    at, wide = medhalu.rounded_rates(T6, n), medhalu.rounded_rates(T6, n, 0.05)
    for d, (p, k) in n.iterrows():
        s, c = (at.value[rate, d].to_numpy() for rate in medhalu.RATES)
        assert (p * s + k * c) / (p + k) == pytest.approx(T6.value.Acc[d].to_numpy())
        assert (s + c) / 2 == pytest.approx(T6.value.R[d].to_numpy())
    ends = [x.to_numpy() for x in (wide.low, at.low, at.value, at.high, wide.high)]
    assert (np.diff(ends, axis=0) >= 0).all() and (ends[1] < ends[3]).all()
    T7 = medhalu.rounded_table(run, "Table 7")  # medians have one decimal
    for score, off in (("Mean", 0.005), ("Med", 0.05)):
        assert (T7.high - T7.value)[score].to_numpy() == pytest.approx(off)
    pooled = medhalu.pooled(T6, n)
    assert pooled.low["GPT-4"] < 0.5550 and pooled.high["GPT-4"] > 0.5573  # matrices that print so
    whole, of = n.sum(), at.value.loc["Experts"].unstack()
    s, c = (of.loc[r] @ n[k] / whole[k] for r, k in zip(medhalu.RATES, n))
    f1 = stats.macro(medhalu.confusion(np.array([s, c]), *whole))[3]
    mean = medhalu.mean_f1(T6, n)
    assert mean.low["Experts"] < f1 < mean.high["Experts"]


def test_errors_by_the_delta_method_are_those_of_draws(run):
    """Of one subset: macro-F1 of GPT-4 and LLaMA-2 on HealthQA, unpaired, drawn as binomials."""
    n, rng = medhalu.answers(run), np.random.default_rng(0)
    T6, two = exact(medhalu.rounded_table(run, "Table 6").value), ("GPT-4", "LLaMA-2")
    classes = n.loc["HealthQA"].to_numpy()
    at = medhalu.rounded_rates(T6, n).value.xs("HealthQA", axis=1, level=1)[medhalu.RATES]
    right = [rng.binomial(classes, at.loc[who], (20_000, 2)) for who in two]
    f1 = [stats.macro(medhalu.confusion(r / classes, *classes))[:, 3] for r in right]
    alone = pd.Series([1.0, 0, 0], n.index)
    p = {
        o: medhalu.p_ends(*map(T6.of, two), "F1", alone, overlaps=(o, o), answers=n)
        for o in medhalu.OVERLAPS
    }
    gap = np.subtract(*T6.value.F1.loc[[*two], "HealthQA"])
    error = {o: gap / -ndtri(found.value.iloc[0] / 2) for o, found in p.items()}
    assert error["none"] == pytest.approx((f1[0] - f1[1]).std(), rel=0.03)
    assert error["best"] < error["none"] < error["worst"]
    limits = medhalu.f1_limits(run)
    reach = limits["GPT-4", "HealthQA"][1] - T6.value.F1.at["GPT-4", "HealthQA"]
    assert reach == pytest.approx(1.96 * f1[0].std(), rel=0.03)
    width = {key: high - low for key, (low, high) in limits.items()}
    for who in T6.value.index:  # ever fewer answers
        assert width[who, "HealthQA"] < width[who, "MedicationQA"] < width[who, "LiveQA"]
    assert width["Experts", "LiveQA"] > width["GPT-4", "LiveQA"]


# ---- notebook 04


def inside(corners, points):
    """Whether points (k, 2) are in a convex polygon, whose corners go counterclockwise."""
    along = np.roll(corners, -1, axis=0) - corners
    away = np.asarray(points)[:, None] - corners
    return (along[:, 0] * away[..., 1] - along[:, 1] * away[..., 0] > -1e-7).all()


@pytest.mark.parametrize("seed", range(2))
def test_mean_rates_of_any_raters_and_of_all_matrices_that_fit_are_in_their_region(seed):
    rng = np.random.default_rng(seed)
    share, raters = rng.choice([0.25, 0.7, 0.75]), rng.uniform(size=(3, 2))
    raters[0] = rng.choice([0, 1], size=2)  # one always says the same, or is always right or wrong
    scores = printed(*medhalu.confusion(raters, share, 1 - share), names=METRICS)
    found = regions.corners(scores, np.array([share]), steps=12)
    assert inside(found, [raters.mean(axis=0)])
    assert np.ptp(found, axis=0).max() < 0.1  # and that isn't the whole plane
    one = [42 - seed, 12, 18 + seed, 8]
    found = regions.corners(printed(one, names=METRICS), np.array([0.75]), steps=20)
    assert inside(found, matrices.confusions(60, 20, printed(one)) / [60, 20])


def test_at_the_turning_weight_both_cost_the_same(run):
    there, turning = wanted("medhalu/04_robustness", "there", "turning", run=run)
    turning = turning.set_index(["row", "column"])
    for a, b in (("GPT-4 told", "GPT-4"), ("GPT-4", "LLaMA-2"), ("Experts", "flagging all")):
        at = turning.loc[f"HealthQA: {a}, {b}"]
        weight = at.loc["same cost at weight"]
        share = at.at["same cost at share, %, if a miss costs 1", "value"] / 100
        for of, miss in ((share, 1), (0.2, 4 * weight["value"])):  # times the odds it is the weight
            misses, alarms = np.transpose([1 - there.middle[who, "HealthQA"] for who in (a, b)])
            cost = miss * of * misses + (1 - of) * alarms
            assert cost[0] == pytest.approx(cost[1])
        assert weight["low"] < weight["value"] < weight["high"]
