"""What commands leave to a script that goes on: its tables are where they were."""

import os

import pytest

import bedside
from batch_study import Chains, sent
from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.bulk import submission
from bedside.publish import verification
from bedside.read import paths


def waves(folder):
    submission.Notebooks({"profile": "sample"}).ask(folder)


COMMANDS = {
    "a plan": lambda folder: notebooks.planned({"profile": "sample"}),
    "a verification": lambda folder: verification.verify("sample"),
    "a wave of batches": waves,
}


@pytest.mark.parametrize("ends", ["well", "in an error"])
@pytest.mark.parametrize("command", COMMANDS)
def test_after_a_command_tables_are_read_from_where_they_were(command, ends, tmp_path, monkeypatch):
    before, places = dict(os.environ), []
    table = bedside.table("radiation", "table1_free_form")

    def ran(*_, **__):
        places.append(settings.figures())
        if ends == "in an error":
            raise notebooks.Stopped("the budget is spent")

    monkeypatch.setattr(notebooks, "run_all", ran)
    monkeypatch.setattr(paths, "CACHE", tmp_path / "cache")
    try:
        COMMANDS[command](tmp_path / "scratch")
    except BedsideError as e:  # nothing was built, or the error that was asked for
        assert "differ from the committed" in str(e) or "budget is spent" in str(e)
    assert places and places[0] != paths.FIGURES  # what is committed was out of its reach
    assert dict(os.environ) == before
    assert bedside.table("radiation", "table1_free_form").equals(table)


def test_after_batches_were_submitted_nothing_is_sent_unasked(batches):
    before = dict(os.environ)
    submission.submit(Chains(), say=lambda line: None)
    assert sent(batches) and dict(os.environ) == before
