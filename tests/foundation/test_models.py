"""`ask` against a real endpoint that misbehaves in every way that endpoints do."""

import asyncio
import errno
import functools
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import conftest
from bedside.asking import models, sending
from bedside.keep import registry, store
from bedside.keep.ledger import Account
from bedside.keep.registry import StopRun
from bedside.keep.replies import Request
from conftest import ask_for, completion, counted, sent_at, until


def ask(requests, recordings, **options):
    return asyncio.run(
        models.ask(requests, recordings, progress=False, **{"mode": "record", **options})
    )


def test_replies_keep_order_and_ids_and_are_replayed(served, endpoint, recordings):
    endpoint.script = lambda n, body: (
        time.sleep(0.05 * (n % 3)) or completion("to " + body["messages"][0]["content"])
    )
    requests = ask_for(served, *"edcba")
    replies = ask(requests, recordings)
    assert [r.item for r in replies] == list("edcba")
    assert [r.text for r in replies] == [f"to question {i}" for i in "edcba"]
    assert replies[0].returned_model == "served-2026-01-01" and not replies[0].recorded
    again = ask(requests, store.Recordings(recordings.folder), mode="replay")
    assert [r.text for r in again] == [r.text for r in replies] and all(r.recorded for r in again)
    assert len(endpoint.bodies) == 5


def test_same_request_for_two_items_is_sent_once(served, endpoint, recordings):
    (one,) = ask_for(served, "a")
    two = Request("b", served, one.messages, one.settings)
    assert [r.item for r in ask([one, two], recordings)] == ["a", "b"]
    assert len(endpoint.bodies) == 1


def test_replay_without_recording_names_item_and_difference(served, recordings):
    ask(ask_for(served, "a"), recordings)
    with pytest.raises(models.MissingRecording) as e:
        ask(ask_for(served, "a", temperature=0.5), recordings, mode="replay")
    assert (
        "'a'" in str(e.value)
        and "temperature (0.0 recorded, 0.5 asked)" in str(e.value)
        and "MODE=record" in str(e.value)
    )
    with pytest.raises(models.MissingRecording, match="no recording of this item"):
        ask(ask_for(served, "zzz"), recordings, mode="replay")


def test_fresh_calls_again_and_the_newest_wins(served, endpoint, recordings):
    endpoint.script = lambda n, body: completion(f"answer {n}")
    ask(ask_for(served, "a"), recordings)
    assert ask(ask_for(served, "a"), recordings, mode="fresh")[0].text == "answer 2"
    assert (
        ask(ask_for(served, "a"), store.Recordings(recordings.folder), mode="replay")[0].text
        == "answer 2"
    )


def test_plan_calls_nothing(served, endpoint, recordings):
    plan = []
    ask(ask_for(served, "a", "b"), recordings, mode="plan", plan=plan)
    assert len(plan) == 2 and not endpoint.bodies and not recordings.folder.exists()


@pytest.mark.parametrize(
    "first",
    [
        (429, {"Retry-After": "1"}, b"slow down"),
        (429, {}, b"slow down"),
        (500, {}, b"oops"),
        (503, {}, b""),
        (408, {}, b""),
        (409, {}, b""),
        (200, {}, "cut"),
    ],
    ids=["429 with Retry-After", "429", "500", "503", "408", "409", "cut in mid-body"],
)
def test_passing_faults_are_retried(served, endpoint, recordings, first):
    endpoint.script = lambda n, body: first if n == 1 else completion("came")
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert reply.text == "came" and not reply.error and len(endpoint.bodies) == 2
    if "Retry-After" in first[1]:
        first, second = sent_at()
        assert second - first >= 1


def test_lasting_faults_are_typed_after_five_retries_and_not_recorded(served, endpoint, recordings):
    endpoint.script = lambda n, body: (
        (500, {"retry-after-ms": "1"}, b"oops")
        if "bad" in body["messages"][0]["content"]
        else completion()
    )
    good, bad = ask(ask_for(served, "good", "bad"), recordings)
    assert good.text == "fine" and bad.error == "endpoint's fault: oops" and bad.text == ""
    assert len(endpoint.bodies) == 1 + 1 + sending.RETRIES
    assert [r["item"] for r in store.Recordings(recordings.folder).records()] == ["good"]
    endpoint.script = lambda n, body: completion("later")
    assert ask(ask_for(served, "good", "bad"), recordings)[1].text == "later"


