"""The first calls to a model of one's own: endpoints that drip, echo, redirect, or refuse."""

import asyncio
import json
import ssl
import subprocess

import pytest

from bedside.asking import models, sending
from bedside.keep import ledger, registry
from bedside.keep.registry import StopRun
from bedside.own import try_out
from conftest import Endpoint, ask_for, completion, sent_at

KEY = "made-up-0123/456789-of-a-test"


def ask(requests, recordings, **options):
    return asyncio.run(
        models.ask(requests, recordings, progress=False, **{"mode": "record", **options})
    )


def tried(name):
    """(whether `make try` finds a model ready, all that it tells)."""
    told = []
    return asyncio.run(try_out.tried(name, told.append)), "\n".join(told)


@pytest.fixture
def with_key(served, monkeypatch):
    monkeypatch.setenv("KEY_OF_A_TEST", KEY)
    monkeypatch.setitem(registry.entries()[served], "api_key_env", "KEY_OF_A_TEST")
    return served


def of_schema(form, body):
    """Whether a call asks for one of these forms."""
    return body.get("response_format", {}).get("type") in form


# ---- time


def test_an_endpoint_that_drips_is_left_when_its_time_is_over(
    served, endpoint, recordings, monkeypatch
):
    """Each byte comes in time; the whole answer would take a minute."""
    monkeypatch.setitem(registry.entries()[served], "timeout_s", 0.3)
    monkeypatch.setattr(sending, "RETRIES", 1)
    monkeypatch.setattr(sending, "FIRST_S", 0.01)
    endpoint.script = lambda n, body: "drip"
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert reply.error == "timeout: no whole answer within timeout_s = 0.3 s"
    assert len(sent_at()) == 2 and not endpoint.dripped


# ---- forms of structured output

GEMINI = "Invalid value at 'generation_config.response_schema' (type.googleapis.com/Schema), true"


