"""Request files and what engines wrote for them: what is a reply is taken in, the rest is named."""

import json
import re

import pytest

from bedside import BedsideError
from bedside.asking import batches
from calling import request, result
from conftest import completion

ASKED = {i: f"question {i}" for i in "abcdef"}


@pytest.fixture
def lines(world):
    """{item: line} of a request file."""
    return {x["body"]["messages"][0]["content"][-1]: x for x in world.request_file(ASKED)}


def good(line, text="fine"):
    return result(line, 200, completion(text))


def counts(printed):
    """(taken, known, failed, never asked for, unreadable)"""
    found = re.findall(r"(\d+) (?:taken|known|failed|never|unreadable)", printed.split("\n")[0])
    return tuple(map(int, found))


def texts(world):
    return {r["item"]: r["text"] for r in world.recorded()}


def test_a_result_twice_or_recorded_before_is_taken_once(world, endpoint, lines):
    world.ask({"a": ASKED["a"]}, recordings="cancer_myth/public")  # another profile's
    first = [good(lines[i], "first") for i in "aabbc"]
    second = [good(lines[i], "second") for i in "bcd"]
    assert counts(world.collect(first + second)) == (3, 5, 0, 0, 0)
    assert texts(world) == {"a": "fine", "b": "first", "c": "first", "d": "second"}
    assert counts(world.collect(first + second)) == (0, 8, 0, 0, 0)
    assert counts(world.collect([result(lines["d"], 500, None)])) == (0, 1, 0, 0, 0)
    both = [result(lines["e"], 500, None), good(lines["e"]), result(lines["f"], 500, None)]
    assert counts(world.collect(both)) == (1, 0, 1, 0, 0)
    assert len(world.recorded()) == 5 and len(endpoint.bodies) == 1


NO_RESULTS = {
    "no JSON": lambda x: b"Traceback (most recent call last):",
    "not UTF-8": lambda x: b'{"custom_id": "\xff"}',
    "zeros": lambda x: bytes(300),
    "a list": lambda x: [good(x)],
    "null": lambda x: None,
    "nested": lambda x: b'{"custom_id": "0", "response": ' + b'{"a":' * 99_999,
    "no custom_id": lambda x: {k: v for k, v in good(x).items() if k != "custom_id"},
    "a number for it": lambda x: {**good(x), "custom_id": 7},
    "no response": lambda x: {"custom_id": x["custom_id"]},
    "neither response nor error": lambda x: result(x, None, None),
    "a text for a response": lambda x: {**good(x), "response": "fine"},
    "a request": lambda x: x,
}


def test_what_is_no_result_is_counted_and_named_and_the_rest_taken(world, lines):
    for name, made in NO_RESULTS.items():
        odd = made(lines["b"])
        printed = world.collect([good(lines["a"]), odd, good(lines["c"])])
        assert counts(printed)[2:] == (0, 0, 1), name
        assert "results.jsonl line 2" in printed and texts(world).keys() == {"a", "c"}, name


def test_results_of_another_batch_are_never_recorded(world, lines):
    theirs = [{"custom_id": k} for k in ("any", "", "0" * 64, lines["b"]["custom_id"][:-1])]
    printed = world.collect([*map(good, theirs), good(lines["a"])])
    assert counts(printed) == (1, 0, 0, 4, 0) and texts(world) == {"a": "fine"}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n \n"])
def test_a_text_may_hold_what_others_take_for_the_end_of_a_line(world, lines, end):
    said = {"a": "a\u2028b\u2029c\x85d", "b": "a\x0bb\x0cc\x1cd", "c": "é 中 \U0001f600 a\r\n"}
    made = (json.dumps(good(lines[i], t), ensure_ascii=False).encode() for i, t in said.items())
    assert counts(world.collect([end.join(made)])) == (3, 0, 0, 0, 0) and texts(world) == said


