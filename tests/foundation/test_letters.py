"""The letters to authors: what they say of which verdict, that text stays text, and are current."""

import json
import re

import pytest

from bedside import BedsideError
from bedside.build import settings
from bedside.publish import letters
from bedside.read import claims, paths, published

HOSTILE = "<script>alert(1)</script> **bold** [link](javascript:alert(1)) | a\nb"
ABOUT = {"title": "A study", "authors": "A, B"}
OLD = (("a", "paper"), ("b", "own"))


def made(id, holds, of="paper", weight="central", **words):
    """A claim as the manifest has it, with readings that say so."""
    claim = claims.Claim(
        id, of, "claim", "4.1", weight, f"Claim {id}", "27.2", "", "", "", "", "", 27.2
    )
    claim = claim._replace(**words)
    rows = [
        {
            "id": id,
            "reading": f"way {i}",
            "support": "2.1",
            "computed": f"{id}{i}",
            "low": None,
            "high": None,
            "holds": h,
            "tests": 0,
        }
        for i, h in enumerate(holds)
    ]
    fields = {k: v for k, v in claim._asdict().items() if k != "value"}
    verdict = claims.verdict(claim, rows)
    return {**fields, "computed": "1", "basis": "raw", "verdict": verdict, "readings": rows}


@pytest.fixture
def ledger(monkeypatch):
    monkeypatch.setattr(claims, "replies", lambda paper: {})


def parts(text):
    """A letter's sections by their headings."""
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def body(text):
    """A letter without its annex."""
    return text.partition("\n# Annex")[0]


def test_each_verdict_has_its_place(ledger):
    text = letters.letter(
        "p",
        ABOUT,
        [
            made("a", ["yes"]),
            made("b", ["yes", "no"], depends="the average"),
            made("c", ["no"], tried="All averages.", repair="Print 27."),
            made("d", ["missing"], ask="Which lists?"),
            made("e", ["yes"], of="own", kind="finding"),
            made("f", ["yes", "no"], weight="detail", depends="the list", ask="Which list?"),
            made("g", ["no"], weight="detail", tried="All."),
            made("h", ["no"], of="own", kind="consistency", weight="detail", ask="Same run?"),
            made("i", ["no"], of="summary", ask="Is it so in your text?"),
        ],
    )
    assert "1 of your 4 central claims and 0 of 2 details hold" in body(text)
    found, annex = parts(body(text)), text.partition("\n# Annex")[2]
    assert list(found) == [
        "Printed numbers that do not fit together",
        "Central claims that differ in every reading that we found",
        "Central claims that depend on the reading",
        "The rest, in the annex",
        "What only you can settle",
        "Your answer",
    ]
    unfit, differs, reading, rest, questions, _ = found.values()
    assert "Claim h** (4.1, [h](#h)): no. 1. Same run?" in unfit.replace("section ", "")
    assert "Claim c** (section 4.1, [c](#c)). Published: 27.2; computed: 1." in differs
    assert "A likely correction: Print 27." in differs and "Claim g" not in differs
    assert "Claim b** (section 4.1, [b](#b)) depends on the average." in reading
    assert "Against it: way 1: b1." in reading
    assert "Details that differ: 1 ([g](#g)); that depend on the reading: 1 ([f](#f))" in rest
    assert "that need data: 1 ([d](#d))" in rest and "Our own findings on it: Claim e" in rest
    # one question on a central claim; the others stand in the annex, where they were asked above
    assert "1. Which lists? ([d](#d))" in questions and "2. " not in questions
    assert "beside them in the annex: 1 ([f](#f))" in questions
    assert "Our question: Which list?" in annex and annex.count("Our question") == 1
    assert "Is it so" not in text  # a third party's text isn't theirs
    for id in "abcdefghi":
        assert f"\n### {id}\n" in annex and f'<h3 id="{id}">' in letters._html("A study", text)
    assert "Claim e" in parts(annex)["Our own questions, which are not claims of your paper"]


