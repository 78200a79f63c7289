"""Claims are data: a row says what, readings say whether; a verdict follows from all of them."""

import pytest

from bedside import BedsideError
from bedside.read import claims, paths, published
from bedside.read.claims import Claim, between, every, near, reading

HEAD = "id,of,section,weight,claim,published,needs,depends,tried,repair,ask"  # without kind
READINGS = "id,reading,support,tests,needs"  # as files of earlier versions have them
REPLIES = "id,date,by,reply"
PRINTED = (
    "table,row,column,value,low,high,note\nTable 1,a model,PCR,27.2,,,\nTable 1,b,p,0.00002,,,\n"
)
WORDS = ",,,,"  # depends, tried, repair, ask
CACHED = (claims.load, claims.listed, claims.replies, claims.statements, published.load)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """A function that writes the rows of a paper's claims and readings, and reads the claims."""
    for name in ("CLAIMS", "READINGS", "REPLIES", "STATEMENTS", "PUBLISHED"):
        monkeypatch.setattr(paths, name, tmp_path / name)
        (tmp_path / name).mkdir()
    (tmp_path / "PUBLISHED/p.csv").write_text(PRINTED)

    def write(*rows, head=HEAD, readings=(), replies=()):
        for name, lines in (
            ("CLAIMS", [head, *rows]),
            ("READINGS", [READINGS, *readings]),
            ("REPLIES", [REPLIES, *replies]),
        ):
            (tmp_path / name / "p.csv").write_text("\n".join(lines) + "\n")
        for cached in CACHED:
            cached.cache_clear()
        return claims.load("p")

    yield write
    for cached in CACHED:
        cached.cache_clear()


def test_a_reference_is_filled_in(ledger):
    found = ledger(
        "a,paper,4.3,central,A rate,{Table 1 | a model | PCR}%,data,the data,tried,repair,ask?",
        "b,paper,4.3,detail,A p,p = {Table 1 | b | p} against {Table 1|a model|PCR|.0f}," + WORDS,
        "c,own,4,detail,A count,585," + WORDS,
        "d,data,4,detail,A word,balanced," + WORDS,
    )
    words = ("data", "the data", "tried", "repair", "ask?")
    assert found["a"] == Claim(
        "a", "paper", "claim", "4.3", "central", "A rate", "27.2%", *words, 27.2
    )
    assert found["c"].kind == "finding"  # a question of our own, in a file without the column
    assert found["b"].published == "p = 2e-05 against 27"
    assert [found[i].value for i in "bcd"] == [0.00002, 585.0, None]


