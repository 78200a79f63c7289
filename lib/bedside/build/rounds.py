"""Rounds: notebooks run in mode batch for what they can ask now, as plans run them.

for line in told(*waiting(given)):
    print(line)
"""

import functools
import tempfile
from collections.abc import Iterable, Iterator

from bedside import BedsideError
from bedside.asking import batches
from bedside.read import paths
from bedside.read.surroundings import here, within

from . import notebooks, plans, settings


def waiting(given: dict, paper: str = "") -> tuple[str, list[dict], str, str]:
    """(run, rows, fault, command) of the notebooks of all studies, or of one, with these settings.

    rows: what they can ask now, as `batches.row`; fault: what ended some of them, in words;
    command: what asks for the rest directly.
    """
    profile, studies = given.get("profile", "sample"), [paper] if paper else paths.papers()
    run = here.run or profile
    known = {k: v for k, v in given.items() if k in settings.NAMES}
    settings.validated(**known)
    usual = profile, settings.name_of(profile, settings.changed(given))
    named = {} if run in usual else {"run": run}
    ask = functools.partial(_study, {**given, "mode": "batch"})
    with tempfile.TemporaryDirectory() as scratch, within(figures=scratch), plans.at_once() as pool:
        found = [each for study in pool.map(ask, studies) for each in study]
    fault = "\n\n".join(filter(None, (fault for _, fault in found)))
    return run, [row for rows, _ in found for row in rows], fault, command("record", named | known)


def _study(given, paper):
    """[(what it asks now, what has ended it, in words)] of a study's notebooks."""
    found = []
    for name in notebooks.listed(paper):
        fault, space = "", {}
        try:
            plans.execute(name, given, space)
        except BedsideError as e:
            if type(e).__name__ in notebooks.STOPS:
                raise
            fault = f"{name}: {e}"
        asked = [batches.row(r, space["run"].recordings) for r in plans.requests(space)]
        found.append((asked, fault))
    return found


def told(run: str, rows: Iterable[dict], fault: str, command: str) -> Iterator[str]:
    """Write what waits as request files; say what they are and what to do.

    BedsideError if a notebook failed and there is nothing to ask.
    """
    if files := batches.write(rows, run):
        yield from (file.text for file in files)
        yield "Let an engine answer the files, run `make collect FROM=...`, then this again."
    elif fault:
        raise BedsideError(fault)
    else:
        yield f"Nothing is left to ask in batches. `{command}` asks for the remaining replies."


def command(target: str, given: dict) -> str:
    """A make command with these settings, but for the mode."""
    told = {k.upper(): v for k, v in given.items() if v not in ("", None) and k != "mode"}
    quoted = [f'{k}="{v}"' if " " in str(v) else f"{k}={v}" for k, v in told.items()]
    return " ".join(["make", target, *quoted])
