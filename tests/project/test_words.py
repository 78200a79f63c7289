"""What people read: no worn phrase comes back, and terms are explained."""

import json
import re

import pytest

from bedside.publish.pages import content
from bedside.read import paths

WORN = (  # phrases at which readers stopped, and what is said instead
    ("be had again", "reproduced"),
    ("one and the same", "the same"),
    (r"(kappa|card)[^.|]{0,30} stands at", "is shown next to"),
    ("what stands, and", "which claims are confirmed"),
    ("would most want to know", "results the papers don't report"),
    ("what would change it", "what would settle it"),
    ("no plausible (reading|interpretation) supports", "contradicted in every interpretation"),
    ("sound (answers|ones)", "correct answers"),
    (r"cells?: 1\b", "a link in words"),
    ("what it lacks", "what is missing"),
    ("sorted into rooms", "layered packages"),
    ("number beside the recomputed", "the number computed here"),
    ("it rests on, what contradicts", "its basis"),
    ("our own findings?", "new here"),
    ("we have recomputed", "we have tested"),
    ("nobody has run", "still to do"),
)
FOLDERS = ("docs/*.md", "data/findings/*", "lib/**/*.j2", "README.md", "Makefile")


def read_by_people():
    """{file: its text} of pages, findings, docs, `make help` and notebooks."""
    files = [p for pattern in FOLDERS for p in paths.ROOT.glob(pattern)]
    texts = {p: p.read_text(encoding="utf-8") for p in files}
    for p in paths.NOTEBOOKS.rglob("*.ipynb"):
        cells = json.loads(p.read_text(encoding="utf-8"))["cells"]
        texts[p] = "\n".join("".join(c["source"]) for c in cells)
    return texts


@pytest.mark.parametrize("phrase, instead", WORN)
def test_no_worn_phrase_comes_back(phrase, instead):
    worn = re.compile(phrase, re.I)
    lines = [
        f"{paths.rel(path)}: {line.strip()[:120]}"
        for path, text in read_by_people().items()
        for line in text.splitlines()
        if worn.search(line)
    ]
    assert lines == [], f"say instead: {instead}"


def test_pages_explain_a_term_once_where_it_first_occurs_and_the_glossary_repeats_it():
    explained = content.explaining()
    assert explained("a kappa of <b>") == (
        "a kappa <i>(agreement beyond chance: 0 is chance, 1 is perfect)</i> of &lt;b&gt;"
    )
    assert explained("the kappas, a kappa") == "the kappas, a kappa"
    assert explained("expected (O/E) and O/E") == "expected (O/E) and O/E"
    glossary = (paths.ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    for term, words in paths.toml(content.TERMS).items():
        assert f"| {term} | {words} |" in glossary and len(words.split()) <= 10
