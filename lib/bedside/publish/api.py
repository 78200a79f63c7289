"""What of docs/api.md is made: the names that `import bedside` offers, with what each does.

A name's words are its docstring's first line; order, sections and examples are docs/api.toml's.
"""

import inspect
import tomllib
from pathlib import Path

import bedside
from bedside import BedsideError
from bedside.read import paths

from . import readme

PAGE, EXAMPLES = paths.ROOT / "docs/api.md", paths.ROOT / "docs/api.toml"
BEGIN, END = "<!-- names: written by `make outputs` -->", "<!-- end of names -->"


def sections() -> list[dict]:
    """The sections of docs/api.toml: title, names ({name: [an example, its result or ""]}).

    before: what its examples need, if anything. Raises BedsideError unless each name that bedside
    offers is there once.
    """
    found = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))["section"]
    names, offered = [name for section in found for name in section["names"]], bedside.__all__
    if sorted(names) != sorted(offered):
        odd = {n for n in (*names, *offered) if names.count(n) != 1 or n not in offered}
        raise BedsideError(
            f"{paths.rel(EXAMPLES)}: each name that bedside offers stands there once; see"
            f" {', '.join(sorted(odd))}"
        )
    return found


def entry(name: str, example: str, result: str) -> str:
    """A name's lines: its signature, the first line of its docstring, the example."""
    about = getattr(bedside, name)
    said = inspect.getdoc(about).splitlines()[0].rstrip(".")
    gives = f" gives `{result}`" if result else ""
    return f"**`{name}{_signature(about)}`**: {said}.\\\n`{example}`{gives}\n"


def _signature(about):
    """The parameters, without their types; nothing of a module or an error."""
    if inspect.ismodule(about) or isinstance(about, type) and issubclass(about, Exception):
        return ""
    found, bare = inspect.signature(about), inspect.Parameter.empty
    given = [p.replace(annotation=bare) for p in found.parameters.values()]
    return str(found.replace(parameters=given, return_annotation=bare))


def filled(text: str) -> str:
    """A page's text with the names between its two marks."""
    lines = []
    for section in sections():
        lines.append(f"## {section['title']}\n")
        if before := section.get("before", "").strip():
            lines.append(f"```python\n{before}\n```\n")
        lines += [entry(name, *given) for name, given in section["names"].items()]
    return readme.between(text, BEGIN, "\n".join(["", *lines]), END, "docs/api.md")


def write() -> Path:
    """Write the names into docs/api.md; return its path."""
    paths.write(PAGE, filled(PAGE.read_text(encoding="utf-8")))
    return PAGE
