"""The build: notebooks run together, each alone in its kernel, and only what changed."""

import itertools
import subprocess
import sys
import threading
import time

import nbformat
import psutil
import pytest
from jupyter_client.provisioning import KernelProvisionerFactory

from bedside import BedsideError
from bedside.build import kernels, notebooks, settings
from bedside.read import paths
from bedside.read.surroundings import here
from conftest import until


def notebook(folder, name, *cells):
    """Write a notebook of code cells; returns its path."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made.cells[0].metadata.tags = ["parameters"]
    nbformat.write(made, folder / f"{name}.ipynb")
    return folder / f"{name}.ipynb"


def printed(path):
    """The lines that the cells of an executed notebook printed."""
    outputs = (o for c in nbformat.read(path, 4).cells for o in c.get("outputs", []))
    return "".join(o.get("text", "") for o in outputs).splitlines()


@pytest.fixture(params=["forked", pytest.param("from nothing", marks=pytest.mark.slow)])
def kind(request):
    """Both ways in which kernels start."""
    factory = KernelProvisionerFactory.instance()
    before = factory.default_provisioner_name
    factory.default_provisioner_name = "local-provisioner"
    if request.param == "forked":
        kernels.warm()
    yield request.param
    factory.default_provisioner_name = before


SHOW = """a = 5
import os, sys
from bedside.read.surroundings import here
print(os.getpid())
print(getattr(sys, "left", "nothing"), "mine" in globals(), os.getcwd())
print(os.environ.get("OF_THIS_TEST"), here.run, here.budget_total)"""


def test_each_notebook_has_a_kernel_of_its_own_and_says_what_failed(kind, tmp_path, monkeypatch):
    first = notebook(tmp_path, "a", SHOW, "import sys; sys.left = mine = 'something'")
    second, out = notebook(tmp_path, "b", SHOW, "print(a)\n1 / (a - 7)"), tmp_path / "done.ipynb"
    monkeypatch.setenv("OF_THIS_TEST", "set")
    monkeypatch.setattr(here, "run", "one")
    monkeypatch.setattr(here, "budget_total", "1 USD")
    notebooks.execute(first, out, {})
    pid, *lines = printed(out)
    assert lines == [f"nothing False {paths.ROOT}", "set one 1 USD"]
    monkeypatch.delenv("OF_THIS_TEST")
    monkeypatch.setattr(here, "run", "two")
    told = r"(?s)b\.ipynb failed in cell .*1 / \(a - 7\).*ZeroDivisionError: .*done\.ipynb"
    with pytest.raises(BedsideError, match=told):
        notebooks.execute(second, out, {"a": 7})
    other, *lines = printed(out)
    assert lines == [f"nothing False {paths.ROOT}", "None two 1 USD", "7"] and other != pid


RUN = """
import sys
from pathlib import Path
from bedside.build import kernels, notebooks
if sys.argv[2] == "forked":
    kernels.warm()
path = Path(sys.argv[1])
notebooks.execute(path, path.with_name("out.ipynb"), {})
"""


def test_no_kernel_outlives_a_run_that_was_killed(kind, tmp_path):
    pid = tmp_path / "pid"
    cells = f"import os; open({str(pid)!r}, 'w').write(str(os.getpid()))", "import time"
    path = notebook(tmp_path, "a", *cells, "time.sleep(600)")
    command = [sys.executable, "-c", RUN, str(path), kind]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
    until(lambda: pid.is_file() and pid.read_text(), 60)
    kernel = psutil.Process(int(pid.read_text()))
    process.kill()
    process.wait(10)
    until(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE, 20)


# ---- many notebooks

FIRST, OTHERS = "a/05_judges", ["a/01_x", "a/02_y", "b/01_z"]


@pytest.fixture
def runs(monkeypatch):
    """`notebooks.run` replaced by one that notes when notebooks begin and end; {name: error}."""
    log, faults, lock = [], {}, threading.Lock()

    def run(name, given):
        for what in ("begins", "ends"):
            with lock:
                log.append((what, name))
            time.sleep(0.03)
        if name in faults:
            raise faults[name]

    monkeypatch.setattr(kernels, "warm", lambda: None)
    monkeypatch.setattr(notebooks, "run", run)
    studies = {"a": {"judges_first": "05_judges"}, "b": {"judges_first": "09_not_asked_for"}}
    monkeypatch.setattr(paths, "papers", lambda: studies)
    return log, faults


@pytest.mark.parametrize("jobs", [1, 3])
def test_judges_are_measured_before_they_are_used(runs, jobs):
    (log, _), passed = runs, []
    notebooks.run_all([*OTHERS, FIRST], {}, jobs, lambda name, seconds: passed.append(name))
    assert sorted(passed) == sorted([*OTHERS, FIRST])
    for name in ("a/01_x", "a/02_y"):
        assert log.index(("begins", name)) > log.index(("ends", FIRST))
    running = itertools.accumulate(1 if what == "begins" else -1 for what, _ in log)
    assert min(jobs, 2) <= max(running) <= jobs


def test_a_run_says_what_of_it_is_complete(runs, monkeypatch, tmp_path):
    log, faults = runs
    monkeypatch.setattr(here, "run", "mine")
    monkeypatch.setattr(here, "figures", str(tmp_path))
    faults["a/01_x"] = BedsideError("a wrong\nnumber, or\x1b so")
    with pytest.raises(BedsideError, match="a wrong"):
        notebooks.run_all([*OTHERS, FIRST], {}, 2)
    told = settings.statuses(settings.outputs(""))
    assert told.pop("a/01_x") == ("failed", "a wrong number, or\ufffd so")
    assert told == dict.fromkeys(["a/02_y", "b/01_z", FIRST], ("complete", ""))
    settings.mark(["b/01_z"], "started")  # and killed
    assert settings.statuses(settings.outputs(""))["b/01_z"] == ("started", "")
    faults.clear()
    notebooks.run_all([*OTHERS, FIRST], {}, 2)
    assert {s for s, _ in settings.statuses(settings.outputs("")).values()} == {"complete"}


def test_what_follows_from_a_failure_does_not_begin(runs):
    log, faults = runs
    faults[FIRST] = BedsideError("no card")
    with pytest.raises(BedsideError, match="a/01_x did not run, since a/05_judges failed") as e:
        notebooks.run_all([*OTHERS, FIRST], {}, 2)
    assert "no card" in str(e.value) and {n for _, n in log} == {FIRST, "b/01_z"}
    log.clear()
    faults[FIRST] = notebooks.Stopped("the budget")
    with pytest.raises(notebooks.Stopped, match="a/05_judges: the budget"):
        notebooks.run_all([*OTHERS, FIRST], {}, 1)
    assert {n for _, n in log} == {FIRST}
