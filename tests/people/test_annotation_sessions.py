"""Annotation sessions: what is recorded, resumed, put off, corrected and refused."""

import json
import os
import re
import subprocess
import sys

import annotation_rows
import pytest
from annotation_rows import BURN, DIALOGUE, SECRET, TASKS, lines, many, row

from bedside import BedsideError, annotation
from bedside.annotation import alias, grouped, sampling
from bedside.keep.store import digest
from bedside.read import paths

session = annotation_rows.session  # a fixture


def test_single_settings_and_records_are_the_same(session):
    how = grouped(size=4, seed=3, tiny=True, raters=["Ann"], protocol=True, group="expert")
    assert how["drawing"] == sampling.Draw(4, 3, tiny=True, raters=["Ann"])
    assert how["rules"] == annotation.Rules(protocol=True) and how["group"] == "expert"
    with pytest.raises(TypeError, match="drawing"):
        grouped(size=4, drawing=sampling.Draw())
    with pytest.raises(TypeError, match="sise"):
        session(many(2), sise=4)


def test_what_is_recorded(session):
    s = session(many(9), size=4, seed=3, group="layperson")
    shown = s.shown()
    assert s.label("0", reason="  vague ", seconds=12.34567) == ""
    made = lines(s)[0]
    assert tuple(made) == annotation.FIELDS
    assert made["id"] == alias(s.queue[0].row["id"]) and SECRET not in json.dumps(made)
    expected = {
        "paper": "cancer_myth",
        "task": "presupposition",
        "rater": "Ann",
        "group": "layperson",
        "value": "0",
        "type": "",
        "spans": [],
        "reason": "vague",
        "refused": "",
        "source": "",
        "seconds": 12.346,
        "check": False,
    }
    assert {k: made[k] for k in expected} == expected
    assert made["sample"] == {"seed": 3, "size": 4, "n": 9, "of": 4} and made["at"].endswith(
        "+00:00"
    )
    assert made["text_sha256"] == digest({k: shown[k] for k in ("before", "answer", "after")})


def test_a_session_resumes_and_corrects(session):
    rows = many(5)
    s = session(rows)
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
    again.back()
    again.back()
    again.back()
    assert again.at == 0
    again.skip()
    assert again.at == 2
    for _ in range(3):
        again.label("1")
    assert again.done and again.shown()["place"] is None
    assert "everything is labelled" in again.label("1")
    again.back()
    assert again.at == 4


def test_a_label_of_another_text_does_not_count(session):
    session([row("cm-1")]).label("1")
    assert session([row("cm-1")]).done
    assert session([row("cm-1", reply="rewritten")]).progress == (0, 1)


def test_another_window_and_another_sample_count(session):
    rows = many(6)
    s, other = session(rows), session(rows)
    other.label("1")
    other.label("1")
    assert s.label("0") == "" and s.at == 2 and s.progress == (2, 6)
    assert session(rows, seed=9).progress == (2, 6)
    assert session(rows, rater="Ben").progress == (0, 6)


def test_repetitions_are_kept_apart_from_first_labels(session):
    s = session(many(8), repetitions=0.25)
    while not s.done:
        s.label("0" if s.queue[s.at].repetition else "1")
    first, again = s.log.labels(), s.log.labels(repetition=True)
    assert len(first) == 8 and len(again) == 2 and set(again) < set(first)
    assert {r["value"] for r in first.values()} == {"1"}
    assert {r["value"] for r in again.values()} == {"0"}
    assert session(many(8), repetitions=0.25).done


def test_what_is_put_off_comes_at_the_end_and_before_its_repetition(session):
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


