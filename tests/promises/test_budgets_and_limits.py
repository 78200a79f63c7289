"""No budget is passed and limits hold: for a call, a make's notebooks, two processes."""

import asyncio
import itertools
import random
import time
from collections import Counter
from types import SimpleNamespace

import pytest

import bedside
from bedside import BedsideError
from calling import price, request, result
from conftest import completion, counted

# A call of "question a" takes at most 122 prompt tokens (its 10 bytes, and of a template 12 for a
# message and 100 in all) and here 20 of a reply.
MOST = 122, 20
USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


def usd(world, prompt, reply):
    """What tokens cost, by an entry's prices for a million."""
    entry = world.entries["mine"]
    return (prompt * entry["usd_per_million_in"] + reply * entry["usd_per_million_out"]) / 1e6


@pytest.fixture
def priced(world):
    """$0.001 and $0.01 a token."""
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4)
    world.model(max_concurrency=1)
    return world


# ---- a budget is never passed


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_a_budget_is_not_passed(priced, endpoint, seed):
    """Random prices, limits and answers: whole, uncounted, refused, lost after the work."""
    rng, paid = random.Random(seed), []
    priced.model(
        usd_per_million_in=rng.choice([1e2, 1e3]),
        usd_per_million_out=rng.choice([1e3, 2e4]),
        max_concurrency=rng.choice([1, 4, 16]),
    )

    def script(n, body):
        what = random.Random(f"{seed} {n}").choice(["whole"] * 4 + ["uncounted", 429, 503, 504])
        prompt, reply = rng.randint(1, 122), rng.randint(0, body["max_tokens"])
        if what not in (429, 503):
            paid.append(usd(priced, prompt, reply))
        if isinstance(what, int):
            return what, {}, {"error": {"message": "Not now."}}
        usage = {"prompt_tokens": prompt, "completion_tokens": reply}
        return {**completion(), "usage": usage if what == "whole" else None}

    endpoint.script = script
    budget = rng.uniform(2, 20)
    with pytest.raises(BedsideError, match=f"BUDGET_USD={budget:g} would be passed"):
        priced.ask(*range(2000), budget_usd=budget)
    assert 0 < sum(paid) <= budget
    most = price("mine", 124, 20)  # of one more call
    most *= priced.entries["mine"]["max_concurrency"]  # that were under way
    assert priced.spent() > budget - most  # it stops no earlier than it must


def test_a_run_stops_at_the_first_call_that_could_pass_its_budget(priced, endpoint):
    """Three calls at $0.06 leave $0.182 of $0.362; one may cost $0.322. Recorded ones are free."""
    endpoint.script = lambda n, body: completion()  # 10 and 5 tokens
    budget = usd(priced, *MOST) + 2.5 * usd(priced, 10, 5)
    with pytest.raises(BedsideError, match=r"BUDGET_USD=\S+ would be passed"):
        priced.ask(*"abcdefgh", budget_usd=budget)
    assert len(endpoint.bodies) == 3 == len(priced.recorded())
    with pytest.raises(BedsideError, match="BUDGET_USD"):
        priced.talk(
            *(lambda one, i=i: one(request(i, f"question {i}", max_tokens=20)) for i in "defg"),
            budget_usd=budget,
        )
    assert len(endpoint.bodies) == 3  # it holds for all notebooks of a make
    priced.another_make()
    with pytest.raises(BedsideError, match="BUDGET_USD"):
        priced.ask(*"abcdefgh", budget_usd=budget)
    assert len(endpoint.bodies) == 6


def test_a_total_holds_for_all_makes_of_the_same_settings(priced, endpoint):
    def task(item):
        return lambda one: one(request(item, f"question {item}", max_tokens=20))

    total = 0.2 + usd(priced, *MOST)  # each spends $0.06
    for item, fits in (("a", True), ("b", True), ("c", True), ("d", True), ("e", False)):
        priced.another_make()
        if fits:
            priced.talk(task(item), budget_total=total)
            continue
        with pytest.raises(BedsideError, match=r"BUDGET_TOTAL=\S+ would be passed"):
            priced.talk(task(item), budget_total=total)
        priced.talk(task(item), budget_total=total, limit=3)  # other settings
    assert len(endpoint.bodies) == 5


