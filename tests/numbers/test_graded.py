"""Graded replies in public: nothing of others but ids, categories and numbers."""

import json

import pandas as pd
import pytest

from bedside.read import paths, sources

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


@pytest.mark.slow
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
