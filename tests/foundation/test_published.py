"""The printed numbers, checked against figures read off the papers' texts."""

import pytest

from bedside import BedsideError
from bedside.read import paths, published


@pytest.mark.parametrize(
    "table, row, column, value",
    [
        ("v1 text 2.2", "GPT-4-Turbo", "mean score", 4.13),
        ("v1 text 2.2", "Social workers", "mean score", 3.20),
        ("v1 text 4.3", "Gemini-1.5-Pro", "PCR", 27.2),
        ("v1 text 4.3", "GPT-4-Turbo", "PCR", 15.4),
        ("v1 Table 1", "Presupposition correction", "exact match", 71.05),
        ("v2 Main results", "GPT-5", "PCS", 0.19),
        ("v2 text results", "GPT-4-Turbo", "PCR", 6.3),
        ("v2 Table 1", "GPT-4o with MDAgents Monitor", "Cancer-Myth-NFP", 35),
    ],
)
def test_numbers(table, row, column, value):
    assert published.value("cancer_myth", table, row, column) == value


def test_sums_of_the_first_version():
    # 868 + 393 + 429 + 2 = 1692 candidates (section 4.1)
    rows = published.table("cancer_myth", "v1 text 4.1")
    candidates = rows[rows["row"] == "candidates"].set_index("column")["value"]
    assert candidates.drop("all").sum() == candidates["all"] == 1692


def test_tables_name_their_version():
    assert published.load("cancer_myth")["table"].str.match(r"v[12] ").all()


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
