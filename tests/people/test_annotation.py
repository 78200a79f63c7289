"""Annotation without a browser: what raters see, which rows they get, no label ever lost."""

import collections
import json
import os
import subprocess
import sys

import annotation_rows
import pytest
from annotation_rows import DIALOGUE, SECRET, TASKS, many, row

from bedside import BedsideError, annotation
from bedside.annotation import Log, Session, alias, sampling
from bedside.read import paths

session = annotation_rows.session  # a fixture


# ---- blindness


MARKED = {
    "kind": "marked",
    "label": f"{SECRET} marks",
    "pieces": [["Rest. ", ""], ["Iron heals burns.", "labelled detected"]],
}
ALIGNED = {
    "kind": "aligned",
    "label": SECRET,
    "columns": [SECRET],
    "rows": [{"term": SECRET, "cells": ["matched"]}],
}


def page_state(session):
    """What the widget sends to the page."""
    state = annotation.widget(session).get_state()
    return {k: v for k, v in state.items() if not k.startswith(("_esm", "_css", "layout"))}


@pytest.mark.parametrize("task", TASKS)
def test_a_rater_sees_nothing_that_says_whose_reply_it_is(session, task):
    how = TASKS[task]
    seen = [{"kind": "text", "label": label, "text": f"seen {label}"} for label in how.shows]
    others = {label for t in TASKS.values() for label in t.shows} - set(how.shows)
    labels = (*others, SECRET, "Expert answer", "Label of the answer", "Behaviour script")
    hidden = [{"kind": "text", "label": label, "text": SECRET} for label in labels]
    blocks = [*seen[1:], DIALOGUE, MARKED, ALIGNED, *hidden]
    one = row("x-1", how.paper, how.sections[0], shared=seen[:1] + hidden, blocks=blocks)
    s = session([one], task, group="expert")
    shown = json.dumps([s.shown(), s.about])
    assert SECRET not in shown and "script" not in json.dumps(s.shown())
    assert all(b["text"] in shown for b in seen)
    assert ("nothing." in shown) == (task == "adherence")
    # of a list it is what was decided on an item
    reply = f"seen {how.shows[1]}" if task == "side_effect_list" else "reply x-1"
    assert s.shown()["answer"]["text"] == reply
    assert SECRET not in json.dumps(page_state(s))


def test_a_repetition_looks_like_any_item(session):
    s = session(many(6), repetitions=0.5)
    keys = set()
    while not s.done:
        keys.add(tuple(s.shown()))
        assert s.shown()["earlier"] is None  # the first answer isn't shown
        assert s.label("1") == ""
    assert len(keys) == 1 and "check" not in str(keys) and "repetition" not in str(keys)


def test_hostile_text_stays_as_it_is_but_for_lone_surrogates(session):
    text = "<script>x</script> \u202e \ud800 end"
    shown = session([row("cm-1", reply=text)]).shown()
    assert shown["answer"]["text"] == text.replace("\ud800", "\ufffd")


def test_shared_blocks_come_in_place_of_their_keys():
    document = {"shared": {"a": [MARKED, DIALOGUE]}, "rows": [row("cm-1", shared=["a"])]}
    assert annotation.rows(document)[0]["shared"] == [MARKED, DIALOGUE]
    with pytest.raises(BedsideError, match=r"annotation.rows\(document\)"):
        annotation.candidates(document["rows"], TASKS["nfp"])


# ---- samples


def names(drawn):
    return [(e.row["item"], e.repetition) for e in drawn]


def test_a_sample_is_the_same_for_the_same_seed_in_every_process_and_order():
    def drawn(rows, seed):
        return names(annotation.sample(rows, TASKS["presupposition"], 10, seed, repetitions=0.2))

    rows = many(40)
    here = drawn(rows, 7)
    assert here == drawn(rows[::-1], 7) and here != drawn(rows, 8)
    code = (
        "from test_annotation import *; task = TASKS['presupposition'];"
        " print(json.dumps(names(annotation.sample(many(40), task, 10, 7, repetitions=0.2))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=paths.ROOT / "tests/people",
    )
    assert json.loads(done.stdout) == [list(n) for n in here], done.stderr


