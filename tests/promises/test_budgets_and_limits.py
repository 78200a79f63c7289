"""No budget is passed and limits hold: for a call, a make, after a kill.

Of several processes: `test_kills_and_disks.py`.
"""

import os
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

import bedside
from bedside import BedsideError
from bedside.read.surroundings import here
from calling import price, request
from conftest import completion, counted

# A call of "question a" takes at most 122 prompt tokens (its 10 bytes, and of a template 12 for a
# message and 100 in all) and here 20 of a reply; a usual answer takes 10 and 5.
MOST, PAID = 0.122 + 0.2, 0.01 + 0.05  # USD


@pytest.fixture
def priced(world):
    """$0.001 and $0.01 a token."""
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4, max_concurrency=1)
    return world


def ask(item):
    return lambda one: one(request(item, f"question {item}", max_tokens=20))


def test_whatever_comes_a_budget_is_not_passed(priced, endpoint, seed=1):
    """Random prices, limits and answers: whole, uncounted, refused, lost after the work."""
    rng, paid = random.Random(seed), []
    prices = rng.choice([1e3, 5e3]), rng.choice([1e4, 4e4])
    at_once, budget = rng.choice([4, 16]), rng.uniform(4, 8)
    priced.model(usd_per_million_in=prices[0], usd_per_million_out=prices[1])
    priced.model(max_concurrency=at_once)

    def script(n, body):
        what = random.Random(f"{seed} {n}").choice(["whole"] * 4 + ["uncounted", 429, 503, 504])
        prompt, reply = rng.randint(1, 122), rng.randint(0, body["max_tokens"])
        if what not in (429, 503):
            paid.append((prompt * prices[0] + reply * prices[1]) / 1e6)
        if isinstance(what, int):
            return what, {}, {"error": {"message": "Not now."}}
        usage = {"prompt_tokens": prompt, "completion_tokens": reply}
        return {**completion(), "usage": usage if what == "whole" else None}

    endpoint.script = script
    with pytest.raises(BedsideError, match=f"BUDGET_USD={budget:g} would be exceeded"):
        priced.ask(*range(500), budget_usd=budget)
    assert 0 < sum(paid) <= budget
    assert priced.spent() > budget - at_once * price("mine", 124, 20)  # no earlier than it must


def test_a_run_stops_at_the_first_call_that_could_pass_its_budget(priced, endpoint):
    """Three calls at $0.06 leave $0.292 of $0.472; one may cost $0.322. Recorded ones are free."""
    budget = MOST + 2.5 * PAID
    with pytest.raises(BedsideError, match=r"BUDGET_USD=\S+ would be exceeded"):
        priced.ask(*"abcdefgh", budget_usd=budget)
    assert len(endpoint.bodies) == 3 == len(priced.recorded())
    with pytest.raises(BedsideError, match="BUDGET_USD"):  # it holds for all notebooks of a make
        priced.talk(*map(ask, "defg"), budget_usd=budget)
    assert len(endpoint.bodies) == 3
    priced.another_make()
    priced.ask(*"de")  # what is paid without a budget counts too
    with pytest.raises(BedsideError, match="BUDGET_USD"):
        priced.ask(*"abcdefgh", budget_usd=budget)
    assert len(endpoint.bodies) == 6


def test_a_total_holds_for_all_makes_of_the_same_settings(priced, endpoint):
    total = 0.2 + MOST  # each spends $0.06
    for item in "abcd":
        priced.another_make()
        priced.talk(ask(item), budget_total=total)
    priced.another_make()
    with pytest.raises(BedsideError, match=r"BUDGET_TOTAL=\S+ would be exceeded"):
        priced.talk(ask("e"), budget_total=total)
    priced.talk(ask("e"), budget_total=total, limit=3)  # other settings
    assert len(endpoint.bodies) == 5


@pytest.mark.parametrize("name", ["budget_usd", "budget_total"])
def test_a_budget_needs_a_price(world, endpoint, name):
    with pytest.raises(BedsideError, match=f"{name.upper()} is set but the price of mine"):
        world.talk(ask("a"), **{name: 5})
    world.model(usd_per_million_in=1, usd_per_million_out=2)
    assert world.talk(ask("a"), **{name: 5})[0].text == "fine" and len(endpoint.bodies) == 1


