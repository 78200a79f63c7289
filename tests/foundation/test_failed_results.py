"""Results that hold no reply, by kind; and that a reply is the same by a batch as by a call."""

import asyncio

import pytest

from bedside.asking import models
from bedside.keep import store
from bedside.keep.replies import NO_ANSWER
from bedside.read import paths
from conftest import SILENT, ask_for, completion
from request_files import (
    counts,
    folders,  # noqa: F401  (a fixture)
    good,
    recorded,
    result,
    results_file,
    taken,
    told,
    waiting_keys,  # noqa: F401  (a fixture)
    written,
)

# ---- failures


SAID = {"message": "The words of it.", "type": "t", "param": None, "code": None}
LONG = {**SAID, "message": "This model's maximum context length is 9 tokens."}
SEED = {**SAID, "message": "Unsupported parameter: 'seed'", "code": "unsupported_parameter"}
EXPIRED = {"code": "batch_expired", "message": "This request was not executed in time."}
CANCELLED = {"code": "batch_cancelled", "message": "The batch was cancelled."}
LATE = {"code": "request_timeout", "message": "The request took too long."}
FAILURES = [  # (body, status, error), kind, whether another try may help, words
    (({"error": SAID}, 400), "bad request", False, "The words of it."),
    (({"error": SEED}, 400), "unsupported parameter", False, "Unsupported parameter: 'seed'"),
    (({"error": LONG}, 400), "context too long", False, "maximum context length"),
    (({"error": SAID}, 401), "key refused", False, "The words of it."),
    (({"error": SAID}, 404), "no such model", False, "The words of it."),
    (({"error": SAID}, 429), "rate limit", True, "The words of it."),
    (({"error": SAID}, 500), "endpoint's fault", True, "The words of it."),
    ((None, 503), "endpoint's fault", True, "503 from the endpoint"),
    (({"error": SAID}, "500"), "endpoint's fault", True, "The words of it."),
    ((None, None, EXPIRED), "expired", True, "not executed in time"),
    ((None, None, CANCELLED), "cancelled", True, "The batch was cancelled."),
    ((None, None, LATE), "timeout", True, "took too long"),
    ((None, 400, {"error": LONG}), "context too long", False, "maximum context length"),  # vLLM
    ((None, 400, {"object": "error", **SAID}), "bad request", False, "The words of it."),
    ((None, 400, "The words of it."), "bad request", False, "The words of it."),
    ((None, None, "The words of it."), "endpoint's fault", True, "The words of it."),
    ((None, None, ["The words", "of it."]), "endpoint's fault", True, "The words"),
    (({"error": SAID}, 200), "endpoint's fault", True, "The words of it."),
    (({"error": {**SAID, "code": 429}}, 200), "rate limit", True, "The words of it."),
    (({"error": "The words of it."}, 200), "endpoint's fault", True, "The words of it."),
    ((completion("half", "error"), 200), "endpoint's fault", True, "broke off"),
    (({**completion(), "choices": []}, 200), "bad answer", True, "no choice"),
    (({**completion(), "choices": None}, 200), "bad answer", True, "no choice"),
    (({**completion(), "choices": [{"index": 0}]}, 200), "bad answer", True, "no choice"),
    ((completion({"no": "text"}), 200), "bad answer", True, "dict for its text"),
    ((["fine"], 200), "bad answer", True, "no choice"),
    (("fine", 200), "bad answer", True, "no choice"),
    ((None, 200), "bad answer", True, "no choice"),
]


@pytest.mark.parametrize("line, kind, again, words", FAILURES)
def test_a_failure_has_its_kind_its_item_and_its_words(keys, line, kind, again, words):
    account = taken(results_file(good(keys["a"]), result(keys["b"], *line), good(keys["c"])))
    assert counts(account) == (2, 0, 1, 0, 0) and recorded().keys() == {"a", "c"}
    ((key, failure),) = account.failed.items()
    assert (key, failure.kind, failure.again) == (keys["b"], kind, again)
    assert words in failure.message
    assert told(account).startswith("2 taken in (2 of served), 0 known already, 1 failed, 0 never")
    assert told(account, 1) == f"  1 {kind}: served, b: {failure.message}"


def test_failures_are_told_by_kind_the_most_frequent_first(keys):
    lines = [result(keys[i], None, None, EXPIRED) for i in "abcde"]
    account = taken(results_file(result(keys["f"], {"error": SAID}, 400), *lines))
    assert counts(account) == (0, 0, 6, 0, 0) and not recorded()
    assert account.lines()[1:] == [
        f"  5 expired: served, a; served, b; served, c, ...: {EXPIRED['message']} batch_expired",
        "  1 bad request: served, f: The words of it.",
    ]


