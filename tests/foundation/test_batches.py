"""Request files: their lines, what is never in them, what they hold and how they are cut."""

import asyncio
import json

import pytest
from pydantic import ValidationError

from bedside import bulk
from bedside.asking import models
from bedside.bulk import files
from bedside.keep import registry, store
from bedside.read import paths
from conftest import ask_for
from request_files import (
    checked,
    folders,  # noqa: F401  (a fixture)
    gathered,
    lines_of,
    parts,
    put,
    requests_like_ours,
    written,
)

SECRET = "the-value-of-this-secret"
ENTRIES = {
    "plain": {},
    "settings": {
        "settings": {"reasoning_effort": "low", "temperature": 1},
        "omit": ["seed", "frequency_penalty"],
        "max_tokens_name": "max_completion_tokens",
        "reasoning_tokens": 4000,
    },
    "object": {"response_format": "json_object"},
    "words": {"response_format": "none", "omit": ["temperature"]},
    "extra": {"extra_body": {"enable_thinking": False, "top_k": 3}, "revision": "of today"},
    "beside": {"headers": {"X-Key": "${BESIDE}"}, "query": {"token": "${BESIDE}", "v": "1"}},
}


@pytest.fixture(params=ENTRIES)
def entry(request, served, monkeypatch):
    """A model whose entry has something to it, and its secrets in the environment."""
    monkeypatch.setenv("BESIDE", SECRET)
    monkeypatch.setenv("OWN_KEY", SECRET)
    registry.model(served).update(ENTRIES[request.param], api_key_env="OWN_KEY")
    return served


# ---- lines


def test_each_line_is_of_the_package_s_types(entry):
    requests, beyond = requests_like_ours(entry), registry.model(entry).get("extra_body", ())
    (made,) = written(requests)
    lines = [checked(x, beyond) for x in lines_of([made])]
    assert [x["custom_id"] for x in lines] == [r.key for r in requests]
    assert {k for x in lines for k in beyond if k in x["body"]} == {*beyond}


@pytest.mark.parametrize(
    "wrong",
    [
        {"more": 1},
        {"custom_id": 1},
        {"method": "GET"},
        {"url": "/v1/chat"},
        {"body": {"model": "m"}},
        {"body": {"model": "m", "messages": [], "temperature": "0"}},
        {"body": {"model": "m", "messages": [], "top_k": 3}},
        {"body": {"model": "m", "messages": [{"role": "user", "content": "a", "more": 1}]}},
        {"body": {"model": "m", "messages": [{"role": "patient", "content": "a"}]}},
        {"body": {"model": "m", "messages": [], "response_format": {"type": "json"}}},
    ],
    ids=str,
)
def test_the_package_s_types_tell_a_wrong_line(wrong):
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    right = {"custom_id": "a", "method": "POST", "url": registry.BATCH_URL, "body": body}
    checked(right)
    with pytest.raises(ValidationError):
        checked(right | wrong)


def usable(name):
    m = registry.entries()[name]
    plain = "${" not in str(m.get("extra_body")) and not registry.bare(name)
    return registry.in_batches(name) and "retired" not in m and plain


@pytest.mark.parametrize("name", [*filter(usable, registry.entries())])
def test_what_the_entries_send_is_of_these_types_but_for_what_a_provider_adds(name):
    beyond = registry.model(name).get("extra_body", ())
    for request in requests_like_ours(name):
        line = checked(files.line(request), beyond)
        assert line["body"]["model"] == registry.model(name)["model"]


def test_a_body_is_what_a_direct_call_sends_and_the_id_is_the_recording_s_key(entry, endpoint):
    requests = requests_like_ours(entry)
    lines = lines_of(written(requests))
    assert not endpoint.bodies
    direct = store.Recordings(paths.RECORDINGS / "direct")
    asyncio.run(models.ask(requests, direct, mode="record", progress=False))
    by_body = {json.dumps(x["body"]) for x in lines}  # repeats have the body of the first
    assert by_body == {json.dumps(b) for b in endpoint.bodies}
    assert len(endpoint.bodies) == len(lines) and len(by_body) == len(lines) - 2
    assert {x["custom_id"] for x in lines} == {r["key"] for r in direct.records()}
    for request, line in zip(requests, lines, strict=True):
        text = json.dumps(line["body"]["messages"][-1]["content"])
        assert json.dumps(request.messages[-1]["content"])[:-1] in text


# ---- what is never in a file


def test_no_file_holds_a_secret(entry):
    written(requests_like_ours(entry))
    there = [p for p in parts().parent.rglob("*") if p.is_file()]
    assert len(there) >= 4  # two parts, a request file, what was asked
    assert not [p for p in there if SECRET in p.read_text()]


@pytest.mark.parametrize(
    "more, words",
    [
        ({"extra_body": {"user": "${BESIDE}"}}, "takes a value from the environment"),
        ({"extra_body": {"a": [{"b": "x ${BESIDE}"}]}}, "takes a value from the environment"),
        ({"api": "completions"}, "which hold chat completions"),
        ({"retired": "2026-06-15", "instead": "smollm2-135m"}, "retired on 2026-06-15; use"),
    ],
)
def test_what_takes_no_batch_is_refused_before_a_file_is_there(served, monkeypatch, more, words):
    monkeypatch.setenv("BESIDE", SECRET)
    registry.model(served).update(more)
    with pytest.raises(registry.StopRun, match=words):
        put(ask_for(served, "a"))
    assert not [p for p in parts().parent.rglob("*") if p.is_file()]


