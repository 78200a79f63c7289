"""What an endpoint refuses costs nothing, is told in its words, and isn't asked for in vain.

A direct call and a line of a batch fail alike.
"""

import asyncio
import datetime
import email.utils
import json
import time

import pytest

import providers
from batch_study import Chains, at, spent, submit
from bedside.asking import failures, models, sending
from bedside.bulk import results, service
from bedside.keep import ledger, registry, store
from bedside.keep.ledger import Account
from bedside.keep.registry import StopRun
from bedside.keep.replies import as_reply
from bedside.own import try_out
from bedside.read import paths
from conftest import ask_for, completion
from request_files import folders, result, results_file, written  # noqa: F401

PRICES = {"usd_per_million_in": 1.0, "usd_per_million_out": 1.0}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(sending, "FIRST_S", 0.001)


@pytest.fixture
def priced(served):
    registry.model(served).update(PRICES, max_concurrency=1)
    return served


def ask(requests, recordings, budget=None):
    given = {"mode": "record", "account": Account(usd=budget), "progress": False}
    return asyncio.run(models.ask(requests, recordings, **given))


def by_batch(requests, status, body):
    """The failures of requests whose lines all come back with this, and what they cost."""
    written(requests)
    account = results.take([results_file(*(result(r.key, body, status) for r in requests))])
    return list(account.failed.values()), account.usd


# ---- limits of a reply

ASKED = 100_000
TOO_HIGH = {  # who says it: (status, words, the limit that they name)
    "OpenAI": (
        400,
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens,"
        " whereas you provided 100000.",
        "16,384",
    ),
    "Anthropic": (
        400,
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for"
        " claude-haiku-5-5-20260901",
        "64,000",
    ),
    "Google": (
        400,
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the"
        " supported range is from 1 (inclusive) to 65537 (exclusive).",
        "65,536",
    ),
    "DeepSeek": (
        400,
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "8,192",
    ),
    "Qwen": (
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
        "8,192",
    ),
    "Groq": (
        400,
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is"
        " less than the `context_window` for this model",
        "8,192",
    ),
    "Bedrock": (
        400,
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum"
        " tokens value that is lower than 4096.",
        "4,096",
    ),
    "Doubao": (
        400,
        "The parameter `max_completion_tokens` specified in the request are not valid: integer"
        " above maximum value, expected a value <= 12288, but got 100000 instead.",
        "12,288",
    ),
    "a context that is smaller than the limit alone": (
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context"
        " length is 16384 tokens and your request has 50 input tokens (100000 > 16384 - 50).",
        "16,384",
    ),
    "the same, by a router": (
        400,
        "This endpoint's maximum context length is 32,768 tokens. However, you requested about"
        " 100050 tokens (50 of text input, 100000 in the output).",
        "32,768",
    ),
}


@pytest.mark.parametrize("who", TOO_HIGH)
def test_a_limit_that_is_too_high_stops_after_three_calls_that_cost_nothing(
    priced, endpoint, recordings, who
):
    """With $2 and $0.10 reserved for each, a run of forty ends for its reason, not its budget."""
    status, words, named = TOO_HIGH[who]
    endpoint.script = lambda n, body: (status, {}, {"error": {"message": words}})
    requests = ask_for(priced, *map(str, range(40)), max_tokens=ASKED)
    with pytest.raises(StopRun) as stop:
        ask(requests, recordings, budget=2.0)
    told = str(stop.value)
    assert len(endpoint.bodies) == 3 and ledger.total("test") == (3, 0.0, 0)
    assert words[:60] in told and f"{named} tokens of a reply at most" in told
    assert "100,000" in told and "reasoning_tokens" in told and "longer context" not in told
    failed, usd = by_batch(requests[:3], status, {"error": {"message": words}})
    assert usd == 0 and {(f.kind, f.fate, f.way) for f in failed} == {
        (failed[0].kind, "all", failed[0].way)
    }
    assert failures.stop(priced, failed[0]).args == stop.value.args  # in the same sentence


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 128000 tokens. However, you requested 150000 tokens"
        " (50000 in the messages, 100000 in the completion).",
        "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum"
        " context length is 128000 tokens and your request has 40000 input tokens"
        " (100000 > 128000 - 40000)",
        "input length and `max_tokens` exceed context limit: 150000 + 100000 > 200000,"
        " decrease input length or `max_tokens` and try again",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 128000. Given: 40000"
        " `inputs` tokens and 100000 `max_new_tokens`",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Please reduce the length of the messages or completion. context_length_exceeded",
    ],
)
def test_a_prompt_that_is_too_long_costs_nothing_and_only_itself(
    priced, endpoint, recordings, words
):
    """All even questions are too long; the others are answered, within a budget of two calls."""

    def script(n, body):
        odd = int(body["messages"][0]["content"].split()[-1]) % 2
        return completion() if odd else (400, {}, {"error": {"message": words}})

    endpoint.script = script
    requests = ask_for(priced, *map(str, range(12)), max_tokens=ASKED)
    replies = ask(requests, recordings, budget=0.21)
    assert [r.why.split(":")[0] for r in replies] == ["context too long", ""] * 6
    assert ledger.total("test") == (12, pytest.approx(6 * 15e-6), 0)
    failed, usd = by_batch(requests[::2], 400, {"error": {"message": words}})
    assert usd == 0 and {(f.kind, f.fate) for f in failed} == {("context too long", "alone")}


