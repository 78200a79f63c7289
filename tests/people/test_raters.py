"""Raters: labels together, agreement and corrected rates by hand, what trust cards make of them."""

import asyncio
import csv
import json
import os
import unicodedata
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError, annotation, stats
from bedside.annotation import raters, tasks
from bedside.annotation.blind import alias
from bedside.judging import baselines, judges, trust_cards
from bedside.keep.store import digest
from bedside.papers.cancer_myth import study as cancer_myth
from bedside.papers.cancer_myth.baselines import Echo
from bedside.papers.cancer_myth.data import labelled, rated, rated_plain
from bedside.papers.meddialbench import judging
from bedside.papers.meddialbench.examples import Labelled
from bedside.papers.medhalu import study as medhalu
from bedside.papers.medhalu.labels import annotations
from bedside.papers.radiation import matching
from bedside.publish.judged_items import collect, other_verdict, text
from bedside.read import sources
from bedside.run import Run
from judged import collected, elsewhere
from matrix import House

PAPER = {
    "presupposition": "cancer_myth",
    "hallucination": "medhalu",
    "adherence": "meddialbench",
    "diagnosis": "meddialbench",
}
SECTION = {"hallucination": "2.2 answers"}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def row(id, task="diagnosis", reply="a reply", **other):
    return {
        "id": id,
        "paper": PAPER[task],
        "section": SECTION.get(task, "4 consultations"),
        "item": id,
        "unit": id,
        "model": "m",
        "configuration": "c",
        "category": "cooperative",
        "title": "t",
        "shared": [text("Question", "why?")],
        "reply": reply,
        "reply_status": "",
        "blocks": [],
        "verdicts": [],
        "more": [],
        "human": [],
        **other,
    }


def write(folder, task, rater, row, value, check=False, **other):
    """A label on disk; check: of a repetition."""
    log = annotation.Log(folder, task, rater)
    record = {
        "id": alias(row["id"]),
        "paper": row["paper"],
        "item": row["item"],
        "task": task,
        "rater": log.rater,
        "group": "expert",
        "value": value,
        "type": "",
        "spans": [],
        "reason": "",
        "refused": "",
        "source": "",
        "seconds": 2.0,
        "at": "2026-01-01",
        "check": check,
        "sample": {},
        "text_sha256": digest(annotation.material(row, tasks()[task])),
        **other,
    }
    assert set(record) == set(annotation.FIELDS)
    log.append(record)


def given(table, again=(), part=""):
    """Labels {rater: {id: value}} as a frame; `again` holds (rater, id, value) of repetitions.

    A value that is one of REFUSALS is a refusal.
    """
    every = [(rater, id, v, False) for rater, mine in table.items() for id, v in mine.items()]
    every += [(*label, True) for label in again]
    lines = [
        {
            **dict.fromkeys(raters.LABEL, ""),
            "rater": rater,
            "id": id,
            "unit": id,
            "value": None if value in raters.REFUSALS else value,
            "refused": value if value in raters.REFUSALS else "",
            "repetition": repetition,
            "part": part,
            "seconds": 3.0,
        }
        for rater, id, value, repetition in every
    ]
    return pd.DataFrame(lines, columns=raters.LABEL).astype({"repetition": bool})


def cells(rows):
    return {(r.row, r.column): (r.value, r.low, r.high, r.n) for r in rows.itertuples()}


# ---- labels


def test_the_last_label_counts_and_repetitions_are_marked(tmp_path):
    rows = [row("a"), row("b", reply="another")]
    write(tmp_path, "diagnosis", "Ann", rows[0], "no")
    write(tmp_path, "diagnosis", "Ann", rows[0], "yes")
    write(tmp_path, "diagnosis", "Ann", rows[0], "no", check=True)
    write(tmp_path, "diagnosis", "Bob", rows[1], "yes")
    found = raters.labels("diagnosis", rows, tmp_path)
    assert found[["id", "rater", "value", "repetition"]].values.tolist() == [
        ["a", "Ann", "yes", False],
        ["a", "Ann", "no", True],
        ["b", "Bob", "yes", False],
    ]
    assert found.attrs == {"left_out": 0, "damaged": {}, "failed": []}
    assert list(found) == raters.LABEL and set(found["part"]) == {""}
    none = raters.labels("nfp", rows, tmp_path)
    assert none.empty and list(none) == raters.LABEL and none["repetition"].dtype == bool


def test_labels_of_another_text_are_left_out_and_damaged_lines_named(tmp_path):
    rows = [row("a"), row("b", reply="another")]
    for r in rows:
        write(tmp_path, "diagnosis", "Ann", r, "yes")
    write(tmp_path, "diagnosis", "Ann", row("gone"), "yes", check=True)
    with open(tmp_path / "diagnosis/Ann.jsonl", "ab") as f:
        f.write(b'{"id": "a", "value": "no"\n\xff\xfe\n')
    rows[0]["reply"] = "changed meanwhile"
    found = raters.labels("diagnosis", rows, tmp_path)
    assert found["id"].tolist() == ["b"] and found.attrs["left_out"] == 2
    assert [k.rpartition("/")[2] for k in found.attrs["damaged"]] == [
        "Ann.jsonl, line 4",
        "Ann.jsonl, line 5",
    ]


def test_what_a_task_does_not_know_is_left_out(tmp_path):
    rows = [row(i, reply=i) for i in "abc"]
    write(tmp_path, "diagnosis", "Ann", rows[0], "yes")
    write(tmp_path, "diagnosis", "Bob", rows[0], "YES!")
    write(tmp_path, "diagnosis", "Ann", rows[1], "", refused="bored")
    write(tmp_path, "diagnosis", "Ann", rows[2], "", refused="faulty")
    found = raters.labels("diagnosis", rows, tmp_path)
    assert found["id"].tolist() == ["a", "c"] and found.attrs["left_out"] == 2


