"""Recordings: what was returned is on disk, what is damaged is told, what is replayed is the same.

Here one process or several write to one folder. What a run makes of it is in
`test_kills_disks_and_damage.py`.
"""

import asyncio
import csv
import hashlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bedside import BedsideError
from bedside.asking import store
from bedside.asking.replies import Request, as_reply
from bedside.read import paths
from conftest import completion
from file_faults import full_disk, short_writes

FIELDS = {"temperature": 0.0, "max_tokens": 9}


def record(name, **more):
    """A record of an item, with a key of its own."""
    kept = {"key": store.digest({"": name}), "item": name, "text": "to it", "fields": FIELDS}
    return {**kept, **more}


def keep(folder, *records, name="m"):
    """Put records down, as a run does; the folder's recordings, read anew."""
    kept = store.Recordings(folder)

    async def flushed():
        async def one(record):
            kept.put(name, record)
            await kept.flush()

        await asyncio.gather(*map(one, records))

    asyncio.run(flushed())
    return store.Recordings(folder)


WRITER = """
import asyncio, json, sys
from pathlib import Path
from bedside.asking import store
folder, name, count, size = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
kept = store.Recordings(folder)
async def one(n):
    key = f"{int.from_bytes(name.encode(), 'big') * 10**6 + n:064x}"
    record = {"key": key, "item": f"{name} {n}", "text": name * size, "fields": {}}
    kept.put("m", record)
    await kept.flush()
    print(key, flush=True)
async def some(queue):
    for n in queue:
        await one(n)
async def main():
    queue = iter(range(count))
    await asyncio.gather(*(some(queue) for _ in range(8)))
print("ready", flush=True)
asyncio.run(main())
"""


def writing(folder, name, count, size):
    """A process that records `count` replies, and prints the key of each once it has returned."""
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count), str(size)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_was_returned_outlives_a_kill_at_any_moment(tmp_path):
    rng, returned = random.Random(1), set()
    for n in range(4):
        process = writing(tmp_path, f"k{n}", 10**6, 20_000)
        for _ in range(rng.randint(1, 60)):
            returned.add(process.stdout.readline().strip())
        process.kill()
        with process:
            returned |= {key for key in process.stdout.read().split("\n")[:-1]}
        kept = store.Recordings(tmp_path)
        assert all(kept.get(key)["text"] for key in returned)
    kept.check_sound()  # what a kill cut off is no damage
    assert len(returned) > 20


def test_two_processes_append_to_one_file_without_mixing_lines(tmp_path):
    """Whoever reads meanwhile, or tries whether the disk takes a line, sees whole lines alone."""
    processes = [writing(tmp_path, name, 40, 20_000) for name in ("a", "b")]
    while any(process.poll() is None for process in processes):
        time.sleep(0.02)
        kept = store.Recordings(tmp_path)
        kept.check_writable("m")
        kept.refresh()
        kept.check_sound()
    for process in processes:
        with process:
            assert len(process.stdout.read().split()) == 40
    lines = [json.loads(x) for x in (tmp_path / "m.jsonl").read_bytes().splitlines()]
    said = sorted((r["item"], r["text"]) for r in lines)
    assert said == sorted((f"{n} {i}", n * 20_000) for n in "ab" for i in range(40))


# ---- disks


@pytest.mark.parametrize("room", [0, 1, 500, 4999])
def test_a_reply_that_does_not_fit_is_told_and_the_file_is_as_it_was(tmp_path, room):
    keep(tmp_path, record("a"))
    before = (tmp_path / "m.jsonl").read_bytes()
    with full_disk(len(before) + room):
        with pytest.raises(BedsideError, match="m.jsonl: .*No space left"):
            keep(tmp_path, record("b", text="x" * 5000))
        with pytest.raises(BedsideError, match="No space left"):
            store.Recordings(tmp_path).check_writable("m")  # before a call is paid
    assert (tmp_path / "m.jsonl").read_bytes() == before
    store.Recordings(tmp_path).check_writable("m")
    assert (tmp_path / "m.jsonl").read_bytes() == before
    with short_writes():
        kept = keep(tmp_path, record("b"), record("c"))
    assert sorted(r["item"] for r in kept.records()) == [*"abc"]


# ---- what crashes leave, and what is damage


def test_only_a_files_last_line_can_be_what_a_crash_left(tmp_path):
    """The next write closes it off; it is asked for again, and stops nothing."""
    path = tmp_path / "m.jsonl"
    keep(tmp_path, *map(record, "abc"))
    first, second, last = path.read_bytes().splitlines(keepends=True)
    for end in range(1, len(last) - 1, 7):
        path.write_bytes(first + second + last[:end])
        kept = store.Recordings(tmp_path)
        kept.check_sound()
        assert record("c")["key"] not in kept and len(kept) == 2
        kept = keep(tmp_path, record("d"))
        assert path.read_bytes().startswith(first + second + last[:end])  # nothing is deleted
        kept.check_sound()
        assert {r["item"] for r in kept.records()} == {*"abd"}


def test_a_last_line_that_lacks_only_its_end_is_a_reply(tmp_path):
    """As an editor leaves it; the next line isn't glued to it."""
    path = tmp_path / "m.jsonl"
    keep(tmp_path, *map(record, "ab"))
    path.write_bytes(path.read_bytes()[:-1])
    assert [r["item"] for r in store.Recordings(tmp_path).records()] == [*"ab"]
    kept = keep(tmp_path, record("c"))
    kept.check_sound()
    assert [r["item"] for r in kept.records()] == [*"abc"]


