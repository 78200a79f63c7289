"""Raters: labels together, agreement by hand, refusals, and what is open."""

import json
import unicodedata

import numpy as np
import pandas as pd
import pytest
import raters_labels
from raters_labels import cells, given, judged_rows, row, write
from sklearn.metrics import cohen_kappa_score

from bedside import annotation
from bedside.annotation import raters, tasks
from bedside.publish.judged_items import text

rng = raters_labels.rng  # a fixture


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
    limits = found["Ann and Bob", "equal, %"][1:3]
    # Wilson's limits L solve (p - L)^2 = t^2 L (1 - L) / n, with t of 9 degrees of freedom.
    assert limits[0] < 70 < limits[1]
    for at in np.divide(limits, 100):
        assert (0.7 - at) ** 2 == pytest.approx(2.262157**2 * at * (1 - at) / 10, rel=1e-5)
    few = found["Ann and Bob", "kappa"], found["all 2 raters", "Krippendorff's alpha"]
    assert np.isnan([v[1:3] for v in few]).all()


def test_kappa_of_twenty_items_has_the_interval_of_leaving_one_out(rng):
    # The ten items above twice: kappa stays .4; alpha is 1 - (12 / 40) / (2 x 22 x 18 / (40 x 39)).
    twenty = {who: said | {k + k: v for k, v in said.items()} for who, said in TEN.items()}
    found = cells(raters.agreement(given(twenty), "hallucination", rng))
    value, low, high, n = found["Ann and Bob", "kappa"]
    assert (value, n) == (pytest.approx(0.4), 20)
    # Of each item its pairs of labels with their weights; then two more, spread evenly.
    items = [[(a, twenty["Bob"][k], 1)] for k, a in twenty["Ann"].items()]
    more = [("yes", "yes", 0.5), ("no", "no", 0.5)], [("yes", "no", 0.5), ("no", "yes", 0.5)]
    ends = [fisher_limits(items), fisher_limits([*items, *more])]
    assert (low, high) == pytest.approx((min(e[0] for e in ends), max(e[1] for e in ends)))
    alpha, low, high, n = found["all 2 raters", "Krippendorff's alpha"]
    assert (alpha, n) == (pytest.approx(1 - 12 * 39 / (2 * 22 * 18)), 20)
    assert low < alpha < high


def fisher_limits(items):
    """Limits of kappa on Fisher's z, with the jackknife's error and t of 19 degrees of freedom."""

    def kappa(items):
        a, b, weight = zip(*(pair for item in items for pair in item))
        return cohen_kappa_score(a, b, sample_weight=weight)

    whole, count = kappa(items), len(items)
    without = [kappa(items[:i] + items[i + 1 :]) for i in range(count)]
    error = np.sqrt((count - 1) * np.var(without)) / (1 - whole**2)
    return np.tanh(np.arctanh(whole) + 2.0930241 * error * np.array([-1, 1]))


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
        "Ann": dict(zip("abcdefghijklmnopqrstuvwx", 4 * ["yes", "yes", "yes", "no", "no", "no"])),
        "Bob": dict(zip("abcdefghijklmnopqrstuvwx", 4 * ["yes", "yes", "no", "no", "no", "yes"])),
    }

    def kappa(labels, task):
        found = cells(raters.agreement(labels, task, np.random.default_rng(1)))
        return found["Ann and Bob", "kappa"]

    # every part as the item
    parts = pd.concat([given(table, part=p) for p in tasks()["adherence"].values])
    one, five = kappa(given(table), "hallucination"), kappa(parts, "adherence")
    assert five[:3] == pytest.approx(one[:3]) and one[0] == pytest.approx(1 / 3)
    assert (one[3], five[3]) == (24, 120) and one[1] < one[0] < one[2]


def test_intervals_draw_units_not_items():
    # Every question is asked of two models and answered alike: nothing is learnt from the second.
    table = {
        "Ann": dict(zip("abcdefghijklmnopqrstuvwx", 4 * ["yes", "yes", "yes", "no", "no", "no"])),
        "Bob": dict(zip("abcdefghijklmnopqrstuvwx", 4 * ["yes", "yes", "no", "no", "no", "yes"])),
    }
    once = given(table)
    twice = pd.concat([once, once.assign(id=once["id"] + " of another model")])

    def interval(labels, column):
        found = cells(raters.agreement(labels, "hallucination", np.random.default_rng(1)))
        return found.get(("Ann and Bob", column)) or found["all 2 raters", column]

    for column in ("kappa", "Krippendorff's alpha"):
        one, two = interval(once, column), interval(twice, column)
        assert two[1:3] == pytest.approx(one[1:3], abs=0.03) and (one[3], two[3]) == (24, 48)
        apart = interval(twice.assign(unit=twice["id"]), column)
        assert apart[2] - apart[1] < 0.8 * (two[2] - two[1])
    one, two = interval(once, "equal, %"), interval(twice, "equal, %")
    assert two[2] - two[1] == pytest.approx(one[2] - one[1], rel=0.05)


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
