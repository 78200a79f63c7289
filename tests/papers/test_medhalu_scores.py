"""MedHalu: scores by hand, blind detectors, what notes change, raters, printed numbers, claims."""

import numpy as np
import pandas as pd
import pytest
from medhalu_items import items_of, judged_of

from bedside import published, stats
from bedside.claims import load as claim_rows
from bedside.papers.medhalu import data, detection, figures, scores, tables
from bedside.papers.medhalu.printed import claims, matrices


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


def test_repeats_are_averaged_for_each_item_before_anything_else(run):
    items = items_of("fact", "fact", "none", "none")
    judged = pd.concat([judged_of(items, [1, 0, 1, 0]), judged_of(items, [1, 1, 0, 0], repeat=1)])
    shares = scores.averaged(judged, items)
    assert shares["yes"].tolist() == [1, 0.5, 0.5, 0]
    made = scores.scores(shares, ["evaluator"], run).set_index("metric")
    # expected counts: tp 1.5, fp 0.5, fn 0.5, tn 1.5
    assert made["value"].tolist() == [0.75] * 4
    assert (made["n"] == 4).all()
    assert (made["unscored"] == 0).all()
    assert (made["low"] <= made["value"]).all() and (made["high"] >= made["value"]).all()


def test_unread_replies_are_unscored_with_bounds(run):
    items = items_of("fact", "fact", "none", "none")
    made = scores.scores(
        scores.averaged(judged_of(items, [1, float("nan"), 0, 0]), items), ["evaluator"], run
    ).set_index("metric")
    assert made.loc["accuracy", ["value", "n", "unscored", "least", "most"]].tolist() == [
        1,
        3,
        1,
        0.75,
        1,
    ]
    none = scores.scores(
        scores.averaged(judged_of(items, [float("nan")] * 4), items), ["evaluator"], run
    ).set_index("metric")
    assert none["value"].isna().all()
    assert (none.loc["accuracy", ["n", "unscored", "least", "most"]] == [0, 4, 0, 1]).all()


def test_a_type_is_held_against_answers_without_a_hallucination(run):
    items = items_of("fact", "input", "none", "none")
    found = scores.per_type(scores.averaged(judged_of(items, [1, 0, 0, 1]), items))
    assert found.groupby("against").size().to_dict() == {
        "Input-conflict": 3,
        "Context-conflict": 2,
        "Fact-conflict": 3,
    }
    made = scores.scores(found, ["against"], run).set_index(["against", "metric"])["value"]
    assert made["Fact-conflict", "accuracy"] == pytest.approx(2 / 3)
    assert made["Input-conflict", "accuracy"] == pytest.approx(1 / 3)
    assert made["Context-conflict", "accuracy"] == 0.5
    assert np.isnan(made["Context-conflict", "macro F1"])


def test_detectors_that_do_not_read():
    rows = tables.detection.blind_rows("HealthQA", 853, 1141, "recomputed")
    made = rows.set_index(["row", "column"])["value"]
    q = 853 / 1141
    assert made["HealthQA: always yes", "accuracy"] == pytest.approx(q)
    assert made["HealthQA: always yes", "macro F1"] == pytest.approx(q / (1 + q))
    assert made["HealthQA: always no", "macro F1"] == pytest.approx((1 - q) / (2 - q))
    assert made["HealthQA: a coin of the share of hallucinations", "macro F1"] == pytest.approx(0.5)
    assert made["HealthQA: a fair coin", "macro recall"] == 0.5


def test_words_alone_are_a_detector_too(run):
    items = pd.concat(
        [
            items_of(*["fact"] * 8).assign(answer=[f"never wrong {k}" for k in range(8)]),
            items_of(*["none"] * 8).assign(answer=[f"always right {k}" for k in range(8)]),
        ],
        ignore_index=True,
    )
    items["item"] = [f"i{k}" for k in range(16)]
    assert (scores.by_words(items, run)["yes"] == items["hallucinated"]).all()
    assert scores.by_words(items[:9], run)["yes"].isna().all()


