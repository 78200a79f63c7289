"""MedHalu's printed numbers: what lies behind them, regions of rates, wrong labels, costs."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import f1_score

from bedside import stats
from bedside.papers.medhalu import scores
from bedside.papers.medhalu.implied import (
    label_errors,
    matrices,
    numbers,
    rates,
    regions,
)
from bedside.papers.medhalu.scores import METRICS
from cells import wanted


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


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


@pytest.mark.parametrize("seed", range(4))
def test_mean_rates_of_any_raters_are_in_their_region(seed):
    rng = np.random.default_rng(seed)
    share, raters = rng.choice([0.25, 0.7, 0.75]), rng.uniform(size=(3, 2))
    raters[0] = rng.choice([0, 1], size=2)  # one always says the same, or is always right or wrong
    found = regions.corners(printed(raters, share), np.array([share]), steps=12)
    assert inside(found, [raters.mean(axis=0)]).all()
    assert np.ptp(found, axis=0).max() < 0.1  # and that isn't the whole plane


def test_all_matrices_that_fit_are_in_their_region():
    scores = printed([[0.7, 0.4]], 0.75)
    whole, _ = matrices.confusions(60, 20, scores)
    found = regions.corners(scores, np.array([0.75]), steps=20)
    assert len(whole) and inside(found, whole / [60, 20]).all()


# ---- wrong labels


def test_the_truth_behind_wrong_labels_is_found_again():
    """True rates, seen through labels with a sensitivity of 0.9 and a specificity of 0.8."""
    true, (s, c), (sens, spec) = 0.6, (0.7, 0.8), (0.9, 0.8)
    share = true * sens + (1 - true) * (1 - spec)
    found = (true * sens * s + (1 - true) * (1 - spec) * (1 - c)) / share
    accepted = ((1 - true) * spec * c + true * (1 - sens) * (1 - s)) / (1 - share)
    made = label_errors.behind_labels((found, accepted), share, np.array(sens), np.array(spec))
    assert made == pytest.approx([true * s, (1 - true) * (1 - c), true * (1 - s), (1 - true) * c])
    as_is = label_errors.behind_labels((0.7, 0.8), 0.6, np.ones(1), np.ones(1))
    assert as_is[0] == pytest.approx([0.42, 0.08, 0.18, 0.32])
    # an evaluator that agrees with 99% of the labels could not, if a third of them were wrong
    assert np.isnan(
        label_errors.behind_labels((0.99, 0.99), 0.6, np.array(0.9), np.array(0.5))
    ).all()


@pytest.mark.parametrize(
    "ours, theirs, score",
    [
        ((5, 1, 1, 1), (2, 1, 4, 1), label_errors.ACCURACY),
        ((4, 0, 1, 3), (5, 3, 0, 0), label_errors.MACRO_F1),
    ],
)
def test_the_fewest_wrong_labels_by_trying_all(ours, theirs, score):
    """Eight answers whose verdicts overlap as little as both counts allow; all sets of labels."""
    tp, fp, fn, tn = ours
    label = np.array([1] * (tp + fn) + [0] * (fp + tn))
    mine = np.array([1] * tp + [0] * fn + [1] * fp + [0] * tn)
    other = np.array([0] * theirs[2] + [1] * theirs[0] + [0] * theirs[3] + [1] * theirs[1])

    def lead(labels):
        if score == label_errors.ACCURACY:
            return (labels == mine).mean() - (labels == other).mean()
        a, b = (f1_score(labels, said, average="macro", zero_division=0) for said in (mine, other))
        return a - b

    assert lead(label) > 0
    flips = np.array(list(itertools.product((0, 1), repeat=8)))
    least = min(f.sum() for f in flips if 0 < (label ^ f).sum() < 8 and lead(label ^ f) <= 1e-12)
    found = 8 * label_errors.fewest_wrong(np.array(ours) / 8, np.array(theirs) / 8, score)
    assert found <= least + 0.02 and least - found < 2  # whole labels, of either kind
    if score == label_errors.ACCURACY:
        assert found == pytest.approx(8 * lead(label) / 2, abs=0.05)


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
