"""make's commands and variables: one table, its help, and what is unknown or for other commands."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from bedside import __main__
from bedside.build import commands, notebooks
from bedside.read import paths

TARGETS = [*commands.targets()]


def make(*arguments, root=paths.ROOT, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CONDA"))}
    done = ["make", "--no-print-directory", "-C", str(root), *arguments]
    return subprocess.run(done, capture_output=True, text=True, env={**kept, **environment})


@pytest.fixture
def checkout(root):
    """A copy of the project that is set up."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(paths.ROOT / name, root / name)
    (root / ".venv").symlink_to(sys.prefix)
    return root


ODD = 'it\'s "5" $(shell touch ran) $PWD `touch ran` ; touch ran # ü\u2009{x} \\n %.o'


def test_a_value_reaches_its_step_as_it_is_given(checkout):
    """By the command line and by the environment, with names that are taken from elsewhere."""
    environment = {"BEDSIDE_ROOT": str(checkout), "PYTHONPATH": str(checkout / "lib")}
    environment |= {"NAME": "a_machine", "GROUP": "users"}  # as some systems set them

    def made(*given, **more):
        return make("-o", ".venv/.ready", *given, root=checkout, **environment, **more)

    (checkout / ODD).mkdir()
    given = {"PROMPTS": ODD, "SEED": "3", "JUDGE": "smollm2-135m"}
    for by_line in (True, False):
        words = [f"{n}={v}" for n, v in given.items()] if by_line else []
        done = made("plan", "PAPER=nowhere", *words, **({} if by_line else given))
        assert "unknown study 'nowhere'" in done.stderr, done.stderr
        (file,) = (checkout / ".cache/stamps").rglob("settings.json")
        kept = {n.upper(): v for n, v in json.loads(file.read_text()).items() if n != "mode"}
        assert kept == given
        shutil.rmtree(checkout / ".cache/stamps")
    for target, name in (("collect", "FROM"), ("check", "NUMBERS"), ("new", "PAPER")):
        done = made(target, f"{name}={ODD}")
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert ODD in done.stderr or repr(ODD)[1:-1] in done.stderr, (target, done.stderr)
    assert not list(checkout.rglob("ran"))


@pytest.mark.slow
def test_settings_code_and_data_that_change_make_notebooks_run_again(checkout):
    """Each run has its own account of what is up to date. Nothing is run here but what settles."""
    (checkout / ".venv").unlink()
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    steps = "case $3 in check|variables|settings) exec"
    python.write_text(f'#!/bin/sh\n{steps} {sys.executable} "$@";; esac\n')
    python.chmod(0o755)
    environment = {"BEDSIDE_ROOT": str(checkout), "PYTHONPATH": str(checkout / "lib")}
    mine = {name for name in notebooks.listed() if name.startswith("cancer_myth/")}

    def ran(*given):
        words = ("-o", ".venv/.ready", "cancer_myth", *given)
        done = make(*words, root=checkout, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        names = set()
        for todo in (checkout / ".cache/stamps").rglob("*.todo"):
            names |= {*todo.read_text().split()}
            for name in todo.read_text().split():
                (todo.parent / f"{name}.done").parent.mkdir(exist_ok=True)
                (todo.parent / f"{name}.done").touch()
            todo.unlink()
        return names

    assert [ran(), ran()] == [mine, set()]
    assert [ran("RUN=a-name"), ran("RUN=a-name"), ran()] == [mine, set(), set()]
    for given, expected in (("MODE=record", mine), ("MODE=record", set()), ("BUDGET_USD=1", mine)):
        assert ran(given) == expected
    assert ran() == mine
    for path in ("lib/bedside/run.py", "data/prompts/cancer_myth/exam.j2"):
        os.utime(checkout / path)
        assert ran() == mine, path


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


@pytest.mark.parametrize(
    "given, match",
    [
        (["letter", "JUGDE=b"], "'JUGDE'; did you mean 'JUDGE'"),
        (["study", "QUESTION=x"], "'QUESTION'; did you mean 'QUESTIONS'"),
        (["study", "PROFILE=public"], "unknown variable of make study 'PROFILE'"),
        (["all", "NAME=x"], "NAME is for `make study` alone"),
        (["batch", "RUBRIC=x"], "RUBRIC is for `make study` alone"),
        (["plan", "QUESTIONS=x"], "alone, where MODE=plan says what it costs"),
        (["all", "it's$(x)=1"], 'unknown variable "it\'s$(x)"'),
    ],
)
def test_a_wrong_variable_stops_every_command(given, match, capsys):
    goal, *line = given
    __main__.variables(goal, *line)
    told = capsys.readouterr().out
    assert match in told and not told.startswith("ok ")


def test_make_stops_where_a_variable_is_wrong():
    done = make("-n", "all", "MODEL=a")
    assert done.returncode == 2 and done.stdout == "" and "did you mean 'MODELS'" in done.stderr


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
        ("data/claims/cancer_myth.toml", of["cancer_myth"], "explorer"),
        ("notebooks/medhalu/02_detection.ipynb", {"medhalu/02_detection"}, "explorer"),
        ("lib/bedside/run.py", every, "explorer"),
    ):
        assert planned(path) == (expected, last), path
    assert planned("lib/bedside/run.py", "medhalu") == (of["medhalu"], "explorer")


def test_each_step_takes_what_its_command_takes(monkeypatch):
    """`make verify MIRROR=folder` fetches data first, which `verify` itself knows nothing of."""
    for step in __main__.STEPS:
        given = dict.fromkeys(commands.taken(step), "1")
        monkeypatch.setattr(commands, "of_make", lambda given=given: given)
        assert __main__._asked([step])[0] == step


@pytest.mark.parametrize("words", [["models=x"], ["PROFILE=sample", "x"]])
def test_a_word_that_a_step_does_not_take_is_no_silent_default(words, capsys):
    with pytest.raises(SystemExit):
        __main__.main(["index", *words])
    assert words[-1].partition("=")[0] in capsys.readouterr().err
