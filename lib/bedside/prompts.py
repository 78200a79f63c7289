"""Prompts: Jinja2 templates in data/prompts/<paper>/<name>.j2, one block for each message's role.

Data enters as variables, never as template text, so an expression inside an answer stays text. `fence` encloses text
under judgement in marks that it can't forge.
"""

import functools
import hashlib
from pathlib import Path

from . import BedsideError, paths

ROLES = ("system", "user")


def clean(text):
    """Replace lone surrogates, which no UTF-8 file or request can hold."""
    text = str(text)
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def fence(text):
    """Enclose text under judgement between marks named by its own digest, which it therefore can't contain."""
    text = clean(text)
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"<<<{mark}\n{text}\n{mark}>>>"


def numbered(entries):
    """Entries as lines, numbered from 1."""
    return "\n".join(f"{i}. {e}" for i, e in enumerate(entries, 1))


@functools.cache
def _environment(folder):
    import jinja2

    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(
            [str(folder), str(paths.PROMPTS)] if folder else str(paths.PROMPTS)
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["fence"] = fence
    return env


def source(name, folder=""):
    """The file that a template comes from: `folder` (PROMPTS=) goes before data/prompts."""
    for base in ([Path(folder)] if folder else []) + [paths.PROMPTS]:
        if (path := base / f"{name}.j2").is_file():
            return path
    raise BedsideError(f"no prompt template {name}.j2 in {folder or 'data/prompts'}")


def render(name, folder="", **fields):
    """Messages of template `name` ('my_paper/answer') as a list of {role, content}.

    Raises BedsideError if the template needs a field that isn't given, or has no `user` block.
    """
    import jinja2

    path = source(name, folder)
    try:
        template = _environment(str(folder)).get_template(f"{name}.j2")
        context = template.new_context(
            {k: clean(v) if isinstance(v, str) else v for k, v in fields.items()}
        )
        messages = [
            {"role": role, "content": "".join(template.blocks[role](context)).strip()}
            for role in ROLES
            if role in template.blocks
        ]
    except jinja2.TemplateError as e:
        raise BedsideError(f"{paths.rel(path)}: {e.message}") from e
    if "user" not in template.blocks:
        raise BedsideError(f"{paths.rel(path)}: a template needs a block named user")
    return messages


def render_all(name, frame, fields, folder="", **fixed):
    """{item: messages} of a template for each row of a frame (item, and the columns `fields`); fixed: the same for all."""
    rows = frame[["item", *fields]].to_dict("records")
    return {r.pop("item"): render(name, folder, **r, **fixed) for r in rows}
