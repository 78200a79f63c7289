"""Cancer-Myth's mitigations, judges and released data: parameters between their ends."""

import json
import math

import pytest
from parameter_runs import as_long_as_asked, needs, panel, ran, sample, text_of

from bedside.read import sources

pytestmark = pytest.mark.slow

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
    assert (found.n, found.unscored) == (len(sample("cancer_myth/labelled")), 0)


def test_examples(judges):
    """A judge that grades 1 where it is shown two examples finds each 1, and keeps nothing out."""
    assert judges.row("table1_agreement", "fake-judge", "sensitivity for 1").value == 100
    assert judges.row("table1_agreement", "fake-judge", "specificity for 1").value == 0


def test_with_examples(judges):
    """The embedded model is shown examples on the first five questions, with three answers each."""
    first = list(dict.fromkeys(r["item"] for r in sample("cancer_myth/labelled")))[:5]
    answers = [r for r in sample("cancer_myth/labelled") if r["item"] in first]
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
    name, until = "cancer_myth/01_physician_survey", "made = await"
    given = dict(profile="public", models="fake-words", limit="7", words=100, until=until)
    fakes = {"fake-words": as_long_as_asked}
    assert not ran(name, fakes, **given).sent
    made = ran(name, fakes, ask_patients="True", **given)
    row = "table_survey_answers", "fake-words"
    assert made.row(*row, "answers").n == len(made.sent) == 7
    assert made.row(*row, "words, mean").value == 100


@pytest.fixture(scope="module")
def first_hundred():
    given = dict(profile="public", models="fake-right", limit="100", until="fig6a_scores")
    return {keep: ran("cancer_myth/03_evaluation", keep_examples=keep, **given) for keep in (0, 1)}


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
