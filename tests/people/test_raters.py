"""Raters: labels together, agreement against oracles, what is open, judges against labels."""

import collections
import itertools

import numpy as np
import pandas as pd
import pytest
import raters_labels
from raters_labels import cells, given, judged_rows, row, write
from sklearn.metrics import cohen_kappa_score

from bedside import annotation, stats
from bedside.annotation import raters, tasks
from bedside.publish.judged_items import other_verdict, text

rng = raters_labels.rng  # a fixture


# ---- labels


def test_the_last_label_counts_and_what_cant_count_is_left_out_and_named(tmp_path):
    rows = [row("a"), row("b", reply="another"), row("c", reply="c")]
    write(tmp_path, "diagnosis", "Ann", rows[0], "no")
    write(tmp_path, "diagnosis", "Ann", rows[0], "yes")
    write(tmp_path, "diagnosis", "Ann", rows[0], "no", check=True)
    write(tmp_path, "diagnosis", "Bob", rows[1], "yes")
    write(tmp_path, "diagnosis", "Bob", rows[2], "YES!")  # no value of the task
    write(tmp_path, "diagnosis", "Cem", rows[2], "", refused="bored")
    write(tmp_path, "diagnosis", "Cem", row("gone"), "yes")
    write(tmp_path, "diagnosis", "Cem", row("b", reply="before it changed"), "yes")
    with open(tmp_path / "diagnosis/Cem.jsonl", "ab") as f:
        f.write(b'{"id": "a", "value": "no"\n\xff\xfe\n')
    copied = (tmp_path / "diagnosis/Ann.jsonl").read_bytes()
    (tmp_path / "diagnosis/Ann copy.jsonl").write_bytes(copied)  # no second rater
    found = raters.labels("diagnosis", rows, tmp_path)
    assert found[["id", "rater", "value", "repetition"]].values.tolist() == [
        ["a", "Ann", "yes", False],
        ["a", "Ann", "no", True],
        ["b", "Bob", "yes", False],
    ]
    damaged = [k.rpartition("/")[2] for k in found.attrs["damaged"]]
    assert {"Cem.jsonl, line 4", "Cem.jsonl, line 5"} <= {*damaged}
    assert found.attrs["left_out"] == 4 and found.attrs["failed"] == []
    none = raters.labels("nfp", rows, tmp_path)
    assert none.empty and list(none) == raters.LABEL and none["repetition"].dtype == bool


def test_what_several_choices_hold_is_a_yes_or_no_for_each(tmp_path):
    rows = [row(i, "adherence", reply=i) for i in "abc"]
    write(tmp_path, "adherence", "Ann", rows[0], "attitude; logic")
    write(tmp_path, "adherence", "Ann", rows[1], "")
    write(tmp_path, "adherence", "Ann", rows[2], "", refused="undecided", reason="too short")
    found = raters.labels("adherence", rows, tmp_path)
    parts = list(tasks()["adherence"].values)
    assert len(parts) == 5 and found["part"].tolist() == parts * 3
    held = {p for p, v in zip(found["part"][:5], found["value"]) if v == "yes"}
    assert held == {"attitude", "logic"} and set(found["value"][5:10]) == {"no"}
    assert found["value"][10:].isna().all()  # a refusal is of all of them
    assert raters.values("presupposition") == ["-1", "0", "1"]


# ---- agreement


def alpha_of(ratings, ordered):
    """Krippendorff's alpha of {item: its labels}, pair by pair."""
    pairs = collections.Counter()
    for said in ratings:
        for a, b in itertools.permutations(said, 2):
            pairs[a, b] += 1 / (len(said) - 1)
    n = collections.Counter()
    for (a, _), weight in pairs.items():
        n[a] += weight

    def apart(a, b):
        a, b = sorted((a, b))
        between = sum(n[c] for c in n if a <= c <= b)
        return (between - (n[a] + n[b]) / 2) ** 2 if ordered else float(a != b)

    every = sum(n.values())
    observed = sum(w * apart(a, b) for (a, b), w in pairs.items()) / every
    by_chance = sum(n[a] * n[b] * apart(a, b) for a in n for b in n) / every / (every - 1)
    return 1 - observed / by_chance


