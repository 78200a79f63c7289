"""The build: notebooks run together, each alone in its kernel, and only what changed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from jupyter_client.provisioning import KernelProvisionerFactory

from bedside import BedsideError
from bedside.build import kernels, notebooks, settings
from bedside.read import paths
from bedside.read.surroundings import here
from conftest import until


def notebook(folder, name, *cells):
    """Write a notebook of code cells; returns its path."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None}
        | {"source": [source]}
        for i, source in enumerate(cells)
    ]
    made[0]["metadata"]["tags"] = ["parameters"]
    text = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(text))
    return path


def said(path):
    """What the cells of an executed notebook printed."""
    cells = json.loads(path.read_text())["cells"]
    return "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))


# ---- kernels


@pytest.fixture(params=["forked", pytest.param("from nothing", marks=pytest.mark.slow)])
def kind(request, monkeypatch):
    """Both ways in which kernels start."""
    factory = KernelProvisionerFactory.instance()
    before = factory.default_provisioner_name
    factory.default_provisioner_name = "local-provisioner"
    if request.param == "forked":
        kernels.warm()
    yield request.param
    factory.default_provisioner_name = before


def test_each_notebook_has_a_kernel_of_its_own_in_the_environment_of_the_moment(
    kind, tmp_path, monkeypatch
):
    show = "import os, sys; print(os.getpid(), getattr(sys, 'left', 'nothing'), 'mine' in globals()"
    show += ", os.environ.get('OF_THIS_TEST'), os.getcwd())"
    show += "\nfrom bedside.read.surroundings import here; print(here.run, here.budget_total)"
    a = notebook(tmp_path, "a", show, "import sys; sys.left = mine = 'something'")
    b, found = notebook(tmp_path, "b", show), []
    for path, value in ((a, "set"), (b, None)):
        monkeypatch.setenv("OF_THIS_TEST", value) if value else monkeypatch.delenv("OF_THIS_TEST")
        monkeypatch.setattr(here, "run", f"run-{value}")
        monkeypatch.setattr(here, "budget_total", f"{value} USD")
        notebooks.execute(path, path, {})
        pid, *rest = said(path).split(maxsplit=6)
        assert rest[:4] == ["nothing", "False", str(value), str(paths.ROOT)]
        assert rest[4:] == [f"run-{value}", f"{value} USD\n"]
        found.append(pid)
    assert found[0] != found[1]


def test_a_notebook_says_what_failed(tmp_path):
    path = notebook(tmp_path, "x", "a = 1", "import os\nprint(a, os.getcwd())\n1 / (a - 7)")
    notebooks.execute(path, tmp_path / "done.ipynb", {"a": 5})
    assert said(tmp_path / "done.ipynb").strip() == f"5 {paths.ROOT}"
    told = r"(?s)x\.ipynb failed in cell .*1 / \(a - 7\).*ZeroDivisionError: .*done\.ipynb"
    with pytest.raises(BedsideError, match=told):
        notebooks.execute(path, tmp_path / "done.ipynb", {"a": 7})


RUN = """
import sys
from pathlib import Path
from bedside.build import kernels, notebooks, settings
if sys.argv[2] == "forked":
    kernels.warm()
path = Path(sys.argv[1])
notebooks.execute(path, path.with_name("out.ipynb"), {})
"""


def started(tmp_path, kind, *cells):
    """A process that executes a notebook whose kernel writes its pid to the file `pid`."""
    first = f"import os; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))"
    path = notebook(tmp_path, "a", first, *cells)
    command = [sys.executable, "-c", RUN, str(path), kind]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, start_new_session=True, **options)


def gone(pid):
    """Whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_kernel_outlives_a_run_that_was_killed(kind, tmp_path):
    process = started(tmp_path, kind, "import time; time.sleep(600)")
    until(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text(), 60)
    kernel = int((tmp_path / "pid").read_text())
    assert not gone(kernel)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    until(lambda: gone(kernel), 20)


# ---- many notebooks

FIRST, OTHERS = "a/05_judges", ["a/01_x", "a/02_y", "b/01_z"]


@pytest.fixture
def runs(monkeypatch):
    """`notebooks.run` replaced by one that notes when notebooks begin and end; {name: error}."""
    log, faults, lock = [], {}, threading.Lock()

    def run(name, given):
        with lock:
            log.append(("begins", name))
        time.sleep(0.05)
        with lock:
            log.append(("ends", name))
        if name in faults:
            raise BedsideError(faults[name])

    monkeypatch.setattr(notebooks, "run", run)
    studies = {"a": {"judges_first": "05_judges"}, "b": {"judges_first": "09_not_asked_for"}}
    monkeypatch.setattr(paths, "papers", lambda: studies)
    return log, faults


@pytest.mark.parametrize("jobs", [1, 3])
def test_judges_are_measured_before_they_are_used(runs, jobs):
    log, _ = runs
    passed = []
    notebooks.run_all([*OTHERS, FIRST], {}, jobs, lambda name, seconds: passed.append(name))
    assert sorted(passed) == sorted([*OTHERS, FIRST])
    for name in ("a/01_x", "a/02_y"):
        assert log.index(("begins", name)) > log.index(("ends", FIRST))
    most = running = 0
    for what, _ in log:
        running += 1 if what == "begins" else -1
        most = max(most, running)
    assert most <= jobs and (jobs == 1 or most >= 2)


def test_a_run_says_what_of_it_is_complete(runs, monkeypatch, tmp_path):
    log, faults = runs
    monkeypatch.setattr(here, "run", "mine")
    monkeypatch.setattr(here, "figures", str(tmp_path))
    faults["a/01_x"] = "a wrong\nnumber, or\x1b so"
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


def test_a_study_whose_judges_fail_does_not_go_on(runs):
    log, faults = runs
    faults[FIRST] = "no card"
    with pytest.raises(BedsideError, match="a/01_x did not run, since a/05_judges failed") as e:
        notebooks.run_all([*OTHERS, FIRST], {}, 2)
    assert "no card" in str(e.value) and {n for _, n in log} == {FIRST, "b/01_z"}
