"""Claims are data: a row says what, a reading says whether."""

import pytest

from bedside import BedsideError, claims, paths, published
from bedside.claims import Claim, reading

HEAD = "id,of,section,weight,claim,published,needs"
PRINTED = (
    "table,row,column,value,low,high,note\nTable 1,a model,PCR,27.2,,,\nTable 1,b,p,0.00002,,,\n"
)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """A function that writes the rows of a paper's claims and reads them."""
    for name in ("CLAIMS", "PUBLISHED"):
        monkeypatch.setattr(paths, name, tmp_path / name)
        (tmp_path / name).mkdir()
    (tmp_path / "PUBLISHED/p.csv").write_text(PRINTED)

    def write(*rows, head=HEAD):
        (tmp_path / "CLAIMS/p.csv").write_text("\n".join([head, *rows]) + "\n")
        claims.load.cache_clear()
        published.load.cache_clear()
        return claims.load("p")

    yield write
    claims.load.cache_clear()
    published.load.cache_clear()


def test_a_reference_is_filled_in(ledger):
    found = ledger(
        "a,paper,4.3,central,A rate,{Table 1 | a model | PCR}%,data",
        "b,paper,4.3,detail,A p,p = {Table 1 | b | p} against {Table 1|a model|PCR|.0f},",
        "c,own,4,detail,A count,585,",
        "d,data,4,detail,A word,balanced,",
    )
    assert found["a"] == Claim("a", "paper", "4.3", "central", "A rate", "27.2%", "data", 27.2)
    assert found["b"].published == "p = 2e-05 against 27"
    assert [found[i].value for i in "bcd"] == [0.00002, 585.0, None]


@pytest.mark.parametrize(
    "row, match",
    [
        ("a,author,1,central,x,1,", "text of a claim 'author'"),
        ("a,paper,1,middling,x,1,", "weight of a claim 'middling'"),
        ("a,paper,1,central,x", "a field is missing"),
        ("a,paper,1,central,x,1,,more", "too many"),
        (",paper,1,central,x,1,", "a field is missing"),
        ("a,paper,1,central,x,{Table 9 | a model | PCR},", "has no table 'Table 9'"),
        ("a,paper,1,central,x,{Table 1 | c | PCR},", "has no 'c', 'PCR'"),
        ("a,paper,1,central,x,1,\na,paper,1,central,y,1,", "claim 'a' stands there twice"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(ledger, row, match):
    with pytest.raises(BedsideError, match="p.csv, line .*" + match):
        ledger(row)


def test_other_columns_are_an_error(ledger):
    with pytest.raises(BedsideError, match="columns are"):
        ledger("a,1", head="id,claim")


def claim(needs=""):
    return Claim("a", "paper", "1", "detail", "x", "1", needs, 1.0)


@pytest.mark.parametrize(
    "holds, needs, verdict",
    [
        ([True], "", "holds"),
        ([True, True], "data", "holds"),
        ([False, False], "", "differs"),
        ([True, False], "", "depends"),
        ([True, None], "", "undetermined"),
        ([None], "data", "needs data"),
        ([], "data", "needs data"),
    ],
)
def test_a_verdict_follows_from_the_readings(holds, needs, verdict):
    readings = {str(i): (1, None, None, h) for i, h in enumerate(holds)}
    assert claims.verdict(claim(needs), readings) == verdict


def test_a_claim_is_decided_or_says_what_it_needs():
    with pytest.raises(BedsideError, match="neither decided nor said what it needs"):
        claims.verdict(claim(), {})


def test_numpys_booleans_are_no_trap():
    import numpy as np

    assert claims.verdict(claim(), reading("1", np.bool_(True))) == "holds"
    assert claims.verdict(claim(), reading("1", np.bool_(False))) == "differs"
