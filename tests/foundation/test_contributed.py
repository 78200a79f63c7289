"""Recordings that others hand in: checked on arrival, replayed, and named on the front page."""

import json

import pytest

from bedside import BedsideError
from bedside.__main__ import contribute
from bedside.asking import models
from bedside.keep import contributed, store
from bedside.read import paths
from conftest import ask_for

ABOUT = {k: f"{k} of these" for k in contributed.FIELDS}


@pytest.fixture
def handed_in(tmp_path, monkeypatch, served, endpoint):
    """The file of two calls to `served` for MedHalu's released items, in recordings of its own."""
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    folder = store.Recordings(tmp_path / "medhalu/public")
    models.waited(models.ask(ask_for(served, "a", "b"), folder, mode="record", progress=False))
    return tmp_path / "medhalu/public/served.jsonl"


def entered(**fields):
    lines = [f"{k} = {json.dumps(v)}" for k, v in (ABOUT | fields).items()]
    text = "\n".join(["[served]", *lines]) + "\n"
    (paths.RECORDINGS / "contributed.toml").write_text(text, encoding="utf-8")


def test_sound_recordings_are_counted_and_their_entry_is_asked_for(handed_in, capsys):
    contribute("served")
    told = capsys.readouterr().out
    assert "2 replies, 2 from served-2026-01-01" in told and '["served"]\nby = ""' in told
    entered()
    contribute("")
    assert "contributed.toml" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda r: r | {"text": "use sk-abcdefghij0123456789"}, "what looks like a key"),
        (lambda r: r | {"fields": r["fields"] | {"messages": [{"content": "q"}]}}, "in clear"),
        (lambda r: r | {"fields": r["fields"] | {"model": "another"}}, "not of the entry's model"),
    ],
)
def test_what_is_wrong_is_named_by_line(handed_in, change, told):
    first, last = handed_in.read_text().splitlines()
    handed_in.write_text(f"{first}\n{json.dumps(change(json.loads(last)))}\n")
    with pytest.raises(BedsideError, match=f"served.jsonl, line 2: .*{told}"):
        contributed.check("served")
