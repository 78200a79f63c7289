"""Recordings: replies by the key of their request, on disk before anyone uses them.

A folder of JSON Lines files, one reply a line, the key first; later lines win. All lines are
checked when they are read, a hundred thousand in a second or two, and parsed again when wanted.

A crash can leave a part of a line at the end of a file. The next write closes it off, with a mark,
and its reply is asked for again. Any other line that is no recording is damage, and stops before
anything is paid (`check_sound`), since its reply was paid for.
"""

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from filelock import lock_descriptor

from bedside import BedsideError
from bedside.read import outside, paths
from bedside.read.paths import file_name, rel

PRIVATE = ("messages", "response_format")  # kept as digests: they hold other people's data
CUT = b"\t"  # behind a line that a crash cut short; no harm where only its end was missing
ROOM = 65_536  # bytes that must fit before a call is paid


class StoreError(BedsideError):
    """A recordings folder that can't be read or written."""


# what a recording must hold, and of what type; more may be there, and counts that make no sense are
# unknown (`usage`)
TEXTS = ("text", "finish", "refusal", "returned_model", "date", "fingerprint", "router")
Key = Annotated[str, msgspec.Meta(min_length=64, max_length=64)]
REQUIRED = [("key", Key), ("item", str), ("fields", dict), ("latency_s", float | None, None)]
Record = msgspec.defstruct("Record", [*REQUIRED, *((name, str | None, None) for name in TEXTS)])


# Canonical JSON: sorted keys, no blanks, ASCII only. Raises ValueError on NaN.
canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def digest(value: Any) -> str:
    """sha256 (hex) of the canonical JSON of `value`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def redacted(fields: dict) -> dict:
    """What a recording keeps of a request's fields: settings in clear, prompts as digests."""
    return {k: digest(v)[:16] if k in PRIVATE and v else v for k, v in fields.items()}


def append(path: Path, lines: list[bytes], keep: bool = True) -> None:
    """Append lines to a file of JSON Lines; they are on disk when it returns.

    Others may write at the same time. A line that a crash cut short is closed off first. Raises
    OSError, the file as it was, if that can't be. keep: False only tries whether it could be.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b", buffering=0) as file:
        lock_descriptor(file.fileno())
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        if keep and file.read(1) not in (b"", b"\n"):
            lines = [CUT + b"\n", *lines]
        try:
            left = memoryview(b"".join(lines))
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError:
            keep = False
            raise
        finally:
            if not keep:
                file.truncate(end)


class Recordings:
    """Recorded replies: `get` by key; `add` from several threads and processes.

    New ones go to `folder`; `reads` (default: `folder`) and all below it is looked through, so
    that a request that two profiles share is sent once.
    """

    def __init__(self, folder: Path | str, reads: Path | str | None = None):
        self.folder, self.reads = Path(folder), Path(reads or folder)
        self.damaged = []  # (file and line, why it is no recording)
        self._lines = {}  # key -> line
        self._done = {}  # path -> (bytes, lines) that were read
        self._busy = threading.Lock()  # of whoever reads or writes files
        self.refresh()

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def refresh(self) -> None:
        """Read what was appended since the last look, by this process or another."""
        try:
            with self._busy:
                for path in sorted(self.reads.rglob("*.jsonl")):
                    if path.stat().st_size > self._done.get(path, (0, 0))[0]:
                        self._read(path)
        except OSError as e:
            text = f"{rel(self.folder)}: recordings can't be read ({paths.why(e)}"
            raise StoreError(text) from e

    def _read(self, path):
        at, before = self._done.get(path, (0, 0))
        with open(path, "rb") as file:
            with contextlib.suppress(OSError):  # where no file can be locked recordings replay
                lock_descriptor(file.fileno())  # what others write is whole, and on disk
            file.seek(at)
            for number, line in enumerate(file, before + 1):
                whole = line.endswith(b"\n")
                try:
                    if line.strip():
                        record = outside.fitted(outside.parsed(line.decode()), Record)
                        self._lines[record.key] = line
                except ValueError as e:
                    if whole and not line.rstrip(b"\r\n").endswith(CUT):
                        json_fault = isinstance(e, json.JSONDecodeError | UnicodeError)
                        why = "not JSON" if json_fault else str(e)
                        self.damaged.append(f"{rel(path)}, line {number}: {why}")
                if whole:  # else it is being written, or cut off by a crash
                    at += len(line)
                    self._done[path] = at, number

    def get(self, key: str) -> dict | None:
        """The record with this key, or None."""
        line = self._lines.get(key)
        return line and outside.parsed(line)

    def records(self) -> Iterator[dict]:
        """All records, file by file."""
        return map(outside.parsed, list(self._lines.values()))

    def check_sound(self) -> None:
        """Raise StoreError if a file is damaged: its replies would be paid for once more."""
        if self.damaged:
            more = f"; and {len(self.damaged) - 3} more" * (len(self.damaged) > 3)
            raise StoreError(
                f"{'; '.join(self.damaged[:3])}{more}. These lines are damaged, and their replies"
                " would be paid for again. Restore the file from git or a copy, or delete these"
                " lines to ask for them again."
            )

    def nearest(self, item: str, fields: dict) -> str:
        """Which fields differ in the recording of `item` nearest to a request's, in words."""
        asked, kept = redacted(fields), [r["fields"] for r in self.records() if r["item"] == item]
        differing = (
            sorted(f for f in asked.keys() | was.keys() if asked.get(f) != was.get(f))
            for was in kept
        )
        if not kept:
            return "no recording of this item at all"
        differ, was = min(zip(differing, kept), key=lambda both: len(both[0]))
        return "the nearest recording differs in " + ", ".join(
            f if f in PRIVATE else f"{f} ({was.get(f)!r} recorded, {asked.get(f)!r} asked)"
            for f in differ
        )

    def check_writable(self, name: str) -> None:
        """Raise StoreError before a call is paid for, if `name`'s replies can't be written."""
        self._append(name, [b" " * ROOM], keep=False)

    def add(self, name: str, records: list[dict]) -> None:
        """Write records of model `name`; they are on disk when it returns."""
        self._append(name, [json.dumps(r, separators=(",", ":")).encode() + b"\n" for r in records])

    def _append(self, name, lines, keep=True):
        path = self.folder / f"{file_name(name)}.jsonl"
        try:
            with self._busy:
                append(path, lines, keep)
                if keep:
                    self._read(path)  # with what others have written meanwhile
        except OSError as e:
            raise StoreError(
                f"{rel(path)}: recordings can't be written, so the run stops"
                f" ({paths.why(e)}. All recordings so far are kept."
            ) from e
