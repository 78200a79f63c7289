"""Cancer-Myth: released files, judges and their examples, answers made elsewhere, the review."""

import asyncio
import csv
import itertools
import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import tasks
from bedside.papers.cancer_myth import data, display, pipeline, study, survey
from bedside.papers.cancer_myth.labels import reviewed
from bedside.papers.cancer_myth.scores import scores
from bedside.papers.cancer_myth.v2 import items as v2_items
from bedside.read import sources
from bedside.read.surroundings import here
from bedside.run import Run
from cells import wanted
from conftest import SILENT, completion
from judged import shown

EDITED = Path(__file__).with_name("edited_answers.toml")


@pytest.fixture(autouse=True)
def scratch(monkeypatch, tmp_path):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))


def of(profile="sample", notebook="03_evaluation", **given):
    return Run("cancer_myth", notebook, profile=profile, **given)


def test_the_first_set_ends_where_another_generator_begins():
    """In the order of raw_QID: manual, GPT-4o, Claude, GPT-4o; two belong to the first set."""
    columns = "raw_QID source_row example_question from_model".split()
    rows = [(3, 9, "d", "gpt-4o"), (1, 1, "b", "gpt-4o")]
    rows += [(2, 4, "c", "claude-3-5-sonnet"), (0, -1, "a", "manual")]
    frame = pd.DataFrame(rows, columns=columns).assign(example_assumption="", category="other")
    made = data.candidates(SimpleNamespace(load=lambda name: frame))
    assert made["question"].tolist() == [*"abcd"] and set(made["category"]) == {"Others"}
    assert made["first"].tolist() == [True, True, False, False]
    assert made["generator"].tolist() == ["Manual", "GPT-4o", "Claude-3.5-Sonnet", "GPT-4o"]


# ---- judges and the examples that they are shown (Figures 13 and 14)


def test_a_reply_without_text_has_no_grade(run_of, endpoint):
    """Not -1: n 0 and every question unscored, by a judge of either kind; the table says why."""
    run = run_of("cancer_myth", "03_evaluation")
    items, known = data.questions(run), study.known(run)["myth"]
    silent = itertools.cycle(SILENT.values())
    endpoint.script = lambda n, body: next(silent)
    answered = asyncio.run(study.answers(run, items, 2048))
    assert {*answered["reply_status"]} == {*SILENT}
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.verdicts(run, items, answered, known, judge))
        assert set(graded["status"]) == {"error"} and graded["value"].isna().all()
        found = scores(graded).set_index("metric")
        assert found["value"].isna().all() and found["n"].tolist() == [0, 0]
        assert found["unscored"].tolist() == [42, 42] and found.loc["PCS", "worst"] == -1
    assert len(endpoint.bodies) == 42  # nobody was asked for a verdict
    given = {"posed": items, "answered": answered, "graded": graded}
    health = wanted("cancer_myth/03_evaluation", "health", **given).set_index("column")["value"]
    assert health["no answer, %"] == 100 and "mean words" not in health
    assert min(health[f"no answer: {w}, %"] for w in SILENT) > 100 / 6


def test_questions_that_judges_are_shown_are_left_out(monkeypatch):
    run = of()
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
def test_the_released_examples():
    run = of("public")
    assert [e["label"] for e in data.shown(run, "myth")] == study.GRADES
    plain, items = data.shown(run, "plain"), data.questions(run, whole=True)
    assert {e["label"] for e in plain} == {-1, 1} and plain[0]["note"] != plain[1]["note"]
    left = set(items["item"]) - set(data.unseen(run, items)["item"])
    assert left == {f"cm-{n}" for n in (1, 5, 22, 35)}
    asked = data.plain_questions(run)
    assert asked["rejected"].str.len().min() > 20 and len(data.unseen(run, asked)) == 150
    assert list(data.of_each_category(run)["category"]) == list(data.CATEGORIES.values())
    assert data.myths(run)["item"].iloc[-1] == "myth-994"
    assert "retinoblastoma" in data.taken_out(run)["question"].iloc[0]


