"""Agreement, and what a judge's errors leave: by hand, and against libraries that have it too."""

from itertools import product
from math import isnan, nan, sqrt

import closeness
import numpy as np
import pytest
from closeness import Z2_LEVEL, close, close_interval

from bedside import stats

rng = closeness.rng  # a fixture

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: four observers, twelve units.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
)


# agreement


def test_kappa_by_hand():
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: agreement 0.7, by chance
    # 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = stats.kappa(a, b, ["no", "yes"])
    assert close(found.value, 0.4) and found.low < 0.4 < found.high and found.n == 50
    # 0/0, 1/2, 2/2: squared distance 1 in all; by chance (rows 1 1 1, columns 1 0 2)
    # (5 + 2 * 5) / 3. 1 - 3/15.
    found = stats.kappa([0, 1, 2], [0, 2, 2], range(3), weights="quadratic")
    assert close(found.value, 0.8)


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_kappa_conventions(weights):
    labels = ["bad", "fair", "good"]
    found = stats.kappa(["good"] * 9, ["good"] * 9, labels, weights=weights)
    assert found == close_interval(nan, nan, nan, 9)
    others = ["good"] * 29 + ["bad"]  # a constant guesser knows nothing
    found = stats.kappa(["good"] * 30, others, labels, weights=weights)
    assert found.value == 0 and found.low < 0 < found.high < 1
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


def test_kappa_units_widen(rng):
    a, b = np.repeat(rng.integers(0, 2, size=(2, 30)), 4, axis=1)
    plain = stats.kappa(a, b, [0, 1])
    by_case = stats.kappa(a, b, [0, 1], units=np.repeat(np.arange(30), 4))
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
        ([1, 0], [1, 0], {"weights": "cubic"}),
    ],
)
def test_kappa_refuses(a, b, given):
    with pytest.raises(ValueError):
        stats.kappa(a, b, [0, 1], **given)


@pytest.mark.parametrize(
    "level, expected", [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_worked_example(level, expected):
    found = stats.krippendorff_alpha(OBSERVERS, level=level)
    assert close(found.value, expected, abs=0.0005)
    assert found.n == 11 and isnan(found.low)  # the twelfth unit has one rating
    twice = stats.krippendorff_alpha(np.hstack([OBSERVERS] * 2), level=level)
    assert twice.low < found.value < twice.high


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


def test_alpha_without_variation():
    assert stats.krippendorff_alpha([[2, 2, 2], [2, 2, 2]]) == close_interval(nan, nan, nan, 3)
    found = stats.krippendorff_alpha([[1, 2] * 15] * 2)
    assert found.value == 1 and found.low < 1


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
    assert sensitivity == close_interval(2 / 3, nan, nan, 3)
    assert specificity == close_interval(1 / 2, nan, nan, 2)
    truth, said = [1] * 12 + [0] * 15, [1] * 9 + [0] * 3 + [1] * 2 + [0] * 13
    found = stats.sens_spec(truth, said)
    assert found == (stats.share(said[:12]), stats.share(np.equal(said[12:], 0)))
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


def test_macro_scores_over_units_leave_out_one_after_the_other(rng):
    cells, units = confused(*rng.integers(0, 2, (2, 60))), np.arange(60) // 2
    found = stats.mean(cells, units, scale=(0, 1), combine=stats.macro)
    assert close([i.value for i in found], stats.macro(cells.sum(0)))
    without = np.array([stats.macro(cells[units != unit].sum(0)) for unit in range(30)])
    for i, error in zip(found, np.sqrt(29 * without.var(0))):
        for limit in i[1:3]:  # the error that a limit allows falls towards 0 and 1
            own = error * sqrt(limit * (1 - limit) / (i.value * (1 - i.value)))
            assert close(abs(i.value - limit) / own, 2.045229642)  # t of 29


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


# prediction-powered inference


def test_prediction_powered_by_hand():
    # y = 1 1 0 0, f = 1 0 0 0: covariance (3/8 - 1/8 + 1/8 + 1/8) / 3 = 1/6. f and u = 1 1 1 0
    # together: 4 of 8, variance 2/7. Weight (1/6) / ((1 + 4/4) 2/7) = 7/24, value
    # 1/2 + 7/24 (3/4 - 1/4) = 31/48.
    found = stats.prediction_powered([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0])
    assert found == close_interval(31 / 48, nan, nan, 4)  # too few for an interval
    low = stats.prediction_powered([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1])  # all turned round
    assert low == close_interval(17 / 48, nan, nan, 4)
    # The same ten times: covariance (40 / 39) / 8, variance (80 / 79) / 4, and so on. A limit is
    # where the value is t errors away.
    y, f, u = np.array([1, 1, 0, 0] * 10), np.array([1, 0, 0, 0] * 10), np.array([1, 1, 1, 0] * 10)
    weight = (40 / 39 / 8) / (2 * 80 / 79 / 4)
    variance = (y - weight * f).var() / 40 + weight**2 * 3 / 16 / 40
    found = stats.prediction_powered(y, f, u)
    assert close(found.value, 1 / 2 + weight / 2)
    for limit in found[1:3]:
        own = variance * 80 / 79 * limit * (1 - limit) / (found.value * (1 - found.value))
        assert close(abs(found.value - limit) / sqrt(own), 2.022690920)  # t of 39


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
        assert stats.prediction_powered(y, f, u) == close_interval(*stats.share(y))


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
    many = [stats.prediction_powered(labels * k, judged * k, others * k) for k in (1, 5)]
    assert [i.value for i in many] == [sum(labels) / 6] * 2
    alone = stats.mean(labels * 5, scale=(0, 1))
    assert close(many[1][:3], alone[:3], rel=0.01)


def test_prediction_powered_where_units_repeat():
    # Every reply twice, in 48 units: nothing new is learnt.
    y, f, u = [1, 1, 0, 0] * 6, [1, 0, 0, 0] * 6, [1, 1, 1, 0] * 6
    once = stats.prediction_powered(y, f, u)
    own = [f"a{i}" for i in range(24)], [f"b{i}" for i in range(24)]
    assert close(stats.prediction_powered(y, f, u, own), once)
    both = own[0] * 2, own[1] * 2
    plain = stats.prediction_powered(y * 2, f * 2, u * 2)
    twice = stats.prediction_powered(y * 2, f * 2, u * 2, both)
    assert close(twice.value, plain.value) and twice.n == 48
    assert close(twice.high - twice.low, once.high - once.low, rel=0.01)  # not narrower by sqrt(2)
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
