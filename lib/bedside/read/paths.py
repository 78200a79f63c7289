"""The repository's folders, the same from every working directory, and the list of its studies."""

import contextlib
import functools
import os
import tomllib
from pathlib import Path
from urllib.parse import quote

from bedside import BedsideError

ROOT = Path(os.environ.get("BEDSIDE_ROOT") or Path(__file__).resolve().parents[3])
DATA = ROOT / "data"
EXTERNAL = DATA / "external"
PROMPTS = DATA / "prompts"
PUBLISHED = DATA / "published"
CLAIMS = DATA / "claims"
READINGS = DATA / "readings"
STATEMENTS = DATA / "statements"
FINDINGS = DATA / "findings"
REPLIES = DATA / "replies"
SLIPS = DATA / "slips.csv"
RECORDINGS = DATA / "recordings"
FIGURES = ROOT / "figures"
NOTEBOOKS = ROOT / "notebooks"
CACHE = ROOT / ".cache"

if not (DATA / "sources.toml").is_file():
    raise BedsideError(
        f"{ROOT} is not a Bedside checkout (no data/sources.toml): "
        "install with `pip install -e .` from the checkout, or set BEDSIDE_ROOT"
    )


def rel(path: Path | str) -> str:
    """Name `path` from the repository's root, for messages and manifests."""
    path = Path(path)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def found(path: Path | str) -> Path:
    """A user's file or folder: from the working folder, else from the repository's root."""
    path = Path(path)
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        if not path.exists() and (ROOT / path).exists():
            return ROOT / path
    return path


def file_name(name: str) -> str:
    """A model's or judge's name as part of a file's: what no file can be named is escaped."""
    return quote(name, safe=" @+:")


@functools.cache
def papers() -> dict[str, dict]:
    """data/papers.toml: {paper: its entry}, in the order of the index; the list of all studies.

    A study without a short name has its title as `name`.
    """
    entries = tomllib.loads((DATA / "papers.toml").read_text())
    return {paper: {"name": entry["title"], **entry} for paper, entry in entries.items()}
