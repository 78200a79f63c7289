"""Radiation: scores by hand."""

import asyncio
import json

import numpy as np
import pandas as pd
import pytest

import radiation_lists
from bedside import stats
from bedside.papers.radiation import data, matching, scores, tables
from bedside.write import tables as shared
from conftest import completion
from radiation_cells import recall_by, strata
from radiation_lists import REFERENCE, TERMS, lists_of, matched

run = radiation_lists.run  # a fixture


# ---- scores


def scored(*terms, **more):
    """Lists of these terms, matched by equal words and scored."""
    return scores.scored(matched(lists_of(*terms, **more)), REFERENCE, TERMS)


def test_precision_recall_and_f1_by_hand():
    graded = scored(["fatigue", "cystitis", "mastitis", "nausea"], ["rib fracture"], None)
    # mastitis isn't the chest wall's
    assert graded["precision"].tolist()[:2] == [0.5, 1]
    assert graded["recall"].tolist()[:2] == [2 / 3, 1 / 3]
    assert graded["f1"].tolist()[:2] == pytest.approx([4 / 7, 0.5])
    assert graded["found"].iloc[0] == {"fatigue", "nausea"}
    assert graded["precision"].isna().tolist() == [False, False, True]
    assert graded["size"].tolist() == [3, 3, 3]


def test_estimates_have_bounds_and_count_patients(run):
    def estimates(frame, *metrics):
        return shared.estimated_means(frame, list(metrics), ["model"], run)

    graded = scored(["fatigue"], ["cystitis"], None, None)
    found = estimates(graded, "precision").iloc[0]
    assert found[["value", "n", "unscored", "least", "most"]].tolist() == [0.5, 2, 2, 0.25, 0.75]
    f1 = estimates(graded, "f1").iloc[0]
    assert f1["value"] == pytest.approx(0.25) and np.isnan(f1["low"]) and np.isnan(f1["high"])
    ten = estimates(scored(*[["fatigue"], ["cystitis"]] * 5), "f1").iloc[0]
    assert ten["n"] == 10 and 0 < ten["low"] < 0.25 < ten["high"] < 0.5
    none = estimates(scored(None, None), "f1").iloc[0]
    assert np.isnan(none["value"]) and none["n"] == 0 and (none["least"], none["most"]) == (0, 1)
    means = shared.estimated_means(graded, scores.METRICS, ["model", "profile"], run)
    table = tables.score_table(run, means, "Table 1").set_index(["row", "column"])["value"]
    # and 0.25 is the mean of F1s
    assert table["m", "F1 of the means"] == pytest.approx(2 * 0.5 / 6 / (0.5 + 1 / 6))


def test_several_to_one_is_shown_beside():
    def rates(*rows):
        one = lists_of(["a", "b"]).assign(match="graded", pairs=[np.array(rows, dtype=float)])
        return scores.scored(one, REFERENCE, TERMS).iloc[0]

    graded = rates([1, 1, 0, 0], [1, 0, 0, 0])
    assert (graded["precision"], graded["recall"]) == (1, 2 / 3)
    assert (graded["loose_precision"], graded["loose_recall"]) == (1, 2 / 3)
    graded = rates([1, 0, 0, 0], [1, 0, 0, 0])
    assert (graded["precision"], graded["loose_precision"]) == (0.5, 1)


def test_differences_are_paired_by_patient(run):
    first = matched(lists_of(["fatigue"], ["cystitis"], ["nausea"]))
    second = lists_of(["fatigue", "x"], ["fatigue"], None, regime="free-form, 20-30")
    second = matched(second.iloc[::-1])  # another order
    graded = scores.scored(pd.concat([first, second], ignore_index=True), REFERENCE, TERMS)
    halves = [graded[graded["regime"] == r] for r in ("free-form", "free-form, 20-30")]
    changes = shared.differences(*halves, ["item", "model"], scores.METRICS)
    found, p = shared.tested(changes, scores.METRICS, ["model"], run)
    precision = found.set_index("metric").loc["precision"]
    assert precision["value"] == pytest.approx((-0.5 + 1) / 2)
    assert (precision["n"], precision["unscored"]) == (2, 1)
    assert (precision["least"], precision["most"]) == pytest.approx((-0.5 / 3, 1.5 / 3))
    assert p["p"].tolist() == [1, 1, 1]


