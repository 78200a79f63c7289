"""Executed notebooks as pages: nbconvert's HTML without scripts, in the frame of all pages.

Outputs may hold text of anybody's: what a page may run its Content-Security-Policy says.
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bedside import notebooks, paths

from . import HERE


def bodies(names: Iterable[str], profile: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """(name, title, HTML) of the notebooks that are executed; one process converts all of them.

    Those whose page in `folder` is newer than the notebook's last run are left out.
    """
    ours = max(map(_age, HERE.glob("*.*")))
    due = {}
    for name in names:
        path, made = notebooks.executed(name, profile), folder / f"{name}.html"
        if path.is_file() and not (made.is_file() and _age(made) > max(_age(path), ours)):
            due[name] = path
    if not due:
        return
    notebooks.spare_grammar()
    import nbformat
    from nbconvert import HTMLExporter

    logging.getLogger("traitlets").setLevel(logging.ERROR)  # it wants words for each picture
    exporter = HTMLExporter(template_name="basic", exclude_anchor_links=True)
    for name, path in due.items():
        body, _ = exporter.from_notebook_node(nbformat.read(path, 4))
        yield name, notebooks.title(name), SCRIPT.sub("", body)


SCRIPT = re.compile(r"<script\b.*?(</script\s*>|\Z)", re.S | re.I)


def anchor(name: str, output: str) -> str:
    """Where on a notebook's page the cell stands that writes an output; empty if none names it."""
    cells = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
    named = (c["id"] for c in cells if f'"{output}"' in "".join(c["source"]))
    return next((f"#cell-id={i}" for i in named), "")


def _age(path):
    return path.stat().st_mtime


def style() -> str:
    """The colours of code, in light and in dark."""
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=s).get_style_defs(".highlight") for s in STYLES)
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}"


STYLES = ("xcode", "github-dark")
