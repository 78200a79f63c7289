"""Recordings: what was returned is on disk, what is damaged is told, what is replayed is the same.

What a run makes of kills and disks is in `test_kills_and_disks.py`.
"""

import csv
import errno
import hashlib
import json
from pathlib import Path

import pytest

from bedside import BedsideError
from bedside.asking import store
from bedside.asking.replies import Request, as_reply
from bedside.read import paths
from conftest import completion

FIELDS = {"temperature": 0.0, "max_tokens": 9}


def record(name, **more):
    """A record of an item, with a key of its own."""
    kept = {"key": store.digest({"": name}), "item": name, "text": "to it", "fields": FIELDS}
    return {**kept, **more}


def keep(folder, *records, name="m"):
    """Put records down, as a run does; the folder's recordings, read anew."""
    store.Recordings(folder).add(name, list(records))
    return store.Recordings(folder)


# ---- disks


def test_a_reply_is_synchronised_with_the_disk_before_it_is_returned(tmp_path, monkeypatch):
    kept, at_sync = store.Recordings(tmp_path), []
    monkeypatch.setattr(store.os, "fsync", lambda _: at_sync.append(len(kept)))
    kept.add("m", [record("a")])
    assert at_sync == [0] and len(kept) == 1


def test_recordings_replay_where_no_file_can_be_locked_and_none_is_written(tmp_path, monkeypatch):
    keep(tmp_path, *map(record, "abc"))
    path = tmp_path / "m.jsonl"
    before = path.read_bytes()

    def unlocked(*_, **how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(store, "lock_descriptor", unlocked)
    kept = store.Recordings(tmp_path)
    assert [r["item"] for r in kept.records()] == [*"abc"] and not kept.damaged
    with pytest.raises(BedsideError, match="No locks available.*can be locked"):
        kept.add("m", [record("d")])
    assert path.read_bytes() == before


# ---- what crashes leave, and what is damage


def test_only_a_files_last_line_can_be_what_a_crash_left(tmp_path):
    """The next write closes it off; it is asked for again, and stops nothing."""
    path = tmp_path / "m.jsonl"
    keep(tmp_path, *map(record, "abc"))
    first, second, last = path.read_bytes().splitlines(keepends=True)
    for end in range(1, len(last) - 1, 17):
        path.write_bytes(first + second + last[:end])
        kept = store.Recordings(tmp_path)
        kept.check_sound()
        assert record("c")["key"] not in kept and len(kept) == 2
        kept = keep(tmp_path, record("d"))
        assert path.read_bytes().startswith(first + second + last[:end])  # nothing is deleted
        kept.check_sound()
        assert {r["item"] for r in kept.records()} == {*"abd"}
    path.write_bytes((first + second)[:-1])  # as an editor leaves it
    kept = keep(tmp_path, record("c"))
    kept.check_sound()
    assert [r["item"] for r in kept.records()] == [*"abc"]


DAMAGE = {
    "its end is gone": lambda line: line[:-40] + b"\n",
    "its beginning is gone": lambda line: line[9:],
    "a part of its key is gone": lambda line: line[:40] + line[50:],
    "one byte": lambda line: line.replace(b":", b";", 3),
    "zeros": lambda line: line[:70] + b"\0" * (len(line) - 71) + b"\n",
    "no item": lambda line: line.replace(b'"item"', b'"itme"'),
    "a number for a text": lambda line: line.replace(b'"to b"', b"7"),
    "fields that are none": lambda line: line.replace(b'"fields":{', b'"fields":[],"more":{'),
    "two in a line": lambda line: line[:-1] + line,
    "a merge's mark": lambda line: b"=======\n",
    "another encoding": lambda line: line.decode().encode("utf-16"),
    "too deep": lambda line: line.replace(b'"to b"', b"[" * 90000 + b"]" * 90000, 1),
}


def test_a_damaged_line_in_the_middle_stops_before_its_reply_is_paid_again(world, endpoint):
    """Also where it begins like a record. File and line are named, and nothing is changed."""
    endpoint.script = lambda n, body: completion("to b" if n == 2 else "fine")
    for item in "abc":
        world.ask(item)
    (path,) = world.recordings()
    first, line, last = path.read_bytes().splitlines(keepends=True)
    for kind, damage in DAMAGE.items():
        path.write_bytes(damaged := first + damage(line) + last)
        for mode in ("record", "replay"):
            with pytest.raises(BedsideError, match=rf"{path.name}, line 2: .*from git or a copy"):
                world.ask("a", "b", "d", mode=mode)
        assert len(endpoint.bodies) == 3 and path.read_bytes() == damaged, kind
        assert path.name in world.command("doctor"), kind
    assert world.ask("a")  # what needs no call replays
    path.write_bytes((first + line + last).replace(b"\n", b"\r\n"))  # of another system
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


def replies_of(path, count):
    """The replies that the first lines of a file of recordings are."""
    for line in path.read_bytes().splitlines()[:count]:
        made = json.loads(line)
        asked = Request(made["item"], path.stem, [])
        vars(asked)["key"] = made["key"]  # of what was sent, which isn't recorded
        yield as_reply(asked, made, True)


COMPARED = """item model key text finish refusal returned_model prompt_tokens completion_tokens date
    fingerprint router latency_s error no_answer batch recorded truncated declined why""".split()


def test_bundled_recordings_are_the_replies_that_they_always_were():
    """Text, end, tokens, why there is no answer; digests made by the code before the thin house."""
    golden = list(csv.DictReader(Path(__file__).with_name("replies.csv").open()))
    for row in golden:
        total = hashlib.sha256()
        path = paths.ROOT / "data/recordings" / row["file"]
        for reply in replies_of(path, int(row["lines"])):
            total.update(store.canonical([getattr(reply, k) for k in COMPARED]).encode())
        assert total.hexdigest()[:16] == row["digest"], row["file"]
    assert sum(int(row["lines"]) for row in golden) == 3831
