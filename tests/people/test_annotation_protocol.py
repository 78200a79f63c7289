"""Annotation beyond one label an item: refusals, protocols, opinions."""

import json

import annotation_own
import pytest
from annotation_own import SPANS, mine, paragraphs
from annotation_rows import BURN, SECRET, lines, many, row

from bedside import BedsideError
from bedside.annotation import raters, tasks
from bedside.keep.store import digest
from bedside.publish.judged_items import text

own = annotation_own.own  # a fixture
session = annotation_own.session  # a fixture


# ---- refusals and later


def test_a_refusal_needs_a_reason_and_is_no_label(session):
    s = session(many(4))
    assert "say why it can't be decided" in s.label("", refused="undecided")
    assert "say what is wrong" in s.label("", reason="  ", refused="faulty")
    assert "not a refusal" in s.label("", reason="x", refused="tired")
    assert "has no value" in s.label("1", reason="x", refused="faulty")
    assert not s.log.path.exists()
    assert s.label("", reason=" two questions ", refused="faulty") == ""
    assert s.label([], reason="it depends", refused="undecided") == ""
    assert s.label("1") == ""
    assert s.progress == (3, 4) and s.refused == 2
    assert s.shown()["handled"] == 3 and s.shown()["refused"] == 2
    made = [(r["value"], r["refused"], r["reason"]) for r in lines(s)]
    expected = [("", "faulty", "two questions"), ("", "undecided", "it depends"), ("1", "", "")]
    assert made == expected
    assert len(s.log.labels()) == 1 and len(s.log.both()[False]) == 3
    again = session(many(4))  # refusals are not asked about again
    assert again.progress == (3, 4) and again.at == 3


def test_a_refusal_becomes_a_label_and_the_other_way_round(session):
    s = session(many(2))
    s.label("", reason="unclear", refused="undecided")
    s.back()
    earlier = s.shown()["earlier"]
    assert (earlier["values"], earlier["refused"]) == ([], "undecided")
    assert earlier["reason"] == "unclear"
    s.label("0")
    assert s.refused == 0 and s.progress == (1, 2)
    s.back()
    assert s.shown()["earlier"]["values"] == ["0"]
    s.label("", reason="now I doubt", refused="faulty")
    assert s.refused == 1 and s.progress == (1, 2) and s.log.labels() == {}


def test_refusals_of_tasks_with_several_values_or_spans(session):
    one = [row("x", "medhalu", "2.2 answers", reply=BURN)]
    s = session(one, "hallucination")
    assert "has no value" in s.label("", spans=["Rest"], reason="x", refused="faulty")
    assert s.label("", reason="x", refused="undecided") == "" and s.done
    s.back()
    assert s.label("yes", "fact", ["Rest"]) == "" and s.refused == 0


def test_an_item_is_put_off_once(session):
    s = session(many(3))
    order = [e.row["id"] for e in s.queue]
    assert s.skip() == "" and [e.row["id"] for e in s.queue] == [*order[1:], order[0]]
    s.label("1")
    s.label("1")
    assert s.queue[s.at].row["id"] == order[0]
    said = s.skip()
    assert "put off once" in said and "press u" in said and s.queue[s.at].row["id"] == order[0]
    assert s.label("", reason="I don't know", refused="undecided") == "" and s.done
    s.back()
    assert s.skip() == "" and s.done  # a handled one is only left


def test_what_is_put_off_and_comes_again_is_put_off_once(session):
    s = session(many(4), repetitions=0.5)
    for _ in range(len(s.queue) * 2):
        s.skip()
    assert s.skip() != "" and s.progress == (0, 6)


# ---- a study's protocol


def protocol(session, **other):
    return session(mine(2, reply=BURN), "own", protocol=True, **other)


def test_training_takes_a_mark_for_the_word_and_not_for_part_of_another(own, session):
    right = {"value": "yes", "type": "fact", "spans": ["air"]}
    item = {"shared": [], "reply": "Hair loss comes from cold air.", "right": right, "why": "No."}
    own(**SPANS | {"training": lambda: [item]})
    for spans, touched in ((["cold air"], True), (["Hair loss"], False)):
        s = protocol(session)
        assert s.label("yes", "fact", spans, reason="no evidence", source="a handbook") == ""
        assert s.shown()["feedback"]["right"] == touched


