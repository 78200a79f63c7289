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
HIDDEN = {"__pycache__", ".ipynb_checkpoints"}


def begin(name: str) -> list[Path]:
    """Begin a study; return the new files, then the files to which entries were added.

    Raises BedsideError, before anything is written, for an invalid or taken name and for a file
    that already exists.
    """
    _check(name)
    files = sorted(p for p in TEMPLATE.rglob("*") if p.is_file() and not HIDDEN & {*p.parts})
    if not files:
        raise BedsideError(f"{paths.rel(TEMPLATE)} is missing, but a new study is a copy of it.")
    title = name.replace("_", " ").strip().capitalize()
    texts = {
        paths.ROOT / path.relative_to(TEMPLATE).as_posix().replace(NAME, name): path.read_text(
            encoding="utf-8"
        )
        .replace(NAME, name)
        .replace(TITLE, title)
        for path in files
    }
    lists = {paths.ROOT / file for file in LISTS}
    if there := [paths.rel(path) for path in texts.keys() - lists if path.exists()]:
        raise BedsideError(f"can't begin a study {name!r}: {', '.join(there)} already there")
    for path in lists & texts.keys():
        texts[path] = f"{path.read_text(encoding='utf-8').rstrip()}\n\n{texts[path]}"
        try:
            tomllib.loads(texts[path])
        except tomllib.TOMLDecodeError as e:  # such as a source that has the name of a new one
            raise BedsideError(f"{paths.rel(path)} would be no TOML any more: {e}") from None
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.write(path, text)
    return sorted(texts, key=lambda path: path in lists)


def _check(name):
    """Check a study's name: as a package, a target of make and a test's name it must be free."""
    refused = f"PAPER={name!r} can't name a study: "
    if not re.fullmatch(r"[a-z][a-z0-9_]{,23}", name) or keyword.iskeyword(name):
        rule = "use up to 24 lower-case letters, digits and _, a letter first, no Python keyword"
        raise BedsideError(refused + rule)
    if name in paths.papers():
        raise BedsideError(f"a study {name!r} exists already. See data/papers.toml.")
    if name in commands.targets():
        raise BedsideError(f"{refused}`make {name}` is another command. Choose another name.")
    if taken := sorted((paths.ROOT / "tests").rglob(f"test_{name}.py")):
        raise BedsideError(f"{refused}{paths.rel(taken[0])} has that name. Choose another one.")
