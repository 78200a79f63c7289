"""Cancer-Myth: what the released files decide, its judges, the examples that they are shown."""

import asyncio
import itertools
import json

import pandas as pd
import pytest

from bedside.papers.cancer_myth import data, study
from bedside.papers.cancer_myth.scores import scores
from bedside.papers.cancer_myth.v2 import items as v2_items
from bedside.read import sources
from bedside.read.surroundings import here
from bedside.run import Run
from cells import wanted
from conftest import SILENT, completion


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    return Run("cancer_myth", "03_evaluation", profile="sample")


# ---- the released files


def test_the_first_set_ends_where_another_generator_begins():
    """In the order of raw_QID: manual, GPT-4o, Claude, GPT-4o; two belong to the first set."""
    names = ["gpt-4o", "gpt-4o", "claude-3-5-sonnet", "manual"]
    frame = pd.DataFrame({"raw_QID": [3, 1, 2, 0], "source_row": [9, 1, 4, -1]})
    frame = frame.assign(example_question=[*"dbca"], example_assumption="", from_model=names)

    class Released:
        def load(self, name):
            return frame.assign(category="other")

    made = data.candidates(Released())
    assert made["question"].tolist() == [*"abcd"] and set(made["category"]) == {"Others"}
    assert made["first"].tolist() == [True, True, False, False]
    assert made["generator"].tolist() == ["Manual", "GPT-4o", "Claude-3.5-Sonnet", "GPT-4o"]


# ---- answers and judges


def silent_by_question(items, silent):
    """A script: each question has a kind of silence of its own, {item: why}."""
    why = dict(zip(items["question"], itertools.cycle(SILENT)))

    def script(n, body):
        text = body["messages"][-1]["content"]
        return SILENT[next(w for q, w in why.items() if q in text)] if silent(body) else said

    said = completion("All is well.")
    return script, dict(zip(items["item"], why.values()))


def test_a_reply_without_text_has_no_grade(run_of, endpoint):
    """Not -1: n 0 and every question unscored, by a judge of either kind; the table says why."""
    run = run_of("cancer_myth", "03_evaluation")
    items, known = data.questions(run), study.known(run)["myth"]
    endpoint.script, why = silent_by_question(items, lambda body: True)
    answered = asyncio.run(study.answers(run, items, 2048))
    assert answered.set_index("item")["reply_status"].to_dict() == why
    assert not answered["truncated"].any()
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.verdicts(run, items, answered, known, judge))
        assert set(graded["status"]) == {"error"} and graded["value"].isna().all()
        found = scores(graded).set_index("metric")
        assert found["value"].isna().all() and found["n"].tolist() == [0, 0]
        assert found["unscored"].tolist() == [42, 42] and found.loc["PCS", "worst"] == -1
    assert len(endpoint.bodies) == 42  # nobody was asked for a verdict
    of = {"posed": items, "answered": answered, "graded": graded}
    health = wanted("cancer_myth/03_evaluation", "health", **of).set_index("column")["value"]
    assert health["no answer, %"] == 100
    parts = [health[f"no answer: {w}, %"] for w in SILENT]
    assert sum(parts) == pytest.approx(100) and min(parts) > 100 / 6


# ---- graded examples for judges (Figures 13 and 14)


def test_questions_that_judges_are_shown_are_left_out(run, monkeypatch):
    items = data.questions(run, whole=True)
    drawn = v2_items.split(items, 8, 12, run)[1]
    there = {"question": drawn["question"].iloc[0].upper() + "  "}
    monkeypatch.setattr(data, "shown", lambda run, kind: [there] * (kind == "category"))
    left = data.unseen(run, items)["item"]
    assert set(items["item"]) - set(left) == {drawn["item"].iloc[0]}
    assert len(data.unseen(run, items, keep=1)) == 42
    train, reported = v2_items.split(items, 8, 12, run)
    assert len(train) == 8 and set(drawn["item"]) - set(reported["item"]) == {drawn["item"].iloc[0]}


@pytest.mark.skipif(not sources.here("cancer_myth_judge_examples"), reason="released data")
def test_the_released_examples(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    run = Run("cancer_myth", "03_evaluation", profile="public")
    assert [e["label"] for e in data.shown(run, "myth")] == study.GRADES
    plain = data.shown(run, "plain")
    assert {e["label"] for e in plain} == {-1, 1} and plain[0]["note"] != plain[1]["note"]
    items = data.questions(run, whole=True)
    assert set(items["item"]) - set(data.unseen(run, items)["item"]) == {
        f"cm-{n}" for n in (1, 5, 22, 35)
    }
    asked = data.plain_questions(run)
    assert asked["rejected"].str.len().min() > 20 and len(data.unseen(run, asked)) == 150


def test_a_model_is_shown_examples_and_gives_a_reason_first(run_of, endpoint):
    run = run_of("cancer_myth", "03_evaluation")
    said = json.dumps({"reason": 'It says "score": -1 in so many words.', "score": 1})
    endpoint.script = lambda n, body: completion(said)
    frame = data.labelled(run).head(1).assign(reply_status="")
    known = study.known(run, 0.7)["myth"]
    found = asyncio.run(study.grade(run, frame, "myth", known, "served"))
    assert found[["status", "value"]].values.tolist() == [["graded", 1]]
    with_them, form = endpoint.bodies[-1], lambda b: b["response_format"]["json_schema"]["schema"]
    system, user = (m["content"] for m in with_them["messages"])
    assert list(form(with_them)["properties"]) == ["reason", "score"]
    assert with_them["temperature"] == 0.7
    for e in known.shown:
        assert e["answer"] in system and json.dumps(e["label"]) in system
        assert e["answer"] not in user
    asyncio.run(study.grade(run, frame, "myth", study.Known(), "served"))
    system = endpoint.bodies[-1]["messages"][0]["content"]
    assert "Example" not in system and "reason" not in system
    assert list(form(endpoint.bodies[-1])["properties"]) == ["score"]
