"""Raters' pages without a browser: what they show, what comes back, and that no label is lost."""

import collections
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import annotation_rows
import numpy as np
import pytest
import raters_labels
from annotation_rows import BURN, DIALOGUE, SECRET, SPANS, TASKS, many, mine, row

import rater_pages
from bedside import BedsideError, annotation
from bedside import __main__ as steps
from bedside.annotation import handed, log, raters, sampling, tasks
from bedside.annotation.blind import alias, candidates
from bedside.annotation.sampling import Sample
from bedside.asking import registry
from bedside.publish import judged_items
from bedside.publish.judged_items import text
from bedside.read.surroundings import here
from judged import kept_in
from rater_pages import FIRST, answer, back, data, label, out, said

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
        how = {"size": 4, "tiny": True}
        page = rater_pages.answer(tmp_path, shown, task, "Ann", refuse, **how)
        text = (tmp_path / f"labels/{task}/Ann.jsonl").read_text()
        assert not [n for n in names if n in text]
        assert {json.loads(x)["id"] for x in text.splitlines()} == {i["id"] for i in page["items"]}
    assert alias(alias("a/b")) == alias("a/b") != alias("a/c")


def test_a_repetition_and_a_hostile_text_look_like_any_item(tmp_path):
    hostile = "</script><script>document.title = 'gone'</script> {{ 7 * 7 }} \ud800 end"
    rows = [row("cm-1", reply=hostile), *many(6)]
    page = out(tmp_path, rows, "presupposition", ["Ann"], repetitions=0.5)["Ann"]
    assert page.count("<script") == page.count("</script>") == 2
    assert "default-src 'none'" in page and "http" not in page.split("<body>")[1]
    items = data(page)["items"]
    bare = [{k: v for k, v in i.items() if k != "again"} for i in items]
    again = [b for i, b in zip(items, bare) if i["again"]]
    assert len(items) == 11 and len(again) == 4 and all(bare.count(b) == 2 for b in again)
    assert hostile.replace("\ud800", "\ufffd") in [i["answer"]["text"] for i in items]


# ---- samples


@pytest.mark.parametrize(
    "counts, size, drawn",
    [
        # 0.8, 0.1 and 0.1 get one each; what is left goes to the first
        ([90, 8, 1, 1], 10, [7, 1, 1, 1]),
        ([50, 30, 20], 4, [2, 1, 1]),  # shares 2, 1.2, 0.8
    ],
)
def test_strata_are_drawn_by_largest_remainder(counts, size, drawn):
    rows = [row(f"cm-{m}-{i}", model=f"m{m}") for m, n in enumerate(counts) for i in range(n)]
    task = tasks()["presupposition"]

    def drawn_from(rows, size):
        how = Sample(size=size, repetitions=0.0)
        return [e.row for e in sampling.queue(candidates(rows, task), "", how)]

    got = drawn_from(rows, size)
    models = collections.Counter(r["model"] for r in got)
    assert [models[f"m{m}"] for m in range(len(counts))] == drawn
    assert got == drawn_from(rows[::-1], size) and len(drawn_from(rows, 0)) == sum(counts)


def test_only_replies_of_the_task_and_each_text_once(own):
    rows = [row("cm-1"), row("cm-2", reply_status="refused", reply=""), row("mh-1", "medhalu")]
    rows += [
        row("case-1", "meddialbench"),
        row("nfp-1", section="version 2: no false presupposition"),
    ]
    rows += [{**row("cm-1"), "id": "another model, the same words"}]

    def items(rows, task, **how):
        return [r["item"] for r in candidates(rows, tasks()[task], **how)]

    assert items(rows, "presupposition") == ["cm-1"] and items(rows, "nfp") == ["nfp-1"]
    assert items(rows, "adherence") == []  # without a consultation
    own()
    models = {"a": "smollm2-135m", "b": "gpt-4o", "c": "qwen2.5-coder-1.5b"}
    there = [row(item, "medhalu", "9 own", model=m) for item, m in models.items()]
    # the smallest model's truncated replies are not worth a label, unless nobody else replied
    assert items(there, "own") == ["b", "c"] and items(there, "own", tiny=True) == ["a", "b", "c"]
    assert items(there[:1], "own") == ["a"]
    document = {"shared": {"a": [DIALOGUE]}, "rows": [row("cm-1", shared=["a"])]}
    assert annotation.rows(document)[0]["shared"] == [DIALOGUE]


TEAM = ("Ann", "Ben", "Cem")


def queue(rows, rater, raters=TEAM, **other):
    given = {"size": 0, "repetitions": 0.0, "overlap": 0.2, "raters": raters} | other
    found = candidates(rows, tasks()["presupposition"])
    return [e.row["id"] for e in sampling.queue(found, rater, Sample(**given))]


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


# ---- labels that come back


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
    ("presupposition", {"id": "0" * 20}, "its item isn't on this rater's page"),
    ("presupposition", {"at": "2026-11-25"}, "its time has no zone"),
    ("presupposition", {"at": "yesterday"}, "line 2: "),
    ("presupposition", {"values": "1"}, "expected array"),
    ("presupposition", {"seconds": -5}, "seconds are"),
    ("presupposition", "[" * 9000, "line 2: "),
]


