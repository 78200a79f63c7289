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


def printed(path):
    """What the cells of an executed notebook printed."""
    cells = json.loads(path.read_text())["cells"]
    return "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))


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


def test_each_notebook_has_a_kernel_of_its_own_and_says_what_failed(kind, tmp_path, monkeypatch):
    show = "a = 5\nimport os, sys; print(os.getpid(), getattr(sys, 'left', 'nothing'), 'mine' in"
    show += " globals(), os.environ.get('OF_THIS_TEST'), os.getcwd())"
    show += "\nfrom bedside.read.surroundings import here; print(here.run, here.budget_total)"
    a = notebook(tmp_path, "a", show, "import sys; sys.left = mine = 'something'")
    b, kernels_ids = notebook(tmp_path, "b", show, "print(a)\n1 / (a - 7)"), set()
    for path, value in ((a, "set"), (b, None)):
        monkeypatch.setenv("OF_THIS_TEST", value) if value else monkeypatch.delenv("OF_THIS_TEST")
        monkeypatch.setattr(here, "run", f"run-{value}")
        monkeypatch.setattr(here, "budget_total", f"{value} USD")
        out = tmp_path / "done.ipynb"
        told = r"(?s)b\.ipynb failed in cell .*1 / \(a - 7\).*ZeroDivisionError: .*done\.ipynb"
        if value:
            notebooks.execute(path, out, {})
        else:
            with pytest.raises(BedsideError, match=told):
                notebooks.execute(path, out, {"a": 7})
        first, second, *last = printed(out).splitlines()
        pid, *rest = first.split(maxsplit=4)
        assert rest == ["nothing", "False", str(value), str(paths.ROOT)]
        assert second == f"run-{value} {value} USD"
        assert last == ([] if value else ["7"])
        kernels_ids.add(pid)
    assert len(kernels_ids) == 2


RUN = """
import sys
from pathlib import Path
from bedside.build import kernels, notebooks
if sys.argv[2] == "forked":
    kernels.warm()
path = Path(sys.argv[1])
notebooks.execute(path, path.with_name("out.ipynb"), {})
"""


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
    pid = tmp_path / "pid"
    cells = f"import os; open({str(pid)!r}, 'w').write(str(os.getpid()))", "import time"
    path = notebook(tmp_path, "a", *cells, "time.sleep(600)")
    command = [sys.executable, "-c", RUN, str(path), kind]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
    until(lambda: pid.is_file() and pid.read_text(), 60)
    kernel = int(pid.read_text())
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
