"""Disks, terminals and systems that get in the way: one sentence, and the old file as it was."""

import contextlib
import errno
import os

import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.annotation import log
from bedside.read import paths
from file_faults import FAULTS, Faults, Killed
from rater_pages import record


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_is_written_whole_or_stays_as_it_was(fault, tmp_path):
    path = tmp_path / "a.json"
    paths.write(path, "old")
    with Faults() as seen:
        paths.write(path, "the new text", durable=True)
    paths.write(path, "old")
    assert [operation for operation, _ in seen.sites] == "open write fsync replace unlink".split()
    for site in seen.sites[:-1]:
        with Faults(site, fault):
            try:
                paths.write(path, "the new text", durable=True)
            except (BedsideError, Killed) as e:
                assert isinstance(e, Killed) or "a.json: can't be written (" in str(e)
        assert path.read_text() in ("old", "the new text") and os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize("fault", FAULTS)
def test_labels_are_kept_after_any_fault(fault, tmp_path):
    def work(folder):
        path = folder / "hallucination/Jo.jsonl"
        for n in range(len(log.last(path)), 3):
            log.append(path, [record(f"r{n}")])
        assert len(log.last(path)) == 3, folder

    with Faults() as seen:
        work(tmp_path / "whole")
    for n, site in enumerate(seen.sites):
        with contextlib.suppress(BedsideError, Killed), Faults(site, fault):
            work(tmp_path / f"{n}")
        work(tmp_path / f"{n}")


@pytest.mark.parametrize(
    "error, told",
    [
        (PermissionError(errno.EACCES, "Permission denied", "figures"), "figures can't be used (P"),
        (OSError(errno.ENOLCK, "No locks available", "x"), "files can be locked"),
        (OSError(errno.EMFILE, "Too many open files"), "allow more open files (ulimit -n)"),
        (MemoryError(), "Not enough memory"),
    ],
)
def test_what_the_system_refuses_is_one_sentence(error, told, monkeypatch, capsys):
    def doctor():
        """A step."""
        raise error

    monkeypatch.setitem(steps.STEPS, "doctor", doctor)
    with pytest.raises(SystemExit):
        steps.main(["doctor"])
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1
