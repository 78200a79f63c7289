"""Annotation sessions: labels taken and refused, corrections, a study's protocol, adjudication."""

import json

import annotation_rows
import pytest
from annotation_rows import BURN, DIALOGUE, SPANS, lines, many, mine, row

from bedside import BedsideError
from bedside.annotation import raters, tasks
from bedside.keep.store import digest
from bedside.publish.judged_items import text

own = annotation_rows.own  # fixtures
session = annotation_rows.session


# ---- labels


TAKEN = [
    ("presupposition", {"value": "-1"}),
    ("hallucination", {"value": "no", "reason": "all of it is right"}),
    ("hallucination", {"value": "yes", "type": "fact", "spans": ["Iron heals burns"]}),
    ("adherence", {"value": []}),
    ("adherence", {"value": ["logic", "attitude", "logic"]}),
    ("adherence", {"value": "logic; attitude"}),
]
FAULTS = [
    ("presupposition", {"value": "2"}, "not a choice"),
    ("presupposition", {"value": 1}, "can't be read"),
    ("presupposition", {"value": []}, "choose one"),
    ("presupposition", {"value": "1", "type": "fact"}, "no type"),
    ("presupposition", {"value": "1", "spans": ["Rest"]}, "no span"),
    ("presupposition", {"value": "1", "seconds": float("nan")}, "from 0"),
    ("presupposition", {"value": "", "refused": "undecided"}, "say why"),
    ("presupposition", {"value": "", "reason": " ", "refused": "faulty"}, "say what is wrong"),
    ("presupposition", {"value": "", "reason": "x", "refused": "tired"}, "not a refusal"),
    ("presupposition", {"value": "1", "reason": "x", "refused": "faulty"}, "has no value"),
    ("hallucination", {"value": "yes"}, "needs a type"),
    ("hallucination", {"value": "yes", "type": "fact", "spans": [" "]}, "at least one span"),
    ("hallucination", {"value": "yes", "type": "fact", "spans": ["zinc"]}, "not in the answer"),
    ("hallucination", {"value": "no", "type": "fact"}, "has no type"),
    (
        "hallucination",
        {"value": "", "spans": ["Rest"], "reason": "x", "refused": "faulty"},
        "no value",
    ),
    ("adherence", {"value": ["rude"]}, "not a choice"),
]


@pytest.mark.parametrize("task, given, fault", [(*t, "") for t in TAKEN] + FAULTS)
def test_which_labels_are_taken(session, task, given, fault):
    how = tasks()[task]
    blocks = [DIALOGUE] if task == "adherence" else []
    s = session([row("x-1", how.paper, how.sections[0], reply=BURN, blocks=blocks)], task)
    said = s.label(**given)
    if fault:
        assert fault in said and not s.log.path.exists() and not s.done
        return
    value = given["value"]
    wanted = "attitude; logic" if "logic" in value else value or ""
    assert said == "" and s.done and lines(s)[0]["value"] == wanted
    s.back()
    assert s.shown()["earlier"]["values"] == [v for v in wanted.split("; ") if v]


def test_a_session_resumes_corrects_and_refuses(session):
    rows = many(5)
    s, window = session(rows), session(rows)
    s.label("1")
    second = s.shown()["answer"]
    s.label("-1")
    again = session(rows)
    assert again.progress == (2, 5) and again.at == 2
    again.back()
    assert again.shown()["answer"] == second and again.shown()["earlier"]["values"] == ["-1"]
    assert again.label("0") == "" and again.at == 2  # on to the first without a label
    # the later line wins
    assert session(rows).given(again.queue[1])["value"] == "0" and len(lines(s)) == 3
    assert again.label("", reason=" two questions ", refused="faulty") == ""
    assert again.progress == (3, 5) and again.refused == 1 and len(again.log.labels()) == 2
    assert session(rows).at == 3  # refusals are not asked about again
    again.back()
    assert again.shown()["earlier"]["refused"] == "faulty" and again.label("1") == ""
    assert again.refused == 0 and len(again.log.labels()) == 3
    assert window.label("0") == "" and window.progress == (3, 5)  # another window's labels count
    assert session(rows, seed=9).progress == (3, 5) and session(rows, rater="Ben").progress == (
        0,
        5,
    )
    changed = [{**r, "reply": "rewritten"} for r in rows]
    assert session(changed).progress == (0, 5)  # a label of another text does not count


def test_an_item_is_put_off_once_and_comes_before_its_repetition(session):
    s = session(many(3))
    order = [e.row["id"] for e in s.queue]
    assert s.skip() == "" and [e.row["id"] for e in s.queue] == [*order[1:], order[0]]
    s.label("1")
    s.label("1")
    assert "put off once" in s.skip() and s.queue[s.at].row["id"] == order[0]
    for seed in range(6):
        s = session(many(6), repetitions=0.5, seed=seed, rater=f"r{seed}")
        while s.progress[0] < s.progress[1]:
            before = s.progress
            if len(s.queue) - s.at > 3 and s.at % 2 == 0 and s.at < 5:
                s.skip()
                assert s.progress == before and len(s.queue) == before[1]
            s.label("1")
        seen = set()
        for r in lines(s):
            assert r["check"] == (r["id"] in seen)
            seen.add(r["id"])
        assert len(seen) == 6 and len(lines(s)) == 9
        assert len(s.log.labels()) == 6 and len(s.log.labels(repetition=True)) == 3


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