def test_a_filter_before_the_answer_leaves_the_budget_alone(priced, endpoint, recordings):
    said = {"message": "The response was filtered.", "code": "content_filter"}
    endpoint.script = lambda n, body: (400, {}, {"error": said})
    requests = ask_for(priced, *map(str, range(25)), max_tokens=ASKED)
    replies = ask(requests, recordings, budget=2.0)  # 25 reservations would be $2.50
    assert {r.why for r in replies} == {"filtered"} and ledger.total("test") == (25, 0.0, 0)


def test_a_provider_that_refuses_a_limit_is_understood(tmp_path, monkeypatch, recordings):
    with providers.Providers() as provider:
        monkeypatch.setenv("KEY_OF_A_TEST", providers.KEY)
        entry = {"provider": "openai", "base_url": provider.at("openai-short"), "model": "short"}
        entry |= {"api_key_env": "KEY_OF_A_TEST", "reasoning_tokens": 20_000, "max_concurrency": 1}
        monkeypatch.setitem(registry.entries(), "short", entry)
        with pytest.raises(StopRun, match="it takes 16,384 tokens"):
            ask(ask_for("short", *"abcdef"), recordings)
        assert len(provider.log) == 3
        told = []
        assert not asyncio.run(try_out.tried("short", told.append))
        assert "16,384" in "\n".join(told) and "omit" not in "\n".join(told)
        entry["reasoning_tokens"] = 8000
        assert asyncio.run(try_out.tried("short", told.append)), told


# ---- limits that last

NOW = datetime.datetime(2026, 11, 26, 12, 0, tzinfo=datetime.UTC)


@pytest.fixture
def noon(monkeypatch):
    """It is noon, and stays so."""
    monkeypatch.setattr(time, "time", NOW.timestamp)


def later(**more):
    return NOW + datetime.timedelta(**more)


def error(message="Slow down.", **more):
    return {"error": {"message": message, **more}}


