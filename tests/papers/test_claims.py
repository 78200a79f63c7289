"""Verdicts hold for all numbers that round to the printed ones; findings rest on what is there."""

import csv

import numpy as np
import pandas as pd
import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from bedside.papers.cancer_myth.v2 import claims as mitigations
from bedside.papers.meddialbench import claims as meddialbench
from bedside.papers.meddialbench import printed
from bedside.papers.medhalu import claims as medhalu
from bedside.papers.radiation import claims as radiation
from bedside.papers.radiation.printed import printed_tables
from bedside.read import claims, findings, paths
from bedside.stats.rounded import Rounded, exact

PUBLIC, SAMPLE = paths.FIGURES / "public", paths.FIGURES / "sample"
PAPERS = sorted(paths.papers())
KINDS = ("one", "ends")
PRINTED = "pcr pcs pcr2 newer_pcr newer_pcs cross rated uncured cured rate_in_text"
STUDIES = {  # names that are drawn, and functions whose results are
    "cancer_myth": (cancer_myth, "03_evaluation", PRINTED, ""),
    "radiation": (radiation, "02_free_form", "", ""),
    "medhalu": (medhalu, "02_detection", "T6 T7 T8 T10", "rounded"),
    # Tables 3 and 4 are compared with Table 9 as printed
    "meddialbench": (meddialbench, "02_baseline", "T2 T6", "rounded said"),
}
FITS = dict.fromkeys(  # what takes long to find is tested in test_medhalu_printed
    "one_matrix one_of_a_sample any_share some_left_out mean_of_three types_apart".split(),
    lambda *scores: pd.Series([True]),
) | {"accepted": lambda *scores: exact(pd.Series([0.5]))}
APART = (".value", "possible(", "prints(", *FITS)  # in tests about print, or what it allows


def drawn(printed, rng, kind):
    """Exact numbers that round to the printed ones, by name: one off, or all at ends."""
    share = {k: rng.integers(0, 2, np.shape(x.value)) for k, x in printed.items()}
    made = {k: x.low + share[k] * 0.999 * (x.high - x.low) for k, x in printed.items()}
    if kind == "one":
        odd, off = rng.choice([*printed]), made
        made = {k: x.value for k, x in printed.items()}
        which = np.zeros(np.size(made[odd]))
        which[rng.integers(len(which))] = 1
        made[odd] += (off[odd] - made[odd]) * which.reshape(np.shape(made[odd]))
    return {k: exact(x) for k, x in made.items()}


@pytest.mark.parametrize("study", STUDIES)
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(study, run_of):
    room, notebook, rounded, functions = STUDIES[study]
    run, rng, written = run_of(study, notebook), np.random.default_rng(0), claims.load(study)
    names = room.names(run) | (FITS if study == "medhalu" else {})
    rows = pd.read_csv(SAMPLE / "readings.csv").query("holds in ('yes', 'no')")
    rows = rows[rows["id"].isin(written)]
    said = {(r.id, r.reading): r.holds == "yes" for r in rows.itertuples()}
    assert len(said) > 30
    for kind in KINDS if study != "medhalu" else KINDS[1:]:

        def within(name, kind=kind):
            return lambda *at: drawn({name: names[name](*at)}, rng, kind)[name]

        other = {name: within(name) for name in functions.split()}
        if study == "radiation":
            other |= room.of_tables(drawn(printed_tables(run), rng, kind), pd.Series([20, 30]))
        else:
            other |= drawn({name: names[name] for name in rounded.split()}, rng, kind)
        now = claims.decided(study, names | other)
        for (id, name), holds in said.items():
            test = claims.ways(written[id])[name].test
            if not any(word in test for word in APART):
                assert now[id][name][3] is holds, (id, name)


def test_each_count_is_the_only_one_that_rounds_to_its_percentage():
    assert all(len(found) == 1 for found in printed.fits().values())


def test_a_whole_number_rounds_to_the_ends_of_a_printed_range():
    """By half a point, and no more; what lies between two ends may be a number, or may not."""
    for holds, x in ((True, 5.4), (False, 5.6)):
        x = exact(pd.Series([x]))
        assert mitigations.within(x, 1, 5).holds is mitigations.spans(x, 5, 5).holds is holds
    for holds, ends in ((False, (1, 1, 1.5)), (None, (1, 1, 2)), (True, (2, 2, 2))):
        assert cancer_myth.equals(Rounded(*ends), 2).holds is holds


# ---- findings


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
            assert word != "differs" or claims.load(paper)[claim].kind != "claim"
            if word in ("depends", "undetermined", "needs", "not measured"):
                assert word.removesuffix("s") in finding.against, (finding.id, word)
    there = findings.load(paper, SAMPLE)
    assert sum(not f.lacks for f in there) >= 3
    for f in there:  # what the sample can tell is the same there
        assert (f.lacks or f == found[f.id]) and set(f.lacks) <= set(found[f.id].cells)
    for file, folder in (("tables", PUBLIC), ("this_run", SAMPLE)):  # sentences on a table
        written = paths.toml(paths.FINDINGS / f"{file}.toml")[paper]
        assert findings.sentences(paper, folder, file).keys() == written.keys()
        assert all((folder / paper / f"{output}.md").is_file() for output in written)
