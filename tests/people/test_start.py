"""start.py: what it does on each system, without setting up anything here."""

import ast
import importlib.util
import os
import subprocess
import sys

import pytest

from bedside.read import paths

FILE = paths.ROOT / "start.py"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """The module, as in an unpacked hand-out in a folder with a blank and an umlaut."""
    spec = importlib.util.spec_from_file_location("start", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = tmp_path / "Übung Köln" / "mein ordner"
    (root / "seminar").mkdir(parents=True)
    for name in ("seminar.lock", "pyproject.toml"):
        (root / name).write_bytes((paths.ROOT / name).read_bytes())
    monkeypatch.setattr(module, "ROOT", str(root))
    monkeypatch.setattr(module, "VENV", str(root / ".venv"))
    for name in module.SERVERS:
        monkeypatch.delenv(name, raising=False)
    return module


@pytest.fixture
def called(start, monkeypatch):
    """The commands that would run, and how they would run; what a fault is in fails."""
    calls, faults = [], []

    def call(command, **options):
        calls.append((command, options))
        if "venv" in command and not any(f in command for f in faults):
            os.makedirs(os.path.dirname(start.python()), exist_ok=True)
            open(start.python(), "w").close()
        return int(any(f in command for f in faults))

    monkeypatch.setattr(start.subprocess, "call", call)
    monkeypatch.setattr(start, "have", lambda names: False)
    return calls, faults


def commands(calls):
    return [command for command, _ in calls]


def test_it_needs_python_alone_and_old_ones_can_read_it():
    text = FILE.read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 4))
    lists = [n.elts for n in ast.walk(tree) if isinstance(n, ast.List | ast.Tuple)]
    assert not [e for each in lists for e in each if isinstance(e, ast.Starred)]
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)]
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {a.name.partition(".")[0] for n in imports for a in n.names}
    assert names <= sys.stdlib_module_names - {"fcntl", "signal", "pwd", "resource"}
    used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    posix = {"fork", "symlink", "getuid", "kill", "killpg", "setsid", "sched_getaffinity", "execv"}
    assert not used & posix and text.isascii()


def test_the_first_start_sets_up_and_the_second_only_opens(start, called):
    calls, _ = called
    assert start.main(["--no-browser"]) == 0
    venv, locked, package, lab = commands(calls)
    assert venv[1:4] == ["-m", "venv", "--clear"]
    assert locked[0] == package[0] == lab[0] == start.python() and "--require-hashes" in locked
    assert package[-2:] == ["--editable", "."]
    folder = os.path.join(start.ROOT, "seminar")
    assert lab[1:] == ["-m", "jupyterlab", f"--ServerApp.root_dir={folder}", "--no-browser"]
    env = calls[-1][1]["env"]
    assert env["PYTHONUTF8"] == "1" and env["PYTHONPATH"] == os.path.join(start.ROOT, "lib")
    calls.clear()
    assert start.main([]) == 0 and len(calls) == 1


def test_another_lock_is_set_up_but_not_one_with_other_line_ends(start, called):
    calls, _ = called
    start.main([])
    lock = os.path.join(start.ROOT, "seminar.lock")
    with open(lock, "rb") as f:
        text = f.read()
    calls.clear()
    with open(lock, "wb") as f:
        f.write(text.replace(b"\n", b"\r\n"))
    start.main([])
    assert len(calls) == 1
    with open(lock, "ab") as f:
        f.write(b"# another\n")
    start.main([])
    assert len(calls) == 1 + 4  # is pip there, two installs, JupyterLab


@pytest.mark.parametrize(
    "fault, says", [("venv", "python3-venv"), ("--require-hashes", "needs a network")]
)
def test_what_fails_is_said_and_tried_again(start, called, capsys, fault, says):
    calls, faults = called
    faults.append(fault)
    assert start.main([]) == 1 and says in capsys.readouterr().out
    assert not any("jupyterlab" in c for c in commands(calls))
    faults.clear()
    assert start.main([]) == 0 and "jupyterlab" in commands(calls)[-1]


def test_on_windows_python_is_among_the_scripts(start, called, monkeypatch):
    monkeypatch.setattr(start.os, "name", "nt")
    parts = os.path.join(".venv", "Scripts", "python.exe")
    assert start.python() == os.path.join(start.ROOT, parts)
    assert start.main([]) == 0
    monkeypatch.undo()
    assert called[0][-1][0][0].endswith(parts)


def test_another_python_is_looked_for_and_else_named(start, called, monkeypatch, capsys):
    calls, _ = called
    monkeypatch.setattr(start.sys, "version_info", (3, 14, 0))
    monkeypatch.setattr(start, "which", lambda name: name == "py")
    monkeypatch.setattr(start, "quiet", lambda command: command[:2] == ["py", "-3.12"])
    start.main(["--no-browser"])
    (found,) = commands(calls)
    assert found[:2] == ["py", "-3.12"] and found[-1] == "--no-browser"
    monkeypatch.setattr(start, "which", lambda name: None)
    assert start.main([]) == 1
    assert "needs Python 3.11, 3.12 or 3.13, and this is Python 3.14." in capsys.readouterr().out


@pytest.mark.parametrize("server", ["JUPYTERHUB_API_URL", "BINDER_SERVICE_HOST"])
def test_where_jupyterlab_runs_nothing_is_set_up(start, called, monkeypatch, capsys, server):
    calls, _ = called
    monkeypatch.setenv(server, "x")
    assert start.main([]) == 1 and "environment.yml" in capsys.readouterr().out
    monkeypatch.setattr(start, "have", lambda names: True)
    monkeypatch.setattr(start, "ours", lambda: True)
    assert start.main([]) == 0 and not calls
    assert "already" in capsys.readouterr().out
    monkeypatch.setattr(start, "ours", lambda: False)
    assert start.main([]) == 0 and [c[-1] for c in commands(calls)] == ["."]  # the package alone


def test_where_all_is_installed_it_opens_at_once(start, called, monkeypatch, capsys):
    calls, _ = called
    monkeypatch.setattr(start, "have", lambda names: True)
    monkeypatch.setattr(start, "ours", lambda: True)
    assert start.main([]) == 0 and "nothing is set up" in capsys.readouterr().out
    assert [c[:3] for c in commands(calls)] == [[sys.executable, "-m", "jupyterlab"]]


def test_it_knows_its_own_package(start):
    """Of this checkout where it is this checkout's, and not from a folder elsewhere."""
    code = (
        "import runpy, sys; m = runpy.run_path(sys.argv[1]); print(m['ours'](), m['have'](['os']))"
    )
    env = {**os.environ, "PYTHONPATH": str(paths.ROOT / "lib")}
    run = [sys.executable, "-c", code, str(FILE)]
    done = subprocess.run(run, capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert not start.ours()
