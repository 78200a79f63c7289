"""Notebooks and users' files from any working folder: theirs, the root, JupyterLab's."""

import shutil

import nbformat
import pytest
from nbclient import NotebookClient

from bedside import BedsideError, own
from bedside.build import notebooks, settings
from bedside.read import paths, questions

EXAMPLE, ANSWERS = "data/sample/own/ten_questions.csv", "data/sample/own/answers.csv"
ONE = "item,question\nq1,Mine?\n"


def test_a_users_file_is_looked_for_here_and_then_in_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert paths.found(EXAMPLE) == paths.ROOT / EXAMPLE
    assert len(questions.read(EXAMPLE)) == len(questions.answer_rows(ANSWERS)) == 10
    assert settings.validated(answers=ANSWERS)["answers"] == str(paths.ROOT / ANSWERS)
    prompts = settings.validated(prompts="data/prompts")["prompts"]
    assert prompts == str(paths.PROMPTS)
    (tmp_path / EXAMPLE).parent.mkdir(parents=True)
    (tmp_path / EXAMPLE).write_text(ONE)
    assert questions.read(EXAMPLE)["question"].tolist() == ["Mine?"]
    with pytest.raises(BedsideError, match="there is no file gone.csv"):
        questions.read("gone.csv")


@pytest.mark.parametrize("folder", ["", "notebooks", "notebooks/radiation"])
def test_an_own_study_is_the_same_from_each_folder(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    monkeypatch.chdir(paths.ROOT / folder)
    rubric, models = "data/prompts/own/judge.j2", "smollm2-135m"
    mine = own.Own(EXAMPLE, models=models, answers=ANSWERS, rubric=rubric, mode="replay")
    assert mine.part()["data"].keys() == {"questions", "answers"}
    assert mine.rubric == ("judge", str(paths.PROMPTS / "own"))
    assert mine.source == EXAMPLE and len(mine.given) == 10


@pytest.mark.parametrize("name", ["medhalu/03_expert_in_the_loop", notebooks.OWN, notebooks.ACROSS])
def test_a_notebook_runs_in_its_own_folder(name, tmp_path, monkeypatch):
    """As JupyterLab runs it. By replay, with the committed trust cards; it writes elsewhere."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    for card in paths.FIGURES.glob("sample/*/trust_*.json"):
        (tmp_path / "sample" / card.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(card, tmp_path / "sample" / card.parent.name)
    if name == notebooks.ACROSS:  # it reads what the others wrote
        shutil.copytree(paths.FIGURES / "sample", tmp_path / "sample", dirs_exist_ok=True)
    path = paths.NOTEBOOKS / f"{name}.ipynb"
    where = {"resources": {"metadata": {"path": path.parent}}, "kernel_name": "python3"}
    before = set(path.parent.iterdir())
    NotebookClient(nbformat.read(path, 4), **where, timeout=300).execute()
    part = f"sample/.parts/{name.replace('/', '.')}.json"
    part = {
        notebooks.OWN: "own/ten_questions/manifest.json",
        notebooks.ACROSS: f"sample/.parts/across.{name}.json",
    }.get(name, part)
    assert (tmp_path / part).is_file() and set(path.parent.iterdir()) == before
