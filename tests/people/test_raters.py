"""Raters: labels together, agreement against oracles, what is open, judges against labels."""

import itertools

import numpy as np
import pandas as pd
import pytest
import raters_labels
from raters_labels import KNOWN, cells, frame_of, given, row, write
from sklearn.metrics import cohen_kappa_score

from bedside import annotation, stats
from bedside.annotation import raters, tasks
from bedside.publish.judged_items import other_verdict, text

rng = raters_labels.rng  # a fixture


# ---- labels


def test_the_last_label_counts_and_what_cant_count_is_left_out_and_named(tmp_path):
    rows = [row(item) for item in "abc"]
    for value, check in (("-1", False), ("1", False), ("0", True)):
        write(tmp_path, "Ann", rows[0], value, check=check)
    write(tmp_path, "Bob", rows[1], "1")
    write(tmp_path, "Bob", rows[2], "YES!")  # no value of the task
    write(tmp_path, "Cem", rows[2], "", refused="bored")
    write(tmp_path, "Cem", row("gone"), "1")
    write(tmp_path, "Cem", row("b", reply="before it changed"), "1")
    with open(tmp_path / "presupposition/Cem.jsonl", "ab") as f:
        f.write(b'{"id": "a", "value": "no"\n\xff\xfe\n')
    copied = (tmp_path / "presupposition/Ann.jsonl").read_bytes()
    (tmp_path / "presupposition/Ann copy.jsonl").write_bytes(copied)  # no second rater
    found = raters.labels("presupposition", rows, tmp_path)
    said = found[["id", "rater", "value", "repetition"]].values.tolist()
    assert said == [["a", "Ann", "1", False], ["a", "Ann", "0", True], ["b", "Bob", "1", False]]
    damaged = {k.rpartition("/")[2] for k in found.attrs["damaged"]}
    assert {"Cem.jsonl, line 4", "Cem.jsonl, line 5"} <= damaged
    assert found.attrs["left_out"] == 4 and found.attrs["failed"] == []
    none = raters.labels("nfp", rows, tmp_path)
    assert none.empty and list(none) == raters.LABEL and none["repetition"].dtype == bool


def test_what_several_choices_hold_is_a_yes_or_no_for_each(tmp_path):
    rows = [row(item, "adherence") for item in "abc"]
    write(tmp_path, "Ann", rows[0], "attitude; logic", "adherence")
    write(tmp_path, "Ann", rows[1], "", "adherence")
    write(tmp_path, "Ann", rows[2], "", "adherence", refused="undecided", reason="too short")
    found = raters.labels("adherence", rows, tmp_path)
    choices = list(tasks()["adherence"].values)
    assert len(choices) == 5 and found["part"].tolist() == choices * 3
    assert {*found["part"][:5][found["value"][:5] == "yes"]} == {"attitude", "logic"}
    assert set(found["value"][5:10]) == {"no"}
    assert found["value"][10:].isna().all()  # a refusal is of all of them
    assert raters.values("presupposition") == ["-1", "0", "1"]


# ---- agreement