def test_a_server_that_never_answers_ends(served, endpoint, recordings, monkeypatch):
    monkeypatch.setitem(registry.entries()[served], "timeout_s", 0.1)
    monkeypatch.setattr(sending, "RETRIES", 1)
    endpoint.script = lambda n, body: "hang"
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert reply.error.startswith("timeout: ") and len(sent_at()) == 2


@pytest.mark.parametrize(
    "payload, error",
    [
        (b"<html>busy</html>", "not JSON"),
        ({**completion(), "choices": []}, "no choice"),
        ([1], "no choice"),
        ({**completion(), "choices": ["x"]}, "no choice"),
        (completion(5), "int for its text"),
        (completion([5]), "list for its text"),
    ],
    ids=["not JSON", "no choices", "a list", "a text", "a number", "numbers"],
)
def test_answers_that_are_none_are_errors(
    served, endpoint, recordings, payload, error, monkeypatch
):
    monkeypatch.setattr(sending, "FIRST_S", 0.01)
    endpoint.script = lambda n, body: (200, {}, payload)
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert len(endpoint.bodies) == 1 + sending.RETRIES
    assert error in reply.error and len(list(store.Recordings(recordings.folder).records())) == 0


def test_refusal_truncation_and_filter_are_recorded(served, endpoint, recordings):
    said = {
        "a": completion(None, refusal="I can't."),
        "b": completion("half a sen", finish="length"),
        "c": completion("", finish="content_filter"),
        "d": completion("", finish="length"),
        "e": completion(" \n"),
        "f": completion(None),
        "g": completion("half a sen", finish="content_filter"),
        "h": completion(None, finish="tool_calls", tool_calls=[{"id": "x"}]),
        "i": completion("Let me look.", function_call={"name": "x"}),
    }
    endpoint.script = lambda n, body: said[body["messages"][0]["content"][-1]]
    a, b, *none = ask(ask_for(served, *said), recordings)
    assert a.refusal == "I can't." and a.why == "refused"
    assert b.truncated and not b.why
    why = ["filtered", "cut off while thinking", "blank", "blank", "filtered"]
    assert [r.why for r in none] == [*why, "tool calls", "tool calls"]
    assert not any(r.truncated or r.error for r in (a, *none))
    assert len(list(store.Recordings(recordings.folder).records())) == len(said)


@pytest.mark.parametrize(
    "finish, why",
    [
        ("stop", ""),
        ("STOP", ""),
        ("eos", ""),
        ("", ""),
        ("content_filter: RECITATION", "filtered"),
        ("SAFETY", "filtered"),
        ("sensitive", "filtered"),
        ("refusal", "refused"),
        ("function_call", "tool calls"),
        ("length", "cut"),
        ("model_length", "cut"),
        ("MAX_TOKENS", "cut"),
    ],
)
def test_a_finish_reason_is_understood_however_it_is_spelled(
    served, endpoint, recordings, finish, why
):
    endpoint.script = lambda n, body: completion("half a sen", finish=finish)
    (reply,) = ask(ask_for(served, "a"), recordings)
    assert (reply.why, reply.truncated) == (("", True) if why == "cut" else (why, False))
    (record,) = store.Recordings(recordings.folder).records()
    assert record["finish"] == finish  # the recording keeps what was said


@pytest.mark.parametrize("usage", [[1], "many", {"prompt_tokens": [1]}, {"prompt_tokens": True}, 7])
def test_a_usage_that_is_none_is_not_known(served, endpoint, recordings, usage):
    endpoint.script = lambda n, body: {**completion("fine"), "usage": usage}
    for mode in ("record", "replay"):
        (reply,) = ask(ask_for(served, "a"), recordings, mode=mode)
        assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("fine", None, None)


def test_counts_may_be_texts_and_content_may_come_in_parts(served, endpoint, recordings):
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "fi"}, "ne"]
    details = {"completion_tokens_details": {"reasoning_tokens": 3}}
    usage = {"prompt_tokens": "12", "completion_tokens": "3", **details}
    endpoint.script = lambda n, body: {**completion(parts), "usage": usage}
    for mode in ("record", "replay"):
        (reply,) = ask(ask_for(served, "a"), recordings, mode=mode)
        assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("fine", 12, 3)
    (record,) = store.Recordings(recordings.folder).records()
    assert record["usage"]["completion_tokens_details.reasoning_tokens"] == 3
    assert record["date"] and record["latency_s"] >= 0 and record["fingerprint"] == ""


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_at_once_and_loses_nothing(served, endpoint, recordings, status):
    registry.entries()[served]["max_concurrency"] = 1
    endpoint.script = lambda n, body: completion() if n < 3 else (status, {}, b"{}")
    with pytest.raises(StopRun, match=str(status)):
        ask(ask_for(served, *"abcdefgh"), recordings)
    assert len(endpoint.bodies) == 3
    assert [r["item"] for r in store.Recordings(recordings.folder).records()] == ["a", "b"]