def protocol(session, n=2, rater="Ann", **other):
    return session(mine(n, reply=BURN), "own", rater, protocol=True, **other)


def test_consent_and_training_come_first_and_are_no_labels(own, session):
    own(**SPANS | ABOUT)
    s = protocol(session, group="expert")
    assert "answer" not in s.shown() and "without your consent" in s.label("no")
    assert "not one of the answers" in s.enter(True, {"school": "three"})
    assert s.enter(False, {"school": "one"}) and s.enter(True, {"school": "two"}) == ""
    line = json.loads((s.log.path.parent / "background" / "Ann.jsonl").read_text())
    assert line["answers"] == {"school": "two", "pet": "prefer not to say"}
    assert line["consent"] == digest(ABOUT["consent"]) and line["group"] == "expert"
    assert "needs a reason" in s.label("yes", "fact", ["Iron"])  # the same demands as later
    assert "needs the source" in s.label("yes", "fact", ["Iron"], reason="no")
    given = {"reason": "no evidence", "source": "a handbook"}
    for spans, right in ((["burns"], False), (["Iron"], True)):
        s = protocol(session)  # consent is asked anew; unread feedback isn't done
        s.enter(True, {})
        assert s.shown()["training"] == "training 1 of 2"
        assert s.label("yes", "fact", spans, **given) == ""
        found = s.shown()["feedback"]
        assert found["right"] == right and "read the feedback" in s.label("no")
        assert found["expected"] == ["yes, wrong", "fact: false", "Iron heals"]
    assert s.read() == "" and s.label("yes", "fact", ["Water"], **given) == ""
    assert not s.shown()["feedback"]["right"] and s.read() == ""
    assert not s.log.path.exists() and s.log.both() == {False: {}, True: {}}
    assert s.label("yes", "fact", ["Rest"], **given) == "" and s.label("no") == ""
    assert s.done and [r["source"] for r in lines(s)] == ["a handbook", ""]
    own(**SPANS | {"training": None})
    assert "'no' needs a reason" in protocol(session, rater="Eve", all_reasons=True).label("no")
    plain = session(mine(2, reply=BURN), "own", rater="Ben")  # without the protocol
    assert plain.label("yes", "fact", ["Rest"]) == ""


def test_who_fails_an_attention_check_does_not_count(own, session, tmp_path):
    own(types=SPANS["types"], spans_for="yes", checks=known)
    rows = [r | {"unit": r["item"]} for r in mine(8)]
    right = {"Sun is green.": "yes"}
    says = {"Ann": right, "Ben": {}, "Cem": right | {"Water is wet.": ""}}
    says |= {"Dan": right | {"Water is wet.": "yes"}}
    for rater, said in says.items():  # everything labelled no but what is said here
        s = session(rows, "own", rater, protocol=True, group="expert")
        texts = [e.row["reply"] for e in s.queue]
        assert len(texts) == 8 + 2 and {*CHECKS} < {*texts} and texts[0] not in CHECKS
        assert s.shown().keys() == session(rows, "own", "Fay").shown().keys()  # nothing tells
        while not s.done:
            reply = s.shown()["answer"]["text"]
            value = said.get(reply, "no")
            given = ("yes", "fact", [reply[:3]]) if value == "yes" else (value,)
            refusal = {} if value else {"refused": "faulty", "reason": "x"}
            assert s.label(*given, **refusal) == ""
    session(rows, "own", rater="Eve", protocol=True).label("no")  # has seen no check yet
    given = raters.labels("own", rows, tmp_path)
    assert {*given["rater"]} == {"Ann", "Cem", "Eve"}  # Cem called one faulty
    assert given.attrs["failed"] == ["Ben", "Dan"] and given.attrs["left_out"] == 0
    assert raters.background("own", tmp_path).values.tolist() == [
        ["expert", "attention checks", "passed", 2],
        ["expert", "attention checks", "failed", 2],
    ]
    again = session(rows, "own", rater="Ben", protocol=True, group="expert")
    again.at = next(i for i, e in enumerate(again.queue) if e.row["reply"] == "Sun is green.")
    again.label("yes", "fact", ["Sun"])  # a correction counts, as for any item
    assert raters.labels("own", rows, tmp_path).attrs["failed"] == ["Dan"]


def test_background_is_counted_for_five_raters_or_more(own, session, tmp_path):
    own(**ABOUT)

    def enter(rater, group, **said):
        protocol(session, rater=rater, group=group).enter(True, said)

    for n in range(5):
        enter(f"e{n}", "expert", school="one" if n else "two", **({"pet": "cat"} if n else {}))
    for n in range(4):
        enter(f"l{n}", "layperson", school="one", pet="dog")
    counted = raters.background("own", tmp_path)
    # four of the experts told their pet, and the laypeople are four: too few to be counted
    assert counted.values.tolist() == [
        ["expert", "school", "one", 4],
        ["expert", "school", "two", 1],
        ["expert", "school", "prefer not to say", 0],
    ]
    enter("e0", "expert", school="one", pet="cat")  # the last answer counts
    with open(tmp_path / "own/background/e1.jsonl", "a") as f:
        f.write('{"cut')
    counted = raters.background("own", tmp_path)
    assert counted["raters"].tolist() == [5, 0, 0, 5, 0, 0]
    assert not {f"e{n}" for n in range(5)} & {*counted.astype(str).to_numpy().ravel()}
