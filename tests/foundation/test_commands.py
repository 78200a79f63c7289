"""make's commands and variables: one table, its help, and what is unknown or for other commands."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from bedside.build import commands, notebooks
from bedside.read import paths

MAKEFILE = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z]+):.*## ", MAKEFILE, re.M)


def make(*arguments, root=paths.ROOT, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CONDA"))}
    done = ["make", "--no-print-directory", "-C", str(root), *arguments]
    return subprocess.run(done, capture_output=True, text=True, env={**kept, **environment})


@pytest.mark.parametrize("command", ["notebooks", "study"])
def test_make_passes_what_the_table_says(command):
    """Each value as it is given, and nothing that another command takes."""
    given = {name: f"{name} 'x' $(shell y)" for name in commands.KNOWN if name != "PROFILE"}
    given = {n: v for n, v in given.items() if n in commands.taken(command)}
    target, step = {"notebooks": ("plan", "check"), "study": ("study", "study")}[command]
    done = make("-n", target, *(f"{n}={v}" for n, v in given.items()))
    line = re.search(rf"-m bedside {step} (.*?MODE=.*)$", done.stdout, re.M)[1]
    for name, value in given.items():
        quoted = value.replace("'", "'\\''")
        assert f"'{name}={quoted}'" in line
    assert line.count("=") == len(given) + 1  # and the usual MODE, before a given one


def test_help_comes_before_set_up(tmp_path):
    """From any Python that is new enough; an older one is told."""
    for name in ("Makefile", "data/papers.toml", "data/profiles.toml", "data/sources.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(paths.ROOT / name, tmp_path / name)
    shutil.copytree(paths.ROOT / "lib", tmp_path / "lib")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys._base_executable} -S "$@"\n')
    python.chmod(0o755)
    alone = {"BEDSIDE_ROOT": "", "PYTHONPATH": ""}
    shown = make("help", f"PYTHON={python}", root=tmp_path, **alone)
    assert shown.returncode == 0 and not (tmp_path / ".venv").exists(), shown.stderr
    for name in (*TARGETS, *paths.papers(), *commands.KNOWN):
        assert len(re.findall(rf"^  {name} +\S", shown.stdout, re.M)) == 1, name
    assert max(map(len, shown.stdout.splitlines())) <= 120
    python.write_text("#!/bin/sh\nexit 1\n")
    old = make("help", f"PYTHON={python}", root=tmp_path, **alone)
    assert old.returncode == 2 and "needs Python 3.11 or newer" in old.stdout
    assert "Traceback" not in old.stderr


def test_an_unknown_variable_stops_every_command():
    for target in [*TARGETS, *paths.papers()][::6]:
        done = make(target, "JUGDE=b")
        assert done.returncode == 2 and done.stdout == "", target
        assert "'JUGDE'; did you mean 'JUDGE'" in done.stderr


def test_what_is_wrong_is_told_and_nothing_runs():
    for given, match in (
        (["study", "QUESTION=x"], "'QUESTION'; did you mean 'QUESTIONS'"),
        (["study", "PROFILE=public"], "unknown variable of make study 'PROFILE'"),
        (["all", "MODEL=a"], "'MODEL'; did you mean 'MODELS'"),
        (["all", "NAME=x"], "NAME is for `make study` alone"),
        (["batch", "RUBRIC=x"], "RUBRIC is for `make study` alone"),
        (["all", "it's$$(x)=1"], 'unknown variable "it\'s$(x)"'),
    ):
        done = make("-n", *given)
        assert done.returncode == 2 and done.stdout == "" and match in done.stderr


def test_what_changed_is_made_again_and_nothing_else(root):
    """A study's files its notebooks, the foundation's all of them; names may have blanks."""
    shutil.copy(paths.ROOT / "Makefile", root)
    stamps = root / ".cache/stamps/sample"
    done = [*(f"{name}.done" for name in notebooks.listed()), "index.done", "explorer.done"]
    before = time.time() - 60
    for path in root.rglob("*"):
        os.utime(path, (before - 60,) * 2)

    def planned(changed, *goal):
        for name in ("settings.json", *done):
            (stamps / name).parent.mkdir(parents=True, exist_ok=True)
            (stamps / name).touch()
            os.utime(stamps / name, (before,) * 2)
        path = root / (changed or "README.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()  # later than the stamps, however coarse the clock of files is
        old = ("-o", ".venv/.ready", "-o", ".cache/stamps/sample/settings.json")
        made = make("-n", *old, *(goal or ["all"]), root=root)
        os.utime(path, (before - 60,) * 2)
        assert made.returncode == 0, made.stderr
        steps = re.findall(r"-m bedside (\w+)", made.stdout)
        return {*re.findall(r"echo (\S+) >>", made.stdout)}, steps[-1] if steps else ""

    every = {*notebooks.listed()}
    of = {paper: {n for n in every if n.startswith(f"{paper}/")} for paper in paths.papers()}
    for path, expected, last in (
        ("", set(), ""),
        ("data/external/medhalu/my raters.csv", of["medhalu"], "explorer"),
        ("data/recordings/radiation/sample/a model.jsonl", of["radiation"], "explorer"),
        ("data/claims/cancer_myth.toml", of["cancer_myth"], "explorer"),
        ("notebooks/medhalu/02_detection.ipynb", {"medhalu/02_detection"}, "explorer"),
        ("lib/bedside/run.py", every, "explorer"),
    ):
        assert planned(path) == (expected, last), path
    assert planned("lib/bedside/run.py", "medhalu") == (of["medhalu"], "explorer")
