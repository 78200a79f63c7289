"""Recordings: the key of a request, replay by key, durable append.

A folder of JSON Lines files, one reply a line, the key first. An index of key -> place is built
without parsing, so that a hundred thousand replies open at once; a line is parsed when its reply
is wanted. Later lines win.

A line that is no recording is left out and named. What a crash cut off is lost and asked for again;
other damage stops a call (`check_sound`), since its replies were paid for.
"""

import asyncio
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Required, TypedDict

from bedside import BedsideError
from bedside.read import outside, paths
from bedside.read.paths import file_name, rel

from . import locks

START = b'{"key":"'
PRIVATE = ("messages", "response_format")  # kept as digests: they hold other people's data
ROOM, FREE = 65_536, 1_000_000  # bytes that must fit and be free before a call is paid
GROUP_S = 0.005  # replies that come within this time share one fsync


class StoreError(BedsideError):
    """A recordings folder that can't be read or written."""


# Canonical JSON: sorted keys, no blanks, ASCII only. Raises ValueError on NaN.
canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def digest(value: Any) -> str:
    """sha256 (hex) of the canonical JSON of `value`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def key(fields: dict) -> str:
    """Key of a request: the digest of everything that can change its answer."""
    return digest(fields)


def redacted(fields: dict) -> dict:
    """What a recording keeps of a request's fields: settings in clear, prompts as digests."""
    return {k: digest(v)[:16] if k in PRIVATE and v else v for k, v in fields.items()}


def append(path: Path, lines: list[bytes], keep: bool = True) -> None:
    """Append lines to a file of JSON Lines; they are on disk when it returns.

    Others may write at the same time. A line that a crash cut short is closed off first. Raises
    OSError, the file as it was, if that can't be. keep: False only tries whether it could be.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path) as f:
        end = f.seek(0, os.SEEK_END)
        if keep and end and locks.read_at(f.fileno(), 1, end - 1) != b"\n":
            lines = [b"\n", *lines]
        try:
            left = memoryview(b"".join(lines))
            while left:
                left = left[f.write(left) :]
            os.fsync(f.fileno())
        except OSError:
            keep = False
            raise
        finally:
            if not keep:
                f.truncate(end)


class Record(TypedDict, total=False):
    """What a recording holds, of what type; counts that make no sense are unknown (`usage`)."""

    key: Required[str]
    item: Required[str]
    fields: Required[dict]
    text: str | None
    finish: str | None
    refusal: str | None
    returned_model: str | None
    fingerprint: str | None
    router: str | None
    date: str | None
    latency_s: float | None


def _cut_off(error):
    """Whether JSON ends before it is over, as a crash leaves it."""
    ends = isinstance(error, json.JSONDecodeError) and error.doc.rstrip()
    return ends and (error.pos >= len(ends) - 1 or error.msg.startswith("Unterminated"))


def _why(error):
    """Why a line is no recording, in few words."""
    return "not JSON" if isinstance(error, json.JSONDecodeError | UnicodeError) else str(error)


def places(faults, shown=3):
    """Places (path, line number), named by file, such as `a.jsonl, lines 2, 5`."""
    by_file = {}
    for path, number in sorted(faults):
        by_file.setdefault(path, []).append(number)
    named = []
    for path, numbers in list(by_file.items())[:shown]:
        some = ", ".join(map(str, numbers[:shown]))
        some += f" and {len(numbers) - shown} more" if len(numbers) > shown else ""
        named.append(f"{rel(path)}, line{'s' * (len(numbers) > 1)} {some}")
    return "; ".join([*named, *[f"and {len(by_file) - shown} more files"] * (len(by_file) > shown)])


def _locked(path):
    """A file, opened to be appended to, and locked."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | locks.BINARY, 0o644)
    locks.lock(file := open(fd, "r+b", buffering=0))
    return file


