"""What `import bedside` offers: docs/api.md and its examples, names, and asking without a run."""

import doctest
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest

import bedside
from bedside import BedsideError
from bedside.publish import readme
from bedside.read import paths
from bedside.read.surroundings import here

PAGE = readme.API.read_text(encoding="utf-8")
RECIPES = re.findall(r"^```python\n(>>>(?:[^`].*\n)+)```", PAGE, re.M)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The checkout's folder, with a folder of figures where examples may write."""
    texts = tmp_path / ".cache/graded"
    texts.mkdir(parents=True)
    for profile in ("sample", "public"):
        (tmp_path / profile).symlink_to(paths.FIGURES / profile)
        (texts / profile).symlink_to(paths.CACHE / "graded" / profile)
    monkeypatch.setattr(here, "figures", str(tmp_path))
    monkeypatch.chdir(paths.ROOT)
    yield
    plt.close("all")


LONG = "bedside.study("
MARKED = [pytest.param(c, marks=[pytest.mark.slow] * (LONG in c)) for c in RECIPES]


@pytest.mark.parametrize("code", MARKED)
def test_a_recipe_gives_what_the_page_says(code, checkout):
    told, options = [], doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(code, {"bedside": bedside}, "recipe", None, 0)
    found = doctest.DocTestRunner(optionflags=options).run(test, out=told.append)
    assert found.attempted and not found.failed, "".join(told)


def test_each_name_has_an_example_that_gives_what_the_page_says(checkout):
    for section in readme.sections():
        known = {"bedside": bedside}
        exec(section.get("before", ""), known)
        for name, (example, result) in section["names"].items():
            if LONG in example:
                continue
            found = eval(example, known)
            assert not result or repr(found) == result, name


def test_what_is_not_there_gets_the_nearest_or_the_way_out():
    for use, told in (
        (lambda: bedside.grade, "no attribute 'grade'; did you mean 'graded'"),
        (lambda: bedside.load("cancer_myth_released"), "isn't part of PROFILE=sample"),
        (lambda: bedside.load("cancer_myth_labeled"), "did you mean 'cancer_myth_labelled'"),
        (lambda: bedside.table("radiation", "table1_freeform"), "did you mean 'table1_free_form'"),
        (lambda: bedside.ask({"q": "Is it?"}, ""), "name a model"),
        (lambda: bedside.ask({"q": "?"}, "smollm2-135m", mode="plan"), "unknown mode 'plan'"),
    ):
        with pytest.raises((AttributeError, BedsideError), match=told):
            use()


def test_importing_it_loads_none_of_its_rooms_and_a_broken_one_is_named():
    code = "import sys, bedside; print(*[m for m in sys.modules if m.startswith('bedside.')])"
    code += "; sys.modules['bedside.stats'] = None; bedside.stats.mean([1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == [] and "ModuleNotFoundError" in done.stderr, done.stderr
    assert "bedside.stats" in done.stderr.splitlines()[-1]


def test_claims_and_tables_that_were_not_made_name_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    for ask in (lambda: bedside.claims("medhalu"), lambda: bedside.table("medhalu", "table_x")):
        with pytest.raises(BedsideError, match="Run `make medhalu PROFILE=sample` first"):
            ask()
