"""A zero has no minus sign, wherever a number that was rounded to it is shown."""

import re

import pandas as pd
import pytest

from bedside import checking
from bedside.read import claims
from bedside.write import tables

SIGNED = re.compile(r"[-−]0(?:\.0*)?(?![\d.])")
ROWS = [("change", "A", "recomputed", -0.004, -0.0041, -0.0039, 10, 0)]
SMALL = pd.DataFrame({"row": ["a", "b"], "column": ["x", "x"], "value": [-0.004, 0.5]})


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_no_zero_of_a_table_has_a_sign(form):
    made = tables.for_people(tables.frame(ROWS))
    text = getattr(made, form)("T", "c")
    assert text.count("0.00") == 3 and not SIGNED.search(text)
    assert not SIGNED.search(made.html())


def test_no_zero_of_a_check_has_a_sign():
    rows = [("T", "A", "x", "0.30", "difference", "B; C"), ("T", "B", "x", "0.501", "share", "")]
    rows += [("T", "C", "x", "0.504", "share", "")]
    columns = ["table", "row", "column", "value", "kind", "of"]
    found = checking.check(pd.DataFrame(rows, columns=columns)).iloc[0]
    assert found["verdict"] == "impossible" and "0.00" in found["arithmetic"]
    assert not SIGNED.search(found["arithmetic"])
