"""What becomes of a call, whoever answers: the same directly, in a dialogue, and by a batch."""

import asyncio
import contextlib
import http.client
import json
from collections import Counter, defaultdict
from urllib.parse import urlsplit

import pytest

import providers
from bedside import BedsideError
from calling import KEY, World, failed, request, result
from conftest import SILENT, completion

# What entries need so that a provider takes their calls, and room for thoughts.
TEMPERATURE, ROOM = {"omit": ["temperature"]}, {"reasoning_tokens": 3000}
REASONS = {"max_tokens_name": "max_completion_tokens", **TEMPERATURE, **ROOM}
ENTRIES = defaultdict(dict) | {
    "openai-reasoning": {"model": "gpt-6", **REASONS},
    "azure": REASONS,
    "anthropic": {"model": "claude-opus-5", **TEMPERATURE, **ROOM},
    "anthropic-4": {"model": "claude-sonnet-4"},
    "google": {"model": "gemini-3", **ROOM},
    "deepseek": {"model": "deepseek-flash", **ROOM},
    "mistral": {"model": "mistral-medium"},
    "qwen": {"model": "qwen3"},
    "together": {"model": "a/model"},
    "openrouter": {"model": "a/model"},
    "openai": {"model": "gpt-4.1"},
    "vllm-thinking": ROOM,
    "vllm-opened": {"think": ["<think>", "</think>"], **ROOM},
    "vllm-gemma": {"system": "user"},
}
LONG = "a word " * 5_000
CASES = {  # what is asked, in which words the endpoint finds what to do
    "plain": "What helps?",
    "flagged": f"Now {providers.FLAGGED}.",
    "too long": LONG,
    "no credit": "case quota",
    "no model": "case gone",
    "slow": "case 429, then an answer",
}
# By persona, where it isn't what most do.
USUAL = {
    "plain": "",
    "flagged": "",
    "too long": "context too long",
    "no credit": "no credit",
    "no model": "no such model",
    "slow": "",
    "key": "key refused",
}
OWN = {
    **dict.fromkeys(("azure", "azure-plain", "qwen", "openrouter"), {"flagged": "filtered"}),
    **{n: {"key": ""} for n, p in providers.PERSONAS.items() if not p.key},
}


@pytest.fixture
def provider(tmp_path, monkeypatch):
    with providers.Providers() as provider:
        monkeypatch.setattr(providers, "KEY", KEY)
        monkeypatch.setattr(providers, "WINDOW", 9_000)

        def failing(body):
            said = body["messages"][-1]["content"]
            return {"case quota": "quota", "case gone": 404}.get(said)

        def spoilt(body, n):
            slow = body["messages"][-1]["content"] == CASES["slow"] and n == 1
            return "429 with Retry-After" if slow else ""

        provider.failing, provider.spoilt = failing, spoilt
        yield provider


@pytest.fixture
def asking(tmp_path, monkeypatch, provider):
    (tmp_path / "checkout").mkdir()
    yield World(tmp_path / "checkout", monkeypatch, provider)
    monkeypatch.undo()


def kind(status):
    return status.partition(":")[0]


def directly(asking):
    """{case: kind of outcome} of `bedside.ask`, and the answers."""
    rows = asking.ask(CASES, max_tokens=400)
    return {r.item: kind(r.reply_status) for r in rows}, {r.item: r.answer for r in rows}


def in_dialogues(asking):
    """The same of the second turn of a dialogue; its first one is an answer."""

    async def turns(one, name):
        system = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}]
        first = await one(request(f"{name} 1", system, max_tokens=400))
        said = [*system, {"role": "assistant", "content": first.text}]
        said += [{"role": "user", "content": CASES[name]}]
        second = await one(request(name, said, max_tokens=400))
        assert first.text and not first.why
        return kind(second.why)

    tasks = [lambda one, name=name: turns(one, name) for name in CASES]
    return dict(zip(CASES, asking.talk(*tasks)))


