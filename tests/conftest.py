"""What many tests share: a scripted endpoint, places of their own, a copy of the project."""

import asyncio
import csv
import gc
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # tests run side by side already
os.environ["BEDSIDE_MAKE"] = "test"  # variables of `make test` are of no step that tests call
gc.disable()  # until all files are imported
pytest.register_assert_rewrite("explorer_page", "raters_labels", "known_lab")

from bedside.asking import registry, store
from bedside.asking.replies import Request
from bedside.build import notebooks
from bedside.read import paths
from bedside.read.surroundings import here
from bedside.run import Run
from browser import browser
from calling import world
from endpoints import SILENT, Endpoint, completion, counted
from judged import nothing

__all__ = ["SILENT", "browser", "completion", "counted", "nothing", "world"]
notebooks.spare_grammar()


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers():
    """One process more than there are cores: some tests wait, for a browser or an endpoint."""
    return notebooks.cores() + 1


def in_data():
    return {p.relative_to(paths.ROOT).as_posix() for p in paths.DATA.rglob("*") if p.is_file()}


def pytest_sessionstart(session):
    session.in_data = in_data()


def pytest_sessionfinish(session):
    """No test writes into the checkout's data."""
    odd = in_data() ^ session.in_data
    if odd and not hasattr(session.config, "workerinput"):
        told = session.config.pluginmanager.get_plugin("terminalreporter")
        told.write_line(f"\nERROR: a test wrote or deleted {', '.join(sorted(odd))}", red=True)
        session.exitstatus = 1


def pytest_collection_finish(session):
    """From here on garbage is looked for, but not among what was imported, which is much."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Mark what slow.csv names; of a test "1 in n", all parameters but each n-th are slow."""
    slow, seen = {}, Counter()
    with open(Path(__file__).with_name("slow.csv"), newline="") as f:
        for row in csv.DictReader(f):
            slow.setdefault(row["slow"], []).append(row["fast"])
    for item in items:
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        kept = slow.get(item.nodeid) or slow.get(test, [item.nodeid])
        n = int(kept[0].removeprefix("1 in ")) if kept[0].startswith("1 in ") else 0
        if seen[test] % n != 1 if n else item.nodeid not in kept:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    """A ledger of its own for each test, and for the processes that it starts."""
    monkeypatch.setattr(here, "ledger", str(tmp_path / "ledger"))
    monkeypatch.setattr(here, "make", "test")
    monkeypatch.setattr(here, "terminal", "")
    for name in ("run", "budget_total"):  # what a make sets
        monkeypatch.setattr(here, name, "")
    yield
    odd = {n for n in os.environ if n.startswith("BEDSIDE_")} - {"BEDSIDE_ROOT", "BEDSIDE_MAKE"}
    assert not odd, "nothing reads these: set fields of `bedside.read.surroundings.here`"


@pytest.fixture
def endpoint():
    server = Endpoint()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def served(endpoint, monkeypatch):
    """Name of a registry model behind `endpoint`."""
    entry = {
        "provider": "test",
        "base_url": endpoint.url,
        "model": "asked-2026-01-01",
        "max_concurrency": 4,
        "timeout_s": 60,  # however busy this machine is
    }
    monkeypatch.setitem(registry.entries(), "served", registry.as_model("served", entry))
    return "served"


def with_fields(name, **fields):
    """A model's entry with other fields."""
    return msgspec.structs.replace(registry.model(name), **fields)


@pytest.fixture
def recordings(tmp_path):
    return store.Recordings(tmp_path / "recordings")


def apart(patch, folder):
    """What users record, bring and get has its place in a folder."""
    patch.setattr(paths, "RECORDINGS", folder / "recordings")
    patch.setattr(paths, "EXTERNAL", folder / "external")
    patch.setattr(here, "figures", str(folder / "figures"))


@pytest.fixture
def run_of(tmp_path, monkeypatch, served):
    """A function that makes the Run of a paper's notebook: sample data, recording from `served`."""

    def make(paper, notebook):
        monkeypatch.setattr(here, "figures", str(tmp_path))
        run = Run(paper, notebook, profile="sample", mode="record", models="served")
        run.recordings = store.Recordings(tmp_path / "recordings")
        return run

    return make


def ask_for(name, *items, **settings):
    """Requests, one for each item."""
    return [
        Request(
            i,
            name,
            [{"role": "user", "content": f"question {i}"}],
            {"max_tokens": 20, "temperature": 0, **settings},
        )
        for i in items
    ]


@pytest.fixture
def turned(monkeypatch):
    """The clock is turned on by whoever sleeps; a function that gives the seconds so far."""
    slept, began, pause = [0.0], time.perf_counter(), asyncio.sleep

    async def sleep(seconds):
        slept[0] += seconds
        await pause(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(time, "perf_counter", lambda: began + slept[0])
    return lambda: slept[0]


@pytest.fixture
def root(tmp_path):
    """A copy of what a run reads, to be named by BEDSIDE_ROOT."""
    top = tmp_path / "root"
    for name in ("data", "notebooks", "lib"):
        shutil.copytree(
            paths.ROOT / name,
            top / name,
            ignore=shutil.ignore_patterns("external", "__pycache__", "*.egg-info"),
        )
    return top


@pytest.fixture
def checkout(root):
    """Such a copy that is set up, so that make can be called in it."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(paths.ROOT / name, root)
    (root / ".venv").symlink_to(sys.prefix)
    return root


def of_make(root):
    """The environment of a make in a copy of the project."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CONDA", "BEDSIDE_"))}
    return {**kept, "BEDSIDE_ROOT": str(root), "PYTHONPATH": str(root / "lib")}


def until(condition, seconds=60):
    """Wait for a condition; an error if it doesn't come true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
