"""Once: frames that take long to compute, kept in data/computed with a hash of their inputs.

    frame = once.frame(path, make, [scores, 85])

The file is committed, so that a rerun reads it; where the inputs are others, it is made anew.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import paths

if TYPE_CHECKING:
    import pandas as pd


def frame(
    path: Path, make: Callable[[], pd.DataFrame], inputs: Iterable[Any], keep: bool = True
) -> pd.DataFrame:
    """The frame in a CSV file, if it was made from these inputs; else `make()`, kept there.

    inputs: frames, and what JSON can say. A file beside it, `<path>.json`, has their hash. A frame
    that isn't kept is returned as it would be read.
    """
    import pandas as pd

    beside, about = path.with_suffix(".json"), json.dumps({"inputs": digest(inputs)}) + "\n"
    if path.is_file() and beside.is_file() and beside.read_text(encoding="utf-8") == about:
        text = path.read_text(encoding="utf-8")
    else:
        text = make().to_csv(index=False, lineterminator="\n")
        for file, content in {path: text, beside: about}.items() if keep else ():
            path.parent.mkdir(parents=True, exist_ok=True)
            paths.write(file, content)
    return pd.read_csv(io.StringIO(text))


def digest(inputs: Iterable[Any]) -> str:
    """A hash of frames, with their index and columns, and of what JSON can say."""
    found = hashlib.sha256()
    for part in inputs:
        text = part.to_csv() if hasattr(part, "to_csv") else json.dumps(part, sort_keys=True)
        found.update(f"{text}\0".encode())
    return found.hexdigest()
