"""Annotation beyond one label an item: refusals, names, shares, protocols, pieces, opinions."""

import collections
import json

import pytest
from test_annotation import BURN, SECRET, lines, many, row  # noqa: F401 - a fixture

from bedside import BedsideError, annotation
from bedside.annotation import Draw, Log, Session, alias, grouped, raters, sampling, tasks
from bedside.keep import registry
from bedside.keep.store import digest
from bedside.publish import judged_items
from bedside.publish.judged_items import Task, text

LOCAL = next(name for name, m in registry.entries().items() if m["provider"] == "local")


def paragraphs(row):
    """A row's reply in paragraphs."""
    cut = row["reply"].split("\n\n")
    return [{**row, "id": f"{row['id']}#{n}", "reply": one} for n, one in enumerate(cut)]


def training():
    """Two items with what is right."""
    wrong = {"value": "yes", "type": "fact", "spans": ["Iron heals"]}
    items = [("Iron heals burns.", wrong), ("Water cools.", {"value": "no"})]
    asked = [text("Question", "what helps?")]
    return [{"shared": asked, "reply": r, "right": x, "why": f"why {r}"} for r, x in items]


OWN = {
    "name": "own",
    "paper": "medhalu",
    "title": "Own",
    "question": "Is it wrong?",
    "guide": "Guide.",
    "choices": (("1", "yes", "yes, wrong"), ("2", "no", "no, right")),
    "sections": ("9 own",),
    "shows": ("Question",),
    "positive": "yes",
    "file": "own/labels.csv",
    "record": dict,
}
SPANS = {
    "types": (("f", "fact", "fact: false"), ("i", "input", "input: beside the point")),
    "spans_for": "yes",
    "reason_for": ("yes",),
    "source_for": ("yes",),
    "training": training,
    "closing": "Give the file to who asked you.",
}


@pytest.fixture
def session(tmp_path):
    """A function that makes a session on rows with its log in this test's folder."""

    def make(rows, task="presupposition", rater="Ann", repetitions=0.0, **other):
        how = grouped(folder=tmp_path, repetitions=repetitions, **other)
        return Session(rows, task, rater, **how)

    return make


@pytest.fixture
def own(monkeypatch):
    """A function that makes a task of this test's own known."""

    def make(**given):
        monkeypatch.setitem(tasks(), "own", Task(**OWN | given))
        return tasks()["own"]

    return make


def mine(n, **other):
    return [row(f"own-{i}", "medhalu", "9 own", **other) for i in range(n)]


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


# ---- the queue


def test_the_embedded_models_own_writing_is_left_out_of_loops_only(own):
    task = own(loops=("9 own loop",), sections=("9 own",))
    there = [
        row("a", "medhalu", "9 own loop", model=LOCAL),
        row("b", "medhalu", "9 own loop", model="gpt-4o"),
        row("c", "medhalu", "9 own other", model=LOCAL),
        row("d", "medhalu", "9 own loop", model="rules"),
    ]

    def items(tiny):
        return {r["item"] for r in annotation.candidates(there, task, tiny=tiny)}

    assert items(False) == {"b", "c", "d"} and items(True) == {"a", "b", "c", "d"}
    drawn = annotation.sample(there, task, 0, 0, tiny=True)
    assert len(drawn) == 4 and len(annotation.sample(there, task, 0, 0)) == 3
    assert annotation.coverage(there, task, drawn, tiny=True)["rows"].sum() == 4


def test_pieces_of_a_reply_come_in_order_one_after_the_other(own, session):
    own(split=paragraphs)
    reply = "\n\n".join(f"paragraph {i}" for i in range(12))
    there = [row(f"o{i}", "medhalu", "9 own", reply=f"{reply} of {i}") for i in range(5)]
    s = session(there, "own", size=2, repetitions=0.5)
    assert len(s.queue) == 3 * 12  # two replies, one of them twice
    for first in range(0, 36, 12):
        ids = [e.row["id"] for e in s.queue[first : first + 12]]
        whole = ids[0].rpartition("#")[0]
        assert ids == [f"{whole}#{n}" for n in range(12)]
    assert [e.repetition for e in s.queue] == [False] * 24 + [True] * 12
    while not s.done:
        assert s.label("no") == ""
    assert len(s.log.both()[False]) == 24 and len(s.log.both()[True]) == 12
    assert s.drawn == {"seed": 0, "size": 2, "n": 5, "of": 36}


