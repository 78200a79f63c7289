"""How to cite: CITATION.cff and data/papers.toml as BibTeX."""

import functools
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
    cff, entries = about(), {}
    if cff:
        fields = {k: cff.get(k) for k in ("title", "version", "license")}
        author = " and ".join(f"{{{a['name']}}}" for a in cff["authors"])
        year, url = f"{cff['date-released']:%Y}", cff.get("repository-code")
        entries["software{bedside"] = {"author": author, **fields, "year": year, "url": url}
    if paper:
        study = paths.papers()[paper]
        author = study["authors"].replace(", ", " and ")
        known = {} if "Not named" in author else {"author": author}
        entries[f"misc{{{paper}"] = {"title": study["title"], **known, "url": study["links"][0]}
    return "\n".join(
        "".join([f"@{head},\n", *(f"  {k} = {{{v}}},\n" for k, v in fields.items() if v), "}\n"])
        for head, fields in entries.items()
    )