def test_a_budgets_file_that_is_damaged_stops_a_call_and_is_named(priced, endpoint):
    priced.ask("a", budget_usd=1)
    (path,) = (priced.folder / "ledger").glob("*.json")
    path.write_bytes(b"no such file " * 999)
    with pytest.raises(BedsideError, match=r"calls\.json: .* Delete it .* BUDGET_TOTAL"):
        priced.ask("b", budget_usd=1)
    assert len(endpoint.bodies) == 1
    path.unlink()
    assert priced.ask("b", budget_usd=1)[0].answer == "fine"


def test_what_a_budget_reserves_is_never_less_than_a_tiers_price():
    lines = Path(__file__).with_name("prices.txt").read_text().splitlines()
    tiers = [line.split() for line in lines if not line.startswith("#")]
    called = [n for n, m in bedside.models().items() if m.provider != "local"]
    assert {name for name, *_ in tiers} == {n for n in called if price(n, 1, 1) is not None}
    for name, *numbers in tiers:
        above, usd_in, usd_out = map(float, numbers)
        for prompt, reply in ((above + 1, 0), (above + 1, 5000), (above + 90_000, 100)):
            usd = (prompt * usd_in + reply * usd_out) / 1e6
            assert price(name, prompt, reply) >= usd * (1 - 1e-12), name


# ---- limits


def test_as_many_at_once_as_the_entry_says(world, endpoint):
    endpoint.script, most = counted(4)
    world.ask(*range(24))
    assert most[0] == 4 and len(endpoint.bodies) == 24


@pytest.mark.parametrize("limits", [{"requests_per_minute": 5}, {"tokens_per_minute": 200}])
def test_no_minute_has_more_than_the_entry_says(world, endpoint, turned, limits):
    """A call of 137 tokens at most turns out to have 15: five fit into a minute of 200."""
    seen = []
    endpoint.script = lambda n, body: seen.append(turned()) or completion()
    world.model(max_concurrency=1, **limits)
    for half in (range(15), range(15, 30)):  # it holds from one question to the next
        world.ask(*half)
    used = 1 if "requests_per_minute" in limits else 15
    (most,) = limits.values()
    for first in seen:
        assert sum(used for at in seen if first <= at < first + 59.9) <= most
    assert seen[-1] - seen[0] < 60 * 6  # and no longer than it takes


def test_a_refusal_holds_for_all_calls_to_its_model_and_for_no_other(world, endpoint):
    """At most what was under way still comes, four at once; the other model goes on."""
    times, refused = [], []

    def script(n, body):
        times.append((time.monotonic(), body["model"]))
        if body["model"] == "asked-2026-01-01" and len(times) > 12 and not refused:
            refused.append(time.monotonic())
            return 429, {"Retry-After": "1"}, {"error": {"message": "Slow down."}}
        time.sleep(0.02)
        return completion()

    endpoint.script = script
    world.model("other", model="other-1")
    rows = world.ask(*range(40), models="mine other")
    assert not any(r.reply_status for r in rows)
    within = Counter(m for at, m in times if refused[0] < at < refused[0] + 0.95)
    assert within["asked-2026-01-01"] <= 3 and within["other-1"] > 3


def test_a_limit_of_requests_that_says_nothing_loses_nothing(world, endpoint):
    passed = []

    def script(n, body):
        now = time.monotonic()
        if sum(now - at < 0.3 for at in passed) >= 20:
            return 429, {}, {"error": {"message": "Slow down."}}
        passed.append(now)
        return completion()

    endpoint.script = script
    world.model(max_concurrency=8)
    world.second(0.005)
    assert not any(r.reply_status for r in world.ask(*range(50))) and len(passed) == 50


@pytest.mark.skipif(os.name != "posix", reason="a terminal of its own needs a pty")
def test_a_terminal_shows_what_is_done_how_fast_for_how_much_and_what_failed(
    world, endpoint, monkeypatch
):
    import pty
    import termios

    refused = 400, {}, {"error": {"message": "This model's maximum context length is 9 tokens."}}
    endpoint.script = lambda n, body: (time.sleep(0.25), refused if n == 5 else completion())[1]
    world.model(max_concurrency=2, usd_per_million_in=1e4, usd_per_million_out=1e4)
    leader, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 150))
    monkeypatch.setattr(here, "terminal", os.ttyname(terminal))
    world.ask(*range(14))
    lines = re.split(r"[\r\n]+", os.read(leader, 100_000).decode())
    meanwhile = [x for x in lines if re.search(r"answers.*\b\d+/14.*(it/s|s/it)", x)]
    assert any("$" in x and "failed: 1 context too long" in x for x in meanwhile), lines
    assert not lines[-1].strip()  # the make's own lines begin at its start
