"""Annotation: what raters see, which rows they get, and that no label is ever lost."""

import collections
import json
import os
import subprocess
import sys

import annotation_rows
import jupyter_client
import pytest
from annotation_rows import DIALOGUE, SECRET, TASKS, lines, many, mine, paragraphs, row

from bedside import BedsideError, annotation
from bedside.annotation import Draw, Log, Session, alias, grouped, sampling, tasks
from bedside.keep import registry
from bedside.keep.store import digest
from bedside.publish import judged_items
from bedside.read import paths

own = annotation_rows.own  # fixtures
session = annotation_rows.session
HERE = paths.ROOT / "tests/people"


# ---- blindness


@pytest.mark.parametrize("task", TASKS)
def test_a_rater_sees_nothing_that_says_whose_reply_it_is(session, task):
    how = tasks()[task]
    seen = [{"kind": "text", "label": label, "text": f"seen {label}"} for label in how.shows]
    others = {label for name in TASKS for label in tasks()[name].shows} - set(how.shows)
    labels = (*others, SECRET, "Expert answer", "Label of the answer", "Behaviour script")
    hidden = [{"kind": "text", "label": label, "text": SECRET} for label in labels]
    marked = {"kind": "marked", "label": SECRET, "pieces": [["Iron heals.", "labelled detected"]]}
    aligned = {"kind": "aligned", "label": SECRET, "columns": [SECRET]}
    aligned["rows"] = [{"term": SECRET, "cells": ["matched"]}]
    blocks = [*seen[1:], DIALOGUE, marked, aligned, *hidden]
    one = row("x-1", how.paper, how.sections[0], shared=seen[:1] + hidden, blocks=blocks)
    s = session([one], task, group="expert")
    sent = annotation.widget(s).get_state()
    sent = {k: v for k, v in sent.items() if not k.startswith(("_esm", "_css", "layout"))}
    shown = json.dumps([s.shown(), s.about, sent])
    assert SECRET not in shown and "script" not in json.dumps(s.shown())
    assert all(b["text"] in shown for b in seen)
    assert ("nothing." in shown) == (task == "adherence")


def test_records_name_no_model_and_no_configuration(tmp_path):
    """Of the sample, for every task."""
    shown = annotation.rows(judged_items.collect("sample"))
    names = {r["model"] for r in shown} | {*registry.entries()}
    for task in TASKS:
        drawing = Draw(size=12, repetitions=0.0, tiny=True)
        s = Session(shown, task, "Ann", drawing=drawing, folder=tmp_path)
        while not s.done:
            assert s.label("", reason="x", refused="faulty") == ""
        for record in lines(s):
            assert not [n for n in names if n in json.dumps(record)]
        assert {r["id"] for r in lines(s)} == {alias(e.row["id"]) for e in s.queue}
    assert alias(alias("a/b")) == alias("a/b") != alias("a/c")


def test_a_repetition_and_a_hostile_text_look_like_any_item(session):
    hostile = "<script>x</script> \u202e \ud800 end"
    s = session([row("cm-1", reply=hostile), *many(6)], repetitions=0.5)
    keys, texts = set(), []
    while not s.done:
        shown = s.shown()
        keys.add(tuple(shown))
        texts.append(shown["answer"]["text"])
        assert shown["earlier"] is None  # the first answer isn't shown
        assert s.label("1") == ""
    assert len(keys) == 1 and "check" not in str(keys) and "repetition" not in str(keys)
    assert hostile.replace("\ud800", "\ufffd") in texts


# ---- samples


def names(drawn):
    return [(e.row["item"], e.repetition) for e in drawn]


