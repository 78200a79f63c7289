"""Cancer-Myth's mitigations, judges and released data: parameters between their ends."""

import itertools
import json
import math

import pytest
from parameter_runs import as_long_as_asked, needs, panel, ran, sample, text_of

from bedside.read import sources

pytestmark = pytest.mark.slow

# ---- 04: mitigations


METHODS, AGENTS = ("plain", "precautionary", "gepa"), ("multi_agent", "multi_agent_monitor")
MYTHS, EXAMS = ("Cancer-Myth", "Cancer-Myth-NFP"), ("MedQA", "PubMedQA")


def trained(train, budget):
    """Answers that GEPA has graded: all in training, then steps of two batches of three."""
    start = train + train // 2
    return start + 6 * math.ceil((budget - start) / 6)


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
    # six training questions and half as many without a false presupposition
    assert "9 training questions" in made.told["table_gepa"]
    assert trained(6, 20) == 21 and trained(6, 36) == 39 and trained(8, 20) == 24
    assert made.row("table_gepa", "fake-panel", "answers graded").value == 21


# ---- 05: a judge that grades at one temperature, by how many examples it is shown


def test_judges_are_measured_as_the_parameters_say():
    """A judge that grades at 0.4 alone, 1 where it is shown three examples."""

    def judge(request):
        count = text_of(request).count("\nExample ")
        return json.dumps({"score": {0: -1, 3: 1}.get(count, 0)})

    fakes = {"fake-judge": needs("temperature", 0.4, judge, "verdict")}
    given = dict(judge="fake-judge", with_examples=5, judge_temperature=0.4)
    made = ran("cancer_myth/05_judge_agreement", fakes, **given)
    names = {*made.rows("table1_agreement").index.get_level_values("row")}
    assert names == {"lexical", "smollm2-135m", "fake-judge", "constant guesser"}
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
