"""Annotation: what raters see, which rows they get, and that no label is ever lost."""

import collections
import json
import os
import subprocess
import sys

import annotation_rows
import pytest
import raters_labels
from annotation_rows import DIALOGUE, SECRET, TASKS, many, row

import rater_pages
from bedside import BedsideError, annotation
from bedside.annotation import Log, Session, alias, grouped, handed, sampling, tasks
from bedside.asking import registry
from bedside.asking.store import digest
from bedside.publish import judged_items
from rater_pages import back, data, label, out

own = annotation_rows.own  # a fixture


# ---- blindness


@pytest.mark.parametrize("task", TASKS)
def test_a_rater_sees_nothing_that_says_whose_reply_it_is(tmp_path, task):
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
    shown = json.dumps(data(out(tmp_path, [one], task, ["Ann"], group="expert")["Ann"]))
    assert SECRET not in shown and "script" not in shown
    assert all(b["text"] in shown for b in seen)
    assert ("nothing." in shown) == (task == "adherence")


def test_records_name_no_model_and_no_configuration(tmp_path):
    """Of the sample, for every task."""
    shown = annotation.rows(judged_items.collect("sample"))
    names = {r["model"] for r in shown} | {*registry.entries()}

    def refuse(item, n):
        return {"values": [], "refused": "faulty", "reason": "x"}

    for task in TASKS:
        how = {"size": 12, "tiny": True}
        page = rater_pages.answer(tmp_path, shown, task, "Ann", refuse, **how)
        text = (tmp_path / f"labels/{task}/Ann.jsonl").read_text()
        assert not [n for n in names if n in text]
        assert {json.loads(x)["id"] for x in text.splitlines()} == {i["id"] for i in page["items"]}
    assert alias(alias("a/b")) == alias("a/b") != alias("a/c")


def test_a_repetition_and_a_hostile_text_look_like_any_item(tmp_path):
    hostile = "<script>x</script> \u202e \ud800 end"
    rows = [row("cm-1", reply=hostile), *many(6)]
    items = data(out(tmp_path, rows, "presupposition", ["Ann"], repetitions=0.5)["Ann"])["items"]
    bare = [{k: v for k, v in i.items() if k != "again"} for i in items]
    again = [b for i, b in zip(items, bare) if i["again"]]
    assert len(items) == 11 and len(again) == 4 and all(bare.count(b) == 2 for b in again)
    assert hostile.replace("\ud800", "\ufffd") in [i["answer"]["text"] for i in items]


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
    tiny = next(name for name, m in registry.entries().items() if m.provider == "local")
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


def labelled(folder, rows):
    """How many of these rows are labelled on a page that Ann now gets."""
    items = data(out(folder, rows, "presupposition", ["Ann"])["Ann"])["items"]
    return sum(i["given"] is not None for i in items)


def test_damage_costs_only_the_lines_that_it_hits(tmp_path):
    rows, path = many(3), tmp_path / "labels/presupposition/Ann.jsonl"
    write = raters_labels.write
    for one in rows:
        write(tmp_path / "labels", "presupposition", "Ann", one, "1")
    whole = path.read_bytes()
    first, second, third = whole.splitlines(keepends=True)
    path.write_bytes(whole[:-1])  # a whole label that lacks only the end of its line counts
    assert labelled(tmp_path, rows) == 3
    for cut in (len(whole) - 2, len(first + second) + 1, len(first + second) + 40):
        path.write_bytes(whole[:cut])
        assert labelled(tmp_path, rows) == 2
        write(tmp_path / "labels", "presupposition", "Ann", rows[2], "1")
        assert labelled(tmp_path, rows) == 3
        assert path.read_bytes().startswith(whole[:cut])  # nothing is deleted
    other = json.dumps(json.loads(third) | {"value": 1}).encode() + b"\n"
    path.write_bytes(first + b"garbage\n\n\xff\xfe\n[1]\n{}\n" + second[:50] + b"\n" + other)
    log = Log(tmp_path / "labels", "presupposition", "Ann")
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


def test_a_label_that_does_not_reach_the_disk_is_not_said_to(monkeypatch, tmp_path):
    page = out(tmp_path, many(2), "presupposition", ["Ann"])["Ann"]
    back(tmp_path / "back", "Ann.jsonl", page, label(page, 0), label(page, 1))

    def fails(fd):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert refused == 1 and "could not be written (Input/output error)" in told
    assert labelled(tmp_path, many(2)) == 0
    (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert not refused and labelled(tmp_path, many(2)) == 2
    (tmp_path / "file").write_text("")
    with pytest.raises(BedsideError, match="can't be read"):
        Session(many(2), "presupposition", "Ann", folder=tmp_path / "file")


def test_files_of_before_there_were_refusals_and_aliases_go_on(tmp_path):
    rows, path = many(3), tmp_path / "labels/presupposition/Ann.jsonl"
    path.parent.mkdir(parents=True)
    blank = dict.fromkeys(("group", "type", "reason"), "") | {"spans": [], "check": False}
    blank |= {"rater": "Ann", "seconds": 1.5, "at": "2026-01-02T00:00:00+00:00", "sample": {}}
    how = tasks()["presupposition"]
    made = [
        blank
        | {k: one[k] for k in ("id", "paper", "item")}
        | {"task": how.name, "value": "1", "text_sha256": digest(annotation.material(one, how))}
        for one in rows[:2]
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in made))
    page = out(tmp_path, rows, "presupposition", ["Ann"])["Ann"]
    given = {alias(one["id"]): n for n, one in enumerate(rows)}
    items = data(page)["items"]
    assert {given[i["id"]] for i in items if i["given"]} == {0, 1}
    second = next(n for n, i in enumerate(items) if given[i["id"]] == 1)
    back(tmp_path / "back", "Ann.jsonl", page, label(page, second, "0"))
    assert handed.taken(tmp_path / "back", tmp_path / "labels")[1] == 0
    log = Log(tmp_path / "labels", "presupposition", "Ann")
    assert [r["value"] for r in log.labels().values()] == ["1", "0"]  # the later line wins
    last = path.read_text().splitlines()[-1]
    assert labelled(tmp_path, rows) == 2 and not log.damaged and SECRET not in last
