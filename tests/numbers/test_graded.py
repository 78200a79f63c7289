"""Graded replies against the tables that are counted from them, and against others' texts."""

import json

import numpy as np
import pandas as pd
import pytest

from bedside.build import settings
from bedside.read import paths, sources
from bedside.write import frames

PROFILES = ("sample", "public")
MODEL = "smollm2-135m"


def graded(paper, profile, section, judge):
    made = frames.read(settings.figures() / profile / paper, section, texts=False)
    made = made[(made["judge"] == judge) & (made["status"] == "graded")]
    return made[made["model"] == MODEL]


def cell(paper, profile, table, row, column):
    rows = pd.read_csv(paths.FIGURES / profile / paper / f"{table}.csv")
    mine = (rows["row"] == row) & (rows["column"] == column) & (rows["source"] == "run")
    (value,) = rows.loc[mine, "value"]
    return value


@pytest.mark.parametrize("profile", PROFILES)
def test_pcr_and_pcs(profile):
    grades = graded("cancer_myth", profile, "evaluation", "lexical").query("kind == 'myth'")[
        "value"
    ]
    table = ("cancer_myth", profile, "fig6a_scores", MODEL)
    assert 100 * (grades == 1).mean() == pytest.approx(cell(*table, "PCR"))
    assert grades.mean() == pytest.approx(cell(*table, "PCS"))


@pytest.mark.parametrize("profile", PROFILES)
def test_precision_recall_and_f1_of_free_lists(profile):
    lists = graded("radiation", profile, "free_form", "lexical")
    mine = lists[(lists["regime"] == "free-form") & (lists["profile"] == "specified")]
    for column in ("Precision", "Recall", "F1"):
        found = mine[column.lower()].mean()
        assert found == pytest.approx(cell("radiation", profile, "table1_free_form", MODEL, column))


@pytest.mark.parametrize("profile", PROFILES)
def test_lists_follow_from_their_matched_terms(profile):
    for section in ("free_form", "selection"):
        lists = graded("radiation", profile, section, "lexical")
        hits = lists["matched"].astype(str).str.split().str.len()
        assert (hits == lists["hits"]).all()
        assert np.allclose(lists["hits"] / lists["listed"], lists["precision"])
        assert np.allclose(lists["hits"] / lists["size"], lists["recall"])


@pytest.mark.parametrize("profile", PROFILES)
def test_accuracy_of_detections(profile):
    read = graded("medhalu", profile, "detection", "held against the label")
    yes = (read["value"] == "yes").groupby(read["item"]).mean()
    wrong = read.groupby("item")["hallucinated"].first()
    found = np.where(wrong == 1, yes, 1 - yes).mean()
    table = cell("medhalu", profile, "table6_detection", f"all: {MODEL}", "accuracy")
    assert found == pytest.approx(table)


def test_rules_and_turns_of_consultations():
    for profile in PROFILES:
        made = frames.read(settings.figures() / profile / "meddialbench", "consultations", False)
        made = made[(made["judge"] == "lexical") & (made["configuration"] == "baseline")]
        for model, mine in made.groupby("model"):
            table = ("meddialbench", profile, "table2_baseline", model)
            right = mine.loc[mine["status"] == "graded", "right"]
            if len(right):
                assert 100 * right.mean() == pytest.approx(cell(*table, "Acc"))
            assert mine["coverage"].mean() == pytest.approx(cell(*table, "Coverage"))


# ---- in public nothing of others but ids, categories and numbers

MAY = ("category", "categorised", "key", "generator", "site")  # short names, no texts


def texts():
    """Released texts: fields of 20 or more characters, and reference terms and diagnoses."""
    found = set()

    def add(value, least=20):
        if isinstance(value, str) and len(value.strip()) >= least:
            found.add(" ".join(value.split()).casefold())
        elif isinstance(value, dict | list | tuple):
            for one in value.values() if isinstance(value, dict) else value:
                add(one, least)

    for name, entry in sources.registry().items():
        if {"github", "huggingface"} & entry.keys() and sources.here(name):
            frame = sources.load(name)
            for column in frame:
                for value in frame[column]:
                    add(value)
    for name in ("radiation_reference", "radiation_terms"):
        if name in sources.registry() and sources.here(name):
            for value in sources.load(name).iloc[:, 0]:
                add(value, 4)
    for line in (paths.EXTERNAL / "github").rglob("agentclinic_medqa*.jsonl"):
        for one in line.read_text().splitlines():
            case = json.loads(one)["OSCE_Examination"]
            add(case["Correct_Diagnosis"], 4)
    return found


def test_no_text_of_others_is_committed():
    if not sources.here("cancer_myth_survey_answers"):
        pytest.skip("the released data aren't here: make data PROFILE=public")
    known = texts()
    assert len(known) > 5000
    long = [t for t in known if len(t) >= 40]
    for path in sorted((paths.FIGURES / "public").glob("*/graded_*.csv")):
        made = pd.read_csv(path, dtype=str, keep_default_na=False)
        for column in made.columns.difference(MAY):
            cells = {" ".join(c.split()).casefold() for c in made[column].unique()}
            assert not cells & known, (path.name, column, sorted(cells & known)[:3])
        whole = " ".join(made.drop(columns=[*MAY], errors="ignore").to_numpy().ravel()).casefold()
        assert not [t for t in long if t in whole][:3], path.name
