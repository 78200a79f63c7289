"""Annotation sessions: labels taken and refused, corrections, a study's protocol, adjudication."""

import json

import annotation_rows
import pytest
from annotation_rows import BURN, DIALOGUE, SECRET, SPANS, lines, many, mine, row

from bedside import BedsideError, annotation
from bedside.annotation import alias, raters, tasks
from bedside.keep.store import digest
from bedside.publish.judged_items import text

own = annotation_rows.own  # fixtures
session = annotation_rows.session


# ---- labels


def test_what_is_recorded(session):
    s = session(many(9), size=4, seed=3, group="layperson")
    shown = s.shown()
    assert s.label("0", reason="  vague ", seconds=12.34567) == ""
    made = lines(s)[0]
    assert tuple(made) == annotation.FIELDS and SECRET not in json.dumps(made)
    expected = {"paper": "cancer_myth", "task": "presupposition", "rater": "Ann", "value": "0"}
    expected |= {"group": "layperson", "type": "", "spans": [], "reason": "vague", "refused": ""}
    expected |= {"source": "", "seconds": 12.346, "check": False, "id": alias(s.queue[0].row["id"])}
    expected |= {"sample": {"seed": 3, "size": 4, "n": 9, "of": 4}}
    expected |= {"text_sha256": digest({k: shown[k] for k in ("before", "answer", "after")})}
    assert {k: made[k] for k in expected} == expected and made["at"].endswith("+00:00")


TAKEN = [
    ("presupposition", {"value": "-1"}),
    ("nfp", {"value": "0"}),
    ("hallucination", {"value": "no", "reason": "all of it is right"}),
    ("hallucination", {"value": "yes", "type": "fact", "spans": ["Iron heals burns"]}),
    ("hallucination", {"value": "yes", "type": "fact", "spans": "Iron heals"}),
    ("side_effect", {"value": "same"}),
    ("diagnosis", {"value": "yes"}),
    ("adherence", {"value": []}),
    ("adherence", {"value": ["logic", "attitude", "logic"]}),
    ("adherence", {"value": "logic; attitude"}),
]
FAULTS = [
    ("presupposition", {"value": "2"}, "not a choice"),
    ("presupposition", {"value": 1}, "can't be read"),
    ("presupposition", {"value": ["1", "0"]}, "choose one"),
    ("presupposition", {"value": []}, "choose one"),
    ("presupposition", {"value": [["1"]]}, "can't be read"),
    ("presupposition", {"value": "1", "type": "fact"}, "no type"),
    ("presupposition", {"value": "1", "spans": ["Rest"]}, "no span"),
    ("presupposition", {"value": "1", "seconds": float("nan")}, "from 0"),
    ("presupposition", {"value": "1", "seconds": -1}, "from 0"),
    ("presupposition", {"value": "", "refused": "undecided"}, "say why"),
    ("presupposition", {"value": "", "reason": " ", "refused": "faulty"}, "say what is wrong"),
    ("presupposition", {"value": "", "reason": "x", "refused": "tired"}, "not a refusal"),
    ("presupposition", {"value": "1", "reason": "x", "refused": "faulty"}, "has no value"),
    ("nfp", {"value": "-1"}, "choices are 1"),
    ("hallucination", {"value": "yes"}, "needs a type"),
    ("hallucination", {"value": "yes", "type": "none", "spans": ["Rest"]}, "needs a type"),
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


def test_the_box_asks_for_a_name_and_says_what_it_has(tmp_path):
    def box(rater=""):
        return annotation.box(many(3), "presupposition", rater, folder=tmp_path, size=0)

    def enter(made, name, sure=False):
        made.take(None, {"do": "open", "name": name, "sure": sure}, [])
        return made.shown

    made = box("../x")
    assert made.about == {} and made.shown["fault"] and enter(made, "adjudicated")["fault"]
    enter(made, "Ann")
    assert made.about["rater"] == "Ann" and not made.shown["fault"]
    made.session.label("", reason="x", refused="faulty")
    again = box()
    assert enter(again, "Ann")["known"]["refused"] == 1 and again.about == {}
    assert enter(again, "Ann", sure=True)["handled"] == 1 and again.about["rater"] == "Ann"


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
    assert s.shown()["place"] == "entrance" and "answer" not in s.shown()
    assert s.shown()["entrance"]["questions"][0]["given"] == "prefer not to say"
    s.skip()
    assert "without your consent" in s.label("no")
    assert "without your consent" in s.enter(False, {"school": "one"})
    assert "not one of the answers" in s.enter(True, {"school": "three"})
    about = s.log.path.parent / "background" / "Ann.jsonl"
    assert not about.exists() and s.enter(True, {"school": "two"}) == ""
    line = json.loads(about.read_text())
    assert line["answers"] == {"school": "two", "pet": "prefer not to say"}
    assert line["consent"] == digest(ABOUT["consent"]) and line["group"] == "expert"
    assert s.shown()["training"] == "training 1 of 2"
    assert "needs a reason" in s.label("yes", "fact", ["Iron"])  # the same demands as later
    assert "needs the source" in s.label("yes", "fact", ["Iron"], reason="no")
    given = {"reason": "no evidence", "source": "a handbook"}
    assert s.label("yes", "fact", ["burns"], **given) == ""
    found = s.shown()["feedback"]
    assert not found["right"] and found["expected"] == ["yes, wrong", "fact: false", "Iron heals"]
    assert "read the feedback" in s.label("no")
    again = protocol(session)  # asked anew, with the answers of last time; unread isn't done
    assert again.shown()["entrance"]["questions"][0]["given"] == "two"
    again.enter(True, {})
    assert again.shown()["training"] == "training 1 of 2"
    again.label("yes", "fact", ["Iron"], **given)
    assert again.shown()["feedback"]["right"] and again.read() == ""
    again.label("yes", "fact", ["Water"], **given)
    assert not again.shown()["feedback"]["right"]
    again.read()
    assert again.shown()["place"] == 0 and not again.log.path.exists()
    assert again.log.both() == {False: {}, True: {}}
    assert list(again.log.path.parent.glob("*.jsonl")) == []  # where labels are looked for
    assert again.label("yes", "fact", ["Rest"], **given) == "" and again.label("no") == ""
    assert again.done and [r["source"] for r in lines(again)] == ["a handbook", ""]
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


# ---- adjudication


def test_opinions_are_shown_in_words_without_names(session):
    there = [row(f"x-{i}", "medhalu", "2.2 answers", reply=BURN) for i in range(8)]
    ann = {"value": "yes", "type": "fact", "spans": ["Rest"], "reason": "false", "rater": SECRET}
    ben = {"value": "", "type": "", "spans": [], "reason": "unclear", "refused": "undecided"}
    opinions = {r["id"]: [ann, ben] for r in there[:6]}
    s = session(there, "hallucination", rater="adjudicated", opinions=opinions, size=1)
    assert len(s.queue) == 6  # all rows with opinions, though their texts are alike
    orders = []
    while not s.done:
        shown = s.shown()["opinions"]
        assert SECRET not in json.dumps(shown)
        orders.append(tuple(o["reason"] for o in shown))
        by = {o["reason"]: o for o in shown}
        assert by["false"]["said"][1].startswith("fact") and by["false"]["spans"] == ["Rest"]
        assert by["unclear"]["refused"] == "undecided" and by["unclear"]["said"] == []
        assert s.label("no") == ""
    assert len({*orders}) == 2  # not always the same one first
    with pytest.raises(BedsideError, match="reserved"):
        session(there, "hallucination", rater="Ann", opinions=opinions)