def test_models_are_compared_over_the_same_patients(run):
    right, wrong = ["fatigue", "nausea", "rib fracture"], ["cystitis"]
    parts = [
        scored(*[said] * 8, model=model, regime=regime)
        for model, said in (("good", right), ("bad", wrong))
        for regime in ("free-form", "selection")
    ]
    graded = pd.concat(parts, ignore_index=True)
    run.models = ["good", "bad"]
    made = tables.model_table(run, graded).set_index("column")
    assert made.loc["Δ F1", "value"] == 1 and made.loc["Δ F1", "n"] == 8
    assert set(made["row"]) == {"good minus bad"}
    # eight patients, not sixteen lists
    assert made.loc["p of Δ F1, Holm", "value"] == pytest.approx(3 * 2 / 2**8)
    run.models = ["good"]
    assert tables.model_table(run, graded).empty


def test_overlap_by_text_and_by_meaning():
    base = matched(lists_of(["Fatigue", "nausea", "x"], ["fatigue"], profile="base"))
    then = matched(lists_of(["fatigue!", "rib fracture"], None))
    then.at[0, "pairs"] = np.array([[1, 0, 0, 0], [0, 0, 1, 0.0]])
    # x means rib fracture
    base.at[0, "pairs"] = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.0]])
    found = scores.overlaps(pd.concat([base, then], ignore_index=True), TERMS)
    assert found["overlap"].tolist()[0] == 1 / 4
    assert found["by_meaning"].tolist()[0] == 2 / 3
    assert found["overlap"].isna().tolist() == [False, True]


def test_overlap_by_a_model_that_compares_both_lists(run, endpoint, served):
    """Of three and two items two match one to one: 2 of 3. A third match has no item left."""
    same = [{"predicted": p, "reference": r} for p, r in [(1, 1), (2, 2), (3, 2)]]

    def answer(n, body):
        said = body["messages"][-1]["content"]
        return completion("I won't." if "cough" in said else json.dumps({"matches": same}))

    endpoint.script = answer
    base = lists_of(["Fatigue", "nausea", "sick"], ["cough"], ["rash"], profile="base")
    both = pd.concat([base, lists_of(["tiredness", "Sickness"], ["coughing"], None)])
    found = asyncio.run(matching.compared(run, both, served))
    assert found["match"].tolist() == ["graded", "refused", "no list"]
    assert found["by_model"].tolist()[0] == 2 / 3 and found["by_model"].isna().sum() == 2
    assert len(endpoint.bodies) == 2
    by_words = scores.overlaps(matched(both.reset_index(drop=True)), TERMS)
    mine = tables.overlap_table(run, by_words, found)
    mine = mine.set_index(["row", "column"]).loc[("m", "Overlap (FF), by a model")]
    assert (mine["value"], mine["n"], mine["unscored"]) == (pytest.approx(2 / 3), 1, 2)


def test_recall_by_onset_and_frequency_both_ways():
    cells = strata(scored(["fatigue", "rib fracture"], None), REFERENCE)
    # the chest wall has three of the eight cells
    assert cells.groupby("item").size().tolist() == [3, 3]
    onset = recall_by(cells, "onset").set_index(["item", "onset"])
    assert onset.loc[("p1", "short-term"), ["recall", "pooled"]].tolist() == [0.5, 0.5]
    assert onset.loc[("p1", "long-term"), "recall"] == 1
    assert onset.loc["p2", ["recall", "pooled"]].isna().all(axis=None)
    rare = recall_by(cells, "frequency").set_index(["item", "frequency"]).loc[("p1", "rare")]
    assert rare["recall"] == 0.5  # short-term rare 0, long-term rare 1
    cough = {"effect": "cough", "site": "chest wall", "onset": "short-term", "frequency": "common"}
    more = pd.concat([REFERENCE, pd.DataFrame([cough])])
    cells = strata(scores.scored(matched(lists_of(["fatigue"])), more, TERMS), more)
    short = recall_by(cells, "onset").iloc[0]
    # levels 1/2 and 0; one effect of three
    assert (short["recall"], short["pooled"]) == (0.25, pytest.approx(1 / 3))


def test_specificity_counts_right_and_wrong_changes(run):
    def table(*parts):
        graded = pd.concat(parts, ignore_index=True)
        return tables.specificity_table(graded, REFERENCE, TERMS)

    base = matched(lists_of(["fatigue", "mastitis"], profile="base"))
    found = table(base, matched(lists_of(["nausea"]))).set_index("column")
    got = {
        name.split(",")[0] + " " + name.split("should ")[1][:4]: (r["value"], r["n"])
        for name, r in found.iterrows()
    }
    # chest wall: fatigue, nausea, rib fracture; on the base list fatigue to keep, mastitis to lose
    assert got["gained gain"] == (50, 2)
    assert got["lost lose"] == (100, 1)
    assert got["lost keep"] == (100, 1)
    assert np.isnan(got["gained not,"][0]) and got["gained not,"][1] == 0
    lost = table(base, matched(lists_of(None)))
    assert (lost["unscored"] == 1).all() and (lost["n"] == 0).all()


