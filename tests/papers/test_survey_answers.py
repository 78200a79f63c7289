"""Answers of this run to the survey's questions: edited by rules, for raters; what is shown."""

import pytest

from bedside.annotation import tasks
from bedside.papers.cancer_myth import display, labels, survey
from bedside.publish.judged_items import text
from bedside.read import sources
from bedside.run import Run

NOTEBOOK = "01_physician_survey"


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


def test_ours_name_nobody_when_edited():
    found = survey.asked(Run("cancer_myth", NOTEBOOK, profile="sample"))
    assert found["answer"].str.contains("Harbour|https").all()
    assert not found["answer"].map(survey.edited).str.contains("Harbour|https").any()


def test_raters_get_the_edited_answer():
    row = {
        "id": "a",
        "section": display.ANSWERED,
        "reply": "As an AI, I rest.\n\nWalk.",
        "blocks": [],
    }
    row |= {"shared": [text(display.ASKED, "Q?")]}
    assert [p["reply"] for p in tasks()["survey_paragraphs"].asked(row)] == ["I rest.", "Walk."]
    (whole,) = tasks()["survey_answers"].asked({**row, "section": display.SURVEY})
    assert whole["reply"].startswith("As an AI")


def test_without_released_ratings_there_is_no_yardstick(monkeypatch):
    monkeypatch.setattr(labels, "here", lambda name: False)
    assert tasks()["survey_answers"].reference() == []


@pytest.mark.skipif(not sources.here("cancer_myth_survey_ratings"), reason="released data")
def test_released_examples():
    """Appendix A.5 prints the scores 2, 5, 3 and 5: the rounded means of the ratings."""
    run = Run("cancer_myth", NOTEBOOK, profile="public")
    answers = run.load("cancer_myth_survey_answers")
    found = survey.quoted(survey.survey(run), answers)
    assert [round(sum(r) / len(r)) for r in found["ratings"]] == [2, 5, 3, 5]
    assert found["labels"].tolist()[2] == ["Bad or inappropriate advice"]
    shown = survey.unedited(run).iloc[0]
    assert "CancerCare" in shown["on the site"] and "lymphoma" in shown["question"]
    for edited in ("edited by the authors", "edited by rules"):
        assert "CancerCare" not in shown[edited]
