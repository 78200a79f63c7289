"""`asking`: requests that follow from replies, against a real endpoint."""

import asyncio
import time

import pytest
from test_models import ask

from bedside.asking import models
from bedside.keep import registry, store
from bedside.keep.ledger import Account
from bedside.keep.registry import StopRun
from bedside.keep.replies import Request
from conftest import ask_for, completion, counted


def talk(recordings, *tasks, **options):
    """Run functions of `one` at once; their results."""

    async def main():
        async with models.asking(
            recordings, progress=False, **{"mode": "record", **options}
        ) as one:
            with models.unwrapped():
                async with asyncio.TaskGroup() as group:
                    made = [group.create_task(task(one)) for task in tasks]
            return [t.result() for t in made]

    return asyncio.run(main())


def asks(name, *items):
    """A task that asks for one item after another."""

    async def task(one):
        return [await one(r) for r in ask_for(name, *items)]

    return task


def test_a_request_that_several_tasks_have_is_sent_once_and_items_are_kept_apart(
    served, endpoint, recordings
):
    endpoint.script = lambda n, body: (
        time.sleep(0.05) or completion("to " + body["messages"][0]["content"])
    )

    def same(item):
        async def task(one):
            (first,) = ask_for(served, "x")
            return await one(Request(item, served, first.messages, first.settings))

        return task

    replies = talk(recordings, *map(same, "abcde"), asks(served, "y"))
    assert [r.item for r in replies[:5]] == list("abcde") and {
        (r.key, r.text) for r in replies[:5]
    } == {(replies[0].key, "to question x")}
    assert len(endpoint.bodies) == 2 and replies[5][0].text == "to question y"
    (later,) = talk(recordings, same("f"))
    assert (later.item, later.text, later.recorded) == ("f", "to question x", True) and len(
        endpoint.bodies
    ) == 2


def test_what_is_asked_may_follow_from_what_was_answered(served, endpoint, recordings):
    endpoint.script = lambda n, body: completion(body["messages"][0]["content"][-2:])

    def chain(start):
        async def task(one):
            texts = [start]
            for _ in range(4):
                reply = await one(ask_for(served, f"{texts[-1]}{texts[-1][-1]}")[0])
                texts.append(reply.text)
            return texts

        return task

    assert talk(recordings, chain("ab"), chain("cd"), chain("ef")) == [
        [x] + [2 * x[1]] * 4 for x in ("ab", "cd", "ef")
    ]
    assert len(endpoint.bodies) == 6  # "abb" and "bbb", and so on


def test_a_reply_is_on_disk_when_it_is_returned(served, recordings):
    async def task(one):
        for k in range(5):
            reply = await one(ask_for(served, str(k))[0])
            assert store.Recordings(recordings.folder).get(reply.key)["text"] == reply.text
        return True

    assert talk(recordings, task, task) == [True, True]


def test_what_was_recorded_is_replayed_and_a_gap_names_the_item(served, endpoint, recordings):
    (first,) = talk(recordings, asks(served, "a", "b"))
    (again,) = talk(store.Recordings(recordings.folder), asks(served, "a", "b"), mode="replay")
    assert (
        [r.text for r in again] == [r.text for r in first]
        and all(r.recorded for r in again)
        and len(endpoint.bodies) == 2
    )
    with pytest.raises(models.MissingRecording, match="item 'zzz'.*MODE=record"):
        talk(store.Recordings(recordings.folder), asks(served, "a", "zzz", "b"), mode="replay")
    assert len(endpoint.bodies) == 2


def test_asking_freshly_calls_again_but_once(served, endpoint, recordings):
    endpoint.script = lambda n, body: completion(f"answer {n}")
    talk(recordings, asks(served, "a"))
    (one, two), (three,) = talk(recordings, asks(served, "a", "a"), asks(served, "a"), mode="fresh")
    assert one.text == two.text == three.text == "answer 2" and len(endpoint.bodies) == 2


def test_asking_for_a_plan_calls_and_records_nothing(served, endpoint, recordings):
    plan = []
    (replies,) = talk(recordings, asks(served, "a", "b"), mode="plan", plan=plan)
    assert [r.item for r in plan] == ["a", "b"] and all(r.text and not r.error for r in replies)
    assert not endpoint.bodies and not recordings.folder.exists()
    talk(recordings, asks(served, "a"))
    talk(recordings, asks(served, "a", "b"), mode="plan", plan=plan)
    assert [r.item for r in plan] == ["a", "b", "b"] and len(endpoint.bodies) == 1


def test_asking_with_an_unknown_mode_is_an_error(recordings):
    with pytest.raises(Exception, match="unknown MODE 'reply'"):
        talk(recordings, mode="reply")


