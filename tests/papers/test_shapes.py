"""The papers' tables as people read them: the rows and columns that the papers print, in order."""

import csv
import json
import re

import pytest

from bedside import paths, published, tables
from bedside.layouts import Layout, grid, number

RADIATION = [
    ("02_free_form", "table1_free_form", "Table 1"),
    ("02_free_form", "table2_list_size", "Table 2"),
    ("03_grounded_selection", "table3_selection", "Table 3"),
    ("03_grounded_selection", "table4_selection_list_size", "Table 4"),
    ("04_documentation_sensitivity", "table5_overlap", "Table 5"),
    ("05_survivorship_recall", "table6_onset", "Table 6"),
    ("05_survivorship_recall", "table7_frequency", "Table 7"),
]
PRINTED = [("radiation", *one, 2) for one in RADIATION]
PRINTED += [("cancer_myth", "04_mitigation", "table1_mitigation", "v2 Table 1", 0)]

LAYOUT = re.compile(r"Layout\((?:[^()]|\([^()]*\))*\)")


def people(profile, paper, notebook, name, digits):
    """A committed table with the layout that its notebook gives: the last before its name."""
    cells = json.loads((paths.NOTEBOOKS / paper / f"{notebook}.ipynb").read_text())["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    layout = eval(LAYOUT.findall(code.partition(f'"{name}"')[0])[-1], {"Layout": Layout})
    path = paths.FIGURES / profile / paper / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return grid([tables.read(row) for row in csv.DictReader(file)], layout, digits)


def as_printed(row, digits):
    value, *bounds = (number(x, digits) for x in (row.value, row.low, row.high))
    return value + (f" [{', '.join(bounds)}]" if bounds[0] else "")


@pytest.mark.parametrize("profile", ("public", "sample"))
@pytest.mark.parametrize("paper, notebook, name, table, digits", PRINTED)
def test_a_table_has_the_rows_and_columns_of_the_paper(
    profile, paper, notebook, name, table, digits
):
    made = people(profile, paper, notebook, name, digits)
    printed, wanted = published.table(paper, table), {}
    for row in printed.itertuples():  # the paper has two names for Phi-3-Medium
        wanted.setdefault(row.row.removesuffix("-4K"), []).append(as_printed(row, digits))
    width = printed["column"].nunique()
    assert made.head[-1][:width] == list(printed["column"][:width])
    of_the_paper = [line for line in made.lines if line[0][-1] == "Published"]
    assert [(labels[0], cells[:width]) for labels, cells in of_the_paper] == list(wanted.items())
    assert len(of_the_paper) < len(made.lines) <= 25


@pytest.mark.parametrize("profile", ("public", "sample"))
def test_the_agreement_of_judges_has_a_line_for_each_measure(profile):
    made = people(profile, "cancer_myth", "05_judge_agreement", "table1_agreement", 2)
    printed = published.table("cancer_myth", "v1 Table 1")["value"]
    assert made.head[0][0] == "Published" and made.head[1][0].startswith("GPT-4o")
    assert [float(cells[0]) for _, cells in made.lines[:2]] == list(printed[:2])
    assert {"lexical", "constant guesser"} <= set(made.head[1])
    assert len({labels[0] for labels, _ in made.lines}) == len(made.lines)
