"""What providers say when they refuse, and how they count: texts of theirs, and what each means."""

import datetime
import email.utils
import itertools
import json
import time

import pytest

from bedside import BedsideError
from calling import request, understood
from conftest import completion

# ---- limits and prompts that are too long

TOO_HIGH = {  # words: the limit of a reply that they name
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens,"
    " whereas you provided 100000.": "16,384",
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for"
    " claude-haiku-5-5-20260901": "64,000",
    "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported"
    " range is from 1 (inclusive) to 65537 (exclusive).": "65,536",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": "8,192",
    "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]": "8,192",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less"
    " than the `context_window` for this model": "8,192",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum"
    " tokens value that is lower than 4096.": "4,096",
    "The parameter `max_completion_tokens` specified in the request are not valid: integer above"
    " maximum value, expected a value <= 12288, but got 100000 instead.": "12,288",
    "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context"
    " length is 16384 tokens and your request has 50 input tokens (100000 > 16384 - 50).": "16,384",
    "This endpoint's maximum context length is 32,768 tokens. However, you requested about 100050"
    " tokens (50 of text input, 100000 in the output).": "32,768",
}
TOO_LONG = [
    "This model's maximum context length is 128000 tokens. However, you requested 150000 tokens"
    " (50000 in the messages, 100000 in the completion).",
    "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context"
    " length is 128000 tokens and your request has 40000 input tokens (100000 > 128000 - 40000)",
    "input length and `max_tokens` exceed context limit: 150000 + 100000 > 200000, decrease input"
    " length or `max_tokens` and try again",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 128000. Given: 40000"
    " `inputs` tokens and 100000 `max_new_tokens`",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Please reduce the length of the messages or completion. context_length_exceeded",
]


@pytest.fixture
def priced(world):
    world.model(usd_per_million_in=1.0, usd_per_million_out=1.0, max_concurrency=1)
    return world


@pytest.mark.parametrize("words", TOO_HIGH)
def test_a_limit_that_is_too_high_stops_after_three_calls_that_cost_nothing(
    priced, endpoint, words
):
    """With $0.25, of which each reserves $0.10, forty calls end for their reason."""
    endpoint.script = lambda n, body: (400, {}, {"error": {"message": words}})
    with pytest.raises(BedsideError) as told:
        priced.ask(*range(40), max_tokens=100_000, budget_usd=0.25)
    assert len(endpoint.bodies) == 3 and priced.spent() == 0
    assert f"{TOO_HIGH[words]} tokens of a reply at most" in str(told.value)
    assert words[:60] in str(told.value) and "reasoning_tokens" in str(told.value)


