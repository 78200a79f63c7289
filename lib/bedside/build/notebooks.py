"""Notebooks: their list and parameters, and their execution by papermill."""

import ast
import contextlib
import json
import os
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from bedside import BedsideError, choose
from bedside.asking import store
from bedside.read import paths, surroundings
from bedside.read.surroundings import here

# errors that would stop every other notebook too; the last are of the surroundings
STOPS = ("StopRun", "StoreError", "Unwritable")
SYSTEM = ("OSError", "PermissionError", "FileExistsError", "NotADirectoryError", "MemoryError")


class Failed(BedsideError):
    """A notebook's cell has failed; `cause` says where and why, without the cell's source."""

    def __init__(self, message: str, cause: str):
        super().__init__(message)
        self.cause = cause


class Stopped(BedsideError):
    """A budget, a refused key or a full disk has stopped a notebook."""


def listed(paper: str = "") -> list[str]:
    """The studies' notebooks as <paper>/<name>, in running order.

    Those that measure a study's judges come first.
    """
    first = measuring_judges()
    found = sorted(paths.NOTEBOOKS.glob("*/[0-9][0-9]_*.ipynb"))
    names = [f"{p.parent.name}/{p.stem}" for p in found if p.parent.name in paths.papers()]
    mine = [n for n in names if paper in ("", n.partition("/")[0])]
    return sorted(mine, key=lambda n: (n not in first, n))


def measuring_judges() -> set[str]:
    """The notebooks that measure their study's judges: others read the cards that they write."""
    papers = paths.papers().items()
    return {f"{name}/{e['judges_first']}" for name, e in papers if "judges_first" in e}


def cells(name: str) -> list[dict]:
    """The cells of a notebook <paper>/<name>."""
    return json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]


def parameters(name: str) -> dict:
    """Names and defaults in a notebook's cell tagged `parameters`."""
    path = paths.NOTEBOOKS / f"{name}.ipynb"
    tagged = [c for c in cells(name) if "parameters" in c["metadata"].get("tags", [])]
    if len(tagged) != 1:
        raise BedsideError(
            f"{paths.rel(path)}: exactly one cell must be tagged parameters, not {len(tagged)}"
        )
    lines = ast.parse("".join(tagged[0]["source"])).body
    return {n.targets[0].id: ast.literal_eval(n.value) for n in lines if isinstance(n, ast.Assign)}


def title(name: str) -> str:
    """First heading of a notebook <paper>/<name>, or its name."""
    for cell in cells(name):
        for line in "".join(cell["source"]).splitlines():
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line[2:].strip()
    return name


def opening(name: str) -> str:
    """The first paragraph below the first heading of a notebook, or ''."""
    text = "".join(cells(name)[0]["source"]).partition("\n\n")[2]
    return text.partition("\n\n")[0]


def spare_grammar() -> None:
    """Keep jsonschema, which checks notebooks, from building a grammar when it is imported.

    The grammar is that of internationalised addresses, and takes a fifth of a run's time.
    """
    sys.modules.setdefault("rfc3987_syntax", None)


def execute(path: Path, out: Path, given: dict) -> None:
    """Run the notebook `path` from the repository's root with parameters and write it to `out`.

    Raises Failed, which shows a failing cell, or Stopped, which is one sentence.
    """
    spare_grammar()
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    notebook, posix = paths.rel(path), os.name == "posix"
    try:
        # sockets in a folder of its own: no port that others see, and several may run at once
        short = "/tmp" if posix and len(tempfile.gettempdir()) > LONGEST else None
        with tempfile.TemporaryDirectory(dir=short) as own:
            environment = surroundings.handing_over(Path(own) / "settings.json")
            config = Config({"Started": {"environment": environment}})
            if posix:
                config.KernelManager.update(transport="ipc", ip=f"{own}/kernel")
            config.NotebookClient.kernel_manager_class = f"{__package__}.kernels.Started"
            # a kernel that is interrupted at its end would report an error for nothing
            config.NotebookClient.extra_arguments = ["--log-level=50"]
            papermill.execute_notebook(
                *(str(p).replace("{", "{{").replace("}", "}}") for p in (path, out)),
                parameters=given,
                kernel_name="python3",
                progress_bar=False,
                cwd=str(paths.ROOT),
                config=config,
            )
    except (RuntimeError, MemoryError):
        died = "its kernel died, as it does without enough memory (ulimit -v, or other programs')"
        raise Stopped(f"{notebook}: {died}. JOBS=1 needs the least.") from None
    except OSError as e:
        raise Stopped(f"{notebook} can't be run ({paths.why(e)}") from None
    except PapermillExecutionError as e:
        if e.ename in STOPS:
            raise Stopped(e.evalue) from None
        lines = [line for line in str(e.evalue).splitlines() if line.strip()]
        cause = f"{e.ename}: " + "\n".join(lines)
        if e.ename in SYSTEM:
            remedy = "free the disk, memory or files that it names, then run again"
            raise Stopped(f"{notebook}: {cause}; {remedy}") from None
        raise Failed(
            f"{notebook} failed in cell {e.cell_index}:\n\n{e.source}\n\n{cause}"
            f"\n\nSee the executed notebook {paths.rel(out)}",
            f"cell {e.cell_index}, {cause}",
        ) from None


