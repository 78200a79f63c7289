"""MedDialBench: replies without text are no answers and no numbers; plans need no reply."""

import asyncio
import json

import pytest

from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import data, examples, judging, study
from bedside.papers.meddialbench import design as designs
from bedside.read import sources
from cells import wanted
from conftest import completion

TWO = {"baseline": (), "vague": ("vague",)}
HOW = {"patient": "", "turns": 3, "turn_tokens": 33, "temperature": 0.7}
RIGHT = '{"diagnosis": "Gout"}'
CALL = {"finish": "tool_calls", "tool_calls": [{"id": "a"}]}
NOTHING = [  # a reply that is no answer, the end of a dialogue, and a status
    (completion("", "length"), "cut off", "cut off while thinking"),
    (completion("", "content_filter"), "refused", "filtered"),
    (completion(RIGHT, "content_filter"), "refused", "filtered"),
    (completion(None, refusal="No."), "refused", "refused"),
    (completion(None, **CALL), "tools", "tool calls"),
    (completion(RIGHT, **CALL), "tools", "tool calls"),
    (completion(" \n "), "empty", "blank"),
]


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def here(run):
    """The design, two cases and their scripts."""
    cases, texts = (
        sources.load(f"meddialbench_{n}").query("item in ('case-1', 'case-2')")
        for n in ("cases", "scripts")
    )
    return study.SetUp(designs.read(run), cases, texts, 2)


def outcomes(run, here):
    _, held = asyncio.run(study.consultations(run, here, TWO, **HOW))
    return asyncio.run(judging.outcomes(run, examples.Labelled(run), here.scripts, held))


@pytest.mark.parametrize("reply, end, why", NOTHING, ids=range(len(NOTHING)))
def test_a_reply_without_words_breaks_off_unscored_with_its_reason(
    run, here, endpoint, reply, end, why
):
    """The doctor of the first case says nothing, nor does the vague patient of the second; without
    the vagueness only the diagnosis is missing."""
    first = here.cases["complaint"].iloc[0]
    vague = here.scripts.query("item == 'case-2' and level == 'vague'")["script"].item()

    def script(n, body):
        told = json.dumps(body["messages"])
        patient = body["messages"][1]["content"] == talks.OPENING
        if vague in told or body.get("response_format") or (first in told and not patient):
            return reply
        return completion(f"I have thought of number {n} too.")

    endpoint.script = script
    done = outcomes(run, here)
    mine = done[done["model"] == "served"].set_index(["case", "configuration"])
    lost = ["correct", "misled", "coverage", "per_turn", "turns"]
    for case, configuration, by in (
        ("case-1", "baseline", "doctor"),
        ("case-1", "vague", "doctor"),
        ("case-2", "vague", "patient"),
    ):
        r = mine.loc[case, configuration]
        assert (r["end"], r["by"], r["why"]) == (end, by, why) and r[lost].isna().all()
    r = mine.loc["case-2", "baseline"]
    assert (r["end"], r["reply_status"], r["why"]) == ("limit", why, "")
    assert r[["correct", "misled"]].isna().all() and r[["coverage", "turns"]].notna().all()
    assert not mine["truncated"].any()
    others = done[done["model"] == "rules"]
    assert others[lost].notna().all(axis=None)

    ends = talks.ends(done).set_index(["row", "column"])["value"]
    assert ends[f"no answer: {why}", "served"] == 75
    assert ends[f"no diagnosis: {why}", "served"] == 25
    assert ends[talks.CUT, "served"] == 0
    right = wanted("meddialbench/03_single_dimension", "accuracy", judged=done).set_index(
        ["configuration", "model"]
    )
    assert right.loc[("vague", "served"), ["n", "unscored"]].tolist() == [0, 2]


# ---- plans


def test_a_plan_of_generated_cases_has_every_step(run, endpoint, monkeypatch):
    drawn = sources.load("meddialbench_cases")[data.CASE[:-1]].head(2)
    monkeypatch.setattr(data, "osce", lambda run: drawn)
    run.mode, run.profile = "plan", "public"
    plan, cases, scripts, count, _ = asyncio.run(study.set_up(run))
    assert count == len(cases) == 2 and set(cases["status"]) == {"graded"}
    assert (cases["key_items"].str.len() >= data.LEAST).all()
    assert len(scripts) == 20 and set(scripts["status"]) == {"graded"}
    here = study.SetUp(plan, cases, scripts, count)
    asyncio.run(study.consultations(run, here, TWO, **HOW))
    # three tries of key items, ten scripts, and four consultations of three questions and answers
    # and a diagnosis, of which a case's first question is the same in both
    assert len({r.key for r in run.planned()}) == 2 * (3 + 10) + 4 * 7 - 2 and not endpoint.bodies