def test_a_model_is_shown_examples_and_gives_a_reason_first(run_of, endpoint):
    run = run_of("cancer_myth", "03_evaluation")
    said = json.dumps({"reason": 'It says "score": -1 in so many words.', "score": 1})
    endpoint.script = lambda n, body: completion(said)
    frame = data.labelled(run).head(1).assign(reply_status="")
    known = study.known(run, 0.7)["myth"]
    found = asyncio.run(study.grade(run, frame, "myth", known, "served"))
    assert found[["status", "value"]].values.tolist() == [["graded", 1]]
    asyncio.run(study.grade(run, frame, "myth", study.Known(), "served"))
    with_them, without = endpoint.bodies
    forms = [b["response_format"]["json_schema"]["schema"]["properties"] for b in endpoint.bodies]
    assert [*map(list, forms)] == [["reason", "score"], ["score"]]
    assert with_them["temperature"] == 0.7
    system, user = (m["content"] for m in with_them["messages"])
    for e in known.shown:
        assert e["answer"] in system and json.dumps(e["label"]) in system
        assert e["answer"] not in user
    assert "Example" not in without["messages"][0]["content"]


def test_answers_made_elsewhere_are_named_and_stand_beside_this_runs(tmp_path):
    """Those of a name that parts labels or begins a formula, too."""
    items, path = data.questions(of())["item"].tolist(), tmp_path / "theirs.csv"
    rows = [(i, "GPT-4o", "Good.") for i in items[1:]] + [(items[0], "Eve, <b>$\\frac{1}$", "")]
    with open(path, "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([("item", "model", "answer"), *rows])
    run = of(answers=str(path))
    both = asyncio.run(study.answers(run, data.questions(run), 2048))
    names = ["smollm2-135m", "GPT-4o (from theirs.csv)", "Eve; <b>$\\frac{1}$ (from theirs.csv)"]
    assert both["model"].unique().tolist() == names
    lost = both.groupby("model", sort=False)["reply_status"].value_counts()
    assert lost[names[1]].to_dict() == {"": 41, "not in the file": 1}
    assert lost[names[2]].to_dict() == {"blank": 1, "not in the file": 41}
    alone = asyncio.run(study.answers(run, data.questions(run), 2048, ["smollm2-135m"]))
    assert alone["model"].unique().tolist() == names[:1]


# ---- the review of candidates


def test_a_rater_sees_question_and_correction_and_nothing_else():
    run = of(notebook=display.REVIEWED)
    tried = pd.DataFrame(columns=["item", "value", "judge", "sent", "question", "correction"])
    known = annotation.rows(shown(run, "review", pipeline.reviewed(run, {}, tried)))
    (row,) = (r for r in known if r["item"] == "cand-4")
    seen = annotation.material(row, tasks()["review"])
    own = data.taken_out(of()).set_index("item").loc["cand-4"]
    assert [b["text"] for b in seen["before"]] == [own["question"]]
    assert seen["answer"] == {"label": "Correction", "text": own["correction"]}
    assert seen["after"] == [] and own["reason"] not in json.dumps(seen)


def test_what_raters_and_the_review_kept(monkeypatch):
    """Three of four: one of two of the first category, both of the second; of the physicians two
    of three, one word for word and one reworded."""
    labels = zip("AABB", ["keep", "unsound", "keep", "keep"])
    rated = [
        reviewed({"item": f"c{i}", "title": "Q?", "category": c}, label, "Ann")
        for i, (c, label) in enumerate(labels)
    ]
    run = of(notebook=display.REVIEWED)
    monkeypatch.setattr(run, "load", lambda name: pd.DataFrame(rated))
    monkeypatch.setattr(pipeline, "here", lambda name: True)
    asked = ["My father has surgery next week and we prepare.", "Which tea is good for her?"]
    offered = pd.DataFrame({"question": [*asked, "Is it all lost?"], "generator": [*"aab"]})
    offered = offered.assign(category=[*"xyy"], myth=[1, 1, 2], item=[*"123"])
    reworded = "My father has, I think, surgery next week and we prepare."
    released = pd.DataFrame({"question": ["which tea is good for her", reworded]})
    found = pd.concat(pipeline.reviews(run, {"candidates": offered, "released": released}))
    found = found.set_index(["column", "row"])
    for who, kept, n in (
        ("your raters", {"all": 75, "A": 50, "B": 100}, [4, 2, 2]),
        ("the physicians", {"all": 200 / 3, "a": 100, "b": 0, "x": 100, "y": 50}, [3, 2, 1, 1, 2]),
    ):
        rows = found.loc[f"kept by {who}, %"]
        assert rows["value"].to_dict() == pytest.approx(kept) and rows["n"].tolist() == n


# ---- answers to the survey, edited blind


@pytest.mark.parametrize("answer, left", tomllib.loads(EDITED.read_text("utf-8"))["edited"])
def test_what_the_editor_leaves(answer, left):
    assert survey.edited(answer) == left == survey.edited(left)
