"""What is recorded is replayed; a key holds all that can change an answer and nothing else."""

import asyncio
import csv
import hashlib
import itertools
import json
import tomllib
from pathlib import Path

import pytest

from bedside import BedsideError
from calling import fields_of_entries, request, sent
from conftest import completion

FORM = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {}}}
SCORE = {"type": "object", "properties": {"score": {"enum": [0, 1]}}, "required": ["score"]}
ASKED_FORM = {**FORM, "json_schema": {**FORM["json_schema"], "schema": SCORE}}
PROMPT = [{"role": "user", "content": "why?"}]
ASKED = {"max_tokens": 9, "temperature": 0.0, "seed": 1}


def echo(n, body):
    return completion("to " + body["messages"][-1]["content"])


def test_replies_come_in_order_are_recorded_and_replayed(world, endpoint):
    endpoint.script = echo
    rows = world.ask(*"edcba")
    assert [(r.item, r.answer) for r in rows] == [(i, f"to question {i}") for i in "edcba"]
    assert not any(r.reply_status or r.truncated for r in rows)
    assert world.ask(*"edcba", mode="replay") == rows == world.ask(*"edcba")
    assert len(endpoint.bodies) == 5 and {r["item"] for r in world.recorded()} == set("edcba")
    (kept,) = {r["returned_model"] for r in world.recorded()}
    assert kept == "served-2026-01-01"
    assert "question" not in str([r["fields"] for r in world.recorded()])  # prompts are digests


def test_what_several_ask_is_sent_once(world, endpoint):
    rows = world.ask({i: "the same" for i in "abcde"})
    assert [r.item for r in rows] == list("abcde") and len(endpoint.bodies) == 1

    async def task(one):
        return [await one(request(i, "another")) for i in "xy"]

    replies = world.talk(task, task, task)
    assert [r.item for both in replies for r in both] == list("xy") * 3
    world.talk(task, profile="public")  # profiles share replies
    assert len(endpoint.bodies) == 2


def test_asking_freshly_calls_once_more_and_the_newest_wins(world, endpoint):
    endpoint.script = lambda n, body: completion(f"answer {n}")
    world.ask("a")
    assert world.ask("a", mode="fresh")[0].answer == "answer 2"
    assert world.ask("a", mode="replay")[0].answer == "answer 2"

    async def task(one):
        return [(await one(request("b", "twice"))).text for _ in range(2)]

    assert world.talk(task, mode="fresh") == [["answer 3"] * 2]  # in one run it is asked once


def test_a_gap_in_a_replay_names_the_item_what_differs_and_the_way_out(world, endpoint):
    """The nearest recording counts; of prompts only that they differ."""
    world.ask("a")
    world.ask("a", temperature=0.7, max_tokens=30)
    for more, differs in (
        ({"temperature": 0.5}, "temperature (0.0 recorded, 0.5 asked)"),
        ({"temperature": 0.7, "max_tokens": 9}, "max_tokens (30 recorded, 9 asked)"),
    ):
        with pytest.raises(BedsideError) as told:
            world.ask("a", mode="replay", **more)
        for words in ("'a'", f"differs in {differs}", "MODE=record", "make plan"):
            assert words in str(told.value)
    with pytest.raises(BedsideError, match=r"'a'.*differs in messages\."):
        world.ask({"a": "another"}, mode="replay")
    with pytest.raises(BedsideError, match="'zzz'.*no recording of this item at all"):
        world.talk(lambda one: one(request("zzz", "never asked")), mode="replay")
    assert len(endpoint.bodies) == 2


