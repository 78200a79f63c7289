"""Claims and findings are data: what a verdict follows from, and what a slip in a file says."""

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.read import claims, findings, paths, published
from bedside.read.claims import AS_WRITTEN, Claim

HEADS = {
    "CLAIMS/p.toml": "",
    "FINDINGS/p.toml": "",
    "PUBLISHED/p.csv": "table,row,column,value,low,high,note\nTable 1,a model,PCR,27.2,,,\n"
    "Table 1,b,p,0.00002,,,",
    "p/t.csv": 'row,column,source,value,low,high,n,unscored\n"m, b",F1,raw,0.125,,,,\n'
    "m,F1,raw,-2.5,,,,\nm,F1,run,9,,,,\nm,gap,raw,,1,2,,",
}
CLAIM = """[a]
claim = "A rate"
section = "4.3"
weight = "central"
published = "27.2"
needs = "data"
depends = "the average"
"""
FINDING = """[f]
rank = 1
finding = "All hold."
of = "found"
claims = ["a"]
output = "t"
rests = "r {t | m | F1 | raw}"
against = "x"
changes = "y"
"""
CACHED = (claims._read, published.load)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a study's files, each with its head, and more rows in some; read one of them."""
    for name in ("CLAIMS", "FINDINGS", "PUBLISHED"):
        monkeypatch.setattr(paths, name, tmp_path / name)

    def write(read, **rows):
        more = {"CLAIMS": [CLAIM], **rows}
        for name, head in HEADS.items():
            lines = more.get(name.partition("/")[0], [])
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("\n".join([head, *lines]) + "\n")
        for cached in CACHED:
            cached.cache_clear()
        return findings.load("p", tmp_path) if read == "findings" else getattr(claims, read)("p")

    yield write
    for cached in CACHED:
        cached.cache_clear()


def test_printed_numbers_and_cells_are_filled_in(written):
    found = written(
        "load",
        CLAIMS=[
            CLAIM.replace("27.2", "{Table 1 | a model | PCR}%"),
            CLAIM.replace("[a]", "[b]").replace(
                "27.2", "p = {Table 1 | b | p} against {Table 1|a model|PCR|.0f}"
            ),
            CLAIM.replace("[a]", '[c]\nof = "own"').replace("27.2", "balanced"),
        ],
    )
    claim = found["a"]
    assert (claim.id, claim.of, claim.kind, claim.claim) == ("a", "paper", "claim", "A rate")
    assert (claim.published, claim.value, claim.depends) == ("27.2%", 27.2, "the average")
    assert (found["b"].published, found["b"].value) == ("p = 2e-05 against 27", 0.00002)
    assert found["c"].kind == "finding" and found["c"].value is None
    for cell, told in (
        ("t | m, b | F1 | raw", "0.125"),
        ("t | m, b | F1 | raw | .2f", "0.13"),  # halves up, as in tables for readers
        ("t | m, b | F1 | raw | .1%", "12.5%"),
        ("t | m | F1 | raw | .0f", "-3"),
        ("t | m | F1 | raw | -.1f", "2.5"),  # a change as a loss
        ("t | m | gap | raw.high", "2"),  # an end of an interval
        ("t | m | gap | raw", "…"),  # cells that the folder lacks
        ("u | m | F1 | raw", "…"),
    ):
        (made,) = written("findings", FINDINGS=[FINDING.replace("All hold", f"It is {{{cell}}}")])
        assert made.finding == f"It is {told}." and made.rests == "r -2.5"
        place = tuple(cell.split(" | ")[:4])
        assert made.cells[0] == place and made.lacks == ([place] if told == "…" else [])