@pytest.mark.parametrize(
    "counts, size, drawn",
    [
        ([60, 30, 10], 10, [6, 3, 1]),
        # 0.8, 0.1 and 0.1 get one each; what is left goes to the first
        ([90, 8, 1, 1], 10, [7, 1, 1, 1]),
        ([50, 30, 20], 4, [2, 1, 1]),  # shares 2, 1.2, 0.8
        # fewer places than strata: by remainder, ties in the given order
        ([5, 5, 5], 2, [1, 1, 0]),
        ([3, 2], 5, [3, 2]),
        ([97, 2, 1], 3, [1, 1, 1]),
        ([1], 1, [1]),
        ([], 0, []),
    ],
)
def test_strata_by_largest_remainder(counts, size, drawn):
    assert sampling.shares(counts, size) == drawn


def test_strata_are_drawn_by_their_share():
    sizes = {"a": 60, "b": 30, "c": 10}
    rows = [row(f"cm-{m}{i}", model=m) for m, n in sizes.items() for i in range(n)]
    task = TASKS["presupposition"]
    drawn = annotation.sample(rows, task, 10, 0)
    assert collections.Counter(e.row["model"] for e in drawn) == {"a": 6, "b": 3, "c": 1}
    table = annotation.coverage(rows, task, drawn)[["model", "rows", "drawn"]]
    assert table.values.tolist() == [["a", 60, 6], ["b", 30, 3], ["c", 10, 1]]
    every = sorted(names(annotation.sample(rows, task, 0, 0)))
    assert every == sorted((r["item"], False) for r in rows)
    assert annotation.coverage(rows, task, [])["drawn"].tolist() == [0, 0, 0]


def test_only_replies_of_the_task_and_each_text_once():
    rows = [
        row("cm-1"),
        row("cm-2", reply_status="refused", reply=""),
        row("mh-1", "medhalu"),
        row("case-1", "meddialbench"),
        row("nfp-1", section="version 2: no false presupposition"),
        row("mq-1", section="version 2 cures: MedQA"),
        {**row("cm-1"), "id": "another model, the same words"},
    ]
    assert [r["item"] for r in annotation.candidates(rows, TASKS["presupposition"])] == ["cm-1"]
    assert [r["item"] for r in annotation.candidates(rows, TASKS["nfp"])] == ["nfp-1"]
    assert annotation.candidates([row("r", "radiation", "4.3 lists")], TASKS["side_effect"]) == []
    assert annotation.candidates(rows, TASKS["adherence"]) == []  # without a consultation