def test_what_several_choices_hold_is_a_yes_or_no_for_each(tmp_path):
    rows = [row("a", "adherence"), row("b", "adherence", reply="b")]
    write(tmp_path, "adherence", "Ann", rows[0], "attitude; logic")
    write(tmp_path, "adherence", "Ann", rows[1], "")
    found = raters.labels("adherence", rows, tmp_path)
    parts = list(tasks()["adherence"].values)
    assert len(parts) == 5 and found["part"].tolist() == parts * 2
    held = {p for p, v in zip(found["part"][:5], found["value"]) if v == "yes"}
    assert held == {"attitude", "logic"} and set(found["value"][5:]) == {"no"}
    assert raters.values("adherence") == ["no", "yes"]
    assert raters.values("presupposition") == ["-1", "0", "1"]
    assert raters.values("side_effect") == ["different", "same"]


def test_a_copied_file_is_no_second_rater(tmp_path, rng):
    for rater, value in (("Ann", "yes"), ("Bob", "no")):
        write(tmp_path, "diagnosis", rater, row("a"), value)
    copied = (tmp_path / "diagnosis/Ann.jsonl").read_bytes()
    (tmp_path / "diagnosis/Ann copy.jsonl").write_bytes(copied)
    found = raters.labels("diagnosis", [row("a")], tmp_path)
    assert raters.consensus(found)["by"].tolist() == ["disputed"]
    assert cells(raters.agreement(found, "diagnosis", rng))["Ann and Bob", "kappa"][3] == 1


def test_a_file_from_a_system_that_spells_names_otherwise_is_read(tmp_path):
    write(tmp_path, "diagnosis", "Zoë", row("a"), "yes")
    (path,) = (tmp_path / "diagnosis").iterdir()
    path.rename(path.with_name(unicodedata.normalize("NFD", path.name)))
    found = raters.labels("diagnosis", [row("a")], tmp_path)
    assert len(found) + found.attrs["left_out"] == 1


# ---- agreement

TEN = {
    "Ann": dict(zip("abcdefghij", ["yes"] * 5 + ["no"] * 5)),
    "Bob": dict(zip("abcdefghij", ["yes"] * 4 + ["no"] + ["yes"] * 2 + ["no"] * 3)),
}


def test_two_raters_by_hand(rng):
    # Ann 5 yes, Bob 6 yes, 7 of 10 equal: chance is .5 x .6 + .5 x .4 = .5, kappa
    # (.7 - .5) / .5 = .4. Pooled there are 11 yes and 9 no: alpha is
    # 1 - (6 / 20) / (2 x 11 x 9 / (20 x 19)) = 1 - 114 / 198.
    labels = given(TEN, again=[("Ann", "a", "no"), ("Bob", "a", "no")])
    found = cells(raters.agreement(labels, "hallucination", rng))
    assert found["Ann and Bob", "equal, %"][0] == pytest.approx(70)
    assert found["Ann and Bob", "kappa"][0] == pytest.approx(0.4)
    assert found["all 2 raters", "Krippendorff's alpha"][0] == pytest.approx(1 - 114 / 198)
    assert [v[3] for v in found.values()] == [10, 10, 10]
    assert all(low < value < high for value, low, high, _ in found.values())


def test_ordered_labels_by_hand(rng):
    # Squared differences 0, 1, 0, 4: mean 1.25; by chance E(x - y)^2 =
    # 3/4 + 2/4 - 2 x 1/4 x 2/4 = 1, so kappa is -.25. Pooled: four -1, three 0, one 1; ordinal
    # distances 3.5^2, 2^2, 5.5^2. Observed 2 (12.25 + 30.25) / 8, expected
    # 2 (12 x 12.25 + 3 x 4 + 4 x 30.25) / 56 = 10.
    table = {
        "Ann": dict(zip("abcd", ["-1", "-1", "0", "1"])),
        "Bob": dict(zip("abcd", ["-1", "0", "0", "-1"])),
    }
    found = cells(raters.agreement(given(table), "presupposition", rng))
    assert found["Ann and Bob", "kappa"][0] == pytest.approx(-0.25)
    assert found["all 2 raters", "Krippendorff's alpha"][0] == pytest.approx(1 - 10.625 / 10)


def test_three_raters_with_gaps_and_the_adjudicator_apart(rng):
    table = TEN | {
        "Cem": {"a": "yes", "b": "no"},
        "Dot": {"z": "no"},
        raters.ADJUDICATED: dict.fromkeys("abcdefghij", "yes"),
    }
    found = cells(raters.agreement(given(table), "hallucination", rng))
    assert found["Ann and Bob", "kappa"][0] == pytest.approx(0.4)
    assert found["Ann and Cem", "equal, %"][::3] == (50, 2)
    assert found["Ann and Cem", "kappa"][0] == 0 and found["Ann and Dot", "kappa"][3] == 0
    assert np.isnan(found["Ann and Dot", "kappa"][0])
    assert found["all 4 raters", "Krippendorff's alpha"][3] == 10
    assert len(found) == 13 and not any("adjudicated" in row for row, _ in found)


