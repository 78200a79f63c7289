"""What is made for others: letters to authors, and tables as LaTeX."""

import json
import shutil

import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.build import settings
from bedside.publish import letters
from bedside.read import claims, paths


def test_a_letter_tells_central_claims_that_differ_or_depend_and_asks_five_things(
    tmp_path, monkeypatch
):
    committed = paths.FIGURES / "public/manifest.json"
    monkeypatch.setattr(settings, "outputs", lambda profile: tmp_path)
    (tmp_path / "manifest.json").write_bytes(committed.read_bytes())
    found = letters.write("public")
    texts = {path.stem: path.read_text(encoding="utf-8").replace("\\", "") for path in found}
    assert [*texts] == list(paths.papers()) and all(p.with_suffix(".html").is_file() for p in found)
    for entry in json.loads(committed.read_text())["notebooks"].values():
        for claim in entry["claims"]:
            text, word = texts[entry["paper"]], claim["verdict"].split()[0]
            if claims.rank(claim) == "central" and word in ("differs", "depends"):
                told = claim["claim"], *[claim["computed"]] * (word == "differs")
                assert all(part in text for part in told), claim["id"]
    for text in texts.values():
        assert 0 < text.count("\n1. ") + text.count("\n5. ") and "\n6. " not in text
        assert len(text.split()) < 750  # a page


def test_a_profile_that_never_ran_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "outputs", lambda profile: tmp_path)
    with pytest.raises(BedsideError, match="manifest.json is missing"):
        letters.write("public")


def test_each_table_is_written_as_latex_when_asked_for(tmp_path, monkeypatch):
    left = shutil.ignore_patterns("*.svg", "*.png", "*.html", "*.tex")
    folder = shutil.copytree(paths.FIGURES / "sample", tmp_path / "sample", ignore=left)
    monkeypatch.setattr(settings, "outputs", lambda profile: folder)
    steps.latex("sample")
    manifest = json.loads((folder / "manifest.json").read_text())["notebooks"].values()
    files = {f"{e['paper']}/{o['file']}" for e in manifest for o in e["outputs"]}
    tables = {f.removesuffix(".csv") for f in files if f.endswith(".csv")}
    made = {p.relative_to(folder).as_posix().removesuffix(".tex") for p in folder.rglob("*.tex")}
    assert made == tables and len(made) > 100
    assert "\\bottomrule" in (folder / "medhalu/table6_detection.tex").read_text()