@pytest.mark.parametrize(
    "counts, size, drawn",
    [
        ([60, 30, 10], 10, [6, 3, 1]),
        # 0.8, 0.1 and 0.1 get one each; what is left goes to the first
        ([90, 8, 1, 1], 10, [7, 1, 1, 1]),
        ([50, 30, 20], 4, [2, 1, 1]),  # shares 2, 1.2, 0.8
        ([3, 2], 5, [3, 2]),
        ([97, 2, 1], 3, [1, 1, 1]),
    ],
)
def test_strata_are_drawn_by_largest_remainder(counts, size, drawn):
    rows = [row(f"cm-{m}-{i}", model=f"m{m}") for m, n in enumerate(counts) for i in range(n)]
    task = tasks()["presupposition"]
    got = annotation.sample(rows, task, size, 0)
    models = collections.Counter(e.row["model"] for e in got)
    assert [models[f"m{m}"] for m in range(len(counts))] == drawn
    table = annotation.coverage(rows, task, got)
    assert table[["rows", "drawn"]].values.tolist() == [list(x) for x in zip(counts, drawn)]
    assert names(got) == names(annotation.sample(rows[::-1], task, size, 0))
    assert len(annotation.sample(rows, task, 0, 0)) == sum(counts)


def test_only_replies_of_the_task_and_each_text_once(own):
    rows = [row("cm-1"), row("cm-2", reply_status="refused", reply=""), row("mh-1", "medhalu")]
    rows += [
        row("case-1", "meddialbench"),
        row("nfp-1", section="version 2: no false presupposition"),
    ]
    rows += [{**row("cm-1"), "id": "another model, the same words"}]

    def items(rows, task, **how):
        return [r["item"] for r in annotation.candidates(rows, tasks()[task], **how)]

    assert items(rows, "presupposition") == ["cm-1"] and items(rows, "nfp") == ["nfp-1"]
    assert items(rows, "adherence") == []  # without a consultation
    own(loops=("9 own loop",), sections=("9 own",))
    tiny = next(name for name, m in registry.entries().items() if m["provider"] == "local")
    there = [("a", "9 own loop", tiny), ("b", "9 own loop", "gpt-4o"), ("c", "9 own other", tiny)]
    there = [row(item, "medhalu", section, model=m) for item, section, m in there]
    # what the embedded model asked itself is not worth a label
    assert items(there, "own") == ["b", "c"] and items(there, "own", tiny=True) == ["a", "b", "c"]
    document = {"shared": {"a": [DIALOGUE]}, "rows": [row("cm-1", shared=["a"])]}
    assert annotation.rows(document)[0]["shared"] == [DIALOGUE]


