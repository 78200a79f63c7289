"""Decimal points and decimal commas: a table has one of them, and no honest one is accused."""

import re

import numpy as np
import pandas as pd
import pytest

import bedside
import printed_tables
from bedside import BedsideError

COLUMNS = ["table", "row", "column", "value", "n", "kind", "of"]
WAYS = [*printed_tables.WAYS]
SETTLED = ("J", "accuracy", "0.5", "", "share", "")  # a cell that can be read one way only


def checked(rows):
    """What the checks say of rows; a row may leave out its table."""
    filled = [row if len(row) == 7 else ("T", *row) for row in rows]
    return bedside.check(pd.DataFrame(filled, columns=COLUMNS))


def verdicts(rows):
    return {*checked(rows)["verdict"]}


@pytest.mark.parametrize("way", WAYS)
def test_no_honest_table_is_called_wrong_in_any_convention(way):
    rng = np.random.default_rng(WAYS.index(way))
    for make in [printed_tables.table] * 12 + [printed_tables.three_decimals] * 12:
        rows = printed_tables.in_convention(make(rng), way)
        found = checked(rows)
        bad = found[found["verdict"].isin(["impossible", "only if"])]
        assert bad.empty, (rows, bad["arithmetic"].tolist())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "rows",
    [
        [("A", "right", "0.701", "48", "share", "")],  # 33 or 34 of 48: 0.688, 0.708
        [("A", "grade", "3.611", "20", "mean", "scale=1 to 5")],  # 3.600, 3.650
        [
            ("J", "precision", "0.900", "400", "precision", ""),
            ("J", "F1", "0.999", "400", "f1", ""),
        ],
        [("A", "x", "1203", "4000", "count", ""), ("B", "x", "1200", "4000", "count", "")]
        + [("all", "x", "2404", "", "total", "A; B"), SETTLED],
        [("A", "p", "0.412", "", "p", "test=t; statistic=2.412; df=1039")],
        [
            ("A", "right", "0.750", "40", "share", ""),
            ("A", "ci", "0.76 to 0.858", "", "interval", "right"),
        ],
        [
            ("A", "agree", "0.800", "", "share", ""),
            ("A", "k", "0.951", "", "kappa", "agree; classes=2"),
        ],
    ],
)
def test_what_is_impossible_stays_so_in_any_convention(rows, way):
    assert "impossible" in verdicts(printed_tables.in_convention([("T", *r) for r in rows], way))


def test_three_digits_after_a_comma_are_decimals_where_a_cell_of_the_table_says_so():
    """77 / 64 is 1.203; no grade is 1203."""
    of = ("A", "grade", "1,203", "64", "mean", "scale=1 to 5")
    assert verdicts([of, ("B", "right", "0,958", "24", "share", "")]) == {"possible"}
    assert verdicts([of]) == {"possible"}  # open: a mean of 1203 is none of grades up to 5
    found = checked([of, ("B", "right", "0.958", "24", "share", "")])
    assert found["verdict"].tolist() == ["impossible", "possible"]


def test_an_open_table_is_read_both_ways_and_says_how():
    count = ("A", "patients", "1,203", "", "count", "")
    found = checked([count, ("B", "grade", "1,205", "16", "mean", "scale=1 to 5")])
    by = found.set_index("row")
    assert by["verdict"].to_dict() == {"A": "possible", "B": "impossible"}  # 1.188, 1.250 of 16
    assert "read with a decimal point" in by["condition"]["A"]
    assert "with a comma it is so, too" in by["condition"]["B"]


@pytest.mark.parametrize("n", ["1203", "1,203", "1.203", "1 203", "1203.0"])
def test_n_is_whole_in_any_convention(n):
    assert checked([("A", "right", "0,5", n, "share", "")])["n"].tolist() == ["1203"]
    assert checked([("A", "right", "0.5", n, "share", "")])["n"].tolist() == ["1203"]


@pytest.mark.parametrize(
    "cell, place",
    [
        (("C", "F1", "0.91", "", "f1", ""), "row 3, column value: '0.91'"),
        (("C", "F1", "2.345.678", "", "share", ""), None),
        (("C", "F1", "2,345,678", "", "share", ""), "row 3, column value: '2,345,678'"),
        (("C", "ci", "0.41 to 0.53", "", "interval", ""), "row 3, column value: '0.41 to 0.53'"),
        (("C", "p", "2.5e-5", "", "p", ""), "row 3, column value: '2.5e-5'"),
        (("C", "p", "0,02", "", "p", "test=z; statistic=2.41"), "column of: 'statistic=2.41'"),
        (("C", "patients", "1,203", "4000", "count", ""), "row 3, column value: '1,203'"),
        (("C", "patients", "1.203", "4000", "count", ""), None),
    ],
)
def test_a_cell_that_contradicts_its_table_is_named(cell, place):
    rows = [("A", "F1", "0,958", "", "f1", ""), ("B", "F1", "0,9", "", "f1", ""), cell]
    if place is None:
        assert len(checked(rows)) == 3
        return
    with pytest.raises(BedsideError, match=re.escape(place)) as told:
        checked(rows)
    assert "'0,958' in row 1" in str(told.value) and "table of its own" in str(told.value)


def test_tables_of_one_file_may_differ():
    other = ("U", "A", "right", "0.958", "24", "share", "")
    assert verdicts([("A", "right", "0,958", "24", "share", ""), other]) == {"possible"}


def test_degrees_of_freedom_and_statistics_have_the_tables_convention():
    """Welch's t(17.4) = 2.412 has p 0.027, F(2, 30) = 3.512 has 0.043."""
    welch = ("A", "p", "0,027", "", "p", "test=t; statistic=2,412; df=17,4")
    both = [
        ("B", "p", "0,043", "", "p", f"test=F; statistic=3,512; df={df}")
        for df in ("2,30", "2, 30")
    ]
    for row in (welch, *both):
        assert verdicts([row]) == {"possible"}, row