LONGEST = 60  # characters of a temporary folder: a socket's path has 107 at most
OWN, ACROSS = "own_study", "across_studies"
ONLY_SOME = ("answers", "judge")  # parameters that only some notebooks take


def run(name: str, given: dict, out: Path | None = None) -> Path:
    """Execute a notebook with {parameter: value}; return its path, by default that of `executed`.

    BedsideError for an unknown notebook or parameter.
    """
    choose(name, [*listed(), OWN, ACROSS], "notebook")
    given, out = typed(name, given), out or executed(name, str(given.get("profile", "sample")))
    out.parent.mkdir(parents=True, exist_ok=True)
    execute(paths.NOTEBOOKS / f"{name}.ipynb", out, given)
    return out


def typed(name: str, given: dict) -> dict:
    """Those of `given` that are parameters of a notebook, in the types of their defaults.

    BedsideError for one that no notebook of its study takes either.
    """
    have, found = parameters(name), {}
    others = {*ONLY_SOME, *(p for n in listed(name.partition("/")[0]) for p in parameters(n))}
    for key, value in given.items():
        if key in others and key not in have:
            continue
        kind = type(have[choose(key, have, f"parameter of notebooks/{name}.ipynb")])
        try:
            found[key] = value in (True, "True", "1", "yes") if kind is bool else kind(value)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            where = f"{key} = {value!r} of notebooks/{name}.ipynb"
            raise BedsideError(f"{where}: give {what}") from None
    return found


def executed(name: str, profile: str) -> Path:
    """The path of a notebook once executed, in this process's run or in a profile."""
    place = here.run or profile
    return paths.CACHE / "executed" / place / f"{name}.ipynb"


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def run_all(names: list[str], given: dict, jobs: int = 0, done: Callable | None = None) -> None:
    """Execute notebooks in this process, `jobs` at once (0: one for each core), in order.

    Notebooks wait for those that measure their study's judges, and don't run if these fail. done:
    called with the name and the seconds of each finished notebook. Where calls follow, damaged
    recordings are a StoreError before any. Raises BedsideError with all
    failures once the others have run, or Stopped, after which no other notebook begins.
    """
    from . import kernels, settings

    _allow_files()
    if given.get("mode", "replay") != "replay":
        for study in sorted({n.partition("/")[0] for n in names}):
            store.Recordings(paths.RECORDINGS / study).check_sound()
    if len(names) > 1:  # a single notebook imports just what it needs
        kernels.warm()
    settings.mark(names, "started")
    judging = {n.partition("/")[0]: n for n in names if n in measuring_judges()}
    faults, measured = {}, {}

    def one(name):
        first, start = judging.get(name.partition("/")[0], name), time.monotonic()
        try:
            if name != first:
                measured[first].result()
            if any(isinstance(e, Stopped) for e in faults.values()):
                return
            if first in faults:
                raise BedsideError(f"{name} did not run, since {first} failed")
            run(name, given)
            settings.mark([name], "complete")
            if done:
                done(name, time.monotonic() - start)
        except BedsideError as e:
            faults[name] = e
            cause = e.cause if isinstance(e, Failed) else str(e)
            settings.mark([name], "failed", textwrap.shorten(cause, 300, placeholder=" ..."))

    pool = ThreadPoolExecutor(jobs or cores())
    try:
        measured |= {name: pool.submit(one, name) for name in judging.values()}
        list(pool.map(one, [n for n in names if n not in measured]))
        wait(measured.values())
    finally:  # if interrupted, the others don't begin
        pool.shutdown(wait=False, cancel_futures=True)
    if faults:
        told = {str(faults[n]): n for n in reversed(names) if n in faults}
        shown = [f"{n}: {t}" if isinstance(faults[n], Stopped) else t for t, n in told.items()]
        stopped = any(isinstance(fault, Stopped) for fault in faults.values())
        raise (Stopped if stopped else BedsideError)("\n\n".join(reversed(shown)))


FILES = 256  # open at once: kernels abort without a word when there are no more


def _allow_files():
    """Raise this process's limit of open files, as far as it may."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