def test_training_comes_first_with_feedback_and_is_no_label(own, session):
    own(**SPANS)
    s = protocol(session)
    assert s.shown()["training"] == "training 1 of 2" and not s.done
    assert s.shown()["answer"]["text"] == "Iron heals burns."
    assert "needs a reason" in s.label("yes", "fact", ["Iron"])  # the same demands as later
    given = {"reason": "no evidence", "source": "a handbook"}
    assert s.label("yes", "fact", ["burns"], **given) == ""
    found = s.shown()["feedback"]
    assert not found["right"] and found["expected"] == ["yes, wrong", "fact: false", "Iron heals"]
    assert found["why"] == "why Iron heals burns." and s.shown()["earlier"]["spans"] == ["burns"]
    assert "read the feedback" in s.label("no") and s.shown()["training"] == "training 1 of 2"
    again = protocol(session)  # unread feedback isn't done
    assert again.shown()["training"] == "training 1 of 2"
    again.label("yes", "fact", ["Iron"], **given)
    assert again.shown()["feedback"]["right"] and again.read() == ""
    again.skip()
    again.back()
    assert again.shown()["training"] == "training 2 of 2"
    resumed = protocol(session)
    assert resumed.shown()["training"] == "training 2 of 2"
    resumed.label("yes", "fact", ["Water"], **given)
    assert not resumed.shown()["feedback"]["right"]
    resumed.read()
    assert resumed.shown()["place"] == 0 and not resumed.log.path.exists()
    assert protocol(session).shown()["training"] == ""
    assert protocol(session, rater="Ben").shown()["training"] == "training 1 of 2"
    assert resumed.log.both() == {False: {}, True: {}}
    assert list(resumed.log.path.parent.glob("*.jsonl")) == []  # where labels are looked for


def test_reason_and_source_are_needed_in_a_protocol_only(own, session):
    own(**SPANS | {"training": None})
    s = protocol(session)
    assert "needs a reason" in s.label("yes", "fact", ["Rest"])
    assert "needs the source" in s.label("yes", "fact", ["Rest"], "false")
    assert s.label("yes", "fact", ["Rest"], "false", source=" WHO 2020 ") == ""
    assert s.label("no") == "" and s.done
    assert [r["source"] for r in lines(s)] == ["WHO 2020", ""]
    assert s.about["closing"].startswith("Give the file")
    plain = session(mine(2, reply=BURN), "own", rater="Ben")
    assert plain.label("yes", "fact", ["Rest"]) == ""
    assert plain.about["closing"] == "" and plain.about["reason_for"] == ()


def test_a_reason_for_every_decision(own, session):
    own(**SPANS | {"training": None, "source_for": ()})
    s = protocol(session, all_reasons=True)
    assert "'no' needs a reason" in s.label("no") and s.label("no", reason="it is right") == ""
    assert "'yes' needs a reason" in s.label("yes", "fact", ["Rest"])
    assert set(s.about["reason_for"]) == {"yes", "no"}
    plain = session(mine(2, reply=BURN), "own", rater="Ben", all_reasons=True)
    assert plain.about["reason_for"] == () and plain.label("no") == ""  # without the protocol
    assert tasks()["own"].reason_for == ("yes",)


ABOUT = {
    "consent": "You may stop.\n\n<b>Agree?</b>",
    "background": (("school", "Which school?", ("one", "two")), ("pet", "A pet?", ("cat", "dog"))),
}


def test_nothing_is_shown_before_consent(own, session):
    own(**SPANS | ABOUT)
    s = protocol(session, group="expert")
    shown = s.shown()
    assert shown["place"] == "entrance" and "answer" not in shown and not s.done
    page = shown["entrance"]
    assert page["consent"] == ABOUT["consent"]
    assert page["questions"][0] == {
        "name": "school",
        "question": "Which school?",
        "answers": ["prefer not to say", "one", "two"],
        "given": "prefer not to say",
    }
    s.skip()
    s.back()
    assert "without your consent" in s.label("no") and s.shown()["place"] == "entrance"
    assert "without your consent" in s.enter(False, {"school": "one"})
    assert "'three' is not one of the answers" in s.enter(True, {"school": "three"})
    about = s.log.path.parent / "background" / "Ann.jsonl"
    assert not about.exists()
    assert s.enter(True, {"school": "two"}) == "" and s.shown()["training"] == "training 1 of 2"
    line = json.loads(about.read_text())
    assert line["answers"] == {"school": "two", "pet": "prefer not to say"}
    assert line["consent"] == digest(ABOUT["consent"]) and line["group"] == "expert"
    again = protocol(session)  # asked anew, with the answers of last time
    assert [q["given"] for q in again.shown()["entrance"]["questions"]] == [
        "two",
        "prefer not to say",
    ]
    assert again.enter(True, {"pet": "cat"}) == ""
    assert len(about.read_text().splitlines()) == 2 and not s.log.path.exists()
    plain = session(mine(2, reply=BURN), "own", rater="Ben")
    assert plain.entrance is None and plain.shown()["place"] == 0


def test_consent_that_cannot_be_written_is_said(own, session, tmp_path):
    own(**ABOUT)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/background").write_text("")
    s = protocol(session)
    assert "could not be written" in s.enter(True, {}) and s.entrance


def known():
    """Two attention checks with what is right."""
    right = [("Sun is green.", {"value": "yes", "type": "fact", "spans": ["Sun"]})]
    right += [("Water is wet.", {"value": "no"})]
    return [{"shared": [text("Question", "so?")], "reply": r, "right": x} for r, x in right]


