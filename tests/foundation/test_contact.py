"""The first calls to a model of one's own: endpoints that drip, echo, redirect, or refuse."""

import asyncio
import json

import pytest

from bedside.asking import budget, models, registry, sending
from bedside.asking.registry import StopRun
from bedside.own import try_out
from conftest import ask_for, completion, with_fields

KEY = "made-up-0123/456789-of-a-test"


def ask(requests, recordings, **options):
    return asyncio.run(models.ask(requests, recordings, **{"mode": "record", **options}))


def tried(name):
    """(whether `make try` finds a model ready, all that it tells)."""
    told = []
    return asyncio.run(try_out.tried(name, told.append)), "\n".join(told)


@pytest.fixture
def with_key(served, monkeypatch):
    monkeypatch.setenv("KEY_OF_A_TEST", KEY)
    registry.entries()[served] = with_fields(served, api_key_env="KEY_OF_A_TEST")
    return served


# ---- forms of structured output

GEMINI = "Invalid value at 'generation_config.response_schema' (type.googleapis.com/Schema), true"


def refusing(*forms):
    def script(n, body):
        if body.get("response_format", {}).get("type") in forms:
            return 400, {}, {"error": {"message": GEMINI, "status": "INVALID_ARGUMENT"}}
        return completion('{"score": 1}')

    return script


@pytest.mark.parametrize(
    "forms, line", [(["json_schema"], "json_object"), (["json_schema", "json_object"], "none")]
)
def test_the_next_form_is_tried_and_its_line_told(served, endpoint, forms, line):
    endpoint.script = refusing(*forms)
    ready, told = tried(served)
    assert not ready and f'    response_format = "{line}"' in told.splitlines()
    assert "make try" not in told and "later" not in told
    registry.entries()[served] = with_fields(served, response_format=line)
    assert tried(served)[0]


# ---- what the environment gives


def test_an_ordinary_word_from_the_environment_stays_in_answers_and_a_key_is_masked(
    with_key, endpoint, recordings, monkeypatch
):
    """As EMPTY for a server that wants any key, or the name of a region."""
    monkeypatch.setenv("KEY_OF_A_TEST", "EMPTY")
    monkeypatch.setenv("REGION_OF_A_TEST", "Palestine")
    headers = {"x-region": "${REGION_OF_A_TEST}"}
    registry.entries()[with_key] = with_fields(with_key, headers=headers)
    endpoint.script = lambda n, body: completion("EMPTY and Palestine")
    assert ask(ask_for(with_key, "a"), recordings)[0].text == "EMPTY and Palestine"
    endpoint.script = lambda n, body: (400, {}, {"error": {"message": "Not for EMPTY."}})
    assert ask(ask_for(with_key, "b"), recordings)[0].error == "bad request: Not for ***."
    monkeypatch.setenv("KEY_OF_A_TEST", long := "lettersalonebutmanyofthem")
    endpoint.script = lambda n, body: completion(f"You sent {long}.")
    assert ask(ask_for(with_key, "c"), recordings)[0].text == "You sent ***."


# ---- what is wrong, and what helps


def told_of(name, recordings):
    """What a run and `make try` say of a model that can't be asked."""
    with pytest.raises(StopRun) as stop:
        ask(ask_for(name, *"abc"), recordings)
    ready, told = tried(name)
    assert not ready
    for text in (str(stop.value), told):
        assert "again later" not in text
    return str(stop.value), told


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(sending, "FIRST_S", 0.001)


@pytest.mark.parametrize(
    "url, sent, words",
    [
        ("http://no-such-host.invalid/v1", "", "check base_url in its entry, its server"),
        ("https", "", "check base_url in its entry"),
        ("", b"<html><body>Welcome to <b>my router</b></body></html>", "Welcome to my router"),
        ("", {"models": ["a"]}, "base_url in its entry, which often ends in /v1"),
    ],
)
def test_an_address_where_nobody_answers_or_something_else(
    served, endpoint, recordings, quick, url, sent, words
):
    endpoint.script = lambda n, body: (200, {}, sent)
    if url:
        url = endpoint.url.replace("http", "https", 1) if url == "https" else url
        registry.entries()[served] = with_fields(served, base_url=url)
    assert all(words in told for told in told_of(served, recordings))
    assert not url or budget.spent() == 0


def test_a_redirect_is_told_and_not_followed(with_key, endpoint, recordings):
    elsewhere = endpoint.url.replace("/v1", "/moved")
    to = {"Location": f"{elsewhere}/chat/completions?x={KEY}"}
    endpoint.script = lambda n, body: (308, to, b"")
    for told in told_of(with_key, recordings):
        assert f"it has moved to {elsewhere}" in told and "base_url in its entry" in told
        assert KEY not in told
    assert len(endpoint.bodies) <= 4


@pytest.mark.parametrize("scheme, there", [("http", True), ("https", True), ("https", False)])
def test_a_proxy_that_refuses_is_told_from_the_endpoint(
    served, endpoint, recordings, monkeypatch, quick, scheme, there
):
    endpoint.script = lambda n, body: (407, {}, b"")
    proxy = endpoint.url.removesuffix("/v1") if there else "http://127.0.0.1:9"
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", proxy)
    url = f"{scheme}://a-model.invalid/v1"
    registry.entries()[served] = with_fields(served, base_url=url)
    for told in told_of(served, recordings):
        assert "HTTPS_PROXY" in told and "NO_PROXY" in told
    monkeypatch.setenv("NO_PROXY", "a-model.invalid")
    assert "to host a-model.invalid" in tried(served)[1]
