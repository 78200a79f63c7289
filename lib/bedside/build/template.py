"""A new study: the files of templates/paper, copied into place under the study's name."""

import keyword
import re
import tomllib
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths

from . import commands

TEMPLATE = paths.ROOT / "templates" / "paper"
NAME, TITLE = "new_study", "New study"  # placeholders for the study's name and title
LISTS = ("data/papers.toml", "data/sources.toml")  # these exist; a study's entries are added


def begin(name: str) -> list[Path]:
    """Begin a study; return the new files, then the files to which entries were added.

    Raises BedsideError, before anything is written, for an invalid or taken name and for a file
    that already exists.
    """
    _check(name)
    entries, made = {}, {}
    for path in _files():
        place = path.relative_to(TEMPLATE).as_posix()
        text = path.read_text(encoding="utf-8").replace(NAME, name).replace(TITLE, _title(name))
        (entries if place in LISTS else made)[paths.ROOT / place.replace(NAME, name)] = text
    if there := [paths.rel(path) for path in made if path.exists()]:
        raise BedsideError(f"can't begin a study {name!r}: {', '.join(there)} already there")
    added = {path: _added(path, text) for path, text in entries.items()}
    for path, text in {**made, **added}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.write(path, text)
    return [*made, *added]


def _title(name):
    return name.replace("_", " ").strip().capitalize()


def _files():
    found = [p for p in sorted(TEMPLATE.rglob("*")) if p.is_file()]
    hidden = ("__pycache__", ".ipynb_checkpoints")
    if found := [p for p in found if not set(hidden) & set(p.parts)]:
        return found
    raise BedsideError(f"{paths.rel(TEMPLATE)} is missing; a new study is a copy of it")


def _check(name):
    """Check a study's name: as a package, a target of make and a test's name it must be free."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{,23}", name) or keyword.iskeyword(name):
        raise BedsideError(
            f"PAPER={name!r} can't name a study: use up to 24 lower-case letters, digits and _, a"
            " letter first, and no Python keyword"
        )
    if name in paths.papers():
        raise BedsideError(f"there is already a study {name!r}; see data/papers.toml")
    if name in commands.targets():
        raise BedsideError(f"PAPER={name!r}: `make {name}` means something else; take another name")
    if taken := sorted((paths.ROOT / "tests").rglob(f"test_{name}.py")):
        raise BedsideError(f"PAPER={name!r}: {paths.rel(taken[0])} has that name; take another one")


def _added(path, entries):
    """A list's text with entries at its end."""
    text = f"{path.read_text(encoding='utf-8').rstrip()}\n\n{entries}"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:  # such as a source that has the name of a new one
        raise BedsideError(f"{paths.rel(path)} would be no TOML any more: {e}") from None
    return text
