"""A run and graded answers, for tests of Cancer-Myth."""

import pandas as pd
import pytest

from bedside.read import paths
from bedside.run import Run


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run("cancer_myth", "03_evaluation", profile="sample")


def graded(**values):
    rows = [
        (f"q{k}", model, "unparsed" if v is None else "graded", v, "A" if k < 2 else "B")
        for model, grades in values.items()
        for k, v in enumerate(grades)
    ]
    return pd.DataFrame(rows, columns=["item", "model", "status", "value", "category"])


def listed_for(test):
    """The readings that tests/numbers/flips/unable leaves to this test."""
    rows = pd.read_csv(paths.ROOT / "tests/numbers/flips/unable/cancer_myth.csv")
    mine = rows[rows["why"].str.endswith(f"::{test}")]
    assert len(mine)
    return set(zip(mine["id"], mine["reading"]))
