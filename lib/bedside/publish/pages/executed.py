"""Executed notebooks as pages: nbconvert's HTML without scripts, in the frame of all pages.

Outputs may hold text from anywhere; the Content-Security-Policy limits what a page may run.
"""

import functools
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.build import notebooks
from bedside.publish.comparison import Compared
from bedside.read import prompts

from . import frame, models, write

if TYPE_CHECKING:
    from nbformat import NotebookNode

SCRIPT = re.compile(r"<script\b.*?(</script\s*>|\Z)", re.S | re.I)
SCROLLS = re.compile(r'<div class="output_html\b[^">]*"')  # so the keyboard has to reach it
STYLES = ("xcode", "github-dark")
# code is folded, but for cells that compute what the paper defines
FOLDED = """{% extends 'basic/index.html.j2' %}
{% block input_group %}
{% if 'measure' in cell.metadata.tags %}{{ super() }}
{% else %}<details><summary>Code</summary>{{ super() }}</details>{% endif %}
{% endblock %}"""
# what the paper's numbers show is no finding of other runs
OF_OTHERS = f"""{FOLDED}
{{% block markdowncell %}}
{{% if 'shows' in cell.metadata.tags %}}
<details><summary>What the paper’s numbers show</summary>{{{{ super() }}}}</details>
{{% else %}}{{{{ super() }}}}{{% endif %}}
{{% endblock %}}"""
FILES = (
    "answers.csv verdicts.csv criteria.csv scores_elsewhere.csv errors.csv manifest.json"
).split()


def read(path: Path) -> "NotebookNode":
    """Read a notebook with nbformat."""
    notebooks.spare_grammar()
    import nbformat

    return nbformat.read(path, 4)


def converted(notebook: "NotebookNode", **options: Any) -> str:
    """A notebook's cells as HTML without scripts. options: nbconvert's own."""
    logging.getLogger("traitlets").setLevel(logging.ERROR)  # it asks for a text for each picture
    body = _exporter(**options).from_notebook_node(notebook)[0]
    return SCROLLS.sub(r'\g<0> tabindex="0"', SCRIPT.sub("", body))


@functools.cache
def _exporter(**options):
    from nbconvert import HTMLExporter

    return HTMLExporter(template_name="basic", exclude_anchor_links=True, **options)


def style() -> str:
    """The style sheet for code, for light and dark screens."""
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=s).get_style_defs(".highlight") for s in STYLES)
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}"


# ---- the page of a study of a user's own questions


def linked(name: str) -> dict[str, str]:
    """The pages of an own study, {file: name}, for `frame`."""
    return {"index.html": prompts.clean(name), "explorer.html": "Single replies"}


def write_own(
    folder: Path, name: str, notebook: Path, asked: Iterable[str], did: Compared | None = None
) -> Path:
    """Write index.html of the study `name` into `folder`; return its path.

    notebook: the executed notebook. asked: the models whose answers and verdicts it shows. did: the
    study as models are compared in it, None if nobody judged.
    """
    return write(
        folder / "index.html",
        "own",
        frame=frame(linked(name), "index.html", dict.fromkeys(asked)),
        title=prompts.clean(name),
        profile="own questions",
        files=[file for file in FILES if (folder / file).is_file()],
        code=style(),
        models=models.part(folder, [did]) if did else None,
        body=converted(read(notebook)),
    )
