"""Logs of Inspect as answers made elsewhere, made by `inspect eval` on a scripted endpoint."""

import asyncio
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from bedside import BedsideError, explorer, own
from bedside.read import logs, questions
from conftest import apart, completion
from own_studies import compared

TASKS = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import generate, solver

@scorer(metrics=[mean()])
def graded():
    async def score(state, target):
        return Score(value={"brief": 0.25, "clear": 1, "stars": 4})
    return score

@solver
def fails_at(item):
    async def solve(state, generate):
        if state.sample_id == item:
            raise RuntimeError("the line was cut")
        return state
    return solve

def of(scorers):
    asked = [Sample(id=f"q{n}", input=f"Question {n}?", target="Yes") for n in range(4)]
    return Task(dataset=asked, solver=[fails_at("q2"), generate()], scorer=scorers)

@task
def whole():
    return of([match(), graded()])

@task
def half():
    return of(match())
"""


def reply(n, body):
    """Yes, No and a cut reply, by question; the judge finds whatever says Yes right."""
    said = body["messages"][-1]["content"]
    if "Answer to grade" in said:
        return completion(json.dumps({"score": int("Yes" in said.rpartition("to grade")[2])}))
    text, finish = {"0": ("Yes", "stop"), "1": ("No", "stop")}.get(said[9], ("Yes, bu", "length"))
    return completion(text, finish)


@pytest.fixture
def log_of(tmp_path, endpoint):
    """A function that runs `inspect eval` on a task and gives its log."""
    pytest.importorskip("inspect_ai")
    endpoint.script = reply
    (tmp_path / "tasks.py").write_text(TASKS)

    def make(task, *options):
        folder = tmp_path / task
        model = ["--model", "openai-api/test/served-1", "--max-samples", "1"]
        told = [*model, "--log-dir", str(folder), "--display", "none", *options]
        done = subprocess.run(
            [sys.executable, "-m", "inspect_ai", "eval", f"tasks.py@{task}", *told],
            **{"cwd": tmp_path, "capture_output": True, "text": True},
            env={**os.environ, "TEST_API_KEY": "none", "TEST_BASE_URL": endpoint.url},
        )
        made = list(folder.glob("*.eval"))
        assert len(made) == 1, done.stdout + done.stderr
        return made[0].rename(tmp_path / f"{task}.eval")

    return make


def test_every_item_status_and_score_of_a_log_arrives(
    log_of, endpoint, tmp_path, served, monkeypatch
):
    apart(monkeypatch, tmp_path)
    path = str(log_of("whole", "--epochs", "2", "--no-fail-on-error"))
    rows = "".join(f"q{n},Question {n}?\n" for n in range(5))
    (tmp_path / "mine.csv").write_text("item,question\n" + rows)
    found = compared(str(tmp_path / "mine.csv"), models="", judge="served", answers=path)
    model = "openai-api/test/served-1 (from whole.eval)"
    once = found.answers[found.answers["configuration"] == "plain"].set_index("item")
    assert (once["model"] == model).all() and len(found.answers) == 10
    assert once["answer"].tolist() == ["Yes", "No", "", "Yes, bu", ""]
    why = once["reply_status"].tolist()
    assert (
        why[:2] == ["", ""] and "the line was cut" in why[2] and why[3:] == ["", "not in the file"]
    )
    assert once["truncated"].tolist() == [False, False, False, True, False]
    ours = found.verdicts[found.verdicts["configuration"] == "plain"]
    assert ours["status"].tolist() == ["graded", "graded", "error", "graded", "error"]
    assert ours["value"].tolist()[:2] == [1, 0]
    kept = pd.read_csv(found.own.folder / "scores_elsewhere.csv")
    # of three answers in two epochs, match and the three parts of graded
    graded = {f"graded {part}" for part in ("brief", "clear", "stars")}
    assert len(kept) == 24 and set(kept["scorer"]) == {"match"} | graded
    assert kept[kept["scorer"] == "match"].set_index("item")["value"].to_dict() == {
        "q0": "C", "q1": "I", "q3": "I"}  # fmt: skip
    means = own.elsewhere(found.own, found.verdicts).set_index("column")
    assert means.loc["match (from whole.eval): mean", "value"] == pytest.approx(1 / 3)
    assert means.loc["graded brief (from whole.eval): mean", "value"] == 0.25
    assert means["n"].tolist() == [6] * 4
    assert not any("whole.eval): " in c for c in found.scores["column"])  # never mixed with ours
    shown = explorer.read(explorer.html(own.document(found.own, found.verdicts)))[0]["rows"]
    verdicts = {v["judge"]: v["right"] for v in shown[0]["verdicts"]}
    assert verdicts["served"] and verdicts["match (from whole.eval)"]
    points = {part: verdicts[f"{part} (from whole.eval)"] for part in graded}
    # a quarter is a score, and a failure; nobody knows of how many stars four are
    assert points == {"graded brief": False, "graded clear": True, "graded stars": None}
    asked = len(endpoint.bodies)
    again, _ = questions.answers(path, ["q0"])  # of a paper's notebook, without repeats
    assert again["model"].tolist() == [model, model.replace(" (", "; epoch 2 (")]
    assert asyncio.run(own.answers(found.own)).equals(found.answers)
    assert len(endpoint.bodies) == asked


def test_a_log_that_failed_halfway_is_taken_for_what_it_holds(log_of):
    path = log_of("half")
    rows = [row for _, row in logs.rows(path)]
    assert [row["item"] for row in rows][:3] == ["q0", "q1", "q2"]
    assert [row["answer"] for row in rows][:3] == ["Yes", "No", ""]
    assert "the line was cut" in rows[2]["why"]
    assert all(row["why"] for row in rows[3:])  # what was cancelled with it


def test_what_a_log_holds_as_rows(tmp_path, monkeypatch):
    """Without the package: what its reader gives, by the names that its documentation has."""
    nothing = SimpleNamespace(completion="", choices=[], stop_reason="", error=None)

    def sample(id, epoch=1, text="", stop="stop", scores=None, error=None):
        output = SimpleNamespace(completion=text, choices=[1], stop_reason=stop, error=None)
        value = {k: SimpleNamespace(value=v) for k, v in (scores or {}).items()}
        fault = error and SimpleNamespace(message=error)
        output = nothing if error else output
        return SimpleNamespace(id=id, epoch=epoch, output=output, scores=value, error=fault)

    held = [
        sample("q0", text="Yes", scores={"match": "C", "f1": 0.5, "two": {"x": True, "y": "odd"}}),
        sample("q0", 2, "Ye", "max_tokens", {"match": "I"}),
        sample(1, stop="content_filter"),
        sample("q2", error="the line was cut"),
    ]
    log = SimpleNamespace(samples=held, status="error", eval=SimpleNamespace(model="m/x"))
    reader = SimpleNamespace(read_eval_log=lambda *_, **__: log)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", reader)
    (tmp_path / "run.eval").write_text("as a stand-in")
    rows = [row for _, row in logs.rows(tmp_path / "run.eval")]
    assert [(r["item"], r["repeat"], r["answer"], r["why"], r["cut"]) for r in rows] == [
        ("q0", 0, "Yes", "", False),
        ("q0", 1, "Ye", "", True),
        ("1", 0, "", "filtered", False),
        ("q2", 0, "", "error: the line was cut", False),
    ]
    assert rows[0]["scores"] == {
        "match": ("C", 1.0), "f1": ("0.5", 0.5), "two x": ("True", 1.0), "two y": ("odd", None)
    }  # fmt: skip
    told = questions.scores(tmp_path / "run.eval", ["q0"])
    assert [(r["repeat"], r["scorer"], r["number"]) for r in told][-1] == (2, "match", 0.0)
    log.samples = [held[0], held[0]]
    (tmp_path / "run.eval").write_text("another one")
    with pytest.raises(BedsideError, match="two samples 'q0' of epoch 1"):
        logs.rows(tmp_path / "run.eval")


def test_what_is_no_log_is_told(tmp_path):
    (tmp_path / "x.eval").write_text("not a log")
    with pytest.raises(BedsideError, match="x.eval"):
        questions.answer_rows(tmp_path / "x.eval")
    with pytest.raises(BedsideError, match="there is no file .*y.eval"):
        questions.answer_rows(tmp_path / "y.eval")


def test_without_inspect_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    (tmp_path / "x.eval").write_text("not a log")
    with pytest.raises(BedsideError, match="pip install inspect_ai"):
        questions.answer_rows(tmp_path / "x.eval")
