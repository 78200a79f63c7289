"""Judged items made by hand: verdicts by id, hostile texts, marked places, ids taken once."""

import dataclasses
import json

import pytest

from bedside import BedsideError
from bedside.asking import models
from bedside.publish import judged_items

HOSTILE = "<script>alert(1)</script> {{ 7*7 }} =1+1 \ud800 \x00 \"'</div> \u202e"


ROW = {
    **{"item": "i", "model": "m", "configuration": "c", "judge": "j", "status": "graded"},
    **{"value": 1, "right": True, "unit": "u", "truncated": False, "key": "", "question": "q"},
    **{"reply": "r", "raw": "so", "reply_status": ""},
}
HOW = judged_items.Display("s", "n", "1 s", words={0: "bad", 1: "good"})


def content(*replies, how=HOW):
    """A document of these replies, each a change of ROW."""
    document = judged_items.Document("sample")
    document.add("p", [ROW | r for r in replies], how, {})
    return document.content()


def test_verdicts_stand_at_their_reply_and_unscored_ones_have_no_side():
    made = content(
        {"item": "y", "raw": '{"reason": "so"}'},
        {"item": "x", "status": "unparsed", "value": None, "right": None, "raw": "?"},
        {"item": "x", "judge": "k", "value": 0.0, "right": False},
        {"item": "y", "judge": "k", "value": 1.0},
        {"item": "z", "judge": "", "status": "", "value": None, "right": None},
    )
    found = {r["item"]: r["verdicts"] for r in made["rows"]}
    assert list(found) == ["y", "x", "z"] and found["z"] == []
    assert [(v["judge"], v["status"], v["value"], v["right"], v["reason"]) for v in found["y"]] == [
        ("j", "graded", "good", True, "so"),
        ("k", "graded", "good", True, ""),
    ]
    assert [(v["status"], v["value"], v["right"]) for v in found["x"]] == [
        ("unparsed", "", None),
        ("graded", "bad", False),
    ]
    assert judged_items.verdict("j", "refused", "value", True, "no")["right"] is None
    assert judged_items.verdict("j", "graded", "v")["right"] is None


def test_hostile_texts_pass_through_but_for_lone_surrogates():
    clean = HOSTILE.replace("\ud800", "\ufffd")
    how = dataclasses.replace(
        HOW,
        shared=lambda row: {"p i": [judged_items.text("Question", row["question"])]},
        reason=lambda row: HOSTILE,
        human=lambda mine: [judged_items.human_label("Ann", "yes", reason=HOSTILE)],
        blocks=lambda mine: [
            judged_items.entries("list", [HOSTILE]),
            judged_items.aligned("sides", ["x"], {HOSTILE: ("matched",)}),
            judged_items.marked("spans", HOSTILE, found=[(0, 8)]),
            judged_items.dialogue("talk", [("Doctor", judged_items.pieces(HOSTILE), [])]),
        ],
    )
    said = {"reply": HOSTILE, "raw": HOSTILE, "status": "unparsed", "value": None, "right": None}
    made = content({**said, "question": HOSTILE}, how=how)
    (row,) = made["rows"]
    text = json.dumps(made, ensure_ascii=False)
    assert text.encode() and text.count(json.dumps(clean, ensure_ascii=False)[1:-1]) == 9
    assert row["reply"] == row["human"][0]["reason"] == made["shared"]["p i"][0]["text"] == clean
    assert row["title"] == " ".join(clean.split())
    assert judged_items.as_text(made, row).count("<script>") > 7


def test_marks_stand_where_the_places_are():
    assert judged_items.pieces("0123456789", a=[(2, 5, "exact")], b=[(4, 7), (9, 10)]) == [
        ["01", ""],
        ["23", "a"],
        ["4", "a b"],
        ["56", "b"],
        ["78", ""],
        ["9", "b"],
    ]
    assert judged_items.pieces("") == []
    assert judged_items.pieces("ab") == [["ab", ""]]
    assert judged_items.pieces("ab", a=[(0, 2)]) == [["ab", "a"]]


def test_a_row_is_taken_in_once_and_an_absent_reply_never():
    label = [judged_items.human_label("Ann", 1), judged_items.human_label("Bob", 0)]
    how = dataclasses.replace(HOW, words={}, human=lambda mine: label * (mine[0]["item"] == "i"))
    document = judged_items.Document("sample")
    first = [ROW, ROW | {"judge": "k", "status": "refused", "value": None, "right": None}]
    document.add("p", first, how, {})
    assert list(document.rows) == ["p/n/i/m/c"]
    with pytest.raises(BedsideError, match="two rows have the id 'p/n/i/m/c'"):
        document.add("p", [ROW], how, {})
    nobody = {"judge": "", "status": "", "value": None, "right": None}
    lost = [
        ROW | nobody | {"item": i, "reply_status": why}
        for i, why in (("j", models.NOT_RECORDED), ("k", "500"))
    ]
    document.add("p", lost, how, {})
    assert list(document.rows) == ["p/n/i/m/c", "p/n/k/m/c"]
    found = judged_items.frame(document.content())
    assert found[["item", "judge", "status", "value", "right", "human"]].values.tolist() == [
        ["i", "j", "graded", "1", True, "1"],
        ["i", "k", "refused", "", None, "1"],
        ["k", "", "", "", None, ""],
    ]
    assert judged_items.frame(document.content(), "k")["item"].tolist() == ["i"]
    assert judged_items.frame({"rows": []}).empty
    with pytest.raises(BedsideError, match="judge"):
        judged_items.frame(document.content(), "nobody")