def test_a_single_repeat_has_no_spread(run):
    items = items_of("fact", "none")
    rows = tables.detection.repeat_table(judged_of(items, [1, 0]), items)
    made = rows.set_index("column")["value"]
    assert made["macro F1, least of single repeats"] == 1
    assert made["macro F1, most of single repeats"] == 1
    assert made["items answered alike in all repeats, %"] == 100


# ---- what a note changes


CLASSES = ("hallucinated", "the other")


def test_what_a_note_changes(run):
    items = items_of(*["fact"] * 12, *["none"] * 4)
    run.models = ["m"]
    silent, always = judged_of(items, [0] * 16), judged_of(items, [1] * 16)
    every = pd.concat(
        [silent] + [always.assign(evaluator="m" + n) for n in list(detection.NOTES)[1:]]
    )
    made = tables.notes.changes(run, scores.averaged(every, items)).set_index(["row", "column"])
    at = "m, a note of the same length on another item: "
    assert [
        made.at[(at + what, "Δ share"), "value"]
        for what in ("right, all answers", "yes, hallucinated answers", "yes, the other answers")
    ] == [0.5, 1, 1]
    p = {
        what: made.at[(f"{at}yes, {what} answers", "p of Δ share, Holm"), "value"]
        for what in CLASSES
    }
    assert p["hallucinated"] < 0.01 and p["the other"] > 0.05


def test_notes_on_one_class_only_have_no_place_in_the_plane(run):
    items = items_of("fact", "fact", "none")
    run.models = ["m"]
    judged = pd.concat(
        [judged_of(items, [1, 0, 0]), judged_of(items[:2], [1, 1], evaluator="m, expert's note")]
    )
    rates = {t: matrices.implied(run, t) for t in ("Table 10",)}
    plane = tables.rates.rate_rows(run, judged, items, rates)
    own = plane[plane["panel"] == tables.rates.OWN]
    noted = own["row"] == "this run, all subsets: m, expert's note"
    assert own[~noted].set_index("column")["value"].to_dict() == {
        "sensitivity, %": 50,
        "specificity, %": 100,
    }
    lacking = own[noted & (own["column"] == "specificity, %")].iloc[0]
    assert lacking["n"] == 0 and pd.isna(lacking["value"])
    assert len(figures.rates(plane).axes) == 4
    made = tables.notes.changes(run, scores.averaged(judged, items)).set_index("row")
    assert made.loc["m, the expert's note: yes, hallucinated answers", "value"].iloc[0] == 0.5
    other = made.loc["m, the expert's note: yes, the other answers"]
    assert other["n"] == 0 and pd.isna(other["value"])


# ---- raters


def test_agreement_of_raters_by_hand(run):
    items = items_of("fact", "fact", "none", "none")
    people = pd.concat(
        [
            judged_of(items, said, repeat=r).assign(group="expert", reason="")
            for r, said in (("a", [1, 1, 0, 0]), ("b", [1, 1, 0, 1]))
        ]
    )
    made = scores.agreement(people, items, run).set_index("coefficient")["value"]
    # b against the labels: 3 of 4 equal, chance 1/2: kappa 1/2; a: 1; a with b: 1/2
    assert made["kappa with the labels, mean of raters"] == 0.75
    assert made["kappa of two raters, mean of pairs"] == 0.5
    assert made["Krippendorff's alpha"] == pytest.approx(
        1 - 7 * 2 / (2 * 5 * 3)
    )  # nominal; 2 of 8 ratings in disagreement


def test_a_printed_kappa_stands_beside_what_the_accuracies_allow(run):
    items = items_of("fact", "none")
    nobody = judged_of(items, [1, 0])[:0].assign(group="", reason="")
    made = tables.benchmark.raters_table(run, nobody, items).set_index("column")
    said = made.loc["kappa with the labels, mean of raters"]
    assert (said["value"], said["n"], said["source"]) == (0.83, 30, "published")
    # HealthQA: 0.81 is at most 0.815; off by 0.185: 1 - 0.185 / (0.5 + 0.185**2 / 2)
    most = made.at["largest kappa that HealthQA's accuracy allows", "value"]
    assert most == pytest.approx(1 - 0.185 / (0.5 + 0.185**2 / 2))


