"""Cancer-Myth's parameters between their ends: a test for each notebook, to the tables' numbers."""

import itertools
import math

import pytest
from parameter_runs import as_long_as_asked, form_of, long, needs, panel, ran, text_of

from provider_words import said

SURVEY, ANSWERS = "cancer_myth/01_physician_survey", "table_survey_answers"
LOOP, EVALUATION = "cancer_myth/02_adversarial_generation", "cancer_myth/03_evaluation"
TOLD = "(mind the premise)"  # in a changed template


def test_the_survey_is_asked_as_its_parameters_say():
    """models, temperature, max_tokens, words, and one changed template in a folder of prompts."""
    fakes = {
        "fake-warm": needs("temperature", 0.7),
        "fake-long": long,
        "fake-told": lambda r: "Noted." if TOLD in text_of(r) else " ",
        "fake-words": as_long_as_asked,
    }
    template = (
        "{% block user %}{{ question }} " + TOLD + " in about {{ words }} words{% endblock %}"
    )
    files = {"prompts/cancer_myth/survey_answer.j2": template}
    given = dict(temperature=0.7, max_tokens=50, words=100, prompts="FOLDER/prompts")
    made = ran(SURVEY, fakes, files, models=" ".join(fakes), **given)
    for model, column, value in (
        ("fake-warm", "answers", 3),
        ("fake-told", "answers", 3),
        ("fake-long", "words, mean", 50),
        ("fake-long", "cut off at the limit", 3),
        ("fake-words", "words, mean", 100),
    ):
        assert made.row(ANSWERS, model, column).value == value


def writer(needed, answering):
    """Writes only with one setting, and answers its own questions, wrongly, only with another."""
    writes = needs(*needed, lambda r: said(r.body())[0], "questions")
    return needs(*answering, lambda r: "Yes." if not form_of(r) else writes(r))


@pytest.mark.slow
def test_the_loop_is_run_as_its_parameters_say():
    """Each writer needs another setting to write, and one to answer its own questions."""
    fakes = {
        "fake-warm": writer(("temperature", 0.2), ("temperature", 0.3)),
        "fake-short": writer(("max_tokens", 300), ("max_tokens", 200)),
        "fake-seeded": writer(("seed", 7), ("max_tokens", 200)),
    }
    given = dict(temperature=0.2, answer_temperature=0.3, max_tokens=300, answer_tokens=200)
    given |= dict(seed="7", myths_used=3, cancer_types=2, myths_each=4, per_model=5, per_category=1)
    made = ran(LOOP, fakes, models=" ".join(fakes), until="table_pipeline_counts", **given)
    for model in fakes:
        for row in ("questions asked for", "questions usable"):
            assert made.row("table_pipeline_counts", row, model).value == 3 * 3
    for model in ("fake-warm", "fake-short"):
        assert made.row("fig3_yield", model, "hard (joins the valid set)").value == 100
        assert made.row("table_collected", model, "different texts").value == 2 * 4
    # of each writer five questions are selected, at first one of each category
    assert made.rows("fig5_balance").xs("this run, after", level="column")["n"].eq(3 * 5).all()


METHODS, AGENTS = ("plain", "precautionary", "gepa"), ("multi_agent", "multi_agent_monitor")
MYTHS, EXAMS = ("Cancer-Myth", "Cancer-Myth-NFP"), ("MedQA", "PubMedQA")


@pytest.mark.slow
def test_cures_are_tried_as_the_parameters_say():
    given = dict(train=6, gepa_budget=20, reported=5, exams=4, agent_items=2, rounds=3)
    made = ran("cancer_myth/04_mitigation", {"fake-panel": panel}, models="fake-panel", **given)
    for methods, sets, n in ((METHODS, MYTHS, 5), (METHODS, EXAMS, 4), (AGENTS, MYTHS + EXAMS, 2)):
        for method, name in itertools.product(methods, sets):
            found = made.row("table1_mitigation", f"fake-panel {method}", name)
            assert found.n + found.unscored == n
    # check, recruiting and two views; two replies and the moderator a round; report and answer
    for method, more in zip(AGENTS, (0, 1)):
        row = f"fake-panel {method}, Cancer-Myth"
        found = made.row("table_mitigation_answers", row, "calls for an answer")
        assert found.value == 1 + 1 + 2 + 3 * (2 + 1) + 1 + 1 + more
    # all nine in training, then steps of two batches of three
    assert "9 training questions" in made.told["table_gepa"]
    graded = 9 + 6 * math.ceil((20 - 9) / 6)
    assert made.row("table_gepa", "fake-panel", "answers graded").value == graded
