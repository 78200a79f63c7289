"""make's commands and variables: one table, its help, and what is unknown or for other commands."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from bedside import __main__
from bedside.build import commands, notebooks
from bedside.read import paths
from conftest import of_make

ODD = 'it\'s "5" $(shell touch ran) $PWD `touch ran` ; touch ran # ü\u2009{x} \\n %.o'


def make(root, *words, **environment):
    command = ["make", "--no-print-directory", "-C", str(root), "-o", ".venv/.ready", *words]
    env = {**of_make(root), **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def test_a_value_reaches_its_step_as_it_is_given(checkout):
    """By the command line and by the environment, with names that are taken from elsewhere."""
    machine = {"NAME": "a_machine", "GROUP": "users"}  # as some systems set them
    (checkout / ODD).mkdir()
    given = {"PROMPTS": ODD, "SEED": "3", "JUDGE": "smollm2-135m"}
    done = make(checkout, "plan", "PAPER=nowhere", f"PROMPTS={ODD}", **{**given, **machine})
    assert "unknown study 'nowhere'" in done.stderr, done.stderr
    (file,) = (checkout / ".cache/stamps").rglob("settings.json")
    kept = {n.upper(): v for n, v in json.loads(file.read_text()).items() if n != "mode"}
    assert kept == given
    for words, environment in (([f"FROM={ODD}"], {}), ([], {"FROM": ODD})):
        done = make(checkout, "collect", *words, **environment)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert ODD in done.stderr or repr(ODD)[1:-1] in done.stderr, done.stderr
    assert not list(checkout.rglob("ran"))


# settles what make asks for, and writes down what else would run: "step names..."
STEPS = f"""#!/bin/sh
case $3 in check|variables|settings) exec {sys.executable} "$@";; esac
step=$3 folder=$6
test "$step" = run && shift 6 || shift $#
echo "$step" "$@" >> steps.txt
for name; do mkdir -p "$folder/${{name%/*}}" && touch "$folder/$name.done"; done
"""


def test_what_changed_is_made_again_and_nothing_else(checkout):
    """A study's files its notebooks, the foundation's all of them; each run has its own account."""
    (checkout / ".venv").unlink()
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(STEPS)
    python.chmod(0o755)

    def made(*words):
        (checkout / "steps.txt").write_text("")
        done = make(checkout, *(words or ["all"]))
        assert done.returncode == 0, done.stderr
        steps = (checkout / "steps.txt").read_text().splitlines()
        ran = [name for step in steps if step.startswith("run ") for name in step.split()[1:]]
        assert len(ran) == len({*ran})
        return {*ran}, steps[-1] if steps else ""

    every = {*notebooks.listed()}
    medhalu, myths = (
        {name for name in every if name.startswith(f"{paper}/")}
        for paper in ("medhalu", "cancer_myth")
    )
    assert [made(), made()] == [(every, "explorer"), (set(), "")]
    for path, expected in {
        "data/external/medhalu/my raters.csv": medhalu,
        "data/claims/cancer_myth.toml": myths,
        "notebooks/medhalu/02_detection.ipynb": {"medhalu/02_detection"},
        "lib/bedside/run.py": every,
    }.items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).touch()
        assert made() == (expected, "explorer"), path
    for word, expected in (
        ("RUN=a-name", myths),
        ("RUN=a-name", set()),
        ("MODE=record", myths),
    ):
        assert made("cancer_myth", word)[0] == expected, word


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
    shown = make(tmp_path, "help", f"PYTHON={python}", **alone)
    assert shown.returncode == 0 and not (tmp_path / ".venv").exists(), shown.stderr
    for name in (*commands.targets(), *paths.papers(), *commands.KNOWN):
        assert len(re.findall(rf"^  {name} +\S", shown.stdout, re.M)) == 1, name
    assert max(map(len, shown.stdout.splitlines())) <= 120
    python.write_text("#!/bin/sh\nexit 1\n")
    old = make(tmp_path, "help", f"PYTHON={python}", **alone)
    assert old.returncode == 2 and "needs Python 3.11 or newer" in old.stdout
    assert "Traceback" not in old.stderr


@pytest.mark.parametrize(
    "given, match",
    [
        (["letter", "JUGDE=b"], "'JUGDE'; did you mean 'JUDGE'"),
        (["study", "QUESTION=x"], "'QUESTION'; did you mean 'QUESTIONS'"),
        (["study", "PROFILE=public"], "unknown variable of make study 'PROFILE'"),
        (["all", "NAME=x"], "NAME is only for `make study`"),
        (["batch", "RUBRIC=x"], "RUBRIC is only for `make study`"),
        (["plan", "QUESTIONS=x"], "`make study`, where MODE=plan says what it costs"),
        (["all", "it's$(x)=1"], 'unknown variable "it\'s$(x)"'),
    ],
)
def test_a_wrong_variable_stops_every_command(given, match, capsys):
    goal, *line = given
    __main__.variables(goal, *line)
    told = capsys.readouterr().out
    assert match in told and not told.startswith("ok ")


def test_make_stops_where_a_variable_is_wrong():
    done = make(paths.ROOT, "-n", "all", "MODEL=a")
    assert done.returncode == 2 and done.stdout == "" and "did you mean 'MODELS'" in done.stderr


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