@pytest.mark.parametrize(
    "read, name, row, told",
    [
        ("load", "CLAIMS", CLAIM + 'of = "author"', "a: Invalid enum value 'author'"),
        ("load", "CLAIMS", CLAIM.replace("central", "middling"), "'middling' - at `\\$.weight`"),
        ("load", "CLAIMS", CLAIM.replace("section", "sectoin"), "unknown field `sectoin`"),
        ("load", "CLAIMS", CLAIM.replace('section = "4.3"', ""), "missing required field"),
        ("load", "CLAIMS", CLAIM.replace('"A rate"', '""'), "length >= 1"),
        ("load", "CLAIMS", CLAIM.replace("27.2", "{Table 9 | a | b}"), "'Table 9'"),
        ("load", "CLAIMS", CLAIM.replace("27.2", "{Table 1 | c | PCR}"), "no 'c', 'PCR'"),
        ("load", "CLAIMS", CLAIM + CLAIM, "twice"),
        ("load", "CLAIMS", 'a = "x"', "is a table"),
        ("load", "CLAIMS", CLAIM + '[a.one]\ntest = "1 == 1"', "a: .*`support`"),
        ("load", "CLAIMS", CLAIM + '[a.one]\nsupport = "2"\nsignificance = "some"', "a: .*int"),
        ("load", "CLAIMS", CLAIM + '[a.one]\nsupport = "2"\nread = "x"', "field `read`"),
        ("findings", "FINDINGS", FINDING.replace(" | raw", ""), "f: .*a reference is output"),
        ("findings", "FINDINGS", FINDING.replace("raw", "run"), "f: .*number 'run'"),
        ("findings", "FINDINGS", FINDING.replace("raw", "raw | .0q"), "f: .*isn't a format"),
        ("findings", "FINDINGS", FINDING.replace('"a"', '"c-9"'), "f: unknown claim 'c-9'"),
        ("findings", "FINDINGS", FINDING.replace('"t"', '""'), "f: .*in output"),
        (
            "findings",
            "FINDINGS",
            FINDING + FINDING.replace("[f]", "[g]"),
            "g: rank 1 is already used by f",
        ),
        ("findings", "FINDINGS", FINDING.replace("= 1", "= 6"), "f: .*<= 5, in rank"),
    ],
)
def test_a_slip_in_a_file_is_told_by_file_and_line(written, read, name, row, told):
    with pytest.raises(BedsideError, match=told) as error:
        written(read, **{name: [row]})
    assert "p.csv" in str(error.value) or "p.toml" in str(error.value)


def verdict(holds, tests=(), kind="claim", needs="data", **more):
    about = more | {
        "section": "1",
        "weight": "detail",
        "claim": "x",
        "published": "1",
        "depends": "it",
    }
    claim = Claim(id="a", kind=kind, needs=needs, value=1.0, **about)
    rows = [
        {"reading": str(n), "holds": h, "computed": needs if h == "missing" else "1", "tests": t}
        for n, (h, t) in enumerate(zip(holds.split(), tests or [0] * 9))
    ]
    return claims.verdict(claim, rows), claims.saved_by(claim, rows)


@pytest.mark.parametrize(
    "holds, expected, saved",
    [
        ("yes", "holds", ""),  # without it there would be no reading at all
        ("yes yes", "holds", ""),
        ("no no", "differs", ""),
        ("yes no", "depends on it", "0"),
        ("no yes no", "depends on it", "1"),
        ("no yes open", "depends on it", ""),
        ("yes no missing", "depends on it; a further reading needs data", ""),
        ("yes open", "undetermined", ""),
        ("no open", "undetermined", "1"),
        ("open", "undetermined", ""),
        ("missing", "needs data", ""),
        ("yes missing", "needs data", ""),
        ("missing no", "needs data", "0"),  # a plausible reading without data saves a claim
        ("open no missing", "needs data", ""),
    ],
)
def test_a_verdict_follows_from_all_readings(holds, expected, saved):
    assert verdict(holds) == (expected, saved)
    assert verdict(holds, tests=[1] * 9)[1] == ""


def test_kinds_of_claims_have_verdicts_of_their_own():
    assert verdict("yes yes", kind="finding")[0] == "found"
    assert verdict("no", kind="finding")[0] == "not found"
    assert verdict("no", kind="consistency")[0] == "differs"
    told = "not measured in the study: overlaps of chosen lists"
    assert verdict("no missing", needs=told)[0] == told and claims.word(told) == "not measured"
    # by no test of significance alone
    assert verdict("no", [1])[0] == verdict("no no", [3, 1])[0] == "undetermined"
    assert verdict("no no", [3, 0])[0] == "differs"
    with pytest.raises(BedsideError, match="names no data"):
        verdict("missing", needs="")
    counts = claims.tally(
        {"of": of, "kind": kind, "weight": weight, "verdict": verdict}
        for of, kind, weight, verdict in (
            ("paper", "claim", "central", "holds"),
            ("paper", "claim", "detail", "needs the raw ratings"),
            ("own", "consistency", "detail", "differs"),
            ("own", "finding", "central", "not found"),
            ("own", "finding", "central", "found"),
            ("summary", "consistency", "central", "depends on the test"),
        )
    )
    told = {name: {k: n for k, n in of.items() if n} for name, of in counts.items()}
    assert told == {
        "central": {"holds": 1},
        "detail": {"needs": 1},
        "consistency": {"differs": 1},
        "summary": {"depends": 1},
        "data": {},
        "finding": {"holds": 1, "differs": 1},
    }


