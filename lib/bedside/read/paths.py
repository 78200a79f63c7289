"""The repository's folders, the same from every working directory, and the list of its studies."""

import contextlib
import errno
import functools
import os
import threading
import tomllib
from pathlib import Path
from urllib.parse import quote

from bedside import BedsideError

from . import surroundings

ROOT = Path(surroundings.variable("BEDSIDE_ROOT") or Path(__file__).resolve().parents[3])
DATA = ROOT / "data"
EXTERNAL = DATA / "external"
PROMPTS = DATA / "prompts"
PUBLISHED = DATA / "published"
CLAIMS = DATA / "claims"
FINDINGS = DATA / "findings"
SPECIFICATIONS = DATA / "specifications"
COMPUTED = DATA / "computed"
SLIPS = DATA / "slips.csv"
RECORDINGS = DATA / "recordings"
BATCHES = ROOT / "batches"
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
    there = os.path.exists(path) or not os.path.exists(ROOT / path)
    return Path(path) if there else ROOT / path


def file_name(name: str) -> str:
    """A model's or judge's name as part of a file's: what no file can be named is escaped."""
    return quote(name, safe=" @+:")


def write(path: Path | str, content: str | bytes, *, durable: bool = False) -> None:
    """Write a file whole or not at all, in UTF-8: under another name first, which is then changed.

    durable: on disk when it returns, as what was paid for or made by people must be. BedsideError
    if that can't be, the old file as it was.
    """
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
    try:
        with open(part, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as e:
        raise unwritable(path, e) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


class Unwritable(BedsideError):
    """A file that can't be written."""


def unwritable(path: Path | str, error: OSError) -> Unwritable:
    """The error of a file that can't be written."""
    return Unwritable(f"{rel(path)}: can't be written ({why(error)}. All recordings are kept.")


def why(error: OSError) -> str:
    """What the system says of a file, with the way out: `No space left); free the disk, ...`."""
    ways = {
        errno.ENOLCK: "move the checkout to a disk whose files can be locked, such as a local one",
        errno.EMFILE: "allow more open files (ulimit -n)",
        errno.ENFILE: "allow more open files (ulimit -n)",
        errno.EEXIST: "move the file that has the folder's name",
        errno.ENOTDIR: "move the file that has the folder's name",
    }
    way = ways.get(error.errno, "free the disk or fix its permissions")
    return f"{error.strerror or error}). Please {way}, then run again"


def toml(path: Path) -> dict:
    """A TOML file of this repository; BedsideError says what is wrong with it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:  # not UTF-8, or no TOML, is a ValueError
        raise BedsideError(f"{rel(path)} can't be read: {e}") from None


@functools.cache
def papers() -> dict[str, dict]:
    """data/papers.toml: {paper: its entry}, in the order of the index; the list of all studies.

    A study without a short name has its title as `name`.
    """
    entries = toml(DATA / "papers.toml")
    return {paper: {"name": entry["title"], **entry} for paper, entry in entries.items()}


PROFILE = "sample"


@functools.cache
def profiles() -> dict[str, dict]:
    """data/profiles.toml: for each profile its models, judge and settings."""
    return toml(DATA / "profiles.toml")


def recorded(profile: str, section: str) -> list[str]:
    """Further models whose replies in a section ("study/notebook") are recorded whole."""
    known = profiles()[profile].get("recorded", {})
    return [model for model, sections in known.items() if section in sections]
