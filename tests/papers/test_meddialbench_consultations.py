"""MedDialBench: consultations and their ends, held by scripted speakers and by models."""

import asyncio
import itertools
import json
import random
from dataclasses import replace

import pandas as pd
import pytest

from bedside.asking import models
from bedside.keep import registry, store
from bedside.keep.registry import StopRun
from bedside.keep.replies import Reply
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import rules, study
from bedside.papers.meddialbench.consultations import END
from bedside.papers.meddialbench.data import CASE
from bedside.read import sources
from conftest import completion

FOUND = pd.DataFrame(
    [
        (
            f"case-{x}",
            f"Disease {x}",
            [f"{x} disease"],
            "50-year-old man",
            f"My toe number {x} hurts.",
            "",
            ["a", "b"],
        )
        for x in "AB"
    ],
    columns=CASE,
)


def speaker(lines, who, plain):
    """Says the lines (texts or Replies) in turn, then plain ones; the keys count who has spoken."""

    async def say(c):
        n = len(c.turns) - (who == "patient")
        line = lines[n] if n < len(lines) else plain.format(n)
        return replace(
            line if isinstance(line, Reply) else Reply("", "m", "", text=line), key=f"{who[0]}{n}"
        )

    return say


def held(doctor=(), patient=(), turns=4, last='{"diagnosis": "Gout"}'):
    """One consultation, held, and how often a diagnosis was asked for."""
    asked = []

    async def diagnose(c):
        asked.append(c)
        return replace(last, key="x") if isinstance(last, Reply) else Reply("", "m", "x", text=last)

    (c,) = talks.planned(FOUND[:1], {"plain": ()}, ["m"], "p", turns)
    asyncio.run(
        talks.hold(
            [c],
            speaker(doctor, "doctor", "Is there anything about number {} to tell?"),
            speaker(patient, "patient", "I can tell thing number {} about it."),
            diagnose,
        )
    )
    return c, len(asked)


# ---- ends

MARKED = [
    (["A first one?", END], 1, "alone"),
    (["A first one?", "A second one?", f"That is all. {END}"], 2, "after text"),
    ([END], 0, "at once"),
    ([f"{END} The diagnosis is clear to me."], 0, "before text"),
    (["A first one?", f"  \n{END}\n"], 1, "among blanks"),
]


@pytest.mark.parametrize("doctor, turns", [m[:2] for m in MARKED], ids=[m[2] for m in MARKED])
def test_a_doctor_ends_the_inquiry_with_the_mark(doctor, turns):
    c, asked = held(doctor)
    assert (c.end, c.by, len(c.turns), asked) == ("ended", "", turns, 1) and (
        c.diagnosis,
        c.status,
    ) == ("Gout", "graded")
    assert c.keys == [f"{w}{n}" for n in range(turns) for w in "dp"] + [f"d{turns}", "x"]
    assert all(q and a for q, a in c.turns) and END not in talks.transcript(c)


def test_turns_are_used_up():
    c, asked = held(turns=3)
    assert (c.end, c.by, len(c.turns), asked) == ("limit", "", 3, 1) and c.keys == [
        "d0",
        "p0",
        "d1",
        "p1",
        "d2",
        "p2",
        "x",
    ]
    assert c.turns[2] == [
        "Is there anything about number 2 to tell?",
        "I can tell thing number 2 about it.",
    ]
    assert c.statements() == ["My toe number A hurts."] + [
        f"I can tell thing number {n} about it." for n in range(3)
    ]


