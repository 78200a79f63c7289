"""What released files and printed numbers say of claims is what is committed for `public`."""

import re

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.papers.cancer_myth import claims as names_of_questions
from bedside.papers.cancer_myth import data, pipeline
from bedside.papers.meddialbench import claims as names_of_dialogues
from bedside.papers.medhalu import claims as names_of_answers
from bedside.papers.radiation import claims as names_of
from bedside.read import claims, paths, sources
from bedside.read.surroundings import here
from bedside.run import Run


@pytest.fixture
def public(tmp_path, monkeypatch):
    """A function that makes a run on a study's released data, where somebody has fetched them."""
    monkeypatch.setattr(here, "figures", str(tmp_path))

    def made(paper, notebook):
        mine = [n for n in sources.used_by("public", paper) if not sources.entry(n).get("optional")]
        if not all(map(sources.here, mine)):
            pytest.skip("the released data are not here")
        return Run(paper, notebook, profile="public")

    return made


def cancer_myth(run):
    """Each notebook's claims, whose data it alone reads."""
    made = {}
    for notebook in {c.notebook for c in claims.load("cancer_myth").values()}:
        names = names_of_questions.names(Run("cancer_myth", notebook, profile="public"))
        made |= claims.decided("cancer_myth", names, notebook)
    return made


def radiation(run):
    return claims.decided("radiation", names_of.names(run))


def medhalu(run):
    return claims.decided("medhalu", names_of_answers.names(run))


def meddialbench(run):
    return claims.decided("meddialbench", names_of_dialogues.names(run))


@pytest.mark.parametrize(
    "readings, notebook, most",
    [
        (cancer_myth, "02_adversarial_generation", 120),
        (radiation, "02_free_form", 60),
        (medhalu, "01_benchmark", 60),
        (meddialbench, "02_baseline", 60),
    ],
)
def test_each_interpretation_its_limits_and_numbers_are_the_committed_ones(
    public, readings, notebook, most
):
    paper = readings.__name__
    made = readings(public(paper, notebook))
    found = [row for id, ways in made.items() for row in claims.judged(paper, id, ways)[1]]
    path = paths.ROOT / "figures/public/readings.csv"
    committed = pd.read_csv(path, keep_default_na=False).to_dict("records")
    committed = {(r["id"], r["reading"]): r for r in committed if r["id"] in made}
    assert len(committed) > most and {(r["id"], r["reading"]) for r in found} == {*committed}
    for row in found:
        there = committed[row["id"], row["reading"]]
        assert row["holds"] == there["holds"], there
        for end in ("low", "high"):
            expected = float(there[end] or "nan")
            value = float("nan") if row[end] is None else float(row[end])
            assert value == pytest.approx(expected, nan_ok=True), there
        numbers = [re.findall(r"\d+(?:\.\d+)?", str(r["computed"])) for r in (row, there)]
        assert numbers[0] == numbers[1], there


def test_a_candidate_without_a_category_stops_the_readings(public, monkeypatch):
    run = public("cancer_myth", "02_adversarial_generation")
    raw = data.released(run)
    raw["candidates"].loc[100, "category"] = None
    monkeypatch.setattr(data, "released", lambda run: raw)
    with pytest.raises(BedsideError, match="1 of 874 rows have no category"):
        pipeline.names(run)
