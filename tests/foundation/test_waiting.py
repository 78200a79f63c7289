"""Who waits for a batch, and for which wave; studies wave by wave."""

import asyncio
import contextlib
import json
import shutil
from dataclasses import dataclass

import pytest

import providers
from bedside.asking import dialogues, dry_run, embedded, models
from bedside.bulk import files, results
from bedside.keep import registry, replies, store
from bedside.keep.replies import WAITS, Request
from bedside.papers.cancer_myth import data as myths
from bedside.papers.cancer_myth import study as cancer_myth
from bedside.papers.meddialbench import study as meddialbench
from bedside.papers.medhalu import detection
from bedside.papers.medhalu import study as medhalu
from bedside.papers.radiation import study as radiation
from bedside.read import paths
from bedside.run import Run
from conftest import ask_for, completion
from request_files import (
    FORM,
    checked,
    folders,  # noqa: F401  (a fixture)
    gathered,
    lines_of,
    parts,
    result,
    results_file,
)

EMBEDDED = "smollm2-135m"

# ---- who waits


@pytest.fixture
def tiny(endpoint, monkeypatch):
    """The embedded model, answered by `endpoint`."""
    monkeypatch.setattr(embedded, "running", lambda: contextlib.nullcontext(endpoint.url))
    return EMBEDDED


def asked(requests, recordings, plan, **more):
    mode = {"mode": "batch", "plan": plan, "progress": False, **more}
    return asyncio.run(models.ask(requests, recordings, **mode))


def test_what_is_recorded_comes_and_the_embedded_model_is_called_and_all_else_waits(
    served, endpoint, recordings, tiny
):
    there, plan = ask_for(served, "a", "b"), []
    asked(there, recordings, [], mode="record")
    requests = [*there, *ask_for(served, *"cd"), *ask_for(tiny, *"ef")]
    before = len(endpoint.bodies)
    replies = asked(requests, recordings, plan)
    assert [r.waits for r in replies] == [False, False, True, True, False, False]
    assert [r.text for r in replies] == ["fine", "fine", "", "", "fine", "fine"]
    assert [r.recorded for r in replies] == [True, True, False, False, False, False]
    assert [(r.item, r.model, r.key) for r in replies] == [
        (r.item, r.model, r.key) for r in requests
    ]
    assert plan == requests[2:4] and replies[2].why and not replies[0].why
    asked_now = [b["model"] for b in endpoint.bodies[before:]]
    assert asked_now == [registry.model(tiny)["model"]] * 2
    again = asked(requests[4:], store.Recordings(recordings.folder), plan, mode="replay")
    assert [r.text for r in again] == ["fine", "fine"] and len(recordings) == 4


def test_the_embedded_model_is_in_no_request_file(served, recordings, tiny):
    sink = files.Sink(parts() / "p.01_x", recordings)
    asked([*ask_for(tiny, *"ab"), *ask_for(served, "a")], recordings, sink)
    sink.close()
    (made,) = gathered()
    assert (made.model, made.lines) == (served, 1)
    assert len(list(parts().glob("*/*.lines"))) == 1


@dataclass(kw_only=True)
class Talk(dialogues.Dialogue):
    """A talk of a model with itself."""

    model: str


def test_a_dialogue_that_waits_holds_up_no_other(served, endpoint, recordings, tiny, monkeypatch):
    """One has all its replies, one the first alone, the embedded model is called for all."""
    monkeypatch.setitem(registry.entries(), "whole", {**registry.model(served), "model": "whole"})
    endpoint.script = lambda n, body: completion("to " + body["messages"][0]["content"])
    asked([*ask_for("whole", *"0123"), *ask_for(served, "0")], recordings, [], mode="record")
    before, plan = len(endpoint.bodies), []
    talks = [Talk(model=m, most=2) for m in (served, "whole", tiny)]

    async def held():
        async with models.asking(recordings, mode="batch", plan=plan, progress=False) as one:

            async def says(talk):
                return await one(*ask_for(talk.model, str(len(talk.keys))))

            await dialogues.hold(talks, says, says)

    asyncio.run(held())
    every = [["to question 0", "to question 1"], ["to question 2", "to question 3"]]
    assert [t.turns for t in talks] == [[["to question 0", ""]], every, every]
    assert [(t.end, t.why) for t in talks] == [
        ("failed", WAITS),
        ("limit", ""),
        ("limit", ""),
    ]
    assert plan == ask_for(served, "1")
    called = [b["model"] for b in endpoint.bodies[before:]]
    assert called == [registry.model(tiny)["model"]] * 4


# ---- waves


def planned(requests):
    """What stands in for the replies, and the requests' waves."""
    plan = []
    replies = asyncio.run(
        models.ask(requests, store.Recordings(paths.RECORDINGS), mode="plan", plan=plan)
    )
    assert plan == requests
    return replies, [dry_run.wave(r) for r in requests]


def told(name, *texts, item="told"):
    return Request(item, name, [{"role": "user", "content": t} for t in texts])


