"""A study's protocol on raters' pages: consent, checks, batches, background, reasons."""

import collections
import json

import annotation_rows
import numpy as np
import pytest
from annotation_rows import BURN, SPANS, mine

import rater_pages
from bedside import __main__ as steps
from bedside.annotation import handed, raters, rows, tasks
from bedside.asking.store import digest
from bedside.publish.judged_items import collect, text
from bedside.read.surroundings import here
from judged import kept_in
from rater_pages import FIRST, answer, back, data, label, out, said

own = annotation_rows.own  # a fixture


CHECKS = {"Sun is green.": {"value": "yes", "type": "fact", "spans": ["Sun"]}}


CHECKS |= {"Water is wet.": {"value": "no"}}


ABOUT = {
    "consent": "You may stop.\n\n<b>Agree?</b>",
    "background": (("school", "Which school?", ("one", "two")), ("pet", "A pet?", ("cat", "dog"))),
}


def known():
    """Two attention checks with what is right."""
    asked = [text("Question", "so?")]
    return [{"shared": asked, "reply": reply, "right": x} for reply, x in CHECKS.items()]


def entered(folder, rater, group, **said):
    """What a rater's file says of consent and background, taken in."""
    page = out(folder, mine(2, reply=BURN), "own", [rater], protocol=True, group=group)[rater]
    back(folder / "back", f"{rater}.jsonl", page, {"entrance": said, "at": FIRST})
    assert handed.taken(folder / "back", folder / "labels")[1] == 0
    (folder / "back" / f"{rater}.jsonl").unlink()


def test_a_page_by_the_protocol_asks_for_consent_reasons_and_sources(own, tmp_path):
    own(**SPANS | ABOUT)
    rows = mine(2, reply=BURN)
    page = out(tmp_path, rows, "own", ["Ann"], protocol=True, group="expert")["Ann"]
    asked = data(page)
    assert asked["entrance"]["consent"] == ABOUT["consent"]
    assert asked["training"][0]["expected"] == ["yes, wrong", "fact: false", "Iron heals"]
    yes = {"values": ["yes"], "type": ["fact"], "spans": ["Iron"]}
    for more, fault in (({}, "a reason"), ({"reason": "no"}, "the source")):
        back(tmp_path / "back", "Ann.jsonl", page, label(page, 0) | yes | more)
        assert (
            f"['yes'] needs {fault}" in handed.taken(tmp_path / "back", tmp_path / "labels")[0][0]
        )
    entered(tmp_path, "Ann", "expert", school="two", pet="a parrot")
    line = json.loads((tmp_path / "labels/own/background/Ann.jsonl").read_text())
    assert (
        line["answers"] == {"school": "two", "pet": "prefer not to say"}
        and line["group"] == "expert"
    )
    assert line["consent"] == digest(ABOUT["consent"])
    again = data(out(tmp_path, rows, "own", ["Ann"], protocol=True, group="expert")["Ann"])
    assert [q["given"] for q in again["entrance"]["questions"]] == ["two", "prefer not to say"]
    plain = out(tmp_path, rows, "own", ["Ben"])["Ben"]  # without the protocol
    assert data(plain)["entrance"] is None and data(plain)["training"] == []
    back(tmp_path / "back", "Ann.jsonl", plain, label(plain, 0) | yes)
    assert handed.taken(tmp_path / "back", tmp_path / "labels")[1] == 0


def test_who_fails_an_attention_check_does_not_count(own, tmp_path):
    own(types=SPANS["types"], spans_for="yes", checks=known)
    rows = [r | {"unit": r["item"]} for r in mine(8)]
    right = {"Sun is green.": "yes"}
    says = {"Ann": right, "Ben": {}, "Cem": right | {"Water is wet.": ""}}
    says |= {"Dan": right | {"Water is wet.": "yes"}}

    def say(said):
        """Everything is labelled no but what is said here."""

        def one(item, n):
            reply = item["answer"]["text"]
            value = said.get(reply, "no")
            if value == "yes":
                return {"values": ["yes"], "type": ["fact"], "spans": [reply[:3]]}
            return value or {"values": [], "refused": "faulty", "reason": "x"}

        return one

    how = {"protocol": True, "group": "expert"}
    for rater, marks in says.items():
        items = answer(tmp_path, rows, "own", rater, say(marks), **how)["items"]
        texts = [i["answer"]["text"] for i in items]
        assert len(texts) == 8 + 2 and {*CHECKS} < {*texts} and texts[0] not in CHECKS
        assert len({tuple(i) for i in items}) == 1  # nothing tells
    page = out(tmp_path, rows, "own", ["Eve"], **how)["Eve"]
    back(tmp_path / "back", "Eve.jsonl", page, label(page, 0, "no"))  # has seen no check yet
    handed.taken(tmp_path / "back", tmp_path / "labels")
    given = raters.labels("own", rows, tmp_path / "labels")
    assert {*given["rater"]} == {"Ann", "Cem", "Eve"}  # Cem called one faulty
    assert given.attrs["failed"] == ["Ben", "Dan"] and given.attrs["left_out"] == 0
    assert raters.background("own", tmp_path / "labels").values.tolist() == [
        ["expert", "attention checks", "passed", 2],
        ["expert", "attention checks", "failed", 2],
    ]
    page = out(tmp_path, rows, "own", ["Ben"], **how)["Ben"]
    texts = [i["answer"]["text"] for i in data(page)["items"]]
    sun = label(page, texts.index("Sun is green."), "yes", at="2026-11-25T11:00:00Z")
    back(tmp_path / "back", "Ben.jsonl", page, sun | {"type": ["fact"], "spans": ["Sun"]})
    handed.taken(tmp_path / "back", tmp_path / "labels")  # a correction counts, as for any item
    assert raters.labels("own", rows, tmp_path / "labels").attrs["failed"] == ["Dan"]


