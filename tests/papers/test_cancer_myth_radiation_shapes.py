"""Tables of Cancer-Myth and radiation have the rows and columns that the papers print, in order."""

import pytest
from committed import people

from bedside.read import published
from bedside.write.layouts import number

PRINTED = [
    ("cancer_myth", "table1_mitigation", "v2 Table 1", 0),
    ("radiation", "table1_free_form", "Table 1", 2),
    ("radiation", "table2_list_size", "Table 2", 2),
    ("radiation", "table3_selection", "Table 3", 2),
    ("radiation", "table4_selection_list_size", "Table 4", 2),
    ("radiation", "table5_overlap", "Table 5", 2),
    ("radiation", "table6_onset", "Table 6", 2),
    ("radiation", "table7_frequency", "Table 7", 2),
]


def as_printed(row, digits):
    value, *bounds = (number(x, digits) for x in (row.value, row.low, row.high))
    return value + (f" [{', '.join(bounds)}]" if bounds[0] else "")


@pytest.mark.parametrize("profile", ("public", "sample"))
@pytest.mark.parametrize("paper, name, table, digits", PRINTED)
def test_a_table_has_the_rows_and_columns_of_the_paper(profile, paper, name, table, digits):
    made = people(paper, name, profile)
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
    made = people("cancer_myth", "table1_agreement", profile)
    printed = published.table("cancer_myth", "v1 Table 1")["value"]
    assert made.head[0][0] == "Published" and made.head[1][0].startswith("GPT-4o")
    assert [float(cells[0]) for _, cells in made.lines[:2]] == list(printed[:2])
    assert {"lexical", "constant guesser"} <= set(made.head[1])
    assert len({labels[0] for labels, _ in made.lines}) == len(made.lines)
