"""Cancer-Myth's parameters between their ends: a test for each notebook, to the tables' numbers."""

import csv
import io
import itertools
import json
import math

import pytest
from parameter_runs import as_long_as_asked, form_of, long, needs, panel, ran, sample, text_of

from bedside.papers.cancer_myth.v2.agents import NOTE_TOKENS
from bedside.read import sources
from provider_words import said

SURVEY, ANSWERS = "cancer_myth/01_physician_survey", "table_survey_answers"
LOOP, EVALUATION = "cancer_myth/02_adversarial_generation", "cancer_myth/03_evaluation"
TOLD = "(mind the premise)"  # in a changed template


def released(*names):
    absent = [n for n in names if not sources.here(f"cancer_myth_{n}")]
    return pytest.mark.skipif(bool(absent), reason=f"released data: {absent}")


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


@pytest.mark.slow
@released("survey_ratings", "survey_answers")
def test_patients_questions_are_sent_only_if_one_says_so():
    given = dict(profile="public", models="fake-words", limit="7", words=100, until="made = await")
    fakes = {"fake-words": as_long_as_asked}
    assert not ran(SURVEY, fakes, **given).sent
    made = ran(SURVEY, fakes, ask_patients="True", **given)
    assert made.row(ANSWERS, "fake-words", "answers").n == len(made.sent) == 7


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
    given |= dict(seed="7", myths_used=4, cancer_types=2, myths_each=5)
    made = ran(LOOP, fakes, models=" ".join(fakes), per_model=5, per_category=1, **given)
    for model in fakes:
        for row in ("questions asked for", "questions usable"):
            assert made.row("table_pipeline_counts", row, model).value == 4 * 3
    for model in ("fake-warm", "fake-short"):
        assert made.row("fig3_yield", model, "hard (joins the valid set)").value == 100
        # five myths on each of two kinds of cancer
        assert made.row("table_collected", model, "different texts").value == 2 * 5
    # of each writer five questions are selected, at first one of each category
    assert made.rows("fig5_balance").xs("this run, after", level="column")["n"].eq(3 * 5).all()
    # the seed goes with requests, as above, and draws other myths than 0
    drawn = {r.item for r in made.sent if form_of(r) == "questions"}
    other = ran(LOOP, until="used, start_from =", myths_used=4)
    assert len(drawn) == 4 and drawn != {*other.space["used"]["item"]}


@pytest.mark.slow
def test_an_evaluation_is_made_as_its_parameters_say():
    """MDAgents may answer seven of 42 questions, a file five, and a second judge grade ten."""
    brought = {r["item"]: r["correction"] for r in sample("cancer_myth/questions")[:5]}
    rows = [
        (item, "elsewhere", c if k < 3 else "Yes.") for k, (item, c) in enumerate(brought.items())
    ]
    file = io.StringIO()
    csv.writer(file).writerows([("item", "model", "answer"), *rows])
    given = dict(agent_questions=7, rounds=2, second_judge=10, models="fake-panel")
    given |= dict(answers="FOLDER/answers.csv")
    made = ran(EVALUATION, {"fake-panel": panel}, {"answers.csv": file.getvalue()}, **given)
    agents = "fake-panel (MDAgents)"
    for model, n in (("fake-panel", 42), (agents, 7)):
        found = made.row("fig6a_scores", model, "PCS")
        assert (found.n, found.unscored) == (n, 0)
    kept = made.graded("evaluation").query("model == @agents and judge == 'lexical'")
    assert kept["item"].nunique() == len(kept) == 7
    assert made.row("fig6a_scores", agents, "PCS").value == kept["value"].mean()
    # two first views as long as may be, and two later ones of one word in each of two rounds
    found = made.row("table_answers", f"{agents}, false presupposition", "mean words")
    assert (found.value, found.n) == (2 * NOTE_TOKENS + 2 * 2 * 1, 7)
    # three of the file's five answers are the corrections
    found = made.row("fig6a_scores", "elsewhere (from answers.csv)", "PCR")
    assert (found.value, found.n, found.unscored) == (100 * 3 / 5, 5, 42 - 5)
    for judge in ("lexical", "smollm2-135m"):
        found = made.row("table_judges", f"fake-panel, judge {judge}", "PCR")
        assert found.n + found.unscored == 10


EXAMPLES = ("judge_examples", "judge_examples_nfp", "category_examples")


@pytest.mark.slow
@released("released", *EXAMPLES)
@pytest.mark.parametrize("keep", [0, 1])
def test_released_questions_of_judges_examples_are_asked_only_if_kept(keep):
    """Of the first 100 released questions, which are asked in public."""
    given = dict(profile="public", models="fake-right", limit="100", until="fig6a_scores")
    made = ran(EVALUATION, keep_examples=keep, **given)
    shown = [sources.load(f"cancer_myth_{name}") for name in EXAMPLES]
    shown = {q for f in shown for c in {"example_question", "question"} & {*f} for q in f[c]}
    first = sources.load("cancer_myth_released").head(100)
    there = first["question"].isin(shown).sum()
    found = made.row("fig6a_scores", "fake-right", "PCR")
    assert found.n == (100 if keep else 100 - there) and there > 0
    kinds = made.rows("fig5_categories", "raw")["value"]
    assert sorted(kinds) == sorted(first["category"].value_counts())


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


@pytest.mark.slow
def test_judges_are_measured_as_the_parameters_say():
    """A judge that grades at 0.4 alone, 1 where it is shown three examples."""

    def judge(request):
        count = text_of(request).count("\nExample ")
        return json.dumps({"score": {0: -1, 3: 1}.get(count, 0)})

    fakes = {"fake-judge": needs("temperature", 0.4, judge, "verdict")}
    given = dict(judge="fake-judge", with_examples=5, judge_temperature=0.4)
    made = ran("cancer_myth/05_judge_agreement", fakes, **given)
    labelled = sample("cancer_myth/labelled")
    found = made.row("table1_agreement", "fake-judge", "exact match")
    assert (found.n, found.unscored) == (len(labelled), 0)
    for column, value in (("sensitivity for 1", 100), ("specificity for 1", 0)):
        assert made.row("table1_agreement", "fake-judge", column).value == value
    # the embedded model is shown examples on the first five questions, with three answers each
    first = list(dict.fromkeys(r["item"] for r in labelled))[:5]
    column = "false presupposition: exact match"
    found = made.row("table_judge_examples", "smollm2-135m, with examples", column)
    assert found.n == sum(r["item"] in first for r in labelled)