def test_prefixes_keep_the_scores_of_a_short_list():
    found = scores.prefixes(matched(lists_of(["cystitis", "fatigue"])), REFERENCE, TERMS, most=3)
    assert found["precision"].tolist() == [0, 0.5, 0.5]
    assert found["recall"].tolist() == [0, 1 / 3, 1 / 3]


def test_shares_of_lists_are_over_patients(run):
    """Of ten patients five have two cut lists, five none: 50%, as wide as for ten, not twenty."""
    halves = [lists_of(*[["fatigue"]] * 10, profile=profile) for profile in data.PROFILES]
    lists = scores.scored(matched(pd.concat(halves, ignore_index=True)), REFERENCE, TERMS)
    lists["truncated"] = lists["item"].isin([f"p{i}" for i in range(1, 6)])
    made = tables.health_table(run, lists.assign(reply_status=""), ["free-form"])
    cut, none = made.set_index("column").loc[["cut off at the limit, %", "no list, %"]].itertuples()
    assert (cut.value, cut.n) == (50, 10) and cut.low < stats.wilson(5, 10).low * 100
    assert none.value == 0 < none.high  # not [0, 0]


def test_what_lists_are_like(run):
    many = [f"effect {i}" for i in range(25)]
    mine = lists_of(["Fatigue", "Radiation cystitis", "Blood in the urine"], None, many)
    found = scores.health(mine, run)
    assert found["items"].tolist()[::2] == [3, 25] and np.isnan(found["items"].iloc[1])
    assert found["none"].tolist() == [False, True, False]
    assert found["elsewhere"].iloc[0] == pytest.approx(2 / 3)
    assert found["sized"].tolist()[::2] == [0, 1]
    assert found["off"].iloc[0] == pytest.approx(2 / 3)


def test_nothing_of_the_breast_is_taken_for_another_part(run):
    words = [w for ws in run.load("radiation_elsewhere")["words"] for w in ws]
    synonyms = [s for ss in run.load("radiation_synonyms")["synonyms"] for s in ss]
    known = [*data.vocabulary(run), *synonyms]
    assert scores.health(lists_of(known), run)["elsewhere"].iloc[0] == 0
    assert scores.health(lists_of(words), run)["elsewhere"].iloc[0] == 1


# ---- replies without text, and cut ones


def test_scores_of_the_uncut_lists_by_hand(run):
    """Three lists, the first cut: the others name 1 of 3 and nothing right."""
    graded = scored(["fatigue", "nausea"], ["fatigue"], ["cystitis"])
    graded = graded.assign(truncated=[True, False, False], reply_status="")
    assert tables.cut(graded) == (
        "Warning: a cut reply is not a wrong one. Replies cut at their limit:"
        " m, free-form 1 of 3 (of the uncut: Precision 0.50, Recall 0.17, F1 0.25)."
    )
    both = tables.cut_by_matcher({"one": graded, "two": graded.assign(truncated=False)})
    assert "m, matcher one 1 of 3 (" in both and "two" not in both
    health = tables.health_table(run, graded, ["free-form"]).set_index("column")
    assert health.loc["Recall of the uncut", "value"] == pytest.approx(1 / 6)
    assert health.loc["Recall of the uncut", "n"] == 2
    found = recall_by(strata(graded, REFERENCE), "onset")
    # short-term: common 1 and rare 0 in the second list; long-term: nothing
    assert tables.cut_by_level(graded, found, "onset").endswith(
        "m 1 of 3 (of the uncut: short-term 0.25, long-term 0.00)."
    )


def test_overlaps_of_the_uncut_pairs_by_hand():
    """Of two pairs one has a cut list; the other shares one of two items."""
    base = matched(lists_of(["fatigue"], ["fatigue", "nausea"], profile="base"))
    then = matched(lists_of(["fatigue"], ["fatigue"])).assign(truncated=[True, False])
    both = pd.concat([base, then], ignore_index=True)
    note = tables.cut_pairs(both, scores.overlaps(both, TERMS))
    assert note.endswith(
        "m, free-form 1 of 2 (of the uncut: overlap 0.50, overlap by meaning 0.50)."
        " The counts are of pairs of lists."
    )
