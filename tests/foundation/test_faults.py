"""Faults, kills, limits, failures that last: nothing lost, paid twice, invented, asked in vain.

The endpoint of `providers` notes what it was asked and what it sent; recordings are held against
that.
"""

import asyncio
import multiprocessing
import os
import random
import sys
import threading
import time
from collections import Counter, defaultdict

import pytest
from tqdm import tqdm

import providers
from bedside.asking import models, sending
from bedside.keep import ledger, registry, store
from bedside.keep.registry import StopRun
from conftest import ask_for, until

SLOTS = 8  # calls at once
PAUSES = {ledger: ["PAUSE_S", "LONGEST_S", "WINDOW_S"], sending: ["FIRST_S", "LONGEST_S"]}


def entry(url):
    return {
        "provider": "vllm",
        "base_url": url,
        "model": "a-model",
        "max_concurrency": SLOTS,
        "timeout_s": 20,
    }


@pytest.fixture
def provider(tmp_path, monkeypatch):
    """A vLLM server, known as 'mine'."""
    monkeypatch.setenv("BEDSIDE_LEDGER", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of processes that are started
    with providers.Providers() as provider:
        monkeypatch.setitem(registry.entries(), "mine", entry(provider.at("vllm")))
        yield provider


def shorten(monkeypatch, times):
    """Make minutes, and the pauses after a fault, so many times as short as they are."""
    for module, names in PAUSES.items():
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name) / times)


def asked(count):
    return ask_for("mine", *map(str, range(count)), max_tokens=400)


def record(folder, count):
    """Replies to `count` questions, as a run gives them."""
    kept = store.Recordings(folder)
    return asyncio.run(models.ask(asked(count), kept, mode="record", progress=False))


def recorder(url, top, count):
    """The same in a process of its own."""
    os.environ["BEDSIDE_LEDGER"] = str(top)
    registry.entries()["mine"] = entry(url)
    tqdm.set_lock(threading.RLock())  # its own is a semaphore, which a kill would leave behind
    record(top / "recordings", count)


