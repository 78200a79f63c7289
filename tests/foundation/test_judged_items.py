"""Judged items made by hand: verdicts by id, hostile texts, marked places, ids taken once."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from bedside import BedsideError, rows

HOSTILE = "<script>alert(1)</script> {{ 7*7 }} =1+1 \ud800 \x00 \"'</div> \u202e"


def test_verdicts_are_given_by_id_and_unscored_ones_have_no_side():
    by = {
        "a": pd.DataFrame(
            {
                "item": ["y", "x", "z"],
                "status": ["graded", "unparsed", "error"],
                "value": [1, None, None],
                "raw": ['{"reason": "so"}', "?", rows.ABSENT],
            }
        ),
        "b": pd.DataFrame(
            {"item": ["x", "y"], "status": ["graded", "graded"], "value": [0.0, 1.0], "raw": ""}
        ),
    }
    found = rows.verdicts_by_item(by, {0: "bad", 1: "good"}, {1})
    assert list(found) == ["y", "x"]  # z was never recorded
    assert [(v["judge"], v["status"], v["value"], v["right"], v["reason"]) for v in found["y"]] == [
        ("a", "graded", "good", True, "so"),
        ("b", "graded", "good", True, ""),
    ]
    assert [(v["status"], v["value"], v["right"]) for v in found["x"]] == [
        ("unparsed", "", None),
        ("graded", "bad", False),
    ]
    assert rows.verdict("j", "refused", "value", True, "no")["right"] is None
    assert rows.verdict("j", "graded", "v")["right"] is None


def document_of(**row):
    document = rows.Document("sample")
    run = SimpleNamespace(paper="p", notebook="n")
    id = document.add(
        run,
        "1 s",
        "i",
        "m",
        "c",
        **{"title": "t", "shared": [document.share("p i", rows.text("Question", HOSTILE))], **row},
    )
    return document, run, id


def test_hostile_texts_pass_through_but_for_lone_surrogates():
    clean = HOSTILE.replace("\ud800", "\ufffd")
    document, _, id = document_of(
        title=f"a\n b {HOSTILE}",
        reply=HOSTILE,
        verdicts=[rows.verdict("j", "unparsed", raw=HOSTILE, reason=HOSTILE)],
        human=[rows.human_label("Ann", "yes", reason=HOSTILE)],
        blocks=[
            rows.entries("list", [HOSTILE]),
            rows.aligned("sides", ["x"], {HOSTILE: ("matched",)}),
            rows.marked("spans", HOSTILE, found=[(0, 8)]),
            rows.dialogue("talk", [("Doctor", rows.pieces(HOSTILE), [])]),
        ],
    )
    content = document.content()
    (row,) = content["rows"]
    text = json.dumps(content, ensure_ascii=False)
    assert text.encode() and text.count(json.dumps(clean, ensure_ascii=False)[1:-1]) == 9
    assert row["reply"] == row["human"][0]["reason"] == content["shared"]["p i"][0]["text"] == clean
    assert row["title"] == "a b " + " ".join(clean.split())
    assert rows.as_text(content, row).count(clean) == 7
    assert "\n<script> [found]alert" in rows.as_text(content, row)


def test_marks_stand_where_the_places_are():
    assert rows.pieces("0123456789", a=[(2, 5, "exact")], b=[(4, 7), (9, 10)]) == [
        ["01", ""],
        ["23", "a"],
        ["4", "a b"],
        ["56", "b"],
        ["78", ""],
        ["9", "b"],
    ]
    assert rows.pieces("") == []
    assert rows.pieces("ab") == [["ab", ""]]
    assert rows.pieces("ab", a=[(0, 2)]) == [["ab", "a"]]


def test_a_row_is_taken_in_once_and_an_absent_reply_never():
    document, run, id = document_of(
        verdicts=[rows.verdict("j", "graded", 1, 1), rows.verdict("k", "refused")],
        human=[rows.human_label("Ann", 1), rows.human_label("Bob", 0)],
        reply="r",
    )
    assert id == "p/n/i/m/c"
    with pytest.raises(BedsideError, match="two rows have the id 'p/n/i/m/c'"):
        document.add(run, "1 s", "i", "m", "c", title="t")
    assert document.add(run, "1 s", "j", "m", "c", title="t", status=rows.ABSENT) == ""
    assert document.add(run, "1 s", "k", "m", "c", title="t", status="500")
    assert document.share("p i", rows.text("Question", "another")) == "p i"
    assert document.content()["shared"]["p i"][0]["text"].startswith("<script>")
    found = rows.frame(document.content())
    assert found[["item", "judge", "status", "value", "right", "human"]].values.tolist() == [
        ["i", "j", "graded", "1", True, "1"],
        ["i", "k", "refused", "", None, "1"],
        ["k", "", "", "", None, ""],
    ]
    assert rows.frame(document.content(), "k")["item"].tolist() == ["i"]
    assert rows.frame({"rows": []}).empty
    with pytest.raises(BedsideError, match="judge"):
        rows.frame(document.content(), "nobody")
    assert rows.as_text(document.content(), document.content()["rows"][0]).splitlines()[-5:] == [
        "VERDICTS",
        "j: 1",
        "k: refused",
        "Ann: 1",
        "Bob: 0",
    ]