@pytest.mark.parametrize("task, given, fault", [(*t, "") for t in TAKEN] + FAULTS)
def test_a_file_with_a_fault_is_told_and_nothing_of_it_is_taken(tmp_path, task, given, fault):
    how = tasks()[task]
    blocks = [DIALOGUE] if task == "adherence" else []
    rows = [row("x-1", how.paper, how.sections[0], reply=BURN, blocks=blocks)]
    pages = out(tmp_path, rows, task, ["Ann", "Ben"])
    given = label(pages["Ann"], 0) | given if isinstance(given, dict) else given
    back(tmp_path / "back", "Ann.jsonl", pages["Ann"], given)
    refused = {"values": [], "refused": "undecided", "reason": "?"}
    back(tmp_path / "back", "Ben.jsonl", pages["Ben"], label(pages["Ben"], 0) | refused)
    (told, other), faults = handed.taken(tmp_path / "back", tmp_path / "labels")
    (item,) = data(out(tmp_path, rows, task, ["Ann"])["Ann"])["items"]
    assert "1 new labels" in other and faults == bool(fault)
    if fault:
        assert "not taken: line 2" in told and fault in told and item["given"] is None
    else:
        assert item["given"]["values"] == sorted({*given["values"]})


RATERS = ["Anna Berg", "Jürgen Öz"]


def test_what_comes_back_is_taken_in_once(tmp_path):
    rows = [r | {"unit": r["item"]} for r in many(4)]
    pages = out(tmp_path, rows, "presupposition", RATERS, group="expert", size=4)
    for name, page in pages.items():
        more = [label(page, 1, "0", reason="vague"), label(page, 1, "-1", "2026-11-25T10:05:00Z")]
        refused = label(page, 2, refused="faulty", reason="two questions") | {"values": []}
        back(tmp_path / "back", f"{name} (1).jsonl", page, label(page, 0), *more, refused)
    for new in (4, 0):
        told, faults = handed.taken(tmp_path / "back", tmp_path / "labels")
        assert not faults and len(told) == 2
        assert f"Jürgen Öz, presupposition: {new} new labels; 3 of 4 done, 1 of them" in told[1]
    labels = raters.labels("presupposition", rows, tmp_path / "labels")
    assert set(labels["rater"]) == set(RATERS) and set(labels["group"]) == {"expert"}
    assert sorted(labels["value"].dropna()) == ["-1", "-1", "1", "1"]
    again = data(out(tmp_path, rows, "presupposition", RATERS, group="expert", size=4)["Anna Berg"])
    assert [bool(i["given"]) for i in again["items"]] == [True, True, True, False]


def test_files_of_others_are_told(tmp_path, monkeypatch, capsys):
    page = out(tmp_path, many(2), "presupposition", RATERS)["Anna Berg"]
    where = tmp_path / "back"
    back(where, "a.jsonl", page, label(page, 0), hand="0" * 12)
    back(where, "b.jsonl", page, hand="../../x")
    back(where, "c.jsonl", page, task="nonsense\x1b[2J")
    back(where, "d.jsonl", page, rater="../Jo")
    (where / "e.docx").write_bytes(b"PK\x03\x04\xff")
    (where / "f.jsonl").write_bytes(b"")
    told, refused = handed.taken(where, tmp_path / "labels")
    assert refused == 6 and all("not taken: " in t for t in told) and "\x1b" not in "".join(told)
    assert "no page of 'Anna Berg' with this sample" in told[0]
    monkeypatch.setattr("bedside.annotation.returned.FOLDER", tmp_path / "labels")
    with pytest.raises(SystemExit):
        steps.main(["annotate", f"FROM={where}"])
    assert "6 of 6 files were not taken" in capsys.readouterr().err
    with pytest.raises(BedsideError, match="there is no file"):
        handed.taken(tmp_path / "nowhere")


def test_what_a_browser_keeps_of_an_earlier_page_is_shown_on_the_next(tmp_path):
    """A page made with another size or draw says which pages of this rater came before it."""
    made, rows = [], many(8)
    for given, more in ((rows, {}), (rows, {"size": 4}), (rows, {"all_reasons": True})):
        made.append(data(out(tmp_path, given, "presupposition", ["Ann"], **more)["Ann"]))
    first, second, third = made
    assert first["earlier"] == [] and second["earlier"] == [first["hand"]]
    assert third["earlier"] == []  # it asks for more than they gave
    changed = [r | {"reply": "rewritten"} for r in rows]
    assert data(out(tmp_path, changed, "presupposition", ["Ann"])["Ann"])["earlier"] == []
    again = data(out(tmp_path, rows, "presupposition", ["Ann"])["Ann"])
    assert again["hand"] == first["hand"] and again["earlier"] == [second["hand"]]


