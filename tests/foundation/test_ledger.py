"""The ledger: limits, claims and budgets that processes share, and what failed."""

import asyncio
import contextlib
import multiprocessing
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bedside import BedsideError
from bedside.asking import models, sending
from bedside.build import settings
from bedside.keep import ledger, registry, store
from bedside.keep.ledger import Account, Ledger
from bedside.keep.registry import StopRun
from conftest import ask_for, completion, counted, sent_at, until


def recorder(entry, folder, items, window):
    """Record replies to `items`: what a process of its own does."""
    ledger.WINDOW_S = window
    registry.entries()["served"] = entry
    asked = ask_for("served", *items)
    asyncio.run(models.ask(asked, store.Recordings(folder), mode="record", progress=False))


def holder(entry, key, ready):
    """Claim a request, begin all calls that the model may have at once, and do nothing more."""
    registry.entries()["served"] = entry
    book = Ledger("served", Account("a/01_x", usd=100.0))
    for _ in range(entry["max_concurrency"]):
        asyncio.run(book.turn(1, 7.0, key))
    ready.touch()
    time.sleep(60)


@pytest.fixture
def started():
    """A function that runs another in a process of its own; all are killed at the end."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bedside.asking.sending", "openai", "aiohttp", "conftest"])
    processes = []

    def start(function, *arguments):
        # the fork server may be older than this test
        place = {k: os.environ[k] for k in ("BEDSIDE_LEDGER", "BEDSIDE_MAKE")}
        processes.append(context.Process(target=_within, args=(place, function, *arguments)))
        processes[-1].start()
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.join(10)


def _within(place, function, *arguments):
    os.environ.update(place)
    function(*arguments)


# ---- limits


def both(started, served, recordings, count, window=60.0):
    """Let two processes record `count` replies each."""
    entry = registry.model(served)
    items = [[f"{who}{k}" for k in range(count)] for who in "ab"]
    two = [started(recorder, entry, recordings.folder, mine, window) for mine in items]
    for process in two:
        process.join(60)
        assert process.exitcode == 0


def test_two_processes_share_a_models_max_concurrency(served, endpoint, recordings, started):
    registry.model(served)["max_concurrency"] = 3
    endpoint.script, most = counted(3)
    both(started, served, recordings, 12)
    assert most[0] == 3 and len(endpoint.bodies) == 24


def test_two_processes_share_a_models_requests_per_minute(served, endpoint, recordings, started):
    registry.model(served)["requests_per_minute"] = 6
    both(started, served, recordings, 9, window=1.0)
    times = sent_at()
    assert len(times) == 18 == len(endpoint.bodies)
    gaps = [later - first for first, later in zip(times, times[6:])]
    assert min(gaps) >= 1.0 - 1e-6  # of a time since 1970 no more digits are kept


def test_a_limit_holds_for_a_process_that_waited_long_for_the_ledger(served, monkeypatch):
    """Another's call was put down while this one waited to be let in: it counts."""
    registry.model(served)["requests_per_minute"] = 1
    Ledger(served, Account()).close()  # the file is there
    looked, now = threading.Event(), time.time

    def clock():
        looked.set()
        return now()

    def turn():
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(Ledger(served, Account()).turn(1, None), 1))

    with (
        ThreadPoolExecutor(1) as pool,
        contextlib.closing(
            sqlite3.connect(ledger.folder() / ledger.FILE, isolation_level=None)
        ) as other,
    ):
        other.execute("begin immediate")
        monkeypatch.setattr(ledger.time, "time", clock)
        waits = pool.submit(turn)
        looked.wait(0.5)  # in vain, if the clock is read once the ledger is free
        other.execute(
            "insert into calls (at, model, tokens, open) values (?, ?, 1, 0)", [now(), served]
        )
        other.execute("commit")
        waits.result()


def test_tokens_per_minute_count_as_used_once_that_is_known(served, turned):
    registry.model(served)["tokens_per_minute"] = 100
    book = Ledger(served, Account())
    for used, waited in ((None, 0), (10, 60), (10, 60), (10, 60)):  # 60 + 60 > 100 > 10 + 60
        call = asyncio.run(book.turn(60, None))
        assert waited <= turned() < waited + 1
        if used:
            book.ended(call, None, (used, 0))


def test_a_killed_process_holds_nothing(served, started, tmp_path):
    entry, ready = registry.model(served), tmp_path / "ready"
    process = started(holder, entry, "a key", ready)
    until(ready.is_file, 30)
    book = Ledger(served, Account("b/01_y", usd=100.0))
    assert asyncio.run(book.turn(1, 1.0, "a key")) is None
    turn = asyncio.wait_for(book.turn(1, 1.0, "another"), 0.3)
    with pytest.raises(TimeoutError):
        asyncio.run(turn)
    process.kill()
    process.join()
    asyncio.run(asyncio.wait_for(book.turn(1, 1.0, "a key"), 60))
    # what its calls cost isn't known: they stand at what they may have cost
    assert book.spent("test") == 7.0 * entry["max_concurrency"] + 1.0


