"""A new study in a copy of the repository: it runs offline and edits nothing that was there."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bedside.read import paths

NAME, LISTS = "fifth_study", {"data/papers.toml", "data/sources.toml"}
NEEDED = "data lib notebooks templates tests docs pyproject.toml Makefile".split()


def call(top, *command, ok=True):
    """A command in the copy, without a network and without keys."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    own = {"BEDSIDE_ROOT": str(top), "PYTHONPATH": str(top / "lib"), "no_proxy": "127.0.0.1"}
    own |= dict.fromkeys(("https_proxy", "http_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, env={**kept, **own})
    assert done.returncode == 0 or not ok, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def step(top, *arguments, ok=True):
    return call(top, sys.executable, "-m", "bedside", *arguments, ok=ok)


def files(top):
    """{path: bytes} of what git would take in, as far as a new study writes there."""
    kept = [p for name in NEEDED[:5] for p in (top / name).rglob("*") if p.is_file()]
    return {p.relative_to(top).as_posix(): p.read_bytes() for p in kept if p.suffix != ".pyc"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy in which a study was begun and its notebook run."""
    top = tmp_path_factory.mktemp("new") / "bedside"
    ignored = shutil.ignore_patterns(
        "external", "recordings", "before", "__pycache__", "*.egg-info"
    )
    for name in NEEDED:
        copied = shutil.copy2 if (paths.ROOT / name).is_file() else shutil.copytree
        top.mkdir(exist_ok=True)
        copied(
            paths.ROOT / name, top / name, **({} if copied is shutil.copy2 else {"ignore": ignored})
        )
    before = files(top)
    told = step(top, "new", NAME).stdout.splitlines()
    made = SimpleNamespace(top=top, told=told, before=before, begun=files(top))
    step(top, "run", f"{NAME}/01_first_section")
    step(top, "index")
    return made


def test_every_file_made_is_named_and_nothing_is_edited_but_two_lists(copy):
    new = copy.begun.keys() - copy.before.keys()
    assert {*copy.told} == new | LISTS and len(copy.told) == len({*copy.told})
    for name in new:
        text = copy.begun[name].decode().lower().replace("_", " ")
        assert NAME in name and "new study" not in text, name
    assert {n for n, old in copy.before.items() if copy.begun[n] != old} == LISTS
    for name in LISTS:  # no line is taken away
        assert copy.begun[name].startswith(copy.before[name].rstrip())


def test_its_notebook_makes_a_table_a_figure_a_claim_and_a_page(copy):
    folder = copy.top / "figures/sample"
    mine = json.loads((folder / "manifest.json").read_text())["notebooks"]
    mine = mine[f"{NAME}/01_first_section"]
    outputs = {o["file"] for o in mine["outputs"]}
    assert {"table1_right.csv", "table1_right.svg", "trust_lexical.json"} <= outputs
    assert not mine["recordings"]  # nobody was asked
    with open(folder / NAME / "table1_right.csv", newline="") as f:
        rows = {(r["row"], r["source"]): r for r in csv.DictReader(f)}
    assert rows["reference", "published"]["value"] == rows["reference", "run"]["value"] == "100"
    assert rows["one advice", "run"]["value"] == "0" and rows["one advice", "run"]["n"] == "3"
    with open(folder / "claims.csv", newline="") as f:
        (claim,) = csv.DictReader(f)
    assert (claim["id"], claim["published"]) == (f"{NAME}-reference", "100")
    assert claim["verdict"] == "found"
    for page in (f"{NAME}.html", f"notebooks/{NAME}/01_first_section.html"):
        assert "100" in (folder / page).read_text()


def test_its_code_keeps_the_rules_of_the_house_and_its_tests_pass(copy):
    code = [path for path in copy.told if path.endswith((".py", ".ipynb"))]
    tool = Path(sys.executable).with_name
    call(copy.top, tool("ruff"), "check", "--no-cache", *code)
    call(copy.top, tool("ruff"), "format", "--check", "--no-cache", *code)
    assert "0 broken" in call(copy.top, tool("lint-imports"), "--no-cache").stdout
    tests = [p for p in code if p.startswith("tests/")]
    call(copy.top, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


@pytest.mark.parametrize(
    "name, why",
    [
        (NAME, "a study 'fifth_study' exists already"),
        ("../fifth", "can't name a study"),
        ("class", "can't name a study"),
        ("x" * 25, "can't name a study"),
        ("test", "`make test` is another command"),
        ("sixth", "data/claims/sixth.toml already there"),
    ],
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(
    name, why, tmp_path, monkeypatch
):
    from bedside import BedsideError
    from bedside.build import template

    shutil.copytree(paths.ROOT / "data/claims", tmp_path / "data/claims")
    for file in (*LISTS, "Makefile"):
        shutil.copy(paths.ROOT / file, tmp_path / file)
    (tmp_path / "data/claims/sixth.toml").write_text("mine\n")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    known = {**paths.papers(), NAME: {}}
    monkeypatch.setattr(paths, "papers", lambda: known)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(BedsideError, match=why):
        template.begin(name)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
