"""MedHalu: scores by hand, blind detectors, what notes change, raters, printed numbers."""

import numpy as np
import pandas as pd
import pytest
from medhalu_items import items_of, judged_of

import medhalu_cells
from bedside import stats
from bedside.papers.medhalu import detection, figures, scores, tables
from bedside.papers.medhalu.implied import matrices, rates
from bedside.read import published
from bedside.write import plots


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


def test_repeats_are_averaged_for_each_item_before_anything_else(run):
    items = items_of(*["fact", "fact", "none", "none"] * 6)
    said = [1, 0, 1, 0] * 6, [1, 1, 0, 0] * 6
    judged = pd.concat([judged_of(items, said[k], repeat=k) for k in (0, 1)])
    shares = medhalu_cells.shares(run, judged, items)
    assert shares.equals(scores.averaged(judged, items))  # captions and the seminar use it
    assert shares["yes"].tolist() == [1, 0.5, 0.5, 0] * 6
    made = scores.scores(shares, ["evaluator"], run).set_index("metric")
    # expected counts of each four: tp 1.5, fp 0.5, fn 0.5, tn 1.5
    assert made["value"].tolist() == [0.75] * 4
    assert (made["n"] == 24).all()
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
    rows = medhalu_cells.eight(run, judged_of(items, [1, 0, 0, 1]), items).query("source == 'run'")
    accuracy, f1 = (
        part.set_index(part["row"].str.removeprefix("HealthQA: m, "))
        for part in (rows[rows["column"] == name] for name in ("accuracy", "macro F1"))
    )
    assert accuracy["n"].to_dict() == {
        "Input-conflict": 3,
        "Context-conflict": 2,
        "Fact-conflict": 3,
    }
    assert accuracy.at["Fact-conflict", "value"] == pytest.approx(2 / 3)
    assert accuracy.at["Input-conflict", "value"] == pytest.approx(1 / 3)
    assert accuracy.at["Context-conflict", "value"] == 0.5
    assert np.isnan(f1.at["Context-conflict", "value"])


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
    made = medhalu_cells.changes(run, every, items).set_index(["row", "column"])
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
    plane = medhalu_cells.plane(run, judged, items)
    own = plane[plane["panel"] == tables.rates.OWN]
    noted = own["row"] == "this run, all subsets: m, expert's note"
    assert own[~noted].set_index("column")["value"].to_dict() == {
        "sensitivity, %": 50,
        "specificity, %": 100,
    }
    lacking = own[noted & (own["column"] == "specificity, %")].iloc[0]
    assert lacking["n"] == 0 and pd.isna(lacking["value"])
    ax = figures.rates(plane).axes[-1]
    assert ax.get_title(loc="left") == tables.rates.OWN
    shown = [(t.get_text(), t.xy[0]) for t in ax.texts if t.get_text().isdigit()]
    assert sorted(shown) == [("0", 0), ("100", 100), ("50", 50)]  # nothing where there are none
    made = medhalu_cells.changes(run, judged, items).set_index("row")
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
    most = made.at["largest kappa of pooled verdicts at HealthQA's accuracy", "value"]
    assert most == pytest.approx(1 - 0.185 / (0.5 + 0.185**2 / 2))
    # no kappa is above its rater's accuracy: (1141 * 0.81 + 246 * 0.59 + 690 * 0.73) / 2077 + 0.005
    mean = made.at["largest mean of raters' kappas: their accuracy", "value"]
    assert mean == pytest.approx(0.7574 + 0.005, abs=1e-4)


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
    found = matrices.implied(run, "Table 6").set_index(["row", "dataset"])
    assert (found["fits"] > 0).sum() == 9 and found.at[("Experts", "HealthQA"), "anyhow"] > 0.005
    agree = matrices.types_agree(run).set_index(["row", "dataset"])
    assert agree["alone"].all() and sorted(agree["moved"]) == [0] * 6 + [1, 2, 10]
    assert agree.at[("GPT-3.5", "LiveQA"), "moved"] == 1
    # by hand: LLaMA-2's accuracy of 0.56 on 246 answers has 138 right at most (138.99); Table 8 has
    # 29 of 71 answers without a hallucination and 40, 43, 36 of its types right, 148, or more
    assert agree.at[("LLaMA-2", "LiveQA"), "moved"] == 148 - 138


def test_accuracy_and_macro_recall_give_both_rates():
    # 40 of 60 found, 30 of 40 let pass: accuracy 0.7, macro recall (2/3 + 3/4) / 2
    accuracy, _, recall, _ = stats.macro([40, 10, 20, 30])
    assert scores.rates(accuracy, recall, 0.6) == pytest.approx((2 / 3, 0.75))
    # of a mean of matrices over the same answers it is the mean of the rates, F1 is not
    three = stats.macro([[40, 10, 20, 30], [60, 40, 0, 0], [20, 0, 40, 40]]).mean(axis=0)
    assert scores.rates(three[0], three[2], 0.6) == pytest.approx((2 / 3, 1.75 / 3))


