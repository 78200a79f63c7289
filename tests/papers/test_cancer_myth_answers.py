"""Cancer-Myth 03 on answers made elsewhere: judged, never called, named as what they are."""

import asyncio
import csv
import json
import shutil

import pandas as pd
import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.build import notebooks
from bedside.papers.cancer_myth import data, study
from bedside.read import paths
from bedside.read.sources import sha256
from bedside.read.surroundings import here
from bedside.run import Run

HOSTILE = "Eve, <b>$\\frac{1}$"  # a comma parts labels, dollars begin a formula
SHOWN = "Eve; <b>$\\frac{1}$ (from theirs.csv)"
GPT = "GPT-4o (from theirs.csv)"


@pytest.fixture
def questions(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    return data.questions(Run("cancer_myth", "03_evaluation"))


@pytest.fixture
def theirs(tmp_path, questions):
    """Answers to all questions but the first by one model, to two by another, one to none."""
    path = tmp_path / "theirs.csv"
    items, corrections = questions["item"].tolist(), questions["correction"].tolist()
    made = [(i, "GPT-4o", c, "1.2") for i, c in zip(items[1:], corrections[1:])]
    made += [
        (items[0], HOSTILE, "Good.", ""),
        (items[1], HOSTILE, "", ""),
        ("q?", "GPT-4o", "", ""),
    ]
    with open(path, "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([("item", "model", "answer", "seconds"), *made])
    return path


def test_the_notebook_judges_them_beside_its_own(tmp_path, theirs, questions):
    cards = tmp_path / "figures/sample/cancer_myth"  # of notebook 05
    cards.mkdir(parents=True, exist_ok=True)
    for path in (paths.FIGURES / "sample/cancer_myth").glob("trust_*.json"):
        shutil.copy(path, cards)
    before = sha256(paths.RECORDINGS / "cancer_myth/sample/smollm2-135m.jsonl")
    notebook = paths.NOTEBOOKS / "cancer_myth/03_evaluation.ipynb"
    notebooks.execute(notebook, tmp_path / "done.ipynb", {"answers": str(theirs)})
    assert sha256(paths.RECORDINGS / "cancer_myth/sample/smollm2-135m.jsonl") == before

    folder = tmp_path / "figures/runs/sample-answers-theirs.csv/cancer_myth"
    scores = pd.read_csv(folder / "fig6a_scores.csv").query("source == 'run' and column == 'PCR'")
    n = len(questions)
    assert scores[["row", "n", "unscored"]].values.tolist() == [
        ["smollm2-135m", n, 0],
        [GPT, n - 1, 1],
        [SHOWN, 1, n - 1],
    ]
    health = pd.read_csv(folder / "table_answers.csv").set_index(["row", "column"])["value"]
    assert health[f"{SHOWN}, false presupposition", "no answer: blank, %"] == pytest.approx(100 / n)
    assert health[f"{GPT}, no false presupposition", "no answer: not in the file, %"] == 100
    cut = "cut off at the limit, %"  # of theirs nobody knows
    assert ("smollm2-135m, false presupposition", cut) in health.index
    assert (f"{GPT}, false presupposition", cut) not in health.index
    pairs = pd.read_csv(folder / "table_pairs.csv")["row"].unique().tolist()
    assert f"{GPT} vs smollm2-135m" in pairs and len(pairs) == 3
    part = json.loads((folder.parent / ".parts/cancer_myth.03_evaluation.json").read_text())
    told = {o["file"]: o["caption"] for o in part["outputs"] if o["kind"] != "card"}
    assert all(SHOWN in told[f] for f in ("fig6a_scores.png", "table_pairs.csv"))
    assert part["elsewhere"] == [GPT, SHOWN] and part["changed"] == {"answers": str(theirs)}
    assert part["data"]["answers"] == sha256(theirs)


def test_other_models_than_the_runs_are_asked_alone(theirs, questions):
    run = Run("cancer_myth", "03_evaluation", answers=str(theirs))
    both = asyncio.run(study.answers(run, questions, 2048))
    alone = asyncio.run(study.answers(run, questions, 2048, ["smollm2-135m"]))
    assert both["model"].unique().tolist() == ["smollm2-135m", GPT, SHOWN]
    assert alone["model"].unique().tolist() == ["smollm2-135m"]


def test_ambiguous_rows_stop_the_run_before_anything_runs(tmp_path, theirs, questions):
    item = questions["item"][1]
    theirs.write_text(theirs.read_text() + f"{item},GPT-4o,Another.,\n")
    told = f"theirs.csv, line {len(questions) + 4}, column item: an answer of 'GPT-4o' to item"
    with pytest.raises(BedsideError, match=told):
        steps.settings_check({"answers": str(theirs)}, tmp_path / "settings.json")
    run = Run("cancer_myth", "03_evaluation", answers=str(theirs))
    with pytest.raises(BedsideError, match=told):
        asyncio.run(study.answers(run, questions, 2048))
    with pytest.raises(BedsideError, match="ANSWERS=nowhere.csv: there is no file of this name"):
        steps.settings_check({"answers": "nowhere.csv"})
