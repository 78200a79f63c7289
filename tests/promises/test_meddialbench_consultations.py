"""MedDialBench: consultations held many at once, by models, and what replies without text are."""

import asyncio
import itertools
import json

import pytest

from bedside.asking import registry, store
from bedside.asking.registry import StopRun
from bedside.asking.replies import Reply
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import data, rules, study
from bedside.papers.meddialbench.consultations import END
from bedside.read import sources
from conftest import completion, with_fields
from meddialbench_speakers import FOUND

# ---- many at once


def crowd(turns=5):
    return talks.planned(FOUND, {f"c{k}": () for k in range(10)}, ["one", "two"], "p", turns)


def test_dialogues_are_held_at_once_and_stay_apart():
    inside, most = set(), []

    def says(what):
        async def say(c):
            name = f"{c.item} {c.doctor}"
            inside.add(name)
            most.append(len(inside))
            await asyncio.sleep(0)
            if what == "diagnosis":
                inside.remove(name)
            text = f"{what} {len(c.turns)} of {name}"
            return Reply("", "m", text, text=text)

        return say

    made = crowd()
    asyncio.run(talks.hold(made, *map(says, ("question", "answer", "diagnosis")), at_once=3))
    assert len(made) == 40 and max(most) == 3 and not inside
    for c in made:
        name = f"{c.item} {c.doctor}"
        turns = [[f"question {n} of {name}", f"answer {n + 1} of {name}"] for n in range(5)]
        last = f"diagnosis 5 of {name}"
        assert (c.turns, c.keys, c.diagnosis) == (turns, [*itertools.chain(*turns), last], last)


def test_an_error_that_stops_one_stops_all_and_comes_out_as_itself():
    async def doctor(c):
        if c.turns and (c.item, c.doctor) == ("case-B c3", "one"):
            raise StopRun("the budget is used up")
        if c.turns:
            await asyncio.Event().wait()  # for ever, unless it is stopped
        return Reply("", "m", "k", text="How is it?")

    async def patient(c):
        return Reply("", "m", "k", text="I am well.")

    made = crowd()
    with pytest.raises(StopRun, match="the budget is used up"):
        asyncio.run(talks.hold(made, doctor, patient, doctor))
    assert all((c.end, c.turns) == ("", [["How is it?", "I am well."]]) for c in made)


# ---- by models


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def here(run):
    """The design, two cases and their scripts."""
    run.limit = 2
    return asyncio.run(study.set_up(run))


def kind(body):
    """Whose statement is asked for: of a doctor (his questions), a patient, or a diagnosis."""
    if body.get("response_format"):
        return "diagnosis"
    return "patient" if body["messages"][1]["content"] == talks.OPENING else "doctor"


def played(n, body):
    """Doctor, patient and diagnosis: what they say follows from the messages alone."""
    mark, who = store.digest(body["messages"])[:8], kind(body)
    if who == "doctor" and len(body["messages"]) > 2 and int(mark, 16) % 5 == 0:
        return completion(END)
    said = {
        "diagnosis": json.dumps({"diagnosis": f"disease {mark}"}),
        "patient": f"I have thought of {mark} since.",
        "doctor": f"Is there anything about {mark} too?",
    }
    return completion(said[who])


def said_by(bodies, what):
    return [b for b in bodies if kind(b) == what]


async def by_models(run, here, configurations, turns=3):
    made = talks.planned(here.cases, configurations, run.models, "served", turns)
    async with run.asking("consultations") as one:
        speakers = talks.by_models(run, one, made, here.design, here.scripts, 33, 0.7)
        await talks.hold(made, *speakers)
    return made


THREE = {"baseline": (), "vague": ("vague",), "C1": ("fabricating", "withholding")}