@pytest.mark.parametrize("task", ["hallucination", "presupposition"])
@pytest.mark.parametrize("seed", range(2))
def test_agreement_is_that_of_scikit_learn_and_of_pairs_counted_one_by_one(task, seed):
    """With gaps, refusals, repetitions, several models' replies to a question, an adjudicator."""
    world = np.random.default_rng(seed)
    values, ordered = raters.values(task), tasks()[task].ordered
    said, units = {}, {f"i{n}": f"q{n // 2}" for n in range(60)}
    for rater in ("Ann", "Bob", "Cem"):
        there = [i for i in units if world.random() < 0.8]
        said[rater] = {
            i: values[(int(i[1:]) + (world.random() < 0.3)) % len(values)] for i in there
        }
        said[rater][there[seed]] = "undecided"
    final = {raters.ADJUDICATED: dict.fromkeys(units, values[0])}
    labels = given(said | final, again=[("Ann", "i1", values[0]), ("Bob", "i1", values[1])])
    labels = labels.assign(unit=labels["id"].map(units)).sample(frac=1, random_state=seed)
    found = cells(raters.agreement(labels, task))
    counted = {
        r: {i: values.index(v) for i, v in mine.items() if v in values} for r, mine in said.items()
    }
    for a, b in itertools.combinations(said, 2):
        both = [i for i in units if i in counted[a] and i in counted[b]]
        x, y = ([counted[rater][i] for i in both] for rater in (a, b))
        unit, weights = [units[i] for i in both], "quadratic" if ordered else None
        value, low, high, n = found[f"{a} and {b}", "kappa"]
        assert (value, n) == (pytest.approx(cohen_kappa_score(x, y, weights=weights)), len(both))
        limits = stats.kappa(x, y, range(len(values)), weights=weights, units=unit)[1:3]
        assert (low, high) == pytest.approx(limits)
        same = stats.share([p == q for p, q in zip(x, y)], unit)
        assert found[f"{a} and {b}", "equal, %"][:3] == pytest.approx([100 * v for v in same[:3]])
    together = [[mine[i] for mine in counted.values() if i in mine] for i in units]
    together = [labels for labels in together if len(labels) > 1]
    value, low, high, n = found["all 3 raters", "Krippendorff's alpha"]
    assert (value, n) == (pytest.approx(alpha_of(together, ordered)), len(together))
    assert low < value < high and len(found) == 7  # the adjudicator is no rater


def test_without_two_labels_of_an_item_or_of_one_kind_there_is_no_agreement(rng):
    apart = {"Ann": {"a": "yes"}, "Bob": {"b": "yes"}}
    for table in ({}, {"Ann": {"a": "yes"}}, apart, {raters.ADJUDICATED: {"a": "yes"}}):
        found = cells(raters.agreement(given(table), "hallucination"))
        assert all(np.isnan(value) and n == 0 for value, _, _, n in found.values())
    labels = given({rater: dict.fromkeys("abc", "yes") for rater in ("Ann", "Bob")})
    found = cells(raters.agreement(labels, "hallucination"))
    assert found["Ann and Bob", "equal, %"][::3] == (100, 3)
    assert np.isnan(found["Ann and Bob", "kappa"][1:3]).all()
    assert np.isnan(found["all 2 raters", "Krippendorff's alpha"][0])


def test_intervals_draw_items_not_their_parts():
    six = ["yes", "yes", "yes", "no", "no", "no"], ["yes", "yes", "no", "no", "no", "yes"]
    names = "abcdefghijklmnopqrstuvwx"
    table = {rater: dict(zip(names, 4 * said)) for rater, said in zip(("Ann", "Bob"), six)}

    def kappa(labels, task):
        found = cells(raters.agreement(labels, task))
        return found["Ann and Bob", "kappa"]

    # every part as the item
    parts = pd.concat([given(table, part=p) for p in tasks()["adherence"].values])
    one, five = kappa(given(table), "hallucination"), kappa(parts, "adherence")
    assert five[:3] == pytest.approx(one[:3]) and one[0] == pytest.approx(1 / 3)
    assert (one[3], five[3]) == (24, 120) and one[1] < one[0] < one[2]


# ---- refusals


