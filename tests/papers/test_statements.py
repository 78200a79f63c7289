"""Each paper's own statements, and the claims that bear on them, hold together."""

import pytest

from bedside.read import claims, paths

KINDS = ("abstract", "contribution", "finding", "conclusion")


PAPERS = sorted(p.stem for p in paths.STATEMENTS.glob("*.csv"))


@pytest.mark.parametrize("paper", PAPERS)
def test_each_statement_points_to_claims_or_says_why_it_has_none(paper):
    rows, known = claims.statements(paper), claims.load(paper)
    assert len({row["id"] for row in rows}) == len(rows) > 30
    for row in rows:
        assert row["of"] in claims.OF and row["kind"] in KINDS and row["statement"], row
        assert bool(row["claims"]) != bool(row["why"]), row
        assert set(row["claims"].split()) <= set(known), row


@pytest.mark.parametrize("paper", PAPERS)
def test_each_claim_of_a_statement_says_what_of_it_it_tests(paper):
    for row in claims.statements(paper):
        tested = row["predicates"].split()
        assert len(tested) == len(row["claims"].split()), row
        if "significan" in row["statement"]:
            assert any("significance" in each for each in tested), row
