"""Plans: what a run would call, what it is expected to cost, and the most that it can."""

import re
import shutil

import pytest
from test_stops import notebook

from bedside import __main__ as steps
from bedside.asking import registry
from bedside.build import notebooks, plans
from bedside.read import paths
from conftest import apart, completion

FIRST, SECOND = "cancer_myth/02_adversarial_generation", "cancer_myth/03_evaluation"
PRICES = {"usd_per_million_in": 1e4, "usd_per_million_out": 2.0}


@pytest.fixture
def planned(tmp_path, monkeypatch, endpoint, capsys):
    """A function that prints the plan of a study whose two small notebooks ask 4 and 12 questions.

    Nothing is recorded. The models remote, gone and unset stand at `endpoint`.
    """
    apart(monkeypatch, tmp_path)
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path / "notebooks")
    notebook(tmp_path, FIRST, "another question", 4)
    notebook(tmp_path, SECOND, "question", 12)
    entry = {"provider": "test", "base_url": endpoint.url, "max_concurrency": 1, **PRICES}
    gone = {"retired": "2026-06-15", "instead": "remote"}
    for name, more in (("remote", {}), ("gone", gone), ("unset", {"api_key_env": "UNSET_KEY"})):
        made = registry.as_model(name, {"model": name, **entry, **more})
        monkeypatch.setitem(registry.entries(), name, made)

    def plan(models):
        steps.plan({"models": models}, "cancer_myth")
        return capsys.readouterr().out

    return plan


def record(*names):
    """Ask what the notebooks ask, in this process."""
    for name in names:
        plans.execute(name, {"mode": "record", "models": "remote"}, {})


def rows(told, model):
    """[(notebook, calls, expected, at most)] of a plan."""
    found = re.findall(rf"^(cancer_myth/\S+) +{model} +(\d+) .* (\S+) +\$([\d.]+)$", told, re.M)
    return [(name, int(n), expected.strip("$"), float(most)) for name, n, expected, most in found]


def answers(tokens, cut=False, bytes_are_tokens=False):
    """A script of replies with so many tokens; cut: each other one is cut at its limit."""

    def script(n, body):
        sent = sum(len(m["content"].encode()) + 12 for m in body["messages"])
        sent = sent if bytes_are_tokens else 10
        answer = completion("a text", "length" if cut and n % 2 == 0 else "stop")
        answer["usage"] = {"prompt_tokens": sent, "completion_tokens": tokens}
        return answer

    return script


def paid(calls, prompt_tokens, tokens):
    return (prompt_tokens * 1e4 + calls * tokens * 2) / 1e6


def test_a_plan_names_what_it_costs_and_what_is_missing(planned, endpoint):
    told = planned("remote gone unset")
    assert not endpoint.bodies
    for model in ("remote", "gone", "unset"):
        counts = [(FIRST, 4, "unknown"), (SECOND, 12, "unknown")]
        assert [r[:3] for r in rows(told, model)] == counts
    assert "\n48 calls; expected unknown, upper bound $" in told
    bound = f"{FIRST}: the generation loop depends on earlier replies"
    assert told.count("depends on earlier") == 1 and bound in told
    assert "before this can run: model 'gone' was retired on 2026-06-15; use 'remote'" in told
    assert "before this can run: model 'unset' needs its key in the environment" in told
    assert told.count("before this can run") == 2


@pytest.mark.parametrize("cut", [False, True])
def test_a_plan_counts_what_is_left_and_expects_what_was_seen(planned, endpoint, cut):
    """Of another model by replies that ended by themselves; where half were cut, nothing."""
    endpoint.script = answers(12, cut)
    record(SECOND)
    (left,) = rows(planned("remote"), "remote")
    told = planned("unset")
    others = rows(told, "unset")
    assert left[:2] == (FIRST, 4) and len(endpoint.bodies) == 12
    assert [count for _, count, *_ in others] == [4, 12]
    lent = "expected of unset: by the length of similar texts"
    assert (lent in told) == (not cut)
    for _, count, expected, most in [left, *others][cut:]:
        real = paid(count, 10 * count, 12)
        assert expected == "unknown" if cut else real / 1.5 < float(expected) < 1.5 * real < most


def test_what_is_paid_is_never_more_than_the_plan_s_most(planned, endpoint):
    """Also where each reply is as long as its limit and its prompt as many tokens as bytes."""
    endpoint.script = answers(20, bytes_are_tokens=True)
    most = sum(most for *_, most in rows(planned("remote"), "remote"))
    record(FIRST, SECOND)
    sent = sum(len(m["content"]) + 12 for b in endpoint.bodies for m in b["messages"])
    assert len(endpoint.bodies) == 16 and 0 < paid(16, sent, 20) <= most + 0.005


def test_notebooks_of_a_study_call_what_the_plan_counts_for_each(
    served, endpoint, tmp_path, monkeypatch
):
    """A call that several make counts for the first of them."""
    recorded = paths.RECORDINGS / "medhalu"
    apart(monkeypatch, tmp_path)
    shutil.copytree(recorded, paths.RECORDINGS / "medhalu")
    given = {"models": served, "limit": "2"}
    calls = plans.planned(given, "medhalu")
    counts = calls[calls["model"] == served].groupby("notebook").size()
    assert len(counts) > 1 and not endpoint.bodies
    for name in notebooks.listed("medhalu"):
        before = len(endpoint.bodies)
        plans.execute(name, {**given, "mode": "record"}, {})
        assert len(endpoint.bodies) - before == counts.get(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize("paper", paths.papers())
def test_every_study_can_be_planned_for_a_model_and_a_judge_that_nobody_has_measured(paper):
    """Nothing of theirs is recorded, no card is there, and cells that keep frames aren't run."""
    given = {"models": "gpt-6-luna", "judge": "gpt-4o-2024-08-06", "limit": "1"}
    assert given["models"] in {*plans.planned(given, paper)["model"]}