# ---- request files


@pytest.fixture
def two(served, monkeypatch):
    """Names of two models of the registry."""
    monkeypatch.setitem(registry.entries(), "second/2", {**registry.model(served), "model": "2"})
    return served, "second/2"


def test_one_model_a_file_and_each_request_once_over_all_notebooks(two):
    first, second = two
    put([*ask_for(first, *"abca"), *ask_for(second, *"ab")], "radiation.01_x")
    put([*ask_for(second, *"bc"), *ask_for(first, *"dc")], "radiation.02_y")
    counts = [len(p.read_bytes().splitlines()) for p in sorted(parts().glob("*/*.lines"))]
    assert counts == [2, 3, 2, 2]  # of second and first: each notebook's own ones, once
    made = gathered()
    assert {m.model: m.lines for m in made} == {first: 4, second: 3} and len(made) == 2
    for m in made:
        assert {x["body"]["model"] for x in lines_of([m])} == {registry.model(m.model)["model"]}
        keys = [x["custom_id"] for x in lines_of([m])]
        every = "abcd" if m.model == first else "abc"
        assert keys == [r.key for r in ask_for(m.model, *every)]
    for request in (*ask_for(first, *"abcd"), *ask_for(second, *"abc")):
        about = files.asked().get(request.key)
        assert about == {**about, **request.kept()} and about["model"] == request.model
        assert (about["folder"], about["reads"]) == ("radiation/sample", "radiation")


def test_counts_are_those_of_the_file(served):
    registry.model(served).update(usd_per_million_in=2, usd_per_million_out=10, batch_discount=0.25)
    requests = requests_like_ours(served, 3)
    (made,) = written(requests)
    assert (made.lines, made.bytes) == (9, made.path.stat().st_size)
    each = [r.estimate() for r in requests]
    assert [made.prompt, made.completion] == [sum(column) for column in zip(*each)]
    assert made.completion == 9 * 20
    assert made.usd == pytest.approx(0.75 * (2 * made.prompt + 10 * 180) / 1e6)
    registry.model(served).pop("usd_per_million_in")
    (made,) = gathered("02")
    assert made.usd is None


def test_what_is_under_way_isn_t_asked_again(served):
    put(requests := ask_for(served, *"abcd"))
    (made,) = gathered(but={requests[0].key, requests[2].key})
    assert [x["custom_id"] for x in lines_of([made])] == [requests[1].key, requests[3].key]
    assert made.lines == 2 and len(files.asked()) == 2
    assert gathered("02", but={r.key for r in requests}) == []
    assert not (bulk.folder() / "sample/02").exists()


def test_files_are_cut_by_lines(served, monkeypatch):
    monkeypatch.setattr(files, "MOST_LINES", 3)
    made = written(requests := ask_for(served, *"abcdefg"))
    assert [m.lines for m in made] == [3, 3, 1] and len({m.path for m in made}) == 3
    assert [x["custom_id"] for x in lines_of(made)] == [r.key for r in requests]


def test_files_are_cut_by_bytes(served, monkeypatch):
    (whole,) = written(ask_for(served, *"abcdef"))
    each = whole.bytes // 6
    for most, counts in ((2 * each, [2, 2, 2]), (2 * each - 1, [1] * 6), (4 * each + 3, [4, 2])):
        monkeypatch.setattr(files, "MOST_BYTES", most)
        made = gathered(f"{most:06}")
        assert [m.lines for m in made] == counts
        assert [m.bytes for m in made] == [m.path.stat().st_size for m in made]
        assert max(m.bytes for m in made) <= most
        assert b"".join(m.path.read_bytes() for m in made) == whole.path.read_bytes()


def test_files_are_cut_by_the_entry_s_tokens_and_one_too_large_goes_alone(two):
    small, large = ask_for(two[0], *"abcd"), ask_for(two[0], "long " * 200)
    (each,) = {r.likely for r in small}
    registry.model(two[0])["batch_tokens"] = 2 * each
    put([*small[:3], *large, small[3], *ask_for(two[1], *"abcd")])
    made = gathered()
    assert [(m.model, m.lines) for m in made] == [(two[1], 4), *((two[0], n) for n in (2, 1, 1, 1))]
    assert made[3].likely == large[0].likely > 2 * each == made[1].likely


@pytest.mark.parametrize("kind", ["lines", "asked"])
def test_of_a_part_that_was_cut_off_whole_lines_are_asked(served, kind):
    """A notebook may be killed while it writes: both files may end anywhere."""
    put(requests := ask_for(served, *"abc"))
    (part,) = parts().glob(f"*/*.{kind}")
    content = part.read_bytes()
    for end in range(0, len(content), 7):
        part.write_bytes(content[:end])
        whole = [r.key for r in requests[: content[:end].count(b"\n")]]
        assert [x["custom_id"] for x in lines_of(gathered(f"{end:06}"))] == whole
        assert len(files.asked()) == len(whole)
