"""The second version: the optimiser of instructions, over a scripted model."""

import asyncio
import json

import numpy as np
import pandas as pd
import pytest

from bedside.asking import models
from bedside.judging import judges
from bedside.keep import registry, store
from bedside.keep.registry import StopRun
from bedside.papers.cancer_myth import study
from bedside.papers.cancer_myth.v2 import optimiser, tables
from conftest import SILENT, completion


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "04_mitigation")


TRAIN = pd.DataFrame(
    {
        "item": [f"t{i}" for i in range(6)],
        "question": [f"train {i}?" for i in range(6)],
        "kind": ["myth"] * 4 + ["plain"] * 2,
        "correction": ["what is true"] * 4 + [""] * 2,
    }
)


@pytest.fixture
def graded(monkeypatch):
    """A judge that calls an answer 'good' right."""

    async def grade(frame, judge, question, ask, **_):
        value = [question.values[-1 if a == "good" else 0] for a in frame["answer"]]
        value = pd.Series(value, dtype=object)
        came = (frame["reply_status"] == "").reset_index(drop=True)
        status = came.map({True: "graded", False: "error"})
        given = {"status": status, "value": value.where(came, None), "raw": ""}
        return pd.DataFrame({"item": frame["item"].to_numpy(), **given})

    monkeypatch.setattr(judges, "grade", grade)


def optimise(run, budget=40, **options):
    return asyncio.run(
        optimiser.optimise(
            run,
            "served",
            TRAIN,
            dict.fromkeys(("myth", "plain"), study.Known()),
            budget=budget,
            max_tokens=9,
            **options,
        )
    )


def answerer(instruction):
    """An endpoint whose answers are good under one instruction, which its reflections propose."""

    def script(n, body):
        if "response_format" in body:
            return completion(
                instruction
                if instruction.startswith("not")
                else json.dumps({"instruction": instruction})
            )
        return completion("good" if "careful" in body["messages"][0]["content"] else "bad")

    return script


def test_the_optimiser_keeps_what_scores_better(run, endpoint, graded):
    endpoint.script = answerer("Be careful.")
    found = optimise(run)
    assert (
        found.instruction == "Be careful."
        and found.status == "improved"
        and (found.start, found.best) == (0.0, 1.0)
    )
    assert found.proposals >= 1 and found.unusable == 0
    reflection = next(b for b in endpoint.bodies if "response_format" in b)["messages"][-1][
        "content"
    ]
    assert optimiser.SEED_INSTRUCTION in reflection and "what is true" in reflection
    before = len(endpoint.bodies)
    run.mode = "replay"
    assert optimise(run) == found and len(endpoint.bodies) == before  # every call was recorded


@pytest.mark.parametrize(
    "proposal, budget, status",
    [
        ("Be kind.", 40, "nothing better found"),
        ("not JSON", 40, "no usable proposal"),
        ("Be careful.", 6, "budget used up before the first proposal"),
    ],
)
def test_an_optimiser_that_finds_nothing_says_why(run, endpoint, graded, proposal, budget, status):
    endpoint.script = answerer(proposal)
    found = optimise(run, budget)
    assert (
        found.status == status
        and found.instruction == optimiser.SEED_INSTRUCTION
        and found.start == found.best
    )
    assert (
        found.unusable == (found.proposals if status == "no usable proposal" else 0)
        and found.calls >= 6
    )


def test_a_budget_used_up_in_the_optimiser_stops_the_run(run, endpoint, graded, monkeypatch):
    """GEPA goes on after exceptions; it must not swallow a refused key or a budget."""
    monkeypatch.setitem(
        registry.entries(),
        "served",
        {**registry.entries()["served"], "usd_per_million_in": 1e3, "usd_per_million_out": 1e3},
    )
    endpoint.script = answerer("Be kind.")
    run.budget_usd = 0.6
    with pytest.raises(StopRun, match="BUDGET_USD"):
        optimise(run, 400)
    run.budget_usd, run.mode = None, "replay"
    with pytest.raises(models.MissingRecording):
        optimise(run, 400, reflector="smollm2-135m")


def test_the_optimiser_counts_silence_and_cuts(run, endpoint, graded):
    """Of the six training answers two hold no text and one is cut; reflections say nothing.

    The score rests on the four that came, one of which is good.
    """

    def script(n, body):
        said = body["messages"][-1]["content"]
        if "response_format" in body or said in ("train 0?", "train 4?"):
            return SILENT["blank"]
        finish = "length" if said == "train 1?" else "stop"
        return completion("good" if said == "train 2?" else "bad", finish=finish)

    endpoint.script = script
    found = optimise(run, 6)
    assert (found.unscored, found.cut, found.calls) == (2, 1, 6) and found.start == 1 / 4
    shown = tables.found_table({"m": found}).set_index("column")["value"]
    assert shown["answers without a verdict"] == 2
    assert shown["answers cut off at the limit"] == 1
    more = optimise(run, 20)
    assert more.proposals >= 1 and more.unusable == more.proposals
    endpoint.script = lambda n, body: SILENT["blank"]
    run.recordings = store.Recordings(run.recordings.folder.parent / "silence")
    assert np.isnan(optimise(run, 6).start)  # no answer, no score
    told = {"kind": "myth", "status": "error", "value": None, "correction": "c"}
    assert optimiser.comment({**told, "reply_status": "blank"}) == "No answer came (blank)."