@pytest.mark.parametrize("size, share, repeated", [(30, 0.1, 3), (10, 0.5, 5), (2, 0.1, 1)])
def test_repetitions_come_later_and_apart(size, share, repeated):
    rows, task = many(40), tasks()["presupposition"]
    for seed in range(20):
        drawn = names(annotation.sample(rows, task, size, seed, repetitions=share))
        again = [i for i, (_, repetition) in enumerate(drawn) if repetition]
        assert len(again) == repeated and len(drawn) == size + repeated
        for i in again:
            assert i - drawn.index((drawn[i][0], False)) > min(sampling.APART, size // 2)


def test_pieces_of_a_reply_come_in_order_one_after_the_other(own, session):
    own(split=paragraphs)
    reply = "\n\n".join(f"paragraph {i}" for i in range(12))
    s = session(mine(5, reply=reply), "own", size=2, repetitions=0.5)
    ids = [e.row["id"] for e in s.queue]
    for first in range(0, len(ids), 12):
        whole = ids[first].rpartition("#")[0]
        assert ids[first : first + 12] == [f"{whole}#{n}" for n in range(12)]
    assert [e.repetition for e in s.queue] == [False] * (len(ids) - 12) + [True] * 12


TEAM = ("Ann", "Ben", "Cem")


def queue(rows, rater, raters=TEAM, **other):
    given = {"size": 0, "repetitions": 0.0, "overlap": 0.2, "raters": raters} | other
    return [e.row["id"] for e in Session(rows, "presupposition", rater, **grouped(**given)).queue]


def of_models(**sizes):
    return [row(f"cm-{m}{i}", model=m) for m, n in sizes.items() for i in range(n)]


def test_shares_overlap_as_asked_keep_the_strata_and_leave_nothing_out(monkeypatch, tmp_path):
    monkeypatch.setattr("bedside.annotation.log.FOLDER", tmp_path)
    rows = of_models(a=30, b=15, c=15)
    model = {r["id"]: r["model"] for r in rows}
    queues = {r: queue(rows, r) for r in TEAM}
    sets = [set(q) for q in queues.values()]
    common = set.intersection(*sets)
    # 12 of 60 to all, the other 48 in three times 16
    assert len(common) == 12 and [len(s) for s in sets] == [28] * 3
    assert set.union(*sets) == {*model}
    assert collections.Counter(model[id] for id in common) == {"a": 6, "b": 3, "c": 3}
    for s in sets:  # 24, 12 and 12 are dealt out
        assert collections.Counter(model[id] for id in s - common) == {"a": 8, "b": 4, "c": 4}
    orders = [[id for id in q if id in common] for q in queues.values()]
    assert orders[0] != orders[1]
    assert queues["Ben"] == queue(rows[::-1], "Ben", (" Cem", "Ann", "Ben "))
    assert queues["Ben"] != queue(rows, "Ben", seed=1)
    for given in ({"raters": ("Ann", "Ann")}, {"overlap": 1.2}, {"seed": -1}, {"batches": 2}):
        with pytest.raises(BedsideError):
            queue(rows, "Ann", **given)
    with pytest.raises(BedsideError, match="no share of this sample"):
        queue(rows, "Dan")


def test_ten_batches_of_fifty_with_three_raters_each(monkeypatch, tmp_path):
    """500 rows of three strata of 275, 59 and 166; every batch has a tenth of each."""
    monkeypatch.setattr("bedside.annotation.log.FOLDER", tmp_path)
    there = of_models(a=275, b=59, c=166)
    model = {r["id"]: r["model"] for r in there}
    team = [f"reader {n:02}" for n in range(30)]
    batch = annotation.assigned(team, 10)
    assert collections.Counter(batch.values()) == dict.fromkeys(range(1, 11), 3)
    queues = {r: queue(there, r, team, batches=10) for r in team}
    texts = {n: {frozenset(queues[r]) for r in team if batch[r] == n} for n in range(1, 11)}
    assert all(len(sets) == 1 for sets in texts.values())  # the three see the same fifty
    parts = [next(iter(sets)) for sets in texts.values()]
    assert [len(p) for p in parts] == [50] * 10 and len(set.union(*map(set, parts))) == 500
    for p in parts:
        counts = collections.Counter(model[id] for id in p)
        assert counts["a"] in (27, 28) and counts["b"] in (5, 6) and counts["c"] in (16, 17)
    assert queue(there[::-1], team[7], team[::-1], batches=10) == queues[team[7]]


# ---- logs


@pytest.mark.parametrize("rater", ["", "../etc", "a/b", "a\\b", ".hidden", "a" * 41, "a\nb", "x:y"])
def test_a_bad_name_of_a_rater_is_refused(tmp_path, rater):
    with pytest.raises(BedsideError, match="1 to 40 letters"):
        Log(tmp_path, "nfp", rater)
    assert Log(tmp_path, "nfp", "Zoe\u0308").path == Log(tmp_path, "nfp", "Zoë").path


def test_damage_costs_only_the_lines_that_it_hits(session):
    rows = many(3)
    s = session(rows)
    for value in ("-1", "0", "1"):
        assert s.label(value) == ""
    whole = s.log.path.read_bytes()
    first, second, third = whole.splitlines(keepends=True)
    s.log.path.write_bytes(whole[:-1])  # a whole label that lacks only the end of its line counts
    assert session(rows).done
    for cut in (len(whole) - 2, len(first + second) + 1, len(first + second) + 40):
        s.log.path.write_bytes(whole[:cut])
        again = session(rows)
        assert again.progress == (2, 3) and again.label("1") == "" and session(rows).done
        assert s.log.path.read_bytes().startswith(whole[:cut])  # nothing is deleted
    other = json.dumps(json.loads(third) | {"value": 1}).encode() + b"\n"
    s.log.path.write_bytes(first + b"garbage\n\n\xff\xfe\n[1]\n{}\n" + second[:50] + b"\n" + other)
    log = Log(s.log.path.parents[1], "presupposition", "Ann")
    assert len(log.labels()) == 1
    assert [place.rpartition(" ")[2] for place in log.damaged] == ["2", "4", "5", "6", "7", "8"]
    assert all("Ann.jsonl, line" in place for place in log.damaged)


APPEND = """
import sys
from bedside.annotation.log import KINDS, Log
log = Log(sys.argv[1], "nfp", "Ann")
for i in range(60):
    record = {k: kind() if isinstance(kind, type) else 1.0 for k, kind in KINDS.items()}
    log.append({**record, "id": f"{sys.argv[2]}-{i}", "reason": "x" * 2000})
"""


def test_two_processes_at_once_lose_nothing(tmp_path):
    both = [subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), name]) for name in "ab"]
    assert [p.wait() for p in both] == [0, 0]
    log = Log(tmp_path, "nfp", "Ann")
    assert set(log.labels()) == {alias(f"{name}-{i}") for name in "ab" for i in range(60)}
    assert not log.damaged


