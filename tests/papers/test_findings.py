"""Findings of the papers rest on claims and tables that are there."""

import csv

import pytest

from bedside.read import claims, findings, paths

PUBLIC, SAMPLE = paths.FIGURES / "public", paths.FIGURES / "sample"
PAPERS = sorted(paths.papers())


def test_the_front_page_begins_with_findings_of_all_studies():
    first = findings.foremost()
    whose = {f.id: paper for paper in PAPERS for f in findings.load(paper, PUBLIC)}
    assert len({*first}) == len(first) and {whose[id] for id in first} == {*PAPERS}


@pytest.mark.parametrize("paper", PAPERS)
def test_findings_rest_on_tables_of_both_profiles_and_on_no_claim_that_differs(paper):
    with open(PUBLIC / "claims.csv", newline="", encoding="utf-8") as f:
        verdicts = {r["id"]: claims.word(r["verdict"]) for r in csv.DictReader(f)}
    found = {f.id: f for f in findings.load(paper, PUBLIC)}
    for finding in found.values():
        assert not finding.lacks and finding.output in {cell[0] for cell in finding.cells}
        assert (PUBLIC / paper / f"{finding.output}.md").is_file()
        for claim in finding.claims:
            word = verdicts[claim]
            assert word != "not found"
            assert word != "differs" or claims.load(paper)[claim].kind != "claim"
            if word in ("depends", "undetermined", "needs", "not measured"):
                assert word.removesuffix("s") in finding.against, (finding.id, word)
    there = findings.load(paper, SAMPLE)
    assert sum(not f.lacks for f in there) >= 3
    for f in there:  # what the sample can tell is the same there
        assert (f.lacks or f == found[f.id]) and set(f.lacks) <= set(found[f.id].cells)


@pytest.mark.parametrize("file, folder", [("tables", PUBLIC), ("this_run", SAMPLE)])
def test_each_sentence_on_a_table_finds_its_table_and_its_numbers(file, folder):
    for paper, written in paths.toml(paths.FINDINGS / f"{file}.toml").items():
        assert findings.sentences(paper, folder, file).keys() == written.keys()
        assert all((folder / paper / f"{output}.md").is_file() for output in written)