@pytest.mark.parametrize(
    "row, match",
    [
        ("a,author,1,central,x,1,,,,,", "text of a claim 'author'"),
        ("a,paper,1,middling,x,1,,,,,", "weight of a claim 'middling'"),
        ("a,paper,1,central,x", "a field is missing"),
        ("a,paper,1,central,x,1,,,,,,more", "too many"),
        (",paper,1,central,x,1,,,,,", "a field is missing: id"),
        ("a,paper,1,central,x,{Table 9 | a model | PCR},,,,,", "has no table 'Table 9'"),
        ("a,paper,1,central,x,{Table 1 | c | PCR},,,,,", "has no 'c', 'PCR'"),
        ("a,paper,1,central,x,1,,,,,\na,paper,1,central,y,1,,,,,", "claim 'a' occurs twice"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(ledger, row, match):
    with pytest.raises(BedsideError, match="p.csv, line .*" + match):
        ledger(row)


def test_other_columns_are_an_error(ledger):
    with pytest.raises(BedsideError, match="columns are"):
        ledger("a,1", head="id,claim")


A = "a,paper,1,central,x,1,data" + WORDS


@pytest.mark.parametrize(
    "row, match",
    [
        ("b,one,2.1,,", "unknown claim 'b'"),
        ("a,,2.1,,", "a field is missing: reading"),
        ("a,one,,,", "a field is missing: support"),
        ("a,one,2.1,some,", "'some' is not a whole number"),
        ("a,one,2.1,,\na,one,2.2,,", "lists 'one' twice"),
    ],
)
def test_a_bad_reading_is_named_by_file_and_line(ledger, row, match):
    ledger(A, readings=[row])
    with pytest.raises(BedsideError, match="READINGS/p.csv, line .*" + match):
        claims.listed("p")


@pytest.mark.parametrize(
    "row, match",
    [
        ("b,2026-11-23,A. Author,Thanks.", "unknown claim 'b'"),
        ("a,23 November,A. Author,Thanks.", "not a date such as 2026-11-23"),
        ("a,2026-11-23,A. Author,", "a field is missing: reply"),
        ("a,2026-11-23,A. Author", "a field is missing, or"),
    ],
)
def test_a_bad_reply_is_named_by_file_and_line(ledger, row, match):
    ledger(A, replies=[row])
    with pytest.raises(BedsideError, match="REPLIES/p.csv, line .*" + match):
        claims.replies("p")


@pytest.mark.parametrize(
    "row, match",
    [
        ("s1,paper,1,finding,It rains.,b,,", "unknown claim 'b'"),
        ("s1,paper,1,finding,It rains.,,,", "give either claims or why"),
        ("s1,paper,1,finding,It rains.,a,,no number", "give either claims or why"),
        ("s1,author,1,finding,It rains.,a,,", "text of a statement 'author'"),
        ("s1,paper,1,finding,It rains.,a,weather,", "unknown predicate 'weather'"),
        ("s1,paper,1,finding,It rains.,a,sign+size order,", "a predicate for each claim"),
    ],
)
def test_a_bad_statement_is_named_by_file_and_line(ledger, row, match):
    ledger(A)
    (paths.STATEMENTS / "p.csv").write_text(f"{','.join(claims.STATEMENT)}\n{row}\n")
    with pytest.raises(BedsideError, match="STATEMENTS/p.csv, line .*" + match):
        claims.statements("p")


def test_replies_are_kept_by_claim(ledger):
    ledger(A, replies=["a,2026-11-23,A. Author,First.", 'a,2026-11-24,B,"Second, too."'])
    assert [r["reply"] for r in claims.replies("p")["a"]] == ["First.", "Second, too."]


def decided(holds, needs="", depends="", tests=None, kind="claim"):
    """A claim, and its rows of readings."""
    claim = Claim("a", "paper", kind, "1", "detail", "x", "1", needs, depends, "", "", "", 1.0)
    tests = tests or [0] * len(holds)
    rows = [
        {"reading": str(n), "holds": h, "computed": needs if h == "missing" else "1", "tests": t}
        for n, (h, t) in enumerate(zip(holds, tests, strict=True))
    ]
    return claim, rows


def verdict(*said, **more):
    return claims.verdict(*decided(*said, **more))


@pytest.mark.parametrize(
    "holds, expected",
    [
        (["yes"], "holds"),
        (["yes", "yes"], "holds"),
        (["no", "no"], "differs"),
        (["yes", "no"], "depends on the average"),
        (["yes", "no", "open"], "depends on the average"),
        (["yes", "no", "missing"], "depends on the average; a further reading needs data"),
        (["yes", "open"], "undetermined"),
        (["no", "open"], "undetermined"),
        (["open"], "undetermined"),
        (["missing"], "needs data"),
        (["yes", "missing"], "needs data"),
        (["no", "missing"], "needs data"),  # a plausible reading without data saves a claim
        (["open", "no", "missing"], "needs data"),
    ],
)
def test_a_verdict_follows_from_the_readings(holds, expected):
    assert verdict(holds, "data", "the average") == expected


def test_what_the_study_never_measured_is_no_missing_file():
    told = "not measured in the study: overlaps of chosen lists"
    assert verdict(["missing"], told) == verdict(["no", "missing"], told) == told
    assert claims.word(told) == "not measured"


def test_a_finding_is_found_or_not():
    assert verdict(["yes", "yes"], kind="finding") == "found"
    assert verdict(["no"], kind="finding") == "not found"
    assert verdict(["no"], kind="consistency") == "differs"
    words = (*claims.VERDICTS, *claims.FOUND.values())
    assert [claims.word(f"{w} and more") for w in words] == list(words)


@pytest.mark.parametrize(
    "holds, saved",
    [
        (["no", "yes", "no"], "1"),
        (["no", "open"], "1"),
        (["missing", "no"], "0"),
        (["no", "yes", "open"], ""),
        (["yes", "yes"], ""),
        (["yes"], ""),  # without it there would be no reading at all
        (["no", "no"], ""),
    ],
)
def test_the_one_reading_that_keeps_a_claim_from_differing_is_named(holds, saved):
    assert claims.saved_by(*decided(holds, "data")) == saved
    assert claims.saved_by(*decided(holds, "data", tests=[1] * len(holds))) == ""
    assert claims.saved_by(*decided(holds, "data", kind="finding")) == saved


def test_a_claim_differs_by_no_test_of_significance_alone():
    assert verdict(["no"], tests=[1]) == verdict(["no", "no"], tests=[3, 1]) == "undetermined"
    assert verdict(["no", "no"], tests=[3, 0]) == "differs"


def test_a_claim_is_decided_or_says_what_it_needs():
    with pytest.raises(BedsideError, match="does not say which data it needs"):
        verdict(["missing"])


def test_a_listed_reading_that_is_not_given_lacks_data(ledger):
    ledger(A, readings=["a,one,2.1,,", "a,two,2.2,4,their lists", "a,three,convention,,"])
    said, rows = claims.judged("p", "a", reading(0.5, False, 0.4, 0.6, name="one"))
    assert said == "needs their lists"
    assert [(r["reading"], r["computed"], r["low"], r["holds"]) for r in rows] == [
        ("one", 0.5, 0.4, "no"),
        ("two", "their lists", None, "missing"),
        ("three", "data", None, "missing"),
    ]
    assert [r["tests"] for r in rows] == [0, 4, 0] and rows[0]["support"] == "2.1"


def test_a_reading_that_is_not_listed_is_an_error(ledger):
    ledger(A, readings=["a,one,2.1,,"])
    for given in (reading(1, True), reading(1, True, name="two")):
        with pytest.raises(BedsideError, match="reading of a"):
            claims.judged("p", "a", given)


def test_a_claim_that_lists_none_has_one_as_written(ledger):
    ledger(A)
    assert claims.judged("p", "a", {})[0] == "needs data"
    said, (row,) = claims.judged("p", "a", reading(1, True))
    assert said == "holds" and row["reading"] == claims.AS_WRITTEN and row["support"]
    with pytest.raises(BedsideError, match="reading of a"):
        claims.judged("p", "a", reading(1, True, name="one"))


def test_numpys_booleans_are_no_trap(ledger):
    import numpy as np

    ledger(A)
    assert claims.judged("p", "a", reading("1", np.bool_(True)))[0] == "holds"
    assert claims.judged("p", "a", reading("1", np.bool_(False)))[0] == "differs"


def test_an_interval_decides_or_leaves_open():
    assert between(0.685, 0.695, least=0.68) is True
    assert between(0.685, 0.695, most=0.68) is False
    assert between(0.685, 0.695, least=0.69) is None
    assert near([0.70, 0.72], 0.005, least=0.69) is True
    assert near([0.70, 0.69], 0.005, least=0.69) is None
    assert near([0.69, 0.68], 0.005, least=0.69) is False
    assert between(0.1 + 0.2, 0.3, 0.3, 0.3) is True  # what a float can't say is no difference


def test_several_hold_only_together():
    assert every([True, True]) is True
    assert every([True, None]) is None
    assert every([True, None, False]) is False


def test_claims_of_papers_are_counted_apart_from_ours():
    made = [
        {"of": of, "kind": kind, "weight": weight, "verdict": verdict}
        for of, kind, weight, verdict in (
            ("paper", "claim", "central", "holds"),
            ("paper", "claim", "detail", "needs the raw ratings"),
            ("own", "consistency", "detail", "differs"),
            ("own", "finding", "central", "not found"),
            ("own", "finding", "central", "found"),
            ("summary", "consistency", "central", "depends on the test"),
        )
    ]
    counts = claims.tally(made)
    assert list(counts) == ["central", "detail", "consistency", "summary", "data", "finding"]
    assert counts["central"]["holds"] == counts["detail"]["needs"] == 1
    assert counts["consistency"]["differs"] == counts["summary"]["depends"] == 1
    assert counts["finding"]["differs"] == counts["finding"]["holds"] == 1
    assert sum(counts["central"].values()) == 1 and not any(counts["data"].values())