def test_a_prompt_that_is_too_long_costs_nothing_and_only_itself(priced, endpoint):
    def script(n, body):
        k = int(body["messages"][0]["content"].split()[-1])
        odd = k % 2 or k >= 2 * len(TOO_LONG)
        return completion() if odd else (400, {}, {"error": {"message": TOO_LONG[k // 2]}})

    endpoint.script = script
    rows = priced.ask(*range(12), max_tokens=100_000, budget_usd=0.21)  # room for two calls
    statuses = [r.reply_status.partition(":")[0] for r in rows]
    assert statuses == ["context too long", ""] * 6
    assert priced.spent() == pytest.approx(6 * 15e-6)


# ---- refusals: (status, body): what it is, what follows


def error(message="Slow down.", **more):
    return {"error": {"message": message, **more}}


SYSTEM = "System role not supported"
REFUSED = [
    (400, error("API key not valid. Please pass a valid one."), "key refused", "stop"),
    (401, error("No auth credentials found"), "key refused", "stop"),
    (403, error("Not for you."), "key refused", "stop"),
    (400, error("Your credit balance is too low"), "no credit", "all"),
    (402, error("Insufficient Balance"), "no credit", "all"),
    (429, error("You exceeded your current quota, check your billing."), "no credit", "all"),
    (429, error("Limit of 250 requests per day."), "no credit", "all"),
    (429, error("Limit of 5 requests per minute."), "rate limit", "again"),
    (404, error("There is no model m."), "no such model", "all"),
    (400, error("Model Not Exist"), "no such model", "all"),
    (400, error("m is not a valid model ID"), "no such model", "all"),
    (400, error("Unsupported parameter: 'seed'"), "unsupported parameter", "all"),
    (422, {"detail": [{"msg": "Extra inputs are not permitted"}]}, "unsupported parameter", "all"),
    (400, error("This response_format type is unavailable now"), "unsupported parameter", "all"),
    (400, error("too spicy"), "bad request", "alone"),
    (400, error("Blocked.", code="content_filter"), "filtered", "withheld"),
    (403, error("This model requires moderation: your input was flagged."), "filtered", "withheld"),
    (400, error("Could not finish the message"), "cut off while thinking", "withheld"),
    (408, error("Hm."), "timeout", "again"),
    (504, error("Hm."), "timeout", "again"),
    (409, error("Hm."), "endpoint's fault", "again"),
    (500, error("Hm."), "endpoint's fault", "again"),
    (529, error("Hm."), "endpoint's fault", "again"),
    (307, {}, "redirect", "all"),
    (407, {}, "proxy", "all"),
    (400, {"object": "error", "message": SYSTEM, "code": 400}, "no system role", "all"),
    (500, error(SYSTEM), "no system role", "all"),  # llama.cpp
    (422, error(f"Template error: invalid operation: {SYSTEM}"), "no system role", "all"),
    (400, error("Conversation roles must alternate user/assistant/..."), "no system role", "all"),
    (400, error("Only user and assistant roles are supported!"), "no system role", "all"),
    (400, error("Developer instruction is not enabled for models/g"), "no system role", "all"),
    (400, error("'messages[0].role' does not support 'system'."), "no system role", "all"),
    (400, error('messages: Unexpected role "system".'), "no system role", "all"),
    (400, error("'system' is not one of ['user'] - 'messages.0.role'"), "no system role", "all"),
    (422, {"detail": "Input tag 'system' found using 'role'"}, "no system role", "all"),
]


def test_a_refusal_is_understood_by_its_status_and_words():
    for status, body, kind, fate in REFUSED:
        found = understood(status, body)
        assert found[:2] == (kind, fate), (status, body)


INSIDE = {  # an error of status 200: its kind, calls until it is given up
    "BadRequestError": (
        {"object": "error", "message": "Too spicy.", "type": "BadRequestError", "code": 400},
        ("bad request", 1),
    ),
    "no code": ({"object": "error", "message": "Too spicy."}, ("bad request", 1)),
    "FastChat": ({"object": "error", "message": "Too spicy.", "code": 40302}, ("bad request", 1)),
    "its words": (error("This model's maximum context length is 4096."), ("context too long", 1)),
    "no system role": ({"object": "error", "message": SYSTEM}, ("no system role", 1)),
    "overloaded": ({"object": "error", "message": "Overloaded."}, ("endpoint's fault", 6)),
    "busy": (error("Service temporarily unavailable"), ("endpoint's fault", 6)),
    "a detail": ({"detail": "Not for you."}, ("bad request", 1)),
    "Cloudflare": (
        {"success": False, "errors": [{"message": "No route.", "code": 7003}], "result": None},
        ("bad request", 1),
    ),
    "MiniMax": (
        {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
        ("no credit", 1),
    ),
    "Baidu": ({"error_code": 336003, "error_msg": "Messages are empty."}, ("bad request", 1)),
    "Google": ([error("Too spicy.", code=400)], ("bad request", 1)),
    "who knows": (error("Hm."), ("endpoint's fault", 6)),
    "nothing": ({"models": []}, ("bad answer", 6)),
    **{  # half a text, by whatever name
        finish: (completion("half a", finish), ("endpoint's fault", 6))
        for finish in ("error: upstream", "abort", "cancelled", "timeout", "failed", "interrupted")
    },
}


def test_an_error_inside_an_answer_is_asked_again_only_if_it_may_pass(world, endpoint):
    prompts = {k: v for n in INSIDE for k, v in ((n, n), (f"after {n}", f"after {n}"))}

    def script(n, body):
        made = INSIDE.get(body["messages"][0]["content"])
        return (200, {}, json.dumps(made[0]).encode()) if made else completion()

    endpoint.script = script
    world.model(max_concurrency=1)
    rows = {r.item: r.reply_status.partition(":")[0] for r in world.ask(prompts)}
    for name, (_, (kind, calls)) in INSIDE.items():
        asked = sum(b["messages"][0]["content"] == name for b in endpoint.bodies)
        assert (rows[name], asked) == (kind, calls), name
        assert rows[f"after {name}"] == ""


# ---- when a limit is over

NOW = datetime.datetime(2026, 11, 26, 12, 0, tzinfo=datetime.UTC)
SLOW, DAY = error(), 86_400
IN_2_DAYS = NOW + datetime.timedelta(days=2)
USED_UP = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "26h0m0s"}
TWO = {
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-11-26T12:00:30Z",
    "anthropic-ratelimit-tokens-remaining": "9000",
    "anthropic-ratelimit-tokens-reset": "2026-11-28T12:00:00Z",
}
SOON = str(int(NOW.timestamp()) * 1000 + 9000)
ROUTED = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": SOON}
RESETS = [  # headers, body, seconds
    ({}, SLOW, None),
    ({"retry-after": "20"}, SLOW, 20),
    ({"retry-after": "1382400"}, SLOW, 16 * DAY),
    ({"retry-after": email.utils.format_datetime(IN_2_DAYS, True)}, SLOW, 2 * DAY),
    ({"retry-after": "Thu, 26 Nov 2026 11:00:00 GMT"}, SLOW, 0),
    ({"retry-after": str(int(NOW.timestamp()) + 3600)}, SLOW, 3600),
    ({"retry-after-ms": "1500", "retry-after": "2"}, SLOW, 1.5),
    *(({"retry-after": odd}, SLOW, None) for odd in ("soon", "nan", "1e999")),
    ({}, error(details=[{"retryDelay": "34.5s"}]), 34.5),
    ({}, error(details=[{"metadata": {"quotaResetDelay": "239h52m1s"}}]), 863_521),
    ({}, error(resets_in_seconds=529_498, resets_at=1772180859), 529_498),
    ({}, error(resets_at=int(IN_2_DAYS.timestamp())), 2 * DAY),
    ({}, error(retry_after_ms=1500), 1.5),
    ({}, error("Limit 3, Used 3. Please try again in 20s. Visit ..."), 20),
    ({}, error("Please try again in 1h26m3.5s."), 5163.5),
    ({}, error("Please retry in 34.074824224s."), 34.07),
    ({}, error("Please retry after 52 seconds."), 52),
    ({}, error("Please try again in 860ms."), 0.86),
    ({}, error("Usage limit reached. Resets in 16 days."), 16 * DAY),
    ({}, error("It resets in 2 hours and 5 minutes."), 7500),
    ({}, error("Your quota renews in 2 weeks."), 14 * DAY),
    ({}, error("You will regain access on 2026-12-01 at 00:00 UTC."), 4.5 * DAY),
    ({}, error("Limit resets at: 2026-11-28 12:00:00 UTC"), 2 * DAY),
    ({}, error("The limit will reset at 2026-11-27T13:00:00+01:00"), DAY),
    ({}, error("Your limit resets on 2026-11-28."), 1.5 * DAY),
    ({"retry-after": "60"}, error("Resets in 16 days."), 16 * DAY),
    ({}, error("This is available for 5 models, not 2026."), None),
    (USED_UP, SLOW, 93_600),
    ({**USED_UP, "x-ratelimit-remaining-requests": "12"}, SLOW, None),
    (TWO, SLOW, 30),
    ({"retry-after": "7", "ratelimit-remaining": "0", "ratelimit-reset": "86400"}, SLOW, 7),
    ({}, error(metadata={"headers": ROUTED}), 9),
]


def test_when_a_limit_is_over_is_understood_however_it_is_said(monkeypatch):
    """Up to ten minutes are waited for; more stop the run."""
    monkeypatch.setattr(time, "time", NOW.timestamp)
    for headers, body, wait in RESETS:
        _, fate, found = understood(429, body, headers)
        assert found == (None if wait is None else pytest.approx(wait, abs=0.01)), (headers, body)
        assert (fate == "stop") == ((wait or 0) > 600), (headers, body)


@pytest.mark.parametrize("status", [400, 402, 429, 503])
def test_a_limit_of_days_ends_a_run_at_once_and_says_when_it_is_over(world, endpoint, status):
    body = error("Monthly usage limit reached. Resets in 16 days.")
    endpoint.script = lambda n, _: completion() if n < 3 else (status, {}, body)
    world.model(max_concurrency=1)
    day = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=16)
    with pytest.raises(BedsideError, match="Monthly usage limit.*in 16 days") as told:
        world.ask(*range(8))
    assert len(endpoint.bodies) == 3 and len(world.recorded()) == 2
    later = day + datetime.timedelta(minutes=10)  # however slow this machine is
    assert any(f"{d:%Y-%m-%d}" in str(told.value) for d in (day, later))


def test_a_wait_of_minutes_is_waited_for(world, endpoint, turned):
    endpoint.script = lambda n, _: (429, {"Retry-After": "300"}, SLOW) if n == 1 else completion()
    assert world.ask("a")[0].answer == "fine" and 300 <= turned() < 310


# ---- what a call's counts say: prompt, completion, of the prompt into a cache

# p prompt, c completion, t total; of the prompt from a cache (r) and into one (w), of the reply
# thoughts (k): OpenAI's names; R, W: Anthropic's; h, m: DeepSeek's parts of a prompt
NAMES = {
    "p": "prompt_tokens",
    "c": "completion_tokens",
    "t": "total_tokens",
    "r": "prompt_tokens_details.cached_tokens",
    "w": "prompt_tokens_details.cache_write_tokens",
    "k": "completion_tokens_details.reasoning_tokens",
    "R": "cache_read_input_tokens",
    "W": "cache_creation_input_tokens",
    "h": "prompt_cache_hit_tokens",
    "m": "prompt_cache_miss_tokens",
    "i": "input_tokens",
    "o": "output_tokens",
    "n": "cached_tokens",
}
COUNTS = """
20003 10: p20003 c10 t20013
20003 10: p20003 c10 t20013 r20000 w0 k0  # OpenAI, OpenRouter
20003 10: p20003 c10 r20000
20003 10: i3 R20000 W0 o10  # Anthropic
20003 10: p3 c10 t20013 R20000 W0  # Portkey
20003 10: p3 c10 t13 R20000
20003 10: p3 c10 R20000
20003 10: p3 c10 t20013 r20000  # CLIProxyAPI, new-api
20003 10: p3 c10 t13 r20000
20003 10: p20003 c10 t20013 r20000 R20000 W0  # LiteLLM
20003 10: p20003 c10 t13 r20000  # browser-use
20003 10: p20003 c10 t20013 h20000 m3  # DeepSeek
20003 10: p3 c10 h20000 m3
20003 10: p20003 c10 t20013 n20000  # Moonshot
100 70: p100 c70 t170
100 70: p100 c70 t170 k60
100 70: p100 c10 t170  # Gemini
100 70: p100 c10 t170 k60  # xAI
100 70: p100 c10 k60
100 70: p100 c10 t110 k60  # vercel/ai
100 70: i100 o70 t170
21003 70 1000: p21003 c70 t21073 r20000 w1000 k60
21003 70 1000: p3 c70 t21073 R20000 W1000 k60
21003 70 1000: p3 c10 t21073 R20000 W1000 k60
21003 70 1000: p20003 c70 t21073 r20000 W1000 k60  # LiteLLM for Bedrock
1640 102: p1640 c102 t1742 k109  # thoughts by a gateway's own count
1640 277: p1640 c277 t1917 k323
1640 102: p1640 c102 t1742 k40
951 6001: p951 c6000 t6952 k6001
3110 1582: p3110 c673 t4692 k909
"""


def usage_of(counts):
    usage = {}
    for word in counts.partition("#")[0].split():
        name, _, part = NAMES[word[0]].partition(".")
        if part:
            usage.setdefault(name, {})[part] = int(word[1:])
        else:
            usage[name] = int(word[1:])
    return usage


CALLS = [line.split(": ") for line in COUNTS.strip().splitlines()]


def test_each_shape_of_a_call_is_the_same_account(world, endpoint):
    """As numbers and as texts; what is priced is what is told; read anew from each recording."""
    prompts = {f"{kind} {n}": f"{kind} {n}" for n in range(len(CALLS)) for kind in ("int", "str")}

    def script(n, body):
        kind, k = body["messages"][0]["content"].split()
        usage = usage_of(CALLS[int(k)][1])
        if kind == "str":
            usage = {k: str(v) if isinstance(v, int) else v for k, v in usage.items()}
        return {**completion(), "usage": usage}

    endpoint.script = script
    world.model(usd_per_million_in=2.0, usd_per_million_out=10.0, max_concurrency=1)
    for mode in ("record", "replay"):

        async def task(one):
            return [await one(request(k, p)) for k, p in prompts.items()]

        (replies,) = world.talk(task, mode=mode)
        for reply in replies:
            expected = list(map(int, CALLS[int(reply.item.split()[1])][0].split()))
            assert [reply.prompt_tokens, reply.completion_tokens] == expected[:2], reply.item
            if len(expected) == 3:
                assert reply.cache_write_tokens == expected[2]
    usd = 0.0
    for tokens, _ in CALLS:
        prompt, reply, *_ = map(int, tokens.split())
        usd += 2 * (2.0 * prompt + 10.0 * reply) / 1e6
    assert world.spent() == pytest.approx(usd)


NO_COUNTS = [[1], "many", {"prompt_tokens": [1]}, {"prompt_tokens": True}, 7, None]
NO_COUNTS += [{"prompt_tokens": n} for n in ("²", "-1", -1, float("nan"), 1e308, 10**400)]


def test_a_usage_that_makes_no_sense_is_unknown_and_the_reply_is_kept(world, endpoint):
    def script(n, body):
        usage = NO_COUNTS[int(body["messages"][0]["content"])]
        return 200, {}, json.dumps({**completion(), "usage": usage}).encode()

    endpoint.script = script
    for mode in ("record", "replay"):

        async def task(one):
            return [await one(request(f"{n}", f"{n}")) for n in range(len(NO_COUNTS))]

        (replies,) = world.talk(task, mode=mode)
        assert {(r.text, r.prompt_tokens) for r in replies} == {("fine", None)}


def test_a_whole_total_gives_the_whole_call_in_every_shape(world, endpoint):
    """Whatever a cache and thoughts: nothing is lost, and no thought is taken for a prompt.

    Only net counts with untold thoughts look like gross ones, if the cache is the smaller part;
    then the cache counts as thoughts: too dear, never too cheap.
    """
    sizes = itertools.product((5, 5000), (0, 7, 3000), (0, 2000), (40,), (0, 300))
    shapes = list(itertools.product(sizes, (True, False), ("within", "beside", "untold")))

    def parts(n):
        (plain, read, wrote, said, thought), within, thoughts = shapes[n]
        prompt, reply = plain + read + wrote, said + thought
        usage = {
            "prompt_tokens": prompt if within else plain,
            "completion_tokens": reply if thoughts == "within" else said,
            "total_tokens": prompt + reply,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": wrote},
        }
        if thoughts != "untold":
            usage["completion_tokens_details"] = {"reasoning_tokens": thought}
        alike = not within and thoughts == "untold" and thought and 0 < read + wrote <= plain
        return usage, prompt, reply, alike

    endpoint.script = lambda n, body: {
        **completion(),
        "usage": parts(int(body["messages"][0]["content"]))[0],
    }

    async def task(one):
        return [await one(request(f"{n}", f"{n}")) for n in range(len(shapes))]

    for n, found in enumerate(world.talk(task)[0]):
        usage, prompt, reply, alike = parts(n)
        assert found.prompt_tokens + found.completion_tokens == prompt + reply, usage
        mine = found.completion_tokens
        assert mine > reply if alike else mine == reply, usage
