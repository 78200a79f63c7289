"""What MedDialBench's printed counts imply, against brute force and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import claims, reruns
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.design import BASELINE
from bedside.papers.meddialbench.printed import (
    MODELS,
    SCALES,
    N,
    beyond,
    counts,
    excess,
    marks,
    mean_over_expected,
    power_ends,
)
from bedside.stats.rounded import exact


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "06_robustness")


@pytest.fixture
def pairs(run):
    return designs.read(run).combinations


@pytest.mark.parametrize("scale", SCALES)
def test_the_error_lies_between_its_ends_whatever_cases_share(scale, pairs):
    """Cases are shared at random and in nested order; drawn again, the mean varies as said."""
    rng, cells = np.random.default_rng(5), ["C2", BASELINE, *pairs["C2"]]
    _, least, most = beyond(scale, "C2", pairs["C2"])
    for shared in ("nested", "at random"):
        rows = [np.arange(N) < k for k in counts().loc[cells].to_numpy().ravel()]
        rows = rows if shared == "nested" else [rng.permutation(row) for row in rows]
        weights = rng.multinomial(N, np.full(N, 1 / N), 2000) / N
        verdicts = np.array(rows).reshape(len(cells), len(MODELS), N)
        drawn = np.clip(np.einsum("cmn,dn->dcm", verdicts, weights), 0.5 / N, 1 - 0.5 / N)
        harm = np.einsum("c,dcm->dm", [1, 1, -1, -1], SCALES[scale](drawn))
        spread = harm.mean(axis=1).std()
        assert 0.85 * least < spread < 1.15 * most, shared
        if shared == "nested":
            assert spread == pytest.approx(least, rel=0.15)


def test_a_ratio_has_the_widest_interval_of_its_logarithm(pairs):
    """For one model; a mean of several varies no more than its parts."""
    for c, (a, b) in pairs.items():
        each = [mean_over_expected(c, (a, b), [m]) for m in MODELS]
        for m, found in zip(MODELS, each):
            p = counts().loc[[c, BASELINE, a, b], m].to_numpy() / N
            # right in as many cases on one side of the ratio, in as few as possible on the other
            alike, apart = np.minimum.outer(p, p), np.maximum(0, np.add.outer(p, p) - 1)
            both = np.block([[alike[:2, :2], apart[:2, 2:]], [apart[2:, :2], alike[2:, 2:]]])
            w = np.array([1, 1, -1, -1]) / p
            factor = np.exp(1.96 * np.sqrt(w @ (both - np.outer(p, p)) @ w / N))
            value = p[0] * p[1] / (p[2] * p[3])
            assert found[:3] == pytest.approx((value, value / factor, value * factor))
        mean = mean_over_expected(c, (a, b), MODELS)
        assert mean.value == pytest.approx(np.mean([i.value for i in each]))
        assert min(i.low for i in each) <= mean.low and mean.high <= max(i.high for i in each)


@pytest.mark.parametrize("alike", [True, False])
def test_accuracy_again_lies_between_the_ends(alike):
    """Simulated: cases are selected by five dialogues, and the kept ones run again."""
    rng, n, models = np.random.default_rng(8), 100_000, 5
    chance = rng.beta(1.2, 0.7, (n, 1 if alike else models)) * np.ones((1, models))
    first, second = (rng.random((n, models)) < chance for _ in range(2))
    kept = first.any(axis=1)
    low, high = reruns.expected_again(kept.mean(), first[kept].mean())
    again = second[kept].mean()
    assert low - 0.002 < again < high + 0.002
    if alike:
        assert low < again - 0.003
        assert reruns.regression(kept.mean(), first[kept].mean()) == pytest.approx(again, abs=0.004)


def test_the_least_accuracy_is_reached():
    """A part of the cases is always right, and the others have one chance t for every model."""
    t, sure = 0.14, 0.55
    kept = sure + (1 - sure) * (1 - (1 - t) ** 5)
    accuracy = (sure + (1 - sure) * t) / kept
    again = (sure + (1 - sure) * t * (1 - (1 - t) ** 5)) / kept
    low, high = reruns.expected_again(kept, accuracy)
    assert low == pytest.approx(again, abs=2e-4) and high > again
    with pytest.raises(ValueError, match="no distribution"):
        reruns.expected_again(0.2, 0.1)  # each kept case has at least one of five right


def test_power_is_that_of_the_fewest_and_the_most_pairs_that_can_differ():
    for x, y in np.random.default_rng(1).integers(0, N + 1, (8, 2)).tolist():
        differ = [x + y - 2 * k for k in range(max(0, x + y - N), min(x, y) + 1)]
        sides = [((d + x - y) / 2 / N, (d - x + y) / 2 / N) for d in (min(differ), max(differ))]
        expected = [stats.mcnemar_power(25, *side, exact=True) for side in sides]
        assert power_ends(x, y, 25) == pytest.approx(expected, nan_ok=True)


def test_a_mark_is_possible_if_some_overlap_gives_it(run, monkeypatch):
    made = marks(run)
    assert made["possible"].all() and (made["low"] <= made["high"]).all()
    table = run.published("Table 9 marks")
    # Gemini goes from 77 to 79 with incoherent patients: at best 0 against 2 pairs, p = 1/2; and
    # from 77 to 51 with fabricating ones: at worst 34 pairs lost and 8 won
    wrong = (table["row"] == "Gemini") & table["column"].isin(["incoherent", "fabricating"])
    table.loc[wrong, "value"] = [1, 0]
    monkeypatch.setattr(run, "published", lambda name: table)
    off = marks(run).query("not possible")
    assert off[["configuration", "starred"]].to_numpy().tolist() == [
        ["incoherent", True],
        ["fabricating", False],
    ]
    worst = stats.mcnemar_counts(34, 8)
    assert (off["low"].iloc[0], off["high"].iloc[1]) == (0.5, pytest.approx(worst))


# shares right at a baseline of 68 of 85, of x, y and both: x and y cost the same twice
APART = {
    "success multiplied": [68, 51, 34, 25.5],
    "risks added": [68, 51, 34, 17],
    # odds of failure 1/4, 2/3, 3/2 and 4 = 2/3 * 3/2 / (1/4)
    "odds of failure multiplied": [68, 51, 34, 17],
    # failures of 17, 34, 34 and 68 = 34 * 34 / 17
    "failures multiplied": [68, 51, 51, 17],
}


@pytest.mark.parametrize("scale", SCALES)
def test_an_interaction_is_0_where_effects_add_up_on_its_scale(scale):
    right = APART[scale]
    made = pd.DataFrame({"m": [*right, right[-1] - 5]}, ["baseline", "x", "y", "both", "less"]) / N
    assert excess(scale, "both", ("x", "y"), made).item() == pytest.approx(0)
    assert excess(scale, "less", ("x", "y"), made).item() > 0  # more harm than the parts foretell


def test_a_mean_of_ratios_lies_between_its_ends():
    def ends(turns, covered, longest):
        x, y = (exact(pd.Series({"m": float(v)})) for v in (turns, covered))
        made = claims.mean_ratio(x, y, longest)
        return made.low["m"], made.high["m"]

    # half have one turn, half two, and half cover all: the short ones (1 / 1) or the long (1 / 2)
    assert ends(1.5, 0.5, 2) == pytest.approx((0.25, 0.5))
    rng = np.random.default_rng(2)
    for _ in range(5):
        turns, covered = rng.integers(1, 21, 400), rng.random(400)
        low, high = ends(turns.mean(), covered.mean(), 20)
        assert low <= (covered / turns).mean() <= high