@pytest.mark.parametrize(
    "table, count",
    [
        ({}, 1),
        ({"Ann": {"a": "yes"}}, 1),
        ({"Ann": {"a": "yes"}, "Bob": {"b": "yes"}}, 3),
        ({raters.ADJUDICATED: {"a": "yes"}}, 1),
    ],
)
def test_without_two_labels_of_an_item_there_is_no_agreement(table, count, rng):
    found = cells(raters.agreement(given(table), "hallucination", rng))
    assert all(np.isnan(value) and n == 0 for value, _, _, n in found.values())
    assert len(found) == count


def test_labels_of_one_kind_are_no_evidence(rng):
    labels = given({rater: dict.fromkeys("abc", "yes") for rater in ("Ann", "Bob")})
    found = cells(raters.agreement(labels, "hallucination", rng))
    assert found["Ann and Bob", "equal, %"][::3] == (100, 3)
    assert np.isnan(found["Ann and Bob", "kappa"][1:3]).all()
    assert np.isnan(found["all 2 raters", "Krippendorff's alpha"][0])


def test_intervals_draw_items_not_parts():
    table = {
        "Ann": dict(zip("abcdefghijkl", 2 * ["yes", "yes", "yes", "no", "no", "no"])),
        "Bob": dict(zip("abcdefghijkl", 2 * ["yes", "yes", "no", "no", "no", "yes"])),
    }

    def kappa(labels, task):
        found = cells(raters.agreement(labels, task, np.random.default_rng(1)))
        return found["Ann and Bob", "kappa"]

    # every part as the item
    parts = pd.concat([given(table, part=p) for p in tasks()["adherence"].values])
    one, five = kappa(given(table), "hallucination"), kappa(parts, "adherence")
    assert five[:3] == pytest.approx(one[:3]) and one[0] == pytest.approx(1 / 3)
    assert (one[3], five[3]) == (12, 60)


def test_intervals_draw_units_not_items():
    # Every question is asked of two models and answered alike: nothing is learnt from the second.
    table = {
        "Ann": dict(zip("abcdefghijkl", 2 * ["yes", "yes", "yes", "no", "no", "no"])),
        "Bob": dict(zip("abcdefghijkl", 2 * ["yes", "yes", "no", "no", "no", "yes"])),
    }
    once = given(table)
    twice = pd.concat([once, once.assign(id=once["id"] + " of another model")])

    def interval(labels, column):
        found = cells(raters.agreement(labels, "hallucination", np.random.default_rng(1)))
        return found.get(("Ann and Bob", column)) or found["all 2 raters", column]

    for column in ("kappa", "Krippendorff's alpha"):
        one, two = interval(once, column), interval(twice, column)
        assert two[1:3] == pytest.approx(one[1:3], abs=0.06) and (one[3], two[3]) == (12, 24)
        apart = interval(twice.assign(unit=twice["id"]), column)
        assert apart[2] - apart[1] < 0.8 * (two[2] - two[1])
    low, high = interval(twice, "equal, %")[1:3]
    assert high - low > 0.95 * np.subtract(*interval(once, "equal, %")[2:0:-1])


def test_how_raters_worked():
    again = "repetitions answered as before, %"
    labels = given(
        {"Ann": {"a": "yes", "b": "no", "c": "no"}, "Bob": {"a": "no"}},
        again=[("Ann", "a", "yes"), ("Ann", "b", "yes"), ("Ann", "q", "yes")],
    )
    labels.loc[labels["id"] == "b", "seconds"] = 9.0
    found = cells(raters.attention(labels))
    assert found["Ann", "labels"][0] == 3 and found["Ann", "seconds an item, median"][::3] == (3, 3)
    assert found["Ann", again][::3] == (50, 2) and found["Bob", again][3] == 0
    each = [given({"Ann": {"a": "yes", "b": "no"}}, part=p) for p in ("logic", "attitude")]
    assert cells(raters.attention(pd.concat(each)))["Ann", "labels"][0] == 2


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
    alike = cells(raters.agreement(labels, "hallucination", rng))
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
        rng,
    )["j"]
    assert card["n"] == 3  # a, b and e


def test_an_adjudicator_may_refuse_too():
    table = {"Ann": {"a": "yes"}, "Bob": {"a": "no"}, raters.ADJUDICATED: {"a": "faulty"}}
    labels = given(table)
    assert raters.consensus(labels)[["value", "by"]].values.tolist() == [[None, "refused"]]
    assert raters.differing(labels, [row("a")], "diagnosis") == []


def test_refusals_of_several_choices_are_of_all_of_them(tmp_path):
    one = row("a", "adherence")
    write(tmp_path, "adherence", "Ann", one, "", refused="undecided", reason="too short")
    write(tmp_path, "adherence", "Bob", one, "logic")
    labels = raters.labels("adherence", [one], tmp_path)
    assert len(labels) == 10 and labels["value"].isna().sum() == 5
    assert set(raters.consensus(labels)["by"]) == {"all"}
    assert [r["id"] for r in raters.differing(labels, [one], "adherence")] == ["a"]


def test_faulty_items_with_their_reasons(tmp_path):
    rows = [row("a", title="why?", model="secret-model"), row("b", reply="another")]
    write(tmp_path, "diagnosis", "Ann", rows[0], "", refused="faulty", reason="two patients")
    write(tmp_path, "diagnosis", "Bob", rows[1], "", refused="undecided", reason="unclear")
    labels = raters.labels("diagnosis", rows, tmp_path)
    found = raters.faulty(labels, rows, "diagnosis")
    assert found.to_dict("records") == [
        {
            "item": "a",
            "question": "why?",
            "reply": "a reply",
            "rater": "Ann",
            "reason": "two patients",
        }
    ]


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


