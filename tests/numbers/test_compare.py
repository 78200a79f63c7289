"""Two runs compared: what failed is neither alike nor wrong, and what differs is named."""

import json

import pytest
from scipy.special import stdtrit

from bedside import own, stats
from bedside.asking import registry
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


def cells(old, new, row="served"):
    """{column: (value, n, unscored)} of a comparison, and its notes."""
    shown, _, notes = own.changed(old, new)
    mine = shown[shown["row"] == row].set_index("column")[["value", "n", "unscored"]]
    mine = mine.astype(object).where(mine.notna(), None)
    return {c: tuple(r) for c, r in zip(mine.index, mine.itertuples(index=False))}, notes


def parity(said):
    """A number of the question that was asked, or is judged."""
    return int(said.rpartition("May I do ")[2].split("?")[0])


# ---- failures


def test_a_lost_run_differs_in_nothing(study_of):
    """Two of 36 came in the second run, and they are the same as before."""
    study_of("old")
    study_of("new", lambda said: "Yes." if parity(said) < 2 else TOO_LONG)
    found, _ = cells("old", "new")
    assert found["answers that differ, %"] == (0, 2, 34)
    assert found["right in old, %"] == found["right in new, %"] == (100, 2, 34)
    lost = found["no answer in new: context too long, %"]
    assert lost == (pytest.approx(100 * 34 / 36), 36, None)
    assert not any(c.startswith("no answer in old") for c in found)


def doubtful(said):
    """A judge that can be read on Yes alone."""
    right = "Yes." in said.rpartition("Answer to grade:")[2]
    return '{"score": 1}' if right else '{"score": 1} or {"score": 0}'


def test_verdicts_that_failed_are_named_by_run(study_of):
    """The judge can be read on 18 answers of the new run: these are compared."""
    study_of("old")
    study_of("half", lambda said: ["Yes.", "No."][parity(said) % 2], doubtful)
    found, _ = cells("old", "half")
    assert found["answers that differ, %"] == (50, 36, 0)
    assert found["no verdict in half: unparsed, %"] == (50, 36, None)
    assert found["right in old, %"] == found["right in half, %"] == (100, 18, 18)
    assert found["change, points"][:2] == (0, 18) and found["permutation p"][:2] == (1, 18)


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


def test_a_change_has_an_interval_and_what_would_have_been_seen(study_of):
    study_of("new", grades=says(lambda said: False))
    study_of("old", grades=says(lambda said: parity(said) < 18))
    rows = own.changed("old", "new")[0].set_index("column")
    change = rows.loc["change, points", ["value", "low", "high"]]
    assert change.tolist() == [HALF, LOW, HIGH]
    assert rows.loc["detectable change, points", "value"] == LEAST


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
    assert cells("old", "same")[1] == []
    rubric.write_text(RUBRIC.replace("MARK", "Mark"))
    (tmp_path / "mine.csv").write_text(QUESTIONS.replace("May I do 7?", "May I do 7 twice?"))
    monkeypatch.setitem(registry.entries(), "another", with_fields("served", model="b"))
    study_of("new", rubric=str(rubric), seed=7, limit=30, models="served another")
    told = cells("old", "new")[1]
    for line in (
        *("seed: 0 before, 7 now", "limit: none before, 30 now", "the rubric differs"),
        *("the questions differ", "models: served before, served another now"),
    ):
        assert line in told