@pytest.mark.parametrize("task", TASKS)
def test_label_studio_gets_a_raters_items_and_its_export_comes_back(tmp_path, task):
    how = tasks()[task]
    rows = [row(f"x-{n}", how.paper, how.sections[0], reply=f"🙂 {BURN} {n}") for n in range(3)]
    rows = [r | {"blocks": [DIALOGUE] * (task == "adherence")} for r in rows]
    if task == "side_effect_list":
        decided = text("What the matcher decided", "a → b\nc → d\ne → f")
        rows = [rows[0] | {"blocks": [decided]}]
    (path, count) = handed.out(
        rows, task, RATERS[:1], tmp_path, tmp_path / "labels", server=True, repetitions=0.0
    )[0]
    exported, interface = json.loads(path.read_text()), ElementTree.parse(path.with_suffix(".xml"))
    assert count == len(exported) and SECRET not in path.read_text()
    offered = {c.get("name"): [x.get("alias") for x in c] for c in interface.iter("Choices")}
    assert offered["values"] == list(how.values)
    marks = how.values[0] == how.spans_for
    for task_ in exported:  # as a server gives it back
        result = [{"from_name": "values", "type": "choices", "value": {"choices": [how.values[0]]}}]
        if marks:
            kind = {"choices": [how.types[0][1]]}
            span = {"start": 9, "end": 14, "text": "Iron heals", "labels": ["span"]}
            result += [{"from_name": "type", "type": "choices", "value": kind}]
            result += [{"from_name": "spans", "type": "labels", "value": span}]
        said = {"from_name": "reason", "type": "textarea", "value": {"text": ["so", "it is"]}}
        about = {"updated_at": "2026-11-25T10:00:00.1Z", "lead_time": 4.2, "was_cancelled": False}
        cancelled = {"result": [], "was_cancelled": True}
        task_["annotations"] = [{"result": [*result, said], **about}, cancelled]
    (tmp_path / "back").mkdir()
    (tmp_path / "back/export.json").write_text(json.dumps(exported))
    for new in (count, 0):
        (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
        assert not refused and f"{RATERS[0]}, {task}: {new} new labels" in told
    (path, _) = handed.out(
        rows, task, RATERS[:1], tmp_path, tmp_path / "labels", server=True, repetitions=0.0
    )[0]
    again = json.loads(path.read_text())  # with the labels so far
    for before, after in zip(exported, again):
        kept = [{k: r[k] for k in ("from_name", "type")} for r in after["annotations"][0]["result"]]
        given = before["annotations"][0]["result"]
        assert {*map(str, kept)} == {str({k: r[k] for k in kept[0]}) for r in given}
    (tmp_path / "back/export.json").write_text(json.dumps(again))
    (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert not refused and " 0 new labels" in told
    (tmp_path / "back/export.json").write_text('[{"data": {"text": "of another project"}}]')
    (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert refused and "export the project as JSON" in told


def test_a_label_of_another_text_does_not_count(tmp_path):
    rows = many(3)
    answer(tmp_path, rows, "presupposition", "Ann", lambda item, n: "1")
    changed = [rows[0] | {"reply": "rewritten"}, *rows[1:]]
    items = data(out(tmp_path, changed, "presupposition", ["Ann"])["Ann"])["items"]
    open_ = [i["answer"]["text"] for i in items if i["given"] is None]
    assert open_ == ["rewritten"]


# ---- logs


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
    found, damaged = log.read(path)
    assert len(found) == 1
    assert [place.rpartition(" ")[2] for place in damaged] == ["2", "4", "5", "6", "7", "8"]
    assert all("Ann.jsonl, line" in place for place in damaged)


APPEND = """
import sys
from pathlib import Path
from bedside.annotation import log
from rater_pages import record
for i in range(20):
    line = record(f"{sys.argv[2]}-{i}", "Ann", reason="x" * 2000)
    log.append(Path(sys.argv[1]) / "nfp/Ann.jsonl", [line])
"""


def test_two_processes_at_once_lose_nothing(tmp_path):
    how = {"env": os.environ | {"PYTHONPATH": os.path.dirname(rater_pages.__file__)}}
    words = [sys.executable, "-c", APPEND, str(tmp_path)]
    both = [subprocess.Popen([*words, name], **how) for name in "ab"]
    assert [p.wait() for p in both] == [0, 0]
    found, damaged = log.read(tmp_path / "nfp/Ann.jsonl")
    assert {r["id"] for r in found} == {alias(f"{name}-{i}") for name in "ab" for i in range(20)}
    assert not damaged


def test_a_label_that_does_not_reach_the_disk_is_not_said_to(monkeypatch, tmp_path):
    page = out(tmp_path, many(2), "presupposition", ["Ann"])["Ann"]
    back(tmp_path / "back", "Ann.jsonl", page, label(page, 0), label(page, 1))

    def fails(fd):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert refused == 1 and "can't be written (Input/output error)" in told
    assert labelled(tmp_path, many(2)) == 0
    (told,), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert not refused and labelled(tmp_path, many(2)) == 2
    (tmp_path / "file").write_text("")
    with pytest.raises(BedsideError, match="can't be read"):
        log.read(tmp_path / "file/Ann.jsonl")
