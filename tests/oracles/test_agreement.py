"""Agreement of raters on random worlds, against scikit-learn and pair by pair."""

import tomllib
from itertools import combinations, product
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics
from units_of_worlds import SEEDS, close, quantile

from bedside import stats

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
WEIGHTS = (None, "linear", "quadratic")


def assert_beyond_chance(found, tables, estimate, t):
    """Student's limits on Fisher's z by the jackknife, of the tables (units, k, k) as they are, and
    after two mean units that are spread evenly; the wider ones count."""
    total, size = tables.sum(axis=0), tables.shape[1]
    place = np.subtract.outer(range(size), range(size)) % size
    share = 2 * total.sum() / len(tables) / size**2
    even = np.array([(place == k) * share for k in range(size)])
    ends = []
    for rows in (tables, np.concatenate([tables, even])):
        near = estimate(rows.sum(axis=0))
        each = [estimate(rows.sum(axis=0) - row) for row in rows]
        error = np.sqrt((len(rows) - 1) * np.var(each))
        ends.append(np.tanh(np.arctanh(near) + t * error / (1 - near**2) * np.array([-1, 1])))
    low, high = np.transpose(ends)
    assert close(found[:3], (estimate(total), low.min(), high.max()))


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_kappa_is_a_librarys_with_an_interval_over_units(seed):
    rng = np.random.default_rng(seed)
    weights, labels, n = WEIGHTS[seed % 3], list(range(3)), 100
    a = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    b = np.where(rng.random(n) < 0.6, a, rng.choice(3, n))
    units = rng.permutation(np.arange(n) % 30) if seed % 2 else np.arange(n)
    cells = np.indices((3, 3)).reshape(2, -1)

    def known(table):
        return metrics.cohen_kappa_score(*cells, weights=weights, sample_weight=table.ravel())

    tables = np.zeros((units.max() + 1, 3, 3))
    np.add.at(tables, (units, a, b), 1)
    found = stats.kappa(a, b, labels, weights=weights, units=units)
    assert_beyond_chance(found, tables, known, quantile(units))
    assert found.n == n and stats.kappa(b, a, labels, weights=weights).value == found.value
    words = np.array(["no", "partly", "yes"])
    assert stats.kappa(words[a], words[b], words, weights=weights, units=units) == found


EXAMPLES = tomllib.loads(Path(__file__).with_name("statistics.toml").read_text("utf-8"))


def test_alpha_and_ac_of_their_worked_examples():
    observers = EXAMPLES["observers"]  # four, of twelve units
    for level, expected in (("nominal", 0.743), ("ordinal", 0.815)):
        found = stats.krippendorff_alpha(observers, level=level)
        assert close(found.value, expected, abs=0.0005)
        assert found.n == 11 and isnan(found.low)  # the twelfth unit has one rating
    # Gwet (2014) and his package irrCAC print AC1 0.77544 for these four raters.
    assert close(stats.gwet(observers, range(1, 6)), 0.77544, abs=5e-6)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_alpha_is_pair_by_pair_with_an_interval_over_units(seed, level):
    rng, scale = np.random.default_rng(seed), np.array([0, 1, 3, 7])
    truth = rng.choice(scale, 40)
    ratings = np.where(rng.random((4, 40)) < 0.5, truth, rng.choice(scale, (4, 40)))
    ratings = np.where(rng.random((4, 40)) < 0.3, nan, ratings)
    kept = [unit[unit == unit] for unit in ratings.T]
    every = np.concatenate([unit for unit in kept if len(unit) > 1])

    def apart(x, y):
        if level == "nominal":
            return x != y
        low, high = sorted((x, y))
        between = ((every >= low) & (every <= high)).sum()
        return (between - ((every == low).sum() + (every == high).sum()) / 2) ** 2

    seen = sum(
        2 * sum(apart(x, y) for x, y in combinations(unit, 2)) / (len(unit) - 1)
        for unit in kept
        if len(unit) > 1
    )
    chance = sum(apart(x, y) for x in every for y in every) / (len(every) - 1)
    found = stats.krippendorff_alpha(ratings, level=level)
    assert close(found.value, 1 - seen / chance)
    if level == "ordinal":  # whose distances change with each unit that is left out
        return
    far = np.array([[float(apart(x, y)) for y in scale] for x in scale])
    tables = []
    for unit in kept:
        given = (unit[:, None] == scale).sum(axis=0)
        pairs = np.outer(given, given) - np.diag(given)
        tables += [pairs / (len(unit) - 1)] if len(unit) > 1 else []

    def known(table):
        margin = table.sum(axis=0)
        chance = (np.outer(margin, margin) * far).sum() / (margin.sum() - 1)
        return 1 - (table * far).sum() / chance

    units = np.repeat(np.arange(len(tables)), [round(t.sum()) for t in tables])
    assert_beyond_chance(found, np.array(tables), known, quantile(units))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_gwet_is_pair_by_pair(weights):
    """Agreement over all pairs of ratings, chance from the mean margins; nobody gave a 4."""
    ratings = np.random.default_rng(1).choice([1, 2, 3, 5], size=(3, 40))
    power = {"linear": 1, "quadratic": 2}.get(weights)
    alike = {
        (a, b): 1 - (abs(a - b) / 4) ** power if power else float(a == b)
        for a, b in product(range(1, 6), repeat=2)
    }
    seen = np.mean([alike[x, y] for unit in ratings.T for x, y in combinations(unit, 2)])
    share = [(ratings == k).mean() for k in range(1, 6)]
    chance = sum(alike.values()) / 20 * sum(p * (1 - p) for p in share)
    assert close(stats.gwet(ratings, range(1, 6), weights=weights), (seen - chance) / (1 - chance))


def test_raters_who_do_not_vary_are_no_evidence():
    for weights in WEIGHTS:
        same = stats.kappa(["good"] * 30, ["good"] * 30, ["bad", "good"], weights=weights)
        assert same == pytest.approx((nan, nan, nan, 30), nan_ok=True)
        other = ["good"] * 29 + ["bad"]  # a constant guesser knows nothing
        found = stats.kappa(["good"] * 30, other, ["bad", "good"], weights=weights)
        assert found.value == 0 and found.low < 0 < found.high < 1
    assert isnan(stats.krippendorff_alpha([[2] * 30] * 2).value)
