"""Verification: rebuild a profile and compare its numbers with the committed ones."""

import io
import shutil
import subprocess
import tarfile
from collections import Counter

from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.read import paths, sources
from bedside.read.surroundings import within

from . import pages

SHOWN = 6  # rows of a file that are told


def verify(profile: str) -> None:
    """Rebuild a profile in a scratch folder and compare its CSV files with the committed ones.

    These hold its tables, graded replies, claims and readings. Without git, the files in figures/
    are compared. A row that differs, in whatever order it comes, raises BedsideError.
    """
    from .pages import across

    scratch = paths.CACHE / "verify"
    shutil.rmtree(scratch, ignore_errors=True)
    committed = _committed(profile, scratch / "committed") / profile
    private = {n: sources.private(profile, *n.split("/")) for n in notebooks.listed()}
    with within(figures=str(scratch)):
        folder = settings.outputs(profile)
        notebooks.run_all(notebooks.listed(), {"profile": profile})
        folder.mkdir(parents=True, exist_ok=True)  # nothing else may have been built
        old = pages.last(committed)["notebooks"]
        pages.save(folder, {"notebooks": {n: e for n, e in old.items() if private.get(n)}})
        across.write(pages.merge(profile), folder)
    for name, data in private.items():
        if data:
            print(f"{name} depends on {', '.join(data)}: built, not compared")
    names = sorted({p.relative_to(f) for f in (folder, committed) for p in f.rglob("*.csv")})
    found = {name: differing(committed / name, folder / name) for name in names}
    told = [f"figures/{profile}/{name}: {line}" for name in names for line in found[name]]
    if told:
        raise BedsideError("\n".join(["the built numbers differ from the committed ones:", *told]))
    print(f"{len(names)} of {len(names)} files of {profile} have the committed numbers")


def differing(committed, built):
    """Lines on the rows by which two CSV files differ."""
    if not (committed.is_file() and built.is_file()):
        return ["committed, not built" if committed.is_file() else "built, not committed"]
    old, new = (Counter(p.read_text(encoding="utf-8").splitlines()) for p in (committed, built))
    rows = [f"- {row}" for row in (old - new)] + [f"+ {row}" for row in (new - old)]
    return [f"{len(rows)} rows differ", *rows[:SHOWN]] if rows else []


def _committed(profile, to):
    """A folder with the committed files of a profile, or without git with those on disk."""
    command = ["git", "-C", str(paths.ROOT), "archive", "HEAD", f"figures/{profile}"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        return paths.FIGURES
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
        files.extractall(to, filter="data")
    return to / "figures"
