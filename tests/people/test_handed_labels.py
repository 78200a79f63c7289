"""Labels that come back on raters' pages: which are taken, whose count, and what they are told."""

import json

import annotation_rows
import pytest
from annotation_rows import BURN, DIALOGUE, SPANS, many, mine, row

from bedside import BedsideError
from bedside.annotation import handed, raters, tasks
from bedside.asking.store import digest
from bedside.publish.judged_items import text
from rater_pages import FIRST, answer, back, data, label, out

own = annotation_rows.own  # fixtures
session = annotation_rows.session


# ---- labels


TAKEN = [
    ("presupposition", {"values": ["-1"]}),
    ("hallucination", {"values": ["no"], "reason": "all of it is right"}),
    ("hallucination", {"values": ["yes"], "type": ["fact"], "spans": ["Iron heals burns"]}),
    ("adherence", {"values": []}),
    ("adherence", {"values": ["logic", "attitude", "logic"]}),
]
FAULTS = [
    ("presupposition", {"values": ["2"]}, "not a choice"),
    ("presupposition", {"values": []}, "choose one"),
    ("presupposition", {"values": ["1"], "type": ["fact"]}, "no type"),
    ("presupposition", {"values": ["1"], "spans": ["Rest"]}, "no span"),
    ("presupposition", {"values": [], "refused": "undecided"}, "say why"),
    ("presupposition", {"values": [], "reason": " ", "refused": "faulty"}, "say what is wrong"),
    ("presupposition", {"values": [], "reason": "x", "refused": "tired"}, "not a refusal"),
    ("presupposition", {"values": ["1"], "reason": "x", "refused": "faulty"}, "has no value"),
    ("hallucination", {"values": ["yes"]}, "needs a type"),
    ("hallucination", {"values": ["yes"], "type": ["fact"], "spans": [" "]}, "at least one span"),
    ("hallucination", {"values": ["yes"], "type": ["fact"], "spans": ["zinc"]}, "not in the"),
    ("hallucination", {"values": ["no"], "type": ["fact"]}, "has no type"),
    (
        "hallucination",
        {"values": [], "spans": ["Rest"], "reason": "x", "refused": "faulty"},
        "no value",
    ),
    ("adherence", {"values": ["rude"]}, "not a choice"),
]


@pytest.mark.parametrize("task, given, fault", [(*t, "") for t in TAKEN] + FAULTS)
def test_which_labels_are_taken(tmp_path, task, given, fault):
    how = tasks()[task]
    blocks = [DIALOGUE] if task == "adherence" else []
    rows = [row("x-1", how.paper, how.sections[0], reply=BURN, blocks=blocks)]
    page = out(tmp_path, rows, task, ["Ann"])["Ann"]
    back(tmp_path / "back", "Ann.jsonl", page, label(page, 0) | given)
    (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    (item,) = data(out(tmp_path, rows, task, ["Ann"])["Ann"])["items"]
    if fault:
        assert refused and fault in told and item["given"] is None
    else:
        assert item["given"]["value"] == "; ".join(sorted({*given["values"]}))


def test_a_label_of_another_text_does_not_count(tmp_path):
    rows = many(3)
    answer(tmp_path, rows, "presupposition", "Ann", lambda item, n: "1")
    changed = [rows[0] | {"reply": "rewritten"}, *rows[1:]]
    items = data(out(tmp_path, changed, "presupposition", ["Ann"])["Ann"])["items"]
    open_ = [i["answer"]["text"] for i in items if i["given"] is None]
    assert open_ == ["rewritten"]


WRONG = [({"task": "halucination"}, "did you mean"), ({"rater": "../x"}, "1 to 40")]
WRONG += [({"group": "a/b"}, "expert, layperson"), ({"size": -1}, "size")]
WRONG += [({"rater": " ADJUDICATED "}, "reserved"), ({"repetitions": 0.9}, "0 to 0.5")]
WRONG += [({"rows": []}, "no replies for the task 'presupposition'")]


@pytest.mark.parametrize("given, match", WRONG)
def test_what_a_session_refuses(session, given, match):
    with pytest.raises(BedsideError, match=match):
        session(**{"rows": many(2), **given})


# ---- a study's protocol


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
        assert f"'yes' needs {fault}" in handed.taken(tmp_path / "back", tmp_path / "labels")[0][0]
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
    for rater, said in says.items():
        items = answer(tmp_path, rows, "own", rater, say(said), **how)["items"]
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
