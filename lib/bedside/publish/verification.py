"""Verification: rebuild a profile and compare it with the committed outputs."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable

from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.read import paths, sources
from bedside.read.surroundings import within

from . import letters, pages

PICTURES = (".svg", ".png")  # another processor or version draws them otherwise: they are listed
DRAWN = re.compile(rb"base64,[\w+/=]+")  # pictures in pages


def verify(profile: str, explorer: tuple[Callable, Callable] | None = None) -> None:
    """Rebuild a profile in a scratch folder and compare it with the committed outputs.

    Without git, the files in figures/ are compared. Pictures that differ are listed; any other file
    that does raises BedsideError. explorer: (write, read), which write the profile's explorer and
    return what such a page holds.
    """
    scratch = paths.CACHE / "verify"
    shutil.rmtree(scratch, ignore_errors=True)
    old = json.loads(_bytes(f"{profile}/manifest.json") or "{}").get("notebooks", {})
    committed, apart = _names(profile), _private(profile)
    without = {name: old[name] for name in apart if name in old}
    write, read = explorer or (None, None)
    with within(figures=str(scratch)):
        _rebuild(profile, without, committed, write)
    files, kept = (
        [f for f in found if not f.endswith("manifest.json")]
        for found in (_below(scratch, profile), committed)
    )
    every = sorted({*files, *kept})
    moved = [
        f
        for f in every
        if f not in files or not same(f, _bytes(f), (scratch / f).read_bytes(), read)
    ]
    print(f"{len(every) - len(moved)} of {len(every)} files of {profile} identical")
    for name, data in apart.items():
        print(f"{name} rests on {data}, not in the committed run; built, not compared:")
        made = scratch / "runs" / f"{profile}-local" / name.partition("/")[0]
        print(*(f"  {p.name}" for p in sorted(made.iterdir())), sep="\n")
    lines = {f: f"  figures/{f}{_why(f in files, f in kept)}" for f in moved}
    if drawn := [line for f, line in lines.items() if f.endswith(PICTURES)]:
        print("these pictures differ from the committed ones:", *drawn, sep="\n")
    if differ := [line for f, line in lines.items() if not f.endswith(PICTURES)]:
        raise BedsideError("\n".join(["these files differ from the committed ones:", *differ]))


def _rebuild(profile, without, committed, write):
    """Build a profile anew. without: the manifest's entries of notebooks that can't be."""
    from .pages import across

    folder = settings.outputs(profile)
    notebooks.run_all(notebooks.listed(), {"profile": profile})
    folder.mkdir(parents=True, exist_ok=True)  # nothing else may have been built
    paths.write(folder / "manifest.json", json.dumps({"notebooks": without}))
    manifest = pages.merge(profile)
    across.write(manifest, folder)
    if f"{profile}/explorer.html" in committed and write:
        write({"profile": profile})
    if any(name.startswith(f"{profile}/letters/") for name in committed):
        letters.write(profile)


def _private(profile):
    """{notebook that rests on private sources: their names}."""
    found = {n: sources.private(profile, *n.split("/")) for n in notebooks.listed()}
    return {n: ", ".join(names) for n, names in found.items() if names}


def same(name: str, before: bytes | None, now: bytes, read=None) -> bool:
    """Whether a file is unchanged: byte for byte; of a page all but its pictures.

    Of an explorer what `read` finds in it: its compressed bytes differ between machines.
    """
    if before is None or not name.endswith(".html"):
        return before == now
    if read and name.endswith("/explorer.html"):
        return read(before.decode()) == read(now.decode())
    return DRAWN.sub(b"", before) == DRAWN.sub(b"", now)


def _why(built, kept):
    if not built:
        return " (committed, not built)"
    return "" if kept else " (built, not committed)"


def _git(*arguments):
    done = subprocess.run(["git", "-C", str(paths.ROOT), *arguments], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def _bytes(name):
    """Bytes of figures/<name> as committed, or without git those on disk; None without any."""
    if _git("rev-parse", "HEAD") is not None:
        return _git("show", f"HEAD:figures/{name}")
    path = paths.FIGURES / name
    return path.read_bytes() if path.is_file() else None


def _names(profile):
    """The committed files of a profile, below figures/."""
    listed = _git("ls-tree", "-r", "--name-only", "HEAD", f"figures/{profile}/")
    if listed is not None:
        return [n.removeprefix("figures/") for n in listed.decode().splitlines()]
    return _below(paths.FIGURES, profile)


def _below(folder, profile):
    """The files of a profile in a folder, without notebooks' parts."""
    files = (p for p in sorted((folder / profile).rglob("*")) if p.is_file())
    return [p.relative_to(folder).as_posix() for p in files if ".parts" not in p.parts]
