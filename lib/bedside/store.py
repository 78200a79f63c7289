"""Recordings: the key of a request, replay by key, durable append.

A folder of JSON Lines files, one reply a line, the key first. An index of key -> place is built without parsing, so
that a hundred thousand replies open at once; a line is parsed when its reply is wanted. Later lines win.
"""

import asyncio
import fcntl
import hashlib
import json
import os
from pathlib import Path

from . import BedsideError
from .paths import rel

START = b'{"key":"'
GROUP_S = 0.005  # replies that come within this time share one fsync


class StoreError(BedsideError):
    """A recordings folder that can't be read or written."""


# Canonical JSON: sorted keys, no blanks, ASCII only. Raises ValueError on NaN.
canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def digest(value):
    """sha256 (hex) of the canonical JSON of `value`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def key(fields):
    """Key of a request: the digest of everything that can change its answer."""
    return digest(fields)


def redacted(fields):
    """What a recording keeps of a request's fields: settings in clear, prompts only as digests (data isn't ours)."""
    return {
        k: digest(v)[:16] if k in ("messages", "response_format") and v else v
        for k, v in fields.items()
    }


def append(path, lines):
    """Append lines (bytes) to a file of JSON Lines, durably: they are on disk when it returns, whoever else writes too.

    A line that a crash cut short is closed off first. Raises OSError, the file as it was, if that can't be.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0) as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        end = f.seek(0, os.SEEK_END)
        if end and os.pread(f.fileno(), 1, end - 1) != b"\n":
            lines = [b"\n", *lines]
        try:
            left = memoryview(b"".join(lines))
            while left:
                left = left[f.write(left) :]
            os.fsync(f.fileno())
        except OSError:
            f.truncate(end)
            raise


class Recordings:
    """Recorded replies: `get` by key, `put` and `flush` durably from several tasks and processes.

    New ones go to `folder`; `reads` (default: `folder`) and all below it is looked through, so that a request that
    two profiles share is sent once.
    """

    def __init__(self, folder, reads=None):
        self.folder, self.reads = Path(folder), Path(reads or folder)
        self.damaged = {}  # "file, byte offset" -> why: kept in the file, left out of the index
        self._files = {}  # path -> [descriptor, bytes indexed]
        self._where = {}  # key -> (descriptor, offset, length, path)
        self._pending = {}  # path -> lines not yet on disk
        self._loop = self._lock = None
        self.refresh()

    def __del__(self):
        for fd, _ in self._files.values():
            os.close(fd)

    def __len__(self):
        return len(self._where)

    def __contains__(self, k):
        return k in self._where

    def refresh(self, new_files=True):
        """Index what was appended since the last look, by this process or another."""
        try:
            for path in sorted(self.reads.rglob("*.jsonl")) if new_files else []:
                if path not in self._files:
                    self._files[path] = [os.open(path, os.O_RDONLY), 0]
            for path, (fd, done) in self._files.items():
                if (size := os.fstat(fd).st_size) > done:
                    self._index(path, fd, done, size)
        except OSError as e:
            raise StoreError(f"{rel(self.folder)}: recordings can't be read ({e.strerror})") from e

    def _index(self, path, fd, at, size):
        with open(fd, "rb", closefd=False) as f:
            f.seek(at)
            for line in f:
                if not line.endswith(b"\n"):
                    break  # being written, or cut off by a crash; the next write closes it off
                if line.startswith(START) and line.endswith(b"}\n"):
                    self._where[line[8:72].decode("ascii", "replace")] = (fd, at, len(line), path)
                elif line.strip():
                    self.damaged[f"{rel(path)}, byte {at}"] = "not a recording"
                at += len(line)
        self._files[path][1] = at

    def get(self, k):
        """The record with key `k` as a dict, or None."""
        if k not in self._where:
            return None
        fd, at, length, path = self._where[k]
        try:
            return json.loads(os.pread(fd, length, at))
        except ValueError:
            self.damaged[f"{rel(path)}, byte {at}"] = "cut off"
            del self._where[k]
            return None

    def records(self):
        """All records, parsed, in file order."""
        for k in sorted(self._where, key=lambda k: (str(self._where[k][3]), self._where[k][1])):
            if (record := self.get(k)) is not None:
                yield record

    def nearest(self, item, fields):
        """Say which fields differ in the recording of `item` that comes nearest to a request's `fields`."""
        mine = redacted(fields)
        best = None
        for r in self.records():
            if r["item"] == item:
                differ = sorted(
                    f for f in mine.keys() | r["fields"].keys() if mine.get(f) != r["fields"].get(f)
                )
                if best is None or len(differ) < len(best[0]):
                    best = differ, r["fields"]
        if best is None:
            return "no recording of this item at all"
        parts = [
            (
                f
                if f in ("messages", "response_format")
                else f"{f} ({best[1].get(f)!r} recorded, {mine.get(f)!r} asked)"
            )
            for f in best[0]
        ]
        return "the nearest recording differs in " + ", ".join(parts)

    def check_writable(self, name):
        """Raise StoreError now, before a call is paid for, if `name`.jsonl can't be appended to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            open(self.folder / f"{name}.jsonl", "ab").close()
        except OSError as e:
            raise StoreError(
                f"{rel(self.folder)}: recordings can't be written ({e.strerror}); "
                "free the disk or fix its permissions, then run again: what is recorded is kept"
            ) from e

    def put(self, name, record):
        """Take in one record (with `key` first) for `name`.jsonl; `flush` or `drain` writes it. Returns the file."""
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        assert line.startswith(START)
        path = self.folder / f"{name}.jsonl"
        self._pending.setdefault(path, []).append(line)
        return path

    async def flush(self, path):
        """Return once everything put for the file is on disk (fsync, in groups), even if the caller is cancelled."""
        if self._loop is not asyncio.get_running_loop():
            self._loop, self._lock = asyncio.get_running_loop(), asyncio.Lock()
        await asyncio.shield(self._flush(path))

    async def _flush(self, path):
        async with self._lock:  # whoever comes first writes for all that come within GROUP_S
            if path in self._pending:
                await asyncio.sleep(GROUP_S)
                await asyncio.to_thread(self._write, path, self._pending.pop(path))
                self.refresh(
                    new_files=False
                )  # what other processes have written meanwhile comes along

    async def drain(self):
        """Write what still waits, and wait for what is being written; for the end of a run that was stopped."""
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
                f"{rel(path)}: a reply could not be written ({e.strerror}); the run stops here. "
                "Everything recorded before is kept: free the disk or fix its permissions, "
                "then run again"
            ) from e
