"""What a notebook's cell defines moves the number that it is about, and no other.

Each notebook runs as committed, and with one line of one cell edited. A case for another study is
a line in EDITS.
"""

import json

import pandas as pd
import pytest
from parameter_house import house  # noqa: F401

import matrix
from bedside.read import paths

# notebook, line, what stands in its place, the table, and which of its rows may move (a query)
OWN = "source == 'run' and not row.str.contains('always|coin')"
EDITS = {
    "mean over repeats": (
        "medhalu/02_detection",
        'checks.groups(detectors, by)["yes"].mean()',
        'checks.groups(detectors, by)["yes"].max()',
        ("table6_detection", OWN),
    ),
    "macro precision": (
        "medhalu/02_detection",
        "(ratio(tp, tp + fp) + ratio(tn, tn + fn)) / 2",
        "ratio(tp, tp + fp)",
        ("table6_detection", f"{OWN} and column.str.startswith('macro precision')"),
    ),
    "gain of a reason": (
        "medhalu/03_expert_in_the_loop",
        "gained = ten - six[ten.index]",
        "gained = six[ten.index] - ten",
        ("table10_expert", "source == 'recomputed'"),
    ),
    "grade of PCR": (
        "cancer_myth/03_evaluation",
        "PCR=100 * grade.eq(1)",
        "PCR=100 * grade.le(0)",
        ("fig6a_scores", "source == 'run' and column.str.startswith('PCR')"),
    ),
    "recall of a list": (
        "radiation/02_free_form",
        'graded["recall"] = hits / size',
        'graded["recall"] = 1 - hits / size',
        ("table1_free_form", "source == 'run' and column.str.contains('Recall|F1 of the means')"),
    ),
    "accuracy": (
        "meddialbench/03_single_dimension",
        'accuracy["value"] = 100 * accuracy["right"]',
        'accuracy["value"] = 100 - 100 * accuracy["right"]',
        ("table3_single", "source == 'run'"),
    ),
    "totals of Table 4": (
        "medhalu/01_benchmark",
        'table.loc["Total"] = table.sum()',
        'table.loc["Total"] = table.max()',
        ("table4_statistics", "source != 'published' and row == 'Total'"),
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_line_of_a_cell_defines_its_number_and_no_other(what, house, monkeypatch):  # noqa: F811
    name, line, other, (table, moving) = EDITS[what]
    file = f"{name.partition('/')[0]}/{table}.csv"
    committed = pd.read_csv(paths.FIGURES / "sample" / file)

    assert json.dumps(matrix.cells(name)).count(json.dumps(line)[1:-1]) == 1
    house.run(name, profile="sample", mode="replay")
    made = house.figures / "runs" / "matrix" / file
    pd.testing.assert_frame_equal(pd.read_csv(made), committed)

    as_is = matrix.cells

    def edited(name):
        cells = as_is(name)
        return [c | {"source": ["".join(c["source"]).replace(line, other)]} for c in cells]

    monkeypatch.setattr(matrix, "cells", edited)
    house.run(name, profile="sample", mode="replay", until=table)
    made = pd.read_csv(made)
    labels = ["row", "column", "source"]
    assert made[labels].equals(committed[labels])
    moved = made["value"].fillna(-9) != committed["value"].fillna(-9)
    may = pd.Series(committed.index.isin(committed.query(moving, engine="python").index))
    assert moved.any() and not moved[~may].any()
