"""The letters to authors: what they say of which verdict, that text stays text, and are current."""

import json

import mistune
import pytest

from bedside import BedsideError
from bedside.build import settings
from bedside.publish import letters
from bedside.read import claims, paths

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


def test_each_verdict_has_its_place_and_each_claim_once(ledger):
    """What doesn't fit, differs or depends stands in a letter, with what was tried and asked."""
    text = letters.letter(
        "p",
        ABOUT,
        [
            made("a", ["yes"]),
            made("b", ["yes", "no"], depends="the average"),
            made("c", ["no"], tried="All averages.", repair="Print 27."),
            made("d", ["missing"], ask="Which lists?"),
            made("h", ["no"], of="own", kind="consistency", weight="detail", ask="Same run?"),
            made("i", ["no"], of="summary", ask="Is it so in your text?"),
        ],
    )
    assert "1 of your 4 central claims" in text
    body = text.partition("\n# Annex")[0]
    told = [
        "Same run?",
        "Claim h",
        "Claim c",
        "Print 27.",
        "Claim b",
        "the average",
        "Which lists?",
    ]
    assert all(body.count(part) == 1 for part in told)
    assert body.index("Claim h") < body.index("Claim c") < body.index("Claim b")
    assert "Is it so" not in text  # a third party's text isn't theirs


def test_hostile_text_stays_text(ledger):
    text = letters.letter("p", ABOUT, [made("c", ["no"], claim=HOSTILE, tried=HOSTILE)])
    html = mistune.html(text)  # as any reader of Markdown shows it
    assert "<script" not in html and "<strong>bold" not in html and 'href="java' not in html
    assert "&lt;script&gt;" in html


def test_a_letter_tells_each_claim_that_differs_or_depends_with_its_numbers(tmp_path, monkeypatch):
    committed = paths.FIGURES / "public/manifest.json"
    monkeypatch.setattr(settings, "outputs", lambda profile: tmp_path)
    (tmp_path / "manifest.json").write_bytes(committed.read_bytes())
    found = letters.write("public")
    texts = {path.stem: path.read_text(encoding="utf-8").replace("\\", "") for path in found}
    assert [*texts] == list(paths.papers()) and all(p.with_suffix(".html").is_file() for p in found)
    for entry in json.loads(committed.read_text())["notebooks"].values():
        for claim in entry["claims"]:
            if claim["of"] == "paper" and claim["verdict"].split()[0] in ("differs", "depends"):
                told = claim["id"], claim["published"], claim["computed"]
                assert all(part in texts[entry["paper"]] for part in told), claim["id"]


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
