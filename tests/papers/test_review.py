"""What raters get of Cancer-Myth: candidates to review, and answers to the survey, edited blind."""

import json

import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import raters, tasks
from bedside.papers.cancer_myth import data, display, pipeline, survey
from bedside.papers.cancer_myth.labels import reviewed
from bedside.read import sources
from bedside.read.surroundings import here
from bedside.run import Run
from judged import shown

TASK = tasks()["review"]


@pytest.fixture(autouse=True)
def scratch(monkeypatch, tmp_path):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))


def reviews(profile):
    """The candidates without those of this run's loop."""
    run = run_of(profile)
    none = pd.DataFrame(columns=["item", "value", "judge", "sent", "question", "correction"])
    frame = pipeline.reviewed(run, data.released(run), none)
    return annotation.rows(shown(run, "review", frame))


def run_of(profile="sample"):
    return Run("cancer_myth", display.REVIEWED, profile=profile)


def test_a_rater_sees_question_and_correction_and_nothing_else():
    known = {row["item"]: row for row in reviews("sample")}
    shown = annotation.blind.material(known["cand-4"], TASK)
    own = data.taken_out(run_of()).set_index("item").loc["cand-4"]
    assert [b["text"] for b in shown["before"]] == [own["question"]]
    assert shown["answer"] == {"label": "Correction", "text": own["correction"]}
    assert shown["after"] == [] and own["reason"] not in json.dumps(shown)


@pytest.mark.skipif(not sources.here("cancer_myth_candidates"), reason="released data")
def test_released_candidates():
    run = run_of("public")
    assert list(data.of_each_category(run)["category"]) == list(data.CATEGORIES.values())
    assert "retinoblastoma" in data.taken_out(run)["question"].iloc[0]
    known = reviews("public")
    assert len(known) == 874
    found = raters.reference(known, "review").set_index("item")["value"]
    assert (found == "keep").sum() == 585 and (found == "none").sum() == 149
    assert found["candidate-3"] == "keep"
    assert found.reindex(list(data.DROPPED), fill_value="").tolist() == ["none", "none"]


# ---- answers to the survey, edited


@pytest.mark.parametrize(
    "answer, left",
    [
        ("As an AI language model, I can't see you. Rest.", "I can't see you. Rest."),
        ("Sadly, being a chatbot, I can't. Rest.", "Sadly, I can't. Rest."),
        ("I'm just a virtual assistant. Rest.", "Rest."),
        ("I am not sure. Rest.", "I am not sure. Rest."),
        ("Rest, said ChatGPT. Walk.", "Walk."),
        ("Ask CancerCare's nurses. Walk.", "Walk."),
        ("See [the page](https://a.b/c). Walk.", "See the page. Walk."),
        ("More at www.a.org. Walk.", "Walk."),
        ("## First\n* **Rest**\n2) Walk", "First\n- Rest\n2. Walk"),
        ("a\n\nb\n\nc", "a\n\nb\n\nc"),
        ("a\n\nb\n\nc\n\nd", "a\n\n1. b\n\n2. c\n\nd"),
        ("a\n\n- b\n\nc\n\nd", "a\n\n- b\n\nc\n\nd"),
        ("38.4 °C is a fever. Call 555-1234, A.B.", "38.4 °C is a fever. Call 555-1234, A.B."),
    ],
)
def test_what_the_editor_leaves(answer, left):
    assert survey.edited(answer) == left
    assert survey.edited(left) == left


def test_what_own_raters_keep(monkeypatch):
    """Of four candidates three are kept: one of two of the first category, both of the second."""
    asked = zip("AABB", ["keep", "unsound", "keep", "keep"])
    made = [
        reviewed({"item": f"c{i}", "title": "Q?", "category": c}, label, "Ann")
        for i, (c, label) in enumerate(asked)
    ]
    run = run_of()
    monkeypatch.setattr(run, "load", lambda name: pd.DataFrame(made))
    monkeypatch.setattr(pipeline, "here", lambda name: True)
    found = pd.concat(pipeline.reviews(run, {}))
    assert set(found["column"]) == {"kept by your raters, %"}
    found = found.set_index("row")[["value", "n"]].T.to_dict("list")
    assert found == {"all": [75, 4], "A": [50, 2], "B": [100, 2]}


def test_what_the_review_kept_by_hand():
    """Two of three: one word for word, one reworded."""
    asked = ["My father has surgery next week and we prepare.", "Which tea is good for her?"]
    offered = pd.DataFrame({"question": [*asked, "Is it all lost?"], "generator": [*"aab"]})
    offered = offered.assign(category=[*"xyy"], myth=[1, 1, 2], item=[*"123"])
    reworded = "My father has, I think, surgery next week and we prepare."
    released = pd.DataFrame({"question": ["which tea is good for her", reworded]})
    raw = {"candidates": offered, "released": released}
    table = pd.concat(pipeline.reviews(run_of(), raw)).set_index("row")
    expected = {"all": 66.6667, "a": 100, "b": 0, "x": 100, "y": 50}
    assert table["value"].round(4).to_dict() == expected
    assert table["n"].to_dict() == {"all": 3, "a": 2, "b": 1, "x": 1, "y": 2}