FINE = "It may be a bit more on some days."
BREAKS = [  # who can do so, what he says up to it, and the end
    ("doctor patient", [FINE, Reply("", "m", "", refusal="No.")], "refused"),
    ("doctor patient", [Reply("", "m", "", finish="content_filter")], "refused"),
    (
        "doctor patient",
        [FINE, Reply("", "m", "", text="Half a sentence that", finish="content_filter")],
        "refused",
    ),
    ("doctor patient", ["I'm sorry, but I can't assist with that request."], "refused"),
    ("doctor patient", [FINE, "As an AI language model, I have no body."], "refused"),
    ("doctor patient", ["I cannot provide medical advice."], "refused"),
    ("doctor patient", ["I’m unable to play this role."], "refused"),
    ("doctor patient", [FINE, ""], "empty"),
    ("doctor patient", [" \n ...\n"], "empty"),
    ("doctor patient", [FINE, Reply("", "m", "", finish="length", no_answer="cut off")], "cut off"),
    ("doctor patient", [Reply("", "m", "", text=" \n", no_answer="blank")], "empty"),
    ("doctor patient", [FINE, FINE, "It may be a BIT more, on some days"], "repeated"),
    ("doctor patient", [FINE, "I feel it here.", FINE, FINE], "repeated"),
    ("doctor patient", ["and it comes and goes " * 3], "repeated"),
    ("doctor patient", ["so so so so so so so"], "repeated"),
    ("doctor", [FINE, "Does it hurt?\nPatient: Yes, it does."], "role"),
    ("doctor", ["**Patient:** I feel worse."], "role"),
    ("patient", [FINE, "I feel worse.\nDoctor: And at night?"], "role"),
    ("patient", ["How long have you had it?"], "role"),
    ("patient", ["Have your knees been swollen, and do you smoke?"], "role"),
    ("patient", ["How can I help you today?"], "role"),
    ("patient", ["I'm here to listen, so let me hear all of it."], "role"),
    ("patient", [FINE, "Tell me about your symptoms and I will see."], "role"),
    ("patient", [f"I have said all. {END}"], "role"),
    ("doctor patient", [FINE, Reply("", "m", "", error="500 from the endpoint")], "failed"),
]
BROKEN = [(who, lines, end) for both, lines, end in BREAKS for who in both.split()]


@pytest.mark.parametrize(
    "who, lines, end", BROKEN, ids=[f"{k} {b[0]} {b[2]}" for k, b in enumerate(BROKEN)]
)
def test_a_dialogue_breaks_off_and_keeps_what_was_said(who, lines, end):
    c, asked = held(**{who: lines})
    assert (c.end, c.by, asked) == (end, who, 0) and (c.diagnosis, c.status) == ("", "error")
    spoken = 2 * len(lines) - (who == "doctor")
    assert c.keys == [f"{w}{n}" for n in range(4) for w in "dp"][:spoken]
    last = (lines[-1].text if isinstance(lines[-1], Reply) else lines[-1]).strip()
    said = [x for turn in c.turns for x in turn if x]
    if last:
        assert said[-1] == last and len(said) == spoken
    else:
        assert len(said) == spoken - 1
    row = talks.frame([c]).iloc[0]
    assert (
        row["reply_status"] == f"{end}, {who}"
        and row["diagnosis"] == ""
        and row["turns"] == len(c.turns)
    )


HARMLESS = [
    ("patient", ["No."] * 4),
    ("patient", ["No, not at all, doctor."] * 2),
    *(
        ("patient", [text])
        for text in (
            "Can I sit down? Do you think it is my heart?",
            "I don't know. What do you think?",
            "Yes, doctor: it hurts.",
            "Is it serious?",
            "I can't play tennis any more, and I can't help it.",
            "It gets worse. Do you think it's serious?",
            "I won't continue this conversation.",
            "I won't take any more of the tablets.",
            "My doctor: he says it is gout.",
        )
    ),
    ("doctor", ["Yes?"] * 4),
    ("doctor", ["Does it hurt when you climb stairs?"] * 2),
    *(
        ("doctor", [text])
        for text in (
            "I'm sorry to hear that. Where does it hurt?",
            "Are you the patient: yes or no?",
            "I can't hear you well, what was that?",
            "How can I help you today?",
        )
    ),
]


@pytest.mark.parametrize("who, lines", HARMLESS, ids=range(len(HARMLESS)))
def test_what_people_say_breaks_nothing_off(who, lines):
    c, asked = held(**{who: lines})
    assert (c.end, asked) == ("limit", 1) and [
        t[who == "patient"] for t in c.turns[: len(lines)]
    ] == lines


