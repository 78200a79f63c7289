"""Cancer-Myth's claims: what the released data and other printed numbers make of them."""

import re

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.papers.cancer_myth import data, implied, pipeline, survey, versions
from bedside.papers.cancer_myth.implied import figure_claims, survey_readings
from bedside.papers.cancer_myth.v2 import implied as cures
from bedside.read import checks, claims, paths, sources
from bedside.run import Run

PAPER = "cancer_myth"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run(PAPER, "03_evaluation", profile="sample")


@pytest.fixture
def public(tmp_path, monkeypatch):
    """A run on the released data, where somebody has fetched them."""
    mine = [n for n in sources.used_by("public", PAPER) if not sources.entry(n).get("optional")]
    if not all(map(sources.here, mine)):
        pytest.skip("the released data are not here")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run(PAPER, "02_adversarial_generation", profile="public")


def from_files(run):
    raw, start = data.released(run), data.starting_examples(run)
    return pipeline.readings(run, raw, start, checks.report(sources.all_sources(run)))


def from_survey(run):
    ratings = survey.survey(run)
    answers = run.load("cancer_myth_survey_answers")
    return survey_readings.readings(run, ratings, survey.source_tests(ratings, run), answers)


def from_printed(run):
    places = pd.concat([versions.places(run), versions.derived(run)], ignore_index=True)
    return {
        **implied.count_readings(run),
        **implied.score_readings(run),
        **figure_claims.readings(run),
        **implied.judge_readings(run),
        **cures.readings(run),
        **versions.readings(versions.disagreements(places)),
    }


def test_released_data_and_printed_numbers_say_what_is_committed(public):
    """Each interpretation's answer, its limits, and the numbers in its words."""
    made = {**from_files(public), **from_survey(public), **from_printed(public)}
    found = [row for id, ways in made.items() for row in claims.judged(PAPER, id, ways)[1]]
    path = paths.ROOT / "figures/public/readings.csv"
    committed = pd.read_csv(path, keep_default_na=False).to_dict("records")
    committed = {(r["id"], r["reading"]): r for r in committed if r["id"] in made}
    assert len(committed) > 120 and {(r["id"], r["reading"]) for r in found} == {*committed}
    for row in found:
        there = committed[row["id"], row["reading"]]
        assert row["holds"] == there["holds"], there
        for end in ("low", "high"):
            expected = float(there[end] or "nan")
            value = float("nan") if row[end] is None else float(row[end])
            assert value == pytest.approx(expected, nan_ok=True), there
        numbers = [re.findall(r"\d+(?:\.\d+)?", r["computed"]) for r in (row, there)]
        assert numbers[0] == numbers[1], there


def test_a_candidate_without_a_category_stops_the_readings(public):
    raw, start = data.released(public), data.starting_examples(public)
    raw["candidates"].loc[100, "category"] = None
    with pytest.raises(BedsideError, match="1 of 874 rows have no category"):
        pipeline.readings(public, raw, start, checks.report(sources.all_sources(public)))


# ---- other numbers, other answers


def changed(run, monkeypatch, table, row, column, **values):
    """The readings of the figures' claims with another published number."""
    given = run.published

    def other(*tables):
        rows = given(*tables)
        at = (rows["table"] == table) & (rows["row"] == row) & (rows["column"] == column)
        return rows.assign(**{k: rows[k].where(~at, v) for k, v in values.items()})

    monkeypatch.setattr(run, "published", other)
    return {
        (id, name): holds
        for id, ways in figure_claims.readings(run).items()
        for name, (*_, holds) in ways.items()
    }


CLAUDE_ON, GEMINI_ON = (f"{m} on questions by " for m in ("Claude-3.5-Sonnet", "Gemini-1.5-Pro"))
ALL, OTHERS = "each model, all questions", "each model, questions by others"
LOW, HIGH = ({"value": v, "low": v - 0.003, "high": v + 0.003} for v in (-1, 0.5))
SIDE, CAUSE = "Inevitable Side Effect", "Causal Misattribution"


