"""One make's processes call one after the other, and what one knows the next one knows."""

import asyncio
import contextlib
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter

import pytest

import bedside
from bedside import BedsideError
from calling import request
from conftest import completion, until
from file_faults import Faults, Killed

MOST = 122 * 1e3 / 1e6 + 20 * 1e4 / 1e6  # USD of a call of "question a" at these prices
PAID = 10 * 1e3 / 1e6 + 5 * 1e4 / 1e6


@pytest.fixture
def priced(world):
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4)
    return world


def paid(endpoint):
    """USD of all that the endpoint was asked."""
    return len(endpoint.bodies) * PAID


# ---- budgets of several processes


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_kills_and_runs_again_never_pass_a_budget(priced, endpoint, seed):
    """Each reply costs the most that it can, so that one call too many would show."""
    rng = random.Random(seed)
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    endpoint.script = lambda n, body: (time.sleep(0.02), {**completion(), "usage": usage})[1]
    each, budget = 0.1 + 0.2, 20.0
    for _ in range(4):
        before = len(endpoint.bodies)
        process = priced.start(range(200), budget_usd=budget)
        until(lambda b=before, p=process: len(endpoint.bodies) >= b + 8 or not p.is_alive())
        time.sleep(rng.uniform(0, 0.03))
        process.kill()
        process.join()
    with pytest.raises(BedsideError, match="BUDGET_USD=20 would be passed"):
        priced.ask(*range(200), budget_usd=budget)
    assert 32 < len(endpoint.bodies) and len(endpoint.bodies) * each <= budget
    assert len(endpoint.bodies) * each <= priced.spent() <= budget


def test_two_processes_of_one_make_share_its_budget(priced, endpoint):
    endpoint.script = lambda n, body: (time.sleep(0.01), completion())[1]
    budget = 30 * PAID + MOST
    both = [priced.start([f"{who} {k}" for k in range(40)], budget_usd=budget) for who in "ab"]
    for process in both:
        process.join(60)
        assert process.exitcode == 1  # each was stopped
    assert 0 < paid(endpoint) <= budget and priced.spent() == pytest.approx(paid(endpoint))
    assert len(endpoint.bodies) >= 15  # and no earlier than it had to


def test_a_total_holds_for_two_makes_at_once(priced, endpoint):
    endpoint.script = lambda n, body: (time.sleep(0.01), completion())[1]
    total, both = 40 * PAID + 12 * MOST, []
    for who in "ab":
        priced.another_make()
        both.append(priced.start([f"{who} {k}" for k in range(60)], budget_total=total))
    for process in both:
        process.join(60)
    assert 1 in [process.exitcode for process in both]  # one may have come to its end before
    assert 40 <= len(endpoint.bodies) and paid(endpoint) <= total


def test_without_a_budget_what_is_paid_counts_towards_a_later_one_also_after_a_kill(
    priced, endpoint
):
    endpoint.script = lambda n, body: (time.sleep(0.02), completion())[1]
    process = priced.start(range(200))
    until(lambda: len(endpoint.bodies) >= 60)
    process.kill()
    process.join()
    before = len(endpoint.bodies)
    with pytest.raises(BedsideError, match="BUDGET_USD"):
        priced.ask(*range(200), budget_usd=50 * PAID)
    assert len(endpoint.bodies) == before


def test_a_kill_at_any_write_loses_no_money_that_was_spent(priced, endpoint):
    with Faults() as seen:
        priced.ask(*"abc")
    for n, site in enumerate(seen.sites):
        priced.elsewhere(f"{n}")
        before = len(endpoint.bodies)
        with contextlib.suppress(Killed, BedsideError), Faults(site, "killed"):
            priced.ask(*"abc", budget_usd=5)
        priced.ask(*"abc", budget_usd=5)
        paid = (len(endpoint.bodies) - before) * PAID
        assert paid <= priced.spent() + 1e-9 <= paid + 12 * MOST, site


# ---- one after the other


def test_who_asks_within_a_dialogue_goes_on(world, endpoint):
    """By the same run, by another of its dialogues, and by `bedside.ask`, which waits for all."""

    async def task(one, k):
        await one(request(f"first {k}", f"first {k}"))
        await run.ask([request(f"within {k}", f"within {k}")])
        async with run.asking() as other:
            await other(request(f"beside {k}", f"beside {k}"))
        if k == 0:
            bedside.ask({"alone": "alone"}, "mine", mode="record", max_tokens=20)
        return (await one(request(f"last {k}", f"last {k}"))).text

    async def main():
        async with run.asking("talk") as one:
            return await asyncio.gather(*(task(one, k) for k in range(3)))

    run = world.run()
    assert asyncio.run(asyncio.wait_for(main(), 60)) == ["fine"] * 3
    assert len(endpoint.bodies) == 3 * 4 + 1


# ---- an endpoint that has enough


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


# ---- what a terminal shows meanwhile


@pytest.mark.skipif(os.name != "posix", reason="a terminal of its own needs a pty")
def test_a_terminal_shows_what_is_done_how_fast_for_how_much_and_what_failed(endpoint, root):
    import pty
    import termios

    refused = 400, {}, {"error": {"message": "This model's maximum context length is 9 tokens."}}
    endpoint.script = lambda n, body: (time.sleep(0.2), refused if n == 5 else completion())[1]
    with open(root / "data/models.toml", "a") as f:
        f.write(f'\n[slow]\nprovider = "test"\nbase_url = "{endpoint.url}"\nmodel = "m"\n')
        f.write("max_concurrency = 2\nusd_per_million_in = 1e4\nusd_per_million_out = 1e4\n")
    command = [sys.executable, "-m", "bedside", "run", "cancer_myth/03_evaluation"]
    given = ["-p", "models", "slow", "-p", "mode", "record"]
    leader, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 150))
    known = {**os.environ, "BEDSIDE_ROOT": str(root), "COLUMNS": "150"}
    process = subprocess.Popen([*command, *given], stdout=terminal, stderr=terminal, env=known)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # as a terminal's end is told
        while part := os.read(leader, 4096):
            shown += part
    process.wait(60)  # its judge was never measured here
    lines = re.split(r"[\r\n]", shown.decode())
    meanwhile = [x for x in lines if re.search(r"answers.*\b\d+( of |/)\d+", x) and "/s" in x]
    assert any("$" in x and "failed" in x and "context too long" in x for x in meanwhile), lines