@pytest.mark.parametrize("name", ["budget_usd", "budget_total"])
def test_a_budget_is_an_amount_and_needs_a_price(world, endpoint, name):
    for value in ("nan", "inf", "-1", "1e999", "ten", float("nan")):
        with pytest.raises(BedsideError, match=rf"{name.upper()}=.*at least 0"):
            world.run(**{name: value})
    with pytest.raises(BedsideError, match=f"{name.upper()} is set but the price of mine"):
        world.talk(lambda one: one(request("a", "b")), **{name: 5})
    world.model(usd_per_million_in=1, usd_per_million_out=2)
    assert world.talk(lambda one: one(request("a", "b")), **{name: 5})[0].text == "fine"
    assert len(endpoint.bodies) == 1


# ---- what counts: a direct call and a line of a batch alike

SAID = {"message": "The words of it."}
FILTER = {"message": "Blocked by the content filter.", "code": "content_filter"}
UNFINISHED = {"message": "Could not finish the message: max_tokens was reached."}
NO_CHOICE = {**completion(), "choices": []}
CHARGED = {  # name: (status, body, what it counts as: its usage, the most, or nothing)
    "a whole answer": (200, {**completion(), "usage": USAGE}, "usage"),
    "nothing counted": (200, {**completion(), "usage": None}, "most"),
    "broken off": (200, {**completion("half", "error"), "usage": USAGE}, "usage"),
    "broken off, uncounted": (200, {**completion("half", "network_error"), "usage": None}, "most"),
    "an error in its choice": (
        200,
        {"choices": [{"error": SAID, "message": {"content": "so"}}], "usage": USAGE},
        "usage",
    ),
    "an error inside, nothing begun": (200, {"error": {**SAID, "code": 502}}, "nothing"),
    "an error in its place": (200, {"object": "error", **SAID}, "nothing"),
    "filtered": (200, {**completion("", "content_filter"), "usage": USAGE}, "usage"),
    "no choice": (200, {**NO_CHOICE, "usage": USAGE}, "usage"),
    "no choice, uncounted": (200, {**NO_CHOICE, "usage": None}, "most"),
    "a fault with usage": (500, {"error": SAID, "usage": USAGE}, "usage"),
    "a filter with usage": (400, {"error": FILTER, "usage": USAGE}, "usage"),
    "a filter before it began": (400, {"error": FILTER}, "nothing"),
    "unfinished thoughts": (400, {"error": UNFINISHED}, "most"),
    "a timeout": (408, {"error": SAID}, "most"),
    "a gateway's timeout": (504, {"error": SAID}, "most"),
    **{f"{s}": (s, {"error": SAID}, "nothing") for s in (400, 402, 404, 429, 500, 503, 529)},
}


def test_what_was_paid_counts_whatever_came(priced, endpoint):
    prompts = {name: f"{name:30}" for name in CHARGED}
    most = 100 + 12 + 30, 20
    expected = {"usage": usd(priced, 100, 7), "most": usd(priced, *most), "nothing": 0.0}

    def script(n, body):
        status, made, _ = CHARGED[body["messages"][0]["content"].strip()]
        return status, {}, made

    endpoint.script, before = script, 0.0
    for name in CHARGED:
        calls = len(endpoint.bodies)
        priced.ask({name: prompts[name]})
        tries = len(endpoint.bodies) - calls
        assert priced.spent() - before == pytest.approx(tries * expected[CHARGED[name][2]]), name
        before = priced.spent()


def test_a_storm_of_refusals_leaves_a_budget_alone(priced, endpoint):
    """Five refusals before each answer; 20 answers of $0.17 are $3.40, and refusals nothing."""
    seen = Counter()

    def script(n, body):
        seen[said := body["messages"][0]["content"]] += 1
        busy = 503, {}, {"error": SAID}
        return busy if seen[said] < 6 else {**completion(), "usage": USAGE}

    endpoint.script = script
    rows = priced.ask(*range(20), budget_usd=3.4 + usd(priced, *MOST))
    assert not any(r.reply_status for r in rows) and len(endpoint.bodies) == 120
    assert priced.spent() == pytest.approx(3.4)


