"""Entries of data/models.toml: what is wrong with one is said, what is sent, what makes the key."""

import asyncio
import json

import pytest

from bedside import BedsideError
from bedside.asking import models
from bedside.build import settings
from bedside.keep import registry, replies, store
from bedside.keep.registry import StopRun
from bedside.keep.replies import Request
from bedside.read import paths
from conftest import ask_for, completion

FORM = replies.response_format("verdict", score={"type": "integer", "enum": [-1, 0, 1]})
MESSAGES = [{"role": "user", "content": "why?"}]


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """A function that reads the registry out of a text; entries without a header get one."""

    def read(text):
        head = "" if text.startswith("[") else '[mine]\nprovider = "x"\nmodel = "m"\n'
        url = "" if "base_url" in text or head == "" else 'base_url = "http://x/v1"\n'
        (tmp_path / "models.toml").write_text(head + url + text)
        (tmp_path / "profiles.toml").write_text((paths.DATA / "profiles.toml").read_text())
        monkeypatch.setattr(paths, "DATA", tmp_path)
        registry._read.cache_clear()
        return registry.entries()

    yield read
    registry._read.cache_clear()


@pytest.mark.parametrize(
    "text, said",
    [
        ("max_concurency = 4", "unknown key 'max_concurency'; did you mean 'max_concurrency'"),
        ("temperature = 1", "unknown key 'temperature'"),
        ('max_concurrency = "4"', "max_concurrency = '4' should be a whole number"),
        ("max_concurrency = true", "max_concurrency = True should be a whole number"),
        ("max_concurrency = 0", "max_concurrency = 0 allows nothing"),
        ("requests_per_minute = 0", "requests_per_minute = 0 allows nothing"),
        ("reasoning_tokens = 0.5", "reasoning_tokens = 0.5 should be a whole number"),
        ("timeout_s = -1", "timeout_s = -1"),
        ("usd_per_million_in = nan", "usd_per_million_in = nan"),
        ("tokens_per_minute = inf", "tokens_per_minute = inf"),
        ("usd_per_million_in = 1", "usd_per_million_out missing"),
        ('omit = "seed"', "omit = 'seed' should be a list"),
        ('settings = "low"', "settings = 'low' should be a table"),
        ('response_format = "json"', "response_format is one of json_schema, json_object, none"),
        ('api = "completion"', "api is one of chat, completions"),
        ('api = "completions"', 'in words alone: response_format = "none"'),
        ('think = ["<think>"]', "an opening and a closing tag"),
        ('think = ["<think>", ""]', "an opening and a closing tag"),
        ('[gpt-5.x]\nprovider = "x"', r'a name with a dot must be quoted: ["gpt-5.x"]'),
        ('[a]\nprovider = "x"', "base_url, model missing"),
        ('[a]\nprovider = "local"', "model missing"),
        ("[a]", "provider, base_url, model missing"),
        ('["a"\n', "models.toml"),
        # keys
        ('api_key = "abc"', "api_key_env names its variable"),
        ('api_key_env = "sk-abc-123456789"', "api_key_env is the name of an environment variable"),
        ('headers = { Authorization = "Bearer x" }', "a key stands in it"),
        ('headers = { x-api-key = "0123456789" }', "a key stands in it"),
        ('query = { key = "0123456789" }', "a key stands in it"),
        ('headers = { x-portkey-api-key = "0123456789" }', "a key stands in it"),
        ('headers = { X-APIKEY = "0123456789" }', "a key stands in it"),
        ('headers = { Helicone-Auth = "0123456789" }', "a key stands in it"),
        ('query = { myKey = "0123456789", accessToken2 = "x" }', "a key stands in it"),
        ('extra_body = { user = "sk-proj-0123456789abcdef" }', "a key stands in it"),
        ('about = "mine is AIzaSyA0123456789abcdefghijklm"', "a key stands in it"),
        ('base_url = "https://me:secret@x/v1"', "base_url holds a password"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(reads, text, said):
    with pytest.raises(BedsideError) as e:
        reads(text)
        (name,) = registry.faulty()
        registry.model("gpt-5.x" if "gpt-5.x" in text else name)
    assert said in str(e.value) and "models.toml" in str(e.value)


def test_a_wrong_entry_spoils_no_other(reads):
    good = '[good]\nprovider = "x"\nmodel = "m"\nbase_url = "http://x/v1"\n'
    reads(f"{good}[bad]\n{good.partition(chr(10))[2]}max_concurency = 4\n")
    assert registry.model("good")["model"] == "m" and [*registry.entries()] == ["good"]
    for what in (registry.model, lambda name: settings.validated(models=name)):
        with pytest.raises(BedsideError, match=r"models.toml, \[bad\]: unknown key"):
            what("bad")


def test_an_unknown_model_is_answered_by_the_nearest_and_how_to_add_it(reads):
    reads(
        'provider = "x"\n'.join(
            f'[model-{n}]\nmodel = "m"\nbase_url="http://x"\n' for n in "abcdef"
        )
        + 'provider = "x"'
    )
    for what in (registry.model, lambda name: settings.validated(models=name)):
        with pytest.raises(BedsideError) as e:
            what("model-a.1")
        assert "did you mean 'model-a' or " in str(e.value) and str(e.value).count("'model-") == 4
        assert 'write an entry ["model-a.1"]' in str(e.value)
        assert "docs/your_model.md" in str(e.value)


@pytest.mark.parametrize(
    "text",
    [
        'headers = { Authorization = "Bearer ${MINE}", x-title = "a title" }',
        'headers = { x-portkey-provider = "@mine", x-max-tokens = "9", author = "me" }',
        'query = { key = "${MINE}", api-version = "2026-01-01" }',
        'base_url = "https://me:${MINE}@x/v1"',
        "think = []",
        "usd_per_million_in = 1\nusd_per_million_out = 2.5",
        '["a.b"]\nprovider = "local"\nmodel = "m"',
    ],
)
def test_what_an_entry_may_say(reads, text):
    assert len(reads(text)) == 1


# ---- what is sent


@pytest.fixture
def entry(served, monkeypatch):
    """A function that adds to the entry of a served model."""

    def add(**more):
        monkeypatch.setitem(registry.entries(), served, {**registry.model(served), **more})
        return served

    return add


ASKED = {"max_tokens": 24, "temperature": 0, "seed": 1}


@pytest.mark.parametrize(
    "more, body",
    [
        ({}, {**ASKED, "response_format": FORM}),
        (
            {"settings": {"temperature": 1, "reasoning_effort": "low"}},
            {**ASKED, "temperature": 1, "reasoning_effort": "low", "response_format": FORM},
        ),
        ({"omit": ["temperature", "seed"]}, {"max_tokens": 24, "response_format": FORM}),
        (
            {
                "max_tokens_name": "max_completion_tokens",
                "reasoning_tokens": 8000,
                "omit": ["seed"],
            },
            {"max_completion_tokens": 8024, "temperature": 0, "response_format": FORM},
        ),
        ({"settings": {"max_tokens": 9}, "reasoning_tokens": 1}, {**ASKED, "max_tokens": 10}),
        ({"response_format": "json_object"}, {**ASKED, "response_format": {"type": "json_object"}}),
        ({"response_format": "none"}, ASKED),
        (
            {"extra_body": {"a": {"b": "${NOT_YET}"}, "seed": 2}},
            {**ASKED, "seed": 2, "a": {"b": "${NOT_YET}"}, "response_format": FORM},
        ),
    ],
)
def test_a_body_is_what_the_entry_says(entry, more, body):
    made = registry.body(entry(**more), MESSAGES, ASKED, FORM)
    assert made.pop("model") == "asked-2026-01-01"
    (message,) = made.pop("messages")
    if "settings" in more and "max_tokens" in more["settings"]:
        made.pop("response_format")
    assert made == body
    in_words = more.get("response_format") in ("json_object", "none")
    schema = json.dumps(FORM["json_schema"]["schema"])
    assert (schema in message["content"] and "JSON" in message["content"]) == in_words
    assert message["content"].startswith("why?") and MESSAGES[0]["content"] == "why?"


def test_variables_are_filled_in_the_entrys_own_parts_alone(
    entry, endpoint, recordings, monkeypatch
):
    monkeypatch.setenv("MINE", "from the environment")
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    name = entry(
        extra_body={"user": "${MINE}"}, headers={"x-mine": "${MINE}"}, query={"v": "${MINE}"}
    )
    said = "${OPENAI_API_KEY} and ${MINE}"
    request = Request("a", name, [{"role": "user", "content": said}], {"stop": [said]})
    asyncio.run(models.ask([request], recordings, mode="record", progress=False))
    (body,), (headers,) = endpoint.bodies, endpoint.headers
    assert body["messages"][0]["content"] == said and body["stop"] == [said]
    assert body["user"] == headers["x-mine"] == "from the environment"
    kept = "".join(p.read_text() for p in recordings.folder.rglob("*.jsonl"))
    assert "from the environment" not in kept and "a secret" not in kept


# ---- what makes the key


def key(name="served"):
    return Request("a", name, MESSAGES, {"max_tokens": 9, "temperature": 0}, FORM).key


@pytest.mark.parametrize(
    "more",
    [
        {"settings": {"reasoning_effort": "low"}},
        {"settings": {"temperature": 1}},
        {"omit": ["temperature"]},
        {"extra_body": {"thinking": {"type": "disabled"}}},
        {"query": {"api-version": "2026-01-01"}},
        {"headers": {"x-mode": "precise"}},
        {"revision": "weights of Monday"},
        {"reasoning_tokens": 100},
        {"max_tokens_name": "max_completion_tokens"},
        {"response_format": "json_object"},
        {"response_format": "none"},
        {"api": "completions"},
        {"base_url": "http://127.0.0.1:8000/v1"},
        {"provider": "another"},
        {"model": "another"},
    ],
    ids=str,
)
def test_what_can_change_an_answer_changes_the_key(entry, more):
    before = key(entry())
    assert key(entry(**more)) != before


def test_each_revision_has_a_key_of_its_own(entry):
    revisions = [{"revision": r} for r in ("Monday", "Tuesday")]
    assert len({key(entry(**r)) for r in revisions}) == 2


@pytest.mark.parametrize(
    "more",
    [
        {"headers": {"Authorization": "Bearer ${MINE}"}},
        {"query": {"key": "${MINE}"}},
        {"extra_body": {"user": "${MINE}", "more": ["${MINE}"]}},
        {"api_key_env": "MINE"},
        {"usd_per_million_in": 1.0, "usd_per_million_out": 2.0, "price_date": "2026-01-01"},
        {"requests_per_minute": 10, "tokens_per_minute": 1000, "max_concurrency": 1},
        {"timeout_s": 1, "about": "x", "documentation": "x", "think": [], "retired": "2026-01-01"},
    ],
    ids=str,
)
def test_what_cannot_does_not(entry, monkeypatch, more):
    plain = {"extra_body": {"more": []}} if "extra_body" in more else {}
    before = key(entry(**plain))
    kept = []
    for value in ("one", "two"):
        monkeypatch.setenv("MINE", value)
        kept.append(key(entry(**more)))
    other = json.loads(json.dumps(more).replace("MINE", "ANOTHER"))
    assert {*kept, key(entry(**other))} == {before}


@pytest.mark.parametrize("provider, host", registry.OWN_HOSTS.items())
def test_a_providers_own_endpoint_needs_none_in_the_key(entry, provider, host):
    def fields(url, **more):
        return registry.identity(entry(provider=provider, base_url=url, **more), {})

    assert "endpoint" not in fields(f"https://{host}/v1")
    elsewhere = f"https://{host}.example.org/v1"
    assert "endpoint" in fields(elsewhere) and "endpoint" not in fields(elsewhere, revision="r")


def test_entries_of_one_model_at_other_endpoints_do_not_share_replies(
    entry, endpoint, recordings, monkeypatch
):
    """Issue 17, point 10: `vllm` serves whatever was started there, by the same name."""
    endpoint.script = lambda n, body: completion(f"answer {n}")
    first = registry.model(entry())
    others = {
        "elsewhere": {**first, "base_url": endpoint.url.replace("127.0.0.1", "localhost")},
        "in another mode": {**first, "headers": {"x-mode": "precise"}},
        "newer": {**first, "revision": "weights of Tuesday"},
    }
    for name, other in others.items():
        monkeypatch.setitem(registry.entries(), name, other)
    asked = [r for name in ("served", *others) for r in ask_for(name, "a")]
    for mode in ("record", "replay"):
        replies = asyncio.run(models.ask(asked, recordings, mode=mode, progress=False))
        assert sorted(r.text for r in replies) == [f"answer {n}" for n in (1, 2, 3, 4)]
    assert len(endpoint.bodies) == 4


@pytest.mark.parametrize(
    "more, said",
    [
        ({"revision": "of Monday"}, ""),
        ({"settings": {"top_k": 3}, "base_url": "http://other/v1"}, ""),
        ({"base_url": "http://other/v1"}, "give one of them another revision"),
        ({"base_url": "http://other/v1", "omit": ["seed"]}, "give one of them another revision"),
        ({"omit": ["seed"]}, ""),
        ({"timeout_s": 9, "think": []}, "all else that changes an answer"),
    ],
    ids=str,
)
def test_two_entries_with_the_same_replies_are_named(
    entry, endpoint, recordings, monkeypatch, more, said
):
    first = registry.model(entry(revision="of today"))
    monkeypatch.setitem(registry.entries(), "second", {**first, **more})
    told = [registry.shared(name) for name in ("served", "second")]
    for words, elsewhere in told:
        assert said in words and bool(words) == bool(said) and elsewhere == ("give" in said)
        assert not said or ("'second'" in words and "'served'" in words)
    requests = ask_for("served", "a")
    if "give" in said:
        with pytest.raises(StopRun, match="'served', 'second' share"):
            asyncio.run(models.ask(requests, recordings, mode="record"))
        assert not endpoint.bodies
    else:
        assert asyncio.run(models.ask(requests, recordings, mode="record"))[0].text == "fine"


def test_no_shipped_entries_share_replies():
    assert not any(registry.shared(name)[0] for name in registry.entries())


def test_keys_of_the_bundled_recordings_are_what_they_were():
    """Digests computed by the code that recorded them."""
    plain = {"max_tokens": 96, "temperature": 0.7, "seed": 3}
    request = Request("a", "smollm2-135m", MESSAGES, plain)
    assert request.key == "48f47a90b32b6c55be2c99bcbb2de46afd87cdbeda813a554e3041799dce0207"
    messages = [{"role": "system", "content": "be brief"}, *MESSAGES]
    settings = {"max_tokens": 24, "temperature": 0}
    request = Request("a", "smollm2-135m", messages, settings, FORM, repeat=2)
    assert request.key == "2dfb726b1f2672ee1e2a0ae9a306e21295fb5ff0442fcf06930d1e675927ac62"


# ---- how a reply is read


@pytest.mark.parametrize("think", [None, ["<think>", "</think>"], ["[THINK]", "[/THINK]"]])
@pytest.mark.parametrize(
    "text, spoken",
    [
        ("<think>hm\n\nhm</think>\n\nfine", "fine"),
        (" \n<think></think>fine", "fine"),
        ("<think>hm", ""),
        ("hm</think>fine", {None: "hm</think>fine", "own": "fine"}),
        ("fine", "fine"),
        ("Write <think> first.", "Write <think> first."),
        ("", ""),
    ],
)
def test_what_a_model_thought_is_not_what_it_says(entry, think, text, spoken):
    own = {} if think is None else {"think": think}
    if isinstance(spoken, dict):
        spoken = spoken["own" if own else None]
    opening, closing = think or registry.THINK
    text = text.replace("</think>", closing).replace("<think>", opening)
    spoken = spoken.replace("</think>", closing).replace("<think>", opening)
    assert registry.spoken(entry(**own), text) == spoken


def test_without_tags_a_reply_stays_as_it_is(entry):
    assert registry.spoken(entry(think=[]), "<think>hm</think>fine") == "<think>hm</think>fine"


def test_thoughts_are_recorded_but_not_spoken(entry, endpoint, recordings):
    endpoint.script = lambda n, body: completion("<think>hm</think>fine")
    requests = ask_for(entry(), "a")
    for mode in ("record", "replay"):
        (reply,) = asyncio.run(models.ask(requests, recordings, mode=mode, progress=False))
        assert reply.text == "fine"
    assert next(recordings.records())["text"] == "<think>hm</think>fine"


# ---- entries that are gone


def test_a_retired_model_replays_but_is_not_called(entry, endpoint, recordings):
    def ask(*items):
        kept = store.Recordings(recordings.folder)
        return asyncio.run(
            models.ask(ask_for("served", *items), kept, mode="record", progress=False)
        )

    entry()
    ask("a")
    entry(retired="2026-06-15", instead="a-newer-one")
    assert ask("a")[0].text == "fine"
    with pytest.raises(StopRun, match="retired on 2026-06-15; use 'a-newer-one' instead"):
        ask("a", "b")
    entry(retired="2026-06-15")
    assert len(endpoint.bodies) == 1


def test_shipped_entries_that_are_retired_name_one_that_is_not():
    known = registry.entries()
    retired = [e for e in known.values() if "retired" in e]
    assert retired
    for e in retired:
        assert "retired" not in known[e["instead"]]