def test_a_request_waits_for_the_replies_that_it_tells_of(served):
    (a, b), waves = planned([*ask_for(served, "a"), told(served, "judge", item="b")])
    assert waves == [1, 1]
    (second,), waves = planned([told(served, "here is what it said:", a.text)])
    assert waves == [2]
    (line,) = a.text.splitlines()[1:2]  # one entry of a list is enough
    requests = [told(served, f"and {line}."), told(served, second.text, b.text), told(served, "c")]
    assert planned(requests)[1] == [2, 3, 1]
    form = Request("f", served, requests[1].messages, {"max_tokens": 40}, FORM)
    (verdict,), waves = planned([form])
    assert waves == [3] and dry_run.stands_in(verdict.text) and not dry_run.stands_in(a.text)
    assert json.loads(verdict.text)["score"] == 1
    words = replies.response_format("word", said={"type": "string"})
    form = Request("w", served, [{"role": "user", "content": "say"}], {}, words)
    (spoken,), _ = planned([form])
    assert planned([told(served, json.loads(spoken.text)["said"])])[1] == [2]


def test_in_a_sequence_each_waits_for_those_before(served):
    with dry_run.in_sequence():
        assert planned(ask_for(served, "a", "b"))[1] == [1, 1]  # together, not one after the other
        (reply,), waves = planned(ask_for(served, "c"))
        assert waves == [2] and planned(ask_for(served, "d"))[1] == [3]
    assert planned(ask_for(served, "e"))[1] == [1]
    with dry_run.in_sequence():
        assert planned(ask_for(served, "f"))[1] == [1]
        assert planned([told(served, reply.text)])[1] == [3]  # what its text says counts as well


def test_the_embedded_model_and_what_is_called_one_by_one_take_no_wave(served):
    (own,), waves = planned(ask_for(EMBEDDED, "a"))
    assert waves == [0] and planned([told(served, own.text)])[1] == [1]
    (reply,), _ = planned(ask_for(served, "a"))
    (after,), waves = planned([told(EMBEDDED, reply.text)])
    assert waves == [1] and planned([told(served, after.text)])[1] == [2]
    with dry_run.by_calls():
        (called,), waves = planned(ask_for(served, "b"))
        assert waves == [0] and planned([told(served, called.text)])[1] == [0]
        assert planned([told(served, reply.text, "x")])[1] == [1]
        with dry_run.by_calls(False):
            assert planned(ask_for(served, "c"))[1] == [1]
        assert planned(ask_for(served, "d"))[1] == [0]
    assert planned([told(served, called.text, "y")])[1] == [1]


# ---- whole studies


async def of_radiation(run):
    patients, reference, terms = radiation.inputs(run)
    lists = await radiation.listed(run, patients, ["free-form", "free-form, 20-30"], 1000)
    return await radiation.graded(run, lists, reference, terms)


async def of_medhalu(run):
    items = await medhalu.benchmark(run, "built", 16, EMBEDDED, 512)
    return await detection.detect(run, items, 256, 3)


async def of_cancer_myth(run):
    items = myths.questions(run)
    answered = await cancer_myth.answers(run, items, 256)
    return await cancer_myth.verdicts(run, items, answered, cancer_myth.known(run)["myth"])


async def of_meddialbench(run):
    here = await meddialbench.set_up(run)
    how = {"patient": "", "turns": 5, "turn_tokens": 60, "temperature": 0.7}
    return (await meddialbench.consultations(run, here, {"baseline": ()}, **how))[1]


STUDIES = {  # a notebook's calls, and how many waves they take here
    "radiation/02_free_form": (of_radiation, 2),
    "medhalu/02_detection": (of_medhalu, 1),
    "cancer_myth/03_evaluation": (of_cancer_myth, 2),
    "meddialbench/02_baseline": (of_meddialbench, 10),
}


def made_by(name, mode):
    """A run of a notebook's calls: (itself, what they give)."""
    paper, notebook = name.split("/")
    run = Run(paper, notebook, mode=mode, models="served", judge="served", limit=3)
    given = asyncio.run(STUDIES[name][0](run))
    run.close()
    return run, given


def asked_by(name, wave):
    """The request files of what a notebook can ask now."""
    shutil.rmtree(parts(), ignore_errors=True)
    made_by(name, "batch")
    return gathered(wave)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_wave_by_wave(name, served, endpoint, monkeypatch):
    """No stand-in is ever asked, every line fits, and it ends where direct calls do."""
    persona = providers.PERSONAS["openai"]
    endpoint.script = lambda n, body: providers.completion(persona, body)[0]
    most = max(dry_run.wave(r) for r in made_by(name, "plan")[0].planned())
    assert dry_run._waves  # marks of what stands in
    waves = 0
    while made := asked_by(name, f"{waves + 1:02}"):
        waves += 1
        asked = [checked(x) for x in lines_of(made)]
        assert not endpoint.bodies and {m.model for m in made} == {served}
        for text in (m["content"] for line in asked for m in line["body"]["messages"]):
            assert not {*dry_run.MARKS.findall(text)} & dry_run._waves.keys()
            assert not dry_run.stands_in(text) and "word word" not in text
        came = [result(x["custom_id"], endpoint.script(0, x["body"])) for x in asked]
        account = results.take([results_file(*reversed(came))])
        assert account.taken == len(asked) and account.lines()[1:] == []
    assert 1 <= waves <= most and waves == STUDIES[name][1]
    by_batches = made_by(name, "replay")[1]
    monkeypatch.setattr(paths, "RECORDINGS", paths.RECORDINGS.parent / "direct")
    directly = made_by(name, "record")[1]
    assert endpoint.bodies
    assert by_batches.equals(directly)
