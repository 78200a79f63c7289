"""Each paper's own statements, and the claims that bear on them, hold together."""

import csv

import pytest

from bedside import claims, paths

COLUMNS = ["id", "of", "section", "kind", "statement", "claims", "why"]
FOLDER = paths.DATA / "statements"
KINDS = ("abstract", "contribution", "finding", "conclusion")


def statements(paper):
    with open(FOLDER / f"{paper}.csv", newline="", encoding="utf-8") as f:
        lines = csv.DictReader(f)
        assert lines.fieldnames == COLUMNS
        return list(lines)


@pytest.mark.parametrize("paper", sorted(p.stem for p in FOLDER.glob("*.csv")))
def test_each_statement_points_to_claims_or_says_why_it_has_none(paper):
    rows, known = statements(paper), claims.load(paper)
    assert len({row["id"] for row in rows}) == len(rows) > 30
    for row in rows:
        assert row["of"] in claims.OF and row["kind"] in KINDS and row["statement"], row
        assert bool(row["claims"]) != bool(row["why"]), row
        assert set(row["claims"].split()) <= set(known), row
