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


PAPERS = [path.stem for path in sorted(paths.PUBLISHED.glob("*.csv"))]


@pytest.mark.parametrize("slip", [slip for paper in PAPERS for slip in published.slips(paper)])
def test_a_slip_is_repaired_only_within(slip):
    """What is kept of a printed number is kept apart, also where an error ends the repair."""
    printed = published.value(*slip[:4])
    others = published.load(slip.paper).drop(columns="value")
    with pytest.raises(KeyError), published.repaired(slip):
        assert published.value(*slip[:4]) == float(slip.value) != printed
        assert published.load(slip.paper).drop(columns="value").equals(others)
        changed = published.load(slip.paper)["value"]
        raise KeyError
    assert published.value(*slip[:4]) == printed and slip.why
    assert published.load(slip.paper)["value"].compare(changed).shape == (1, 2)
    assert f"is a slip for {slip.value}" in str(slip)


def test_a_slip_is_about_a_printed_number(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "SLIPS", tmp_path / "slips.csv")
    assert published.slips("radiation") == []
    head = ",".join(published.Slip._fields)
    paths.SLIPS.write_text(f"{head}\nradiation,Table 7,GPT-9,Rare,0.80,a sum,\n")
    with pytest.raises(BedsideError, match="no 'GPT-9'"):
        published.slips("radiation")
