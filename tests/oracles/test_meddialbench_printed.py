"""What MedDialBench's printed counts imply, against brute force and simulation."""

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
    contrast,
    counts,
    excess,
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


def test_a_contrast_of_one_cell_has_its_interval():
    one = counts().stack()[:1]
    known = stats.wilson(int(one.item()), N)
    assert contrast(one * 0 + 1)[:3] == pytest.approx([100 * v for v in known[:3]])