def test_the_commonest_refusal_is_a_refusal():
    assert held(["I'm sorry, but I can't assist with that."])[0].end == "refused"


def test_two_speakers_may_say_the_same():
    c, _ = held([FINE, FINE], [FINE, FINE])
    assert c.end == "limit"


DIAGNOSES = [
    ('{"diagnosis": "Gout"}', "Gout"),
    ('```json\n{"diagnosis": " Gout "}\n```', "Gout"),
    ('{"diagnosis": "Gout, most pro', "Gout, most pro"),
    ("Gout, I think.", "Gout, I think."),
    ('{"diagnosis": ""}', None),
    ('{"diagnosis": "..."}', None),
    ('{"disease": "Gout"}', None),
    ("", None),
    ('{"diagnosis": null}', None),
    ("-", None),
]


@pytest.mark.parametrize("text, diagnosis", DIAGNOSES, ids=range(len(DIAGNOSES)))
def test_a_diagnosis_is_read_or_there_is_none(text, diagnosis):
    c, _ = held(turns=1, last=text)
    assert (c.diagnosis, c.status) == ((diagnosis, "graded") if diagnosis else ("", "unparsed"))
    assert talks.frame([c]).iloc[0]["reply_status"] == ("" if diagnosis else "unparsed")


@pytest.mark.parametrize(
    "reply, status",
    [
        ({"error": "timeout: too late"}, "timeout: too late"),
        ({"finish": "length", "no_answer": "cut off while thinking"}, "cut off while thinking"),
        ({"finish": "content_filter", "no_answer": "filtered"}, "filtered"),
        ({"text": " \n", "no_answer": "blank"}, "blank"),
        ({"refusal": "No."}, "refused"),
        ({"text": "Gout", "finish": "content_filter"}, "refused"),
    ],
)
def test_a_diagnosis_that_does_not_come_has_a_status(reply, status):
    c, _ = held(turns=1, last=Reply("", "m", "", **reply))
    assert (c.end, c.diagnosis, c.status, c.keys[-1]) == ("limit", "", status, "x") and talks.frame(
        [c]
    ).iloc[0]["reply_status"] == status


def test_a_frame_has_what_was_said_and_how_often_it_was_cut():
    cut = Reply("", "m", "", text="I was cut off in the mid", finish="length")
    row = talks.frame([held([cut, "One\nmore?"], [FINE, cut], turns=2)[0]]).iloc[0].to_dict()
    assert (
        row["truncated"] == 2
        and row["turns"] == 2
        and row["names"] == ["Disease A", "A disease"]
        and row["item"] == "case-A plain m"
    )
    assert row["dialogue"].split("\n") == [
        "Doctor: What brings you here today?",
        "Patient: My toe number A hurts.",
        f"Doctor: {cut.text}",
        f"Patient: {FINE}",
        "Doctor: One more?",
        f"Patient: {cut.text}",
    ]
    assert row["said"].split("\n") == ["My toe number A hurts.", FINE, cut.text]


# ---- many at once


def crowd(turns=5):
    return talks.planned(FOUND, {f"c{k}": () for k in range(10)}, ["one", "two"], "p", turns)


@pytest.mark.parametrize("at_once", [3, 10_000])
def test_dialogues_are_held_at_once_and_stay_apart(at_once):
    rng, log, inside, most = random.Random(5), [], set(), []

    def says(what):
        async def say(c):
            name = f"{c.item} {c.doctor}"
            inside.add(name)
            most.append(len(inside))
            log.append(name)
            await asyncio.sleep(rng.random() / 100)
            if what == "diagnosis":
                inside.remove(name)
            return Reply(
                "",
                "m",
                f"{name} {what} {len(c.turns)}",
                text=f"{what} number {len(c.turns)} of {name}",
            )

        return say

    made = crowd()
    asyncio.run(
        talks.hold(made, says("question"), says("answer"), says("diagnosis"), at_once=at_once)
    )
    assert len(made) == 40 and max(most) == min(at_once, 40) and not inside
    assert len(set(log[:at_once])) == min(at_once, 40)  # nobody waits for another's end
    for c in made:
        name = f"{c.item} {c.doctor}"
        assert c.turns == [
            [f"question number {n} of {name}", f"answer number {n + 1} of {name}"] for n in range(5)
        ]
        assert c.keys == [
            f"{name} {k}" for n in range(5) for k in (f"question {n}", f"answer {n + 1}")
        ] + [f"{name} diagnosis 5"]
        assert c.diagnosis == f"diagnosis number 5 of {name}"