def test_a_plan_sends_nothing_and_goes_on_with_something_of_the_shape_asked_for(world, endpoint):
    items = {"type": "array", "minItems": 2, "items": {"type": "string"}}
    level = {"type": "string", "enum": ["low", "high"]}
    schema = {"type": "object", "properties": {"questions": items, "level": level}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    run = world.run(mode="plan")

    async def task():
        return await run.ask([request("a", "x"), request("b", "x", form=form)])

    plain, formed = asyncio.run(task())
    made = json.loads(formed.text)
    assert plain.text and len(set(made["questions"])) == 2 and made["level"] in ("low", "high")
    assert not endpoint.bodies and not world.recordings() and len(run.planned()) == 2


# ---- the key


def keys(world, *made, **fields):
    """Keys of requests once a model's entry has these fields too."""
    world.model(**fields)
    both = [{"role": "system", "content": "be brief"}, *PROMPT]
    return [made.key for made in (made or [request("a", both, form=FORM, **ASKED)])]


FIELDS = tomllib.loads(Path(__file__).with_name("entry_fields.toml").read_text(encoding="utf-8"))


def test_all_of_an_entry_that_can_change_an_answer_changes_the_key(world):
    usual, known = dict(world.entries["mine"]), set()
    for more in [{}, *FIELDS["changes"]]:
        world.entries["mine"] = usual
        (made,) = keys(world, **more)
        assert made not in known, more
        known.add(made)


def test_keys_prices_and_limits_do_not(world, monkeypatch):
    usual = dict(world.entries["mine"])
    for more in FIELDS["changes_nothing"]:
        world.entries["mine"] = usual
        before = keys(world, **({"extra_body": {"more": []}} if "extra_body" in more else {}))
        for value in ("one", "two"):
            monkeypatch.setenv("MINE", value)
            assert keys(world, **more) == before, more
        assert keys(world, **json.loads(json.dumps(more).replace("MINE", "OTHER"))) == before, more
    both = FIELDS["changes"] + FIELDS["changes_nothing"]
    assert {k for more in both for k in more} == fields_of_entries()


def test_a_providers_own_address_is_none_of_the_key_and_another_one_is(world):
    def at(url, **more):
        return keys(world, provider="openai", base_url=url, **more)[0]

    own, elsewhere = at("https://api.openai.com/v1"), at("https://host.example.org/v1")
    assert own == at("https://api.openai.com/v2") != elsewhere
    assert len({own, elsewhere, at("https://b.org/v1"), at("https://api.openai.com.b.org/v1")}) == 4
    revised = at("https://host.example.org/v1", revision="r")
    assert at("https://b.org/v1") == revised != elsewhere  # a revision says what it is


KEPT = Path(__file__).with_name("keys.csv")  # of entries: digests of bodies and keys
SYSTEM_TOO = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "ü \ud83d"}]
SETTINGS = (
    {},
    {"max_tokens": 100},
    {"max_tokens": 100, "temperature": 0, "seed": 1, "frequency_penalty": 0.2, "top_p": 1},
)