SLOW, DAYS = error(), 86_400
RESETS = {  # what says when: (headers, body), seconds
    "nothing": (({}, SLOW), None),
    "Retry-After": (({"Retry-After": "20"}, SLOW), 20),
    "Retry-After, days": (({"Retry-After": "1382400"}, SLOW), 16 * DAYS),
    "Retry-After, a date": (
        ({"Retry-After": email.utils.format_datetime(later(days=2), True)}, SLOW),
        2 * DAYS,
    ),  # noqa: E501
    "Retry-After, a date that is over": (
        ({"Retry-After": "Thu, 26 Nov 2026 11:00:00 GMT"}, SLOW),
        0,
    ),
    "Retry-After, since 1970": (
        ({"Retry-After": str(int(later(hours=1).timestamp()))}, SLOW),
        3600,
    ),
    "milliseconds": (({"retry-after-ms": "1500", "retry-after": "2"}, SLOW), 1.5),
    "no number": (({"Retry-After": "soon"}, SLOW), None),
    "not a number": (({"Retry-After": "nan"}, SLOW), None),
    "for ever": (({"Retry-After": "1e999"}, SLOW), None),
    "Google's member": (({}, error(details=[{"retryDelay": "34.5s"}])), 34.5),
    "Google's quota": (
        ({}, error(details=[{"metadata": {"quotaResetDelay": "239h52m1s"}}])),
        863_521,
    ),
    "in seconds": (({}, error(resets_in_seconds=529_498, resets_at=1772180859)), 529_498),
    "since 1970": (({}, error(resets_at=int(later(days=3).timestamp()))), 3 * DAYS),
    "of a member in ms": (({}, error(retry_after_ms=1500)), 1.5),
    "OpenAI's words": (({}, error("Limit 3, Used 3. Please try again in 20s. Visit ...")), 20),
    "Groq's words": (({}, error("Please try again in 1h26m3.5s.")), 5163.5),
    "Gemini's words": (({}, error("Please retry in 34.074824224s.")), 34.074824224),
    "Azure's words": (({}, error("Please retry after 52 seconds.")), 52),
    "in milliseconds": (({}, error("Please try again in 860ms.")), 0.86),
    "days in words": (({}, error("Usage limit reached. Resets in 16 days.")), 16 * DAYS),
    "hours and minutes": (({}, error("It resets in 2 hours and 5 minutes.")), 7500),
    "weeks": (({}, error("Your quota renews in 2 weeks.")), 14 * DAYS),
    "Anthropic's day": (
        ({}, error("You will regain access on 2026-12-01 at 00:00 UTC.")),
        4.5 * DAYS,
    ),
    "a date in words": (({}, error("Limit resets at: 2026-11-28 12:00:00 UTC")), 2 * DAYS),
    "with a zone": (({}, error("The limit will reset at 2026-11-27T13:00:00+01:00")), DAYS),
    "a day alone": (({}, error("Your limit resets on 2026-11-28.")), 1.5 * DAYS),
    "the longer of both": (({"Retry-After": "60"}, error("Resets in 16 days.")), 16 * DAYS),
    "numbers that are no time": (({}, error("This is available for 5 models, not 2026.")), None),
    "a header, nothing left": (
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "26h0m0s"}, SLOW),
        93_600,
    ),
    "a header, something left": (
        ({"x-ratelimit-remaining-tokens": "12", "x-ratelimit-reset-tokens": "26h0m0s"}, SLOW),
        None,
    ),
    "of two, the one that is used up": (
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-26T12:00:30Z",
                "anthropic-ratelimit-tokens-remaining": "9000",
                "anthropic-ratelimit-tokens-reset": "2026-11-28T12:00:00Z",
            },
            SLOW,
        ),
        30,
    ),
    "a header beside Retry-After": (
        ({"retry-after": "7", "ratelimit-remaining": "0", "ratelimit-reset": "86400"}, SLOW),
        7,
    ),
    "a router's, in its body": (
        (
            {},
            error(
                metadata={
                    "headers": {
                        "X-RateLimit-Remaining": "0",
                        "X-RateLimit-Reset": str(int(later(hours=12).timestamp() * 1000)),
                    }
                }
            ),
        ),
        43_200,
    ),
}


@pytest.mark.parametrize("what", RESETS)
def test_when_a_limit_is_over_is_understood_however_it_is_said(noon, what):
    """Up to ten minutes are waited for; more stop the run."""
    (headers, body), wait = RESETS[what]
    failure = failures.of(429, json.dumps(body).encode(), headers, ())
    assert failure.wait == (None if wait is None else pytest.approx(wait, abs=0.01))
    assert (failure.fate == "stop") == ((wait or 0) > 600)


LASTS = {
    "Retry-After": ({"Retry-After": "1382400"}, error("Monthly usage limit reached.")),
    "words": ({}, error("Monthly usage limit reached. Resets in 16 days.")),
    "both": ({"Retry-After": "1382400"}, error("Usage limit reached. Resets in 16 days.")),
}