def posted(url, body, key=KEY):
    """(status, parsed answer or its text) of a call."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", f"{place.path}/chat/completions", json.dumps(body), headers)
    response = connection.getresponse()
    try:
        text = response.read()
    except http.client.IncompleteRead as e:
        text = e.partial
    connection.close()
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text.decode()


def by_batch(asking, cases, url, max_tokens=400):
    """{case: kind of outcome} of a batch's lines, each answered as a call is; and the answers."""
    lines = asking.request_file(cases, max_tokens=max_tokens)
    items = {json.dumps(v)[:60]: k for k, v in cases.items()}
    outcomes = {}
    for line in lines:
        name = items[json.dumps(line["body"]["messages"][-1]["content"])[:60]]
        status, body = posted(url, line["body"])
        while status == 429 and kind(name) == "slow":  # a batch waits by itself
            status, body = posted(url, line["body"])
        outcomes |= failed(asking.collect([result(line, status, body)])) or {name: ""}
    there = {i: p for i, p in cases.items() if not outcomes[i]}
    rows = asking.ask(there, max_tokens=max_tokens, mode="replay", recordings="cancer_myth/sample")
    outcomes |= {r.item: kind(r.reply_status) for r in rows}
    return outcomes, {r.item: r.answer for r in rows}


@pytest.mark.parametrize("persona", providers.PERSONAS)
def test_each_provider_is_understood_by_each_way(asking, provider, monkeypatch, persona):
    url = provider.at(persona)
    asking.model(base_url=url, api_key_env="TEST_KEY", max_concurrency=1, **ENTRIES[persona])
    expected = {**USUAL, **OWN.get(persona, {})}
    key = expected.pop("key")
    direct, answers = directly(asking)
    assert direct == expected
    asking.ask({k: v for k, v in CASES.items() if not expected[k]}, max_tokens=400, mode="replay")
    assert not any("hmm" in a or "Score: 1" in a for a in answers.values())  # thoughts
    assert in_dialogues(asking) == expected
    asking.elsewhere("batch")
    batch, theirs = by_batch(asking, CASES, url)
    assert batch == expected
    assert theirs == {k: a for k, a in answers.items() if k in theirs}
    monkeypatch.setenv("TEST_KEY", "not-the-right-key-0123456789")
    asked, before = {f"{k}": f"another {k}" for k in range(5)}, len(provider.bodies)
    stops = pytest.raises(BedsideError, match="refuses the key .* check TEST_KEY")
    with stops if key else contextlib.nullcontext():
        asking.ask(asked, max_tokens=400)
    assert len(provider.bodies) - before == (1 if key else 5)


# ---- faults that may pass

LASTS = {  # what each of `providers.FAULTS` is if it stays; the others are answers
    **dict.fromkeys(("429 with Retry-After", "429"), "rate limit"),
    **dict.fromkeys(("500", "503", "error in 200"), "endpoint's fault"),
    **dict.fromkeys(("finish error", "finish network_error"), "endpoint's fault"),
    **dict.fromkeys(("no JSON", "choices", "integer"), "bad answer"),
    "cut": "connection lost",
    "blank": "blank",  # an outcome: it is recorded, and isn't asked for again
    "error object in 200": "bad request",
}
ONCE = ("blank", "error object in 200", *providers.GOOD)  # not tried again
IN_BATCH = {"cut": "bad answer", "503": "endpoint's fault", "no JSON": "bad answer"}


