"""Annotation: which rows are whose, in what order, in shares and batches."""

import collections

import annotation_own
import pytest
from annotation_own import LOCAL, mine, paragraphs
from annotation_rows import lines, row

from bedside import BedsideError, annotation
from bedside.annotation import Session, grouped, sampling

own = annotation_own.own  # a fixture
session = annotation_own.session  # a fixture


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