def refusing(*forms, words=GEMINI, status=400):
    def script(n, body):
        if of_schema(forms, body):
            error = {"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}
            return status, {}, error
        return completion('{"score": 1}')

    return script


@pytest.mark.parametrize("words", [GEMINI, "Request contains an invalid argument.", "no"])
@pytest.mark.parametrize(
    "forms, line",
    [(["json_schema"], "json_object"), (["json_schema", "json_object"], "none")],
)
def test_the_next_form_is_tried_and_its_line_told(served, endpoint, words, forms, line):
    endpoint.script = refusing(*forms, words=words)
    ready, told = tried(served)
    assert not ready and f'    response_format = "{line}"' in told.splitlines()
    assert "make try" not in told and "later" not in told
    registry.entries()[served]["response_format"] = line
    assert tried(served)[0]


def test_other_commands_name_the_model_to_try(served, endpoint, recordings):
    endpoint.script = refusing("json_schema")
    requests = [
        models.Request(i, served, [{"role": "user", "content": i}], {}, try_out.PROBES[1].form)
        for i in "abc"
    ]
    with pytest.raises(StopRun, match="`make try MODELS=served` "):
        ask(requests, recordings)


# ---- keys that come back


@pytest.mark.parametrize("as_sent", [json.dumps, lambda v: json.dumps(v).replace("/", r"\/")])
def test_a_key_that_an_answer_echoes_is_kept_nowhere(with_key, endpoint, recordings, as_sent):
    text = f"You sent Bearer {KEY}."
    endpoint.script = lambda n, body: (200, {}, as_sent(completion(text)).encode())
    (reply,) = ask(ask_for(with_key, "a"), recordings)
    assert reply.text == "You sent Bearer ***."
    (file,) = recordings.folder.rglob("*.jsonl")
    assert KEY not in file.read_text().replace(r"\/", "/")
    ready, told = tried(with_key)
    assert "Bearer ***" in told and KEY not in told


def test_a_key_in_an_error_of_any_form_is_masked(with_key, endpoint, recordings):
    endpoint.script = lambda n, body: (400, {}, json.dumps([KEY]).replace("/", r"\/").encode())
    (reply,) = ask(ask_for(with_key, "a"), recordings)
    assert reply.error == "bad request: ***"


def test_an_ordinary_word_from_the_environment_stays_in_answers(
    with_key, endpoint, recordings, monkeypatch
):
    """As EMPTY for a server that wants any key, or the name of a region."""
    monkeypatch.setenv("KEY_OF_A_TEST", "EMPTY")
    monkeypatch.setenv("REGION_OF_A_TEST", "Palestine")
    registry.entries()[with_key]["headers"] = {"x-region": "${REGION_OF_A_TEST}"}
    endpoint.script = lambda n, body: completion("EMPTY and Palestine")
    assert ask(ask_for(with_key, "a"), recordings)[0].text == "EMPTY and Palestine"


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


@pytest.fixture
def secure(tmp_path):
    """A server with a certificate that nobody has signed."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = (
        f"req -x509 -newkey rsa:2048 -nodes -keyout {key} -out {cert} -days 1 -subj /CN=localhost"
    )
    subprocess.run(
        ["openssl", *made.split(), "-addext", "subjectAltName=DNS:localhost"], check=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = Endpoint()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    yield f"https://localhost:{server.server_address[1]}/v1", str(cert)
    server.shutdown()
    server.server_close()


def test_a_certificate_that_nobody_signed(served, secure, recordings, monkeypatch, quick):
    registry.entries()[served]["base_url"], file = secure
    for told in told_of(served, recordings):
        assert "certificate" in told and "SSL_CERT_FILE" in told
    monkeypatch.setenv("SSL_CERT_FILE", file)
    assert ask(ask_for(served, "a"), recordings)[0].text == "fine"


@pytest.mark.parametrize(
    "url, sent, words",
    [
        ("http://no-such-host.invalid/v1", "", "check the host in base_url"),
        ("http://127.0.0.1:9/v1", "", "start the server, or check host and port"),
        ("127.0.0.1/v1", "", "write base_url with http:// or https://"),
        ("https", "", "the endpoint speaks http: write http:// in base_url"),
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
        registry.entries()[served]["base_url"] = url
    assert all(words in told for told in told_of(served, recordings))
    assert not url or ledger.total("test")[1] == 0


@pytest.mark.parametrize("status", [301, 308])
def test_a_redirect_is_told_and_not_followed(with_key, endpoint, recordings, status):
    elsewhere = endpoint.url.replace("/v1", "/moved")
    to = {"Location": f"{elsewhere}/chat/completions?x={KEY}"}
    endpoint.script = lambda n, body: (status, to, b"")
    for told in told_of(with_key, recordings):
        assert f"it has moved to {elsewhere}" in told and "put that address into base_url" in told
        assert KEY not in told
    assert len(endpoint.bodies) <= 4


@pytest.mark.parametrize(
    "sent, words",
    [
        (
            (400, {}, {"error": {"message": "maximum context length is 99 tokens"}}),
            "a model with a longer context",
        ),
        ((400, {}, {"error": {"code": "content_filter"}}), "change the filter in your account"),
        (completion("", finish="content_filter"), "change the filter in your account"),
    ],
    ids=["too long", "filter, 400", "filter, finish reason"],
)
def test_a_model_that_cannot_answer_the_first_call(served, endpoint, sent, words):
    endpoint.script = lambda n, body: sent
    ready, told = tried(served)
    assert not ready and words in told and "later" not in told


@pytest.mark.parametrize("there", [True, False], ids=["407", "nobody there"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_is_told_from_the_endpoint(
    served, endpoint, recordings, monkeypatch, quick, scheme, there
):
    endpoint.script = lambda n, body: (407, {}, b"")
    proxy = endpoint.url.removesuffix("/v1") if there else "http://127.0.0.1:9"
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", proxy)
    registry.entries()[served]["base_url"] = f"{scheme}://a-model.invalid/v1"
    for told in told_of(served, recordings):
        assert "HTTPS_PROXY" in told and "NO_PROXY" in told
    monkeypatch.setenv("NO_PROXY", "a-model.invalid")
    assert "check the host" in tried(served)[1]


def test_an_endpoint_that_reports_no_usage_has_a_price_nevertheless(served, endpoint):
    endpoint.script = lambda n, body: {**completion('{"score": 1}'), "usage": None}
    prices = {"usd_per_million_in": 1.0, "usd_per_million_out": 2.0, "price_date": "2026-11-01"}
    for more, price in ((prices, False), ({}, True)):
        registry.entries()[served].update(more)
        for key in () if more else prices:
            del registry.entries()[served][key]
        ready, told = tried(served)
        last = told.splitlines()[-1]
        assert ready and ("price unknown" in last) == price
        assert "the endpoint reports no usage" in last
