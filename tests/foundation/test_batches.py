"""Request files: their lines, what is never in them, what they hold and how they are cut."""

import pytest

from bedside.bulk import files
from bedside.keep import registry
from conftest import ask_for
from request_files import (
    folders,  # noqa: F401  (a fixture)
    gathered,
    lines_of,
    parts,
    put,
    written,
)

SECRET = "the-value-of-this-secret"


def test_no_file_holds_a_secret(served, monkeypatch):
    monkeypatch.setenv("BESIDE", SECRET)
    monkeypatch.setenv("OWN_KEY", SECRET)
    beside = {"headers": {"X-Key": "${BESIDE}"}, "query": {"token": "${BESIDE}"}}
    registry.model(served).update(**beside, api_key_env="OWN_KEY")
    lines = lines_of(written(requests := ask_for(served, *"ab")))
    assert [x["custom_id"] for x in lines] == [r.key for r in requests]
    there = [p for p in parts().parent.rglob("*") if p.is_file()]
    assert len(there) >= 4  # two parts, a request file, what was asked
    assert not [p for p in there if SECRET in p.read_text()]


@pytest.mark.parametrize(
    "more, words",
    [
        ({"extra_body": {"user": "${BESIDE}"}}, "takes a value from the environment"),
        ({"extra_body": {"a": [{"b": "x ${BESIDE}"}]}}, "takes a value from the environment"),
        ({"api": "completions"}, "which hold chat completions"),
        ({"retired": "2026-06-15", "instead": "smollm2-135m"}, "retired on 2026-06-15; use"),
    ],
)
def test_what_takes_no_batch_is_refused_before_a_file_is_there(served, monkeypatch, more, words):
    monkeypatch.setenv("BESIDE", SECRET)
    registry.model(served).update(more)
    with pytest.raises(registry.StopRun, match=words):
        put(ask_for(served, "a"))
    assert not [p for p in parts().parent.rglob("*") if p.is_file()]


def test_files_are_cut_by_bytes(served, monkeypatch):
    (whole,) = written(ask_for(served, *"abcdef"))
    each = whole.bytes // 6
    for most, counts in ((2 * each, [2, 2, 2]), (2 * each - 1, [1] * 6), (4 * each + 3, [4, 2])):
        monkeypatch.setattr(files, "MOST_BYTES", most)
        made = gathered(f"{most:06}")
        assert [m.lines for m in made] == counts
        assert [m.bytes for m in made] == [m.path.stat().st_size for m in made]
        assert max(m.bytes for m in made) <= most
        assert b"".join(m.path.read_bytes() for m in made) == whole.path.read_bytes()


@pytest.mark.parametrize("kind", ["lines", "asked"])
def test_of_a_part_that_was_cut_off_whole_lines_are_asked(served, kind):
    """A notebook may be killed while it writes: both files may end anywhere."""
    put(requests := ask_for(served, *"abc"))
    (part,) = parts().glob(f"*/*.{kind}")
    content = part.read_bytes()
    for end in range(0, len(content), 7):
        part.write_bytes(content[:end])
        whole = [r.key for r in requests[: content[:end].count(b"\n")]]
        assert [x["custom_id"] for x in lines_of(gathered(f"{end:06}"))] == whole
        assert len(files.asked()) == len(whole)