def test_a_missing_key_stops_before_the_first_call(served, endpoint, recordings, monkeypatch):
    monkeypatch.setitem(registry.entries()[served], "api_key_env", "BEDSIDE_NO_SUCH_KEY")
    with pytest.raises(StopRun, match="BEDSIDE_NO_SUCH_KEY"):
        ask(ask_for(served, "a"), recordings)
    assert not endpoint.bodies


def test_budget_stops_before_it_is_passed(served, endpoint, recordings, monkeypatch):
    # a call costs at most 122 prompt tokens ("question a" has 10 bytes, its template 12 a message
    # and 100 in all) and 20 reply tokens at $1 and $2 for a million: $0.000162; the endpoint then
    # reports 10 and 5 tokens: $0.00002. With $0.00021 the fourth call could end at 0.000222.
    monkeypatch.setitem(registry.entries()[served], "usd_per_million_in", 1.0)
    monkeypatch.setitem(registry.entries()[served], "usd_per_million_out", 2.0)
    registry.entries()[served]["max_concurrency"] = 1
    with pytest.raises(StopRun, match="BUDGET_USD"):
        ask(ask_for(served, *"abcdefgh"), recordings, account=Account(usd=0.00021))
    assert len(endpoint.bodies) == 3 == len(list(store.Recordings(recordings.folder).records()))


def test_an_unknown_price_is_unknown_and_allows_no_budget(served, endpoint, recordings):
    assert registry.cost(served, 10, 10) is None and registry.cost("smollm2-135m", 10, 10) == 0
    with pytest.raises(StopRun, match="price"):
        ask(ask_for(served, "a"), recordings, account=Account(usd=1))
    assert not endpoint.bodies


def test_unknown_names_say_the_nearest():
    with pytest.raises(Exception, match="did you mean 'smollm2-135m'"):
        registry.model("smolm2-135m")


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "jinja": "{{ 7 * 7 }} {% raw %}",
    "judge": '{"score": 1}\nScore: 1',
    "formula": '=HYPERLINK("http://x","y")',
    "surrogate": "lone \ud83d end",
    "long": "x" * 1_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_recorded_as_it_came(served, endpoint, recordings, name):
    endpoint.script = lambda n, body: completion(HOSTILE[name])
    shown = HOSTILE[name].replace(
        "\ud83d", "\ufffd"
    )  # what no file can hold is replaced on the way out
    assert ask(ask_for(served, "a"), recordings)[0].text == shown
    again = store.Recordings(recordings.folder)
    assert ask(ask_for(served, "a"), again, mode="replay")[0].text == shown
    assert next(again.records())["text"] == HOSTILE[name]


