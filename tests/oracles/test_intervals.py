"""Intervals on random worlds: against scipy, statsmodels, scikit-learn, leaving out units."""

from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn import metrics
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import confint_proportions_2indep
from units_of_worlds import SEEDS, assert_score, close, left_out, quantile, units_of

from bedside import stats
from interval_worlds import WORLDS, coverage

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_have_wilsons_interval_with_t_and_the_design_effect_of_their_units(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 200))
    x = int(rng.integers(0, n + 1))
    known = scipy_stats.binomtest(x, n).proportion_ci(method="wilson")
    assert close(stats.wilson(x, n), [x / n, *known, n])
    units = units_of(rng, n, seed % 2)
    hits = rng.random(n) < rng.beta(2, 3, units.max() + 1)[units]
    fit = OLS(hits.astype(float), np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": units})
    p = hits.mean()
    error = max(fit.bse[0], sqrt(p * (1 - p) / n)) if seed % 2 else sqrt(p * (1 - p) / n)
    assert_score(stats.share(hits, units), quantile(units), error)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [(0, 1), (-1, 1), (0, 100), (0, inf), (-inf, inf)])
def test_means_leave_out_one_unit_after_the_other_and_keep_to_their_scale(seed, scale):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 90))
    units = units_of(rng, n, seed % 2)
    ends = [end if abs(end) < inf else (-1) ** (end < 0) * 7 for end in scale]
    values = rng.uniform(*ends, n) * rng.random(n)
    error = left_out(lambda kept: values[kept].mean(), units)
    found = stats.mean(values, units, scale=scale)
    assert close(found.value, values.mean()) and found.n == n
    assert_score(found, quantile(units), error, scale)
    both = stats.mean(np.column_stack([values, values[::-1]]), units, scale=scale)
    assert both[0] == pytest.approx(found) and len(both) == 2


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_macro_scores_are_a_librarys_and_their_errors_the_units(seed):
    rng = np.random.default_rng(seed)
    truth, said = rng.integers(0, 2, (2, 40))
    units = units_of(rng, 40, seed % 2)

    def known(kept=slice(None)):
        made = metrics.precision_recall_fscore_support(
            truth[kept], said[kept], average="macro", zero_division=0
        )
        return [metrics.accuracy_score(truth[kept], said[kept]), *made[:3]]

    cells = np.column_stack([truth & said, said > truth, truth > said, truth + said == 0])
    assert close(stats.macro(cells.sum(axis=0)), known())
    assert close(stats.macro([cells.mean(axis=0)] * 2), [known()] * 2)
    found = stats.mean(cells, units, scale=(0, 1), combine=stats.macro)
    assert close([i.value for i in found], known())
    for interval, error in zip(found, left_out(known, units)):
        assert_score(interval, quantile(units), error)
    sensitivity, specificity = stats.sens_spec(truth, said, units)
    for found, label in ((sensitivity, 1), (specificity, 0)):
        assert close(found.value, metrics.recall_score(truth, said, pos_label=label))
        mine = truth == label
        assert found == stats.share(said[mine] == label, units[mine])
    rates = rng.random((2, 9))
    assert close(stats.harmonic(*rates), scipy_stats.hmean(rates))


def test_macro_scores_without_one_class_are_nothing():
    for counts, accuracy in (([3, 0, 1, 0], 0.75), ([4, 0, 0, 0], 1.0), ([0, 1, 0, 3], 0.75)):
        assert close(stats.macro(counts), [accuracy, nan, nan, nan])
    assert close(stats.macro([3, 3, 0, 0]), [0.5, 0.25, 0.5, 1 / 3])  # always yes


