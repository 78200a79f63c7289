"""New study: its data, its judge without a model, its table, worked out by hand."""

import asyncio

import pandas as pd
import pytest

from bedside.papers.new_study import data, scores, study
from bedside.read import claims, sources
from bedside.write.results import means
from cells import wanted

NOTEBOOK = "new_study/01_first_section"


def table_1(judged):
    """This run's rows of Table 1 by the notebook's own definition of the score."""
    scored = wanted(NOTEBOOK, "scored", judged=judged)
    return means(scored, {"right": "right, %"}).set_index("row")


@pytest.fixture
def run(run_of):
    return run_of("new_study", "01_first_section")


def test_every_question_has_a_source_and_four_labelled_answers(run):
    questions = run.load("new_study_questions")
    assert all(s["organisation"] and s["title"] for s in questions["source"])
    labels = data.labelled(run).groupby("item")["label"].apply(sorted)
    assert labels.to_dict() == {item: [0, 0, 1, 1] for item in questions["item"]}


def test_labels_of_items_that_are_not_here_are_left_out_and_told(run, monkeypatch, capsys):
    items = [run.load("new_study_questions")["item"][0], "elsewhere"]
    rated = {"answer_id": ["r1", "r2"], "item": items, "answer": "Cool it.", "label": 1}
    rated, load = pd.DataFrame({**rated, "labelled_by": "Ann"}), run.load
    monkeypatch.setattr(sources, "here", lambda name: True)
    files = {"new_study_rated": rated}
    monkeypatch.setattr(run, "load", lambda name: files[name] if name in files else load(name))
    found = data.labelled(run)
    assert len(found) == 12 + 1 and found["item"][found["rated"]].tolist() == items[:1]
    told = capsys.readouterr().out
    assert "1 of 2 labels" in told and "this run has no item 'elsewhere'" in told


def test_the_judge_counts_the_reference_s_words():
    # words of four letters or more: {cool, running, water}; the answers have 2, 0 and 3 of them
    answers = ["Cool it under WATER.", "Ice!", "Running water, cool."]
    frame = pd.DataFrame({"item": ["a", "a", "b"], "answer": answers, "label": [1, 0, 1]})
    judge = scores.Overlap(frame.assign(reference="Cool it: running water"), scores.VALUES)
    assert judge.known.tolist() == [2 / 3, 0, 1]
    assert judge.grade(judge.labelled) == [1, 0, 1]


def test_a_model_s_answers_stand_beside_those_without_one(run):
    questions, labelled = data.questions(run), data.labelled(run)
    answers = asyncio.run(study.answers(run, questions, 50))  # the model says "fine"
    assert answers.groupby("model", sort=False).size().to_dict() == {
        "reference": 3,
        "one advice": 3,
        "served": 3,
    }
    judged = asyncio.run(study.judged(run, answers, labelled))
    value = table_1(judged)["value"]
    assert value.to_dict() == {"reference": 100, "one advice": 0, "served": 0}
    made = claims.decided("new_study", {"right": value["reference"], "round": round})
    assert {*claims.load("new_study")} == {*made}


def test_what_was_not_graded_is_unscored_and_bounded():
    # one of two right, one without a verdict: 1 of 2; 33% if that one were wrong, 67% if right
    judged = pd.DataFrame(
        {
            "item": ["a", "b", "c"],
            "model": "m",
            "status": ["graded", "graded", "unparsed"],
            "value": [1, 0, None],
        }
    )
    found = table_1(judged).loc["m"]
    assert (found["value"], found["n"], found["unscored"]) == (50, 2, 1)
    assert [round(found["worst"]), round(found["best"])] == [33, 67]