def test_a_claim_of_an_earlier_version_has_its_place_too(ledger):
    fields = ("kind", "saved_by", "if_slip")
    old = [{k: v for k, v in made(id, ["no"], of).items() if k not in fields} for id, of in OLD]
    text = letters.letter("p", ABOUT, old)
    assert "Claim a**" in parts(text)["Central claims that differ in every reading that we found"]
    assert "did not find: Claim b ([b](#b))" in text


def test_a_likely_slip_leads_and_leaves_the_verdicts(ledger, monkeypatch):
    place = ("radiation", "Table 7", "O4-Mini", "Rare")
    slip = published.Slip(*place, "0.80", "A sum fits.", "It has an interval.")
    monkeypatch.setattr(published, "slips", lambda paper: [slip])
    note = {"slip": str(slip), "verdict": "holds", "reading": "way 0", "computed": "6 of 7"}
    text = letters.letter(
        "p", ABOUT, [made("a", ["no"], ask="A slip?") | {"if_slip": [note]}, made("b", ["yes"])]
    )
    assert text.index("## Likely slips") < text.index("## Central claims that differ")
    told = "Perhaps 0.48 in Table 7 (O4-Mini, Rare) is a slip for 0.80.** A sum fits. It has an"
    assert told in parts(text)["Likely slips"]
    assert "the verdict on “Claim a” ([a](#a)) is: holds (6 of 7)." in parts(text)["Likely slips"]
    assert "Claim a**" in parts(text)["Central claims that differ in every reading that we found"]
    assert "A slip?" not in body(text)  # that is asked with the slip
    assert "27.2; **differs**" in text and "If 0.48 in Table 7" in text


def test_a_reply_stands_beside_its_verdict(monkeypatch):
    reply = {"id": "c", "date": "2026-11-23", "by": "A. Author", "reply": "We <b>know</b>."}
    monkeypatch.setattr(claims, "replies", lambda paper: {"c": [reply]})
    told = "> A. Author, 2026-11-23: We \\<b\\>know\\</b\\>."
    text = letters.letter("p", ABOUT, [made("c", ["no"], tried="All.")])
    assert told in parts(text)["Central claims that differ in every reading that we found"]
    detail = letters.letter("p", ABOUT, [made("c", ["no"], weight="detail", tried="All.")])
    assert told in detail.partition("### c")[2]


def test_a_letters_body_has_a_page_and_a_half():
    """As printed from letter.html, an A4 page holds some 840 words of these letters."""
    for path in (paths.FIGURES / "public/letters").glob("*.md"):
        assert 300 < len(body(path.read_text(encoding="utf-8")).split()) < 1250, path.name


def test_hostile_text_stays_text(ledger):
    text = letters.letter("p", ABOUT, [made("c", ["no"], claim=HOSTILE, tried=HOSTILE)])
    html = letters._html("A study", text)
    assert (
        "<script" not in html and not re.search('href="(?!#)', html) and "<strong>bold" not in html
    )
    assert "&lt;script&gt;" in html and "**bold**" in html


def test_the_committed_letters_are_current(tmp_path, monkeypatch):
    committed = paths.FIGURES / "public"
    monkeypatch.setattr(settings, "outputs", lambda profile: tmp_path)
    (tmp_path / "manifest.json").write_bytes((committed / "manifest.json").read_bytes())
    found = letters.write("public")
    assert [path.stem for path in found] == list(paths.papers())
    for path in (*found, *(p.with_suffix(".html") for p in found)):
        assert path.read_bytes() == (committed / "letters" / path.name).read_bytes(), (
            f"{path.name} is not what the claims say: make letter"
        )


def test_a_profile_that_never_ran_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "outputs", lambda profile: tmp_path)
    with pytest.raises(BedsideError, match="make all PROFILE=public"):
        letters.write("public")


def test_every_accusation_has_its_reason():
    """What differs says what was tried; what depends, on what; in the committed claims."""
    for profile in ("sample", "public"):
        manifest = json.loads((paths.FIGURES / profile / "manifest.json").read_text())
        for entry in manifest["notebooks"].values():
            for c in entry["claims"]:
                word = c["verdict"].split()[0]
                assert word != "differs" or c["tried"], c["id"]
                assert word != "depends" or c["depends"], c["id"]
                assert "read as" not in c["claim"], c["id"]