@pytest.mark.parametrize("status", [400, 402, 429, 503])
@pytest.mark.parametrize("what", LASTS)
def test_a_limit_that_lasts_for_days_ends_a_run_at_once_and_says_when_it_is_over(
    served, endpoint, recordings, what, status
):
    registry.model(served)["max_concurrency"] = 1
    headers, body = LASTS[what]
    endpoint.script = lambda n, _: completion() if n < 3 else (status, headers, body)
    day = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=16)
    with pytest.raises(StopRun) as stop:
        ask(ask_for(served, *"abcdefgh"), recordings)
    day_after = day + datetime.timedelta(minutes=10)  # however slow this machine is
    told = str(stop.value)
    assert len(endpoint.bodies) == 3 and len(list(recordings.records())) == 2
    assert body["error"]["message"] in told and "in 16 days" in told
    assert any(f"{d:%Y-%m-%d}" in told for d in (day, day_after))


def test_a_wait_of_minutes_is_waited_for(served, endpoint, recordings, turned):
    endpoint.script = lambda n, _: (429, {"Retry-After": "300"}, SLOW) if n == 1 else completion()
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert reply.text == "fine" and 300 <= turned() < 301


def test_a_limit_that_lasts_ends_batches_too(batches):
    """Of a batch's four lines one is answered: there is no wave that would follow from it."""
    batches.answer, answer = (
        (
            lambda body: (
                (429, error("Monthly usage limit reached. Resets in 16 days.")["error"])
                if "case 0" not in body["messages"][0]["content"]
                else answer(body)
            )
        ),
        batches.answer,
    )
    study = Chains(chains=4, length=3)
    with pytest.raises(StopRun, match="in 16 days"):
        submit(study)
    assert len(batches.batches) == 1 and len(study.recorded()) == 1


@pytest.mark.parametrize("kind", ["upload", "create", "look", "fetch"])
def test_a_service_is_not_waited_for_for_days(batches, monkeypatch, kind):
    def sleep(seconds):
        assert seconds <= service.LONGEST_S, "it sleeps for days"

    monkeypatch.setattr(service.time, "sleep", sleep)
    lasting = (429, {"message": "Monthly usage limit reached. Resets in 16 days."})
    batches.fault, count = at(kind, lasting, 100)
    with pytest.raises(StopRun, match="in 16 days"):
        submit(Chains(length=1))
    assert len(count) == 1
    batches.fault = None
    submit(study := Chains(length=1))
    assert study.recorded() == study.directly() and spent("test") == 0


# ---- errors in place of an answer

