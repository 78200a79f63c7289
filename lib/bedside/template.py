"""A new study: what templates/paper holds, put where a study's parts stand, under its own name."""

import keyword
import re
import tomllib
from pathlib import Path

from . import BedsideError, paths

TEMPLATE = paths.ROOT / "templates" / "paper"
NAME, TITLE = "new_study", "New study"  # what stands there for the study's name and its title
LISTS = ("data/papers.toml", "data/sources.toml")  # these exist; a study's entries are added


def begin(name: str) -> list[Path]:
    """Begin a study: returns the files made for it, then those that entries were added to.

    BedsideError, before anything is written, for a name that is none or is taken, and for a file
    that is there already.
    """
    _check(name)
    entries, made = {}, {}
    for path in _files():
        place = path.relative_to(TEMPLATE).as_posix()
        text = path.read_text(encoding="utf-8").replace(NAME, name).replace(TITLE, _title(name))
        (entries if place in LISTS else made)[paths.ROOT / place.replace(NAME, name)] = text
    if there := [paths.rel(path) for path in made if path.exists()]:
        raise BedsideError(f"a study {name!r} can't be begun: {', '.join(there)} is there already")
    added = {path: _added(path, text) for path, text in entries.items()}
    for path, text in {**made, **added}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [*made, *added]


def _title(name):
    return name.replace("_", " ").strip().capitalize()


def _files():
    found = [p for p in sorted(TEMPLATE.rglob("*")) if p.is_file()]
    hidden = ("__pycache__", ".ipynb_checkpoints")
    if found := [p for p in found if not set(hidden) & set(p.parts)]:
        return found
    raise BedsideError(f"{paths.rel(TEMPLATE)} is missing: a study begins as a copy of it")


def _check(name):
    """A study's name is a package, a target of make and part of a test's name; all must be free."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{,23}", name) or keyword.iskeyword(name):
        raise BedsideError(
            f"PAPER={name!r} is no name for a study: take lower-case letters, digits and _,"
            " a letter first, 24 of them at most"
        )
    if name in paths.papers():
        raise BedsideError(f"there is a study {name!r} already; see data/papers.toml")
    makefile = paths.ROOT / "Makefile"
    targets = re.findall(r"^([a-z_]+):", makefile.read_text(), re.M) if makefile.is_file() else ()
    if name in targets:
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
