"""Results: what is taken in, whatever an engine wrote, and the account of the rest."""

import asyncio
import json
import random

import pytest

from bedside import BedsideError
from bedside.asking import models
from bedside.bulk import files, results
from bedside.keep import registry, store
from bedside.keep.replies import as_reply
from bedside.read import paths
from bedside.write import frames
from conftest import ask_for, completion
from request_files import (
    counts,
    folders,  # noqa: F401  (a fixture)
    gathered,
    good,
    on_disk,
    put,
    recorded,
    result,
    results_file,
    taken,
    told,
    waiting_keys,  # noqa: F401  (a fixture)
    written,
)

# ---- what comes


def test_results_in_any_order_are_the_replies_to_their_requests(keys, served, endpoint):
    lines = [good(k, f"to {i}") for i, k in keys.items()]
    random.Random(1).shuffle(lines)
    account = taken(results_file(*lines))
    assert counts(account) == (6, 0, 0, 0, 0) and recorded() == {i: f"to {i}" for i in keys}
    assert told(account) == (
        "6 taken in (6 of served), 0 known already, 0 failed, 0 never asked for, 0 unreadable"
    )
    assert len(account.lines()) == 1 and not endpoint.bodies
    (path,) = on_disk()
    assert path == paths.RECORDINGS / "cancer_myth/sample/served.jsonl"


def test_a_key_that_comes_back_is_not_recorded(keys, served, monkeypatch):
    secret = "made-up-0123456789-of-a-test"
    monkeypatch.setenv("KEY_OF_A_TEST", secret)
    registry.model(served)["api_key_env"] = "KEY_OF_A_TEST"
    failed = {"custom_id": keys["b"], "error": {"message": f"no, {secret}"}}
    account = taken(results_file(good(keys["a"], f"You sent {secret}."), failed))
    assert recorded() == {"a": "You sent ***."} and "no, ***" in account.lines()[1]


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
    registry.model(served).update(usd_per_million_in=2, usd_per_million_out=10, batch_discount=0.25)
    lines = [good(keys["a"]), good(keys["b"]), good(keys["a"]), result(keys["c"], None, 500)]
    account = results.take([results_file(*lines)])
    assert account.usd == pytest.approx(2 * 0.75 * (10 * 2 + 5 * 10) / 1e6)
    # without usage it stands at the most that it can cost, like a direct call's reservation
    account = results.take([results_file(result(keys["d"], {**completion(), "usage": None}))])
    (request,) = ask_for(served, "d")
    prompt, reply = request.estimate()
    assert account.taken == 1 and account.usd == pytest.approx(
        0.75 * (prompt * 2 + reply * 10) / 1e6
    )
    registry.model(served).pop("usd_per_million_in")
    assert results.take([results_file(good(keys["e"]))]).usd is None


def test_what_a_reply_cost_is_the_same_wherever_it_is_shown(keys, served, endpoint):
    """10 tokens at 2 and 5 at 10 dollars a million are 70 millionths; in a batch a quarter less.

    A recording that doesn't say how it came tells it by what it lacks.
    """
    registry.model(served).update(usd_per_million_in=2, usd_per_million_out=10, batch_discount=0.25)
    taken(results_file(good(keys["a"])))
    (asked,) = ask_for(served, "a")
    place = paths.RECORDINGS / "cancer_myth/sample"
    (by_batch,) = store.Recordings(place).records()
    direct = store.Recordings(paths.RECORDINGS.parent / "direct")
    (called,) = asyncio.run(models.ask([asked], direct, mode="record", progress=False))
    (by_call,) = direct.records()

    def usd(record, *without):
        told = {k: v for k, v in record.items() if k not in without}
        return frames.sent_and_returned(asked, as_reply(asked, told, True))["usd"]

    assert frames.sent_and_returned(asked, called)["usd"] == usd(by_call) == pytest.approx(70e-6)
    assert usd(by_batch) == usd(by_batch, "batch") == pytest.approx(52.5e-6)
    assert usd(by_call, "usage", "latency_s") == pytest.approx(70e-6)  # of before both were noted
    assert usd({**by_call, "withheld": "so"}, "latency_s") == pytest.approx(70e-6)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n \n"])
def test_a_text_may_hold_what_others_take_for_the_end_of_a_line(keys, end):
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cé 中 \U0001f600\r\n"
    lines = (json.dumps(good(keys[i], text + i), ensure_ascii=False).encode() for i in "ab")
    account = taken(results_file(*lines, end=end))
    assert counts(account) == (2, 0, 0, 0, 0)
    assert recorded() == {"a": f"{text}a", "b": f"{text}b"}


# ---- what is no result


NO_RESULTS = [
    lambda k: b"Traceback (most recent call last):",
    lambda k: b'{"custom_id": "\xff"}',
    lambda k: bytes(300),
    lambda k: [good(k)],
    lambda k: k,
    lambda k: None,
    lambda k: b'{"custom_id": "%s", "response": %s' % (k.encode(), b'{"a":' * 99_999),
    lambda k: {x: v for x, v in good(k).items() if x != "custom_id"},
    lambda k: {**good(k), "custom_id": 7},
    lambda k: {**good(k), "custom_id": None},
    lambda k: {**good(k), "custom_id": [k]},
    lambda k: {"custom_id": k},
    lambda k: result(k, None, None),
    lambda k: {**good(k), "response": "fine"},
]


def test_what_is_no_result_is_counted_and_named_and_the_rest_taken(keys):
    path = results_file(good(keys["a"]), *(f(keys["b"]) for f in NO_RESULTS), good(keys["c"]))
    account = taken(path)
    assert counts(account) == (2, 0, 0, 0, len(NO_RESULTS)) and recorded().keys() == {"a", "c"}
    assert f"{paths.rel(path)} line 2" in told(account, 1)


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


# ---- files that can't be read, folders that can't be written


@pytest.mark.parametrize("together", [1, 1000])
@pytest.mark.parametrize("order", ["abcd", "cadb"])
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
