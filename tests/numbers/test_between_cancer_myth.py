"""Cancer-Myth's parameters between their ends: a test for each, to the numbers in the tables."""

import csv
import io

import pytest
from parameter_runs import as_long_as_asked, form_of, long, needs, panel, ran, sample, text_of

from provider_words import said

TOLD = "(mind the premise)"  # in a changed template


# ---- 01: three questions of patients, answered by models that each need one setting

SURVEY = "cancer_myth/01_physician_survey"


@pytest.fixture(scope="module")
def survey():
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
    return ran(SURVEY, fakes, files, models=" ".join(fakes), **given)


def test_models(survey):
    """Those that are named are asked, and no other."""
    rows = survey.rows("table_survey_answers").index.get_level_values("row")
    assert set(rows) == {"fake-warm", "fake-long", "fake-told", "fake-words"}
    assert {r.model for r in survey.sent} == set(rows)


def test_temperature(survey):
    """Of a model that answers at 0.7 alone all three questions have answers."""
    assert survey.row("table_survey_answers", "fake-warm", "answers").value == 3


def test_max_tokens(survey):
    """Answers that take all they may are 50 words long, and cut."""
    assert survey.row("table_survey_answers", "fake-long", "words, mean").value == 50
    assert survey.row("table_survey_answers", "fake-long", "cut off at the limit").value == 3


def test_prompts(survey):
    """A folder with one of the templates replaces that one."""
    assert survey.row("table_survey_answers", "fake-told", "answers").value == 3


def test_words(survey):
    assert survey.row("table_survey_answers", "fake-words", "words, mean").value == 100


def test_mode():
    """To record asks what isn't recorded: after two of three questions the third. Fresh: all."""
    fakes, first = {"fake-words": as_long_as_asked}, {"limit": "2", "mode": "record"}
    for mode, sent in (("record", 2 + 1), ("fresh", 2 + 3)):
        made = ran(SURVEY, fakes, before=[(SURVEY, first)], models="fake-words", mode=mode)
        assert len(made.sent) == sent
        assert made.row("table_survey_answers", "fake-words", "answers").n == 3


def test_budget_usd():
    """At 1 USD a token two answers of at most 50 fit into 120 USD; the third comes next time."""
    priced = {"usd_per_million_in": 0.0, "usd_per_million_out": 1e6}
    given = dict(models="fake-words", max_tokens=50, budget_usd="120")
    fakes, entries = {"fake-words": as_long_as_asked}, {"fake-words": priced}
    made = ran(SURVEY, fakes, entries=entries, before=[(SURVEY, {})], **given)
    ((sent, why),) = made.stopped
    assert sent == 2 and "BUDGET_USD=120" in why and len(made.sent) == 3
    assert made.row("table_survey_answers", "fake-words", "answers").value == 3


# ---- 02: the loop, with writers that each need a setting to write and one to answer

LOOP = "cancer_myth/02_adversarial_generation"
USED, EACH = 4, 3  # myths, and questions on each


def writer(needed, answering):
    """Writes only with one setting, and answers its own questions, wrongly, only with another."""
    writes = needs(*needed, lambda r: said(r.body())[0], "questions")
    answers = needs(*answering, lambda r: "Yes." if not form_of(r) else writes(r))
    return answers


@pytest.fixture(scope="module")
def loop():
    fakes = {
        "fake-warm": writer(("temperature", 0.2), ("temperature", 0.3)),
        "fake-short": writer(("max_tokens", 300), ("max_tokens", 200)),
        "fake-varied": writer(("frequency_penalty", 0.1), ("max_tokens", 200)),
        "fake-seeded": writer(("seed", 7), ("max_tokens", 200)),
    }
    given = dict(temperature=0.2, answer_temperature=0.3, max_tokens=300, answer_tokens=200)
    given |= dict(frequency_penalty=0.1, seed="7", myths_used=USED, cancer_types=2, myths_each=5)
    return ran(LOOP, fakes, models=" ".join(fakes), per_model=5, per_category=1, **given)


def test_myths_used(loop):
    """Three questions are asked for on each."""
    asked = loop.rows("table_pipeline_counts").xs("questions asked for")["value"]
    assert asked.to_dict() == dict.fromkeys(asked.index, USED * EACH) and len(asked) == 4


def usable(loop, model):
    return loop.row("table_pipeline_counts", "questions usable", model).value


def test_frequency_penalty(loop):
    """Of a writer that writes with 0.1 alone all questions are usable."""
    assert usable(loop, "fake-varied") == USED * EACH


