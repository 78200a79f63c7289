"""What is built carries one date, so that whatever has another date is somebody's work and stays.

A file that was opened and saved has another date, and so has one that was put there by hand.
"""

import os
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths

DATE = 946_684_800  # of built files: 1 January 2000, in UTC


def is_ours(path: Path) -> bool:
    """Whether a file is as it was built."""
    return path.is_file() and path.stat().st_mtime == DATE


def refuse_changed(files: list[Path]) -> None:
    """Raise BedsideError with the names of those of these files that somebody changed or made."""
    if changed := [p for p in files if os.path.lexists(p) and not is_ours(p)]:
        raise BedsideError(
            f"saved or put there since they were built: {', '.join(map(paths.rel, changed))}."
            " Nothing was overwritten. Rename what you want to keep, delete the rest, and run this"
            " again."
        )


def put(path: Path, content: bytes) -> None:
    """Write a built file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    paths.write(part, content)
    os.utime(part, (DATE, DATE))
    try:
        os.replace(part, path)
    except OSError as e:  # open in another program, on Windows
        raise paths.unwritable(path, e) from None
