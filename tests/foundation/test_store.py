"""The key holds everything that changes the answer; the files survive crashes."""

import asyncio
import json

import pytest

from bedside.keep import registry, store
from bedside.keep.replies import Request

BASE = {
    "item": "a",
    "model": "smollm2-135m",
    "messages": [{"role": "user", "content": "q"}],
    "settings": {"max_tokens": 9, "temperature": 0, "top_p": 1.0, "seed": 1},
    "response_format": None,
    "repeat": 0,
}


@pytest.mark.parametrize(
    "field, value",
    [
        ("model", "ollama"),
        ("messages", [{"role": "user", "content": "q "}]),
        ("messages", [{"role": "system", "content": "q"}]),
        ("settings", {**BASE["settings"], "max_tokens": 10}),
        ("settings", {**BASE["settings"], "temperature": 0.7}),
        ("settings", {**BASE["settings"], "top_p": 0.9}),
        ("settings", {**BASE["settings"], "seed": 2}),
        ("settings", {**BASE["settings"], "stop": ["x"]}),
        ("response_format", {"type": "json_object"}),
        ("repeat", 1),
    ],
)
def test_each_field_changes_the_key(field, value):
    assert Request(**BASE).key != Request(**{**BASE, field: value}).key


@pytest.mark.parametrize("entry", ["provider", "model", "weights_sha256"])
def test_each_property_of_the_model_changes_the_key(monkeypatch, entry):
    before = Request(**BASE).key
    monkeypatch.setitem(registry.entries()["smollm2-135m"], entry, "another")
    assert Request(**BASE).key != before


def test_the_item_and_the_order_of_settings_do_not_change_the_key():
    turned = dict(reversed(BASE["settings"].items()))
    other = Request(**{**BASE, "item": "b", "settings": turned})
    assert Request(**BASE).key == other.key


def test_the_key_is_the_sha256_of_canonical_json():
    # by the shell: printf '{"a":1,"b":[null,"\\u00e9"]}' | sha256sum
    fields = {"b": [None, "é"], "a": 1}
    expected = "e388c6a81b1ef3852debf98a727c9ffc1f5778b48424011a2421e29e7e8850ac"
    assert store.canonical(fields) == '{"a":1,"b":[null,"\\u00e9"]}'
    assert store.key(fields) == expected


def record(i, text="t"):
    return {"key": f"{i:064d}", "item": f"i{i}", "text": text, "fields": {}}


def append(recordings, *records):
    async def all_at_once():
        await asyncio.gather(*(recordings.flush(recordings.put("m", r)) for r in records))

    asyncio.run(all_at_once())


def test_what_was_put_is_written_even_if_its_task_is_cancelled(tmp_path):
    recordings = store.Recordings(tmp_path)

    async def cancelled():
        task = asyncio.create_task(recordings.flush(recordings.put("m", record(1))))
        await asyncio.sleep(0)
        task.cancel()
        recordings.put("m", record(2))  # and one that nobody waits for
        await recordings.drain()

    asyncio.run(cancelled())
    assert len(store.Recordings(tmp_path)) == 2


def test_a_half_written_last_line_costs_only_itself(tmp_path):
    append(store.Recordings(tmp_path), record(1), record(2))
    path = tmp_path / "m.jsonl"
    whole = path.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 10, len(whole) // 2 + 3):
        path.write_bytes(whole[:cut])
        half = store.Recordings(tmp_path)
        assert half.get(f"{1:064d}")["item"] == "i1" and half.get(f"{2:064d}") is None
        append(half, record(3))
        again = store.Recordings(tmp_path)
        assert again.get(f"{1:064d}")["item"] == "i1" and again.get(f"{3:064d}")["item"] == "i3"
        assert path.read_bytes().startswith(whole[:cut])  # nothing is deleted


def test_a_damaged_line_is_named_and_left_out(tmp_path):
    append(store.Recordings(tmp_path), record(1), record(2), record(3))
    path = tmp_path / "m.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"garbage\n" + lines[1][:90] + b"}\n" + lines[2])
    damaged = store.Recordings(tmp_path)
    assert damaged.get(f"{2:064d}") is None and damaged.get(f"{3:064d}")["item"] == "i3"
    assert damaged.damaged == {(path, 2): "not a recording"} and damaged.torn == {(path, 3)}


def test_what_another_process_appends_is_seen(tmp_path):
    mine, other = store.Recordings(tmp_path), store.Recordings(tmp_path)
    append(other, record(1))
    assert f"{1:064d}" not in mine
    mine.refresh()
    assert mine.get(f"{1:064d}")["item"] == "i1"


def test_a_record_keeps_settings_but_no_prompt(tmp_path):
    kept = store.redacted(Request(**BASE).fields)
    assert kept["max_tokens"] == 9 and kept["temperature"] == 0.0
    assert "content" not in json.dumps(kept) and len(kept["messages"]) == 16


def test_recordings_below_the_folder_are_read(tmp_path):
    append(store.Recordings(tmp_path / "sample"), record(1))
    public = store.Recordings(tmp_path / "public", tmp_path)
    assert public.get(f"{1:064d}")["item"] == "i1"
    append(public, record(2))
    assert (tmp_path / "public" / "m.jsonl").is_file()
