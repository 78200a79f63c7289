"""Locks between processes, and the same on a system that has msvcrt in place of fcntl."""

import importlib
import os
import sys
import types

import pytest

from bedside.asking import locks, store


@pytest.fixture
def windows(monkeypatch):
    """The module as it is without fcntl, and the locks that it asks msvcrt for."""
    asked, refused = [], []

    def locking(fd, kind, size):
        asked.append((kind, os.lseek(fd, 0, os.SEEK_CUR), size))
        if refused:
            raise refused.pop()

    fake = types.SimpleNamespace(LK_NBLCK="lock", LK_UNLCK="unlock", locking=locking)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fcntl", None)
        patch.setitem(sys.modules, "msvcrt", fake)
        patch.delattr(os, "pread")
        importlib.reload(locks)
        yield asked, refused
    importlib.reload(locks)


def test_windows_locks_a_byte_behind_the_end_and_leaves_the_place(windows, tmp_path):
    asked, refused = windows
    with open(tmp_path / "file", "w+b") as file:
        file.write(b"hello")
        file.flush()
        refused += [PermissionError(13, "taken")]
        locks.lock(file)  # waits until it is free
        with pytest.raises(OSError):
            refused += [PermissionError(13, "taken")]
            locks.lock(file, wait=False)
        locks.unlock(file)
        assert file.tell() == 5
    assert [kind for kind, *_ in asked] == ["lock", "lock", "lock", "unlock"]
    assert {(at, size) for _, at, size in asked} == {(2**40, 1)}


def test_recordings_are_read_and_written_without_posix(windows, tmp_path):
    lines = [b'{"key":"%064d","item":"a","fields":{},"n":%d}\n' % (n, n) for n in range(3)]
    path = tmp_path / "m.jsonl"
    store.append(path, lines[:2])
    store.append(path, lines[2:])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # as an unpacker may leave them
    kept = store.Recordings(tmp_path)
    assert [r["n"] for r in kept.records()] == [0, 1, 2] and not kept.damaged