def test_refusals_are_counted_and_are_no_labels(rng):
    # On a to d Ann and Bob agree twice of four; what one of them refused is left out. Bob's second
    # look at a is a refusal, and so not as before.
    table = {
        "Ann": {"a": "yes", "b": "no", "c": "yes", "d": "no", "e": "undecided", "f": "faulty"},
        "Bob": {"a": "yes", "b": "no", "c": "no", "d": "yes", "e": "no", "f": "undecided"},
    }
    labels = given(table, again=[("Bob", "a", "undecided"), ("Ann", "f", "faulty")])
    found = cells(raters.attention(labels))
    kinds = ("labels", "can't decide", "item faulty", "repetitions answered as before, %")
    assert [found["Ann", k][0] for k in kinds] == [4, 1, 1, 100]
    assert [found["Bob", k][0] for k in kinds] == [5, 1, 0, 0]
    assert found["Ann", "seconds an item, median"][::3] == (3, 6)
    alike = cells(raters.agreement(labels, "hallucination"))
    assert alike["Ann and Bob", "equal, %"][::3] == (50, 4)
    assert alike["all 2 raters", "Krippendorff's alpha"][3] == 4
    settled = raters.consensus(labels).set_index("id")
    assert settled.loc["e", ["value", "by", "raters"]].tolist() == ["no", "all", 1]
    assert settled.loc["f", "by"] == "refused" and pd.isna(settled.loc["f", "value"])
    assert settled.loc["f", "raters"] == 0
    rows = [row(i) for i in "abcdef"]
    assert [r["id"] for r in raters.differing(labels, rows, "diagnosis")] == ["c", "d", "e"]
    card = raters.against(
        raters.judged(judged_rows("", [True] * 6), "hallucination").assign(id=list("abcdef")),
        raters.consensus(labels),
        "hallucination",
    )["j"]
    assert card["n"] == 3  # a, b and e


def test_a_refusal_at_its_row_is_nothing_to_differ_from(tmp_path):
    one = row("a", shared=["question"])
    content = {"rows": [one], "shared": {"question": [text("Question", "why?")]}}
    (seen,) = annotation.rows(content)
    write(tmp_path, "diagnosis", "Ann", seen, "", refused="faulty", reason="two patients")
    write(tmp_path, "diagnosis", "Bob", seen, "no", reason="another", source="a book")
    raters.with_labels(content, tmp_path)
    assert [(h["by"], h["value"], h["reason"]) for h in one["human"]] == [
        ("Bob", "no", "another\nsource: a book")
    ]
    (refusal,) = one["more"]
    assert (refusal["judge"], refusal["task"]) == ("Ann", "diagnosis, label")
    assert (refusal["value"], refusal["reason"]) == ("item faulty", "two patients")


# ---- consensus


def test_consensus_and_what_is_open():
    table = {
        "Ann": dict(zip("abcde", ["yes"] * 5)),
        "Bob": dict(zip("abcd", ["yes", "yes", "no", "no"])),
        "Cem": dict(zip("abd", ["yes", "no", "no"])),
        raters.ADJUDICATED: {"d": "yes", "f": "no"},
    }
    again = [("Bob", "e", "no"), ("Cem", "c", "yes"), (raters.ADJUDICATED, "c", "no")]
    labels = given(table, again=again)
    found = raters.consensus(labels).set_index("id")[["value", "by", "raters"]]
    known = found.astype(object).where(found.notna(), None)
    assert known.agg(tuple, axis=1).to_dict() == {
        "a": ("yes", "all", 3),
        "b": ("yes", "majority", 3),
        "c": (None, "disputed", 2),
        "d": ("yes", "adjudicated", 3),
        "e": ("yes", "all", 1),
        "f": ("no", "adjudicated", 0),
    }
    rows = [row(i) for i in "fedcba"]
    assert [r["id"] for r in raters.differing(labels, rows, "diagnosis")] == ["c", "b"]
    three = given({"Ann": {"a": "-1"}, "Bob": {"a": "0"}, "Cem": {"a": "1"}})
    assert raters.consensus(three)["by"].tolist() == ["disputed"]
    assert [r["id"] for r in raters.differing(three, rows, "diagnosis")] == ["a"]
    four = given({"Ann": {"a": "0"}, "Bob": {"a": "0"}, "Cem": {"a": "1"}, "Dot": {"a": "-1"}})
    assert raters.consensus(four)["by"].tolist() == ["disputed"]  # two of four are no majority
    assert raters.consensus(given({})).empty
    assert raters.differing(given({}), rows, "diagnosis") == []


# ---- judges against raters


