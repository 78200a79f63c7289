"""MedDialBench: replies without text are no answers, cut ones are told, plans need no reply."""

import asyncio
import json

import pandas as pd
import pytest

from bedside.papers.meddialbench import (
    data,
    examples,
    figures,
    generation,
    judging,
    scores,
    study,
)
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.implied import combinations, ratios
from bedside.papers.meddialbench.tables import (
    baseline,
    cut,
    interactions,
    single,
    validation,
    vulnerability,
)
from bedside.read import sources
from conftest import completion
from meddialbench_cells import accuracy, baseline_rows, dose, selected

TWO = {"baseline": (), "vague": ("vague",)}
HOW = {"patient": "", "turns": 3, "turn_tokens": 33, "temperature": 0.7}
# a reply that is no answer, the end of a dialogue, and a status
RIGHT = '{"diagnosis": "Gout"}'
CALL = {"finish": "tool_calls", "tool_calls": [{"id": "a"}]}
NOTHING = [
    (completion("", "length"), "cut off", "cut off while thinking"),
    (completion("", "content_filter"), "refused", "filtered"),
    (completion(RIGHT, "content_filter"), "refused", "filtered"),
    (completion(None, refusal="No."), "refused", "refused"),
    (completion(None, **CALL), "tools", "tool calls"),
    (completion(RIGHT, **CALL), "tools", "tool calls"),
    (completion(" \n "), "empty", "blank"),
]
KINDS = pytest.mark.parametrize("reply, end, why", NOTHING, ids=range(len(NOTHING)))


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


def who(body):
    """Whose statement is asked for."""
    if "The inquiry is over" in body["messages"][-1]["content"]:
        return "diagnosis"
    first = body["messages"][0]["content"]
    return "patient" if first.startswith("You play a patient") else "doctor"


def silent(speaker, reply):
    """An endpoint whose `speaker` (or everybody: "") replies so, the others with a statement."""

    def script(n, body):
        if speaker in ("", who(body)):
            return reply
        if who(body) == "diagnosis":
            return completion(json.dumps({"diagnosis": "Gout"}))
        return completion(f"I have thought of number {n} too.")

    return script


def outcomes(run, here, configurations=TWO):
    _, held = asyncio.run(study.consultations(run, here, configurations, **HOW))
    return asyncio.run(judging.outcomes(run, examples.Labelled(run), here.scripts, held))


@pytest.mark.parametrize("speaker", ["", "doctor", "patient"])
@KINDS
def test_who_says_nothing_is_unscored_and_has_no_number(
    run, here, endpoint, speaker, reply, end, why
):
    endpoint.script = silent(speaker, reply)
    done = outcomes(run, here)
    mine = done[done["model"] == "served"]
    assert set(mine["end"]) == {end} and set(mine["by"]) == {speaker or "doctor"}
    assert set(mine["why"]) == {why} and not mine["truncated"].any()
    columns = ["correct", "coverage", "per_turn", "misled", "turns"]
    assert len(mine) == 4 and mine[columns].isna().all(axis=None)
    others = done[done["model"] == "rules"]
    assert others[columns[:3] + columns[4:]].notna().all(axis=None)

    two = baseline_rows(run, done[done["configuration"] == "baseline"])
    for column in ("Acc", "Turns", "Coverage", "Cov/Turn"):
        r = two.set_index(["row", "column"]).loc[("served", column)]
        assert (r["n"], r["unscored"]) == (0, 2) and pd.isna(r["value"])
    ends = baseline.end_table(run, done).set_index(["row", "column"])["value"]
    whose = f"{speaker or 'doctor'}: "
    (name,) = [r for r, column in ends.index if column == "served" and r.startswith(whose)]
    assert ends[name, "served"] == 100 and ends["a reply was cut at its limit", "served"] == 0
    assert ends[f"no answer: {why}", "served"] == 100
    three = accuracy(done).set_index(["configuration", "model"]).loc[("vague", "served")]
    assert (three["n"], three["unscored"]) == (0, 2)


@KINDS
def test_a_diagnosis_without_text_is_unscored_with_its_reason(run, here, endpoint, reply, end, why):
    endpoint.script = silent("diagnosis", reply)
    done = outcomes(run, here)
    mine = done[done["model"] == "served"]
    assert set(mine["end"]) == {"limit"} and set(mine["reply_status"]) == {why}
    assert mine["correct"].isna().all() and mine["coverage"].notna().all()
    ends = baseline.end_table(run, done).set_index(["row", "column"])["value"]
    assert ends[f"no diagnosis: {why}", "served"] == 100