def test_each_printed_row_has_rates_with_their_rounding(run):
    behind = pd.concat([rates.behind(run, t).assign(table=t) for t in ("Table 6", "Table 10")])
    assert len(behind) == 24 and not behind.isna().any(axis=None)
    for rate in ("sensitivity", "specificity"):
        assert (behind[f"{rate} least"] <= behind[rate]).all()
        assert (behind[f"{rate} most"] >= behind[rate]).all()
    at = behind.set_index(["table", "row", "dataset"])
    gpt4 = at.loc["Table 6", "GPT-4", "HealthQA"]
    # by hand: accuracy 0.57 = 0.7476 s + 0.2524 t and s + t = 1.34 give s = 0.468, t = 0.872
    assert gpt4["sensitivity"] == pytest.approx(0.468, abs=0.001)
    assert gpt4["specificity"] == pytest.approx(0.872, abs=0.001)
    # at the ends: accuracy -+0.005 and macro recall +-0.005 move t by 0.0252 at most
    assert gpt4["specificity most"] - gpt4["specificity"] == pytest.approx(0.0252, abs=0.0002)
    for who, passed in (("GPT-3.5", 0.186), ("GPT-4", 0.266)):
        row = at.loc["Table 10", who, "HealthQA"]
        assert row["specificity"] == pytest.approx(passed, abs=0.001)
        assert row["specificity most"] < 0.3
    # where one matrix explains a row, its rates are among those
    both = matrices.implied(run, "Table 6").merge(
        rates.behind(run, "Table 6"), on=["row", "dataset"], suffixes=("", " too")
    )
    both = both[both["fits"] > 0]
    for rate in ("sensitivity", "specificity"):
        inside = both[rate].between(both[f"{rate} least too"], both[f"{rate} most too"])
        assert inside.all() and len(both) == 9


def test_a_mean_of_three_matrices_is_found_where_there_is_one():
    three = stats.macro([[18, 2, 2, 8], [10, 5, 10, 5], [19, 9, 1, 1]]).mean(axis=0)
    names = dict(zip(scores.METRICS, three.round(2)))
    assert matrices.mean_of_three(20, 10, names)
    assert not matrices.mean_of_three(20, 10, names | {"ma-F1": 0.99})


def test_replies_left_out_are_counted():
    told = dict(zip(scores.METRICS, stats.macro([100, 30, 70, 40]).round(2)))
    assert matrices.with_some_left_out(170, 70, told) == 0
    assert matrices.with_some_left_out(171, 71, told) in (0, 1, 2)
    assert matrices.with_some_left_out(171, 71, told | {"Acc": 0.99}) is None


def test_rates_in_the_figures_are_recomputed_not_published(run):
    items = items_of("fact", "none")
    plane = medhalu_cells.both_planes(run, judged_of(items, [1, 0]), items)
    inferred = plane[plane["shape"].isin(["Table 6", "Table 10"])]
    assert set(inferred["source"]) == {"recomputed"}
    lines = [line for ax in figures.notes(plane).axes for line in ax.lines]
    marks = {line.get_markerfacecolor() for line in lines if line.get_marker() in ("o", "s")}
    assert marks == {plots.BLUE, plots.RED}  # filled: the two kinds of answer
    assert len(inferred) == 2 * 18 and not inferred["label"].isin(["Experts", "Laypeople"]).any()


def test_table_3_and_the_numbers_of_the_text_are_complete(run):
    three = tables.benchmark.experts_table(run)
    groups = three["value"].groupby(three["row"].str.split(":").str[0]).sum()
    assert groups.to_dict() == {"Education": 30, "Gender": 30, "Race": 30}
    # beside tables, what stands in data/published are codes of what definitions name
    places = set(published.load("medhalu")["table"])
    codes = {"text 2.1", "askers of 2.2", "appendix A", "appendix A.2"}
    assert {p for p in places if "Table" not in p} - codes == set(tables.benchmark.TEXTS)
    text = tables.benchmark.text_table(run).set_index(["row", "column"])["value"]
    assert text["text 2.3: sampled share", "percent (about)"] == 25
    assert text["text 3.2: LLaMA-2", "parameters in billions"] == 7


# ---- what repeats


def test_answers_to_one_question_are_drawn_together(run):
    items = items_of(*["fact", "none"] * 12)
    made = {}
    for name, asked in {"own": items, "one": items.assign(question="Why?")}.items():
        shares = scores.averaged(judged_of(asked, [1, 1, 0, 0] * 6), asked)
        made[name] = scores.scores(shares, ["evaluator"], run).set_index("metric")
    assert made["own"]["value"].equals(made["one"]["value"])
    assert made["own"]["low"].notna().all() and made["one"]["low"].isna().all()  # one unit


def test_repeats_that_agree_tell_no_more_than_one(run):
    """Verdicts given three times: n counts them all, the interval is no narrower than of one."""
    items = items_of(*["fact", "none"] * 6)
    said = [1, 1, 1, 0] * 3
    once = judged_of(items, said)
    thrice = pd.concat([judged_of(items, said, repeat=k) for k in range(3)])
    one, three = (
        tables.detection.reply_table(rows, items).set_index("column").loc["yes, %"]
        for rows in (once, thrice)
    )
    assert (one["n"], three["n"]) == (12, 36) and one["value"] == three["value"] == 75
    assert three["low"] <= one["low"] and three["high"] >= one["high"]
