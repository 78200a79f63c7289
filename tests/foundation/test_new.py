"""A new study in a copy of the repository: it runs offline and edits nothing that was there."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bedside import BedsideError
from bedside.build import template
from bedside.read import paths
from conftest import of_make

NAME, LISTS = "fifth_study", {"data/papers.toml", "data/sources.toml"}
LEFT = ("external", "recordings", "before", "figures", "site", "__pycache__", ".*", "*.egg-info")
OFFLINE = {"no_proxy": "127.0.0.1"}
OFFLINE |= dict.fromkeys(("https_proxy", "http_proxy"), "http://127.0.0.1:9")


def call(top, *command):
    """What a command in the copy prints, without a network."""
    env = {**of_make(top), **OFFLINE}
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def files(top):
    """{path: bytes} of what git would take in, as far as a new study writes there."""
    kept = [p for p in top.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    kept = {p.relative_to(top).as_posix(): p.read_bytes() for p in kept}
    return {name: data for name, data in kept.items() if name[0] != "." and name[:3] != "fig"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy in which a study was begun and its notebook run."""
    top = tmp_path_factory.mktemp("new") / "bedside"
    shutil.copytree(paths.ROOT, top, ignore=shutil.ignore_patterns(*LEFT))
    before, step = files(top), (sys.executable, "-m", "bedside")
    told = call(top, *step, "new", NAME).splitlines()
    made = SimpleNamespace(top=top, told=told, before=before, begun=files(top))
    call(top, *step, "run", f"{NAME}/01_first_section")
    call(top, *step, "index")
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
    manifest = json.loads((folder / "manifest.json").read_text())["notebooks"]
    mine = manifest[f"{NAME}/01_first_section"]
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
    assert "0 broken" in call(copy.top, tool("lint-imports"), "--no-cache")
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
        ("layouts", "tests/foundation/test_layouts.py has that name"),
        ("sixth", "data/claims/sixth.toml already there"),
    ],
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(name, why, copy, monkeypatch):
    (copy.top / "data/claims/sixth.toml").write_text("mine\n")
    known = {**paths.papers(), NAME: {}}
    monkeypatch.setattr(paths, "ROOT", copy.top)
    monkeypatch.setattr(paths, "papers", lambda: known)
    before = files(copy.top)
    with pytest.raises(BedsideError, match=why):
        template.begin(name)
    assert files(copy.top) == before
