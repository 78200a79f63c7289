"""Radiation: what its printed numbers allow, the best list for all; other numbers turn readings."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.radiation import agreement, printed
from bedside.papers.radiation import claims as radiation
from bedside.read import claims, expressions, published
from bedside.stats.rounded import Rounded
from cells import wanted

RECALL, ROBUST = "radiation/05_survivorship_recall", "radiation/07_robustness"


@pytest.fixture
def run(run_of):
    return run_of("radiation", "02_free_form")


class Printed:
    """Tables 1 to 7 of one model, as a run's `published` gives them."""

    profile, paper = "public", "radiation"
    columns = {
        "Table 2": ["Δ Precision", "Δ Recall", "Δ F1"],
        "Table 5": ["Overlap (FF)", "Overlap (LSC)"],
        "Table 6": ["Short-term", "Long-term"],
        "Table 7": ["Common", "Uncommon", "Rare", "Extremely Rare"],
    }

    def __init__(self, scores, change=(0, 0, 0), onset=(0.5, 0.5), frequency=(0.5,) * 4):
        values = dict.fromkeys(("Table 1", "Table 3", "Table 4"), scores)
        self.values = {
            **values,
            "Table 2": change,
            "Table 5": [0.5] * 2,
            "Table 6": onset,
            "Table 7": frequency,
        }

    def published(self, table):
        columns = self.columns.get(table, ["Precision", "Recall", "F1"])
        rows = {"table": table, "note": "", "row": "M", "column": columns}
        values = dict.fromkeys(("value", "low", "high"), self.values[table])
        return pd.DataFrame(rows).assign(**values)


def test_f1_must_lie_between_the_bounds():
    def found(id, *scores):
        table = pd.DataFrame([scores], ["M"], ["Precision", "Recall", "F1"])
        all_scores = Rounded.printed(table, 2)
        means = radiation.harmonic(all_scores.Precision, all_scores.Recall)
        names = {"all_scores": all_scores, "f1_of_means": means, **radiation.FUNCTIONS}
        test = claims.load("radiation")[id].test
        return expressions.outcome(test, expressions.FUNCTIONS | names)[3]

    for f1, fits, below in (
        (0.6, True, None),
        (0.62, False, False),
        (0.5, True, True),
        (0.2, False, True),
    ):
        scores = 0.5, 0.75, f1
        assert (found("rad-f1", *scores), found("rad-f1-means", *scores)) == (fits, below), f1
    assert not found("rad-f1", 0.9, 0.9, 0.5)  # both at 0.9 leave at least 0.8


def test_list_lengths_follow_from_precision_and_recall():
    some, sizes = Printed([0.4, 0.6, 0.48], [-0.3, 0, -0.3]), pd.Series([20, 28])
    T = printed.printed_tables(some)
    mean, least = printed.lengths(T, sizes.mean()), printed.lengths(T, sizes.min())
    assert mean["selection"].value["M"] == pytest.approx(0.6 * 24 / 0.4)
    assert mean["free-form, 20-30"].value["M"] == pytest.approx(144)
    assert least["selection"].low["M"] == pytest.approx(0.595 * 20 / 0.405)
    assert least["free-form, 20-30"].low["M"] == pytest.approx(0.59 * 20 / 0.11)
    items = wanted("radiation/03_grounded_selection", "items", run=some, sizes=sizes)
    assert items.loc["M"].tolist() == pytest.approx([m.value["M"] for m in mean.values()])


def test_recalls_that_can_and_can_not_hold_together():
    cells = [
        ("short-term", "common"),
        ("short-term", "rare"),
        ("long-term", "common"),
        ("long-term", "uncommon"),
        ("long-term", "extremely rare"),
    ]
    reference = pd.DataFrame(cells, columns=["onset", "frequency"]).assign(site="chest wall")
    sites = ["chest wall"] * 3

    def misfit(recall, how, alone=False):
        scores = Printed([0.5, recall, 0.5])
        return agreement.misfit(scores, reference, sites, how, how, alone)["M"]

    for how in agreement.WAYS:
        assert misfit(0.5, how) == pytest.approx(0, abs=1e-6)
        assert misfit(0.9, how) > 0.1
        assert misfit(0.9, how, alone=True) == pytest.approx(0, abs=1e-6)
    # 0.9 over all effects, but every onset at 0.5: the misfit shares out what is missing
    expected = (0.9 - 0.5 - 0.005 - 0.00625) / 2
    assert misfit(0.9, "effects") == pytest.approx(expected, abs=1e-3)


def test_sums_of_recalls_by_onset_and_by_frequency_are_of_the_same_cells():
    """Of seven cells with recalls a to g, the onsets' means and the frequencies' give one sum."""
    short, late = np.random.default_rng(0).random((2, 4))
    short[3] = 0  # no short-term effect is extremely rare
    onset = short[:3].mean(), late.mean()
    frequency = [*(short[:3] + late[:3]) / 2, late[3]]
    world = Printed([0.5] * 3, onset=onset, frequency=frequency)
    sums = wanted(RECALL, "by_onset", "by_frequency", run=world)
    assert [s["M"] for s in sums] == pytest.approx([short.sum() + late.sum()] * 2)


def test_what_follows_if_a_number_is_a_slip(run, monkeypatch):
    """0.80 for O4-Mini's rare 0.48: above its common 0.79, and the best of the column."""
    (slip,) = published.slips("radiation")
    by_onset, by_frequency = wanted(RECALL, "by_onset", "by_frequency", run=run)
    off, seven = (by_onset - by_frequency)["O4-Mini"], printed.wide(run, "Table 7")
    # no other recall of Table 7 makes up for it: 0.79 + 0.32, 0.70 + 0.32 and 0.80 + 0.64 are > 1
    weight = pd.Series(dict.fromkeys(seven, 2) | {"Extremely Rare": 1})
    fits = seven.loc["O4-Mini"] + off / weight
    assert {slip.column: slip.value} == {c: f"{v:.2f}" for c, v in fits[fits <= 1].items()}
    frame = published.load("radiation")
    at = (frame[["table", "row", "column"]] == list(slip[1:4])).all(axis=1)
    other = frame.assign(value=frame["value"].mask(at, float(slip.value)))
    monkeypatch.setattr(published, "load", lambda paper: other)
    assert wanted(RECALL, "by_frequency", run=run)["O4-Mini"] == pytest.approx(by_onset["O4-Mini"])


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
