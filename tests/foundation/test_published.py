"""The printed numbers, checked against figures read off the papers' texts."""

import pytest

from bedside import BedsideError
from bedside.read import paths, published


def test_unknown_tables_and_cells_are_errors():
    with pytest.raises(BedsideError, match="no table 'Table 99'"):
        published.table("cancer_myth", "Table 99")
    with pytest.raises(BedsideError, match="no 'GPT-9'"):
        published.value("cancer_myth", "v1 text 4.3", "GPT-9", "PCR")
    with pytest.raises(BedsideError, match="nothere.csv is missing"):
        published.load("nothere")


def test_a_slip_is_about_a_printed_number(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "SLIPS", tmp_path / "slips.csv")
    assert published.slips("radiation") == []
    head = ",".join(published.Slip._fields)
    paths.SLIPS.write_text(f"{head}\nradiation,Table 7,GPT-9,Rare,0.80,a sum,\n")
    with pytest.raises(BedsideError, match="no 'GPT-9'"):
        published.slips("radiation")
