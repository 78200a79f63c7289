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


def test_what_is_handed_in_is_counted_and_what_is_wrong_with_it_named_by_line(handed_in, capsys):
    contribute("served")
    told = capsys.readouterr().out
    assert "2 replies, 2 from served-2026-01-01" in told and '["served"]\nby = ""' in told
    lines = [f"{k} = {json.dumps(v)}" for k, v in ABOUT.items()]
    about = "\n".join(["[served]", *lines]) + "\n"
    (paths.RECORDINGS / "contributed.toml").write_text(about, encoding="utf-8")
    contribute("")
    assert "contributed.toml" not in capsys.readouterr().out
    first, last = handed_in.read_text().splitlines()
    for change, told in (
        ({"text": "use sk-abcdefghij0123456789"}, "what looks like a key"),
        ({"fields": {**json.loads(last)["fields"], "messages": [{"content": "q"}]}}, "in clear"),
    ):
        handed_in.write_text(f"{first}\n{json.dumps(json.loads(last) | change)}\n")
        with pytest.raises(BedsideError, match=f"served.jsonl, line 2: .*{told}"):
            contributed.check("served")