def test_background_is_counted_for_five_raters_or_more(own, tmp_path):
    own(**ABOUT)
    for n in range(5):
        pet = {"pet": "cat"} if n else {}
        entered(tmp_path, f"e{n}", "expert", school="one" if n else "two", **pet)
    for n in range(4):
        entered(tmp_path, f"l{n}", "layperson", school="one", pet="dog")
    counted = raters.background("own", tmp_path / "labels")
    # four of the experts told their pet, and the laypeople are four: too few to be counted
    assert counted.values.tolist() == [
        ["expert", "school", "one", 4],
        ["expert", "school", "two", 1],
        ["expert", "school", "prefer not to say", 0],
    ]
    entered(tmp_path, "e0", "expert", school="one", pet="cat")  # the last answer counts
    entered(tmp_path, "e5", "expert", school="prefer not to say")
    with open(tmp_path / "labels/own/background/e1.jsonl", "a") as f:
        f.write('{"cut')
    counted = raters.background("own", tmp_path / "labels")
    assert counted["raters"].tolist() == [5, 0, 1, 5, 0, 1]
    assert not {f"e{n}" for n in range(6)} & {*counted.astype(str).to_numpy().ravel()}


TEAM = [f"reader {n:02}" for n in range(30)]


def command(capsys, *given):
    steps.main(["annotate", *given])
    return capsys.readouterr().out


def medhalu(folder, monkeypatch):
    """A house with what the sample's MedHalu kept, and no labels."""
    monkeypatch.setattr(here, "figures", str(folder))
    kept_in(folder, "medhalu")
    for room in ("handed", "returned", "log", "raters.together"):
        monkeypatch.setattr(f"bedside.annotation.{room}.FOLDER", folder / "labels")
    return rows(collect("sample", "medhalu"))


def test_ten_batches_with_three_raters_each_by_the_protocol_of_medhalu(
    tmp_path, monkeypatch, capsys
):
    """Each of 32 answers has three raters, who are compared; who fails a check doesn't count."""
    known = medhalu(tmp_path, monkeypatch)
    asked = ["TASK=hallucination", "PROTOCOL=1", "SIZE=0", "GROUP=expert"]
    command(capsys, *asked, f"RATERS={', '.join(TEAM)}")
    checks = {x["reply"]: x["right"] for x in tasks()["hallucination"].checks()}
    seen, batches = collections.Counter(), collections.Counter()
    for name in TEAM:
        page = (tmp_path / f"annotate/hallucination-{name}.html").read_text("utf-8")
        items = {i["id"]: i["answer"]["text"] for i in data(page)["items"]}
        mine = frozenset(id for id, text in items.items() if text not in checks)
        assert {*checks} <= {*items.values()} and 3 <= len(mine) <= 4
        assert data(page)["entrance"]["consent"] and data(page)["training"]
        batches[mine] += 1
        seen.update(mine)

        def say(item, n, name=name):
            right = checks.get(item["answer"]["text"], {"value": "no"})
            if right["value"] == "no" or name == "reader 07":
                return "no"
            marks = {"type": [right["type"]], "spans": right["spans"]}
            return {"values": ["yes"], **marks, "reason": "it isn't", "source": "a handbook"}

        entered = {
            "entrance": {"Education": "Graduate in Medicine"},
            "at": rater_pages.FIRST,
        }
        back(tmp_path / "back", f"{name}.jsonl", page, entered, *said(page, say))
    assert len(seen) == 32 and {*seen.values()} == {3} and [*batches.values()] == [3] * 10
    command(capsys, f"FROM={tmp_path / 'back'}")
    labels = raters.labels("hallucination", known, tmp_path / "labels")
    assert labels.attrs["failed"] == ["reader 07"] and set(labels["group"]) == {"expert"}
    counts = labels.groupby("id")["rater"].nunique()
    assert len(counts) == 32 and set(counts) == {2, 3} and counts.eq(2).sum() in (3, 4)
    shown = raters.agreement(labels, "hallucination")
    together = ["reader 00 and reader 10", "reader 00 and reader 20", "reader 10 and reader 20"]
    assert {*together} < {*shown["row"]} and "reader 00 and reader 01" not in {*shown["row"]}
    settling = command(capsys, "TASK=hallucination", "RATERS=adjudicated")
    assert "Nothing is left to settle" in settling and "32 all" in settling
    counted = raters.background("hallucination", tmp_path / "labels")
    told = counted.set_index(["question", "answer"])["raters"]
    assert told["attention checks"].to_dict() == {"passed": 29, "failed": 1}
    assert told["Education", "Graduate in Medicine"] == 30


def test_raters_who_make_no_equal_batches_are_told_and_may_label_the_whole(
    tmp_path, monkeypatch, capsys
):
    medhalu(tmp_path, monkeypatch)
    asked = ["TASK=hallucination", "PROTOCOL=1", "SIZE=8", "RATERS=Ann,Ben"]
    with pytest.raises(SystemExit):
        steps.main(["annotate", *asked])
    assert "BATCHES is 10, but there are 2 raters" in capsys.readouterr().err
    command(capsys, *asked, "BATCHES=0")
    pages = [tmp_path / f"annotate/hallucination-{name}.html" for name in ("Ann", "Ben")]
    ids = [{i["id"] for i in data(page.read_text("utf-8"))["items"]} for page in pages]
    assert ids[0] == ids[1] and len(ids[0]) == 8 + 4
    assert "'Ann': 1, 'Ben': 2" in command(capsys, *asked, "BATCHES=2")
