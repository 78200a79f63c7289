"""How to cite: CITATION.cff and data/papers.toml as BibTeX, and the address in Binder."""

import functools
import re
from typing import Any

from bedside.read import paths


@functools.cache
def about() -> dict[str, Any]:
    """CITATION.cff as a dict; empty in a copy without it, such as the seminar's."""
    import yaml

    path = paths.ROOT / "CITATION.cff"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def bibtex(paper: str = "") -> str:
    """The entry for this repository, and one for a study if it is named."""
    cff, made = about(), []
    if cff:
        author = " and ".join(f"{{{a['name']}}}" for a in cff["authors"])
        told = {k: cff[k] for k in ("title", "version", "license")}
        told |= {"year": f"{cff['date-released']:%Y}", "url": cff.get("repository-code")}
        made.append(_entry("software", "bedside", author=author, **told))
    if paper:
        study = paths.papers()[paper]
        names = study["authors"] if "Not named" not in study["authors"] else ""
        author = names.replace(", ", " and ")
        made.append(
            _entry(
                "misc", paper, title=study["title"], author=author, url="".join(study["links"][:1])
            )
        )
    return "\n".join(made)


def _entry(kind, key, **fields):
    """A BibTeX entry without its empty fields; its fields can't end it."""
    lines = [f"  {k} = {{{_plain(v)}}},\n" for k, v in fields.items() if v]
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"


def _plain(text):
    """Text in which braces match."""
    return text if text.count("{") == text.count("}") else re.sub("[{}]", "", text)


def binder() -> str:
    """The address that opens the notebooks in Binder, or '' if CITATION.cff has no repository."""
    found = re.fullmatch(
        r"https://github\.com/([\w.-]+/[\w.-]+?)(\.git)?/?", about().get("repository-code", "")
    )
    return f"https://mybinder.org/v2/gh/{found[1]}/HEAD?urlpath=lab/tree/notebooks" if found else ""
