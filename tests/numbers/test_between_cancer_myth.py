"""Cancer-Myth's parameters between their ends: a test for each, to the numbers in the tables."""

import csv
import io
import json
import math

import pytest
from parameter_runs import form_of, long, needs, ran, text_of

from bedside.read import paths, sources
from provider_words import said

TOLD = "(mind the premise)"  # in a changed template


def sample(name):
    text = (paths.DATA / f"sample/cancer_myth/{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


# ---- 01: three questions of patients, answered by models that each need one setting

SURVEY = "cancer_myth/01_physician_survey"


def as_long_as_asked(request):
    words = text_of(request).partition("in about ")[2].partition(" words")[0]
    return "word " * int(words)


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


@pytest.mark.parametrize("model", ["fake-warm", "fake-short", "fake-varied", "fake-seeded"])
def test_frequency_penalty(loop, model):
    """Each writes with one setting alone: temperature, max_tokens, frequency_penalty or seed."""
    usable = loop.row("table_pipeline_counts", "questions usable", model)
    assert usable.value == USED * EACH


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


def panel(request):
    """A model that plays all agents of a panel of two, which never agree.

    A first view has the word zeta as often as its limit allows, a later one once; the report and
    the answer have it as often as they were shown it.
    """
    told = request.messages[0]["content"]
    if form := form_of(request):
        plan = {"panel": {"experts": ["a nurse", "a surgeon"]}, "instruction": {}}
        plan["verdict"] = {"complexity": "intermediate", "agreed": "no"}
        return json.dumps(plan[form])
    if "the moderator" in told or "You are a clinician" in told:
        return "zeta " * (text_of(request).count("zeta") or 1)
    return "zeta " * (1 if "zeta" in text_of(request) else request.body()["max_tokens"])


@pytest.fixture(scope="module")
def evaluation():
    brought = {r["item"]: r["correction"] for r in sample("questions")[:5]}
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


# ---- 04: mitigations


@pytest.fixture(scope="module")
def mitigation():
    given = dict(train=6, gepa_budget=20, reported=5, exams=4, agent_items=2, rounds=3)
    return ran("cancer_myth/04_mitigation", {"fake-panel": panel}, models="fake-panel", **given)


METHODS = ("plain", "precautionary", "gepa")
AGENTS = ("multi_agent", "multi_agent_monitor")


def counts(made, methods, sets):
    found = [made.row("table1_mitigation", f"fake-panel {m}", s) for m in methods for s in sets]
    return {f.n + f.unscored for f in found}


def test_reported(mitigation):
    assert counts(mitigation, METHODS, ("Cancer-Myth", "Cancer-Myth-NFP")) == {5}


def test_exams(mitigation):
    assert counts(mitigation, METHODS, ("MedQA", "PubMedQA")) == {4}


def test_agent_items(mitigation):
    sets = ("Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA")
    assert counts(mitigation, AGENTS, sets) == {2}


def test_rounds(mitigation):
    """Check, recruiting and two views; two replies and the moderator a round; report and answer."""
    for method, more in (("multi_agent", 0), ("multi_agent_monitor", 1)):
        row = f"fake-panel {method}, Cancer-Myth"
        found = mitigation.row("table_mitigation_answers", row, "calls for an answer")
        assert found.value == 1 + 1 + 2 + 3 * (2 + 1) + 1 + 1 + more


def trained(train, budget):
    """Answers that GEPA has graded: all in training, then steps of two batches of three."""
    start = train + train // 2
    return start + 6 * math.ceil((budget - start) / 6)


def test_train(mitigation):
    """Six training questions and half as many without a false presupposition."""
    assert "9 training questions" in mitigation.told["table_gepa"]
    assert mitigation.row("table_gepa", "fake-panel", "answers graded").value == trained(6, 20)


def test_gepa_budget(mitigation):
    assert trained(6, 20) == 21 and trained(6, 36) == 39 and trained(8, 20) == 24
    assert mitigation.row("table_gepa", "fake-panel", "answers graded").value == 21


# ---- 05: a judge that grades at one temperature, by how many examples it is shown


@pytest.fixture(scope="module")
def judges():
    def judge(request):
        count = text_of(request).count("\nExample ")
        return json.dumps({"score": {0: -1, 2: 1}.get(count, 0)})

    fakes = {"fake-judge": needs("temperature", 0.4, judge, "verdict")}
    given = dict(judge="fake-judge", examples=2, with_examples=5, judge_temperature=0.4)
    return ran("cancer_myth/05_judge_agreement", fakes, **given)


def test_judge(judges):
    """The judge that is named is measured beside those of the profile."""
    names = set(judges.rows("table1_agreement").index.get_level_values("row"))
    assert names == {"lexical", "smollm2-135m", "fake-judge", "constant guesser"}


def test_judge_temperature(judges):
    """A judge that grades at 0.4 alone has graded all."""
    found = judges.row("table1_agreement", "fake-judge", "exact match")
    assert (found.n, found.unscored) == (len(sample("labelled")), 0)


def test_examples(judges):
    """A judge that grades 1 where it is shown two examples finds each 1, and keeps nothing out."""
    assert judges.row("table1_agreement", "fake-judge", "sensitivity for 1").value == 100
    assert judges.row("table1_agreement", "fake-judge", "specificity for 1").value == 0


def test_with_examples(judges):
    """The embedded model is shown examples on the first five questions, with three answers each."""
    first = list(dict.fromkeys(r["item"] for r in sample("labelled")))[:5]
    answers = [r for r in sample("labelled") if r["item"] in first]
    column = "false presupposition: exact match"
    assert judges.row("table_judge_examples", "smollm2-135m, with examples", column).n == len(
        answers
    )


# ---- public: what rests on released data


def released(*names):
    absent = [n for n in names if not sources.here(f"cancer_myth_{n}")]
    return pytest.mark.skipif(bool(absent), reason=f"released data: {absent}")


@released("survey_ratings", "survey_answers")
def test_ask_patients():
    """Patients' questions are sent only if one says so: then as many, and as asked in sample."""
    given = dict(profile="public", models="fake-words", limit="7", words=100)
    fakes = {"fake-words": as_long_as_asked}
    assert not ran(SURVEY, fakes, until="made = await", **given).sent
    made = ran(SURVEY, fakes, until="made = await", ask_patients="True", **given)
    row = "table_survey_answers", "fake-words"
    assert made.row(*row, "answers").n == len(made.sent) == 7
    assert made.row(*row, "words, mean").value == 100


@pytest.fixture(scope="module")
def first_hundred():
    given = dict(profile="public", models="fake-right", limit="100", until="fig6a_scores")
    return {keep: ran(EVALUATION, keep_examples=keep, **given) for keep in (0, 1)}


EXAMPLES = ("judge_examples", "judge_examples_nfp", "category_examples")


@released("released", *EXAMPLES)
def test_keep_examples(first_hundred):
    """Of the first 100 released questions, those of the judges' examples are asked only if kept."""
    shown = [sources.load(f"cancer_myth_{name}") for name in EXAMPLES]
    columns = {"example_question", "question"}
    shown = {q for f in shown for c in columns & {*f} for q in f[c]}
    first = sources.load("cancer_myth_released")["question"].head(100)
    there = first.isin(shown).sum()
    assert there > 0
    for keep, n in ((0, 100 - there), (1, 100)):
        assert first_hundred[keep].row("fig6a_scores", "fake-right", "PCR").n == n


@released("released", *EXAMPLES)
def test_profile(first_hundred):
    """In public the questions are those released: the first 100 of them, by category."""
    kinds = sources.load("cancer_myth_released")["category"].head(100).value_counts()
    found = first_hundred[1].rows("fig5_categories", "raw")["value"]
    assert sorted(found) == sorted(kinds) and found.sum() == 100
