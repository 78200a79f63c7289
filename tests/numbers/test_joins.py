"""Joins lose no row in silence: each finds its counterpart, or its absence is told."""

import asyncio

import pandas as pd
import pytest

from bedside import BedsideError, own
from bedside.papers.cancer_myth import data as cancer_myth
from bedside.papers.cancer_myth import study as evaluation
from bedside.read import checks, paths
from bedside.read.surroundings import here
from conftest import completion
from own_studies import compared

LEFT = pd.DataFrame({"item": ["a", "b"], "x": [1, 2]})


# ---- the helpers


@pytest.mark.parametrize(
    "items, whole, lost",
    [
        (["a"], "left right", "1 of 2 rows have no counterpart when joined by item"),
        (["a"], "left", "The first is 'b'"),
        (["a"], "right", ""),
        (["a", "b", "c"], "left right", "1 of 3 .* The first is 'c'"),
        (["a", "b", "c"], "right", "The first is 'c'"),
        (["a", "b", "c"], "left", ""),
        ([], "left right", "2 of 2 rows"),
        (["a", "b "], "left right", "The first is 'b'"),
        (["a", None], "left right", "1 of 2 rows"),
    ],
)
def test_a_row_without_a_counterpart_is_an_error_that_names_it(items, whole, lost):
    right = pd.DataFrame({"item": pd.Series(items, dtype=object)})
    if not lost:
        assert len(checks.joined(LEFT, right, whole=whole)) == min(2, len(items))
        return
    with pytest.raises(BedsideError, match=lost):
        checks.joined(LEFT, right, whole=whole)


def test_keys_that_stand_twice_are_an_error_and_all_of_several_are_named():
    with pytest.raises(pd.errors.MergeError):
        checks.joined(LEFT, pd.concat([LEFT, LEFT])[["item"]])
    left = LEFT.assign(model="m")
    with pytest.raises(BedsideError, match="joined by item, model.*'b', 'm'"):
        checks.joined(left, left[:1], ["item", "model"])


def test_what_is_left_out_is_counted_and_named(capsys):
    frame = pd.DataFrame({"item": [*"abcdea", "f"]})
    assert checks.within(frame, "item", ["a"], "labels of x")["item"].tolist() == ["a", "a"]
    told = "5 of 7 labels of x are left out: this run has no item 'b', 'c', 'd', ...\n"
    assert capsys.readouterr().out == told
    assert len(checks.within(frame, "item", list("abcdef"), "labels")) == 7
    assert capsys.readouterr().out == ""


# ---- where rows once vanished


@pytest.mark.parametrize("lost", ["answer", "verdict"])
def test_an_answer_or_verdict_of_another_item_is_an_error(run_of, endpoint, monkeypatch, lost):
    """A judge's reply that is filed under another item must not make an answer vanish."""
    run = run_of("cancer_myth", "03_evaluation")
    items = cancer_myth.questions(run).head(3)
    endpoint.script = lambda n, body: completion('{"score": 1}')
    answered = asyncio.run(evaluation.answers(run, items, 99))
    if lost == "answer":
        answered["item"] = answered["item"].replace(items["item"][1], "another")
    else:
        grade = run.grade

        async def elsewhere(frame, *given, **more):
            found = await grade(frame, *given, **more)
            return found.assign(item=found["item"].replace(items["item"][1], "another"))

        monkeypatch.setattr(run, "grade", elsewhere)
    with pytest.raises(BedsideError, match="1 of 3 rows have no counterpart when joined by item"):
        asyncio.run(evaluation.verdicts(run, items, answered, evaluation.Known(), "served"))


# ---- own studies


def test_files_of_two_runs_do_not_pass_for_one(tmp_path, monkeypatch, served, endpoint):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    (tmp_path / "mine.csv").write_text("item,question\nq1,Why?\nq2,How?\n")
    endpoint.script = lambda n, body: completion('{"score": 1}')
    compared(str(tmp_path / "mine.csv"), models="served", judge="served")
    path = tmp_path / "figures/own/mine/verdicts.csv"
    path.write_text("".join(path.read_text().splitlines(True)[:-1]))
    with pytest.raises(
        BedsideError, match="1 of 2 rows have no counterpart when joined by item, model, unit"
    ):
        own.compared("mine")