def test_corrected_rates_by_hand(rng):
    # Model a: 10 labelled yes of which the judge finds 8, 10 labelled no of which it says yes to 1,
    # and 40 unlabelled with 15 yes: it says 24 / 60 = .4. Model b: 5 and 5 labelled, all found
    # right, so that over both sensitivity is 13 / 15 and specificity 14 / 15; Rogan-Gladen:
    # (.4 + 14/15 - 1) / (13/15 + 14/15 - 1) = (1/3) / (4/5) = 5/12; of b:
    # (1/2 - 1/15) / (4/5) = 13/24.
    said = [True] * 8 + [False] * 2 + [True] + [False] * 9 + [True] * 15 + [False] * 25
    rows = judged_rows("a", [*said, None]) + judged_rows("b", [True] * 5 + [False] * 5)
    truth = {f"a{k}": "yes" if k < 10 else "no" for k in range(20)}
    truth |= {f"b{k}": "yes" if k < 5 else "no" for k in range(10)}
    judged = raters.judged(rows, "hallucination")
    settled = raters.consensus(given({"Ann": truth}))
    shuffled = judged.sample(frac=1, random_state=3), settled.sample(frac=1, random_state=4)
    assert judged["status"].value_counts().to_dict() == {"graded": 70, "refused": 1}
    assert judged["value"].isna().sum() == 1
    powered = stats.prediction_powered([True] * 10 + [False] * 10, said[:20], said[20:])
    a, b = "a, 2.2 answers: j", "b, 2.2 answers: j"
    for j, s in ((judged, settled), shuffled):
        found = cells(raters.corrected(j, s, "hallucination", np.random.default_rng(1)))
        assert found[a, "judge says"][::3] == (pytest.approx(40), 60)
        assert found[a, "raters"][::3] == (50, 20) and found[b, "raters"][::3] == (50, 10)
        fixed, low, high, _ = found[a, "Rogan-Gladen"]
        assert fixed == pytest.approx(500 / 12) and 0 <= low < 500 / 12 < high <= 100
        assert found[b, "Rogan-Gladen"][0] == pytest.approx(1300 / 24)
        expected = (*(100 * x for x in powered[:3]), 20)
        assert found[a, "prediction-powered"] == pytest.approx(expected)
    card = raters.against(*shuffled, "hallucination")["j"]
    assert card["n"] == 30 and card["unscored"] == 0
    assert card["sensitivity"]["value"] == pytest.approx(13 / 15)
    assert card["confusion"] == [[14, 1], [2, 13]]
    assert card["kappa"]["value"] == pytest.approx(0.8)
    assert card["judge"] == "j" and "raters" in card["labelled_by"]


def test_answers_to_one_question_are_one_unit_in_rates_and_cards(rng):
    # 48 labelled and 72 other answers, each to a question of its own, or two alike to each.
    said = [True] * 20 + [False] * 4 + [True] * 4 + [False] * 20 + [True] * 40 + [False] * 32
    settled = raters.consensus(
        given({"Ann": {f"a{k}": "yes" if k < 24 else "no" for k in range(48)}})
    )
    rows = judged_rows("a", said)

    def widths(rows):
        judged = raters.judged(rows, "hallucination")
        kappa = raters.against(judged, settled, "hallucination")["j"]["kappa"]
        rates = cells(raters.corrected(judged, settled, "hallucination", np.random.default_rng(1)))
        return [v[2] - v[1] for v in rates.values()] + [kappa["high"] - kappa["low"]]

    pairs = [{**r, "unit": str(int(r["id"][1:]) // 2)} for r in rows]
    ratios = np.array(widths(pairs)) / widths(rows)
    assert len(ratios) == 5 and (1.15 < ratios).all() and (ratios < 2).all()


def test_judges_verdicts_in_the_words_of_labels():
    dialogue = [{"kind": "dialogue", "label": "Consultation", "turns": []}]
    more = [
        other_verdict("j", "adherence", "expression; logic"),
        other_verdict("j", "misled", "yes"),
        other_verdict("k", "adherence", ""),
    ]
    rows = [
        row("a", "adherence", more=more, blocks=dialogue),
        row("b", "adherence", more=[other_verdict("j", "adherence", "none")], blocks=dialogue),
        row("c", "adherence", more=more, reply_status="ended", blocks=dialogue),
    ]
    found = raters.judged(rows, "adherence")
    counts = found.groupby(["id", "judge"])["part"].agg(len).to_dict()
    assert counts == {("a", "j"): 5, ("a", "k"): 5, ("b", "j"): 5}
    held = found.loc[(found["id"] == "a") & (found["value"] == "yes"), "part"]
    assert held.tolist() == ["expression", "logic"]
    assert found.loc[found["judge"] == "k", "value"].isna().all()
    assert set(found.loc[found["id"] == "b", "value"]) == {"no"}
    verdicts = [{"judge": "j", "status": "graded", "value": "-1 unaware"}]
    section = "4.3 false presupposition"
    graded = row("cm-1", "presupposition", section=section, verdicts=verdicts)
    found = raters.judged([graded, row("x", "diagnosis")], "presupposition")
    assert found[["id", "judge", "value"]].values.tolist() == [["cm-1", "j", "-1"]]