def checked(session, rater, said, group="expert", n=8):
    """A rater's session with everything labelled no but what `said` gives, {reply: value}."""
    s = session(mine(n), "own", rater=rater, protocol=True, group=group)
    while not s.done:
        reply = s.shown()["answer"]["text"]
        value = said.get(reply, "no")
        given = ("yes", "fact", [reply[:3]]) if value == "yes" else (value,)
        assert s.label(*given, **({"refused": "faulty", "reason": "x"} if not value else {})) == ""
    return s


def test_attention_checks_are_items_like_others(own, session):
    own(types=SPANS["types"], spans_for="yes", checks=known)
    s = session(mine(8), "own", protocol=True)
    texts = [e.row["reply"] for e in s.queue]
    assert len(texts) == 8 + 2 and {"Sun is green.", "Water is wet."} < {*texts}
    assert texts[0] not in ("Sun is green.", "Water is wet.")
    order = [e.row["id"] for e in s.queue]
    assert [e.row["id"] for e in session(mine(8), "own", protocol=True).queue] == order
    places = {
        tuple(e.row["item"] == "check" for e in session(mine(8), "own", r, protocol=True).queue)
        for r in ("Ann", "Ben", "Cem", "Dan")
    }
    assert len(places) > 1
    assert s.shown().keys() == session(mine(8), "own", rater="Ben").shown().keys()
    assert len(session(mine(8), "own", rater="Ben").queue) == 8  # without the protocol
    checked(session, "Ann", {"Sun is green.": "yes"})
    assert session(mine(8), "own", protocol=True).done
    assert len(lines(s)) == 10 and {r["paper"] for r in lines(s)} == {"medhalu"}


def test_labels_from_before_there_were_checks_go_on(own, session):
    own(types=SPANS["types"], spans_for="yes")
    s = session(mine(4), "own", protocol=True)
    while not s.done:
        s.label("no")
    own(types=SPANS["types"], spans_for="yes", checks=known, **ABOUT)
    then = session(mine(4), "own", protocol=True)
    then.enter(True, {})
    assert then.progress == (4, 6) and then.queue[then.at].row["item"] == "check"


def test_who_fails_a_check_does_not_count(own, session, tmp_path):
    own(types=SPANS["types"], spans_for="yes", checks=known)
    right = {"Sun is green.": "yes"}
    for rater, said in (
        ("Ann", right),
        ("Ben", {}),
        ("Cem", right | {"Water is wet.": ""}),
        ("Dan", right | {"Water is wet.": "yes"}),
    ):
        checked(session, rater, said)
    late = session(mine(8), "own", rater="Eve", protocol=True)  # has seen no check yet
    late.label("no")
    plain = session(mine(8), "own", rater="Fay")
    plain.label("yes", "fact", ["rep"]) or plain.label("no")
    rows = [r | {"unit": r["item"]} for r in mine(8)]
    given = raters.labels("own", rows, tmp_path)
    assert {*given["rater"]} == {"Ann", "Cem", "Eve", "Fay"}  # Cem called one faulty
    assert given.attrs["failed"] == ["Ben", "Dan"] and given.attrs["left_out"] == 0
    counted = raters.background("own", tmp_path)
    assert counted.values.tolist() == [
        ["expert", "attention checks", "passed", 2],
        ["expert", "attention checks", "failed", 2],
    ]
    again = session(mine(8), "own", rater="Ben", protocol=True, group="expert")
    again.at = next(i for i, e in enumerate(again.queue) if e.row["reply"] == "Sun is green.")
    again.label("yes", "fact", ["Sun"])  # a correction counts, as for any item
    assert raters.labels("own", rows, tmp_path).attrs["failed"] == ["Dan"]


def test_background_is_counted_for_five_raters_or_more(own, session, tmp_path):
    own(**ABOUT)

    def enter(rater, group, **said):
        session(mine(2), "own", rater=rater, group=group, protocol=True).enter(True, said)

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


def test_training_that_cannot_be_written_is_said(own, session, tmp_path):
    own(**SPANS)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/training").write_text("")
    s = protocol(session)
    s.label("no")
    assert "could not be written" in s.read() and s.shown()["feedback"]


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
        orders.append([o["reason"] for o in shown])
        by = {o["reason"]: o for o in shown}
        assert by["false"]["said"][1].startswith("fact") and by["false"]["spans"] == ["Rest"]
        assert by["unclear"]["refused"] == "undecided" and by["unclear"]["said"] == []
        assert s.label("no") == ""
    assert len({tuple(o) for o in orders}) == 2  # not always the same one first
    again = session(there, "hallucination", rater="adjudicated", opinions=opinions)
    assert again.done
    with pytest.raises(BedsideError, match="reserved"):
        session(there, "hallucination", rater="Ann", opinions=opinions)


def test_pieces_are_adjudicated_as_they_are(own, session):
    task = own(split=paragraphs)
    pieces = [p for r in mine(1, reply="a\n\nb\n\na") for p in task.asked(r)]
    opinions = {p["id"]: [{"value": "yes"}] for p in pieces}
    s = session(pieces, "own", rater="adjudicated", opinions=opinions)
    assert [e.row["id"] for e in s.queue] == [p["id"] for p in pieces]
    assert s.shown()["opinions"][0]["said"] == ["yes, wrong"]