def test_a_failed_call_is_an_error_in_its_reply_and_is_made_again_when_asked_again(
    served, endpoint, recordings
):
    endpoint.script = lambda n, body: (400, {}, b"{}") if n == 1 else completion()
    ((first, second),) = talk(recordings, asks(served, "a", "a"))
    assert (
        first.error == "bad request: 400 from the endpoint"
        and second.text == "fine"
        and len(endpoint.bodies) == 2
    )
    assert [r["item"] for r in store.Recordings(recordings.folder).records()] == ["a"]


def test_asking_stops_before_the_budget_is_passed(served, endpoint, recordings, monkeypatch):
    # as for `ask`: at most $0.000162 a call, really $0.00002; the fourth could pass $0.00021
    monkeypatch.setitem(registry.entries()[served], "usd_per_million_in", 1.0)
    monkeypatch.setitem(registry.entries()[served], "usd_per_million_out", 2.0)
    with pytest.raises(StopRun, match="BUDGET_USD"):
        talk(recordings, asks(served, *"abcdefgh"), account=Account(usd=0.00021))
    assert len(endpoint.bodies) == 3 == len(store.Recordings(recordings.folder))
    # what is recorded costs nothing: one more, and the next could end at 0.000182
    monkeypatch.setenv("BEDSIDE_MAKE", "another")
    with pytest.raises(StopRun, match="BUDGET_USD"):
        again = store.Recordings(recordings.folder)
        talk(again, asks(served, *"abcdefgh"), account=Account(usd=0.00017))
    assert len(endpoint.bodies) == 4


def test_asking_with_a_budget_needs_a_price(served, endpoint, recordings):
    with pytest.raises(StopRun, match="price"):
        talk(recordings, asks(served, "a"), asks(served, "b"), account=Account(usd=1))
    assert not endpoint.bodies


def test_a_refused_key_stops_whoever_waits(served, endpoint, recordings, monkeypatch):
    monkeypatch.setitem(registry.entries()[served], "max_concurrency", 1)
    endpoint.script = lambda n, body: completion() if n < 3 else (401, {}, b"{}")
    with pytest.raises(StopRun, match="401"):
        talk(recordings, *(asks(served, i) for i in "abcdefgh"))
    assert len(endpoint.bodies) == 3 and [
        r["item"] for r in store.Recordings(recordings.folder).records()
    ] == ["a", "b"]


def test_asking_keeps_max_concurrency(served, endpoint, recordings):
    endpoint.script, most = counted(4)
    talk(recordings, *(asks(served, f"{k}a", f"{k}b") for k in range(12)))
    assert most[0] == 4 and len(endpoint.bodies) == 24


def test_replies_that_came_are_kept_when_a_task_fails(served, endpoint, recordings, monkeypatch):
    """The block ends by an error while others wait for a reply, or for its way to disk."""
    monkeypatch.setattr(store, "GROUP_S", 0.3)  # so that replies are on their way
    endpoint.script = lambda n, body: (
        "hang" if body["messages"][0]["content"].endswith("hung") else completion()
    )

    async def fails(one):
        while sum(map(len, recordings._pending.values())) + len(recordings) < 3:
            await asyncio.sleep(0.01)
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        talk(recordings, *(asks(served, i) for i in "abc"), asks(served, "hung"), fails)
    assert sorted(r["item"] for r in store.Recordings(recordings.folder).records()) == list("abc")


def test_a_task_that_was_left_behind_when_the_block_ends_is_stopped(served, endpoint, recordings):
    left = []

    async def main():
        async with models.asking(recordings, mode="record", progress=False) as one:
            left.append(asyncio.create_task(one(ask_for(served, "hung")[0])))
            assert (await one(ask_for(served, "a")[0])).text == "fine"
        await asyncio.gather(*left, return_exceptions=True)

    endpoint.script = lambda n, body: (
        "hang" if body["messages"][0]["content"].endswith("hung") else completion()
    )
    asyncio.run(main())
    assert left[0].cancelled() and [
        r["item"] for r in store.Recordings(recordings.folder).records()
    ] == ["a"]


def test_what_a_base_url_takes_from_the_environment_is_told_to_nobody(
    served, endpoint, recordings, monkeypatch
):
    monkeypatch.setenv("PASSAGE", "a-word-that-only-i-know")
    registry.entries()[served]["base_url"] = f"{endpoint.url}/${{PASSAGE}}"
    endpoint.script = lambda n, body: (400, {}, b'{"error": "no a-word-that-only-i-know here"}')
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert reply.error == "bad request: no *** here"
