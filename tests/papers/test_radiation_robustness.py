"""What radiation's notebook 07 computes, against brute force and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from cells import wanted

ROBUST = "radiation/07_robustness"


@pytest.mark.parametrize("seed", range(4))
def test_the_best_list_for_all_is_the_best_of_all_lists(seed):
    rng = np.random.default_rng(seed)
    terms, sites = list("abcdefg"), ["one", "two", "three"]
    held = rng.random((7, 3)) < 0.6
    rows = [(t, s) for i, t in enumerate(terms) for j, s in enumerate(sites) if held[i, j]]
    reference = pd.DataFrame(rows, columns=["effect", "site"])
    patients = pd.DataFrame({"site": rng.choice(sorted(set(reference["site"])), 9)})
    world = {"reference": reference, "patients": patients, "terms": terms}
    score, found = wanted(ROBUST, "over_patients", "best", **world)
    lists = (c for k in range(1, 8) for c in itertools.combinations(terms, k))
    assert score(found) == pytest.approx(max(map(score, lists)))
    by_hand = []
    for site in patients["site"]:
        own = set(reference.loc[reference["site"] == site, "effect"])
        hits = len(own & set(found))
        by_hand.append(2 * hits / (len(own) + len(found)))
    assert score(found) == pytest.approx(np.mean(by_hand))


def test_the_f1_at_which_a_matcher_undoes_a_gain():
    """Lists with a true share of right entries, seen by a matcher that errs."""
    rng, length, size = np.random.default_rng(1), 20, 25
    goal, specificity, sensitivity = 0.62, 0.9, 0.7
    right = goal * (1 + length / size) / (2 * length / size)
    truth = rng.random((40_000, length)) < right
    assert np.mean(2 * truth.sum(1) / (length + size)) == pytest.approx(goal, abs=0.005)
    passed = rng.random(truth.shape) < np.where(truth, sensitivity, 1 - specificity)
    seen = passed.mean()
    assert stats.turning_sensitivity(seen, right, specificity) == pytest.approx(
        sensitivity, abs=0.01
    )
