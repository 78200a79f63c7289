"""A study's protocol on raters' pages: consent, checks, batches, background, reasons."""

import collections
import json

import pytest
import raters_labels
from raters_labels import ABOUT, BURN, SPANS, items_of, many

from bedside import __main__ as steps
from bedside.annotation import raters, rows, tasks
from bedside.asking.store import digest
from bedside.publish.judged_items import collect
from bedside.read.surroundings import here
from judged import kept_in
from rater_pages import FIRST, answer, back, data, label, out, said, taken

own = raters_labels.own  # a fixture
EXPERT = {"protocol": True, "group": "expert"}


def entered(folder, rater, group, **said):
    """What a rater's file says of consent and background, taken in."""
    page = out(folder, many(2, "own"), "own", [rater], protocol=True, group=group)[rater]
    back(folder, rater, page, {"entrance": said, "at": FIRST})
    assert taken(folder)[1] == 0
    (folder / f"back/{rater}.jsonl").unlink()


def test_a_page_by_the_protocol_asks_for_consent_reasons_and_sources(own, tmp_path):
    own(**SPANS | ABOUT)
    rows = many(2, "own", reply=BURN)
    page = out(tmp_path, rows, "own", ["Ann"], **EXPERT)["Ann"]
    asked = data(page)
    assert asked["entrance"]["consent"] == ABOUT["consent"]
    assert asked["training"][0]["expected"] == ["yes, wrong", "fact: false", "Iron heals"]
    yes = {"values": ["yes"], "type": ["fact"], "spans": ["Iron"]}
    for more, fault in (({}, "a reason"), ({"reason": "no"}, "the source")):
        back(tmp_path, "Ann", page, label(page, 0) | yes | more)
        assert f"['yes'] needs {fault}" in taken(tmp_path)[0][0]
    answers = {"school": "two", "pet": "prefer not to say"}
    entered(tmp_path, "Ann", "expert", school="two", pet="a parrot")
    line = json.loads((tmp_path / "labels/own/background/Ann.jsonl").read_text())
    assert (line["answers"], line["group"]) == (answers, "expert")
    assert line["consent"] == digest(ABOUT["consent"])
    again = data(out(tmp_path, rows, "own", ["Ann"], **EXPERT)["Ann"])["entrance"]["questions"]
    assert {q["name"]: q["given"] for q in again} == answers
    plain = out(tmp_path, rows, "own", ["Ben"])["Ben"]  # without the protocol
    assert data(plain)["entrance"] is None and data(plain)["training"] == []
    back(tmp_path, "Ann", plain, label(plain, 0) | yes)
    assert taken(tmp_path)[1] == 0


SUN = {"values": ["yes"], "type": ["fact"], "spans": ["Sun"]}
FAULTY = {"values": [], "refused": "faulty", "reason": "x"}


def test_who_fails_an_attention_check_does_not_count(own, tmp_path):
    own(types=SPANS["types"], spans_for="yes", checks=lambda: items_of("checks"))
    rows, sun, water = many(8, "own"), "Sun is green.", "Water is wet."
    wrong = {**SUN, "spans": ["Water"]}
    # everything is labelled no but what is said here
    says = {"Ann": {sun: SUN}, "Ben": {}, "Cem": {sun: SUN, water: FAULTY}}
    says["Dan"] = {sun: SUN, water: wrong}
    for rater, known in says.items():

        def say(item, n, known=known):
            return known.get(item["answer"]["text"], "no")

        items = answer(tmp_path, rows, "own", rater, say, **EXPERT)["items"]
        texts = [i["answer"]["text"] for i in items]
        assert len(texts) == 8 + 2 and {sun, water} < {*texts}
        assert texts[0] not in (sun, water) and len({tuple(i) for i in items}) == 1  # nothing tells
    page = out(tmp_path, rows, "own", ["Eve"], **EXPERT)["Eve"]
    back(tmp_path, "Eve", page, label(page, 0, "no"))  # has seen no check yet
    taken(tmp_path)
    given = raters.labels("own", rows, tmp_path / "labels")
    assert {*given["rater"]} == {"Ann", "Cem", "Eve"}  # Cem called one faulty
    assert given.attrs["failed"] == ["Ben", "Dan"] and given.attrs["left_out"] == 0
    counted = raters.background("own", tmp_path / "labels").values.tolist()
    checks = ["expert", "attention checks"]
    assert counted == [[*checks, "passed", 2], [*checks, "failed", 2]]
    page = out(tmp_path, rows, "own", ["Ben"], **EXPERT)["Ben"]
    texts = [i["answer"]["text"] for i in data(page)["items"]]
    back(tmp_path, "Ben", page, label(page, texts.index(sun), at="2026-11-25T11:00:00Z") | SUN)
    taken(tmp_path)  # a correction counts, as for any item
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
    counts = {"one": 4, "two": 1, "prefer not to say": 0}
    assert counted.values.tolist() == [["expert", "school", *c] for c in counts.items()]
    entered(tmp_path, "e0", "expert", school="one", pet="cat")  # the last answer counts
    entered(tmp_path, "e5", "expert", school="prefer not to say")
    with open(tmp_path / "labels/own/background/e1.jsonl", "a") as f:
        f.write('{"cut')
    counted = raters.background("own", tmp_path / "labels")
    assert counted["raters"].tolist() == [5, 0, 1, 5, 0, 1]
    assert not {f"e{n}" for n in range(6)} & {*counted.astype(str).to_numpy().ravel()}