CHILD = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from conftest import ask_for
from bedside.asking import models
from bedside.keep import registry, store
entry = {{"provider": "test", "base_url": {url!r}, "model": "m"}}
registry.entries()["served"] = {{**entry, "max_concurrency": 4, "timeout_s": 20}}
requests = ask_for("served", *map(str, range(40)))
asyncio.run(models.ask(requests, store.Recordings({folder!r}), mode="record", progress=False))
"""


def child(endpoint, recordings):
    code = CHILD.format(
        tests=os.path.dirname(conftest.__file__), url=endpoint.url, folder=str(recordings.folder)
    )
    return subprocess.Popen([sys.executable, "-c", code])


def reached(count, process, folder):
    """Whether so many replies are on disk, or the process has ended before."""
    return len(store.Recordings(folder)) >= count or process.poll() is not None


@pytest.mark.parametrize("moments", [(15,), (5, 15, 30)], ids=len)
def test_killed_at_any_moment_nothing_flushed_is_sent_twice(endpoint, recordings, moments):
    """SIGKILL after so many answers; what was on disk then is not asked for again."""
    sent, flushed_before = [], set()
    endpoint.script = lambda n, body: (
        time.sleep(0.01),
        completion(body["messages"][0]["content"]),
    )[1]
    for stop_at in (*moments, None):
        before = len(endpoint.bodies)
        process = child(endpoint, recordings)
        if stop_at:
            until(functools.partial(reached, stop_at, process, recordings.folder), 30)
            process.send_signal(signal.SIGKILL)
        process.wait(60)
        asked = {b["messages"][0]["content"] for b in endpoint.bodies[before:]}
        assert not asked & flushed_before
        flushed_before = {r["text"] for r in store.Recordings(recordings.folder).records()}
        sent.append(len(asked))
    assert len(flushed_before) == 40 and sum(sent) >= 40


def test_two_processes_record_into_one_folder(endpoint, recordings):
    endpoint.script = lambda n, body: (time.sleep(0.02), completion("x" * 5000))[1]
    first = child(endpoint, recordings)
    until(
        lambda: len(store.Recordings(recordings.folder)) >= 4
    )  # else both may go in step and never meet
    second = child(endpoint, recordings)
    assert first.wait(60) == 0 and second.wait(60) == 0
    done = store.Recordings(recordings.folder)
    assert len(done) == 40 and not done.damaged
    assert len(endpoint.bodies) == 40  # what one has under way the other waits for


def test_a_full_disk_stops_the_run_and_keeps_what_was_written(
    served, endpoint, recordings, monkeypatch
):
    append = store.append

    def limited(path, lines, keep=True):
        size = (path.stat().st_size if path.is_file() else 0) + sum(map(len, lines))
        if size > 150_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(path, lines, keep)

    def again():
        return ask(ask_for(served, *map(str, range(40))), store.Recordings(recordings.folder))

    endpoint.script = lambda n, body: completion("x" * 5000)
    with monkeypatch.context() as full:
        full.setattr(store, "append", limited)
        with pytest.raises(store.StoreError, match=r"a reply could not be written.*is kept"):
            again()
        kept = store.Recordings(recordings.folder)
        assert 0 < len(kept) < 40 and not kept.damaged
        paid = len(endpoint.bodies)
        with pytest.raises(store.StoreError, match="can't be written"):
            again()
        assert len(endpoint.bodies) == paid  # nothing is paid
    before = {r["item"] for r in kept.records()}
    again()
    after = store.Recordings(recordings.folder)
    assert len(after) == 40 and before <= {r["item"] for r in after.records()}


def test_an_unwritable_folder_is_an_error_before_the_first_call(served, endpoint, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(store.StoreError, match="can't be written"):
        ask(ask_for(served, "a"), store.Recordings(tmp_path / "file" / "recordings"))
    assert not endpoint.bodies


def test_progress_shows_done_recorded_failed_and_cost(served, endpoint, recordings, capfd):
    ask(ask_for(served, "a"), recordings)
    endpoint.script = lambda n, body: (400, {}, b"{}")
    asyncio.run(models.ask(ask_for(served, "a", "b"), recordings, mode="record", label="answers"))
    shown = capfd.readouterr().err
    assert "answers" in shown and "2/2" in shown and "recorded 1, failed 1, cost $0.0000" in shown


def test_max_concurrency_is_kept(served, endpoint, recordings):
    endpoint.script, most = counted(4)
    ask(ask_for(served, *map(str, range(24))), recordings)
    assert most[0] == 4


def test_body_has_the_settings_and_no_more(served, endpoint, recordings):
    ask(ask_for(served, "a", seed=7), recordings)
    assert endpoint.bodies == [
        {
            "model": "asked-2026-01-01",
            "messages": [{"role": "user", "content": "question a"}],
            "max_tokens": 20,
            "temperature": 0,
            "seed": 7,
        }
    ]
    assert json.dumps(endpoint.headers[0]).count("Bearer none") == 1


def test_a_plan_stands_in_for_structured_replies(recordings):
    """So that what follows a generation, a category or a complexity check is planned too."""
    schema = {
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 2,
                "items": {"type": "object", "properties": {"question": {"type": "string"}}},
            },
            "level": {"type": "string", "enum": ["low", "high"]},
            "n": {"type": "integer"},
        },
    }
    request = Request(
        "q",
        "smollm2-135m",
        [{"role": "user", "content": "x"}],
        {"max_tokens": 30},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    )
    plan = []
    (reply,) = asyncio.run(models.ask([request], recordings, mode="plan", plan=plan))
    made = json.loads(reply.text)
    assert (
        len({q["question"] for q in made["questions"]}) == 2
        and made["level"] == "high"
        and made["n"] == 0
        and plan == [request]
    )