def test_a_fault_that_passes_is_tried_again_one_that_stays_is_told(asking, provider):
    """Each kind before an answer, and for good; an answered call between resets what is alike."""
    asking.model(base_url=provider.at("vllm"), max_concurrency=1)
    passing = {f"{f} once": f"{f}; once" for f in providers.FAULTS}
    lasting = {f"{f} stays": f"{f}; stays" for f in providers.FAULTS}
    lasting = {k: v for f, p in lasting.items() for k, v in ((f, p), (f"well {f}", f"well {f}"))}
    calls = Counter()

    def spoilt(body, n):
        name, _, how = body["messages"][-1]["content"].partition("; ")
        calls[name, how] += 1
        return name if how and (how == "stays" or n == 1) else ""

    provider.spoilt = spoilt
    rows = asking.ask(passing, max_tokens=400)
    assert {r.item.removesuffix(" once") for r in rows if r.reply_status} == {*ONCE} & {*LASTS}
    assert all(calls[f, "once"] == 1 + (f not in ONCE) for f in providers.FAULTS)
    rows = asking.ask(lasting, max_tokens=400)
    found = {r.item: kind(r.reply_status) for r in rows}
    expected = {f"{f} stays": LASTS.get(f, "") for f in providers.FAULTS}
    assert found == {n: expected.get(n, "") for n in lasting}
    assert all(calls[f, "stays"] == (1 if f in ONCE else 6) for f in LASTS)
    recorded = {r["item"] for r in asking.recorded()} - {*passing}
    assert recorded == {n for n, k in found.items() if k in ("", "blank")}

    async def task(one):
        return {n: kind((await one(request(n, p, max_tokens=400))).why) for n, p in lasting.items()}

    asking.elsewhere("dialogue")
    assert asking.talk(task) == [found]
    asking.elsewhere("batch")
    batch, _ = by_batch(asking, lasting, provider.at("vllm"))
    assert batch == found | {f"{f} stays": k for f, k in IN_BATCH.items()}


@pytest.mark.parametrize("says_when", [True, False], ids=["Retry-After", "nothing said"])
def test_a_limit_of_requests_loses_nothing(asking, provider, says_when):
    asking.model(base_url=provider.at("vllm"), max_concurrency=8)
    provider.per_minute, provider.minute, provider.retry_after = 30, 0.5, says_when
    asking.second(0.5 / 60)
    rows = asking.ask(*range(75), max_tokens=400)
    assert not any(r.reply_status for r in rows)
    assert Counter(e.kind for e in provider.log)[""] == 75


def test_a_third_of_faults_of_all_kinds_spoils_nothing(asking, provider):
    """What is kept was sent whole, nothing was paid twice, and who failed is asked once more."""
    asking.model(base_url=provider.at("vllm"), max_concurrency=8)
    sent = defaultdict(list)

    def spoilt(body, n):
        rng = providers.rng_of("fault", body["messages"], n)
        return rng.choice(list(providers.FAULTS)) if rng.random() < 0.3 else ""

    provider.spoilt = spoilt
    for _ in range(2):
        rows = asking.ask(*range(100), max_tokens=400)
    for e in provider.log:
        if e.kind in (*providers.GOOD, "blank"):
            sent[e.body["messages"][-1]["content"]].append(e.text)
    assert sum(r.reply_status == "" for r in rows) > 75
    for r in (r for r in rows if ":" not in r.reply_status):
        assert len(sent[f"question {r.item}"]) == 1, r  # paid for once, and answered in the end
        assert r.answer.strip() == sent[f"question {r.item}"][0].strip()


# ---- what an answer's form says

ANSWERS = {  # what came: (the outcome, whether it was cut, the text)
    "whole": (completion("fine"), ("", False, "fine")),
    "parts": (
        completion([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "fi"}, "ne"]),
        ("", False, "fine"),
    ),
    "any end": (completion("fine", "eos"), ("", False, "fine")),
    "cut": (completion("half a", "length"), ("", True, "half a")),
    "cut, Mistral": (completion("half a", "model_length"), ("", True, "half a")),
    "cut, Gemini": (completion("half a", "MAX_TOKENS"), ("", True, "half a")),
    "context full": (completion("half", "model_context_window_exceeded"), ("", True, "half")),
    "recitation": (completion("half", "content_filter: RECITATION"), ("filtered", False, "half")),
    "safety": (completion("half", "SAFETY"), ("filtered", False, "half")),
    "refusal": (completion("No.", "refusal"), ("refused", False, "No.")),
    "function": (completion("half", "function_call"), ("tool calls", False, "half")),
    "null": (completion(None), ("blank", False, "")),
    "unicode": (completion("é\u2028 \x00"), ("", False, "é\u2028 \x00")),
    "surrogate": (completion("lone \ud83d end"), ("", False, "lone \ufffd end")),
    "script": (completion("<script>{{ 7*7 }} =1+1"), ("", False, "<script>{{ 7*7 }} =1+1")),
    "long": (completion("x" * 1_000_000), ("", False, "x" * 1_000_000)),
    **{
        name: (made, (name, False, made["choices"][0]["message"].get("content") or ""))
        for name, made in SILENT.items()
        if name not in ("refused", "blank")
    },
}


