"""The letters to authors: what they say of which verdict, that text stays text, and are current."""

import json

import pytest

from bedside import BedsideError, claims, letters, paths, settings

HOSTILE = "<script>alert(1)</script> **bold** [link](javascript:alert(1)) | a\nb"
ABOUT = {"title": "A study", "authors": "A, B"}


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


def test_each_verdict_has_its_place(ledger):
    found = parts(
        letters.letter(
            "p",
            ABOUT,
            [
                made("a", ["yes"]),
                made("b", ["yes", "no"], depends="the average"),
                made("c", ["no"], weight="detail", tried="All averages.", repair="Print 27."),
                made("d", ["missing"], ask="Which lists?"),
                made("e", ["no"], of="own", tried="Tried."),
                made("f", ["yes", "no"], weight="detail", depends="the list"),
            ],
        )
    )
    assert "Claim a: 27.2 (section 4.1)." in found["What was reproduced"]
    reading = found["What depends on the reading"]
    assert "Claim b** (section 4.1) depends on the average." in reading
    assert (
        "It holds in this reading: way 0 (b0). It does not hold in this reading: way 1 (b1)."
        in reading
    )
    assert "Details that also depend on the reading: Claim f (on the list)." in reading
    differs = found["What differs in every reading that we found"]
    assert (
        "Claim c** (section 4.1, a detail)" in differs
        and "A likely correction: Print 27." in differs
    )
    assert (
        "All averages." in differs and "Claim e" not in differs
    )  # our own isn't held against them
    assert "Which lists? (d)" in found["What only you can settle"]
    assert "Claim e" in found["Our own questions, which are not claims of your paper"]
    assert "Claim e" not in found["Claims of the paper"]


def test_a_reply_stands_beside_its_verdict(monkeypatch):
    reply = {"id": "c", "date": "2026-11-23", "by": "A. Author", "reply": "We <b>know</b>."}
    monkeypatch.setattr(claims, "replies", lambda paper: {"c": [reply]})
    text = letters.letter("p", ABOUT, [made("c", ["no"], tried="All.")])
    assert (
        "> A. Author, 2026-11-23: We \\<b\\>know\\</b\\>."
        in parts(text)["What differs in every reading that we found"]
    )


def test_hostile_text_stays_text(ledger):
    text = letters.letter("p", ABOUT, [made("c", ["no"], claim=HOSTILE, tried=HOSTILE)])
    html = letters._html("A study", text)
    assert "<script" not in html and "href" not in html and "<strong>bold" not in html
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
