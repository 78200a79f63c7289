"""What providers say when they refuse, and how they count: texts of theirs, and what each means."""

import datetime
import itertools
import json
import re

import pytest

from bedside import BedsideError
from calling import request
from conftest import completion

# ---- refusals: `tests/readers/failures.txt` has each provider's; here is what a run makes of them

TOO_HIGH = "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
SLOW, DAYS = "Slow down.", "Monthly usage limit reached. Resets in 16 days."


DAYS_S = {"Retry-After": str(16 * 86_400)}


def error(message):
    return {"error": {"message": message}}


@pytest.fixture
def priced(world):
    world.model(usd_per_million_in=1.0, usd_per_million_out=1.0, max_concurrency=1)
    return world


def test_a_limit_that_is_too_high_stops_after_three_calls_that_cost_nothing(priced, endpoint):
    """With $0.25, of which each reserves $0.10, forty calls end for their reason."""
    endpoint.script = lambda n, body: (400, {}, error(TOO_HIGH))
    with pytest.raises(BedsideError) as told:
        priced.ask(*range(40), max_tokens=100_000, budget_usd=0.25)
    assert len(endpoint.bodies) == 3 and priced.spent() == 0
    assert TOO_HIGH in str(told.value) and "reasoning_tokens" in str(told.value)


def test_a_prompt_that_is_too_long_costs_nothing_and_only_itself(priced, endpoint):
    def script(n, body):
        k = int(body["messages"][0]["content"].split()[-1])
        return completion() if k % 2 else (400, {}, error(TOO_LONG))

    endpoint.script = script
    rows = priced.ask(*range(12), max_tokens=100_000, budget_usd=0.21)  # room for two calls
    statuses = [r.reply_status.partition(":")[0] for r in rows]
    assert statuses == ["context too long", ""] * 6
    assert priced.spent() == pytest.approx(6 * 15e-6)


INSIDE = {  # an error of status 200: calls until it is given up
    "refused": ({"object": "error", "message": "Too spicy.", "code": 400}, 1),
    "may pass": (error("Service temporarily unavailable"), 6),
    "nothing": ({"models": []}, 6),
    "broken off": (completion("half a", "error: upstream"), 6),
}


def test_an_error_inside_an_answer_is_asked_again_only_if_it_may_pass(world, endpoint):
    prompts = {k: k for n in INSIDE for k in (n, f"after {n}")}

    def script(n, body):
        return INSIDE.get(body["messages"][0]["content"], [completion()])[0]

    endpoint.script = script
    world.model(max_concurrency=1)
    failed = {r.item: bool(r.reply_status) for r in world.ask(prompts)}
    for name, (_, calls) in INSIDE.items():
        assert sum(b["messages"][0]["content"] == name for b in endpoint.bodies) == calls, name
        assert failed[name] and not failed[f"after {name}"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_limit_of_days_ends_a_run_at_once_and_says_when_it_is_over(world, endpoint, status):
    endpoint.script = lambda n, _: completion() if n < 3 else (status, DAYS_S, error(DAYS))
    world.model(max_concurrency=1)
    day = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=16)
    with pytest.raises(BedsideError, match=re.escape(DAYS)) as told:
        world.ask(*range(8))
    assert len(endpoint.bodies) == 3 and len(world.recorded()) == 2
    later = day + datetime.timedelta(minutes=10)  # however slow this machine is
    assert any(f"{d:%Y-%m-%d}" in str(told.value) for d in (day, later))


def test_a_wait_of_minutes_is_waited_for(world, endpoint, turned):
    slow = 429, {"Retry-After": "300"}, error(SLOW)
    endpoint.script = lambda n, _: slow if n == 1 else completion()
    assert world.ask("a")[0].answer == "fine" and 300 <= turned() < 310


# ---- what a call's counts say: prompt, completion

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
21003 70: p21003 c70 t21073 r20000 w1000 k60
21003 70: p3 c70 t21073 R20000 W1000 k60
21003 70: p3 c10 t21073 R20000 W1000 k60
21003 70: p20003 c70 t21073 r20000 W1000 k60  # LiteLLM for Bedrock
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
            assert [reply.prompt_tokens, reply.completion_tokens] == expected, reply.item
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
