"""What single rows show: dialogues and notes, lists side by side, places of statements, spans."""

import re

import pytest

from bedside.papers.meddialbench import words
from bedside.papers.medhalu import display as medhalu
from bedside.papers.medhalu.spans import located
from bedside.papers.radiation import display as radiation
from bedside.read import checks
from judged import collected, rows_of

DISCLOSES = r"discloses key item (\d+): (.*)"


@pytest.fixture(scope="module")
def content(nothing):
    """All judged items of the sample, without files of the user's own."""
    return collected(nothing)


def blocks_of(content, row, label):
    """What the row's blocks of this label list, shared ones too."""
    shared = [block for key in row["shared"] for block in content["shared"][key]]
    return [e for b in [*shared, *row["blocks"]] if b["label"] == label for e in b["entries"]]


def test_dialogues_name_a_key_item_where_it_is_first_told_and_mark_what_the_script_says(content):
    noted = marked = 0
    for r in rows_of(content, "4 consultations"):
        key_items = {str(n): e for n, e in enumerate(blocks_of(content, r, "Key items"), 1)}
        lies = list(map(checks.normal, blocks_of(content, r, "False statements of the script")))
        dialogue, said, first = r["blocks"][0]["turns"], [], {}
        assert [t["who"] for t in dialogue[:2]] == ["Doctor", "Patient"]
        assert not dialogue[1]["notes"]
        for n, turn in enumerate(dialogue[2:]):
            notes = [re.fullmatch(DISCLOSES, note).groups() for note in turn["notes"]]
            assert turn["who"] == "Patient" or not notes
            assert all(key_items[k] == t for k, t in notes)
            said += [k for k, _ in notes]
            if turn["who"] != "Patient":
                continue
            told = checks.normal("".join(t for t, _ in turn["pieces"]))
            for k, t in key_items.items():
                if checks.normal(t) in told:
                    first.setdefault(k, n)
            assert set(first) <= set(said)
            for t, mark in turn["pieces"]:
                lie = checks.normal(t) in lies
                assert mark in ("", "script") and (not mark or lies)
                assert mark == "script" or not lie or len(words.of(t)) < 2
                marked += lie
        assert len(said) == len(set(said))
        noted += len(said)
    assert noted > 200 and marked > 20


def sides(terms, meant, effects, vocabulary):
    """A patient's base list beside a specified one that isn't there: {term: cells}."""
    row = {"profile": "base", "terms": terms, "meant": meant, "other": None}
    block = radiation.sides({**row, "effects": effects, "vocabulary": vocabulary})
    assert block["columns"] == ["base", "specified"]
    return [(x["term"], *x["cells"]) for x in block["rows"]]


def test_a_predicted_item_keeps_the_reference_terms_own_mark():
    # what was predicted second is the reference's own wording, but the matcher gave the term to
    # the first item
    found = sides(["tiredness", "rash"], [0, -1], ["fatigue", "nausea"], ["fatigue", "nausea"])
    assert found == [
        ("fatigue", "matched", ""),
        ("nausea", "missed", ""),
        ("rash", "spurious", ""),
    ]


def test_labelled_and_detected_spans_are_marked_where_they_stand():
    answer, found = "Cold air causes it. Milk helps.", ["cold AIR", "snow and ice"]
    places = {"labelled": located(["Milk helps"], answer), "detected": located(found, answer)}
    row = {"answer": answer, "note": ""} | {f"{k}_spans": v for k, v in places.items()}
    (block,) = medhalu.spans([row])
    assert block["pieces"] == [
        ["Cold air", "detected"],
        [" causes it. ", ""],
        ["Milk helps", "labelled"],
        [".", ""],
    ]
    assert [b["label"] for b in medhalu.spans([row | {"note": "x"}])][1:] == ["Note in the prompt"]
