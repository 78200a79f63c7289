"""Executed notebooks as pages: nbconvert's HTML without scripts, in the frame of all pages.

Outputs may hold text from anywhere; the Content-Security-Policy limits what a page may run.
"""

import functools
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.build import notebooks

from . import HERE

if TYPE_CHECKING:
    from nbformat import NotebookNode


def bodies(
    entries: Mapping[str, dict], profile: str, folder: Path
) -> Iterator[tuple[str, str, str]]:
    """Yield (name, title, HTML) of the executed notebooks. entries: those of the manifest.

    Notebooks whose page in `folder` is newer than their last run are left out.
    """
    ours = max(map(_age, HERE.glob("*.*")))
    due = {}
    for name in entries:
        path, made = notebooks.executed(name, profile), folder / f"{name}.html"
        if path.is_file() and not (made.is_file() and _age(made) > max(_age(path), ours)):
            due[name] = path
    for name, path in due.items():
        form = OF_OTHERS if entries[name]["changed"] else FOLDED
        yield name, notebooks.title(name), converted(read(path), raw_template=form)


def read(path: Path) -> "NotebookNode":
    """Read a notebook with nbformat."""
    notebooks.spare_grammar()
    import nbformat

    return nbformat.read(path, 4)


def converted(notebook: "NotebookNode", **options: Any) -> str:
    """A notebook's cells as HTML without scripts. options: nbconvert's own."""
    logging.getLogger("traitlets").setLevel(logging.ERROR)  # it asks for a text for each picture
    return SCRIPT.sub("", _exporter(**options).from_notebook_node(notebook)[0])


@functools.cache
def _exporter(**options):
    from nbconvert import HTMLExporter

    return HTMLExporter(template_name="basic", exclude_anchor_links=True, **options)


SCRIPT = re.compile(r"<script\b.*?(</script\s*>|\Z)", re.S | re.I)


MEASURE = "measure"  # tag of the cells that compute what the paper defines
# code is folded but for these
FOLDED = """{% extends 'basic/index.html.j2' %}
{% block input_group %}
{% if 'MEASURE' in cell.metadata.tags %}{{ super() }}
{% else %}<details><summary>Code</summary>{{ super() }}</details>{% endif %}
{% endblock %}""".replace("MEASURE", MEASURE)
SHOWS = "shows"  # tag of the text that tells what the paper's numbers show: not those of other runs
OF_OTHERS = (
    FOLDED
    + """
{% block markdowncell %}
{% if 'SHOWS' in cell.metadata.tags %}
<details><summary>What the paper’s numbers show</summary>{{ super() }}</details>
{% else %}{{ super() }}{% endif %}
{% endblock %}""".replace("SHOWS", SHOWS)
)


def anchor(cells: list[dict], output: str) -> str:
    """The anchor, on its notebook's page, of the cell that computes an output; empty if none does.

    It is the cell that writes the output, or one tagged MEASURE that comes before it in the same
    section.
    """
    computed = ""
    for c in cells:
        if c["cell_type"] == "markdown" and "".join(c["source"]).startswith("#"):
            computed = ""
        if MEASURE in c["metadata"].get("tags", ()):
            computed = c["id"]
        if f'"{output}"' in "".join(c["source"]):
            return f"#cell-id={computed or c['id']}"
    return ""


def _age(path):
    return path.stat().st_mtime


def style() -> str:
    """The style sheet for code, for light and dark screens."""
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=s).get_style_defs(".highlight") for s in STYLES)
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}"


STYLES = ("xcode", "github-dark")