def test_progress_of_all_raters(tmp_path):
    a, b = row("a"), row("b", reply="b")
    write(tmp_path, "diagnosis", "Ann", a, "yes", sample={"of": 3})
    write(tmp_path, "diagnosis", "Ann", a, "no", at="2026-01-02", sample={"of": 3})
    write(tmp_path, "diagnosis", "Ann", a, "no", True, at="2026-01-03", sample={"of": 3})
    write(tmp_path, "diagnosis", "Ann", b, "", refused="undecided", sample={"of": 3})
    write(tmp_path, "diagnosis", "Bob", a, "yes")
    found = raters.progress("diagnosis", tmp_path)
    assert found.to_dict("records") == [
        {"rater": "Ann", "labels": 2, "can't decide": 1, "item faulty": 0, "of": 3}
        | {"last": "2026-01-03"},
        {"rater": "Bob", "labels": 1, "can't decide": 0, "item faulty": 0, "of": None}
        | {"last": "2026-01-01"},
    ]
    assert list(raters.progress("nfp", tmp_path)) == list(found)
    team = raters.progress("diagnosis", tmp_path, (" Bob", "Cem"))
    assert team[["rater", "labels"]].values.tolist() == [["Ann", 2], ["Bob", 1], ["Cem", 0]]


def test_files_of_before_there_were_refusals_and_aliases(tmp_path):
    one = row("a")
    write(tmp_path, "diagnosis", "Ann", one, "yes")
    path = tmp_path / "diagnosis/Ann.jsonl"
    record = json.loads(path.read_text())
    del record["refused"], record["source"]
    path.write_text(json.dumps(record | {"id": "a"}) + "\n")
    labels = raters.labels("diagnosis", [one], tmp_path)
    assert labels[["id", "value", "refused", "source"]].values.tolist() == [["a", "yes", "", ""]]
    assert labels.attrs == {"left_out": 0, "damaged": {}, "failed": []}
    write(tmp_path, "diagnosis", "Ann", one, "no", at="2026-02-01")  # under the alias
    labels = raters.labels("diagnosis", [one], tmp_path)
    assert labels[["id", "value"]].values.tolist() == [["a", "no"]]
    assert raters.progress("diagnosis", tmp_path)["labels"].tolist() == [1]


# ---- adjudication


def test_adjudicators_see_what_raters_say_and_not_who(tmp_path):
    rows = [row(i, reply=i, title=i) for i in "abc"]
    for rater, mine in {"Ann": ["yes"] * 3, "Bob": ["no", "yes", ""]}.items():
        for r, value in zip(rows, mine):
            why = {"reason": f"{value or 'two patients'} {r['id']}"}
            write(tmp_path, "diagnosis", rater, r, value, refused="" if value else "faulty", **why)
    labels = raters.labels("diagnosis", rows, tmp_path)
    session = raters.adjudication(labels, rows, "diagnosis", folder=tmp_path)
    seen, same = {}, "yes, the same disease"
    while not session.done:
        shown = session.shown()
        assert "Ann" not in json.dumps(shown) and "Bob" not in json.dumps(shown)
        said = [(" ".join(o["said"]), o["refused"], o["reason"]) for o in shown["opinions"]]
        seen[shown["answer"]["text"]] = sorted(said)
        assert session.label("no") == ""
    assert seen == {
        "a": [("no", "", "no a"), (same, "", "yes a")],
        "c": [("", "faulty", "two patients c"), (same, "", "yes c")],
    }
    labels = raters.labels("diagnosis", rows, tmp_path)
    settled = raters.consensus(labels).set_index("id")
    assert settled.loc[list("abc"), "value"].tolist() == ["no", "yes", "no"]
    assert raters.differing(labels, rows, "diagnosis") == []


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


SAID = {True: "yes, hallucinated", False: "no, right", None: ""}


def judged_rows(model, said):
    """Rows of a model's answers, each with a verdict of the judge j: yes, no or none."""

    def verdict(yes):
        return {
            "judge": "j",
            "status": "refused" if yes is None else "graded",
            "value": SAID[yes],
        }

    return [
        row(f"{model}{k}", "hallucination", f"{model} {k}", model=model, verdicts=[verdict(yes)])
        for k, yes in enumerate(said)
    ]


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
    card = raters.against(*shuffled, "hallucination", rng)["j"]
    assert card["n"] == 30 and card["unscored"] == 0
    assert card["sensitivity"]["value"] == pytest.approx(13 / 15)
    assert card["confusion"] == [[14, 1], [2, 13]]
    assert card["kappa"]["value"] == pytest.approx(0.8)
    assert card["judge"] == "j" and "raters" in card["labelled_by"]


