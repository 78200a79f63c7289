"""What was built and what people have changed since: their work is never overwritten.

`.built.json` in a folder names the files that the last build put there, with their digests. A
notebook's is of its cells and their tags: one that was only run, or opened and saved, is as built.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths
from bedside.read.sources import sha256

NAME = ".built.json"


def known(folder):
    """{file: its digests as built} of a folder; empty for one that nothing was built in.

    A file has several only after a build that was cut off.
    """
    path = Path(folder) / NAME
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def content(notebook):
    """What people write in a notebook: (kind, text, tags) of each cell."""
    return [
        (c["cell_type"], "".join(c["source"]).rstrip(), sorted(c["metadata"].get("tags", [])))
        for c in notebook["cells"]
    ]


def digest(path):
    """sha256 (hex) of a file; of a notebook's content alone."""
    if path.suffix == ".ipynb":
        try:
            made = content(json.loads(path.read_text(encoding="utf-8")))
            return hashlib.sha256(json.dumps(made).encode()).hexdigest()
        except (ValueError, LookupError, TypeError, AttributeError):  # no notebook
            pass
    return sha256(path)


def changed(folder, names):
    """Those of these files of a folder that exist and are no longer as they were built."""
    before, folder = known(folder), Path(folder)
    there = (name for name in names if os.path.lexists(folder / name))
    return [
        name
        for name in there
        if not (folder / name).is_file() or digest(folder / name) not in before.get(name, ())
    ]


def refuse_changed(folder, names):
    """Raise BedsideError with the names of those of these files that somebody has changed."""
    if lost := changed(folder, sorted(set(names))):
        raise BedsideError(
            f"changed since they were built: {', '.join(paths.rel(Path(folder, n)) for n in lost)}"
            ". Nothing was overwritten. To hand out the sheets as you edited them: make seminar"
            " MINE=1. To build ours again, rename the files that you want to keep, delete the"
            " others, and build again; or build into another folder: python -m bedside seminar"
            " --folder NAME"
        )


def move(made, folder):
    """Put the files of the folder `made` into another, in place of what was built there before.

    BedsideError, and nothing is touched, if one of those was changed. A file that was built before
    and isn't now is deleted, unless it was changed; other files stay. A build that is cut off
    leaves each file either old or new, and the next build goes on from there.
    """
    made, folder = Path(made), Path(folder)
    new = {p.relative_to(made).as_posix(): digest(p) for p in made.rglob("*") if p.is_file()}
    refuse_changed(folder, new)
    before = known(folder)
    _write(
        folder,
        {n: [*before.get(n, []), *([new[n]] if n in new else [])] for n in {**before, **new}},
    )
    for name in sorted(new):
        _replace(made / name, folder / name)
    gone = before.keys() - new.keys()
    for name in gone - set(changed(folder, gone)):
        (folder / name).unlink(missing_ok=True)
    _write(folder, {name: [digest] for name, digest in new.items()})


def _replace(path, target):
    """Copy a file beside its target and move it in place at once, so it is never half there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    shutil.copyfile(path, part)
    os.replace(part, target)


def _write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    paths.write(folder / NAME, json.dumps(files, indent=1, sort_keys=True) + "\n")