def test_a_file_cut_off_anywhere_loses_its_last_line_alone(world, lines):
    world.collect([good(lines["a"])])
    content = json.dumps(good(lines["b"], "é"), ensure_ascii=False).encode()
    for end in range(1, len(content), 29):
        assert counts(world.collect([good(lines["a"]), content[:end]])) == (0, 1, 0, 0, 1)
    assert counts(world.collect([content[:40], content])) == (1, 0, 0, 0, 1)
    assert texts(world) == {"a": "fine", "b": "é"}


def test_a_file_that_is_not_there_or_cannot_be_written_is_named(world, lines, tmp_path):
    (tmp_path / "empty").mkdir()
    for place in ("", tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(BedsideError, match="FROM="):
            world.command("collect", str(place))
    blocked = world.folder / "data/recordings/cancer_myth"
    blocked.parent.mkdir()
    blocked.write_text("in the way")
    with pytest.raises(BedsideError, match="cancer_myth.*can't be written"):
        world.collect([good(lines["a"])])
    blocked.unlink()
    assert counts(world.collect([good(lines["a"])])) == (1, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "more, words",
    [
        ({"api": "completions", "response_format": "none"}, "bare text"),
        ({"retired": "2026-06-15", "instead": "smollm2-135m"}, "retired on 2026-06-15; use"),
    ],
)
def test_what_takes_no_batch_is_refused_before_a_file_is_there(world, more, words):
    world.model(**more)
    with pytest.raises(BedsideError, match=words):
        world.request_file(ASKED)
    assert not [p for p in world.folder.rglob("*.jsonl") if p.is_relative_to("batches")]


def test_files_are_cut_where_a_provider_takes_no_more(world, monkeypatch):
    whole = world.request_file(ASKED)
    each = len(json.dumps(whole[0], separators=(",", ":")).encode()) + 1
    for name, most, counts in (
        ("MOST_BYTES", 2 * each, [2, 2, 2]),
        ("MOST_BYTES", 2 * each - 1, [1] * 6),
        ("MOST_LINES", 4, [4, 2]),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(batches, name, most)
            assert world.request_file(ASKED) == whole
            assert world.made == counts, (name, most)
    each = request("a", ASKED["a"], max_tokens=20).likely
    for most, counts in ((2 * each, [2, 2, 2]), (each - 1, [1] * 6)):
        world.model(batch_tokens=most)
        assert world.request_file(ASKED) == whole and world.made == counts


def test_a_line_refused_without_a_body_is_told_by_its_status(world, lines):
    """The bounds of what is a refusal, or the endpoint's fault; so is what has no status."""
    error = {"code": "any", "message": "Say it in another way."}
    for status, kind in ((400, "bad request"), (599, "endpoint's fault"), (None, "endpoint's")):
        assert f"\n  {kind}" in world.collect([result(lines["a"], status, None, error)])


def test_a_study_is_asked_by_files_until_nothing_is_left(world):
    """The same command writes what still waits, and what it costs at most."""
    world.model(usd_per_million_in=2, usd_per_million_out=10, batch_discount=0.25)
    (world.folder / "two.csv").write_text("item,question\na,What is it?\nb,How long?\n")
    words = ["batch", f"QUESTIONS={world.folder / 'two.csv'}", "MODELS=mine", "NAME=two"]
    printed = world.command(*words)
    (file,) = (world.folder / "batches/own-two").glob("*.jsonl")
    assert re.search(rf"{file.name}: 2 requests, .* at most \$0.03", printed)
    written = file.read_bytes()
    world.command(*words)
    assert [*file.parent.iterdir()] == [file] and file.read_bytes() == written
    asked = [json.loads(line) for line in written.splitlines()]
    assert {x["body"]["messages"][-1]["content"] for x in asked} == {"What is it?", "How long?"}
    world.collect([good(asked[0])])
    assert ": 1 requests" in world.command(*words) and not file.exists()
    world.collect([good(asked[1])])
    assert "Nothing is left to ask in batches. `make study" in world.command(*words)
    assert not [*file.parent.iterdir()] and len(world.recorded()) == 2