DAMAGE = {
    "its end is gone": lambda line: line[:-40] + b"\n",
    "its half is gone": lambda line: line[: len(line) // 2] + b"\n",
    "its beginning is gone": lambda line: line[9:],
    "its middle is gone": lambda line: line[:95] + line[120:],
    "a part of its key is gone": lambda line: line[:40] + line[50:],
    "one byte": lambda line: line.replace(b":", b";", 3),
    "zeros": lambda line: line[:70] + b"\0" * (len(line) - 71) + b"\n",
    "no item": lambda line: line.replace(b'"item"', b'"itme"'),
    "a number for a text": lambda line: line.replace(b'"to b"', b"7"),
    "fields that are none": lambda line: line.replace(b'"fields":{', b'"fields":[],"more":{'),
    "two in a line": lambda line: line[:-1] + line,
    "a merge's mark": lambda line: b"=======\n",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_line_in_the_middle_stops_before_its_reply_is_paid_again(world, endpoint, kind):
    """Also where it begins like a record. File and line are named, and nothing is changed."""
    world.model(max_concurrency=1)
    world.ask("a")
    endpoint.script = lambda n, body: completion("to b")
    world.ask("b")
    world.ask("c")
    (path,) = world.recordings()
    first, line, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(damaged := first + DAMAGE[kind](line) + last)
    for mode in ("record", "replay"):
        with pytest.raises(store.StoreError, match=rf"{path.name}, line 2: .*from git or a copy"):
            world.ask("a", "b", "c", mode=mode)
    assert len(endpoint.bodies) == 3 and path.read_bytes() == damaged
    assert len(world.ask("a", "c")) == 2  # what needs no call replays
    path.write_bytes(first + line + last)
    assert [r.answer for r in world.ask("a", "b", mode="replay")] == ["fine", "to b"]


# ---- texts

HOSTILE = ["", "\0", "\ud800", "a\udfffb", "\n\r\x85\u2028\u2029", '"}\n{"key":"', "\x1b[2J\b"]
HOSTILE += ["\U0001f9ea", "\ufeff", "\\u0000", "\t", "<|end|>", "\ufffe", "e\u0301", "x" * 2**20]


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_hostile_text_comes_back_as_it_was(tmp_path, ends):
    odd = {"n": 10**30, "usage": {"a": float("inf"), "b": 1e300}, "latency_s": 3}
    given = [record(str(n), text=t, refusal=t, finish=t) for n, t in enumerate(HOSTILE)]
    given += [*map(record, HOSTILE[1:5]), record("odd", **odd)]
    keep(tmp_path, *given)
    path = tmp_path / "m.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", ends))
    kept = store.Recordings(tmp_path)
    assert len(path.read_bytes().splitlines()) == len(given) == len(kept)
    kept.check_sound()
    odd["n"] = float("1e30")
    for each in given:
        assert kept.get(each["key"]) == {**each, **(odd if each["item"] == "odd" else {})}


# ---- replays


def test_a_replay_without_recording_names_the_fields_of_the_nearest(tmp_path):
    kept = keep(
        tmp_path,
        record("a", fields={**FIELDS, "messages": "0" * 16}),
        record("a2", item="a", fields={**FIELDS, "temperature": 1.0, "seed": 1}),
        record("b"),
    )
    told = kept.nearest("a", {**FIELDS, "max_tokens": 10, "temperature": 1.0, "seed": 1})
    assert told == "the nearest recording differs in max_tokens (9 recorded, 10 asked)"
    told = kept.nearest("a", {**FIELDS, "messages": [{"role": "user", "content": "secret"}]})
    assert told == "the nearest recording differs in messages"  # of prompts only that they differ
    assert kept.nearest("c", FIELDS) == "no recording of this item at all"


GOLDEN = Path(__file__).with_name("replies.csv")


def replies_of(path, count):
    """The replies that the first lines of a file of recordings are."""
    name = path.stem
    for line in path.read_bytes().splitlines()[:count]:
        made = json.loads(line)
        asked = Request(made["item"], name, [])
        vars(asked)["key"] = made["key"]  # of what was sent, which isn't recorded
        yield as_reply(asked, made, True)


def test_bundled_recordings_are_the_replies_that_they_always_were():
    """Text, end, tokens, why there is no answer; digests made by the code before the thin house."""
    with open(GOLDEN, newline="") as file:
        golden = list(csv.DictReader(file))
    for row in golden:
        path = paths.ROOT / "data/recordings" / row["file"]
        total = hashlib.sha256()
        for reply in replies_of(path, int(row["lines"])):
            total.update(store.canonical([getattr(reply, k) for k in COMPARED]).encode())
        assert total.hexdigest()[:16] == row["digest"], row["file"]
    assert sum(int(row["lines"]) for row in golden) == 3831


COMPARED = "item model key text finish refusal returned_model prompt_tokens completion_tokens date"
COMPARED = (*COMPARED.split(), *"fingerprint router latency_s error no_answer batch".split())
COMPARED = (*COMPARED, "recorded", "truncated", "declined", "why")
