"""Whatever another tool's scorers computed, a study's page is made and says what has no score."""

import math
import sys
from types import SimpleNamespace

import pytest

from bedside import explorer, own
from conftest import apart, completion
from own_studies import compared

MOST = sys.float_info.max
ODD = {  # a score, and the numbers that it has by part; None: it is none
    "plain": (0.25, {"": 0.25}),
    "whole": (3, {"": 3.0}),
    "below 0": (-2.5, {"": -2.5}),
    "infinite": (math.inf, {"": None}),
    "nan": (math.nan, {"": None}),
    "largest": (MOST, {"": None}),
    "nothing": (None, {"": None}),
    "surrogate": ("\ud83d \x1b[2J\x00", {"": None}),
    "long": ("x" * 40_000, {"": None}),
    "list": ([1, math.inf], {"": None}),
    "parts": (
        {"a": 1, "b": math.nan, "c": None, "d": -math.inf},
        dict(a=1.0, b=None, c=None, d=None),
    ),
    "no parts": ({}, {}),
    "numbered": ({1: 0.5, None: 1}, {"1": 0.5, "None": 1.0}),
    "bytes": (b"\xff", {"": None}),
    '=name, "odd"\n<b>': (0.5, {"": 0.5}),
    "": (0.5, {"": 0.5}),
}


@pytest.fixture
def judged(tmp_path, monkeypatch, served, endpoint):
    """A folder with two questions; the judge `served` finds every answer to them right."""
    apart(monkeypatch, tmp_path)
    endpoint.script = lambda n, body: completion('{"score": 1}')
    (tmp_path / "mine.csv").write_text("item,question\nq0,Is it?\nq1,And now?\n")
    return tmp_path


@pytest.fixture
def study_of(judged, monkeypatch):
    """A function that judges two answers of a log, by a stand-in of its reader, with scores."""

    def make(**scores):
        output = SimpleNamespace(completion="Yes", choices=[1], stop_reason="stop", error=None)
        kept = {name: SimpleNamespace(value=v) for name, v in scores.items()}
        samples = [
            SimpleNamespace(id=f"q{n}", epoch=1, output=output, scores=kept, error=None)
            for n in range(2)
        ]
        log = SimpleNamespace(samples=samples, status="success", eval=SimpleNamespace(model="m"))
        reader = SimpleNamespace(read_eval_log=lambda *_, **__: log)
        monkeypatch.setitem(sys.modules, "inspect_ai.log", reader)
        (judged / "run.eval").write_text("as a stand-in")
        given = {"judge": "served", "answers": str(judged / "run.eval")}
        return compared(str(judged / "mine.csv"), models="", **given)

    return make


def test_no_score_of_another_tool_stops_a_study_that_was_paid_for(study_of):
    """What has no mean is unscored under its scorer's name; the judge's grades stay."""
    found = study_of(**{name: value for name, (value, _) in ODD.items()})
    assert found.scores["value"].tolist() == [100.0]
    named = {
        " ".join(f"{name} {part}".split(" ")).strip(): number
        for name, (_, parts) in ODD.items()
        for part, number in parts.items()
    }
    means = own.elsewhere(found.own, found.verdicts)
    means = means.assign(scorer=means["column"].str.removesuffix(" (from run.eval): mean"))
    told = means.set_index("scorer")[["n", "unscored"]]
    assert set(told.index) == set(named)
    for scorer, number in named.items():
        assert told.loc[scorer].tolist() == ([0, 2] if number is None else [2, 0]), scorer
    value = means.set_index("scorer")["value"]
    for scorer, number in named.items():
        assert math.isnan(value[scorer]) if number is None else value[scorer] == number, scorer
    page = explorer.html(own.document(found.own, found.verdicts))
    shown = explorer.read(page)[0]["rows"][0]["verdicts"]
    status = {v["judge"].removesuffix(" (from run.eval)"): v["status"] for v in shown}
    assert status.pop("served") == "graded"
    assert status == {s: "unparsed" if n is None else "graded" for s, n in named.items()}
