"""Recordings that others hand in: checked on arrival, replayed, and named on the front page."""

import json

import pytest

from bedside import BedsideError
from bedside.__main__ import contribute
from bedside.asking import models
from bedside.keep import contributed, store
from bedside.publish import replication
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


def test_what_was_handed_in_here_is_sound():
    assert all(contributed.check(name) for name in contributed.entries())


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
        (lambda r: {k: v for k, v in r.items() if k != "date"}, "without a date"),
        (lambda r: r | {"fields": r["fields"] | {"messages": [{"content": "q"}]}}, "in clear"),
        (lambda r: r | {"fields": r["fields"] | {"model": "another"}}, "not of the entry's model"),
        (lambda r: [r], "no recording of a call"),
    ],
)
def test_what_is_wrong_is_named_by_line(handed_in, change, told):
    first, last = handed_in.read_text().splitlines()
    handed_in.write_text(f"{first}\n{json.dumps(change(json.loads(last)))}\n")
    with pytest.raises(BedsideError, match=f"served.jsonl, line 2: .*{told}"):
        contributed.check("served")


def test_a_key_of_the_environment_is_found(handed_in, monkeypatch):
    monkeypatch.setattr("bedside.keep.registry.secrets", lambda name: ["hunter2-hunter2"])
    handed_in.write_text(handed_in.read_text().replace('"fine"', '"hunter2-hunter2"'))
    with pytest.raises(BedsideError, match="line 1: what looks like a key"):
        contributed.check("served")


def test_an_entry_says_all_that_a_reader_needs(handed_in):
    entered(terms="")
    with pytest.raises(BedsideError, match=r'\["served"\]: terms is missing'):
        contributed.entries()


def test_the_front_page_names_what_was_run(handed_in):
    entered(by="A <b>lab</b>")
    (made,) = replication.done()
    assert made["model"] == "served" and made["studies"] == ["MedHalu"] and made["by"][0] == "A"
    assert made["first"] == made["last"]


def test_costs_are_of_notebooks_and_models_that_there_are():
    priced = {m: contributed.registry.model(m)["price_date"] for m in replication.MODELS}
    priced[replication.JUDGE] = contributed.registry.model(replication.JUDGE)["price_date"]
    rows = replication.rows()
    assert {r["notebook"].partition("/")[0] for r in rows} == {*paths.papers()}
    for r in rows:
        assert (paths.NOTEBOOKS / f"{r['notebook']}.ipynb").is_file()
        assert r["price"] == priced[r["model"]]  # else: python -m bedside replication


def test_a_study_is_counted_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(replication, "FILE", tmp_path / "replication.csv")
    calls = [("medhalu/02_detection", replication.COUNTED, 100, 50)]
    import pandas as pd

    made = [(n, m, "k", p, r) for n, both, p, r in calls for m in both for _ in range(3)]
    frame = pd.DataFrame(made, columns=["notebook", "model", "key", "prompt", "completion"])
    monkeypatch.setattr(replication.notebooks, "planned", lambda given, paper: frame.copy())
    replication.count(["medhalu"])
    (row,) = replication.costs()
    assert row["calls"] == 3 and {*row["usd"]} == {*replication.MODELS, replication.JUDGE}
    # without thoughts: 3 calls of 100 and 50 tokens at 1.5 and 7.5 USD a million
    (mine,) = (r for r in replication.rows() if r["model"] == "mistral-medium-3-5")
    assert (mine["prompt_tokens"], mine["reply_tokens"]) == ("300", "150")
    assert float(mine["usd"]) == pytest.approx(0.0, abs=0.01)