def test_rates_and_cards_are_of_units(rng):
    # 24 labelled and 36 other answers: each to a question of its own, or each question asked of two
    # models, that is under two configurations here.
    said = [True] * 10 + [False] * 2 + [True] * 2 + [False] * 10 + [True] * 20 + [False] * 16
    truth = {f"a{k}": "yes" if k < 12 else "no" for k in range(24)}
    rows = judged_rows("a", said)
    pairs = [{**r, "unit": str(int(r["id"][1:]) // 2)} for r in rows]

    def found(rows):
        labels = given({"Ann": truth})
        judged, settled = raters.judged(rows, "hallucination"), raters.consensus(labels)
        rates = raters.corrected(judged, settled, "hallucination", np.random.default_rng(1))
        card = raters.against(judged, settled, "hallucination", np.random.default_rng(1))["j"]
        kappa = card["kappa"]["value"], card["kappa"]["low"], card["kappa"]["high"], card["n"]
        return cells(rates) | {("card", "kappa"): kappa}

    alone, together = found(rows), found(pairs)
    assert len(alone) == 5
    for name, (value, low, high, n) in alone.items():
        same, lower, higher, count = together[name]
        assert (same, count) == (pytest.approx(value), n)
        assert higher - lower > 1.15 * (high - low), name


def test_a_judge_at_chance_or_without_labels_corrects_nothing(rng):
    row, none = "a, 2.2 answers: j", raters.consensus(given({}))
    judged = raters.judged(judged_rows("a", [True] * 6), "hallucination")
    labels = given({"Ann": {"a0": "yes", "a1": "no", "a2": "no"}, "Bob": {"a2": "yes"}})
    found = cells(raters.corrected(judged, raters.consensus(labels), "hallucination", rng))
    assert np.isnan(found[row, "Rogan-Gladen"][0])
    assert found[row, "raters"][::3] == (50, 2)  # a2 is disputed
    assert found[row, "prediction-powered"][0] == pytest.approx(50)
    found = cells(raters.corrected(judged, none, "hallucination", rng))
    assert found.pop((row, "judge says"))[0] == 100
    assert all(np.isnan(value) and n in (0, 6) for value, _, _, n in found.values())
    assert raters.against(judged, none, "hallucination", rng) == {}


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


# ---- published labels, and what reads them

SECTION_AND_SIZE = {
    "presupposition": ("4.3 false presupposition", 12),
    "nfp": ("version 2: no false presupposition", 8),
    "side_effect": ("3.5 pairs of this run", 10),
    "diagnosis": ("4 consultations", 14),
    "adherence": ("4 consultations", 6),
    "hallucination": ("2.2 answers", 9),
}
# What Ann says, and once Bob with her; the other is what Bob says of the second row.
OPPOSITE = {
    "presupposition": ("1", "0"),
    "nfp": ("1", "0"),
    "side_effect": ("same", "different"),
    "diagnosis": ("no", "yes"),
    "adherence": ("attitude; expression", "logic"),
}


def label_hallucinations(rows, folder):
    """Ann's labels of every second answer as hallucinated, three of them again as not."""
    drawing = annotation.Draw(size=0, repetitions=0.3)
    session = annotation.Session(rows, "hallucination", "Ann", "expert", drawing, folder=folder)
    while not session.done:
        words = session.shown()["answer"]["text"].split()
        yes = session.at % 2 == 0 and not session.queue[session.at].repetition
        place = {"type": "fact", "spans": [" ".join(words[:3])]} if yes else {}
        assert session.label("yes" if yes else "no", reason='so, "it\nis"', **place) == ""


def label(task, rows, folder):
    """Ann's labels of rows; Bob agrees on the first and differs on the second."""
    hers, other = OPPOSITE[task]
    for r in rows:
        write(folder, task, "Ann", r, hers)
    write(folder, task, "Bob", rows[0], hers)
    write(folder, task, "Bob", rows[1], other)


def noting_what_they_learn(patch, *kinds):
    """A list that gets (kind of baseline, whether raters' labels are in what it learns from)."""
    learnt = []
    for kind in kinds:

        def init(self, labelled, *values, own=kind.__init__):
            rated = "rated" in labelled and bool(labelled["rated"].any())
            learnt.append((type(self).__name__, rated))
            own(self, labelled, *values)

        patch.setattr(kind, "__init__", init)
    return learnt


KEEPING = (  # notebooks in which labels of raters could be learnt from, or are rows
    *("cancer_myth/03_evaluation", "cancer_myth/05_judge_agreement", "radiation/02_free_form"),
    "radiation/04_documentation_sensitivity",
    *("radiation/06_judge_agreement", "medhalu/01_benchmark", "medhalu/02_detection"),
    *("meddialbench/01_design_and_validation", "meddialbench/05_vulnerability"),
)


@pytest.fixture(scope="module")
def world(nothing, tmp_path_factory):
    """Content without raters, then labels of all tasks published into a folder, and content after.

    The latter is of the notebooks KEEPING, run once more; no model has judged the new labels.
    files: {task: (file, labels written, rows, labels)}; learnt: see `noting_what_they_learn`.
    """
    folder = tmp_path_factory.mktemp("external")
    before = collected(nothing)
    rows, files = annotation.rows(before), {}
    for task, (section, size) in SECTION_AND_SIZE.items():
        there = annotation.candidates(rows, tasks()[task])
        mine = [r for r in there if r["section"] == section][:size]
        if task == "hallucination":
            label_hallucinations(mine, folder / "annotations")
        else:
            label(task, mine, folder / "annotations")
        labels = raters.labels(task, rows, folder / "annotations")
        path, written = raters.publish(task, rows, labels, raters.consensus(labels), folder)
        files[task] = path, written, mine, labels
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, folder)
        learnt = noting_what_they_learn(patch, baselines.Lexical, Echo, judging.Overlap)
        house = House(patch, folder / "house")
        patch.setattr(judges, "is_named", lambda run, judge: False)
        for name in KEEPING:
            house.run(name, until="run.keep(")["run"]._calls.close()
        after = raters.with_labels(collect("sample"), folder / "annotations")
        patch.undo()
        elsewhere(patch, folder)
        yield SimpleNamespace(
            folder=folder, before=before, rows=rows, files=files, after=after, learnt=set(learnt)
        )
    sources.forget()


def run_of(paper, notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run(paper, notebook)


def source_of(file):
    """The source that a file of data/external is."""
    return next(name for name, e in sources.registry().items() if e.get("file") == file)


def test_published_files_are_what_the_sources_describe(world):
    for task, (path, written, mine, _) in world.files.items():
        file = f"data/external/{path.relative_to(world.folder).as_posix()}"
        loaded, size = sources.load(source_of(file)), SECTION_AND_SIZE[task][1]
        if task == "hallucination":
            assert len(loaded) == written == size
            continue
        assert len(loaded) == written == size - 1  # the second row is disputed
        ids = loaded.get("answer_id", loaded.get("pair", loaded.get("dialogue")))
        assert mine[1]["id"] not in ids.tolist()
        assert loaded["labelled_by"].tolist() == ["Ann, Bob"] + ["Ann"] * (written - 1)
    first, myth = world.files["presupposition"][2][0], sources.load("cancer_myth_rated").iloc[0]
    assert (myth["answer"], myth["item"], myth["label"]) == (first["reply"], first["item"], 1)
    assert myth["question"] == first["shared"][0]["text"]
    assert myth["correction"] == first["shared"][1]["text"]
    seen = sources.load("meddialbench_rated_adherence").iloc[0]
    assert seen["shown"] == ["expression", "attitude"] and len(seen["levels"]) == 2
    assert seen["text"].startswith("Doctor: What brings you here today?\nPatient: ")
    patient = [line for line in seen["text"].splitlines() if line.startswith("Patient: ")]
    said = [line.removeprefix("Patient: ") for line in patient]
    assert said == seen["said"].splitlines() != []
    said = sources.load("meddialbench_rated").iloc[0]
    assert said["references"][0] == said["truth"] and said["diagnosis"] and said["label"] == "no"


def test_flags_on_the_pieces_of_a_list_are_published_piece_by_piece(world, tmp_path):
    task = tasks()["side_effect_list"]
    whole = max(annotation.candidates(world.rows, task), key=lambda r: len(task.asked(r)))
    pieces = task.asked(whole)[:3]
    label_of = "right", "false negative", "right"
    for piece, value in zip(pieces, label_of, strict=True):
        write(tmp_path / "annotations", task.name, "Ann", piece, value)
    labels = raters.labels(task.name, world.rows, tmp_path / "annotations")
    settled = raters.consensus(labels)
    path, written = raters.publish(task.name, world.rows, labels, settled, tmp_path)
    frame = pd.read_json(path, lines=True)
    assert written == 3 and set(frame.columns) == set(sources.entry("radiation_flagged")["columns"])
    assert set(frame["list"]) == {whole["id"]} and set(frame["matcher"]) == {"lexical"}
    said = dict(zip(frame["decision"], frame["label"]))
    assert said == {p["reply"]: value for p, value in zip(pieces, label_of, strict=True)}


def test_what_the_embedded_model_asked_itself_is_not_worth_a_label(world):
    task, loop = tasks()["presupposition"], "3.2 generation loop"

    def of_loop(**how):
        found = annotation.candidates(world.rows, task, **how)
        return [r for r in found if r["section"] == loop]

    assert of_loop() == [] and len(of_loop(tiny=True)) > 10


def test_judges_say_the_same_after_labels_were_published(world):
    assert world.learnt == {("Lexical", False), ("Echo", False), ("Overlap", False)}
    after = {r["id"]: r for r in world.after["rows"]}
    before = {r["id"]: r for r in world.before["rows"]}
    both = [(r, after[id]) for id, r in before.items() if id in after]
    assert len(both) > 1000
    for r, now in both:
        judged = [m for m in now["more"] if not m["task"].endswith("label")]
        assert (now["verdicts"], judged, now["reply"]) == (r["verdicts"], r["more"], r["reply"])
    new = [r for id, r in after.items() if id not in before]
    assert {(r["section"], r["paper"]) for r in new} == {("3 detection", "medhalu")}
    assert len(new) == world.files["hallucination"][1]


def test_raters_labels_stand_at_their_rows(world):
    def by_ann(row, task):
        if row["section"] != SECTION_AND_SIZE[task][0]:
            return []
        if task == "adherence":
            return [m["value"] for m in row["more"] if m["judge"] == "Ann"]
        return [h["value"] for h in row["human"] if h["by"].endswith("Ann")]

    rows = world.after["rows"]
    found = {task: [v for r in rows if (v := by_ann(r, task))] for task in SECTION_AND_SIZE}
    # published or not, a label stands there once
    assert all(len(said) == 1 for labels in found.values() for said in labels)
    for task, (_, size) in SECTION_AND_SIZE.items():
        assert len(found[task]) == size, task
    assert found["presupposition"][0] == ["1 corrected"]
    assert found["nfp"][0] == ["1 leaves the premise alone"]
    assert found["adherence"][0] == ["expression; attitude"]
    assert found["hallucination"][0][0] in ("yes, hallucinated", "no, right")
    assert found["diagnosis"][0] == ["no"] and found["side_effect"][0] == ["same"]


def test_from_two_raters_who_may_refuse_to_a_studys_source(world, tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    folder = tmp_path / "annotations"
    says = {  # of the first six replies of one sample
        "Ann": ["yes", "yes", "no", "undecided", "faulty", "no"],
        "Bob": ["yes", "no", "no", "yes", "undecided", "faulty"],
    }
    for rater, values in says.items():
        session = annotation.Session(
            world.rows, "diagnosis", rater, drawing=annotation.Draw(6, repetitions=0), folder=folder
        )
        for value in values:
            refusal = {"refused": value, "reason": "so"} if value in raters.REFUSALS else {}
            assert session.label("" if refusal else value, **refusal) == ""
        assert session.done and session.refused == 2
    order = [entry.row["id"] for entry in session.queue]
    labels = raters.labels("diagnosis", world.rows, folder)
    differing = [r["id"] for r in raters.differing(labels, world.rows, "diagnosis")]
    assert set(differing) == {order[1], order[3], order[5]}
    session = raters.adjudication(labels, world.rows, "diagnosis", folder)
    for value in ("no", "no"):
        assert session.label(value) == ""
    assert session.label("", refused="faulty", reason="no diagnosis in it") == ""
    labels = raters.labels("diagnosis", world.rows, folder)
    settled = raters.consensus(labels)
    assert settled["by"].value_counts().to_dict() == {"all": 2, "adjudicated": 2, "refused": 2}
    assert raters.differing(labels, world.rows, "diagnosis") == []
    _, written = raters.publish("diagnosis", world.rows, labels, settled, tmp_path)
    loaded = sources.load("meddialbench_rated")
    assert written == len(loaded) == 4 and set(loaded["pair"]) < set(order)
    assert dict(zip(loaded["pair"], loaded["label"]))[order[0]] == "yes"
    told = raters.progress("diagnosis", folder).set_index("rater")
    assert told.loc["Ann", ["labels", "can't decide", "item faulty", "of"]].tolist() == [4, 1, 1, 6]
    sources.forget()


def test_cancer_myths_cards_count_the_new_labels(world, tmp_path, monkeypatch, rng):
    # The word-overlap judge grades all 11 new answers -1, the raters 1: of 120 exact 69 stay of
    # 131, of 40 answers of grade 1 33 are found, now of 51.
    run = run_of("cancer_myth", "05_judge_agreement", tmp_path, monkeypatch)

    def graded(labelled, kind):
        how = cancer_myth.GRADING[kind]
        return asyncio.run(judges.grade_labelled(run, labelled, judge="lexical", **how))

    example = rated(run)
    card = trust_cards.trust_card(
        example["label"], graded(example, "myth"), cancer_myth.GRADES, rng
    )
    assert card["n"] == 131 and card["exact"]["value"] == pytest.approx(69 / 131)
    assert card["sensitivity"]["value"] == pytest.approx(33 / 51)
    assert card["specificity"]["value"] == pytest.approx(75 / 80)
    row_sums, column_sums = np.sum(card["confusion"], 1), np.sum(card["confusion"], 0)
    chance = float(row_sums @ column_sums) / 131**2
    kappa = card["kappa"]["value"]
    assert kappa == pytest.approx((69 / 131 - chance) / (1 - chance)) and kappa < 0.3625
    assert judges.whose(example) == "their authors, Ann and Bob"
    assert example["rated"].sum() == 11 and len(labelled(run)) == 120
    plain = rated_plain(run)
    made = graded(plain, "plain")
    # 78.6 % of 42 as without raters
    assert len(plain) == 49 and (made["value"][:42] == plain["label"][:42]).sum() == 33


def test_radiations_card_counts_the_new_labels(world, tmp_path, monkeypatch):
    run = run_of("radiation", "06_judge_agreement", tmp_path, monkeypatch)
    pairs = matching.labelled(run)
    found = asyncio.run(matching.match_labelled(run, pairs, "lexical"))
    spelled = asyncio.run(matching.match_labelled(run, pairs, "spelling"))
    assert len(pairs) == 339 and (found["value"] == pairs["label"])[:330].sum() == 327
    # the card rests on the third batch, and on what raters labelled
    assert matching.unseen(pairs).sum() == 60 + 9
    # 126 of the first 150, as without raters
    assert (spelled["value"] == pairs["label"])[:150].sum() == 126
    by = pairs["labelled_by"]
    assert by.iloc[0] == "their author" and by.iloc[-1] == "Ann"


def test_meddialbenchs_cards_count_the_new_labels(world, tmp_path, monkeypatch):
    run = run_of("meddialbench", "01_design_and_validation", tmp_path, monkeypatch)
    known = Labelled(run)
    measured = asyncio.run(judging.measured(run, known, "lexical"))
    equal = {
        task: [a == b for a, b in zip(right, made["value"])]
        for task, (right, made) in measured.items()
    }
    counts = {task: (len(hits), sum(hits)) for task, hits in equal.items()}
    assert counts["misled"] == (15, 11) and counts["coverage"] == (360, 279)
    assert counts[""][0] == 90 + 13 and counts["adherence"][0] == 5 * (30 + 5)
    assert sum(equal[""][:90]) == 70 and sum(equal["adherence"][:150]) == 131
    assert known.labelled_by("coverage") == known.labelled_by("misled") == "this project"
    assert "Ann" in known.labelled_by() and "Ann" in known.labelled_by("adherence")
    assert len(baselines.learnt(known.diagnosis)) == 90 and len(known.rows("coverage")) == 360
    assert known.adherence["dialogue"].str.startswith("Doctor: ").all()
    assert known.adherence["answer_id"].is_unique


def test_medhalus_annotations_are_read(world, tmp_path, monkeypatch):
    _, written, _, labels = world.files["hallucination"]
    run = run_of("medhalu", "02_detection", tmp_path, monkeypatch)
    read = annotations(run, asyncio.run(medhalu.benchmark(run, "built", 0, "", 0)))
    own = read[read["repeat"] == "Ann"].set_index("item")
    assert written == len(own) == 9 and labels["repetition"].sum() == 3
    assert set(own["group"]) == {"expert"} and set(own["reason"]) == {'so, "it\nis"'}
    for r in labels[~labels["repetition"]].itertuples():
        said = own.loc[r.item, ["yes", "type", "spans"]].tolist()
        assert said == [float(r.value == "yes"), r.type, r.spans]
    assert own["yes"].nunique() == 2


def hallucination_labels(table, **more):
    """Labels {rater: {id: value}} of hallucinations, without marked places, as a frame."""
    labels = given(table, **more)
    return labels.assign(item=labels["id"], spans=[[] for _ in range(len(labels))])


def test_what_is_published_again_is_read_again(tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    rows, counts = judged_rows("a", [True, False]), []
    labels = hallucination_labels({"Ann": {"a0": "no", "a1": "no"}})
    for mine in (labels, labels[:1]):
        raters.publish("hallucination", rows, mine, raters.consensus(mine), tmp_path)
        counts.append(len(sources.load("medhalu_annotations")))
    sources.forget()
    assert counts == [2, 1]


def test_raters_are_published_as_counts_only(tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    labels = hallucination_labels({"Ann": {"a0": "no"}})
    counted = raters.background("hallucination", tmp_path / "labels")
    given = judged_rows("a", [True]), labels, raters.consensus(labels), tmp_path
    raters.publish("hallucination", *given, counted)
    assert not (tmp_path / "medhalu/raters.csv").exists()  # nobody to count
    said = {"group": "expert", "answers": {"Gender": "Male"}}
    folder = tmp_path / "labels/hallucination/background"
    folder.mkdir(parents=True)
    for n in range(5):
        (folder / f"reader {n}.jsonl").write_text(json.dumps(said) + "\n")
    counted = raters.background("hallucination", tmp_path / "labels")
    raters.publish("hallucination", *given, counted)
    text = (tmp_path / "medhalu/raters.csv").read_text()
    assert "expert,Gender,Male,5\n" in text and "reader" not in text
    sources.forget()


def test_the_source_that_a_rater_consulted_is_published(tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    labels = hallucination_labels({"Ann": {"mh-01": "no", "mh-02": "undecided"}})
    labels["source"] = "a formulary"
    settled = raters.consensus(labels)
    _, count = raters.publish("hallucination", [], labels, settled, tmp_path)
    loaded = sources.load("medhalu_annotations")
    assert count == 1 and loaded[["item", "consulted"]].values.tolist() == [
        ["mh-01", "a formulary"]
    ]
    run = run_of("medhalu", "02_detection", tmp_path, monkeypatch)
    read = annotations(run, asyncio.run(medhalu.benchmark(run, "built", 0, "", 0)))
    assert (read["repeat"] == "Ann").sum() == 1
    sources.forget()


def test_published_without_a_settled_label_reads_as_none(tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    labels = given({"Ann": {"a": "yes"}, "Bob": {"a": "no"}})
    settled = raters.consensus(labels)
    assert raters.publish("diagnosis", [row("a")], labels, settled, tmp_path)[1] == 0
    run = run_of("meddialbench", "01_design_and_validation", tmp_path, monkeypatch)
    own = judges.with_raters_labels(run, pd.DataFrame({"label": ["yes"]}), "meddialbench_rated")
    assert len(own) == 1


def test_a_file_is_replaced_whole_or_stays(tmp_path):
    rows = judged_rows("a", [True, False])
    table = {"Ann": {"a0": "no", "a1": "no"}, raters.ADJUDICATED: {"a0": "yes"}}
    labels = hallucination_labels(table, again=[("Ann", "a0", "yes")])
    path, n = raters.publish("hallucination", rows, labels, raters.consensus(labels), tmp_path)
    with open(path, newline="") as f:
        read = list(csv.DictReader(f))
    assert n == 2 and [(r["item"], r["rater"], r["group"], r["hallucinated"]) for r in read] == [
        ("a0", "Ann", "rater", "no"),
        ("a1", "Ann", "rater", "no"),
    ]
    old, fewer = path.read_bytes(), labels[labels["id"] == "a1"]
    settled = raters.consensus(fewer)
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    part.mkdir()
    with pytest.raises((OSError, BedsideError)):
        raters.publish("hallucination", rows, fewer, settled, tmp_path)
    assert path.read_bytes() == old
    part.rmdir()
    assert raters.publish("hallucination", rows, fewer, settled, tmp_path)[1] == 1
    assert path.read_bytes() != old
    assert [p.name for p in path.parent.iterdir()] == ["annotations.csv"]


def test_rated_rows_are_graded_never_learnt_from():
    class Judge:
        def __init__(self, labelled, values):
            assert labelled.index.tolist() == list(range(len(labelled)))
            self.learnt = labelled["answer"].tolist()

        def out_of_fold(self):
            return [f"out {a}" for a in self.learnt]

        def grade(self, frame):
            return [f"{a} by {len(self.learnt)}" for a in frame["answer"]]

    frame = pd.DataFrame(
        {"answer": list("abcde"), "rated": [True, False, True, False, False]}, index=[9, 8, 7, 6, 5]
    )
    made = baselines.held_out(Judge, frame, [0, 1])
    assert made.tolist() == ["a by 3", "out b", "c by 3", "out d", "out e"]
    assert made.index.tolist() == [9, 8, 7, 6, 5]
    unrated = baselines.held_out(Judge, frame.drop(columns="rated"), [0, 1])
    assert unrated.tolist() == [f"out {a}" for a in "abcde"]


def test_without_raters_labels_are_their_authors(nothing, tmp_path, monkeypatch):
    elsewhere(monkeypatch, nothing)
    run = run_of("cancer_myth", "05_judge_agreement", tmp_path, monkeypatch)
    labels = pd.DataFrame({"label": [1, 0]})
    own = judges.with_raters_labels(run, labels, "cancer_myth_rated", "us")
    assert own["labelled_by"].tolist() == ["us", "us"]
    assert not own["rated"].any() and judges.whose(own) == "us"
