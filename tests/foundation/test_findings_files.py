"""Findings are data: their numbers are cells of a profile's outputs, and a slip names its line."""

import pytest

from bedside import BedsideError
from bedside.read import claims, findings, paths

HEAD = "id,rank,finding,of,claims,output\n"
WORDS = '[a]\nrests = "r {t | m | F1 | raw}"\nagainst = "x"\nchanges = "y"\n'
CELLS = (
    "row,column,source,value,low,high,n,unscored\n"
    '"m, b",F1,raw,0.125,,,,\nm,F1,raw,-2.5,,,,\nm,F1,run,9,,,,\nm,gap,raw,,1,2,,\n'
)


@pytest.fixture
def found(tmp_path, monkeypatch):
    """A function that writes findings and their words, and loads them."""
    for name in ("FINDINGS", "CLAIMS"):
        monkeypatch.setattr(paths, name, tmp_path)
    monkeypatch.setattr(claims, "load", lambda paper: {"c-1": None, "c-2": None})
    (tmp_path / "p").mkdir()
    (tmp_path / "p/t.csv").write_text(CELLS)

    def load(*rows, words=WORDS):
        (tmp_path / "p.csv").write_text(HEAD + "\n".join(rows) + "\n")
        (tmp_path / "p.toml").write_text(words)
        return findings.load("p", tmp_path)

    return load


def row(finding="All hold.", id="a", rank="1", of="found", claimed="c-1 c-2", output="t"):
    return f'{id},{rank},"{finding}",{of},{claimed},{output}'


@pytest.mark.parametrize(
    "reference, told",
    [
        ("t | m, b | F1 | raw", "0.125"),
        ("t | m, b | F1 | raw | .2f", "0.13"),  # halves up, as in tables for readers
        ("t | m, b | F1 | raw | .1%", "12.5%"),
        ("t | m | F1 | raw | .0f", "-3"),
        ("t | m | F1 | raw | -.1f", "2.5"),  # a change as a loss
    ],
)
def test_a_reference_is_filled_in_with_its_cell(found, reference, told):
    (made,) = found(row(f"It is {{{reference}}}."))
    assert made.finding == f"It is {told}." and made.rests == "r -2.5" and not made.lacks
    assert made.cells[0] == tuple(reference.split(" | ")[:4]) and made.claims == ("c-1", "c-2")


@pytest.mark.parametrize("cell", ["t | m | gap | raw", "t | n | F1 | raw", "u | m | F1 | raw"])
def test_a_cell_that_the_folder_lacks_is_told_and_named(found, cell):
    (made,) = found(row(f"It is {{{cell}}}."))
    assert made.finding == "It is …." and made.lacks == (tuple(cell.split(" | ")),)


def test_findings_come_by_rank_and_a_study_may_have_none(found):
    words = WORDS + WORDS.replace("[a]", "[b]")
    made = found(row(id="b", rank="2"), row(), words=words)
    assert [(f.id, f.rank) for f in made] == [("a", 1), ("b", 2)]
    assert findings.load("another") == []


@pytest.mark.parametrize(
    "rows, words, match",
    [
        ([row("{t | m | F1 | run}")], WORDS, "line 2: unknown source of a finding's number 'run'"),
        ([row("{t | m | F1 | raw | .0q}")], WORDS, "line 2: .* is no format"),
        ([row(of="own")], WORDS, "unknown source of a finding 'own'"),
        ([row(claimed="c-1 c-9")], WORDS, "unknown claim 'c-9'"),
        ([row(output="")], WORDS, "column output: is empty"),
        ([row(), row(rank="2")], WORDS, "line 3, column id: 'a' occurs twice"),
        ([row(), row(id="b")], WORDS, "line 3, column rank: '1' occurs twice"),
        ([row()], WORDS.replace('against = "x"\n', ""), "must be rests, against, changes"),
        ([row()], WORDS + WORDS.replace("[a]", "[b]"), "has words for 'b', which is no finding"),
    ],
)
def test_a_slip_names_its_line(found, rows, words, match):
    with pytest.raises(BedsideError, match=match):
        found(*rows, words=words)
