"""Results: what is taken in, whatever an engine wrote, and the account of the rest."""

import asyncio
import json
import random
import sys

import pytest

from bedside import BedsideError, batches, entries, models, paths, store
from bedside.batches import files, results
from conftest import SILENT, ask_for, completion
from request_files import (
    folders,  # noqa: F401  (a fixture)
    gathered,
    put,
    result,
    results_file,
    written,
)


@pytest.fixture
def keys(served):
    """{item: key} of requests that wait."""
    requests = ask_for(served, *"abcdef")
    written(requests)
    return {r.item: r.key for r in requests}


def good(key, text="fine", **more):
    return result(key, completion(text, **more))


def recorded():
    """{item: text} of all recordings."""
    return {r["item"]: r["text"] for r in store.Recordings(paths.RECORDINGS).records()}


def on_disk():
    return {p: p.read_bytes() for p in paths.RECORDINGS.rglob("*") if p.is_file()}


def counts(account):
    """(taken, known, failed, unknown, unreadable)"""
    rest = account.failed, account.unknown, account.unreadable
    return account.taken, account.known, *map(len, rest)


def taken(*paths):
    """The account of results. Nothing recorded before is touched; a second time adds nothing."""
    before = on_disk()
    account = results.take(paths)
    after = on_disk()
    assert all(after[p].startswith(b) for p, b in before.items())
    again = results.take(paths)
    assert on_disk() == after
    assert again.taken == 0 and again.known >= account.taken + account.known
    assert counts(again)[2:] == counts(account)[2:] and again.failed.keys() == account.failed.keys()
    return account


def told(account, line=0):
    return account.told()[line]


# ---- what comes


def test_results_in_any_order_are_the_replies_to_their_requests(keys, served, endpoint):
    lines = [good(k, f"to {i}") for i, k in keys.items()]
    random.Random(1).shuffle(lines)
    account = taken(results_file(*lines))
    assert counts(account) == (6, 0, 0, 0, 0) and recorded() == {i: f"to {i}" for i in keys}
    assert told(account) == (
        "6 taken in (6 of served), 0 known already, 0 failed, 0 never asked for, 0 unreadable"
    )
    assert len(account.told()) == 1 and not endpoint.bodies
    (path,) = on_disk()
    assert path == paths.RECORDINGS / "cancer_myth/sample/served.jsonl"


@pytest.mark.parametrize("together", [1, 2, 1000])
def test_a_result_twice_or_recorded_before_is_taken_once(keys, served, monkeypatch, together):
    monkeypatch.setattr(files, "TOGETHER", together)
    before = store.Recordings(paths.RECORDINGS / "cancer_myth/public")  # another profile's
    asyncio.run(models.ask(ask_for(served, "a"), before, mode="record", progress=False))
    first = [good(keys[i], "first") for i in "aabbc"]
    second = [good(keys[i], "second") for i in "bcd"]
    account = taken(results_file(*first), results_file(*second, name="more.jsonl"))
    assert counts(account) == (3, 5, 0, 0, 0)
    assert recorded() == {"a": "fine", "b": "first", "c": "first", "d": "second"}
    lines = b"".join(b for p, b in on_disk().items() if "sample" in str(p)).splitlines()
    assert len(lines) == 3


def test_results_go_where_those_who_asked_look_for_them(served):
    put(ask_for(served, "a", "b"), "cancer_myth.01_x")
    put(ask_for(served, "c"), "radiation.01_x")
    gathered()
    account = taken(results_file(*(good(r.key) for r in ask_for(served, *"abc"))))
    assert counts(account) == (3, 0, 0, 0, 0)
    for study, items in (("cancer_myth", "ab"), ("radiation", "c")):
        there = store.Recordings(paths.RECORDINGS / study / "sample")
        replies = asyncio.run(models.ask(ask_for(served, *items), there))
        assert [r.text for r in replies] == ["fine"] * len(items) == ["fine"] * len(there)


def test_what_it_cost_is_at_the_price_of_batches(keys, served):
    entries.model(served).update(usd_per_million_in=2, usd_per_million_out=10, batch_discount=0.25)
    lines = [good(keys["a"]), good(keys["b"]), good(keys["a"]), result(keys["c"], None, 500)]
    account = results.take([results_file(*lines)])
    assert account.usd == pytest.approx(2 * 0.75 * (10 * 2 + 5 * 10) / 1e6)
    account = results.take([results_file(result(keys["d"], {**completion(), "usage": None}))])
    assert account.taken == 1 and account.usd is None