@pytest.mark.parametrize("task", ["hallucination", "presupposition"])
def test_agreement_is_that_of_scikit_learn_and_of_the_statistics_on_a_random_world(task, rng):
    """With gaps, refusals, repetitions, several models' replies to a question, an adjudicator."""
    values, ordered = raters.values(task), tasks()[task].ordered
    places = np.full((3, 60), np.nan)
    labels = [("Ann", "0", values[0], True), ("Bob", "1", values[1], True)]
    for (r, rater), i in itertools.product(enumerate(("Ann", "Bob", "Cem")), range(60)):
        if rng.random() < 0.8:
            places[r, i] = (i + (rng.random() < 0.3)) % len(values)
            labels.append((rater, str(i), values[int(places[r, i])], False))
        elif rng.random() < 0.5:
            labels.append((rater, str(i), "undecided", False))
    labels += [(raters.ADJUDICATED, str(i), values[0], False) for i in range(60)]
    units = np.arange(60) // 2
    labels = frame_of(labels).assign(unit=lambda f: "q" + (f["id"].astype(int) // 2).astype(str))
    found = cells(raters.agreement(labels.sample(frac=1, random_state=1), task))
    for (a, x), (b, y) in itertools.combinations(zip(("Ann", "Bob", "Cem"), places), 2):
        both = ~np.isnan(x) & ~np.isnan(y)
        how, of = {"weights": "quadratic" if ordered else None}, (x[both], y[both])
        assert found[f"{a} and {b}", "kappa"][0] == pytest.approx(cohen_kappa_score(*of, **how))
        kappa = stats.kappa(*of, range(len(values)), units=units[both], **how)
        assert found[f"{a} and {b}", "kappa"] == pytest.approx(tuple(kappa))
        share = stats.share(of[0] == of[1], units[both])
        expected = [100 * v for v in share[:3]]
        assert found[f"{a} and {b}", "equal, %"][:3] == pytest.approx(expected)
    level = "ordinal" if ordered else "nominal"
    alpha = stats.krippendorff_alpha(places, level=level, units=units)
    assert found["all 3 raters", raters.reliability.ALPHA] == pytest.approx(tuple(alpha))
    assert len(found) == 7  # the adjudicator is no rater


def test_without_two_labels_of_an_item_or_of_one_kind_there_is_no_agreement(rng):
    for who in ("", "Ann-a", "Ann-a Bob-b", f"{raters.ADJUDICATED}-a"):
        labels = frame_of([(*one.split("-"), "yes", False) for one in who.split()])
        found = cells(raters.agreement(labels, "hallucination"))
        assert all(np.isnan(value) and n == 0 for value, _, _, n in found.values())
    alike = itertools.product(("Ann", "Bob"), "abc", ("yes",), (False,))
    found = cells(raters.agreement(frame_of(alike), "hallucination"))
    assert found["Ann and Bob", "equal, %"][::3] == (100, 3)
    assert np.isnan(found["Ann and Bob", "kappa"][1:3]).all()
    assert np.isnan(found["all 2 raters", "Krippendorff's alpha"][0])


def test_intervals_draw_items_not_their_parts():
    six = {"Ann": ["yes"] * 3 + ["no"] * 3, "Bob": ["yes"] * 2 + ["no"] * 3 + ["yes"]}
    labels = [(r, str(n), said, False) for r in six for n, said in enumerate(4 * six[r])]

    def kappa(labels, task):
        return cells(raters.agreement(labels, task))["Ann and Bob", "kappa"]

    # every part as the item
    parts = pd.concat([frame_of(labels, part) for part in tasks()["adherence"].values])
    one, five = kappa(frame_of(labels), "hallucination"), kappa(parts, "adherence")
    assert five[:3] == pytest.approx(one[:3]) and one[0] == pytest.approx(1 / 3)
    assert (one[3], five[3]) == (24, 120) and one[1] < one[0] < one[2]


# ---- refusals and consensus


@pytest.mark.parametrize("name", ["refusals", "consensus", "three_ways", "two_of_four"])
def test_what_is_settled_and_what_is_open_follows_from_who_said_what(name):
    known = KNOWN[name]
    labels = given(known["labels"])
    settled = raters.consensus(labels).sort_values("id")
    assert settled["by"].tolist() == known["by"].split()
    assert settled["raters"].tolist() == [*map(int, known["raters"].split())]
    if "value" in known:
        assert settled["value"].fillna("-").tolist() == known["value"].split()
    rows = [row(item, "diagnosis") for item in "abcdef"]
    assert [r["id"] for r in raters.differing(labels, rows, "diagnosis")] == known["open"].split()
    assert raters.consensus(labels[:0]).empty
    assert raters.differing(labels[:0], rows, "diagnosis") == []


def test_refusals_are_counted_and_are_no_labels():
    labels = given(KNOWN["refusals"]["labels"])
    found = cells(raters.attention(labels))
    for rater, kind, value in KNOWN["refusals"]["attention"]:
        assert found[rater, kind][0] == value, (rater, kind)
    assert found["Ann", "seconds an item, median"][::3] == (3, 6)
    alike = cells(raters.agreement(labels, "hallucination"))
    assert alike["Ann and Bob", "equal, %"][::3] == (50, 4)
    assert alike["all 2 raters", "Krippendorff's alpha"][3] == 4
    settled = raters.consensus(labels).set_index("id")["value"]
    assert settled["e"] == "no" and pd.isna(settled["f"])
    judged = raters.judged([judged_row(item, True) for item in "abcdef"], "hallucination")
    assert raters.against(judged, raters.consensus(labels), "hallucination")["j"]["n"] == 3


def test_a_refusal_at_its_row_is_nothing_to_differ_from(tmp_path):
    one = row("a", shared=["question"], human=[], more=[])
    content = {"rows": [one], "shared": {"question": [text("Question", "why?")]}}
    (seen,) = annotation.rows(content)
    write(tmp_path, "Ann", seen, "", refused="faulty", reason="two patients")
    write(tmp_path, "Bob", seen, "1", reason="another", source="a book")
    raters.with_labels(content, tmp_path)
    said = [(h["by"], h["value"], h["reason"]) for h in one["human"]]
    assert said == [("Bob", "1 corrected", "another\nsource: a book")]
    (refusal,) = one["more"]
    assert (refusal["judge"], refusal["task"]) == ("Ann", "presupposition, label")
    assert (refusal["value"], refusal["reason"]) == ("item faulty", "two patients")


# ---- judges against raters


def judged_row(item, said, **other):
    """A row of MedHalu with a verdict of the judge j: yes, no or none."""
    words = tasks()["hallucination"].words
    value, status = words.get({True: "yes", False: "no"}.get(said), ""), "graded"
    verdict = {"judge": "j", "status": status if value else "refused", "value": value}
    return row(item, "hallucination", verdicts=[verdict], **other)


@pytest.mark.parametrize("alike", [1, 2])  # answers to a question, which are one unit
def test_rates_are_corrected_by_what_the_labels_of_all_models_show(rng, alike):
    """Of two models, a with labels of some answers, b of all; some verdicts are unscored."""
    n, ids = 120, np.arange(120)
    model, unit = np.where(ids < 90, "a", "b"), ids // alike
    true = rng.random(n) < 0.5
    said = np.where(rng.random(n) < 0.85, true, ~true)
    labelled, scored = (ids >= 90) | (ids % 3 == 0), ids % 20 != 7
    rows = [
        judged_row(str(i), said[i].item() if scored[i] else None, model=model[i], unit=str(unit[i]))
        for i in ids
    ]
    labels = [("Ann", str(i), "yes" if true[i] else "no", False) for i in ids[labelled]]
    settled, judged = raters.consensus(frame_of(labels)), raters.judged(rows, "hallucination")
    assert judged["status"].value_counts().to_dict() == {"graded": 114, "refused": 6}
    assert judged["value"].isna().sum() == 6
    shuffled = [f.sample(frac=1, random_state=3) for f in (judged, settled)]
    found = cells(raters.corrected(*shuffled, "hallucination", np.random.default_rng(1)))
    known = labelled & scored
    skill = stats.sens_spec(true[known], said[known], unit[known])
    for name in "ab":
        here, of = scored & (model == name), f"{name}, {rows[0]['section']}: j"
        lab, rest = here & labelled, here & ~labelled
        share, truth = stats.share(said[here], unit[here]), stats.share(true[lab], unit[lab])
        units = unit[lab], unit[rest]
        powered = stats.prediction_powered(true[lab], said[lab], said[rest], units)
        for column, rate in (("judge says", share), ("raters", truth)):
            assert found[of, column] == pytest.approx((*(100 * x for x in rate[:3]), rate.n))
        expected = (*(100 * x for x in powered[:3]), powered.n)
        assert found[of, "prediction-powered"] == pytest.approx(expected, nan_ok=True)
        fixed = (share.value + skill[1].value - 1) / (skill[0].value + skill[1].value - 1)
        assert found[of, "Rogan-Gladen"][0] == pytest.approx(100 * np.clip(fixed, 0, 1))
        assert found[of, "Rogan-Gladen"][1] < 100 * fixed < found[of, "Rogan-Gladen"][2]
    card = raters.against(*shuffled, "hallucination")["j"]
    assert (card["n"], card["unscored"]) == (labelled.sum(), (labelled & ~scored).sum())
    for name, rate in zip(("sensitivity", "specificity"), skill):
        assert card[name]["value"] == pytest.approx(rate.value)
    kappa = stats.kappa(true[known], said[known], [False, True], units=unit[known])
    assert [card["kappa"][k] for k in ("value", "low", "high")] == pytest.approx(list(kappa[:3]))
    assert card["judge"] == "j" and "raters" in card["labelled_by"]


def test_judges_verdicts_in_the_words_of_labels():
    def of(item, *said, **other):
        more = [other_verdict(judge, task, value) for judge, task, value in said]
        return row(item, "adherence", more=more, blocks=[raters_labels.DIALOGUE], **other)

    adherence = ("j", "adherence", "expression; logic"), ("k", "adherence", "")
    rows = [
        of("a", *adherence, ("j", "misled", "yes")),
        of("b", ("j", "adherence", "none")),
        of("c", *adherence, reply_status="ended"),
    ]
    found = raters.judged(rows, "adherence")
    counts = found.groupby(["id", "judge"])["part"].agg(len).to_dict()
    assert counts == {("a", "j"): 5, ("a", "k"): 5, ("b", "j"): 5}
    held = found.loc[(found["id"] == "a") & (found["value"] == "yes"), "part"]
    assert held.tolist() == ["expression", "logic"]
    assert found.loc[found["judge"] == "k", "value"].isna().all()
    assert set(found.loc[found["id"] == "b", "value"]) == {"no"}
    graded = row("x", verdicts=[{"judge": "j", "status": "graded", "value": "-1 unaware"}])
    found = raters.judged([graded, row("y", "diagnosis")], "presupposition")
    assert found[["id", "judge", "value"]].values.tolist() == [["x", "j", "-1"]]