def test_no_table_invents_a_number_for_who_never_answered(run, here, endpoint):
    endpoint.script = silent("", completion("", "length"))
    configurations = here.design.configurations()
    done = outcomes(run, here, configurations)
    mine = done[done["model"] == "served"]
    known = examples.Labelled(run)
    shown = asyncio.run(judging.adherence(run, here.design, known, here.scripts, mine))
    changed, covered, turned = (scores.changes(mine, run, c) for c in single.CHANGED)
    pairs = {name: levels for name, levels in configurations.items() if len(levels) > 1}
    for rows in (
        validation.patient_table(run, shown),
        validation.adherence_table(run, shown),
        validation.follow_up_table(run, {"served": shown}),
        baseline_rows(run, mine[mine["configuration"] == "baseline"]),
        selected(run, mine),
        single.change_table(run, changed, covered, turned),
        single.coverage_rows(run, mine, changed, covered),
        dose(run, here.design, mine),
        interactions.interaction_table(
            run,
            here.design,
            ratios(run, combinations(here.design)),
            scores.interactions(mine, pairs, run),
            scores.pooled(mine, pairs, run),
        ),
        vulnerability.profile_rows(run, changed),
        vulnerability.worst_table(pd.DataFrame(), pd.DataFrame(), changed),
        vulnerability.misled_table(run, here.design, mine),
        vulnerability.strategy_table(run, mine),
    ):
        own = rows[rows["source"] == "run"]
        assert own["value"].isna().all() and not own["n"].fillna(0).any()
    assert scores.mixed(mine, here.design) is None
    assert cut(mine, "correct").startswith("No reply was cut")


def test_captions_tell_of_cut_consultations_and_what_the_others_score(run, here, endpoint):
    first, plain = here.cases["complaint"].iloc[0], silent("nobody", None)

    def script(n, body):
        """In the first case the doctor is cut."""
        said = plain(n, body)
        if who(body) == "doctor" and first in json.dumps(body["messages"]):
            said["choices"][0]["finish_reason"] = "length"
        return said

    endpoint.script = script
    done = outcomes(run, here)
    mine = done["model"] == "served"
    assert (done.loc[mine, "truncated"] > 0).tolist() == [True, True, False, False]
    # scores of the first case don't count: of the others one is right, one wrong
    done.loc[mine, "correct"] = [1.0, 1.0, 1.0, 0.0]
    note = cut(done, "correct")
    assert "served 2 of 4 (of the uncut: share right 0.50)" in note and "Warning" in note
    assert "rules" not in note and note.endswith("as cut if any of its replies was. ")
    ends = baseline.end_table(run, done).set_index(["row", "column"])["value"]
    assert ends["a reply was cut at its limit", "served"] == 50
    assert ends["right diagnoses where none was", "served"] == 50
    assert cut(done[~mine], "correct").startswith("No reply was cut")


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
    assert len({r.key for r in run._planned}) == 2 * (3 + 10) + 4 * 7 - 2 and not endpoint.bodies


def test_a_plan_counts_no_try_that_recorded_ones_spare(run, endpoint, monkeypatch):
    drawn = sources.load("meddialbench_cases")[data.CASE[:-1]].head(2)
    monkeypatch.setattr(data, "osce", lambda run: drawn)
    told = {"items": [f"I have had complaint {k} for long" for k in range(9)]}
    endpoint.script = lambda n, body: completion(json.dumps(told))
    run.profile = "public"
    asyncio.run(generation.with_key_items(run, drawn))
    run.mode = "plan"
    asyncio.run(generation.with_key_items(run, drawn))
    assert len(endpoint.bodies) == 2 and not run._planned


@KINDS
def test_without_cases_tables_are_empty_and_say_why(run, endpoint, monkeypatch, reply, end, why):
    drawn = sources.load("meddialbench_cases")[data.CASE[:-1]].head(2)
    monkeypatch.setattr(data, "osce", lambda run: drawn)
    run.profile, endpoint.script = "public", lambda n, body: reply
    here = asyncio.run(study.set_up(run))
    assert here.cases.empty and f"served wrote key items for none of 2 cases: {why} (2)" in here.why
    assert len(endpoint.bodies) == 2 * generation.TRIES

    done = outcomes(run, here)
    pairs = {"C1": ("vague", "dominant")}
    changed, covered, turned = (scores.changes(done, run, c) for c in single.CHANGED)
    found = scores.interactions(done, pairs, run), scores.pooled(done, pairs, run)
    oe = ratios(run, combinations(here.design))
    four = interactions.interaction_table(run, here.design, oe, *found)
    assert done.empty and scores.mixed(done, here.design) is None
    seen = asyncio.run(
        judging.adherence(run, here.design, examples.Labelled(run), here.scripts, done)
    )
    for rows in (
        baseline.end_table(run, done),
        selected(run, done),
        dose(run, here.design, done),
        single.change_table(run, changed, covered, turned),
        single.coverage_rows(run, done, changed, covered),
        four,
        interactions.mixed_table(None, done),
        validation.patient_table(run, seen),
        validation.adherence_table(run, seen),
        validation.follow_up_table(run, {"served": seen}),
        vulnerability.profile_rows(run, changed),
        vulnerability.misled_table(run, here.design, done),
        vulnerability.strategy_table(run, done),
    ):
        mine = rows[rows["source"] == "run"]
        assert len(rows) and mine["value"].isna().all() and not mine["n"].fillna(0).any()
    ticks = figures.interactions(four, here.design).axes[0].get_yticklabels()
    assert {t.get_text()[-3:-1] for t in ticks} == {f"C{n}" for n in range(1, 7)}
