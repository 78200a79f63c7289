"""Settings that are given: a 0 is one, and a run goes on with its own or says what contradicts."""

import json
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from bedside import BedsideError, own
from bedside import __main__ as steps
from bedside.build import notebooks, settings
from bedside.publish import pages
from bedside.read.surroundings import here
from bedside.run import Run
from bedside.write import frames

SAVED = {"profile": "public", "judge": "smollm2-135m", "limit": "3", "seed": "5"}
CONTRADICTIONS = [{"seed": "0"}, {"limit": "0"}, {"judge": "lexical"}, {"profile": "sample"}]
CONTRADICTIONS += [{"seed": "5", "limit": "0"}, {"max_tokens": "40"}]


@pytest.fixture
def figures(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    monkeypatch.setattr(here, "run", "")
    return tmp_path / "figures"


@pytest.fixture
def mine(figures):
    """A run `mine` with saved settings, as another process finds it."""
    settings.entered(SAVED, "mine")
    settings.keep(SAVED)
    here.run = ""
    return figures / "runs/mine"


@pytest.mark.parametrize("given", CONTRADICTIONS, ids=str)
def test_what_contradicts_a_run_is_an_error_everywhere(mine, given, tmp_path, monkeypatch, capsys):
    """By make, by step, and in JupyterLab, where each notebook has `profile = "sample"`."""
    told = "'mine' has other settings .profile public, judge smollm2-135m, limit 3, seed 5"
    if "max_tokens" not in given:
        with pytest.raises(BedsideError, match=told):
            steps.settings_check({"run": "mine", **given}, tmp_path / "settings.json")
    assert not (tmp_path / "settings.json").exists()
    as_step = [word for k, v in {"run": "mine", **given}.items() for word in ("-p", k, v)]
    with pytest.raises(SystemExit):
        steps.main(["run", "cancer_myth/03_evaluation", *as_step])
    assert "the run 'mine' has other settings" in capsys.readouterr().err
    assert json.loads((mine / "run.json").read_text()) == SAVED
    monkeypatch.setattr(here, "run", "mine")
    if "profile" not in given:
        with pytest.raises(BedsideError, match="has other settings"):
            Run("cancer_myth", "03_evaluation", **{"profile": "sample", **given})


@pytest.mark.parametrize("given", [{}, {"seed": "5"}, {"limit": "3", "seed": "5"}, SAVED], ids=str)
def test_a_run_goes_on_with_its_settings(mine, given, tmp_path, monkeypatch):
    file = tmp_path / "settings.json"
    steps.settings_check({"run": "mine", **given}, file)
    assert json.loads(file.read_text()) == {**SAVED, "run": "mine"}
    monkeypatch.setattr(here, "run", "mine")  # and in JupyterLab
    blank = {k: "" for k in ("models", "judge", "limit", "seed", "prompts", "budget_usd")}
    blank |= {"profile": "sample"}
    run = Run("cancer_myth", "03_evaluation", mode="replay", **blank | given)
    assert (run.profile, run.judge, run.limit, run.seed) == ("public", "smollm2-135m", 3, 5)
    study = own.Own("data/sample/own/ten_questions.csv", models="smollm2-135m")
    assert (study.seed, study.limit, study.judge) == (0, 0, "")  # which belongs to no run
    for name in notebooks.listed():
        kept = {"limit": "", "seed": "", **notebooks.parameters(name)}
        assert (kept["limit"], kept["seed"], kept["profile"]) == ("", "", "sample")


def test_a_zero_is_what_the_profile_has_and_a_run_without_a_name_is_found_by_its_settings(figures):
    steps.settings_check({"run": "new", "seed": "0", "limit": "0"})
    settings.keep({"seed": "0", "limit": "0"})
    assert json.loads((figures / "runs/new/run.json").read_text()) == {"profile": "sample"}
    steps.settings_check({"run": "new", "seed": "0"})
    with pytest.raises(BedsideError, match="'new' has other settings"):
        steps.settings_check({"run": "new", "seed": "5"})
    with pytest.raises(BedsideError, match="for a run's name"):
        settings.entered({}, "../mine")
    here.run = ""
    for given in ({"seed": "5", "limit": "0"}, {"seed": "5"}):
        steps.settings_check(given)
        assert here.run == "sample-seed-5"
        settings.keep({"seed": "5"})


def test_other_settings_are_a_run_in_a_folder_of_its_own(figures):
    settings.entered({"limit": "5", "mode": "record", "budget_usd": "3"})
    run = Run("cancer_myth", "03_evaluation", profile="sample", limit=5, judge="")
    row = {"row": "m", "column": "PCR", "source": "run", "value": 1}
    run.table("t", pd.DataFrame([row]), "T")
    run.close()
    pages.merge("sample")
    assert [p.name for p in figures.iterdir()] == ["runs"]
    html = (figures / "runs/sample-limit-5/index.html").read_text()
    assert "not the committed run" in html and "LIMIT=5" in html


def test_a_budget_of_nothing_is_a_budget(monkeypatch):
    monkeypatch.setattr(here, "budget_total", "7")
    assert settings.validated().budget_total == 7
    assert settings.validated(budget_total=0, budget_usd=0).budget_total == 0
    assert settings.validated(budget_usd="0").budget_usd == 0
    assert settings.validated(budget_usd="").budget_usd is None


WRONG = tomllib.loads(Path(__file__).with_name("wrong_settings.toml").read_text(encoding="utf-8"))


def test_wrong_settings_name_the_valid_ones():
    for name, value, words in WRONG["of_all"]:
        with pytest.raises(BedsideError) as told:
            settings.validated(**{name: value})
        assert words in str(told.value)
    for notebook, name, value, words in WRONG["of_notebooks"]:
        with pytest.raises(BedsideError, match=words):
            notebooks.typed(notebook, {name: value})


def test_the_explorer_of_a_run_shows_what_its_notebooks_kept_and_no_other(figures, capsys):
    given = {"limit": "2", "second_matcher": "1"}
    settings.entered(given, "own")
    settings.keep(given)
    with pytest.raises(BedsideError, match="runs/own/radiation has no graded replies. Run `make"):
        steps.explorer(settings.entered({"papers": "radiation"}, "own"))
    one = {"item": "p", "model": "m", "configuration": "c", "reference": "fatigue", "label": "same"}
    pair = frames.checked(pd.DataFrame([one | {"title": "t", "reply": "r", "why": ""}]), "pairs")
    folder = figures / "runs/own/radiation"
    folder.mkdir(parents=True)
    frames.write(folder, "pairs", pair, [], "radiation/06_judge_agreement")
    for asked in ({"papers": "radiation"}, {"papers": "radiation", **given}):
        steps.explorer(settings.entered(asked, "own"))
        assert "1 replies" in capsys.readouterr().out
    assert (figures / "runs/own/explorer.html").is_file()


def test_own_parameters_go_to_the_notebooks_that_take_them():
    given = {"max_tokens": "40", "second_matcher": "3", "limit": "2", "answers": "x.csv"}
    for name, taken in (
        ("radiation/02_free_form", {"limit": "2", "max_tokens": 40, "second_matcher": 3}),
        ("radiation/03_grounded_selection", {"limit": "2", "max_tokens": 40}),
        ("radiation/06_judge_agreement", {"limit": "2"}),
    ):
        assert notebooks.typed(name, given) == taken