def test_an_adjective_that_the_paper_does_not_bound_confirms_nothing_about_size():
    assert verdict("yes yes", unbounded="low")[0] == "no bound for “low”"
    assert verdict("yes no", unbounded="low")[0] == "depends on it"  # the sign is judged as ever
    assert verdict("no", unbounded="low")[0] == "differs"
    assert claims.word("no bound for “low”") == "no bound"


def test_pages_tell_a_verdict_in_plain_words():
    told = {
        "holds": "confirmed",
        "depends on the reading": "depends on interpretation",
        "depends on the score": "depends on the score",
        "undetermined": "open",
        "differs": "contradicted",
        "needs the ratings": "needs the ratings",
        "not measured in the study: x": "not measured in the study: x",
        "no bound for “low”": "no threshold given for “low”",
        "found": "found",
    }
    assert {verdict: claims.on_page(verdict) for verdict in told} == told


def test_each_claim_has_a_row_of_quantity_scope_and_bound_in_the_order_of_its_file():
    rows = pd.read_csv(paths.CLAIMS / "scope.csv", keep_default_na=False)
    known = {id: c for paper in paths.papers() for id, c in claims.load(paper).items()}
    assert [*rows["id"]] == [*known]
    apart = [c.of != "paper" or c.kind != "claim" for c in known.values()]
    assert ((rows["scope"] == "-") == apart).all()
    scopes = {"each", "most", "some", "some of each", "mean", "mean or most", "printed"}
    assert {*rows["scope"]} == scopes | {"significance", "-"}


def test_readings_are_those_that_are_listed_and_one_that_is_not_given_lacks_data(written):
    ways = ['one = {support = "2.1"}', 'three = {support = "convention"}']
    ways.insert(1, 'two = {support = "2.2", significance = 4, needs = "their lists"}')
    written("load", CLAIMS=[CLAIM, *ways])
    said, rows = claims.judged("p", "a", {"one": (0.5, 0.4, 0.6, False)})
    assert said == "needs their lists"
    assert [(r["reading"], r["computed"], r["low"], r["holds"], r["tests"]) for r in rows] == [
        ("one", 0.5, 0.4, "no", 0),
        ("two", "their lists", None, "missing", 4),
        ("three", "data", None, "missing", 0),
    ]
    for name in (AS_WRITTEN, "four"):
        with pytest.raises(BedsideError, match="reading of a"):
            claims.judged("p", "a", {name: (1, None, None, True)})
    written("load")  # a claim that lists none has one as written
    assert claims.judged("p", "a", {})[0] == "needs data"
    assert claims.judged("p", "a", {AS_WRITTEN: ("1", None, None, True)})[0] == "holds"
    with pytest.raises(BedsideError, match="reading of a"):
        claims.judged("p", "a", {"one": (1, None, None, True)})


TESTS = [
    '[define]\nhalf = "n / 2"\n',
    CLAIM + 'notebook = "01"\ntest = "n == 4"\n',
    CLAIM.replace("[a]", "[b]") + 'notebook = "01"\n[b.whole]\nsupport = "1"\ntest = "half > 1"\n'
    '[b.part]\nsupport = "2"\ntest = "other > 1"\n[b.none]\nsupport = "3"\n',
    CLAIM.replace("[a]", "[c]") + 'notebook = "02"\ntest = "half < 1"\ndata = "other"\n',
]


def test_a_claim_is_decided_by_its_tests_as_far_as_the_data_go(written):
    written("load", CLAIMS=TESTS)
    found = claims.decided("p", {"n": 4, "other": None})
    held = {(id, k): w[3] for id, ways in found.items() for k, w in ways.items()}
    assert held == {("a", claims.AS_WRITTEN): True, ("b", "whole"): True} and found["c"] == {}
    assert claims.decided("p", {"n": 4, "other": 3}, "02")["c"][claims.AS_WRITTEN][3] is False
    with pytest.raises(BedsideError, match="p.toml, b, part: unknown name 'other'"):
        claims.decided("p", {"n": 4})
    with pytest.raises(BedsideError, match="p.toml, define: unknown name 'n'"):
        claims.decided("p", {"other": 3})
