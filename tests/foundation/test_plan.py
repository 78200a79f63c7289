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


def record(name):
    """Ask what the notebook asks, in this process."""
    plans.execute(name, {"mode": "record", "models": "remote"}, {})


def rows(told, model):
    """[(notebook, calls, expected, at most)] of a plan."""
    found = re.findall(rf"^(cancer_myth/\S+) +{model} +(\d+) .* (\S+) +\$([\d.]+)$", told, re.M)
    return [(name, int(n), expected.strip("$"), float(most)) for name, n, expected, most in found]


def test_a_plan_names_what_it_costs_and_what_is_missing(planned, endpoint):
    told = planned("remote gone unset")
    assert not endpoint.bodies
    for model in ("remote", "gone", "unset"):
        assert [r[:3] for r in rows(told, model)] == [
            (FIRST, 4, "unknown"),
            (SECOND, 12, "unknown"),
        ]
    assert "\n48 calls; expected unknown, upper bound $" in told
    bound = f"{FIRST}: the generation loop depends on earlier replies"
    assert told.count("depends on earlier") == 1 and bound in told
    assert "before this can run: model 'gone' was retired on 2026-06-15; use 'remote'" in told
    assert "before this can run: model 'unset' needs its key in the environment" in told
    assert told.count("before this can run") == 2


def test_a_plan_counts_what_is_left_and_expects_what_was_seen(planned, endpoint):
    record(SECOND)
    before = len(endpoint.bodies)
    ((name, count, expected, most),) = rows(planned("remote"), "remote")
    record(FIRST)
    real = (len(endpoint.bodies) - before) * (10 * 1e4 + 5 * 2) / 1e6
    assert name == FIRST and count == len(endpoint.bodies) - before == 4
    assert real / 1.5 < float(expected) < 1.5 * real < most


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_first_plan_expects_by_other_models_replies_that_ended_by_themselves(
    planned, endpoint, finish
):
    """Twelve tokens each; where half were cut, the others are the short ones: none is expected."""

    def script(n, body):
        answer = completion("twelve tokens of text", finish if n % 2 else "stop")
        answer["usage"] = {"prompt_tokens": 10, "completion_tokens": 12, "total_tokens": 22}
        return answer

    endpoint.script = script
    record(SECOND)
    told = planned("unset")
    assert [count for _, count, *_ in rows(told, "unset")] == [4, 12] and len(endpoint.bodies) == 12
    for _, count, expected, most in rows(told, "unset"):
        if finish == "length":
            assert expected == "unknown"
        else:
            paid = count * (10 * 1e4 + 12 * 2) / 1e6
            assert paid / 1.5 < float(expected) < 1.5 * paid < most
    lent = "expected of unset: by the length of similar texts"
    assert (lent in told) == (finish == "stop")


def test_what_is_paid_is_never_more_than_the_plan_s_most(planned, endpoint):
    """Also where each reply is as long as its limit and its prompt as many tokens as bytes."""

    def script(n, body):
        answer = completion("word " * 20, "length")
        sent = sum(len(m["content"].encode()) + 12 for m in body["messages"])
        answer["usage"] = {"prompt_tokens": sent, "completion_tokens": 20}
        return answer

    endpoint.script = script
    most = [most for *_, most in rows(planned("remote"), "remote")]
    for name in (FIRST, SECOND):
        record(name)
    prompts = [sum(len(m["content"]) + 12 for m in b["messages"]) for b in endpoint.bodies]
    paid = sum(prompts) * 1e4 / 1e6 + 20 * 2 * len(prompts) / 1e6
    assert len(prompts) == 16 and 0 < paid <= sum(most) + 0.005


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
