"""Files where none can be locked, as on some network disks."""

import errno

import pytest

from bedside.asking import store
from bedside.read import paths


def test_recordings_replay_where_no_file_can_be_locked_and_none_is_written(tmp_path, monkeypatch):
    lines = [b'{"key":"%064d","item":"a","fields":{},"n":%d}\n' % (n, n) for n in range(3)]
    path = tmp_path / "m.jsonl"
    store.append(path, lines[:2])
    store.append(path, lines[2:])
    before = path.read_bytes()

    def unlocked(*_, **how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(store, "lock_descriptor", unlocked)
    kept = store.Recordings(tmp_path)
    assert [r["n"] for r in kept.records()] == [0, 1, 2] and not kept.damaged
    with pytest.raises(OSError, match="No locks") as told:
        store.append(path, lines)
    assert "locked" in paths.why(told.value) and path.read_bytes() == before