def test_further_labels_stand_in_type(own, session):
    own(labels=(("a", "late", "too late"), ("h", "dose", "wrong dose")))
    s = session(mine(3), "own")
    assert "'x' is not a label" in s.label("no", ["x"])
    assert "no span" in s.label("no", ["late"], ["reply"])
    assert s.label("yes", ["late", "dose"]) == "" and s.label("no", "") == ""
    assert s.label("no", "dose") == ""
    assert [(r["value"], r["type"]) for r in lines(s)] == [
        ("yes", "late; dose"),
        ("no", ""),
        ("no", "dose"),
    ]
    assert s.task.in_words({"value": "yes", "type": "late; dose"}) == [
        "yes, wrong",
        "too late",
        "wrong dose",
    ]


# ---- shares

TEAM = ("Ann", "Ben", "Cem")


def shared(rows, rater, raters=TEAM, **other):
    given = {"size": 0, "repetitions": 0.0, "overlap": 0.2} | other
    return Session(rows, "presupposition", rater, **grouped(raters=raters, **given))


@pytest.fixture
def strata(tmp_path, monkeypatch):
    monkeypatch.setattr("bedside.annotation.log.FOLDER", tmp_path)
    sizes = {"a": 30, "b": 15, "c": 15}
    return [row(f"cm-{m}{i}", model=m) for m, n in sizes.items() for i in range(n)]


def test_shares_overlap_as_asked_and_keep_the_strata(strata):
    queues = {r: [e.row["id"] for e in shared(strata, r).queue] for r in TEAM}
    sets = [set(q) for q in queues.values()]
    common = set.intersection(*sets)
    # 12 of 60 to all, the other 48 in three times 16
    assert len(common) == 12 and [len(s) for s in sets] == [28] * 3
    assert set.union(*sets) == {r["id"] for r in strata}
    assert all(a & b == common for a in sets for b in sets if a is not b)
    model = {r["id"]: r["model"] for r in strata}
    assert collections.Counter(model[id] for id in common) == {"a": 6, "b": 3, "c": 3}
    for s in sets:  # 24, 12 and 12 are dealt out: 8, 4 and 4 each
        assert collections.Counter(model[id] for id in s - common) == {"a": 8, "b": 4, "c": 4}
    orders = [[id for id in q if id in common] for q in queues.values()]
    assert orders[0] != orders[1]


def test_shares_are_fixed_by_the_seed_whatever_the_order_of_names(strata):
    def queue(rows, raters, **other):
        return [(e.row["id"], e.repetition) for e in shared(rows, "Ben", raters, **other).queue]

    here = queue(strata, TEAM, repetitions=0.2)
    assert here == queue(strata[::-1], (" Cem", "Ann", "Ben "), repetitions=0.2)
    assert here != queue(strata, TEAM, repetitions=0.2, seed=1)
    assert sum(again for _, again in here) == round(0.2 * 28)


def test_ten_batches_of_fifty_with_three_raters_each(strata):
    """500 rows of three strata of 275, 59 and 166; every batch has a tenth of each."""
    sizes = {"a": 275, "b": 59, "c": 166}
    there = [row(f"cm-{m}{i}", model=m) for m, n in sizes.items() for i in range(n)]
    model = {r["id"]: r["model"] for r in there}
    team = [f"reader {n:02}" for n in range(30)]
    batch = annotation.assigned(team, 10)
    assert annotation.assigned(team[::-1], 10) == batch
    assert collections.Counter(batch.values()) == dict.fromkeys(range(1, 11), 3)
    queues = {r: [e.row["id"] for e in shared(there, r, team, batches=10).queue] for r in team}
    texts = {n: {frozenset(queues[r]) for r in team if batch[r] == n} for n in range(1, 11)}
    assert all(len(sets) == 1 for sets in texts.values())  # the three see the same fifty
    parts = [next(iter(sets)) for sets in texts.values()]
    assert [len(p) for p in parts] == [50] * 10 and len(set.union(*map(set, parts))) == 500
    for p in parts:
        counts = collections.Counter(model[id] for id in p)
        assert counts["a"] in (27, 28) and counts["b"] in (5, 6) and counts["c"] in (16, 17)
    first, other = (queues[r] for r in team if batch[r] == 1 and r != team[20])
    assert first != other  # each in an order of its own
    again = shared(there[::-1], team[7], team[::-1], batches=10).queue
    assert [e.row["id"] for e in again] == queues[team[7]]