def test_an_error_that_stops_one_stops_all_and_comes_out_as_itself():
    went_on = []

    async def doctor(c):
        if c.turns and c.item == "case-B c3" and c.doctor == "one":
            raise StopRun("the budget is used up")
        if c.turns:
            await asyncio.Event().wait()  # for ever, unless it is stopped
            went_on.append(c)
        return Reply("", "m", "k", text="How is it?")

    async def patient(c):
        return Reply("", "m", "k", text="I am well.")

    made = crowd()
    with pytest.raises(StopRun, match="the budget is used up"):
        asyncio.run(talks.hold(made, doctor, patient, doctor))
    assert not went_on and all(
        c.end == "" and c.turns == [["How is it?", "I am well."]] for c in made
    )


# ---- by models


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def bundled(run):
    """Design, two cases and their scripts."""
    return designs.read(run), *(
        sources.load(f"meddialbench_{n}").query("item in ('case-1', 'case-2')")
        for n in ("cases", "scripts")
    )


def played(n, body):
    """Doctor, patient and diagnosis: what they say follows from the messages alone."""
    first, last, mark = (
        body["messages"][0]["content"],
        body["messages"][-1]["content"],
        store.digest(body["messages"])[:8],
    )
    if "The inquiry is over" in last:
        return completion(json.dumps({"diagnosis": f"disease {mark}"}))
    if first.startswith("You play a patient"):
        return completion(f"I have thought of {mark} since.")
    return completion(
        END
        if len(body["messages"]) > 2 and int(mark, 16) % 5 == 0
        else f"Is there anything about {mark} too?"
    )


def said_by(bodies, what):
    """Those requests that a doctor (his questions), a patient or a diagnosis made."""

    def kind(b):
        return (
            "diagnosis"
            if "The inquiry is over" in b["messages"][-1]["content"]
            else (
                "patient"
                if b["messages"][0]["content"].startswith("You play a patient")
                else "doctor"
            )
        )

    return [b for b in bodies if kind(b) == what]


async def by_models(run, design, cases, texts, configurations, turns=3):
    made = talks.planned(cases, configurations, run.models, "served", turns)
    async with run.asking("consultations") as one:
        await talks.hold(made, *talks.by_models(run, one, made, design, texts, 33, 0.7))
    return made


THREE = {"baseline": (), "vague": ("vague",), "C1": ("fabricating", "withholding")}


def test_patients_get_each_dimension_once_and_active_scripts_only(run, bundled, endpoint):
    design, cases, texts = bundled
    endpoint.script = played
    asyncio.run(by_models(run, design, cases, texts, THREE))
    seen = set()
    for b in said_by(endpoint.bodies, "patient"):
        told = b["messages"][0]["content"]
        (case,) = [c for c in cases.itertuples() if c.patient in told]
        levels = tuple(
            r.level for r in texts[texts["item"] == case.item].itertuples() if r.script in told
        )
        seen.add((case.item, levels))
        assert not any(s in told for s in texts.loc[texts["item"] != case.item, "script"])
        assert all(told.count(f"- {k}\n") == 1 for k in case.key_items)
        for d, level in design.severities(levels).items():
            title = design.dimensions[d]["title"]
            assert (
                told.count(f"- {title}: ")
                == 1
                == told.count(f"- {title}: {design.levels[level]['instruction']}")
            )
        assert [m["role"] for m in b["messages"]] == ["system"] + ["user", "assistant"] * (
            len(b["messages"]) // 2 - 1
        ) + ["user"]
        assert [m["content"] for m in b["messages"][1:3]] == [talks.OPENING, case.complaint]
    assert seen == {(i, v) for i in cases["item"] for v in THREE.values()}


