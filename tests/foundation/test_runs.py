"""Settings that are given: a 0 is one, and a run goes on with its own or says what contradicts."""

import json
import os

import pandas as pd
import pytest

from bedside import BedsideError, own
from bedside import __main__ as steps
from bedside.build import notebooks, settings
from bedside.run import Run
from bedside.write import frames

SAVED = {"profile": "public", "judge": "smollm2-135m", "limit": "3", "seed": "5"}
CONTRADICTIONS = [  # each is what would hold without the run
    {"seed": "0"},
    {"limit": "0"},
    {"judge": "lexical"},
    {"profile": "sample"},
    {"seed": "5", "limit": "0"},
]
AGREEING = [{}, {"seed": "5"}, {"limit": "3", "judge": "smollm2-135m"}, SAVED]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A run `mine` with saved settings, as another process finds it."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))
    settings.entered(SAVED, "mine")
    settings.keep(SAVED)
    os.environ["BEDSIDE_RUN"] = ""
    return tmp_path / "figures/runs/mine"


def as_make(given):
    return [f"{k.upper()}={v}" for k, v in given.items()]


def as_step(given):
    return [word for k, v in {"run": "mine", **given}.items() for word in ("-p", k, v)]


@pytest.mark.parametrize("given", CONTRADICTIONS, ids=str)
def test_what_contradicts_a_run_is_an_error_by_make_and_step(mine, given, tmp_path, capsys):
    told = "'mine' has other settings .profile public, judge smollm2-135m, limit 3, seed 5"
    with pytest.raises(BedsideError, match=told):
        steps.check(["RUN=mine", *as_make(given)], tmp_path / "settings.json")
    assert not (tmp_path / "settings.json").exists()
    with pytest.raises(SystemExit):
        steps.main(["run", "radiation/01_reference_and_profiles", *as_step(given)])
    assert "the run 'mine' has other settings" in capsys.readouterr().err
    assert json.loads((mine / "run.json").read_text()) == SAVED


def test_an_own_parameter_of_a_notebook_may_contradict_too(mine):
    with pytest.raises(BedsideError, match="'mine' has other settings"):
        settings.entered({"max_tokens": "40"}, "mine")
    settings.entered({"max_tokens": "40"}, "other")
    settings.keep({"max_tokens": "40"})
    for given in ({}, {"max_tokens": 40}):
        assert settings.entered(given, "other")["max_tokens"] == "40"
    with pytest.raises(BedsideError, match="'other' has other settings"):
        settings.entered({"max_tokens": "41"}, "other")


@pytest.mark.parametrize("given", AGREEING, ids=str)
def test_a_run_goes_on_with_its_settings(mine, given, tmp_path):
    file = tmp_path / "settings.json"
    steps.check(["RUN=mine", *as_make(given)], file)
    assert json.loads(file.read_text()) == {**SAVED, "run": "mine"}


@pytest.mark.parametrize("given", [c for c in CONTRADICTIONS if "profile" not in c], ids=str)
def test_what_contradicts_a_run_is_an_error_in_jupyterlab(mine, given, monkeypatch):
    """Every notebook has `profile = "sample"`, which says nothing there."""
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    with pytest.raises(BedsideError, match="leave these empty here"):
        Run("cancer_myth", "03_evaluation", profile="sample", **given)
    numbers = {k: int(v) for k, v in given.items() if v.isdigit()}
    with pytest.raises(BedsideError, match="has other settings"):
        settings.validated(**{**given, **numbers})


def test_a_notebook_in_jupyterlab_takes_the_runs_settings(mine, monkeypatch):
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    blank = {k: "" for k in ("models", "judge", "limit", "seed", "prompts", "budget_usd")}
    for given in (blank, {**blank, "seed": "5"}, {"limit": 3}, {"seed": None}):
        run = Run("cancer_myth", "03_evaluation", profile="sample", mode="replay", **given)
        assert (run.profile, run.judge, run.limit, run.seed) == ("public", "smollm2-135m", 3, 5)
    for name in notebooks.listed():
        given = notebooks.parameters(name)
        assert (given["limit"], given["seed"], given["profile"]) == ("", "", "sample")