@pytest.mark.parametrize("raters, batches", [(TEAM, 2), ((), 2), (TEAM, -1), (TEAM, 4)])
def test_batches_need_equally_many_raters(strata, raters, batches):
    with pytest.raises(BedsideError, match=f"batches is {batches} for {len(raters)} raters"):
        shared(strata, "Ann", raters, batches=batches)


def test_labels_of_a_share_go_on_in_a_batch(strata):
    first = shared(strata, "Ann")
    while not first.done:
        first.label("1")
    then = shared(strata, "Ann", batches=1)
    assert len(first.queue) == 28 and then.progress == (28, 60)
    assert then.queue[then.at].row["id"] not in {e.row["id"] for e in first.queue}


@pytest.mark.parametrize("size, n, overlap", [(1, 3, 0.2), (2, 5, 0.0), (7, 2, 1.0), (10, 4, 0.5)])
def test_every_row_is_somebodys_and_shares_are_even(strata, size, n, overlap):
    drawn = sampling.draw(strata, size, 3)
    parts = [sampling.share(drawn, i, n, overlap, 3) for i in range(n)]
    assert {e.row["id"] for p in parts for e in p} == {e.row["id"] for e in drawn}
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    common = set.intersection(*({e.row["id"] for e in p} for p in parts))
    assert len(common) >= round(overlap * size)


@pytest.mark.parametrize(
    "rater, given, match",
    [
        ("Dan", {}, "no share of this sample; those who have are Ann, Ben, Cem"),
        ("Ann", {"raters": ("Ann", "Ann")}, "name each once"),
        ("Ann", {"raters": ("Ann", "adjudicated")}, "without 'adjudicated'"),
        ("Ann", {"raters": ("Ann", "../x")}, "1 to 40 letters"),
        ("Ann", {"overlap": 1.2}, "a share from 0 to 1"),
        ("Ann", {"seed": -1}, "a seed of at least 0"),
    ],
)
def test_which_shares_are_refused(strata, rater, given, match):
    with pytest.raises(BedsideError, match=match):
        shared(strata, rater, **given)


def test_a_record_says_how_long_the_queue_was(strata):
    s = shared(strata, "Ann")
    s.label("1")
    assert lines(s)[0]["sample"] == {"seed": 0, "size": 0, "n": 60, "of": 28}


# ---- a study's protocol


def protocol(session, **other):
    return session(mine(2, reply=BURN), "own", protocol=True, **other)


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


# ---- names and files


def test_records_name_no_model_and_no_configuration(tmp_path):
    judged = annotation.rows(judged_items.collect("sample"))
    names = {r["model"] for r in judged} | {*registry.entries()}
    here = [name for name, task in tasks().items() if annotation.candidates(judged, task)]
    assert here == [name for name in tasks() if name != "own"]  # own studies are elsewhere
    for task in here:
        every = Draw(size=0, repetitions=0.0, tiny=True)
        s = Session(judged, task, "Ann", drawing=every, folder=tmp_path)
        while not s.done:
            assert s.label("", reason="x", refused="faulty") == ""
        for record in lines(s):
            assert not [n for n in names if n in json.dumps(record)]
        whole = annotation.candidates(judged, s.task, tiny=True)
        asked = {alias(piece["id"]) for row in whole for piece in s.task.asked(row)}
        assert {r["id"] for r in lines(s)} == {alias(e.row["id"]) for e in s.queue} <= asked


def old(session, entry, value):
    """A line of a file as they were written before refusals and aliases."""
    task, one = session.task, entry.row
    fields = {"id": one["id"], "paper": one["paper"], "item": one["item"], "task": task.name}
    fields |= {"rater": "Ann", "group": "", "value": value, "type": "", "spans": [], "reason": ""}
    fields |= {"seconds": 1.5, "at": "2026-01-02T00:00:00+00:00", "check": False, "sample": {}}
    return fields | {"text_sha256": digest(annotation.material(one, task))}


def test_files_of_before_load_and_count(session):
    s = session(many(3))
    s.log.path.parent.mkdir()
    made = [json.dumps(old(s, e, "1")) for e in s.queue[:2]]
    s.log.path.write_text("\n".join(made) + "\n")
    again = session(many(3))
    assert again.progress == (2, 3) and not again.log.damaged
    again.back()
    assert again.shown()["earlier"] == {
        "values": ["1"],
        **{"type": "", "spans": [], "reason": "", "refused": "", "source": ""},
    }
    again.label("0")  # the same row under its alias: the later line wins
    assert again.progress == (2, 3)
    assert [r["value"] for r in again.log.labels().values()] == ["1", "0"]
    assert SECRET in lines(s)[0]["id"] and SECRET not in lines(s)[2]["id"]