def test_doctors_learn_nothing_but_the_dialogue(run, bundled, endpoint):
    design, cases, texts = bundled
    endpoint.script = played
    asyncio.run(by_models(run, design, cases, texts, THREE))
    secret = [
        *sum(cases["key_items"], []),
        *texts["script"],
        *sum(texts["false"], []),
        *(x["instruction"] for x in design.levels.values()),
        *cases["history"],
        *cases["diagnosis"],
    ]
    for b in said_by(endpoint.bodies, "doctor") + said_by(endpoint.bodies, "diagnosis"):
        assert [m["role"] for m in b["messages"]] == ["system"] + ["user", "assistant"] * (
            len(b["messages"]) // 2 - 1
        ) + ["user"]
        whole = "\n".join(m["content"] for m in b["messages"])
        assert not [s for s in secret if s in whole] and b["messages"][1]["content"].split("\n")[
            0
        ] in set(cases["complaint"])
        assert b["temperature"] == 0.7


def test_a_first_question_is_sent_once_for_all_configurations(run, bundled, endpoint):
    design, cases, texts = bundled
    endpoint.script = played
    made = asyncio.run(by_models(run, design, cases, texts, THREE))
    assert len([b for b in said_by(endpoint.bodies, "doctor") if len(b["messages"]) == 2]) == len(
        cases
    )
    assert len({c.keys[0] for c in made}) == 2 and len({c.keys[1] for c in made}) == 6
    assert len(endpoint.bodies) == len({k for c in made for k in c.keys})


def test_a_diagnosis_is_asked_for_in_json_after_the_last_answer(run, bundled, endpoint):
    design, cases, texts = bundled
    endpoint.script = played
    made = asyncio.run(by_models(run, design, cases, texts, THREE))
    asked = said_by(endpoint.bodies, "diagnosis")
    assert len(asked) == len({c.keys[-1] for c in made}) and all(
        b["max_tokens"] == 33 for b in said_by(endpoint.bodies, "patient")
    )
    assert all(
        b["max_tokens"] == talks.TOKENS and b["response_format"] == talks.DIAGNOSIS for b in asked
    )
    last = {b["messages"][-1]["content"].split("\n\n")[0] for b in asked}
    assert last == {c.turns[-1][1] if c.turns else c.case.complaint for c in made}
    assert all(c.diagnosis.startswith("disease ") for c in made)


def told(made):
    return [{k: v for k, v in vars(c).items() if k != "case"} for c in made]


@pytest.mark.parametrize("k", [1, 2, 9, 25])
def test_a_run_stopped_in_the_middle_goes_on_where_it_stopped(run, bundled, endpoint, tmp_path, k):
    design, cases, texts = bundled
    folder, run.recordings = run.recordings.folder, store.Recordings(tmp_path / "whole")
    endpoint.script = played
    whole = asyncio.run(by_models(run, design, cases, texts, THREE))
    every = len(endpoint.bodies)
    assert every > 25

    endpoint.bodies.clear()
    endpoint.script = lambda n, body: played(n, body) if n < k else (401, {}, b"{}")
    run.recordings = store.Recordings(folder)
    with pytest.raises(StopRun, match="refuses the key"):
        asyncio.run(by_models(run, design, cases, texts, THREE))
    before = {r["fields"]["messages"] for r in store.Recordings(folder).records()}
    assert len(before) < k <= len(endpoint.bodies)

    endpoint.bodies.clear()
    endpoint.script, run.recordings = played, store.Recordings(folder)
    again = asyncio.run(by_models(run, design, cases, texts, THREE))
    assert told(again) == told(whole) and len({str(b) for b in endpoint.bodies}) == every - len(
        before
    )  # a late one of before may be counted
    assert not before & {store.digest(b["messages"])[:16] for b in endpoint.bodies}

    endpoint.bodies.clear()
    run.mode, run.recordings = "replay", store.Recordings(folder)
    assert (
        told(asyncio.run(by_models(run, design, cases, texts, THREE))) == told(whole)
        and not endpoint.bodies
    )


