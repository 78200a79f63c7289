"""The letters to authors: what they say of which verdict, that text stays text, and are current."""

import json

import pytest

from bedside import BedsideError
from bedside.build import settings
from bedside.publish import letters
from bedside.read import paths


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
