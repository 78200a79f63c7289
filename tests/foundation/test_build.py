"""The build: notebooks run together, each alone in its kernel, and only what changed."""

import html
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
from bedside import __main__ as steps
from bedside.build import kernels, notebooks, settings
from bedside.publish.pages import content
from bedside.read import paths
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


def test_each_notebook_has_a_kernel_of_its_own(kind, tmp_path):
    show = (
        "import os, sys; print(os.getpid(), getattr(sys, 'left', 'nothing'), 'mine' in globals())"
    )
    a = notebook(tmp_path, "a", show, "import sys; sys.left = mine = 'something'")
    b = notebook(tmp_path, "b", show)
    for path in (a, b):
        notebooks.execute(path, path, {})
    (first, *one), (second, *other) = said(a).split(), said(b).split()
    assert first != second and one == other == ["nothing", "False"]


def test_a_kernel_gets_the_environment_of_the_moment(kind, tmp_path, monkeypatch):
    path = notebook(tmp_path, "a", "import os; print(os.environ.get('OF_THIS_TEST'), os.getcwd())")
    for value in ("set", None):
        monkeypatch.setenv("OF_THIS_TEST", value) if value else monkeypatch.delenv("OF_THIS_TEST")
        notebooks.execute(path, path, {})
        assert said(path).split() == [str(value), str(paths.ROOT)]


def test_a_notebook_says_what_failed(tmp_path):
    path = notebook(tmp_path, "x", "a = 1", "import os\nprint(a, os.getcwd())\n1 / (a - 7)")
    notebooks.execute(path, tmp_path / "done.ipynb", {"a": 5})
    assert said(tmp_path / "done.ipynb").strip() == f"5 {paths.ROOT}"
    told = r"(?s)x\.ipynb failed in cell .*1 / \(a - 7\).*ZeroDivisionError: .*done\.ipynb"
    with pytest.raises(BedsideError, match=told):
        notebooks.execute(path, tmp_path / "done.ipynb", {"a": 7})


def test_a_notebooks_parameters_are_read_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    path = notebook(tmp_path, "x", "a = 1\nb = -0.5  # why\nc = ''", "d = 2")
    assert notebooks.parameters("x") == {"a": 1, "b": -0.5, "c": ""}
    path.write_text(path.read_text().replace("parameters", "params"))
    with pytest.raises(BedsideError, match="x.ipynb: exactly one cell .* not 0"):
        notebooks.parameters("x")


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


@pytest.mark.parametrize("jobs", [1, 2, 8])
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


def test_what_failed_is_told_once_the_others_have_run(runs):
    log, faults = runs
    faults["a/01_x"], passed = "a wrong number", []
    with pytest.raises(BedsideError, match="a wrong number"):
        notebooks.run_all([*OTHERS, FIRST], {}, 2, lambda name, seconds: passed.append(name))
    assert sorted(passed) == sorted({*OTHERS, FIRST} - {"a/01_x"})


def test_a_run_says_what_of_it_is_complete(runs, monkeypatch, tmp_path):
    log, faults = runs
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    faults["a/01_x"] = "a wrong\nnumber, or\x1b so"
    with pytest.raises(BedsideError):
        notebooks.run_all([*OTHERS, FIRST], {}, 2)
    told = settings.statuses(settings.outputs(""))
    assert told.pop("a/01_x") == ("failed", "a wrong number, or\ufffd so")
    assert told == dict.fromkeys(["a/02_y", "b/01_z", FIRST], ("complete", ""))
    settings.mark(["b/01_z"], "started")  # and killed
    assert settings.statuses(settings.outputs(""))["b/01_z"] == ("started", "")
    faults.clear()
    notebooks.run_all([*OTHERS, FIRST], {}, 2)
    assert {s for s, _ in settings.statuses(settings.outputs("")).values()} == {"complete"}


def test_a_page_says_why_a_notebook_failed(monkeypatch, tmp_path):
    """The cause, however long the cell is that failed, and however often blanks occur in it."""
    cell = "\n".join([*(f"step_{n} = {n}" for n in range(100)), "raise ValueError('no  row 7')"])
    path = notebook(tmp_path, "a", "profile = ''", cell)

    def run(name, given):
        notebooks.execute(path, tmp_path / "out.ipynb", {})

    monkeypatch.setattr(notebooks, "run", run)
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    with pytest.raises(BedsideError, match="step_99 = 99") as e:  # the terminal shows the cell
        notebooks.run_all(OTHERS, {})
    assert "ValueError: no  row 7" in str(e.value)
    folder = settings.outputs("")
    content.write({"notebooks": {}, "profile": "sample"}, folder)
    page = html.unescape((folder / "index.html").read_text(encoding="utf-8"))
    assert page.count("ValueError: no row 7") == len(OTHERS) and "step_" not in page


def test_a_study_whose_judges_fail_does_not_go_on(runs):
    log, faults = runs
    faults[FIRST] = "no card"
    with pytest.raises(BedsideError, match="a/01_x did not run, since a/05_judges failed") as e:
        notebooks.run_all([*OTHERS, FIRST], {}, 2)
    assert "no card" in str(e.value) and {n for _, n in log} == {FIRST, "b/01_z"}


def test_what_is_to_do_stands_in_files_and_may_be_nothing(runs, tmp_path):
    log, _ = runs
    (tmp_path / "a.todo").write_text("a/01_x\na/02_y\n")
    absent = str(tmp_path / "b.todo")
    steps.main(["run", "--todo", absent, "--stamps", str(tmp_path)])
    assert log == []  # and not all of them
    steps.main(["run", "--todo", str(tmp_path / "a.todo"), absent, "--stamps", str(tmp_path)])
    assert {n for _, n in log} == {"a/01_x", "a/02_y"}
    stamps = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.done"))
    assert stamps == ["a/01_x.done", "a/02_y.done"]