def test_replay_says_which_consultation_was_never_recorded(run, bundled, endpoint):
    design, cases, texts = bundled
    endpoint.script = played
    asyncio.run(by_models(run, design, cases, texts, THREE))
    run.mode = "replay"
    with pytest.raises(models.MissingRecording, match="item 'case-1 dominant'"):
        asyncio.run(by_models(run, design, cases[:1], texts, {**THREE, "dominant": ("dominant",)}))


def test_a_plan_has_every_turn_of_every_dialogue(run, bundled, endpoint):
    design, cases, texts = bundled
    run.mode = "plan"
    made = asyncio.run(by_models(run, design, cases, texts, THREE))
    # 6 consultations of 3 questions, 3 answers and a diagnosis; a case's first question is the
    # same in all three
    assert (
        len({r.key for r in run._planned}) == 6 * 7 - 4
        and not endpoint.bodies
        and not run.recordings.folder.exists()
    )
    assert {(c.end, len(c.turns)) for c in made} == {("limit", 3)}


def test_a_models_limits_hold_for_its_dialogues(run, bundled, endpoint, monkeypatch):
    design, cases, texts = bundled
    endpoint.script = played
    for key, value in (
        ("most_tokens", 50),
        ("most_tokens_turn", 21),
        ("most_turns", 2),
        ("most_dialogues", 1),
    ):
        monkeypatch.setitem(registry.entries()["served"], key, value)
    here = study.SetUp(design, cases, texts, len(cases))
    made, frame = asyncio.run(
        study.consultations(run, here, THREE, patient="", turns=5, turn_tokens=33, temperature=0.7)
    )
    assert {b["max_tokens"] for b in endpoint.bodies} == {21} and len(frame) == len(made) == 12
    mine = [c for c in made if c.doctor == "served"]
    assert all(len(c.turns) <= 2 == c.most for c in mine) and {
        c.most for c in made if c.doctor == rules.NAME
    } == {5}
    one_by_one = [
        k
        for k, _ in itertools.groupby(
            b["messages"][0]["content"] for b in said_by(endpoint.bodies, "patient")
        )
    ]
    assert len(one_by_one) == len(set(one_by_one))


def test_a_model_may_be_the_patient_of_another(run, bundled, endpoint, monkeypatch):
    design, cases, texts = bundled
    endpoint.script = played
    monkeypatch.setitem(
        registry.entries(),
        "shy",
        {**registry.entries()["served"], "model": "shy-1", "most_turns": 1, "most_tokens_turn": 7},
    )
    made, frame = asyncio.run(
        study.consultations(
            run,
            study.SetUp(design, cases, texts, len(cases)),
            {"baseline": ()},
            patient="shy",
            turns=5,
            turn_tokens=33,
            temperature=0,
        )
    )
    assert {(b["model"], b["max_tokens"]) for b in said_by(endpoint.bodies, "patient")} == {
        ("shy-1", 7)
    }
    assert {(b["model"], b["max_tokens"]) for b in said_by(endpoint.bodies, "doctor")} == {
        ("asked-2026-01-01", 33)
    }
    assert frame.loc[frame["model"] == "served", "turns"].max() == 1 and set(frame["patient"]) == {
        "shy",
        rules.NAME,
    }


# ---- a refusal is no diagnosis

STATED = [
    ('{"diagnosis": "Gout"}', "Gout"),
    ('{"diagnosis": "Gou', "Gou"),
    ("Gout", "Gout"),
    ("The most likely diagnosis is gout.", "The most likely diagnosis is gout."),
    ('{"diagnosis": ""}', None),
    ('{"answer": "Gout"}', None),
    ("", None),
    ("...", None),
    ("I'm sorry, I can't.", None),
    ("As an AI I give no diagnosis.", None),
]


@pytest.mark.parametrize("text, found", STATED, ids=range(len(STATED)))
def test_a_diagnosis_is_taken_out_of_its_reply(text, found):
    assert talks.stated(text) == found