def test_writers_write_with_these_settings(loop):
    """Each of the others needs another setting: its temperature, limit or seed."""
    for model in ("fake-warm", "fake-short", "fake-seeded"):
        assert usable(loop, model) == USED * EACH


def test_seed(loop):
    """It goes with requests, as above, and draws other myths in another order than 0."""
    drawn = [r.item for r in loop.sent if form_of(r) == "questions"]
    assert len({*drawn}) == USED
    other = ran(LOOP, until="used, start =", myths_used=USED)
    assert {*drawn} != {*other.space["used"]["item"]}


def test_answer_temperature(loop):
    """Of a writer that answers its own questions at 0.3 alone all answers have a grade."""
    assert loop.row("fig3_yield", "fake-warm", "hard (joins the valid set)").value == 100


def test_answer_tokens(loop):
    assert loop.row("fig3_yield", "fake-short", "hard (joins the valid set)").value == 100


def test_cancer_types(loop):
    """Myths are asked for on two kinds of cancer."""
    asked = [r for r in loop.sent if form_of(r) == "myths" and r.model == "fake-warm"]
    assert len(asked) == 2
    assert loop.row("table_collected", "fake-warm", "asked for").value == 2 * 5


def test_myths_each(loop):
    """Five on each of two kinds of cancer."""
    assert loop.row("table_collected", "fake-short", "different texts").value == 2 * 5


def test_per_model(loop):
    """Of each of four writers five questions are selected, one of each category that is there."""
    assert loop.rows("fig5_balance").xs("this run, after", level="column")["n"].eq(4 * 5).all()


def test_per_category(loop):
    """At first one of each category: with two of each some writer would have more than five."""
    there = loop.space["placed"].groupby(["generator", "category"]).size()
    assert there.clip(upper=2).groupby("generator").sum().max() > 5
    assert there.clip(upper=1).groupby("generator").sum().max() <= 5
    assert loop.rows("fig5_balance").xs("this run, after", level="column")["n"].eq(4 * 5).all()


# ---- 03: an evaluation with MDAgents on some of the questions, and some answers made elsewhere

EVALUATION = "cancer_myth/03_evaluation"
QUESTIONS = 42  # of the sample, with a false presupposition


@pytest.fixture(scope="module")
def evaluation():
    brought = {r["item"]: r["correction"] for r in sample("cancer_myth/questions")[:5]}
    rows = [
        (item, "elsewhere", c if k < 3 else "Yes.") for k, (item, c) in enumerate(brought.items())
    ]
    file = io.StringIO()
    csv.writer(file).writerows([("item", "model", "answer"), *rows])
    given = dict(agent_questions=7, rounds=2, note_tokens=30, second_judge=10)
    files = {"answers.csv": file.getvalue()}
    return ran(
        EVALUATION,
        {"fake-panel": panel},
        files,
        models="fake-panel",
        answers="FOLDER/answers.csv",
        **given,
    )


def test_agent_questions(evaluation):
    """MDAgents may answer seven of 42 questions; the model by itself answers all."""
    for model, n in (("fake-panel", QUESTIONS), ("fake-panel (MDAgents)", 7)):
        for measure in ("PCS", "PCR"):
            found = evaluation.row("fig6a_scores", model, measure)
            assert (found.n, found.unscored) == (n, 0)
    kept = evaluation.graded("evaluation")
    mine = kept[(kept["model"] == "fake-panel (MDAgents)") & (kept["judge"] == "lexical")]
    assert mine["item"].nunique() == len(mine) == 7
    assert (
        evaluation.row("fig6a_scores", "fake-panel (MDAgents)", "PCS").value == mine["value"].mean()
    )


def test_note_tokens(evaluation):
    """Two first views of 30 words and two later ones of one word in each of two rounds."""
    row = "fake-panel (MDAgents), false presupposition"
    found = evaluation.row("table_answers", row, "mean words")
    assert (found.value, found.n) == (2 * 30 + 2 * 2 * 1, 7)


def test_answers(evaluation):
    """A file may answer five of 42 questions, three of them with their corrections."""
    found = evaluation.row("fig6a_scores", "elsewhere (from answers.csv)", "PCR")
    assert (found.value, found.n, found.unscored) == (100 * 3 / 5, 5, QUESTIONS - 5)


def test_second_judge(evaluation):
    """Ten questions are drawn for the second judge; what it isn't asked is unscored."""
    for judge in ("lexical", "smollm2-135m"):
        found = evaluation.row("table_judges", f"fake-panel, judge {judge}", "PCR")
        assert found.n + found.unscored == 10
    assert "10 questions" in evaluation.told["table_judges"]