@pytest.mark.parametrize("two_files", [False, True])
@pytest.mark.parametrize("failed_first", [False, True])
def test_what_failed_and_came_has_come(keys, two_files, failed_first):
    lines = [result(keys["a"], {"error": SAID}, 500), good(keys["a"])]
    lines = lines if failed_first else lines[::-1]
    paths = [results_file(x, name=f"{n}.jsonl") for n, x in enumerate(lines)]
    account = taken(*(paths if two_files else [results_file(*lines)]))
    assert counts(account) == (1, int(not failed_first), 0, 0, 0) and recorded() == {"a": "fine"}
    assert len(account.lines()) == 1


def test_a_failure_later_does_not_undo_what_is_recorded(keys):
    taken(results_file(good(keys["a"])))
    account = taken(results_file(result(keys["a"], None, None, EXPIRED)))
    assert counts(account) == (0, 1, 0, 0, 0) and recorded() == {"a": "fine"}


# ---- the same as a direct call's


USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": "4",
    "total_tokens": 20,
    "completion_tokens_details": {"reasoning_tokens": 7},
}
FILTERED = {"error": {"message": "Blocked by the content filter.", "code": "content_filter"}}
CUT = {"error": {"message": "Could not finish the message: max_tokens was reached."}}
ANSWERS = {  # item -> (status, body)
    "plain": (200, completion("fine")),
    "unicode": (200, completion("é\u2028 \ud800 \x00")),
    "thought": (200, completion("<think>hm</think>\n\nfine")),
    "parts": (200, completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])),
    "truncated": (200, completion("half a", finish="length")),
    "counts": (200, {**completion(), "usage": USAGE, "system_fingerprint": "fp", "provider": "p"}),
    "no counts": (200, {**completion(), "usage": None, "model": None}),
    **{name: (200, body) for name, body in SILENT.items()},
    "withheld": (400, FILTERED),
    "not finished": (400, CUT),
}


def test_a_reply_by_a_batch_is_the_same_as_one_by_a_call(served, endpoint):
    def script(n, body):
        status, answer = ANSWERS[body["messages"][0]["content"].removeprefix("question ")]
        return status, {}, answer

    endpoint.script = script
    requests = ask_for(served, *ANSWERS)
    direct = store.Recordings(paths.RECORDINGS / "direct")
    called = asyncio.run(models.ask(requests, direct, mode="record", progress=False))
    written(requests)
    lines = [result(r.key, ANSWERS[r.item][1], ANSWERS[r.item][0]) for r in requests]
    assert counts(taken(results_file(*lines))) == (len(ANSWERS), 0, 0, 0, 0)

    batch = store.Recordings(paths.RECORDINGS / "cancer_myth")
    assert len(batch) == len(direct) == len(ANSWERS)
    for request in requests:
        mine, theirs = dict(batch.get(request.key)), dict(direct.get(request.key))
        assert theirs.pop("latency_s", 0) >= 0 and "latency_s" not in mine
        assert mine.pop("batch") and "batch" not in theirs  # for its price
        date = mine.pop("date")
        status, answer = ANSWERS[request.item]
        assert (date == "1970-01-01T00:00:01+00:00") == (status == 200)  # as the answer says
        assert theirs.pop("date") > "2020" and list(mine.items()) == list(theirs.items())
    replayed = [asyncio.run(models.ask(requests, r)) for r in (batch, direct)]
    plain = [
        [{**vars(r), **dict.fromkeys(("date", "latency_s", "recorded", "batch"))} for r in replies]
        for replies in (*replayed, called)
    ]
    assert [{r.batch for r in replies} for replies in (*replayed, called)] == [
        {True},
        {False},
        {False},
    ]
    assert plain[0] == plain[1] == plain[2]
    assert {r.why for r in replayed[0]} == {"", *NO_ANSWER.values(), "blank"}


@pytest.mark.parametrize("created", [None, "now", 1e300, float("nan"), True, {}])
def test_without_a_time_of_its_own_a_reply_came_now(keys, created):
    body = {**completion(), "created": created}
    assert taken(results_file(result(keys["a"], body))).taken == 1
    (record,) = store.Recordings(paths.RECORDINGS).records()
    assert ("2020" < record["date"] < "2100") == (created is not True)
