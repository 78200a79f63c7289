"""Radiation: what its printed numbers allow, and the best list for all."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bedside.papers.radiation import agreement, printed
from bedside.papers.radiation import claims as radiation
from bedside.read import claims, expressions
from bedside.stats.rounded import Rounded
from cells import wanted

RECALL, ROBUST = "radiation/05_survivorship_recall", "radiation/07_robustness"


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
    assert misfit(0.9, "effects") == pytest.approx(expected, abs=1e-5)


def test_recalls_fit_alone_or_with_tables_1_to_4_or_not():
    for alone, whole, holds in ((0.1, 0.1, False), (0, 0.1, None), (0, 0, True)):
        row = {"six": "levels", "seven": "levels", "model": "M", "alone": alone, "whole": whole}
        assert agreement.fit(pd.DataFrame([row]), "levels").holds is holds


def test_weights_of_cells_give_the_mean_recall_over_patients():
    sites, names = ["a", "a", "b"], ["site", "onset", "frequency"]
    rows = [("a", "early", "rare"), ("a", "early", "common"), ("a", "early", "common")]
    rows += [("b", "early", "rare"), ("b", "late", "rare")]
    effects = pd.DataFrame(rows, columns=names).assign(recall=[0.1, 0.5, 0.8, 0.4, 0.9])
    count, cells = (effects.groupby(names)["recall"].agg(how) for how in ("size", "mean"))
    early = effects[effects["onset"] == "early"].groupby(["site", "frequency"])["recall"].agg(list)
    of_patient = [[*early[site]] for site in sites]  # the recalls of effects, by frequency
    every = [sum(cells, []) for cells in of_patient]
    expected = {
        "levels": np.mean([np.mean([np.mean(c) for c in cells]) for cells in of_patient]),
        "effects": np.mean([np.mean(recalls) for recalls in every]),
        "entries": np.mean(sum(every, [])),
    }
    share = pd.Series(sites).value_counts(normalize=True)
    for way in agreement.WAYS:
        weights = agreement.weights(count, share, "early", way)
        assert weights @ cells == pytest.approx(expected[way]), way


def test_lists_are_the_same_whatever_their_order():
    assert radiation.same(["a", "b"], ["b", "a"]).holds
    assert not radiation.same(["a", "b"], ["a"]).holds


def test_a_share_without_decimals_is_of_a_whole_number_or_not():
    assert radiation.whole_number(33, 3).holds and not radiation.whole_number(40, 3).holds


def test_sums_of_recalls_by_onset_and_by_frequency_are_of_the_same_cells():
    """Of seven cells with recalls a to g, the onsets' means and the frequencies' give one sum."""
    short, late = np.random.default_rng(0).random((2, 4))
    short[3] = 0  # no short-term effect is extremely rare
    onset = short[:3].mean(), late.mean()
    frequency = [*(short[:3] + late[:3]) / 2, late[3]]
    world = Printed([0.5] * 3, onset=onset, frequency=frequency)
    sums = wanted(RECALL, "by_onset", "by_frequency", run=world)
    assert [s["M"] for s in sums] == pytest.approx([short.sum() + late.sum()] * 2)


def test_the_best_list_for_all_is_the_best_of_all_lists():
    rng = np.random.default_rng(0)
    terms, held = list("abcdefg"), rng.random((7, 3)) < 0.6
    rows = [(terms[i], "one two three".split()[j]) for i, j in np.argwhere(held)]
    reference = pd.DataFrame(rows, columns=["effect", "site"])
    patients = pd.DataFrame({"site": rng.choice(sorted(set(reference["site"])), 9)})
    own = reference.groupby("site")["effect"].agg(set)

    def score(answer):
        of = [2 * len(own[s] & {*answer}) / (len(own[s]) + len(answer)) for s in patients["site"]]
        return np.mean(of)

    world = {"reference": reference, "patients": patients, "terms": terms}
    over_patients, found = wanted(ROBUST, "over_patients", "best", **world)
    lists = (c for k in range(1, 8) for c in itertools.combinations(terms, k))
    assert (
        over_patients(found) == pytest.approx(score(found)) == pytest.approx(max(map(score, lists)))
    )