# ---- by the command, with the protocol of MedHalu

TEAM = [f"reader {n:02}" for n in range(30)]
ASKED = ["TASK=hallucination", "PROTOCOL=1"]


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """`make annotate` in a house with what the sample's MedHalu kept; returns what it prints."""
    monkeypatch.setattr(here, "figures", str(tmp_path))
    kept_in(tmp_path, "medhalu")
    for room in ("handed", "returned", "log", "raters.together"):
        monkeypatch.setattr(f"bedside.annotation.{room}.FOLDER", tmp_path / "labels")

    def run(*given):
        steps.main(["annotate", *given])
        return capsys.readouterr().out

    return run


def handed_out(folder, name):
    return (folder / f"annotate/hallucination-{name}.html").read_text("utf-8")


def test_ten_batches_with_three_raters_each_by_the_protocol_of_medhalu(tmp_path, command):
    """Each of 32 answers has three raters, who are compared; who fails a check doesn't count."""
    command(*ASKED, "SIZE=0", "GROUP=expert", f"RATERS={', '.join(TEAM)}")
    checks = {x["reply"]: x["right"] for x in tasks()["hallucination"].checks()}
    batches = collections.Counter()
    for name in TEAM:
        page = handed_out(tmp_path, name)
        items = {i["id"]: i["answer"]["text"] for i in data(page)["items"]}
        batches[frozenset(id for id, text in items.items() if text not in checks)] += 1
        assert {*checks} <= {*items.values()}
        assert data(page)["entrance"]["consent"] and data(page)["training"]

        def say(item, n, name=name):
            right = checks.get(item["answer"]["text"], {"value": "no"})
            if right["value"] == "no" or name == "reader 07":
                return "no"
            marks = {"type": [right["type"]], "spans": right["spans"]}
            return {"values": ["yes"], **marks, "reason": "it isn't", "source": "a handbook"}

        entrance = {"entrance": {"Education": "Graduate in Medicine"}, "at": FIRST}
        back(tmp_path, name, page, entrance, *said(page, say))
    assert [*batches.values()] == [3] * 10 and len(frozenset.union(*batches)) == 32
    assert sum(map(len, batches)) == 32 and {*map(len, batches)} == {3, 4}
    command(f"FROM={tmp_path / 'back'}")
    known = rows(collect("sample", "medhalu"))
    labels = raters.labels("hallucination", known, tmp_path / "labels")
    assert labels.attrs["failed"] == ["reader 07"] and set(labels["group"]) == {"expert"}
    counts = labels.groupby("id")["rater"].nunique()
    assert len(counts) == 32 and set(counts) == {2, 3} and counts.eq(2).sum() in (3, 4)
    shown = raters.agreement(labels, "hallucination")
    together = ["reader 00 and reader 10", "reader 00 and reader 20", "reader 10 and reader 20"]
    assert {*together} < {*shown["row"]} and "reader 00 and reader 01" not in {*shown["row"]}
    settling = command("TASK=hallucination", "RATERS=adjudicated")
    assert "Nothing is left to settle" in settling and "32 all" in settling
    counted = raters.background("hallucination", tmp_path / "labels")
    told = counted.set_index(["question", "answer"])["raters"]
    assert told["attention checks"].to_dict() == {"passed": 29, "failed": 1}
    assert told["Education", "Graduate in Medicine"] == 30


def test_raters_who_make_no_equal_batches_are_told_and_may_label_the_whole(
    tmp_path, command, capsys
):
    asked = [*ASKED, "SIZE=8", "RATERS=Ann,Ben"]
    with pytest.raises(SystemExit):
        command(*asked)
    assert "BATCHES is 10, but there are 2 raters" in capsys.readouterr().err
    command(*asked, "BATCHES=0")
    pages = [data(handed_out(tmp_path, name))["items"] for name in ("Ann", "Ben")]
    ids = [{i["id"] for i in items} for items in pages]
    assert ids[0] == ids[1] and len(ids[0]) == 8 + 4
    assert "'Ann': 1, 'Ben': 2" in command(*asked, "BATCHES=2")
