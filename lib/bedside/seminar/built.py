"""What is built is known by its hash, so that whatever somebody changed or put there stays."""

import hashlib
import json
import os
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths

RECORD = ".built.json"


def put(folder: Path, files: dict[str, bytes]) -> None:
    """Write built files {name: content} into a folder, in place of those built before.

    BedsideError, and nothing is written, if somebody changed one since, or put one there.
    """
    record = folder / RECORD
    known = json.loads(record.read_text("utf-8")) if record.is_file() else {}

    def is_ours(path, name):
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in known.get(
            name, []
        )

    there = {n: folder / n for n in files if os.path.lexists(folder / n)}
    if changed := [paths.rel(p) for n, p in there.items() if not is_ours(p, n)]:
        raise BedsideError(
            f"saved or put there since they were built: {', '.join(changed)}. Nothing was"
            " overwritten. Rename what you want to keep, delete the rest, and run this again."
        )
    old = {n for n in known if n not in files and (folder / n).is_file() and is_ours(folder / n, n)}
    new = {n: hashlib.sha256(content).hexdigest() for n, content in files.items()}
    folder.mkdir(parents=True, exist_ok=True)  # the record is first, so that a cut build goes on
    paths.write(record, json.dumps({n: [*known.get(n, [])[-1:], h] for n, h in new.items()}))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        paths.write(folder / name, content)
    for name in old:
        (folder / name).unlink()