@pytest.mark.parametrize(
    "size, share, repeated", [(30, 0.1, 3), (10, 0.5, 5), (2, 0.1, 1), (1, 0.5, 0), (30, 0.0, 0)]
)
def test_repetitions_come_later_and_apart(size, share, repeated):
    rows, task = many(40), TASKS["presupposition"]
    for seed in range(20):
        drawn = names(annotation.sample(rows, task, size, seed, repetitions=share))
        again = [i for i, (_, repetition) in enumerate(drawn) if repetition]
        assert len(again) == repeated and len(drawn) == size + repeated
        for i in again:
            first = drawn.index((drawn[i][0], False))
            assert i - first > min(sampling.APART, size // 2)


# ---- logs


BAD = ["", "  ", "../etc", "a/b", "a\\b", ".hidden", "..", "a" * 41]
BAD += ["a\nb", "a.", "a\0b", "-x", "x:y"]


@pytest.mark.parametrize("rater", BAD)
def test_bad_names_of_raters(tmp_path, rater):
    with pytest.raises(BedsideError, match="1 to 40 letters"):
        Log(tmp_path, "nfp", rater)


@pytest.mark.parametrize(
    "rater", ["Ann", "reader 1", "Zoë", "日本", "a.b_c-d", "a" * 40, "Zoe\u0308"]
)
def test_good_names_of_raters(tmp_path, rater):
    log = Log(tmp_path, "nfp", rater)
    assert log.path.parent == tmp_path / "nfp" and len(log.rater) <= 40
    assert Log(tmp_path, "nfp", "Zoe\u0308").path == Log(tmp_path, "nfp", "Zoë").path


def test_labels_go_to_the_external_folder_unless_told_otherwise():
    assert Log(None, "nfp", "Ann").path == paths.EXTERNAL / "annotations/nfp/Ann.jsonl"
    with pytest.raises(BedsideError, match="did you mean 'hallucination'"):
        Log(None, "halucination", "Ann")


def test_a_line_cut_short_costs_only_itself(session):
    rows = many(3)
    s = session(rows)
    for value in ("-1", "0", "1"):
        assert s.label(value) == ""
    whole = s.log.path.read_bytes()
    ends = [i for i, byte in enumerate(whole) if byte == 10]
    for cut in (len(whole) - 2, ends[1] + 1, ends[1] + 40):
        s.log.path.write_bytes(whole[:cut])
        again = session(rows)
        assert again.progress == (2, 3) and again.label("1") == ""
        assert session(rows).progress == (3, 3)
        assert s.log.path.read_bytes().startswith(whole[:cut])  # nothing is deleted
    s.log.path.write_bytes(whole[:-1])  # a whole label that lacks only the end of its line counts
    assert session(rows).done


def test_damaged_lines_are_named_and_the_rest_counts(session):
    rows = many(2)
    s = session(rows)
    s.label("1")
    s.label("0")
    first, second = s.log.path.read_bytes().splitlines(keepends=True)
    s.log.path.write_bytes(first + b"garbage\n\n\xff\xfe\n[1]\n{}\n" + first[:50] + b"\n" + second)
    log = Log(s.log.path.parents[1], "presupposition", "Ann")
    assert len(log.labels()) == 2
    assert [place.rpartition(" ")[2] for place in log.damaged] == ["2", "4", "5", "6", "7"]
    assert all("Ann.jsonl, line" in place for place in log.damaged)


APPEND = """
import sys
from bedside.annotation.log import KINDS, Log
log = Log(sys.argv[1], "nfp", "Ann")
for i in range(150):
    record = {k: kind() if isinstance(kind, type) else 1.0 for k, kind in KINDS.items()}
    log.append({**record, "id": f"{sys.argv[2]}-{i}", "reason": "x" * 2000})
"""


def test_two_processes_at_once_lose_nothing(tmp_path):
    both = [subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), name]) for name in "ab"]
    assert [p.wait(60) for p in both] == [0, 0]
    log = Log(tmp_path, "nfp", "Ann")
    assert set(log.labels()) == {alias(f"{name}-{i}") for name in "ab" for i in range(150)}
    assert not log.damaged


FULL = """
import resource, sys
from pathlib import Path
from annotation_rows import lines, many
from bedside.annotation import Session, sampling
drawing = sampling.Draw(repetitions=0)
s = Session(many(3), "presupposition", "Ann", drawing=drawing, folder=sys.argv[1])
assert s.label("1") == ""
before = s.log.path.read_bytes()
# a real write that stops half way
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, resource.RLIM_INFINITY))
said, at = s.label("0"), s.at
assert s.log.path.read_bytes() == before and s.at == at == 1 and s.progress == (1, 3), said
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert s.label("0") == "" and len(lines(s)) == 2
print(said)
"""


def test_a_full_disk_is_said_and_costs_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=paths.ROOT / "tests/people",
    )
    for said in ("Ann.jsonl: the label could not be written", "free the disk"):
        assert said in done.stdout, done.stderr


def test_a_label_that_does_not_reach_the_disk_is_not_said_to(session, monkeypatch):
    s = session(many(2))

    def fails(fd):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    assert "could not be written (Input/output error)" in s.label("1")
    assert s.log.path.read_bytes() == b"" and s.progress == (0, 2)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BedsideError, match="can't be read"):
        Session(many(2), "presupposition", "Ann", folder=tmp_path / "file")
    said = "could not be written .*free the disk or fix its permissions"
    with pytest.raises(BedsideError, match=said):
        Log(tmp_path / "file", "nfp", "Ann").append({})