@pytest.mark.parametrize("killed", [False, True])
def test_a_request_that_another_process_has_under_way_is_waited_for(
    served, endpoint, recordings, started, killed
):
    endpoint.script = lambda n, body: (
        "hang" if n == 1 and killed else (time.sleep(0.5), completion(f"answer {n}"))[1]
    )
    process = started(recorder, registry.model(served), recordings.folder, ["a"], 60.0)
    until(lambda: endpoint.bodies, 30)
    if killed:
        threading.Timer(0.3, process.kill).start()
    asked = ask_for(served, "a")
    (reply,) = asyncio.run(models.ask(asked, recordings, mode="record", progress=False))
    assert (reply.text, reply.recorded) == (("answer 2", False) if killed else ("answer 1", True))
    assert len(endpoint.bodies) == 1 + killed


# ---- money


@pytest.fixture
def priced(served):
    """A model that takes a dollar for each token."""
    registry.model(served).update(usd_per_million_in=1e6, usd_per_million_out=1e6)
    return served


def spend(name, dollars, **account):
    """Begin a call that may cost so much."""
    asyncio.run(Ledger(name, Account(**account)).turn(1, dollars))


def test_a_budget_holds_for_all_notebooks_of_a_make(priced, monkeypatch):
    spend(priced, 6.0, notebook="a/01_x", usd=10.0)
    with pytest.raises(StopRun, match=r"BUDGET_USD=10 .*\$6\.0000 spent .* \$5\.0000"):
        spend(priced, 5.0, notebook="b/02_y", usd=10.0)
    spend(priced, 4.0, notebook="b/02_y", usd=10.0)
    monkeypatch.setenv("BEDSIDE_MAKE", "another")
    spend(priced, 10.0, notebook="a/01_x", usd=10.0)


def test_a_total_holds_for_all_makes_of_the_same_settings(priced, monkeypatch):
    mine = {"total": 10.0, "scope": "these settings"}
    spend(priced, 6.0, **mine)
    monkeypatch.setenv("BEDSIDE_MAKE", "another")
    with pytest.raises(StopRun, match="BUDGET_TOTAL=10 "):
        spend(priced, 5.0, **mine)
    spend(priced, 5.0, **{**mine, "scope": "other settings"})
    spend(priced, 4.0, **mine)
    with pytest.raises(StopRun, match="BUDGET_USD=10 "):  # of this make: 5 + 4
        spend(priced, 2.0, usd=10.0, **{**mine, "total": 99.0})


@pytest.mark.parametrize(
    "tokens, usd, spent",
    [
        ((1, 2), 3.0, 3.0),
        ((0, 0), 0.0, 0.0),  # refused: nothing was charged
        ((None, None), None, 9.0),  # not known
        ((1, None), None, 9.0),
        ((9, 9), 18.0, 18.0),  # more than was thought
    ],
)
def test_a_call_counts_as_it_ended(priced, tokens, usd, spent):
    book = Ledger(priced, Account(scope="s"))
    call = asyncio.run(book.turn(9, 9.0))
    assert book.spent("test") == book.spent("s") == 9.0
    assert book.ended(call, 9.0, tokens) == usd
    assert book.spent("test") == book.spent("s") == spent
    assert ledger.total("test") == (1, spent, 0) and ledger.total("another") == (0, 0, 0)


def test_replies_without_usage_count_at_the_most_they_can_cost(priced, endpoint, recordings):
    endpoint.script = lambda n, body: {k: v for k, v in completion().items() if k != "usage"}
    asked = ask_for(priced, *"abcd")
    most = float(sum(asked[0].estimate()))
    registry.model(priced)["max_concurrency"] = 1
    account = Account(usd=2.5 * most)
    with pytest.raises(StopRun, match="BUDGET_USD"):
        asyncio.run(models.ask(asked, recordings, mode="record", account=account, progress=False))
    assert len(endpoint.bodies) == 2 and ledger.total("test")[1] == 2 * most


@pytest.mark.parametrize("name", ["budget_usd", "budget_total"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e999", "ten", float("nan")])
def test_what_limits_nothing_is_no_budget(name, value):
    with pytest.raises(BedsideError, match=rf"{name.upper()}={value!r}.*at least 0"):
        settings.validated(**{name: value})
    assert settings.validated(**{name: " 0.5 "})[name] == 0.5
    assert settings.validated(**{name: ""})[name] is None


# ---- what failed


def test_failures_are_grouped_and_what_was_mended_is_none(
    served, endpoint, recordings, monkeypatch
):
    monkeypatch.setattr(sending, "FIRST_S", 0.01)
    seen = set()

    def script(n, body):
        item = body["messages"][0]["content"][-1]
        if item in "ab":
            return 400, {}, b'{"error": {"message": "too spicy"}}'
        if item == "c":
            return 500, {}, b'{"error": {"message": "oops"}}'
        first = item not in seen
        seen.add(item)
        return (503, {}, b"busy") if first else completion()

    endpoint.script = script
    asked, account = ask_for(served, *"abcdef"), Account("a/01_x")
    options = {"mode": "record", "account": account, "progress": False}
    replies = asyncio.run(models.ask(asked, recordings, **options))
    assert [r.error for r in replies][3:] == ["", "", ""]
    rows = ledger.errors("test")
    assert [tuple(row.values()) for row in rows] == [
        ("served", "a/01_x", "bad request", "400", "too spicy", 2),
        ("served", "a/01_x", "endpoint's fault", "500", "oops", 1),
    ]
    assert tuple(rows[0]) == ledger.COLUMNS and ledger.errors("another") == []