@pytest.mark.parametrize(
    "text", ["a\u2028b\u2029c\x85d", "a\x0bb\x0cc\x1cd", "é 中 \U0001f600", "a\r\n"]
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n \n"])
def test_a_text_may_hold_what_others_take_for_the_end_of_a_line(keys, text, end):
    lines = (json.dumps(good(keys[i], text + i), ensure_ascii=False).encode() for i in "ab")
    account = taken(results_file(*lines, end=end))
    assert counts(account) == (2, 0, 0, 0, 0)
    assert recorded() == {"a": f"{text}a", "b": f"{text}b"}


# ---- what is no result


NO_RESULTS = {
    "no JSON": lambda k: b"Traceback (most recent call last):",
    "not UTF-8": lambda k: b'{"custom_id": "\xff"}',
    "zeros": lambda k: bytes(300),
    "a list": lambda k: [good(k)],
    "a text": lambda k: k,
    "null": lambda k: None,
    "nested": lambda k: b'{"custom_id": "%s", "response": %s' % (k.encode(), b'{"a":' * 99_999),
    "no custom_id": lambda k: {x: v for x, v in good(k).items() if x != "custom_id"},
    "a number for it": lambda k: {**good(k), "custom_id": 7},
    "null for it": lambda k: {**good(k), "custom_id": None},
    "a list for it": lambda k: {**good(k), "custom_id": [k]},
    "no response": lambda k: {"custom_id": k},
    "neither response nor error": lambda k: result(k, None, None),
    "a text for a response": lambda k: {**good(k), "response": "fine"},
}


@pytest.mark.parametrize("name", NO_RESULTS)
def test_what_is_no_result_is_counted_and_named_and_the_rest_taken(keys, name):
    path = results_file(good(keys["a"]), NO_RESULTS[name](keys["b"]), good(keys["c"]))
    account = taken(path)
    assert counts(account) == (2, 0, 0, 0, 1) and recorded().keys() == {"a", "c"}
    assert told(account, 1) == f"  1 no result, or cut off: {paths.rel(path)} line 2"


def test_no_depth_of_nesting_keeps_the_rest_from_being_taken(keys):
    forms = (
        '{"custom_id": "%s", "response": null, "error": %s}',
        '{"custom_id": "%s", "response": {"status_code": 400, "body": %s}, "error": null}',
    )
    lines = [
        (form % (keys["a"], "[" * n + "]" * n)).encode()
        for form in forms
        for n in range(600, sys.getrecursionlimit() + 9)  # here parsing and telling part ways
    ]
    account = taken(results_file(*lines, good(keys["b"])))
    assert account.taken == 1 and recorded().keys() == {"b"} and keys["a"] in account.failed
    assert 2 * 9 <= len(account.unreadable) < len(lines) / 2


def test_a_file_cut_off_anywhere_loses_its_last_line_alone(keys):
    whole = results_file(good(keys["a"]), good(keys["b"], "é"))
    content = whole.read_bytes()
    start = content.index(b"\n") + 1
    whole.write_bytes(content[:start])
    assert counts(taken(whole)) == (1, 0, 0, 0, 0)
    for end in range(start + 1, len(content) - 1):
        whole.write_bytes(content[:end])
        account = results.take([whole])
        assert counts(account) == (0, 1, 0, 0, 1) and account.unreadable == [(whole, 2)]
    assert recorded().keys() == {"a"}
    whole.write_bytes(content[:-1])  # nothing but the end of the line is missing
    assert counts(taken(whole)) == (1, 1, 0, 0, 0) and recorded() == {"a": "fine", "b": "é"}
    whole.write_bytes(content[: start + 40] + b"\n" + content)  # gone on after a crash
    assert counts(taken(whole)) == (0, 3, 0, 0, 1)


def test_results_of_another_batch_are_never_recorded(keys, served):
    theirs = ask_for(served, "a", temperature=1)[0].key
    lines = [
        good(theirs),
        good(keys["a"]),
        good("any"),
        good(""),
        good("0" * 64),
        good(keys["b"][:-1]),
    ]
    path = results_file(*lines)
    account = taken(path)
    assert counts(account) == (1, 0, 0, 5, 0) and recorded().keys() == {"a"}
    named = ", ".join(f"{paths.rel(path)} line {n}" for n in (1, 3, 4))
    assert told(account, 1) == f"  5 never asked for by this checkout: {named}, ..."


def test_a_request_file_by_mistake_is_no_result(served):
    (made,) = written(ask_for(served, *"ab"))
    account = taken(made.path)
    assert counts(account) == (0, 0, 0, 0, 2) and not recorded()
    assert "line 1" in told(account, 1) and "line 2" in told(account, 1)


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
    ((None, None, LATE), "endpoint's fault", True, "took too long"),
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
    assert account.told()[1:] == [
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
    assert len(account.told()) == 1


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
    "refused": (200, completion(None, refusal="I can't help with that.")),
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
        date = mine.pop("date")
        status, answer = ANSWERS[request.item]
        assert (date == "1970-01-01T00:00:01+00:00") == (status == 200)  # as the answer says
        assert theirs.pop("date") > "2020" and list(mine.items()) == list(theirs.items())
    replayed = [asyncio.run(models.ask(requests, r)) for r in (batch, direct)]
    plain = [
        [{**vars(r), "date": "", "latency_s": None, "recorded": True} for r in replies]
        for replies in (*replayed, called)
    ]
    assert plain[0] == plain[1] == plain[2]
    assert {r.why for r in replayed[0]} == {"", *models.NO_ANSWER.values(), "blank"}


@pytest.mark.parametrize("created", [None, "now", 1e300, float("nan"), True, {}])
def test_without_a_time_of_its_own_a_reply_came_now(keys, created):
    body = {**completion(), "created": created}
    assert taken(results_file(result(keys["a"], body))).taken == 1
    (record,) = store.Recordings(paths.RECORDINGS).records()
    assert ("2020" < record["date"] < "2100") == (created is not True)


# ---- files that can't be read, folders that can't be written


@pytest.mark.parametrize("together", [1, 1000])
@pytest.mark.parametrize("order", ["abcd", "cdab", "cadb"])
def test_after_a_folder_can_be_written_again_the_rest_comes(served, monkeypatch, order, together):
    monkeypatch.setattr(files, "TOGETHER", together)
    put(ask_for(served, "a", "b"), "cancer_myth.01_x")
    put(ask_for(served, "c", "d"), "radiation.01_x")
    gathered()
    keys = {r.item: r.key for r in ask_for(served, *order)}
    path = results_file(*(good(keys[i]) for i in order))
    paths.RECORDINGS.mkdir()
    blocked = paths.RECORDINGS / "radiation"
    blocked.write_text("in the way")
    with pytest.raises(store.StoreError, match="radiation.*could not be written"):
        results.take([path])
    before = order[: order.index("c")] if together == 1 else "ab"
    assert recorded().keys() == {*before}
    blocked.unlink()
    assert counts(taken(path)) == (4 - len(before), len(before), 0, 0, 0)
    assert recorded().keys() == set("abcd")


def test_a_file_that_cannot_be_read_is_named_and_what_came_before_is_kept(keys):
    path = results_file(good(keys["a"]))
    missing = path.with_name("missing.jsonl")
    with pytest.raises(BedsideError, match="missing.jsonl can't be read"):
        results.take([path, missing])
    assert recorded().keys() == {"a"}


def test_from_names_a_file_or_a_folder_with_results(tmp_path):
    there = [tmp_path / "x" / n for n in ("b.jsonl", "sub/a.jsonl", "c.txt")]
    for path in there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert results.found(tmp_path / "x") == there[:2]
    assert results.found(str(there[2])) == [there[2]]
    with pytest.raises(BedsideError, match="FROM=.*no such file or folder"):
        results.found(tmp_path / "y")
    (tmp_path / "z").mkdir()
    with pytest.raises(BedsideError, match="FROM=.*no file in it ends in .jsonl"):
        results.found(tmp_path / "z")


def test_what_was_never_asked_for_anywhere_is_unknown(served):
    assert not batches.folder().exists()
    path = results_file(good(ask_for(served, "a")[0].key))
    assert counts(taken(path)) == (0, 0, 0, 1, 0) and not recorded()