def test_what_came_is_what_it_is_by_each_way_and_in_each_replay(world, endpoint):
    prompts = {name: name for name in ANSWERS}
    endpoint.script = lambda n, body: ANSWERS[body["messages"][0]["content"]][0]
    found = world.ask(prompts)
    for row in found:
        status, cut, text = ANSWERS[row.item][1]
        assert (row.reply_status, row.truncated) == (status, cut), row.item
        assert row.answer == text, row.item
    assert world.ask(prompts, mode="replay") == found and len(endpoint.bodies) == len(ANSWERS)
    kept = {r["item"]: r for r in world.recorded()}
    world.elsewhere("batch")
    world.collect(
        result(x, 200, ANSWERS[x["body"]["messages"][0]["content"]][0])
        for x in reversed(world.request_file(prompts))
    )
    assert world.ask(prompts, mode="replay", recordings="cancer_myth/sample") == found
    way = ("date", "latency_s", "batch")
    for r in world.recorded():
        mine, theirs = ({k: v for k, v in x.items() if k not in way} for x in (r, kept[r["item"]]))
        assert mine == theirs


def test_a_refusal_of_its_own_is_recorded_as_one(world, endpoint):
    endpoint.script = lambda n, body: completion(None, refusal="I can't.")
    for mode in ("record", "replay"):
        (row,) = world.ask("a", mode=mode)
        assert (row.reply_status, row.answer) == ("refused", "I can't.")


# ---- what would fail again and again, and what fails alone


def test_three_failures_alike_stop_a_run_in_the_provider_s_words_and_lose_nothing(world, endpoint):
    """One that is its own request's doing stops nothing."""
    alone = {"message": "This model's maximum context length is 9 tokens."}
    world.model(max_concurrency=1)
    endpoint.script = lambda n, body: completion() if n < 4 else (404, {}, {"error": alone})
    stops = {"message": "There is no model like this one."}
    endpoint.script = lambda n, body: completion() if n < 4 else (404, {}, {"error": stops})
    with pytest.raises(BedsideError, match=r"no such model \(404\): There is no model like this"):
        world.ask(*range(40))
    assert len(endpoint.bodies) == 6 and len(world.recorded()) == 3
    endpoint.script = lambda n, body: (400, {}, {"error": alone})
    rows = world.ask(*range(40))
    assert [kind(r.reply_status) for r in rows] == [""] * 3 + ["context too long"] * 37
    endpoint.script = lambda n, body: completion()
    assert not any(r.reply_status for r in world.ask(*range(40)))  # none was recorded


def test_replies_that_came_are_kept_when_a_task_fails_or_is_left(world, endpoint):
    endpoint.script = lambda n, body: (
        "hang" if body["messages"][0]["content"] == "hangs" else completion()
    )
    left = []

    async def fails(one):
        left.append(asyncio.ensure_future(one(request("hung", "hangs"))))
        for k in "abc":
            await one(request(k, k))
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        world.talk(fails)
    assert left[0].cancelled() and {r["item"] for r in world.recorded()} == set("abc")


def test_what_was_recorded_as_whole_and_was_broken_off_is_no_answer(world, endpoint):
    """By a version that didn't know the reason."""
    world.ask("a")
    (path,) = world.recordings()
    path.write_bytes(path.read_bytes().replace(b'"stop"', b'"network_error"'))
    assert world.ask("a", mode="replay")[0].reply_status == "broken off"


def test_without_its_key_a_model_is_not_called(world, endpoint):
    world.model(api_key_env="BEDSIDE_NO_SUCH_KEY")
    with pytest.raises(BedsideError, match="BEDSIDE_NO_SUCH_KEY"):
        world.ask("a")
    assert not endpoint.bodies


def test_a_server_that_never_answers_ends(world, endpoint):
    world.model(timeout_s=0.2)
    world.retries(1)
    endpoint.script = lambda n, body: "hang"
    (row,) = world.ask("a")
    assert row.reply_status.startswith("timeout: ") and len(endpoint.bodies) == 2
