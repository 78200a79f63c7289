"""Prompts: Jinja2 templates in data/prompts/<paper>/<name>.j2, one block for each message's role.

Data enters as variables, never as template text, so an expression inside an answer stays text.
`fence` puts text to be judged between marks that it can't forge.
"""

import functools
import hashlib
import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError

from . import paths

if TYPE_CHECKING:
    import pandas as pd

ROLES = ("system", "user")
# in a notebook: lines as they are, wrapped, in the colours of the surrounding page
SAID = (
    "white-space: pre-wrap; overflow-wrap: anywhere; border-left: 2px solid; padding-left: 1em;"
    " margin-bottom: 1em"
)


class Messages(list):
    """Messages, {role, content} each; when shown, each is a text below its role."""

    def __str__(self):
        return "\n\n".join(f"{m['role'].upper()}\n{m['content']}" for m in self)

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))

    def _repr_html_(self):
        said = ([html.escape(m[k]) for k in ("role", "content")] for m in self)
        return "".join(
            f'<p><strong>{role}</strong></p><div style="{SAID}">{text}</div>' for role, text in said
        )


def clean(text: object) -> str:
    """Replace lone surrogates, which no UTF-8 file or request can hold."""
    return str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# control characters, which a terminal would obey, and those that turn the order of what is read
ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: object) -> str:
    """`clean`, without the characters that give orders to a terminal or a page."""
    return ORDERS.sub("\ufffd", clean(text).replace("\r\n", "\n"))


def cleaned(fields: dict) -> dict:
    """`clean` for the texts among a dict's values."""
    return {k: clean(v) if isinstance(v, str) else v for k, v in fields.items()}


def fence(text: str) -> str:
    """Put text to be judged between marks that it can't contain: its own digest."""
    text = clean(text)
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"<<<{mark}\n{text}\n{mark}>>>"


def numbered(entries: Iterable[str]) -> str:
    """Entries as lines, numbered from 1."""
    return "\n".join(f"{i}. {e}" for i, e in enumerate(entries, 1))


@functools.cache
def _environment(folder):
    import jinja2

    loader = jinja2.FileSystemLoader([folder or paths.PROMPTS, paths.PROMPTS])
    options = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    env = jinja2.Environment(loader=loader, **options)
    env.filters["fence"] = fence
    return env


def source(name: str, folder: Path | str = "") -> Path:
    """The file of a template; `folder` (PROMPTS=) takes precedence over data/prompts."""
    for base in (folder or paths.PROMPTS, paths.PROMPTS):
        if (path := Path(base, f"{name}.j2")).is_file():
            return path
    raise BedsideError(f"no prompt template {name}.j2 in {folder or 'data/prompts'}")


def sha256(name: str, folder: Path | str = "") -> str:
    """sha256 (hex) of the file of a template."""
    return hashlib.sha256(source(name, folder).read_bytes()).hexdigest()


def render(name: str, folder: Path | str = "", **fields: Any) -> Messages:
    """Messages of template `name` ('my_paper/answer'), a list of {role, content}.

    Raises BedsideError if the template needs a field that isn't given, or has no `user` block.
    """
    import jinja2

    path = source(name, folder)
    try:
        template = _environment(str(folder)).get_template(f"{name}.j2")
        context = template.new_context(cleaned(fields))
        blocks = {role: template.blocks[role] for role in ROLES if role in template.blocks}
        said = {role: "".join(block(context)).strip() for role, block in blocks.items()}
    except jinja2.TemplateError as e:
        raise BedsideError(f"{paths.rel(path)}: {e.message}") from e
    if "user" not in said:
        raise BedsideError(f"{paths.rel(path)}: a template needs a block named user")
    if not said.get("system"):  # leave out an empty one, which some endpoints refuse
        said.pop("system", None)
    return Messages({"role": role, "content": content} for role, content in said.items())


def render_all(
    name: str,
    frame: "pd.DataFrame",
    fields: Iterable[str],
    folder: Path | str = "",
    **fixed: Any,
) -> dict[str, Messages]:
    """{item: messages} of a template, one for each row of a frame with an item.

    fields: the columns that the template gets. fixed: fields that are the same for all rows.
    """
    rows = frame[["item", *fields]].to_dict("records")
    return {r.pop("item"): render(name, folder, **r, **fixed) for r in rows}