# ---- printed numbers


def test_the_printed_tables_are_complete():
    frame = published.load("medhalu")
    assert frame["table"].value_counts()[
        ["Table 3", "Table 4", "Table 6", "Table 7", "Table 8", "Table 10"]
    ].tolist() == [9, 20, 60, 12, 54, 36]
    precision = ("Table 10", "GPT-4", "HealthQA ma-P")
    f1 = ("Table 8", "GPT-3.5, Fact-conflict", "MedicationQA ma-F1")
    assert published.value("medhalu", *precision) == 0.90
    assert published.value("medhalu", *f1) == 0.63


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


def test_what_the_papers_tables_allow(run):
    rates = matrices.implied(run, "Table 6").set_index(["row", "dataset"])
    assert (rates["fits"] > 0).sum() == 9 and rates.at[("Experts", "HealthQA"), "anyhow"] > 0.005
    gpt4 = rates.loc["GPT-4", "HealthQA"]
    # by hand: accuracy 0.57 = 0.7476 s + 0.2524 t and s + t = 1.34 give s = 0.468, t = 0.872
    assert gpt4["sensitivity"] == pytest.approx(0.468, abs=0.01)
    assert gpt4["specificity"] == pytest.approx(0.872, abs=0.01)
    found = matrices.averages(run, "Table 6", "GPT-4")
    assert found["mean of the subsets"] == pytest.approx(1.64 / 3)
    assert found["weighted by pairs"] == pytest.approx(
        (1141 * 0.57 + 246 * 0.52 + 690 * 0.55) / 2077
    )
    assert 0.555 < found["over all answers"] < 0.5575
    assert "over all answers" not in matrices.averages(run, "Table 6", "Experts")
    agree = matrices.types_agree(run).set_index(["row", "dataset"])["agrees"]
    assert agree.sum() == 7 and not agree["GPT-3.5", "LiveQA"]


def test_claims_are_computed_once_each_or_say_what_they_need(run):
    six, ten = matrices.implied(run, "Table 6"), matrices.implied(run, "Table 10")
    lengths = tables.benchmark.length_table(run, data.printed_sets(run))
    parts = [claims.counts(run), claims.raters(run), claims.questions(run, lengths)]
    parts += [claims.averages(run), claims.texts(run), claims.models(run, six)]
    parts += [claims.people(run), claims.behind(run, six), claims.types(run), claims.spans(run)]
    parts += [claims.gains(run), claims.with_reason(run, ten)]
    parts += [claims.found_and_let_pass(six, ten)]
    ids, known = [id for part in parts for id in part], claim_rows("medhalu")
    assert len(ids) == len(set(ids))
    assert set(known) - set(ids) == {"mh-spans-length", "mh-significant", "mh-leak"}
    readings = {id: each for part in parts for id, each in part.items()}
    assert all(known[id].needs for id, each in readings.items() if not each)
    holds = {id: each["reading"][3] for id, each in readings.items() if each}
    assert set(map(type, holds.values())) == {bool}
    # by hand: 30 experts against six; 36 dollars for 2 hours; 2077 pairs, of which 500 are 24.1%
    assert not holds["mh-six"] and holds["mh-pay"] and holds["mh-share"]
    assert readings["mh-share"]["reading"][0] == "24.1%"
    # Table 4's type totals 538, 535, 497, 507 against 519.25: 1244.75 / 519.25 = 2.40, 3 degrees
    assert readings["mh-balanced"]["reading"][0].startswith("chi-squared p = 0.49")
    # GPT-4's gains of 7, 5 and 7 points: 6.33 on average
    assert readings["mh-gain-average"]["reading"][0].startswith("6.3 points")
