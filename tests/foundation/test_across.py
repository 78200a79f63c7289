"""The studies side by side: numbers of their outputs alone, each on its own scale."""

import asyncio
import csv
import shutil
import statistics

import pytest

import matrix
from bedside.build import notebooks
from bedside.read import paths
from bedside.read.surroundings import here
from bedside.write import plots, tables


def test_shares_are_of_whole_cases_and_this_runs_models_change_nothing(tmp_path, monkeypatch):
    kept = shutil.ignore_patterns("across*", "*.html", "*.png", "*.svg", ".parts", "graded_*")
    copy = shutil.copytree(paths.FIGURES / "sample", tmp_path / "sample", ignore=kept)
    monkeypatch.setattr(here, "figures", str(tmp_path))
    monkeypatch.setattr(here, "run", "")
    monkeypatch.setattr(plots, "save", matrix.undrawn)

    def executed():
        asyncio.run(matrix.execute(notebooks.ACROSS, {}))
        return {p.name: p.read_bytes() for p in (copy / "across").glob("*.csv")}

    before = executed()
    rows = tables.read(copy / "across/table_two_ways.csv")
    made = {r["column"]: r["value"] for r in rows}
    # GPT-5.4 has 70 and 54 of 85 cases right, Claude 66 and 47, DeepSeek 63 and 46, Gemini 77 and
    # 51, Qwen 59 and 42: the median loss is Claude's, 19 of 66 (Qwen's 17 of 59 is a little more),
    # and so is the median of wrong diagnoses, 38 of 85
    lost = sorted([16 / 70, 19 / 66, 17 / 63, 26 / 77, 17 / 59])
    assert lost[2] == 19 / 66
    assert made["right diagnoses lost to invention"] == pytest.approx(1900 / 66, abs=1e-8)
    wrong = statistics.median([85 - 54, 85 - 47, 85 - 46, 85 - 51, 85 - 42])
    assert made["wrong diagnoses, patient invents"] == pytest.approx(100 * wrong / 85)
    for path in copy.glob("*/*.csv"):
        rows = tables.read(path) if path.parent.name != "across" else []
        if rows and "unscored" in rows[0]:
            run = ["run", 77.7, *[""] * 2, 3, *[""] * (len(rows[0]) - 7)]
            with open(path, "a", encoding="utf-8", newline="") as f:
                csv.writer(f, lineterminator="\n").writerows(
                    [f"HealthQA: {name}", column, *run]
                    for name in ("GPT-4", "new")
                    for column in {r["column"] for r in rows}
                )
    assert executed() == before