# ---- prices

# By the providers' lists: prompts above so many tokens, USD for a million in and out; in is what
# goes into a cache where that costs more. Two lines: busy hours, or a price from next year on
TIERS = """
gpt-6.2-sol 0 2.5 10
gpt-6.2-sol 272000 5 15
gpt-6.1-terra 0 1.25 5
gpt-6.1-terra 272000 2.5 7.5
gpt-6-luna 0 .125 .5
gpt-6-luna 272000 .25 .75
gpt-4o-2024-08-06 0 2.5 10
claude-opus-5-5 0 4 20
claude-sonnet-5-5 0 2 10
claude-haiku-5-5 0 .1 .5
claude-haiku-5-5 100000 .5 2.5
gemini-3.8-flash 0 .75 3.75
gemini-3.8-flash 0 1.5 7.5
gemini-3.1-pro-preview 0 2 12
gemini-3.1-pro-preview 200000 4 18
deepseek-flash 0 .15 .6
deepseek-flash 0 .3 1.2
deepseek-flash-thinking 0 .15 .6
deepseek-flash-thinking 0 .3 1.2
deepseek-v4-pro 0 .66 1.98
deepseek-v4-pro 0 1.32 3.96
mistral-medium-3-5 0 1.5 7.5
mistral-medium-3-5-thinking 0 1.5 7.5
qwen3.8-max 0 2 6
together-glm-5.3 0 1.4 4.4
gpt-5.4-2026-03-05 0 2.5 15
gpt-5.4-2026-03-05 272000 5 22.5
claude-opus-4-6 0 5 25
claude-opus-4-5-20251101 0 5 25
"""


def test_what_a_budget_reserves_is_never_less_than_a_tiers_price():
    told = [line.split() for line in TIERS.split("\n") if line]
    called = [n for n, m in bedside.models().items() if m.provider != "local"]
    assert {name for name, *_ in told} == {n for n in called if price(n, 1, 1) is not None}
    for name, *numbers in told:
        above, usd_in, usd_out = map(float, numbers)
        for prompt, reply in ((above + 1, 0), (above + 1, 5000), (above + 90_000, 100)):
            usd = (prompt * usd_in + reply * usd_out) / 1e6
            assert price(name, prompt, reply) >= usd * (1 - 1e-12), name


# ---- limits


def test_as_many_at_once_as_the_entry_says(world, endpoint):
    endpoint.script, most = counted(4)
    world.ask(*range(24))
    assert most[0] == 4
    first = request("x", "first")
    endpoint.script, most = counted(4)

    async def task(one, k):
        await one(first)
        return [await one(request(f"{k}{j}", f"{k} {j}")) for j in "ab"]

    world.talk(*(lambda one, k=k: task(one, k) for k in range(12)))
    assert most[0] == 4 and len(endpoint.bodies) == 24 + 1 + 24


@pytest.mark.parametrize("limits", [{"requests_per_minute": 5}, {"tokens_per_minute": 200}])
def test_no_minute_has_more_than_the_entry_says(world, endpoint, monkeypatch, limits):
    """The clock is turned on by whoever sleeps.

    A call of 137 tokens at most turns out to have 15: five fit into a minute of 200.
    """
    clock, pause, seen = SimpleNamespace(now=time.time()), asyncio.sleep, []

    async def sleep(seconds, *_):
        clock.now += seconds
        await pause(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(time, "time", lambda: clock.now)
    endpoint.script = lambda n, body: seen.append(clock.now) or completion()
    world.model(max_concurrency=1, **limits)
    world.ask(*range(40))
    used = 1 if "requests_per_minute" in limits else 15
    (most,) = limits.values()
    for first in seen:
        assert sum(used for at in seen if first <= at < first + 59.9) <= most
    assert seen[-1] - seen[0] < 60 * 8  # and no longer than it takes
