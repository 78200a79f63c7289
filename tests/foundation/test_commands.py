"""make's commands and variables: one table, its help, and what is unknown or for other commands."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.build import commands, notebooks, settings
from bedside.read import paths

MAKEFILE = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z]+):.*## ", MAKEFILE, re.M)


def make(*arguments, root=paths.ROOT, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CONDA"))}
    done = ["make", "--no-print-directory", "-C", str(root), *arguments]
    return subprocess.run(done, capture_output=True, text=True, env={**kept, **environment})


def test_the_makefile_is_narrow_and_works_with_old_make():
    wide = [line for line in MAKEFILE.splitlines() if len(line.expandtabs(8)) > 120]
    assert not wide, "\n".join(wide)
    assert "&:" not in MAKEFILE  # grouped targets need GNU Make 4.3


def test_the_table_names_what_is_there():
    assert len(TARGETS) == len({*TARGETS}) and {*commands.NOTEBOOKS} <= {*TARGETS}
    named = {by for takers in commands.KNOWN.values() for by in takers}
    assert named <= {*TARGETS, "notebooks", "any"}
    used = {
        *re.findall(r"\$\((?:value|origin) ([A-Z_]+)\)|\$\(call option,\w+,([A-Z_]+)\)", MAKEFILE)
    }
    assert {name for both in used for name in both if name} <= {*commands.KNOWN}


def test_notebooks_and_own_studies_take_what_the_table_says():
    takes = {n.lower() for n in commands.taken("notebooks")}
    assert takes == {"profile", *settings.DEFAULTS, "budget_total", "run"}
    assert steps.PASSED == (
        *"PROFILE MODE MODELS JUDGE LIMIT SEED PROMPTS BUDGET_USD".split(),
    )  # a run's name has its settings in this order
    have = notebooks.parameters(notebooks.OWN)
    assert {n.lower() for n in commands.taken("study")} - {"compare"} <= {*have}


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


def test_what_the_environment_has_counts_where_it_is_taken():
    shown = make("-n", "study", "QUESTIONS=q", JUDGE="j", NAME="a_machine", PROFILE="public").stdout
    assert "study MODE=record 'QUESTIONS=q' 'JUDGE=j'\n" in shown


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


@pytest.mark.parametrize("target", [*TARGETS, *paths.papers(), ""])
def test_an_unknown_variable_stops_every_command(target):
    done = make(*filter(None, [target]), "JUGDE=b")
    assert done.returncode == 2 and done.stdout == ""
    assert "'JUGDE'; did you mean 'JUDGE'" in done.stderr


@pytest.mark.parametrize(
    "given, match",
    [
        (["study", "QUESTION=x"], "'QUESTION'; did you mean 'QUESTIONS'"),
        (["study", "PROFILE=public"], "unknown variable of make study 'PROFILE'"),
        (["study", "MIRROR="], "unknown variable of make study 'MIRROR'"),
        (["all", "MODEL=a"], "'MODEL'; did you mean 'MODELS'"),
        (["all", "NAME=x"], "NAME is for `make study` alone"),
        (["cancer_myth", "COMPARE=a,b"], "COMPARE is for `make study` alone"),
        (["batch", "RUBRIC=x"], "RUBRIC is for `make study` alone"),
        (["batch", "RUBRIC=x", "QUESTIONS="], "is for `make study` alone"),
        (["all", "it's$$(x)=1"], 'unknown variable "it\'s$(x)"'),
    ],
)
def test_what_is_wrong_is_told_and_nothing_runs(given, match):
    done = make("-n", *given)
    assert done.returncode == 2 and done.stdout == "" and match in done.stderr


def test_what_is_taken_or_means_nothing_there_passes():
    for given in (
        ["study", "QUESTIONS=q", "NAME=n", "JOBS=2", "CONDA_PREFIX="],
        ["batch", "QUESTIONS=q", "RUBRIC=r", "PAPER=p", "SUBMIT=1"],
        ["cancer_myth", "ANSWERS=x", "BUDGET_TOTAL=1"],
        ["doctor", "NAME=x"],
    ):
        assert make("-n", *given).returncode == 0, given


def test_the_step_tells_what_is_for_own_studies_alone():
    for name in ("QUESTIONS", "RUBRIC", "NAME", "COMPARE", "REVISION"):
        with pytest.raises(BedsideError, match=f"{name} is for `make study` alone"):
            steps.check([f"{name}="])
    steps.check(["MODELS=", "ANSWERS=", "RUN="])


def test_files_that_people_name_may_have_blanks(root):
    """New labels make the explorer anew, a study's new files its notebooks; nothing else runs."""
    shutil.copy(paths.ROOT / "Makefile", root)
    stamps = root / ".cache/stamps/sample"
    done = [*(f"{name}.done" for name in notebooks.listed()), "index.done", "explorer.done"]

    def planned(*files):
        for name in ("settings.json", *done):
            (stamps / name).parent.mkdir(parents=True, exist_ok=True)
            (stamps / name).touch()
        for name in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
            os.utime(root / name, (time.time() + 5,) * 2)  # however coarse the clock of files is
        old = ("-o", ".venv/.ready", "-o", ".cache/stamps/sample/settings.json")
        made = make("-n", *old, "all", root=root)
        for name in files:
            (root / name).unlink()
        assert made.returncode == 0, made.stderr
        again = {name.partition("/")[0] for name in re.findall(r"echo (\S+) >>", made.stdout)}
        return again, "bedside explorer" in made.stdout

    assert planned() == (set(), False)
    assert planned("data/external/annotations/diagnosis/Anna Berg.jsonl") == (set(), True)
    assert planned("data/external/medhalu/my raters.csv") == ({"medhalu"}, True)
    assert planned("data/recordings/radiation/sample/a model.jsonl") == ({"radiation"}, True)
