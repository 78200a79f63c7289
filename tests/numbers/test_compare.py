"""Own studies compared: what failed is no change, and what differs is named."""

import json
from types import SimpleNamespace

import pytest
from scipy.special import stdtrit

from bedside import own, stats
from bedside.asking import registry
from bedside.publish import comparison
from bedside.publish.pages import models
from conftest import apart, completion, with_fields
from own_studies import compared

QUESTIONS = "item,question,reference,unit\n" + "".join(
    f"q{k},May I do {k}?,Yes.,unit {k % 12}\n" for k in range(36)
)
RUBRIC = "{% block user %}Answer to grade: {{ answer|fence }} MARK{% endblock %}"
TOO_LONG = (400, {}, {"error": {"message": "maximum context length exceeded"}})  # fails alone


@pytest.fixture
def study_of(tmp_path, served, endpoint, monkeypatch):
    """A function that runs a study of 36 questions: (name, what models say, what the judge)."""
    apart(monkeypatch, tmp_path)
    (tmp_path / "mine.csv").write_text(QUESTIONS, encoding="utf-8")

    def make(name, says="Yes.", grades='{"score": 1}', **given):
        def script(n, body):
            said = body["messages"][-1]["content"]
            reply = grades if "Answer to grade" in said else says
            reply = reply(said) if callable(reply) else reply
            return completion(reply) if isinstance(reply, str) else reply

        endpoint.script = script
        given = {"models": "served", "judge": "served", **given}
        return compared(str(tmp_path / "mine.csv"), name=name, **given)

    return make


def both(tmp_path):
    """The tables of `make compare RUNS="old new"`, and its sentences on what differs."""
    runs = [own.compared(name) for name in ("old", "new")]
    made = comparison.compared(runs, tmp_path)
    return SimpleNamespace(**made, told=comparison.differing(runs))


def parity(said):
    """A number of the question that was asked, or is judged."""
    return int(said.rpartition("May I do ")[2].split("?")[0])


# ---- failures


def test_a_lost_answer_is_no_change(study_of, tmp_path):
    """Two of 36 came in the second run, and they are the same as before."""
    study_of("old")
    study_of("new", lambda said: "Yes." if parity(said) < 2 else TOO_LONG)
    made = both(tmp_path)
    found = made.models.set_index("model")[["value", "n", "unscored"]]
    assert found.loc["served (old)"].tolist() == [100, 36, 0]
    assert found.loc["served (new)"].tolist() == [100, 2, 34]
    lost = made.outcomes.set_index("model")
    assert lost.loc["served (new)", ["outcome", "replies", "n"]].tolist() == [
        *("context too long", 34, 36)
    ]
    (pair,) = made.differences.to_dict("records")
    assert (pair["difference"], pair["n"]) == (0, 2)


def doubtful(said):
    """A judge that can be read on Yes alone."""
    right = "Yes." in said.rpartition("Answer to grade:")[2]
    return '{"score": 1}' if right else '{"score": 1} or {"score": 0}'


def test_a_verdict_that_cant_be_read_is_no_change(study_of, tmp_path):
    """The judge can be read on 18 answers of the new run: these are compared."""
    study_of("old")
    study_of("new", lambda said: ["Yes.", "No."][parity(said) % 2], doubtful)
    made = both(tmp_path)
    assert made.models["unscored"].tolist() == [0, 18]
    (pair,) = made.differences.to_dict("records")
    assert (pair["difference"], pair["n"]) == (0, 18)


# Half of 36 answers differ: two of three in 6 units, one of three in the other 6. To these Bonett
# and Price add a unit in which all are won and one in which all are lost: the mean of 14 is 6/14,
# squares add up to 6 × 4/9 + 6 × 1/9 + 2 = 16/3, and t has the freedom of the 12 that there are.
ERROR = ((16 / 3 - 36 / 14) / 13 / 14) ** 0.5
HALF = 50
LOW, HIGH = (pytest.approx(100 * (6 / 14 + s * stdtrit(11, 0.975) * ERROR)) for s in (-1, 1))
# the units' sums have a spread of 6 * 2² + 6 * 1² = 30, that of 18 * 36 / 30 = 21.6 pairs
LEAST = pytest.approx(100 * stats.mde_paired(36 * 18 / 30, 0.5))


def says(wrong):
    """A judge for whom an answer to these questions is wrong, and all others are right."""
    return lambda said: json.dumps({"score": int(not wrong(said))})


def test_a_change_is_tested_and_says_what_would_have_been_seen(study_of, tmp_path):
    study_of("new", grades=says(lambda said: False))
    study_of("old", grades=says(lambda said: parity(said) < 18))
    made = both(tmp_path)
    (pair,) = made.differences.to_dict("records")
    assert abs(pair["difference"]) == HALF and pair["detectable"] == LEAST
    assert sorted(map(abs, (pair["low"], pair["high"]))) == [LOW, HIGH]
    page = models.write_compared(tmp_path / "both", [own.compared(n) for n in ("new", "old")])
    assert f"<td>[{pair['low']:.3g}, {pair['high']:.3g}]</td>" in page.read_text()
    assert {r["model"]: r["right_elsewhere"] for r in made.failures.to_dict("records")} == {
        "served (old)": 1
    }


def test_of_a_question_s_repeats_one_failure_is_listed(study_of, tmp_path):
    study_of("old", grades=says(lambda said: True), repeats=2)
    failures = comparison.compared([own.compared("old")], tmp_path)["failures"]
    assert failures["item"].str.split(",").str[0].is_unique and len(failures) == comparison.WORST


def test_a_difference_between_models_has_an_interval_over_units(study_of, tmp_path):
    lines = [f"q{k},theirs,{'Yes.' if k < 18 else 'No.'}" for k in range(36)]
    (tmp_path / "theirs.csv").write_text("\n".join(["item,model,answer", *lines]))
    judge = says(lambda said: "No." in said.rpartition("to grade:")[2])
    found = study_of("mine", grades=judge, answers=str(tmp_path / "theirs.csv"))
    rows = found.pairs.set_index("column")  # served before theirs
    difference = rows.loc["difference, points", ["value", "low", "high"]]
    assert difference.tolist() == [HALF, LOW, HIGH]
    assert rows.loc["detectable difference, points", "value"] == LEAST
    assert len(rows) == 4 and rows["low"].notna().sum() == 1


# ---- what else differs


def test_what_differs_is_named_for_what_it_is(study_of, tmp_path, monkeypatch):
    rubric = tmp_path / "kind.j2"
    rubric.write_text(RUBRIC)
    study_of("old", rubric=str(rubric))
    study_of("same", rubric=str(rubric))
    alike = [own.compared(name) for name in ("old", "same")]
    assert comparison.differing(alike) == []
    rubric.write_text(RUBRIC.replace("MARK", "Mark"))
    (tmp_path / "mine.csv").write_text(QUESTIONS.replace("May I do 7?", "May I do 7 twice?"))
    monkeypatch.setitem(registry.entries(), "another", with_fields("served", model="b"))
    study_of("new", rubric=str(rubric), seed=7, limit=30, models="served another")
    made = both(tmp_path)
    assert {
        *("seed: 0 in old, 7 in new", "limit: none in old, 30 in new"),
        *("models: served in old, served another in new", "rubric: not the same in all"),
        "questions: not the same in all",
    } == {*made.told}
    assert set(made.differences["pair"]) == {"another (new) - served (new)"} or len(
        made.differences
    )
