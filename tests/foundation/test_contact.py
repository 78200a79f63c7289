"""The first calls to a model of one's own: endpoints that echo, redirect, or refuse."""

import asyncio

import pytest

from bedside import BedsideError
from bedside.own import try_out
from calling import KEY
from conftest import completion


def tried():
    """(whether `make try` finds the model ready, all that it tells)."""
    told = []
    return asyncio.run(try_out.tried("mine", told.append)), "\n".join(told)


GEMINI = "Invalid value at 'generation_config.response_schema' (type.googleapis.com/Schema), true"


@pytest.mark.parametrize(
    "forms, line", [(["json_schema"], "json_object"), (["json_schema", "json_object"], "none")]
)
def test_the_next_form_of_structured_output_is_tried_and_its_line_told(
    world, endpoint, forms, line
):
    def script(n, body):
        if body.get("response_format", {}).get("type") in forms:
            return 400, {}, {"error": {"message": GEMINI, "status": "INVALID_ARGUMENT"}}
        return completion('{"score": 1}')

    endpoint.script = script
    ready, told = tried()
    assert not ready and f'    response_format = "{line}"' in told.splitlines()
    assert "make try" not in told and "later" not in told
    world.model(response_format=line)
    assert tried()[0]


def test_an_ordinary_word_from_the_environment_stays_in_answers_and_a_key_is_masked(
    world, endpoint, monkeypatch
):
    """As EMPTY for a server that wants any key, or the name of a region."""
    monkeypatch.setenv("REGION_OF_A_TEST", "Palestine")
    world.model(headers={"x-region": "${REGION_OF_A_TEST}"}, api_key_env="TEST_KEY")
    long, said = "lettersalonebutmanyofthem", "EMPTY and Palestine"
    refusal = 400, {}, {"error": {"message": "Not for EMPTY."}}
    for key, sent, answer, status in (
        ("EMPTY", completion(said), said, ""),
        ("EMPTY", refusal, "", "bad request: Not for ***."),
        (long, completion(f"You sent {long}."), "You sent ***.", ""),
    ):
        monkeypatch.setenv("TEST_KEY", key)
        endpoint.script = lambda n, body, sent=sent: sent
        (row,) = world.ask("a", mode="fresh")
        assert (row.answer, row.reply_status) == (answer, status)


AWAY = "://a-model.invalid/v1"
ROUTER = b"<html><body>Welcome to <b>my router</b></body></html>"


@pytest.mark.parametrize(
    "url, sent, proxy, words",
    [  # {}: host and port of the endpoint
        ("http://no-such-host.invalid/v1", "", "", "check base_url in its entry, its server"),
        ("https://{}/v1", "", "", "check base_url in its entry"),
        ("http://{}/v1", ROUTER, "", "Welcome to my router"),
        ("http://{}/v1", {"models": []}, "", "base_url in its entry, which often ends in /v1"),
        ("http://{}/v1", 308, "", "it has moved to http://{}/moved"),
        (f"http{AWAY}", 407, "http://{}", "HTTPS_PROXY and NO_PROXY"),
        (f"https{AWAY}", 407, "http://{}", "HTTPS_PROXY and NO_PROXY"),
        (f"https{AWAY}", 407, "http://127.0.0.1:9", "HTTPS_PROXY and NO_PROXY"),
    ],
)
def test_what_is_wrong_is_told_by_a_run_and_a_trial_with_what_helps(
    world, endpoint, monkeypatch, url, sent, proxy, words
):
    """A redirect isn't followed; where nobody answered nothing is paid."""
    here = endpoint.url.removeprefix("http://").removesuffix("/v1")
    headers = {"Location": f"http://{here}/moved?x={KEY}"} if sent == 308 else {}
    sent = (sent, headers, b"") if isinstance(sent, int) else (200, {}, sent)
    endpoint.script = lambda n, body: sent
    world.model(base_url=url.format(here), api_key_env="TEST_KEY")
    if proxy:
        monkeypatch.setenv(f"{url.partition(':')[0].upper()}_PROXY", proxy.format(here))
    with pytest.raises(BedsideError) as stop:
        world.ask(*"abc")
    ready, told = tried()
    assert not ready
    for text in (str(stop.value), told):
        assert words.format(here) in text and "again later" not in text and KEY not in text
    assert len(endpoint.bodies) <= (4 if headers else 30)
    assert "{}" in url or world.spent() == 0
    if proxy:
        monkeypatch.setenv("NO_PROXY", "a-model.invalid")
        assert "to host a-model.invalid" in tried()[1]