def digest_of(name):
    """Of all that is sent, and of the keys, when a model gets requests of each kind."""
    kinds = itertools.product((PROMPT, SYSTEM_TOO), SETTINGS, (None, ASKED_FORM), (0, 2))
    made = (request("a", m, name, form, repeat, **s) for m, s, form, repeat in kinds)
    told = json.dumps([[sent(r), r.key] for r in made], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def test_what_is_sent_and_keys_stay_as_they_were_for_each_bundled_entry(monkeypatch):
    """24 requests of each; a line goes where an entry is changed on purpose."""
    monkeypatch.setenv("AZURE_OPENAI_RESOURCE", "of-a-test")
    rows = list(csv.DictReader(KEPT.open(encoding="utf-8")))
    assert len(rows) > 40 and len({row["sha256"] for row in rows}) == len(rows)  # none shares keys
    for row in rows:
        assert digest_of(row["model"]) == row["sha256"], row["model"]


# ---- what is sent


def test_a_call_has_what_its_entry_says(world, endpoint, monkeypatch):
    monkeypatch.setenv("MINE", "1")
    usual, prompt = dict(world.entries["mine"]), "${MINE} {{ 7 * 7 }}"  # which is never filled in
    for more, body in FIELDS["sent"]:
        world.entries["mine"] = usual
        world.model(**more)
        world.talk(lambda one: one(request("a", prompt, **ASKED)), mode="fresh")
        messages = [{"role": "user", "content": prompt}]
        assert endpoint.bodies[-1] == {"model": "asked-2026-01-01", "messages": messages, **body}


@pytest.mark.parametrize("form", ["json_schema", "json_object", "none"])
def test_a_model_without_schemas_is_asked_for_its_json_in_words(world, form):
    world.model(response_format=form)
    body = sent(request("a", "why?", form=ASKED_FORM))
    words = body["messages"][0]["content"]
    assert words.startswith("why?") and ('"score"' in words) == (form != "json_schema")
    expected = {"json_schema": ASKED_FORM, "json_object": {"type": "json_object"}, "none": None}
    assert body.get("response_format") == expected[form]


SYSTEM, USER, MODEL = (
    {"role": r, "content": f"the {r}'s"} for r in ("system", "user", "assistant")
)


@pytest.mark.parametrize(
    "messages", [[SYSTEM, USER, MODEL, USER], [SYSTEM, MODEL, USER], [SYSTEM], [USER]]
)
def test_a_model_without_a_system_role_gets_what_it_says_from_the_user(world, messages):
    world.model(system="user")
    body = sent(request("a", messages))
    roles = [m["role"] for m in body["messages"]]
    texts = "\n\n".join(m["content"] for m in body["messages"])
    assert "system" not in roles and texts == "\n\n".join(m["content"] for m in messages)
    assert all(a != b for a, b in itertools.pairwise(roles)) and roles[0] == "user"


def test_what_is_sent_decides_what_is_replayed(world, endpoint):
    """An entry that gets a line keeps the recordings of calls that are the same with it."""
    made = lambda: [request("a", [USER]), request("b", [SYSTEM, USER])]

    async def task(one):
        return [(await one(r)).recorded for r in made()]

    assert world.talk(task) == [[False, False]]
    world.model(system="user")
    assert world.talk(task) == [[True, False]] and len(endpoint.bodies) == 3


def test_a_bare_prompt_goes_out_and_comes_back_as_text(world, endpoint):
    """Radiation's open models got no chat template; what is kept of the prompt is a digest."""
    world.model(api="completions", response_format="none")
    bare = {"index": 0, "finish_reason": "stop", "text": "fine"}
    endpoint.script = lambda n, body: {**completion(), "choices": [bare]}
    (reply,) = world.talk(lambda one: one(request("a", [SYSTEM, USER], max_tokens=500)))
    prompt, most = "the system's\n\nthe user's", {"max_tokens": 500, "temperature": 0}
    assert endpoint.bodies == [{"model": "asked-2026-01-01", "prompt": prompt, **most}]
    assert (reply.text, reply.finish, reply.prompt_tokens) == ("fine", "stop", 10)
    (kept,) = world.recorded()
    assert kept["fields"]["api"] == "completions" and "user's" not in str(kept["fields"])


# ---- how a reply is read


def test_what_a_model_thought_is_recorded_but_is_not_what_it_says(world, endpoint):
    for n, (think, text, answer) in enumerate(FIELDS["thoughts"]):
        world.model(think=None if think == "none" else think)
        endpoint.script = lambda n, body, text=text: completion(text)
        for mode in ("record", "replay"):
            (row,) = world.ask(n, mode=mode)
            assert (row.answer, row.reply_status) == (answer, "" if answer else "blank"), text
        assert world.recorded()[n]["text"] == text


def test_a_retired_model_replays_but_is_not_called(world, endpoint):
    world.ask("a")
    world.model(retired="2026-06-15", instead="a-newer-one")
    assert world.ask("a")[0].answer == "fine"
    with pytest.raises(BedsideError, match="retired on 2026-06-15; use 'a-newer-one' instead"):
        world.ask("a", "b")
    assert len(endpoint.bodies) == 1