def test_an_alias_stays_and_others_differ():
    assert alias(alias("a/b")) == alias("a/b") != alias("a/c")
    assert "smollm" not in alias("cancer_myth/02/cm-1/smollm2-135m/plain")


@pytest.mark.parametrize(
    "field, value",
    [("id", ["x"]), ("value", 1), ("spans", "x"), ("check", "no"), ("refused", None), ("at", 3)],
)
def test_a_line_with_a_value_of_another_kind_is_damaged(session, field, value):
    s = session(many(2))
    s.label("1")
    with open(s.log.path, "a") as f:
        f.write(json.dumps(lines(s)[0] | {field: value}) + "\n")
    again = session(many(2))
    assert again.progress == (1, 2) and len(again.log.damaged) == 1


@pytest.mark.parametrize("name", ["adjudicated", "Adjudicated", " ADJUDICATED "])
def test_adjudicated_is_reserved(session, name):
    with pytest.raises(BedsideError, match="reserved"):
        session(many(2), rater=name)


# ---- the box


def box(folder, rater="", **given):
    settings = {"folder": folder, "size": 0, "repetitions": 0.0} | given
    return annotation.box(many(3), "presupposition", rater, **settings)


def enter(made, name, sure=False):
    made.take(None, {"do": "open", "name": name, "sure": sure}, [])
    return made.shown


@pytest.mark.parametrize("name", ["../x", "a/b", "adjudicated", "x" * 50])
def test_the_box_asks_again_after_a_bad_name(tmp_path, name):
    made = box(tmp_path, name)
    assert made.about == {} and made.shown["fault"] and made.shown["known"] is None
    assert enter(made, name)["fault"] == made.shown["fault"]
    enter(made, "Ann")
    assert made.about["rater"] == "Ann" and made.shown["place"] == 0
    assert not made.shown["fault"]


def test_the_box_keeps_the_adjudicators_name_though_it_has_labels(session, tmp_path):
    there = many(3)
    opinions = {r["id"]: [{"value": "1"}] for r in there}
    final = session(there, rater="adjudicated", opinions=opinions)
    final.label("1")
    made = box(tmp_path, "adjudicated")
    assert "reserved" in made.shown["fault"] and made.shown["known"] is None
    made = box(tmp_path, "adjudicated", opinions=opinions)
    assert made.shown["known"]["labels"] == 1
    assert enter(made, "adjudicated", sure=True)["opinions"]


def test_the_box_says_what_a_name_has_before_it_goes_on(tmp_path):
    first = box(tmp_path, "Ann")
    assert first.about["rater"] == "Ann"
    first.session.label("1")
    first.session.label("", reason="x", refused="faulty")
    made = box(tmp_path, "Ann")
    known = made.shown["known"]
    assert made.about == {} and (known["labels"], known["refused"]) == (1, 1)
    assert known["since"] == lines(first.session)[0]["at"][:10]
    assert enter(made, "Ben")["place"] == 0 and made.about["rater"] == "Ben"
    again = box(tmp_path)
    assert enter(again, "Ann")["known"]["labels"] == 1
    assert enter(again, "Ann", sure=True)["handled"] == 2 and again.about["rater"] == "Ann"


def test_the_box_says_what_else_is_wrong(tmp_path):
    assert "expert, layperson" in box(tmp_path, "Ann", group="a/b").shown["fault"]
    assert "size" in box(tmp_path, "Ann", size=-1).shown["fault"]
    asked = box(tmp_path, "Dan", raters=("Ben", " Ann"))
    assert asked.shown["names"] == ["Ann", "Ben"] and "no share" in asked.shown["fault"]
    assert enter(asked, "Ben")["of"] and asked.about["rater"] == "Ben"
    wrong = annotation.box(many(2), "presuposition", "Ann", folder=tmp_path)
    assert "did you mean 'presupposition'" in wrong.shown["fault"]


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


def test_a_log_that_is_not_there_has_no_labels(tmp_path):
    assert Log(tmp_path, "nfp", "Ann").labels() == {}