def started(provider, top, count):
    """A process that records, forked from one that has imported all that it needs."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "openai", "aiohttp", "httpcore2", "tqdm"])
    process = context.Process(target=recorder, args=(provider.at("vllm"), top, count))
    process.start()
    return process


def quiet(provider):
    """Wait until the endpoint has answered, and noted, all that reached it."""
    seen = -1
    while seen != len(provider.bodies) or len(provider.log) != seen:
        seen = len(provider.bodies)
        time.sleep(0.2)


def good(provider):
    """{messages: [texts]} of the answers that the endpoint sent whole."""
    sent = defaultdict(list)
    for e in provider.log:
        if e.kind in providers.GOOD:
            sent[e.messages].append(e.text)
    return sent


def recorded(folder):
    """{messages: text} of what is recorded and is an answer."""
    records = store.Recordings(folder).records()
    return {r["fields"]["messages"]: r["text"] for r in records if r["text"].strip()}


def test_a_third_of_faults_of_all_kinds_spoils_nothing(provider, tmp_path, monkeypatch):
    shorten(monkeypatch, 2000)
    provider.rate = 0.3
    folder = tmp_path / "recordings"
    record(folder, 735)
    replies = record(folder, 735)
    sent, kept = good(provider), recorded(folder)
    taken = Counter(e.messages for e in provider.log if e.kind in (*providers.GOOD, "blank"))
    ways = Counter(r.why or "right" for r in replies)
    print(len(provider.log), Counter(e.kind for e in provider.log), ways)
    assert len(replies) == 735 and [r.item for r in replies] == [str(i) for i in range(735)]
    for request, reply in zip(asked(735), replies, strict=True):
        mine = store.digest(request.messages)[:16]
        assert reply.why or reply.text in sent[mine]
    assert all(text in sent[k] for k, text in kept.items())  # none invented
    assert max(taken.values()) == 1  # none paid twice
    assert kept.keys() == sent.keys() and ways["right"] == len(sent)


def test_kills_lose_what_is_in_flight_at_most(provider, tmp_path):
    """SIGKILL of a recording process at twenty random moments."""
    provider.delay_s, rng, lost = 0.01, random.Random(0), []
    folder = tmp_path / "recordings"
    for _ in range(20):
        before, some = len(provider.log), rng.randint(1, 30)
        process = started(provider, tmp_path, 735)
        until(lambda before=before, some=some: len(provider.log) >= before + some, 30)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        quiet(provider)
        kept = recorded(folder)
        lost.append(sum(e.messages not in kept for e in provider.log[before:]))
        assert lost[-1] <= 2 * SLOTS  # those under way, and as many that waited for the disk
    record(folder, 735)
    sent, kept = good(provider), recorded(folder)
    print("lost", lost, "sent", len(provider.log))
    assert len(kept) == 735 and all(text in sent[k] for k, text in kept.items())
    assert len(provider.log) == 735 + sum(lost)


@pytest.mark.parametrize(
    "failing, count, most, words",
    [
        (404, 735, 8, "does not exist"),
        (402, 735, 8, "Insufficient credits"),
        ("quota", 40, 8, "used up your quota"),
        (500, 40, 40, "The server had an error"),
    ],
)
def test_what_lasts_is_not_asked_for_again_and_again(
    provider, tmp_path, monkeypatch, failing, count, most, words
):
    shorten(monkeypatch, 40)
    provider.failing = failing
    with pytest.raises(StopRun, match=words):
        record(tmp_path / "recordings", count)
    print(failing, count, len(provider.log))
    assert len(provider.log) <= most
    assert not len(store.Recordings(tmp_path / "recordings"))


@pytest.mark.parametrize("says_when", [True, False], ids=["Retry-After", "nothing said"])
def test_a_limit_of_requests_loses_nothing(provider, tmp_path, monkeypatch, says_when):
    shorten(monkeypatch, 40)
    provider.per_minute, provider.minute, provider.retry_after = 100, 60 / 40, says_when
    replies = record(tmp_path / "recordings", 250)
    print(says_when, Counter(e.kind for e in provider.log))
    assert not any(r.error for r in replies)
    assert Counter(e.kind for e in provider.log)[""] == 250


def test_two_recorders_send_each_request_once(provider, tmp_path):
    provider.delay_s = 0.005
    processes = [started(provider, tmp_path, 600) for _ in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len(recorded(tmp_path / "recordings")) == 600 == len(provider.log)


WITH_KEY = [name for name, p in providers.PERSONAS.items() if p.key]


@pytest.fixture
def named(provider, monkeypatch):
    """A function that makes 'mine' a model of a persona, its key in KEY_OF_A_TEST."""

    def make(persona, model="a-model", key=providers.KEY):
        monkeypatch.setenv("KEY_OF_A_TEST", key)
        own = {"base_url": provider.at(persona), "api_key_env": "KEY_OF_A_TEST", "model": model}
        monkeypatch.setitem(registry.entries(), "mine", {**registry.entries()["mine"], **own})

    return make


@pytest.mark.parametrize(
    "persona, failing",
    [(name, why) for name in providers.PERSONAS for why in ("quota", 404)]
    + [(name, "key") for name in WITH_KEY],
)
def test_each_provider_is_understood(provider, named, tmp_path, monkeypatch, persona, failing):
    """What can't pass is sent a few times at most, and told in the provider's words."""
    shorten(monkeypatch, 2000)
    p, key = providers.PERSONAS[persona], providers.KEY
    errors = {"quota": p.broke, 404: p.missing, "key": p.key}
    words = "Unauthorized" if (persona, failing) == ("mistral", "key") else errors[failing][2]
    if failing == "key":
        key = "not-the-right-key-0123456789"
    else:
        provider.failing = failing
    named(persona, key=key)
    with pytest.raises(StopRun) as stop:
        record(tmp_path / "recordings", 40)
    assert len(provider.log) <= 8 and words.partition("{0}")[0] in str(stop.value)
    assert key not in str(stop.value)


@pytest.mark.parametrize(
    "persona, model", [("azure-plain", "mine"), ("openrouter", "a/model"), ("qwen", "qwen3")]
)
def test_a_flagged_question_is_withheld_and_others_answered(
    provider, named, tmp_path, persona, model
):
    named(persona, model)
    items = [f"{providers.FLAGGED * (k % 3 > 0)} {k}" for k in range(30)]
    for _ in range(2):  # it isn't asked again
        kept = store.Recordings(tmp_path / "recordings")
        replies = asyncio.run(
            models.ask(ask_for("mine", *items), kept, mode="record", progress=False)
        )
    assert [r.why for r in replies] == ["filtered" * (k % 3 > 0) for k in range(30)]
    assert len(provider.log) == 30
