"""Verification: rebuild a profile and compare its numbers with the committed ones."""

import csv
import io
import json
import shutil
import subprocess

from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.read import paths, sources
from bedside.read.surroundings import within

from . import pages

SHOWN = 5  # rows of a file that are told
CLOSE = 1e-9  # numbers of a CSV have ten digits, and processors differ in the last


def verify(profile: str) -> None:
    """Rebuild a profile in a scratch folder and compare its CSV files with the committed ones.

    These hold its tables, graded replies, claims and readings. Without git, the files in figures/
    are compared. A row that differs, in whatever order it comes, raises BedsideError.
    """
    from .pages import across

    scratch = paths.CACHE / "verify"
    shutil.rmtree(scratch, ignore_errors=True)
    private = {n: sources.private(profile, *n.split("/")) for n in notebooks.listed()}
    private = {name: ", ".join(names) for name, names in private.items() if names}
    old = json.loads(_committed(f"{profile}/manifest.json") or "{}").get("notebooks", {})
    with within(figures=str(scratch)):
        folder = settings.outputs(profile)
        notebooks.run_all(notebooks.listed(), {"profile": profile})
        folder.mkdir(parents=True, exist_ok=True)  # nothing else may have been built
        kept = {name: entry for name, entry in old.items() if name in private}
        pages.save(folder, {"notebooks": kept})
        across.write(pages.merge(profile), folder)
    for name, data in private.items():
        print(f"{name} rests on {data}, not in the committed run: built, not compared")
    built = {p.relative_to(scratch).as_posix() for p in folder.rglob("*.csv")}
    names, differ = sorted(built | _names(profile)), []
    for name in names:
        now = (scratch / name).read_text(encoding="utf-8") if name in built else None
        differ += _differences(f"figures/{name}", _committed(name), now)
    if differ:
        raise BedsideError("\n".join(["these rows differ from the committed ones:", *differ]))
    print(f"{len(names)} of {len(names)} files of {profile} have the committed numbers")


def _differences(name, before, now):
    """Lines on the rows by which two CSV texts differ; a missing file is None."""
    if before is None or now is None:
        return [f"{name}: {'built, not committed' if before is None else 'committed, not built'}"]
    old, new = (sorted(csv.reader(io.StringIO(text))) for text in (before, now))
    lost, come = ([r for r in a if r not in b] for a, b in ((old, new), (new, old)))
    if len(lost) == len(come) and all(map(_same, lost, come)) and len(old) == len(new):
        return []
    lines = [f"- {','.join(r)}" for r in lost] + [f"+ {','.join(r)}" for r in come]
    more = [f"... {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{name}: {len(old)} rows committed, {len(new)} built", *lines[:SHOWN], *more]


def _same(old, new):
    """Whether rows have the same texts, and numbers that differ in the last digit at most."""

    def same(a, b):
        try:
            return a == b or abs(float(a) - float(b)) <= CLOSE * abs(float(a))
        except ValueError:
            return False

    return len(old) == len(new) and all(map(same, old, new))


def _git(*arguments):
    done = subprocess.run(["git", "-C", str(paths.ROOT), *arguments], capture_output=True)
    return done.stdout.decode() if done.returncode == 0 else None


def _committed(name):
    """The text of figures/<name> as committed, or without git on disk; None without any."""
    if _git("rev-parse", "HEAD") is not None:
        return _git("show", f"HEAD:figures/{name}")
    path = paths.FIGURES / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _names(profile):
    """The committed CSV files of a profile, below figures/."""
    listed = _git("ls-tree", "-r", "--name-only", "HEAD", f"figures/{profile}/")
    here = paths.FIGURES.rglob("*.csv") if listed is None else ()
    names = (listed or "").splitlines() or [p.relative_to(paths.ROOT).as_posix() for p in here]
    found = {n.removeprefix("figures/") for n in names if n.endswith(".csv")}
    return {n for n in found if n.startswith(f"{profile}/") and ".parts" not in n}
