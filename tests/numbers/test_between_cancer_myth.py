"""Cancer-Myth's parameters between their ends: a test for each, to the numbers in the tables."""

import csv
import io

from parameter_runs import as_long_as_asked, form_of, long, needs, panel, ran, sample, text_of

from bedside.papers.cancer_myth.v2.agents import NOTE_TOKENS
from provider_words import said

TOLD = "(mind the premise)"  # in a changed template


# ---- 01: three questions of patients, answered by models that each need one setting

SURVEY, ANSWERS = "cancer_myth/01_physician_survey", "table_survey_answers"


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
    assert {r.model for r in made.sent} == {*fakes}
    assert {*made.rows(ANSWERS).index.get_level_values("row")} == {*fakes}
    for model, column, value in (
        ("fake-warm", "answers", 3),
        ("fake-told", "answers", 3),
        ("fake-long", "words, mean", 50),
        ("fake-long", "cut off at the limit", 3),
        ("fake-words", "words, mean", 100),
    ):
        assert made.row(ANSWERS, model, column).value == value


def test_mode():
    """To record asks what isn't recorded: after two of three questions the third. Fresh: all."""
    fakes, first = {"fake-words": as_long_as_asked}, {"limit": "2", "mode": "record"}
    for mode, sent in (("record", 2 + 1), ("fresh", 2 + 3)):
        made = ran(SURVEY, fakes, before=[(SURVEY, first)], models="fake-words", mode=mode)
        assert len(made.sent) == sent
        assert made.row(ANSWERS, "fake-words", "answers").n == 3


def test_budget_usd():
    """At 1 USD a token a third answer of at most 50 doesn't fit into 57 USD beside two of 5."""
    priced = {"usd_per_million_in": 0.0, "usd_per_million_out": 1e6}
    given = dict(models="fake-words", max_tokens=50, budget_usd="120")
    fakes, entries = {"fake-words": as_long_as_asked}, {"fake-words": priced}
    first = [(SURVEY, {"budget_usd": "57"})]
    made = ran(SURVEY, fakes, entries=entries, before=first, **given)
    ((sent, why),) = made.stopped
    assert 1 <= sent <= 2 and "BUDGET_USD=57" in why and len(made.sent) == 3
    assert made.row(ANSWERS, "fake-words", "answers").value == 3


# ---- 02: the loop, with writers that each need a setting to write and one to answer

LOOP = "cancer_myth/02_adversarial_generation"
USED, EACH = 4, 3  # myths, and questions on each


def writer(needed, answering):
    """Writes only with one setting, and answers its own questions, wrongly, only with another."""
    writes = needs(*needed, lambda r: said(r.body())[0], "questions")
    answers = needs(*answering, lambda r: "Yes." if not form_of(r) else writes(r))
    return answers


def test_the_loop_is_run_as_its_parameters_say():
    """Each writer needs another setting to write, and one to answer its own questions."""
    fakes = {
        "fake-warm": writer(("temperature", 0.2), ("temperature", 0.3)),
        "fake-short": writer(("max_tokens", 300), ("max_tokens", 200)),
        "fake-varied": writer(("frequency_penalty", 0.5), ("max_tokens", 200)),
        "fake-seeded": writer(("seed", 7), ("max_tokens", 200)),
    }
    given = dict(temperature=0.2, answer_temperature=0.3, max_tokens=300, answer_tokens=200)
    given |= dict(seed="7", myths_used=USED, cancer_types=2, myths_each=5)
    made = ran(LOOP, fakes, models=" ".join(fakes), per_model=5, per_category=1, **given)
    for model in fakes:
        for row in ("questions asked for", "questions usable"):
            assert made.row("table_pipeline_counts", row, model).value == USED * EACH
    for model in ("fake-warm", "fake-short"):
        assert made.row("fig3_yield", model, "hard (joins the valid set)").value == 100
        # five myths on each of two kinds of cancer
        assert made.row("table_collected", model, "asked for").value == 2 * 5
        assert made.row("table_collected", model, "different texts").value == 2 * 5
    asked = [r for r in made.sent if form_of(r) == "myths" and r.model == "fake-warm"]
    assert len(asked) == 2
    # of each writer five questions are selected, at first one of each category: with two of each
    # some writer would have more than five
    assert made.rows("fig5_balance").xs("this run, after", level="column")["n"].eq(4 * 5).all()
    there = made.space["placed"].groupby(["generator", "category"]).size()
    assert there.clip(upper=2).groupby("generator").sum().max() > 5
    assert there.clip(upper=1).groupby("generator").sum().max() <= 5
    # the seed goes with requests, as above, and draws other myths than 0
    drawn = {r.item for r in made.sent if form_of(r) == "questions"}
    other = ran(LOOP, until="used, start =", myths_used=USED)
    assert len(drawn) == USED and drawn != {*other.space["used"]["item"]}


# ---- 03: an evaluation with MDAgents on some of the questions, and some answers made elsewhere

EVALUATION = "cancer_myth/03_evaluation"
QUESTIONS = 42  # of the sample, with a false presupposition


def test_an_evaluation_is_made_as_its_parameters_say():
    """MDAgents may answer seven of 42 questions, a file five, and a second judge grade ten."""
    brought = {r["item"]: r["correction"] for r in sample("cancer_myth/questions")[:5]}
    rows = [
        (item, "elsewhere", c if k < 3 else "Yes.") for k, (item, c) in enumerate(brought.items())
    ]
    file = io.StringIO()
    csv.writer(file).writerows([("item", "model", "answer"), *rows])
    given = dict(agent_questions=7, rounds=2, second_judge=10)
    given |= dict(models="fake-panel", answers="FOLDER/answers.csv")
    made = ran(EVALUATION, {"fake-panel": panel}, {"answers.csv": file.getvalue()}, **given)
    agents = "fake-panel (MDAgents)"
    for model, n in (("fake-panel", QUESTIONS), (agents, 7)):
        for measure in ("PCS", "PCR"):
            found = made.row("fig6a_scores", model, measure)
            assert (found.n, found.unscored) == (n, 0)
    kept = made.graded("evaluation").query("model == @agents and judge == 'lexical'")
    assert kept["item"].nunique() == len(kept) == 7
    assert made.row("fig6a_scores", agents, "PCS").value == kept["value"].mean()
    # two first views as long as may be, and two later ones of one word in each of two rounds
    found = made.row("table_answers", f"{agents}, false presupposition", "mean words")
    assert (found.value, found.n) == (2 * NOTE_TOKENS + 2 * 2 * 1, 7)
    # three of the file's five answers are the corrections
    found = made.row("fig6a_scores", "elsewhere (from answers.csv)", "PCR")
    assert (found.value, found.n, found.unscored) == (100 * 3 / 5, 5, QUESTIONS - 5)
    for judge in ("lexical", "smollm2-135m"):
        found = made.row("table_judges", f"fake-panel, judge {judge}", "PCR")
        assert found.n + found.unscored == 10