@pytest.mark.parametrize("seed", SEEDS)
def test_differences_of_shares_are_bonett_and_prices(seed):
    """With one more pair of each kind that differs; where units repeat, a unit of mean size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(24, 90))
    a, b = rng.random((2, n)) < rng.random((2, 1))
    units, d = units_of(rng, n, seed % 2), a * 1.0 - b
    found = stats.difference(a, b, units)
    assert close((found.value, found.n), (d.mean(), n))
    size = n / len({*units})
    sums = np.append(np.bincount(units, d), [size, -size])
    sizes = np.append(np.bincount(units), [size, size])
    near = sums.sum() / sizes.sum()
    error = left_out(lambda kept: sums[kept].sum() / sizes[kept].sum(), np.arange(len(sums)))
    limits = near + quantile(units) * error * np.array([-1, 1])
    assert close(found[1:3], limits.clip(-1, 1))
    points = stats.difference(100 * a, 100 * b, units, scale=(0, 100))
    assert close(points[:3], 100 * np.array(found[:3]))
    x, y = rng.random((2, n))
    assert stats.difference(x, y, units) == stats.mean(x - y, units, scale=(-1, 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_means_of_two_shares_are_newcombes_and_medians_have_woodruffs_limits(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 60, 2).tolist()
    x, y = int(rng.integers(0, n + 1)), int(rng.integers(0, m + 1))
    known = confint_proportions_2indep(x, n, m - y, m, method="newcomb")
    found = stats.balanced_accuracy(x, n, y, m)
    assert close(found, [(x / n + y / m) / 2, *(np.array(known) + 1) / 2, n + m])
    values, units = rng.exponential(size=80), units_of(rng, 80, seed % 2)
    found = stats.median(values, units)
    assert found.value == np.median(values)
    ends = stats.share(values <= found.value, units)
    if len({*units}) >= 20:
        for limit, end in zip(found[1:3], ends[1:3]):
            assert (values <= limit).mean() >= end > (values < limit).mean()


@pytest.mark.parametrize("seed", SEEDS)
def test_corrected_rates_draw_from_the_counts_behind_three_shares(seed):
    rng = np.random.default_rng(seed)
    counts = [
        (int(rng.integers(0, n + 1)) if at == 0 else int(n * rng.uniform(0.6, 1)), n)
        for at, n in enumerate(rng.integers(20, 200, 3).tolist())
    ]
    found = stats.corrected_rate(*(stats.wilson(*c) for c in counts), np.random.default_rng(3))
    again = np.random.default_rng(3)
    draws = [again.beta(x + 0.5, n - x + 0.5, 10_000) for x, n in counts]

    def corrected(seen, sens, spec):
        return np.clip((seen + spec - 1) / (sens + spec - 1), 0, 1)

    expected = corrected(*(x / n for x, n in counts))
    limits = np.quantile(corrected(*draws), [0.025, 0.975])
    if limits[0] == limits[1]:  # fewer positives than the judge's errors let expect
        limits = [nan, nan]
    assert close(found[:3], [expected, *limits], abs=1e-4) and found.n == counts[0][1]


def test_a_share_behind_a_judges_is_found_and_turns_where_it_says():
    rng = np.random.default_rng(0)
    truth = rng.random(400_000) < 0.3
    seen = np.where(truth, rng.random(truth.size) < 0.8, rng.random(truth.size) > 0.9)
    assert close(stats.true_share(seen.mean(), 0.8, 0.9), 0.3, abs=0.005)
    specificity = np.linspace(0.8, 1, 5)
    sensitivity = stats.turning_sensitivity(0.27, 0.3, specificity)
    assert close(stats.true_share(0.27, sensitivity, specificity), [0.3] * 5)
    assert isnan(stats.true_share(0.5, 0.5, 0.5)) and isnan(stats.turning_sensitivity(1, 0.3, 1))
    half, rate = stats.wilson(50, 100), stats.wilson(8, 100)  # a judge without skill
    assert isnan(stats.corrected_rate(rate, half, half, rng).value)


@pytest.mark.parametrize("seed", SEEDS)
def test_prediction_powered_rates_weigh_the_judge_for_the_least_variance(seed):
    rng, n, more = np.random.default_rng(seed), 60, 400
    truth = rng.random(n + more) < 0.4
    judged = np.where(rng.random(n + more) < rng.uniform(0.6, 0.95), truth, ~truth)
    y, f, u = truth[:n] * 1.0, judged[:n] * 1.0, judged[n:] * 1.0
    of = units_of(rng, n, False), n + units_of(rng, more, seed % 2)

    def value(weight):
        return y.mean() + weight * (u.mean() - f.mean())

    def variance(weight):  # with the verdicts' variance in all replies
        one = y.var(ddof=1) - 2 * weight * np.cov(y, f)[0, 1] + weight**2 * judged.var(ddof=1)
        return one / n + weight**2 * judged.var(ddof=1) / more

    grid = np.linspace(0, 1, 2001)
    best = grid[np.argmin([variance(w) for w in grid])]
    found = stats.prediction_powered(y, f, u, of)
    assert close(found.value, value(best), abs=3e-4) and found.n == n
    weight = (found.value - y.mean()) / (u.mean() - f.mean())
    rest, other = y - weight * f, weight * (u - u.mean()) / more
    sums = np.concatenate([(rest - rest.mean()) / n, np.bincount(of[1] - n, other)])
    error = sqrt((sums**2).sum() * len(sums) / (len(sums) - 1))
    assert_score(found, quantile(of[0]), error)
    assert stats.prediction_powered(y, 1 - f, 1 - u).value == y.mean()  # says the opposite
    alike = stats.prediction_powered([1] * n, f, u)
    assert alike == stats.share([1] * n)


COVERED = [  # the fewest units, whether rows are clustered, and a world of interval_worlds.toml
    (12, True, "share", "0.05"),
    (12, True, "mean", "counts, Poisson of 3"),
    (12, False, "difference", "shares, 0.2 won, 0 lost"),
    (20, True, "quadratic kappa", "0.8, neighbours"),
    (20, True, "prediction-powered", "0.3, sensitivity 0.9, specificity 0.8"),
]


@pytest.mark.parametrize("n, clustered, kind, name", COVERED)
def test_intervals_of_small_samples_cover(n, clustered, kind, name):
    """Of 300 intervals at least 90% hold the truth: of 93%, 300 give less in three of a hundred."""
    (world,) = (w for w in WORLDS if (w["kind"], w["name"]) == (kind, name))
    covered, given = coverage(world, n, clustered, 300)
    assert given == 1 and covered >= 0.90


def test_fewer_units_than_a_method_needs_have_no_limits_and_others_have_a_width():
    hits, units, few = [1, 0] * 9, np.arange(18) // 2, np.arange(18)
    rates = stats.share([0] * 60), stats.share([1] * 12), stats.share([1, 0] * 12)
    without = [
        (stats.mean(hits, units), 0.5),
        (stats.share(hits, units), 0.5),
        (stats.difference(hits, hits, units), 0),
        (stats.kappa(hits, hits, [0, 1], units=few), 1),
        (stats.krippendorff_alpha([hits, hits], units=few), 1),
        (stats.prediction_powered(hits, hits, hits), 0.5),
        (stats.median(range(19)), 9),
        # who knows how far others would be, where the scale has no end
        (stats.mean([3] * 12, scale=(0, inf)), 3),
        (stats.mean([3] * 12, scale=(-inf, inf)), 3),
        # a judge that calls half of the wrong answers right calls none of sixty right
        (stats.corrected_rate(*rates, np.random.default_rng(0)), 0),
    ]
    for interval, value in without:
        assert close(interval[:3], (value, nan, nan))
    alike = [1, 0] * 12
    for interval in (
        stats.mean(hits[:10]),
        stats.share(hits[:10]),
        *(stats.difference(a, b) for a, b in ((alike, alike), ([1] * 12, [0] * 12))),
        stats.difference([0.5] * 12, [0.5] * 12),
        stats.kappa(alike, alike, [0, 1]),
        stats.krippendorff_alpha([alike] * 2),
    ):
        assert interval.low < interval.high
    t = scipy_stats.t.ppf(0.975, 11)
    part = t**2 / (12 + t**2)  # what Wilson's interval of 0 of 12 reaches
    assert close(stats.mean([-1] * 12, scale=(-1, 1))[:3], (-1, -1, 2 * part - 1))
    assert close(stats.mean([0.5] * 12, scale=(0, 1))[:3], (0.5, (1 - part) / 2, (1 + part) / 2))
    assert close(stats.share([0] * 24, np.arange(24) // 2)[:3], (0, 0, part))


@pytest.mark.parametrize("count", [2, 8])
def test_variance_is_told_apart_between_and_within_units(count):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(count, 5)) + 3 * rng.normal(size=(count, 1))
    within = values.var(axis=1, ddof=1).mean()
    f = scipy_stats.f_oneway(*values).statistic
    found = stats.components(values.ravel(), np.repeat(np.arange(count), 5))
    assert close(found, ((f - 1) * within / 5, within))
    assert close(stats.components([1, 2], [1, 2]), (nan, nan))
    assert close(stats.components([1, 2], [1, 1]), (nan, 0.5))
