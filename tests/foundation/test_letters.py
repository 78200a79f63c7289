"""What is made for others: letters to authors, and tables as LaTeX."""

import shutil

import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.build import settings
from bedside.publish import letters, pages
from bedside.read import claims, paths


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "outputs", lambda profile: tmp_path)
    return tmp_path


def test_a_letter_tells_central_claims_that_differ_or_depend_and_asks_five_things(folder):
    with pytest.raises(BedsideError, match="manifest.json is missing"):
        letters.write("public")
    shutil.copy(paths.FIGURES / "public/manifest.json", folder)
    found = letters.write("public")
    texts = {path.stem: path.read_text(encoding="utf-8").replace("\\", "") for path in found}
    assert [*texts] == list(paths.papers()) and all(p.with_suffix(".html").is_file() for p in found)
    for entry in pages.last(folder)["notebooks"].values():
        for claim in entry["claims"]:
            text, word = texts[entry["paper"]], claim["verdict"].split()[0]
            if claims.rank(claim) == "central" and word in ("differs", "depends"):
                told = claim["claim"], *[claim["computed"]] * (word == "differs")
                assert all(part in text for part in told), claim["id"]
    for text in texts.values():
        assert 0 < text.count("\n1. ") + text.count("\n5. ") and "\n6. " not in text
        assert len(text.split()) < 750  # a page


def test_each_table_is_written_as_latex_when_asked_for(folder):
    manifest, name = pages.last(paths.FIGURES / "sample"), "medhalu/02_detection"
    entry = manifest["notebooks"][name]
    pages.save(folder, {**manifest, "notebooks": {name: entry}})
    (folder / "medhalu").mkdir()
    files = [o["file"] for o in entry["outputs"] if o["file"].endswith(".csv")]
    for file in files:
        shutil.copy(paths.FIGURES / "sample/medhalu" / file, folder / "medhalu")
    steps.latex("sample")
    made = {p.with_suffix(".csv").name: p.read_text() for p in folder.rglob("*.tex")}
    assert made.keys() == {*files} and all("\\bottomrule" in text for text in made.values())
