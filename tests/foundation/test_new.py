"""A new study in a copy of the repository: it runs offline and edits nothing that was there."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bedside.read import paths

NAME = "fifth_study"
LEFT_OUT = ("figures/", "data/recordings/")  # large, and a new study needs none of it


class Copy:
    """A copy of the repository under git, all of it committed."""

    def __init__(self, top: Path):
        self.top = top
        for name in self._listed():
            if not name.startswith(LEFT_OUT) and (paths.ROOT / name).is_file():
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(paths.ROOT / name, top / name)
        self.git("init", "--quiet")
        self.git("add", "--all")
        author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
        self.git(*author, "commit", "--quiet", "--message", "before")

    def _listed(self):
        listing = ["git", "-C", str(paths.ROOT), "ls-files", "-co", "--exclude-standard"]
        if shutil.which("git") is None or not (paths.ROOT / ".git").exists():
            pytest.skip("needs git and a checkout")
        return subprocess.run(listing, capture_output=True, text=True).stdout.splitlines()

    def git(self, *arguments):
        return self.call("git", *arguments).stdout.splitlines()

    def step(self, *arguments, ok=True):
        """A step of `python -m bedside`."""
        return self.call(sys.executable, "-m", "bedside", *arguments, ok=ok)

    def call(self, *command, ok=True):
        """A command in the copy, without a network and without keys."""
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        nowhere = "http://127.0.0.1:9"
        own = {"BEDSIDE_ROOT": str(self.top), "PYTHONPATH": str(self.top / "lib")}
        own |= {"https_proxy": nowhere, "http_proxy": nowhere, "no_proxy": "127.0.0.1,localhost"}
        done = subprocess.run(
            command, cwd=self.top, capture_output=True, text=True, env={**kept, **own}
        )
        assert done.returncode == 0 or not ok, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    def tool(self, name, *arguments):
        """A program that stands beside the interpreter."""
        return self.call(str(Path(sys.executable).with_name(name)), *arguments)

    def made(self):
        """New files that git would take in."""
        return self.git("ls-files", "--others", "--exclude-standard")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy in which a study was begun and its notebook run."""
    made = Copy(tmp_path_factory.mktemp("new") / "bedside")
    made.told = made.step("new", NAME).stdout.splitlines()
    made.begun = made.made()
    made.step("run", f"{NAME}/01_first_section")
    made.step("index")
    return made


def test_every_file_made_is_named_and_nothing_is_edited_but_two_lists(copy):
    lists = ["data/papers.toml", "data/sources.toml"]
    assert sorted(copy.told) == sorted(copy.begun + lists) and copy.begun
    for name in copy.begun:
        assert NAME in name
        assert "new study" not in (copy.top / name).read_text().lower().replace("_", " "), name
    edited = [line.split("\t") for line in copy.git("diff", "--numstat")]
    assert sorted(name for *_, name in edited) == lists
    assert {away for _, away, _ in edited} == {"0"}  # no line is taken away


def test_its_notebook_makes_a_table_a_figure_a_claim_and_a_page(copy):
    folder = copy.top / "figures/sample"
    mine = json.loads((folder / "manifest.json").read_text())["notebooks"]
    mine = mine[f"{NAME}/01_first_section"]
    files = {o["file"] for o in mine["outputs"]}
    assert {"table1_right.csv", "table1_right.svg", "trust_lexical.json"} <= files
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


def test_its_code_keeps_the_rules_of_the_house(copy):
    made = [*copy.begun, *copy.step("new", "x" * 24).stdout.splitlines()]
    code = [path for path in made if path.endswith((".py", ".ipynb"))]
    copy.tool("ruff", "check", "--no-cache", *code)
    copy.tool("ruff", "format", "--check", "--no-cache", *code)
    assert "0 broken" in copy.tool("lint-imports", "--no-cache").stdout


@pytest.mark.slow
def test_its_own_tests_pass(copy):
    file = f"tests/papers/test_{NAME}.py"
    copy.call(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", file)


def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(copy):
    taken = copy.top / "data/claims/sixth.toml"
    taken.write_text("mine\n")
    before = copy.git("status", "--porcelain")
    for name, why in (
        (NAME, "there is already a study 'fifth_study'"),
        ("../fifth", "can't name a study"),
        ("class", "can't name a study"),
        ("x" * 25, "can't name a study"),
        ("test", "`make test` means something else"),
        ("sixth", "data/claims/sixth.toml already there"),
    ):
        done = copy.step("new", name, ok=False)
        assert done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1
    assert copy.git("status", "--porcelain") == before
    taken.unlink()
