"""What README and the other texts say is here is here, and the README's table is the manifests'."""

import json
import re

import pytest

from bedside import BedsideError, notebooks, outputs, paths

TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TEXTS += [f"docs/{name}.md" for name in ("design", "own_study", "your_model")]
MANIFESTS = {p: paths.FIGURES / p / "manifest.json" for p in ("sample", "public")}


def test_the_table_of_outputs_is_that_of_the_manifests():
    text = outputs.README.read_text(encoding="utf-8")
    assert text == outputs.filled(text), "write it anew: make outputs"


def test_every_file_of_the_table_is_there():
    manifests = {p: json.loads(file.read_text()) for p, file in MANIFESTS.items()}
    lines = outputs.table(manifests).splitlines()[2:]
    every = {name for m in manifests.values() for name in m["notebooks"]}
    assert len(lines) == len(every)
    for line in lines:
        paper = re.search(r"\(notebooks/(\w+)/", line)[1]
        for file, only in re.findall(r"`([^`]+)`(?: \((\w+)\))?", line):
            folder = paths.FIGURES / (only or "sample") / paper
            assert list(folder.glob(file if "*" in file else f"{file}.csv")), (paper, file)


def entry(paper, *titles):
    files = [{"file": f"{name}.{end}", "title": t} for name, t in titles for end in ("csv", "md")]
    return {"paper": paper, "outputs": files}


def test_a_line_by_hand(monkeypatch):
    monkeypatch.setattr(notebooks, "title", lambda name: f"What {name} is about")
    monkeypatch.setattr(paths, "papers", lambda: ["z", "a"])
    sample = {
        "a/01_x": entry("a", ("t1", "Table 1 (version 2): cures"), ("t2", "Tables and chairs")),
        "z/02_y": entry("z", ("f6a", "Figure 6a: PCR")),
    }
    sample["z/02_y"]["outputs"] += [
        {"file": f"trust_{judge}.json", "title": "Trust card"} for judge in ("one", "two")
    ]
    public = {"z/02_y": entry("z", ("f6a", "Figure 6a: PCR"), ("t9", "Table 9: more"))}
    made = outputs.table({"sample": {"notebooks": sample}, "public": {"notebooks": public}})
    assert made.splitlines()[2:] == [
        "| [What z/02_y is about](notebooks/z/02_y.ipynb) | Figure 6a, Table 9"
        " | `f6a`, `t9` (public), `trust_*.json` |",
        "| [What a/01_x is about](notebooks/a/01_x.ipynb) | Table 1 (version 2) | `t1`, `t2` |",
    ]


def test_a_text_without_the_marks_is_an_error():
    for text in ("", outputs.BEGIN, outputs.END + outputs.BEGIN, 2 * outputs.BEGIN + outputs.END):
        with pytest.raises(BedsideError, match="README.md"):
            outputs.filled(text)


@pytest.mark.parametrize("name", TEXTS)
def test_paths_that_a_text_names_are_there(name):
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"\]\(([^)#:]+)\)", text)
    named += re.findall(r"`((?:data|docs|figures|lib|notebooks|templates|tests)/[^`\s]*)`", text)
    named += re.findall(r"`([A-Z]\w+(?:\.md|\.cff))`", text)
    # the user's, or not committed
    own = ("data/external", "name", "figures/own", "figures/public/explorer.html")
    assert len(named) > 3 or name == "CHANGELOG.md"
    for path in named:
        pattern = re.sub(r"(<\w+>_?|\*)+", "*", path).rstrip("/")
        if not any(part in path for part in own):
            assert list(paths.ROOT.glob(pattern)), path


@pytest.mark.parametrize("name", TEXTS)
def test_commands_that_a_text_names_are_there(name):
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    makefile = (paths.ROOT / "Makefile").read_text()
    targets = {*re.findall(r"^([a-z]+):", makefile, re.M), *paths.papers()}
    for target in re.findall(r"(?:`|^)make ([a-z_]+)", text, re.M):
        assert target in {*targets, "name"}, target


def test_contributing_is_short():
    assert len((paths.ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 150