KERNEL = """
import resource, sys
sys.path.insert(0, {here!r})
from annotation_rows import many
from bedside import annotation
made = annotation.box(many(8), "presupposition", "Ann", folder={folder!r}, size=0)
def give(value, place):
    said = dict(do="label", place=place, values=[value], type="", spans=[], reason="", seconds=1)
    made.take(None, said, [])
    return made.shown["saved"], made.shown["fault"]
said = [give(v, n) for n, v in enumerate(["1", "0", "-1"])] + [give("1", 0)]
size = made.session.log.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
said += [give("1", 3)]   # on a full disk: a real write that stops half way
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(said)
print([e.row["item"] for e in made.session.queue])
"""


def test_labels_survive_a_full_disk_and_a_killed_kernel(session, tmp_path):
    """In a real kernel; the box says saved of what is on disk only."""
    code = KERNEL.format(here=str(HERE), folder=str(tmp_path))
    kernel, client = jupyter_client.manager.start_new_kernel(startup_timeout=300)
    told = []
    client.execute_interactive(code, output_hook=lambda m: told.append(m["content"]), timeout=300)
    kernel.shutdown_kernel(now=True)
    client.stop_channels()
    printed = "".join(m.get("text", "") + "\n".join(m.get("traceback", [])) for m in told)
    said, order = printed.splitlines()
    assert said.startswith("[('saved 1', ''), ('saved 2', ''), ('saved 3', '')"), printed
    assert "item had changed" in said and "could not be written" in said
    again = session(many(8), repetitions=0.1)
    assert str([e.row["item"] for e in again.queue]) == order  # drawn alike in every process
    assert again.progress == (3, 9) and again.at == 3 and not again.log.damaged
    assert [r["value"] for r in lines(again)] == ["1", "0", "-1"]
    assert again.label("1") == "" and len(lines(again)) == 4


def test_a_label_that_does_not_reach_the_disk_is_not_said_to(session, monkeypatch, tmp_path):
    s = session(many(2))

    def fails(fd):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    assert "could not be written (Input/output error)" in s.label("1")
    assert s.log.path.read_bytes() == b"" and s.progress == (0, 2)
    (tmp_path / "file").write_text("")
    with pytest.raises(BedsideError, match="can't be read"):
        Session(many(2), "presupposition", "Ann", folder=tmp_path / "file")


def test_files_of_before_there_were_refusals_and_aliases_go_on(session):
    s = session(many(3))
    s.log.path.parent.mkdir()
    blank = dict.fromkeys(("group", "type", "reason"), "") | {"spans": [], "check": False}
    blank |= {"rater": "Ann", "seconds": 1.5, "at": "2026-01-02T00:00:00+00:00", "sample": {}}
    how = tasks()["presupposition"]
    made = [
        blank
        | {k: e.row[k] for k in ("id", "paper", "item")}
        | {"task": how.name, "value": "1", "text_sha256": digest(annotation.material(e.row, how))}
        for e in s.queue[:2]
    ]
    s.log.path.write_text("".join(json.dumps(r) + "\n" for r in made))
    again = session(many(3))
    assert again.progress == (2, 3) and not again.log.damaged
    again.back()
    assert again.label("0") == ""  # the same row under its alias: the later line wins
    assert again.progress == (2, 3)
    assert [r["value"] for r in again.log.labels().values()] == ["1", "0"]
    assert SECRET in lines(s)[0]["id"] and SECRET not in lines(s)[2]["id"]