class Recordings:
    """Recorded replies: `get` by key, `put` and `flush` durably from several tasks and processes.

    New ones go to `folder`; `reads` (default: `folder`) and all below it is looked through, so
    that a request that two profiles share is sent once.
    """

    def __init__(self, folder: Path | str, reads: Path | str | None = None):
        self.folder, self.reads = Path(folder), Path(reads or folder)
        self.damaged = {}  # (path, line number) -> why: kept in the file, left out of the index
        self.torn = set()  # (path, line number) of what a crash cut off
        self._files = {}  # path -> [descriptor, bytes indexed, lines indexed]
        self._where = {}  # key -> (descriptor, offset, length, path)
        self._pending = {}  # path -> lines not yet on disk
        self._loop = self._lock = None
        self._groups = {}  # path -> the task that writes for all that wait
        self.refresh()

    def __del__(self):
        for fd, *_ in self._files.values():
            os.close(fd)

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, k: str) -> bool:
        return k in self._where

    def refresh(self, new_files: bool = True) -> None:
        """Index what was appended since the last look, by this process or another."""
        try:
            for path in sorted(self.reads.rglob("*.jsonl")) if new_files else []:
                if path not in self._files:
                    self._files[path] = [os.open(path, os.O_RDONLY | locks.BINARY), 0, 0]
            for path, (fd, done, _) in self._files.items():
                if (size := os.fstat(fd).st_size) > done:
                    self._index(path, fd, done, size)
        except OSError as e:
            told = f"{rel(self.folder)}: recordings can't be read ({paths.why(e)}"
            raise StoreError(told) from e

    def _index(self, path, fd, at, size):
        done = self._files[path][2]
        with open(fd, "rb", closefd=False) as f:
            f.seek(at)
            for number, line in enumerate(f, done + 1):
                if not line.endswith(b"\n"):
                    break  # being written, or cut off by a crash; the next write closes it off
                if line.startswith(START) and line.endswith((b"}\n", b"}\r\n")):
                    self._where[line[8:72].decode("ascii", "replace")] = (fd, at, len(line), path)
                elif line[:8] == START[: len(line) - 1]:
                    self.torn.add((path, number))
                elif line.strip():
                    self.damaged[path, number] = "not a recording"
                at, done = at + len(line), number
        self._files[path][1:] = at, done

    def get(self, k: str) -> dict | None:
        """The record with key `k` as a dict, or None."""
        if k not in self._where:
            return None
        fd, at, length, path = self._where[k]
        try:
            record = outside.parsed(locks.read_at(fd, length, at))
            outside.fitted(record, Record)
            if record["key"] != k:
                raise ValueError("its key is cut off")
            return record
        except ValueError as e:
            place = path, 1 + locks.read_at(fd, at, 0).count(b"\n")
            if _cut_off(e):
                self.torn.add(place)
            else:
                self.damaged[place] = _why(e)
            del self._where[k]
            return None

    def check(self) -> str:
        """Read every record: StoreError if one is damaged; what crashes cut off, in words."""
        for _ in self.records():
            pass
        self.check_sound()
        told = "cut off by a crash, and asked for again where it is needed"
        return f"{places(self.torn)}: {told}" if self.torn else ""

    def check_sound(self) -> None:
        """Raise StoreError if a file here is damaged: its replies would be paid for once more."""
        if self.damaged:
            raise StoreError(
                f"{places(self.damaged)}: not recordings ({next(iter(self.damaged.values()))}); the"
                " replies in them would be asked and paid for again. Put back the file, from git or"
                " a copy, or take these lines out, to have them asked again"
            )

    def found(self, keys: Iterable[str]) -> Iterator[tuple[str, dict]]:
        """(key, record) of these keys that there are, what was appended meanwhile included."""
        self.refresh()
        for k in keys:
            if (record := self.get(k)) is not None:
                yield k, record

    def records(self) -> Iterator[dict]:
        """All records, parsed, in file order."""
        places = {k: (str(path), at) for k, (_, at, _, path) in self._where.items()}
        for k in sorted(places, key=places.get):
            if (record := self.get(k)) is not None:
                yield record

    def nearest(self, item: str, fields: dict) -> str:
        """Which fields differ in the recording of `item` nearest to a request's, in words."""
        asked, differing, recorded = redacted(fields), None, {}
        for record in self.records():
            if record["item"] != item:
                continue
            kept = record["fields"]
            differ = sorted(f for f in asked.keys() | kept.keys() if asked.get(f) != kept.get(f))
            if differing is None or len(differ) < len(differing):
                differing, recorded = differ, kept
        if differing is None:
            return "no recording of this item at all"
        return "the nearest recording differs in " + ", ".join(
            f if f in PRIVATE else f"{f} ({recorded.get(f)!r} recorded, {asked.get(f)!r} asked)"
            for f in differing
        )

    def check_writable(self, name: str) -> None:
        """Raise StoreError before a call is paid for, if `name`.jsonl can't be appended to."""
        try:
            path = self._file(name)
            append(path, [b" " * ROOM], keep=False)
            if shutil.disk_usage(path).free < FREE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as e:
            raise StoreError(
                f"{rel(self.folder)}: recordings can't be written ({paths.why(e)}: what is recorded"
                " is kept"
            ) from e

    def _file(self, name):
        return self.folder / f"{file_name(name)}.jsonl"

    def put(self, name: str, record: dict) -> Path:
        """Take in one record (`key` first) for `name`.jsonl, which `flush` or `drain` writes.

        Returns the file.
        """
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        assert line.startswith(START)
        path = self._file(name)
        self._pending.setdefault(path, []).append(line)
        return path

    async def flush(self, path: Path) -> None:
        """Return once everything put for the file is on disk (fsync, in groups).

        It is written even if the caller is cancelled.
        """
        if self._loop is not asyncio.get_running_loop():
            self._loop, self._lock, self._groups = asyncio.get_running_loop(), asyncio.Lock(), {}
        if path not in self._groups:
            self._groups[path] = asyncio.ensure_future(self._flush(path))
        await asyncio.shield(self._groups[path])

    async def _flush(self, path):
        """Write for all that came within GROUP_S, and while the group before was being written."""
        await asyncio.sleep(GROUP_S)
        async with self._lock:
            del self._groups[path]  # whoever comes now belongs to the next group
            if lines := self._pending.pop(path, None):
                await asyncio.to_thread(self._write, path, lines)
                self.refresh(new_files=False)  # what others have written meanwhile comes along

    def write(self) -> None:
        """Write everything put; it is on disk when it returns."""
        for path in list(self._pending):
            self._write(path, self._pending.pop(path))

    async def drain(self) -> None:
        """Write what still waits, and wait for what is being written: a stopped run's end."""
        for path in list(self._pending):
            await self.flush(path)
        if self._lock:
            async with self._lock:
                pass

    def _write(self, path, lines):
        try:
            append(path, lines)
        except OSError as e:
            raise StoreError(
                f"{rel(path)}: a reply could not be written, and the run stops here"
                f" ({paths.why(e)}: everything recorded before is kept"
            ) from e