@pytest.mark.parametrize(
    "task, given, fault",
    [
        ("presupposition", {"value": "-1"}, ""),
        ("presupposition", {"value": "2"}, "not a choice"),
        ("presupposition", {"value": ""}, "choice"),
        ("presupposition", {"value": 1}, "can't be read"),
        ("presupposition", {"value": ["1", "0"]}, "choose one"),
        ("presupposition", {"value": []}, "choose one"),
        ("presupposition", {"value": None}, "can't be read"),
        ("presupposition", {"value": "1", "type": "fact"}, "no type"),
        ("presupposition", {"value": "1", "spans": ["Rest"]}, "no span"),
        ("presupposition", {"value": "1", "seconds": float("nan")}, "from 0"),
        ("presupposition", {"value": "1", "seconds": -1}, "from 0"),
        ("presupposition", {"value": "1", "seconds": "long"}, "can't be read"),
        ("presupposition", {"value": [["1"]]}, "can't be read"),
        ("nfp", {"value": "0"}, ""),
        ("nfp", {"value": "-1"}, r"choices are 1 \(key 1\), 0 \(key 2\)"),
        ("hallucination", {"value": "no"}, ""),
        ("hallucination", {"value": "no", "reason": "all of it is right"}, ""),
        ("hallucination", {"value": "yes", "type": "fact", "spans": ["Iron heals burns"]}, ""),
        ("hallucination", {"value": "yes", "type": "fact", "spans": "Iron heals"}, ""),
        ("hallucination", {"value": "yes"}, "needs a type"),
        ("hallucination", {"value": "yes", "type": "none", "spans": ["Rest"]}, "needs a type"),
        ("hallucination", {"value": "yes", "type": "fact"}, "at least one span"),
        ("hallucination", {"value": "yes", "type": "fact", "spans": [" "]}, "at least one span"),
        (
            "hallucination",
            {"value": "yes", "type": "fact", "spans": ["Rest", "zinc"]},
            "'zinc' is not in the answer",
        ),
        ("hallucination", {"value": "no", "type": "fact"}, "value 'no' has no type"),
        (
            "hallucination",
            {"value": "no", "spans": ["Rest"]},
            "the value 'no' has no type and no spans",
        ),
        ("side_effect", {"value": "same"}, ""),
        ("side_effect", {"value": "yes"}, "not a choice"),
        ("diagnosis", {"value": "yes"}, ""),
        ("diagnosis", {"value": "same"}, "not a choice"),
        ("adherence", {"value": []}, ""),
        ("adherence", {"value": ""}, ""),
        ("adherence", {"value": ["logic", "attitude", "logic"]}, ""),
        ("adherence", {"value": "logic; attitude"}, ""),
        ("adherence", {"value": ["rude"]}, "'rude' is not a choice"),
    ],
)
def test_which_labels_are_taken(session, task, given, fault):
    how = TASKS[task]
    blocks = [DIALOGUE] if task == "adherence" else []
    s = session([row("x-1", how.paper, how.sections[0], reply=BURN, blocks=blocks)], task)
    said = s.label(**given)
    if fault:
        assert re.search(fault, said) and not s.log.path.exists() and not s.done
    else:
        value = given["value"]
        wanted = "attitude; logic" if "logic" in value else value or ""
        assert said == "" and s.done
        assert lines(s)[0]["value"] == wanted


def test_several_values_come_back_for_correction(session):
    s = session([row("case-1", "meddialbench", "4 consultations", blocks=[DIALOGUE])], "adherence")
    s.label(["logic", "attitude"])
    s.back()
    assert s.shown()["earlier"]["values"] == ["attitude", "logic"]


@pytest.mark.parametrize(
    "given, match",
    [
        ({"task": "halucination"}, "did you mean"),
        ({"rater": "../x"}, "1 to 40"),
        ({"group": "a/b"}, "expert, layperson"),
        ({"size": -1}, "size"),
        ({"repetitions": 0.9}, "0 to 0.5"),
        ({"rows": []}, "no replies for the task 'presupposition', which needs rows of cancer_myth"),
    ],
)
def test_what_a_session_refuses(session, given, match):
    with pytest.raises(BedsideError, match=match):
        session(**{"rows": many(2), **given})


def test_the_widget_says_saved_only_for_what_is_on_disk(session, monkeypatch):
    s = session(many(3))
    made = annotation.widget(s)

    def ask(do="label", place=0, values=("1",), **other):
        empty = {"type": "", "spans": [], "reason": "", "seconds": 1}
        made.take(None, {**empty, "do": do, "place": place, "values": list(values), **other}, [])
        return made.shown["saved"], made.shown["fault"]

    assert ask() == ("saved 1", "") and len(lines(s)) == 1
    assert ask()[1].startswith("the item had changed") and len(lines(s)) == 1  # a key pressed twice
    assert ask(place=1, values=["5"])[1].startswith("'5' is not a choice")
    assert (
        ask("back", 1) == ("", "")
        and made.shown["place"] == 0
        and ask(values=["0"]) == ("saved again", "")
    )
    assert ask("skip", 1) == ("", "") and made.shown["handled"] == 1
    monkeypatch.setattr(
        os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    assert "No space left" in ask(place=1)[1] and made.shown["handled"] == 1


def test_importing_it_imports_no_widgets():
    code = (
        "import sys; import bedside.annotation; "
        "print([m for m in ('anywidget', 'ipywidgets', 'traitlets') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=paths.ROOT
    )
    assert done.stdout.strip() == "[]", done.stderr