@pytest.mark.parametrize(
    "table, row, column, values, id, name, holds",
    [
        ("5b", "Manual", "percent", {"value": 0.2}, "cm-sources", "as written", False),
        ("6a", "GPT-4o", "PCS", {"value": -0.53}, "cm-v1-pairs", "as written", False),
        ("6a", "Claude-3.5-Sonnet", "PCS", {"value": -0.14}, "cm-best-pcs", "unpaired", None),
        ("6b", CLAUDE_ON + "Claude-3.5-Sonnet", "PCS", {"value": -0.35}, "cm-hardest", ALL, None),
        ("6b", CLAUDE_ON + "Claude-3.5-Sonnet", "PCS", {"value": -0.34}, "cm-hardest", ALL, True),
        ("6b", CLAUDE_ON + "Gemini-1.5-Pro", "PCS", {"value": 0.1}, "cm-hardest", OTHERS, False),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": 0.2}, "cm-asymmetry", "the scores", False),
        ("6b", CLAUDE_ON + "GPT-4o", "PCS", {"value": -0.07}, "cm-asymmetry",
         "the gain over other questions", None),
        ("7", SIDE, "Gemini-1.5-Pro", HIGH, "cm-poor-categories", "below 0", False),
        ("7", SIDE, "Gemini-1.5-Pro", HIGH, "cm-similar-on-both", "spread of the six", False),
        ("7", SIDE, "GPT-4o", {"low": -0.7}, "cm-similar-on-both", "spread of the six", None),
        ("7", SIDE, "GPT-3.5", HIGH, "cm-similar-on-both", "distance of the other two", False),
        ("7", SIDE, "GPT-4o", LOW, "cm-worst-side-effect", "mean of the eight systems", True),
        ("7", "No Treatment", "GPT-4o", LOW, "cm-worst-side-effect",
         "mean without GPT-3.5 and MDAgents", False),
        ("7", CAUSE, "Gemini-1.5-Pro", LOW, "cm-gemini-late", "lead over the next model", False),
        ("5a", "Others", "questions", {"value": 43}, "cm-categories", "as written", False),
        ("6a", "GPT-4-Turbo", "PCR", {"value": 13.5}, "cm-order", "as written", False),
        ("6a", "GPT-4o", "PCR", {"value": 14.4}, "cm-gpt4o-low",
         "below the median of the systems", False),
        ("6a", "GPT-3.5", "PCS", {"value": 0.01}, "cm-not-one-model",
         "each system, all questions", False),
        ("6a", "GPT-3.5", "PCS", {"value": -0.0}, "cm-not-one-model",
         "each system, all questions", None),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": -0.1}, "cm-not-one-model",
         "each generator's questions, other models", True),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": -0.2}, "cm-robust", "each generator", False),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": -0.4}, "cm-robust",
         "mean of the others' questions", False),
        ("7", CAUSE, "Gemini-1.5-Pro", {"value": 0.6, "low": 0.59, "high": 0.593}, "cm-room",
         "nearer to 0 than to 1", False),
    ],
)  # fmt: skip
def test_readings_of_the_figures_can_fail(
    run, monkeypatch, table, row, column, values, id, name, holds
):
    assert changed(run, monkeypatch, f"v1 Figure {table}", row, column, **values)[id, name] is holds


@pytest.mark.parametrize(
    "grades, holds",
    [  # of 585 answers 293 are a majority; of two ways to grade one may be, and the other not
        ({"a": [(293, 0, 292)], "b": [(0, 292, 293), (0, 291, 294)]}, [False, None, False]),
        ({"a": [(0, 0, 585)], "b": [(292, 293, 0)]}, [True, False, False]),
        ({"a": [(0, 0, 585)]}, [True, True, True]),
        ({"a": []}, [None, None, None]),
    ],
)
def test_failures_are_counted_over_all_ways_to_grade(run, monkeypatch, grades, holds):
    monkeypatch.setattr(implied, "grades", lambda run: grades)
    monkeypatch.setattr(implied, "possible_pcs_p", lambda *_: ((0, 1), (0, 1)))
    ways = figure_claims.readings(run)["cm-often"]
    assert [way[3] for way in ways.values()] == holds


def test_a_share_that_no_count_prints_as_is_not_a_count_of_0(run, monkeypatch):
    """0.4% of 585 is no number; left out, 260, 179 and 146 would add up to 585."""
    changed(run, monkeypatch, "v1 Figure 5b", "Manual", "percent", value=0.4)
    found = changed(run, monkeypatch, "v1 Figure 5b", "GPT-4o", "percent", value=44.4)
    assert found["cm-sources", "as written"] is False


def test_another_systems_number_and_another_best_model(run, monkeypatch):
    given = run.published

    def other(*tables):
        rows = given(*tables)
        few = rows[(rows["table"] != "v1 Figure 6a") | (rows["row"] != "GPT-3.5")]
        up = (few["table"] == "v1 text 2.2") & (few["row"] == "Gemini-1.5-Pro")
        return few.assign(value=few["value"].where(~up, 4.5))

    monkeypatch.setattr(run, "published", other)
    assert figure_claims.readings(run)["cm-systems"]["as written"][3] is False
    assert implied.score_readings(run)["cm-not-aligned"]["as written"][3] is False


@pytest.mark.parametrize(
    "shares, holds",
    [  # exact match, binary match, match of 0s
        ({"exact match": 71.06}, {"cm-c1-exact": False, "cm-c1-zero": False}),
        ({"binary match": 98.68}, {"cm-pcr-agrees": None, "cm-c1-binary": None}),
        ({"binary match": 70.0}, {"cm-c1-binary": False}),
        ({"label agreement": 89.5}, {"cm-c2-categories": False}),
    ],
)
def test_the_judges_shares_can_be_impossible(run, monkeypatch, shares, holds):
    """71.06% and 89.5% are no shares of 76; a binary match can't be below the exact one."""
    value, given = implied.published.value, run.published

    def other(*tables):
        rows = given(*tables)
        return rows.assign(value=rows["column"].map(shares).fillna(rows["value"]))

    monkeypatch.setattr(run, "published", other)
    monkeypatch.setattr(
        implied.published, "value", lambda *place: shares.get(place[-1], value(*place))
    )
    made = implied.judge_readings(run)
    assert {id: next(iter(made[id].values()))[3] for id in holds} == holds
