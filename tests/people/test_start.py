"""start.py: what it does on each system, without setting up anything here."""

import ast
import importlib.util
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from bedside.read import paths

FILE = paths.ROOT / "start.py"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """The module, as in an unpacked hand-out in a folder with a blank and an umlaut.

    `calls` are the commands that would run; what a word of `faults` is in fails.
    """
    spec = importlib.util.spec_from_file_location("start", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = tmp_path / "Übung Köln" / "mein ordner"
    (root / "seminar").mkdir(parents=True)
    for name in ("seminar.lock", "pyproject.toml"):
        (root / name).write_bytes((paths.ROOT / name).read_bytes())
    for name in module.SERVERS:
        monkeypatch.delenv(name, raising=False)
    calls, faults = [], []

    def call(command, **options):
        calls.append(command)
        if "venv" in command and not any(f in command for f in faults):
            os.makedirs(os.path.dirname(module.python()), exist_ok=True)
            open(module.python(), "w").close()
        return int(any(f in command for f in faults))

    for name, value in (("ROOT", str(root)), ("VENV", str(root / ".venv"))):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module.subprocess, "call", call)
    monkeypatch.setattr(module, "have", lambda names: False)
    return SimpleNamespace(module=module, main=module.main, root=root, calls=calls, faults=faults)


def test_it_needs_python_alone_and_old_ones_can_read_it():
    text = FILE.read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 4))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)] and text.isascii()
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {a.name.partition(".")[0] for n in imports for a in n.names}
    assert names <= sys.stdlib_module_names - {"fcntl", "signal", "pwd", "resource"}


@pytest.mark.parametrize("system, folder", [("posix", "bin"), ("nt", "Scripts")])
def test_the_first_start_sets_up_the_second_opens_and_another_lock_is_set_up(
    start, monkeypatch, system, folder
):
    monkeypatch.setattr(start.module.os, "name", system)
    assert start.main(["--no-browser"]) == 0
    venv, locked, package, lab = start.calls
    assert venv[1:3] == ["-m", "venv"] and "--require-hashes" in locked and package[-1] == "."
    assert folder in lab[0] and lab[1:3] == ["-m", "jupyterlab"] and "--no-browser" in lab
    start.calls.clear()
    assert start.main([]) == 0 and len(start.calls) == 1
    lock = start.root / "seminar.lock"
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    assert start.main([]) == 0 and len(start.calls) == 2  # the same lock with other line ends
    lock.write_bytes(lock.read_bytes() + b"# another\n")
    assert start.main([]) == 0 and len(start.calls) > 4
    monkeypatch.undo()


@pytest.mark.parametrize("fault, says", [("venv", "python3-venv"), ("--require-hashes", "network")])
def test_what_fails_is_said_and_tried_again(start, capsys, fault, says):
    start.faults.append(fault)
    assert start.main([]) == 1 and says in capsys.readouterr().out
    assert not any("jupyterlab" in c for c in start.calls)
    start.faults.clear()
    assert start.main([]) == 0 and "jupyterlab" in start.calls[-1]


def test_another_python_is_looked_for_and_else_named(start, monkeypatch, capsys):
    monkeypatch.setattr(start.module.sys, "version_info", (3, 14, 0))
    monkeypatch.setattr(start.module, "which", lambda name: name == "py")
    monkeypatch.setattr(start.module, "quiet", lambda command: command[:2] == ["py", "-3.12"])
    start.main(["--no-browser"])
    (found,) = start.calls
    assert found[:2] == ["py", "-3.12"] and found[-1] == "--no-browser"
    monkeypatch.setattr(start.module, "which", lambda name: None)
    assert start.main([]) == 1 and "this is Python 3.14" in capsys.readouterr().out


@pytest.mark.parametrize("server", ["", "JUPYTERHUB_API_URL", "BINDER_SERVICE_HOST"])
def test_where_all_is_installed_nothing_is_set_up(start, monkeypatch, capsys, server):
    if server:  # where JupyterLab runs already
        monkeypatch.setenv(server, "x")
        assert start.main([]) == 1 and "environment.yml" in capsys.readouterr().out
    monkeypatch.setattr(start.module, "have", lambda names: True)
    monkeypatch.setattr(start.module, "ours", lambda: True)
    assert start.main([]) == 0
    assert [c[:3] for c in start.calls] == (
        [] if server else [[sys.executable, "-m", "jupyterlab"]]
    )


def test_it_knows_its_own_package(start):
    """Of this checkout where it is this checkout's, and not from a folder elsewhere."""
    code = "import start; print(start.ours(), start.have(['os']))"
    env = {**os.environ, "PYTHONPATH": str(paths.ROOT / "lib")}
    run = {"capture_output": True, "text": True, "env": env, "cwd": paths.ROOT}
    done = subprocess.run([sys.executable, "-c", code], **run)
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert not start.module.ours()