INSIDE = {  # a body of status 200: its kind, its words, calls until it is given up
    "vLLM, Mistral": (
        {"object": "error", "message": "Too spicy.", "type": "BadRequestError", "code": 400},
        ("bad request", "Too spicy.", 1),
    ),
    "no code": ({"object": "error", "message": "Too spicy."}, ("bad request", "Too spicy.", 1)),
    "FastChat's code": (
        {"object": "error", "message": "Too much is asked.", "code": 40302},
        ("bad request", "Too much is asked.", 1),
    ),
    "its type": (
        {"object": "error", "message": "Too spicy.", "type": "invalid_request_error"},
        ("bad request", "Too spicy.", 1),
    ),
    "its words": (
        {"error": {"message": "This model's maximum context length is 4096 tokens."}},
        ("context too long", "maximum context length", 1),
    ),
    "no system role": (
        {"object": "error", "message": "System role not supported"},
        ("no system role", "System role not supported", 1),
    ),
    "overloaded": (
        {"object": "error", "message": "The engine is overloaded."},
        ("endpoint's fault", "overloaded", 6),
    ),
    "busy": (
        {"error": {"message": "Service temporarily unavailable"}},
        ("endpoint's fault", "temporarily unavailable", 6),
    ),
    "a detail": ({"detail": "Not for you."}, ("bad request", "Not for you.", 1)),
    "Cloudflare's": (
        {"success": False, "errors": [{"message": "No route.", "code": 7003}], "result": None},
        ("bad request", "No route.", 1),
    ),
    "MiniMax's": (
        {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
        ("no credit", "insufficient balance", 1),
    ),
    "Baidu's": (
        {"error_code": 336003, "error_msg": "Messages are empty."},
        ("bad request", "Messages are empty.", 1),
    ),
    "Google's list": (
        [{"error": {"code": 400, "message": "Too spicy.", "status": "INVALID_ARGUMENT"}}],
        ("bad request", "Too spicy.", 1),
    ),
    "in days": (
        {"object": "error", "message": "Rate limit. Resets in 16 days."},
        ("rate limit", "Resets in 16 days.", 1),
    ),
    "who knows": ({"error": {"message": "Hm."}}, ("endpoint's fault", "Hm.", 6)),
    "nothing said": ({"models": []}, ("bad answer", "no chat completion", 6)),
}


@pytest.mark.parametrize("who", INSIDE)
def test_an_error_that_comes_as_an_answer_keeps_its_words_and_is_asked_again_only_if_it_may_pass(
    served, endpoint, recordings, who
):
    body, (kind, words, calls) = INSIDE[who]
    endpoint.script = lambda n, _: (200, {}, json.dumps(body).encode())
    requests = ask_for(served, "a")
    try:
        told = ask(requests, recordings)[0].error
    except StopRun as stop:  # what no other request could fare better with
        told = str(stop)
    assert words in told and len(endpoint.bodies) == calls
    assert kind in told
    (failed,), _ = by_batch(requests, 200, body)
    assert failed.kind == kind and words in failed.message and failed.again == (calls > 1)


# ---- broken off

BROKEN = ["error", "ERROR", "network_error", "abort", "aborted", "cancelled", "canceled", "timeout"]
BROKEN += ["error: upstream", "failed", "interrupted", "insufficient_system_resource"]


@pytest.mark.parametrize("finish", BROKEN)
def test_a_reply_that_was_broken_off_is_no_answer_by_whatever_name(
    served, endpoint, recordings, finish
):
    endpoint.script = lambda n, _: completion("half a", finish) if n == 1 else completion("whole")
    requests = ask_for(served, "a")
    (reply,) = ask(requests, recordings)
    assert reply.text == "whole" and len(endpoint.bodies) == 2
    (failed,), _ = by_batch(requests, 200, completion("half a", finish))
    assert failed.again and finish in failed.message


def test_what_was_recorded_as_whole_and_was_broken_off_is_unscored(served, recordings):
    """By a version that didn't know the reason."""
    (request,) = ask_for(served, "a")
    record = {**request.kept(), "text": "half a", "finish": "network_error"}
    assert as_reply(request, record, True).why == "broken off"
    assert as_reply(request, {**record, "finish": "stop"}, True).why == ""


@pytest.mark.parametrize("finish", ["model_context_window_exceeded", "MAX_OUTPUT_TOKENS"])
def test_a_reply_that_filled_the_context_is_cut(served, endpoint, recordings, finish):
    endpoint.script = lambda n, _: completion("half a", finish)
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert reply.truncated and not reply.why


# ---- models without a system role

SYSTEM = {"role": "system", "content": "Be brief."}
USER, MODEL = ({"role": r, "content": f"the {r}'s"} for r in ("user", "assistant"))
JOINED = {"role": "user", "content": "Be brief.\n\nthe user's"}
ALONE = {"role": "user", "content": "Be brief."}


def request_of(name, *messages, **more):
    return models.Request("a", name, list(messages), {"max_tokens": 20}, **more)


@pytest.mark.parametrize(
    "messages, sent",
    [
        ([SYSTEM, USER], [JOINED]),
        ([SYSTEM, USER, MODEL, USER], [JOINED, MODEL, USER]),
        ([SYSTEM, MODEL, USER], [ALONE, MODEL, USER]),
        ([SYSTEM], [ALONE]),
        ([USER, MODEL, USER], [USER, MODEL, USER]),
    ],
)
def test_what_a_system_message_says_stands_before_the_first_one_of_the_user(
    served, endpoint, recordings, messages, sent
):
    registry.model(served)["system"] = "user"
    request = request_of(served, *messages)
    (reply,) = ask([request], recordings)
    assert endpoint.bodies[-1]["messages"] == sent and reply.text == "fine"
    assert messages[0] in (SYSTEM, USER) and SYSTEM["content"] == "Be brief."  # as they were
    made = written([request])
    (line,) = [json.loads(x) for m in made for x in m.path.read_bytes().splitlines()]
    assert line["body"]["messages"] == sent


def test_what_is_sent_decides_what_is_replayed(served, endpoint, recordings):
    """An entry that gets the line keeps its recordings of calls that were the same without it."""
    requests = [request_of(served, USER), request_of(served, SYSTEM, USER)]
    ask(requests, recordings)
    registry.model(served)["system"] = "user"
    again = [request_of(served, *r.messages) for r in requests]
    assert again[0].key == requests[0].key and again[1].key != requests[1].key
    assert again[1].key == request_of(served, JOINED).key
    replies = ask(again, store.Recordings(recordings.folder))
    assert [r.recorded for r in replies] == [True, False] and len(endpoint.bodies) == 3


def test_entries_that_differ_in_this_alone_do_not_pass_for_one(served, monkeypatch):
    twin = {**registry.model(served), "system": "user"}
    monkeypatch.setitem(registry.entries(), "twin", twin)
    assert registry.shared(served) == registry.shared("twin") == ("", False)


REFUSED = [
    (400, {"object": "error", "message": "System role not supported", "code": 400}),
    (500, error("System role not supported")),  # llama.cpp
    (422, error("Template error: invalid operation: System role not supported")),
    (400, error("Conversation roles must alternate user/assistant/user/assistant/...")),
    (400, error("Only user and assistant roles are supported!")),
    (400, error("Developer instruction is not enabled for models/gemma-3-27b-it")),
    (
        400,
        error("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    ),
    (400, error('messages: Unexpected role "system".')),
    (400, error("'system' is not one of ['user', 'assistant'] - 'messages.0.role'")),
    (422, {"detail": "Input tag 'system' found using 'role' does not match the expected tags"}),
    (200, {"object": "error", "message": "System role not supported"}),
]


@pytest.mark.parametrize("status, body", REFUSED)
def test_make_try_finds_the_line_for_a_model_without_a_system_role(
    served, endpoint, recordings, status, body
):
    def script(n, asked):
        roles = [m["role"] for m in asked["messages"]]
        return (status, {}, body) if "system" in roles else completion('{"score": 1}')

    endpoint.script = script
    requests = [request_of(served, SYSTEM, {**USER, "content": str(k)}) for k in range(9)]
    before = len(endpoint.bodies)
    registry.model(served)["max_concurrency"] = 1
    with pytest.raises(StopRun, match='system = "user"'):  # a run says so as well
        ask(requests, recordings)
    assert len(endpoint.bodies) - before == 3
    told = []
    assert not asyncio.run(try_out.tried(served, told.append))
    assert '    system = "user"' in told and not any("omit" in line for line in told)
    registry.model(served)["system"] = "user"
    assert asyncio.run(try_out.tried(served, told.append)), told


def test_a_strict_template_is_talked_to(monkeypatch, recordings):
    with providers.Providers() as provider:
        entry = {"provider": "vllm", "base_url": provider.at("vllm-gemma"), "model": "gemma"}
        monkeypatch.setitem(registry.entries(), "gemma", entry)
        told = []
        assert not asyncio.run(try_out.tried("gemma", told.append))
        assert '    system = "user"' in told
        entry["system"] = "user"
        assert asyncio.run(try_out.tried("gemma", told.append)), told
        (reply,) = ask([request_of("gemma", SYSTEM, USER)], recordings)
        assert reply.text == provider.log[-1].text


@pytest.mark.parametrize(
    "more, words",
    [
        ({"omit": ["system"]}, 'write system = "user"'),
        ({"omit": ["seed", "system"]}, 'write system = "user"'),
        ({"system": "assistant"}, "system = 'assistant'"),
        ({"system": True}, "should be a text"),
        ({"system": "user", "api": "completions", "response_format": "none"}, "knows no roles"),
    ],
    ids=str,
)
def test_a_line_that_would_change_nothing_is_an_error(tmp_path, monkeypatch, more, words):
    lines = ["[mine]", 'provider = "x"', 'model = "m"', 'base_url = "http://x/v1"']
    lines += [f"{k} = {json.dumps(v)}" for k, v in more.items()]
    (tmp_path / "models.toml").write_text("\n".join(lines))
    monkeypatch.setattr(paths, "DATA", tmp_path)
    registry._read.cache_clear()
    try:
        with pytest.raises(Exception, match="models.toml") as wrong:
            registry.model("mine")
    finally:
        registry._read.cache_clear()
    assert words in str(wrong.value)