def test_each_speaker_is_sent_the_dialogue_as_his_own_and_nothing_else(run, here, endpoint):
    design, cases, texts, *_ = here
    endpoint.script = played
    made = asyncio.run(by_models(run, here, THREE))
    kinds = {what: said_by(endpoint.bodies, what) for what in ("doctor", "patient", "diagnosis")}
    for b in endpoint.bodies:
        turns = ["user", "assistant"] * (len(b["messages"]) // 2 - 1)
        assert [m["role"] for m in b["messages"]] == ["system", *turns, "user"]

    # patients: each dimension once, their own case, the scripts of active levels only
    seen = set()
    for b in kinds["patient"]:
        told = b["messages"][0]["content"]
        (case,) = [c for c in cases.itertuples() if c.patient in told]
        mine = texts[texts["item"] == case.item]
        levels = tuple(r.level for r in mine.itertuples() if r.script in told)
        seen.add((case.item, levels))
        assert not any(s in told for s in texts.loc[texts["item"] != case.item, "script"])
        assert all(told.count(f"- {k}\n") == 1 for k in case.key_items)
        for d, level in design.severities(levels).items():
            title, said = design.dimensions[d]["title"], design.levels[level]["instruction"]
            assert told.count(f"- {title}: ") == 1 == told.count(f"- {title}: {said}")
        opening = [m["content"] for m in b["messages"][1:3]]
        assert opening == [talks.OPENING, case.complaint] and b["max_tokens"] == 33
    assert seen == {(i, v) for i in cases["item"] for v in THREE.values()}

    # doctors learn nothing but the dialogue
    secret = {*sum(cases["key_items"], []), *texts["script"], *sum(texts["false"], [])}
    secret |= {*cases["history"], *cases["diagnosis"]}
    secret |= {x["instruction"] for x in design.levels.values()}
    for b in kinds["doctor"] + kinds["diagnosis"]:
        whole = "\n".join(m["content"] for m in b["messages"])
        assert not [s for s in secret if s in whole] and b["temperature"] == 0.7
        assert b["messages"][1]["content"].split("\n")[0] in {*cases["complaint"]}

    # a diagnosis is asked for in JSON after the last answer
    assert len(kinds["diagnosis"]) == len({c.keys[-1] for c in made})
    for b in kinds["diagnosis"]:
        assert (b["response_format"], b["max_tokens"]) == (talks.DIAGNOSIS, talks.TOKENS)
    last = {b["messages"][-1]["content"].split("\n\n")[0] for b in kinds["diagnosis"]}
    assert last == {c.turns[-1][1] if c.turns else c.case.complaint for c in made}


HOW = {"turns": 5, "turn_tokens": 33, "temperature": 0.7}


def test_a_models_limits_hold_for_its_dialogues(run, here, endpoint, monkeypatch):
    endpoint.script = played
    most = zip("tokens tokens_turn turns dialogues".split(), (50, 21, 2, 1))
    made = with_fields("served", **{f"most_{key}": value for key, value in most})
    monkeypatch.setitem(registry.entries(), "served", made)
    made, frame = asyncio.run(study.consultations(run, here, THREE, **HOW))
    assert {b["max_tokens"] for b in endpoint.bodies} == {21} and len(frame) == len(made) == 12
    most = {(c.doctor, c.most) for c in made}
    assert most == {("served", 2), (rules.NAME, 5)} and all(len(c.turns) <= c.most for c in made)
    spoken = [b["messages"][0]["content"] for b in said_by(endpoint.bodies, "patient")]
    one_by_one = [k for k, _ in itertools.groupby(spoken)]
    assert len(one_by_one) == len({*one_by_one})


def test_a_model_may_be_the_patient_of_another(run, here, endpoint, monkeypatch):
    endpoint.script = played
    own = {"model": "shy-1", "most_turns": 1, "most_tokens_turn": 7}
    monkeypatch.setitem(registry.entries(), "shy", with_fields("served", **own))
    _, frame = asyncio.run(study.consultations(run, here, {"baseline": ()}, patient="shy", **HOW))
    for who, asked in (("patient", ("shy-1", 7)), ("doctor", ("asked-2026-01-01", 33))):
        assert {(b["model"], b["max_tokens"]) for b in said_by(endpoint.bodies, who)} == {asked}
    assert frame.loc[frame["model"] == "served", "turns"].max() == 1
    assert {*frame["patient"]} == {"shy", rules.NAME}


def test_a_plan_of_generated_cases_has_every_step(run, endpoint, monkeypatch):
    two = {"baseline": (), "vague": ("vague",)}
    drawn = sources.load("meddialbench_cases")[data.CASE[:-1]].head(2)
    monkeypatch.setattr(data, "osce", lambda run: drawn)
    run.mode, run.profile = "plan", "public"
    here = asyncio.run(study.set_up(run))
    assert here.drawn == len(here.cases) == 2 and len(here.scripts) == 20
    assert {*here.cases["status"], *here.scripts["status"]} == {"graded"}
    made, _ = asyncio.run(study.consultations(run, here, two, **HOW | {"turns": 3}))
    ends = {(c.end, len(c.turns)) for c in made if c.doctor == "served"}
    # three tries of key items, ten scripts, and four consultations of three questions and answers
    # and a diagnosis, of which a case's first question is the same in both
    assert len({r.key for r in run.planned()}) == 2 * (3 + 10) + 4 * 7 - 2 and ends == {
        ("limit", 3)
    }
    assert not endpoint.bodies and not run.recordings.folder.exists()