def test_a_zero_is_the_first_run_of_its_name(tmp_path, monkeypatch):
    """A name that is new takes what is given; 0 is what the profile has, so nothing differs."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    steps.check(["RUN=new", "SEED=0", "LIMIT=0"])
    settings.keep({"seed": "0", "limit": "0"})
    assert json.loads((tmp_path / "runs/new/run.json").read_text()) == {"profile": "sample"}
    steps.check(["RUN=new", "SEED=0"])
    with pytest.raises(BedsideError, match="'new' has other settings"):
        steps.check(["RUN=new", "SEED=5"])


def test_a_run_without_its_name_is_found_by_its_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    for given in (["SEED=5", "LIMIT=0"], ["SEED=5"]):
        steps.check(given)
        assert os.environ["BEDSIDE_RUN"] == "sample-seed-5"
        settings.keep({"seed": "5"})


def test_an_own_study_belongs_to_no_run(mine, monkeypatch):
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    run = own.Own("data/sample/own/ten_questions.csv", models="smollm2-135m")
    assert (run.seed, run.limit, run.judge) == (0, 0, "")


def test_a_budget_of_nothing_is_a_budget(monkeypatch):
    monkeypatch.setenv("BEDSIDE_TOTAL", "7")
    assert settings.validated()["budget_total"] == 7
    assert settings.validated(budget_total=0, budget_usd=0)["budget_total"] == 0
    assert settings.validated(budget_usd="0")["budget_usd"] == 0
    assert settings.validated(budget_usd="")["budget_usd"] is None


def test_the_explorer_of_a_run_with_a_notebooks_own_parameter(tmp_path, monkeypatch, capsys):
    """It shows what the notebooks of that run kept, and no other."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    given = {"limit": "2", "second_matcher": "1"}
    settings.entered(given, "own")
    settings.keep(given)
    with pytest.raises(BedsideError, match="runs/own/radiation has no graded replies; run `make"):
        steps.explorer(settings.entered({"papers": "radiation"}, "own"))
    one = {"item": "p", "model": "m", "configuration": "c", "reference": "fatigue", "label": "same"}
    pair = pd.DataFrame([one | {"title": "t", "reply": "r", "why": ""}])
    folder = tmp_path / "runs/own/radiation"
    folder.mkdir(parents=True)
    frames.write(folder, "pairs", frames.checked(pair, "pairs"), [], "radiation/06_judge_agreement")
    for asked in ({"papers": "radiation"}, {"papers": "radiation", **given}):
        steps.explorer(settings.entered(asked, "own"))
        assert "1 replies" in capsys.readouterr().out
    assert (tmp_path / "runs/own/explorer.html").is_file()


def test_own_parameters_go_to_the_notebooks_that_take_them():
    given = {"max_tokens": "40", "second_matcher": "3", "limit": "2"}
    assert notebooks.typed("radiation/02_free_form", given) == {
        "max_tokens": 40,
        "second_matcher": 3,
        "limit": "2",
    }
    # other notebooks of the study have it; `answers` is of Cancer-Myth alone
    given |= {"answers": "x.csv"}
    assert notebooks.typed("radiation/03_grounded_selection", given) == {
        "max_tokens": 40,
        "limit": "2",
    }
    assert notebooks.typed("radiation/06_judge_agreement", given) == {"limit": "2"}
    with pytest.raises(
        BedsideError, match="unknown parameter of notebooks/radiation/02.*max_token"
    ):
        notebooks.typed("radiation/02_free_form", {"max_token": "40"})
    with pytest.raises(BedsideError, match="max_tokens = 'many' .*: give a whole number"):
        notebooks.typed("radiation/02_free_form", {"max_tokens": "many"})
    with pytest.raises(BedsideError, match="temperature = 'hot' .*: give a number"):
        notebooks.typed("meddialbench/02_baseline", {"temperature": "hot"})
