"""Pages: merge the notebooks' parts into manifest.json, claims.csv and readings.csv; write pages.

    merge("sample")  # figures/sample/index.html, <paper>.html, claims.html
    across.write(manifest, folder)  # across_studies.html, once all studies are there

All pages share one frame (frame.html.j2) and need neither a server nor a network. Their
Content-Security-Policy lets the browser run no scripts but those written here.
"""

import base64
import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError
from bedside.asking import budget, registry
from bedside.build import notebooks, settings
from bedside.read import paths, prompts, sources
from bedside.read.claims import READING, completed
from bedside.write import tables

if TYPE_CHECKING:
    import jinja2

HERE = Path(__file__).parent
ACROSS = f"{notebooks.ACROSS}.html"
CLAIM = (
    "id paper of section weight claim published computed basis verdict readings kind saved_by"
).split()
ERRORS = "errors.csv"
SHOWN = 5  # how many kinds of failures are printed


def merge(profile: str, private: bool = False) -> dict:
    """Merge the notebooks' parts of a profile into its manifest, write pages; return the manifest.

    private: those that rest on private sources, which have a folder and pages of their own.

    A notebook that did not run this time keeps its entry. A deleted notebook loses it.
    """
    from .content import Pages

    folder = settings.outputs(profile, private=private)
    before = last(folder) if (folder / "manifest.json").is_file() else {}
    entries = before.get("notebooks", {})
    for part in folder.glob(".parts/*.json"):
        if not part.name.endswith(".plan.json"):
            p = json.loads(part.read_text(encoding="utf-8"))
            entries[f"{p['paper']}/{p['notebook']}"] = p
    papers = [*paths.papers()]
    listed = sorted(notebooks.listed(), key=lambda n: (papers.index(n.partition("/")[0]), n))
    entries = {name: entries[name] for name in listed if name in entries}
    for name, entry in entries.items():
        entry["notebook_sha256"] = sources.sha256(paths.NOTEBOOKS / f"{name}.ipynb")
        entry["claims"] = [completed(c) for c in entry["claims"]]
    manifest = {**before, "profile": profile, "notebooks": entries}
    save(folder, manifest)
    claims = [c for e in entries.values() for c in e["claims"]]
    _write(folder / "claims.csv", CLAIM, [{**c, "readings": len(c["readings"])} for c in claims])
    _write(folder / "readings.csv", READING, [r for c in claims for r in c["readings"]])
    Pages(manifest, folder).write(errors(folder))
    return manifest


def last(folder: Path) -> dict:
    """The manifest of a folder of outputs; BedsideError if it was never built."""
    path = folder / "manifest.json"
    if not path.is_file():
        raise BedsideError(f"{paths.rel(path)} is missing. `make all` writes it for its PROFILE.")
    return json.loads(path.read_text(encoding="utf-8"))


def save(folder: Path, manifest: dict) -> None:
    """Write a profile's or a run's manifest."""
    paths.write(folder / "manifest.json", json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def _write(path, columns, rows):
    """Write rows, as dicts, as a CSV."""
    paths.write(path, tables.csv_text(columns, ([row[c] for c in columns] for row in rows)))


def errors(folder: Path) -> list[dict]:
    """The failures of this make as rows of `budget.COLUMNS`; also writes them to errors.csv."""
    *_, rows = budget.told()
    (folder / ERRORS).unlink(missing_ok=True)
    if rows:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / ERRORS, budget.COLUMNS, rows)
    return rows


def tell_calls(folder: Path) -> None:
    """Print the cost and the failures of this make's calls; write errors.csv into `folder`."""
    calls, unpriced, _ = budget.told()
    if not calls:
        return
    told = f"; the price of {unpriced} is unknown" if unpriced else ""
    print(f"{calls} calls, ${budget.spent():.2f}{told}")
    failed = errors(folder)
    for e in failed[:SHOWN]:
        status = f" ({e['status']})" if e["status"] else ""
        print(f"  {e['calls']} failed: {e['model']}, {e['kind']}{status}: {e['message']}")
    if failed:
        count, path = sum(e["calls"] for e in failed), paths.rel(folder / ERRORS)
        print(f"  {count} failed in all; see {path}", flush=True)


# ---- templates


def template(path: Path, **options: Any) -> "jinja2.Template":
    """A jinja2 template that escapes everything and raises an error for a missing field.

    It may extend `frame.html.j2`. options: jinja2's own, for texts that aren't HTML.
    """
    import jinja2

    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    loader = jinja2.FileSystemLoader([path.parent, HERE])
    options = {"autoescape": True, "loader": loader, **strict, **options}
    return jinja2.Environment(**options).get_template(path.name)


def write(path: Path, name: str, **fields: Any) -> Path:
    """Write a page from the template `name`; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    paths.write(path, prompts.plain(template(HERE / f"{name}.html.j2").render(**fields)))
    return path


def pages(papers: dict[str, str], explorer: bool = True, across: bool = False) -> dict[str, str]:
    """The pages of a profile, {file: name}. papers: {paper: name}."""
    return {
        "index.html": "Bedside",
        **{f"{paper}.html": name for paper, name in papers.items()},
        **({ACROSS: "Side by side"} if across else {}),
        "claims.html": "All claims",
        **({"explorer.html": "Single replies"} if explorer else {}),
    }


def frame(
    pages: dict[str, str],
    here: str = "",
    asked: Iterable[str] = (),
    root: str = "",
    told: str = "",
    paper: str = "",
) -> dict:
    """The fields of `frame.html.j2`: the pages to link to, and the models that this page shows.

    pages: {file: name}. here: this page's file. asked: models, including those of answers made
    elsewhere. root: the relative path to those pages. told: one sentence for search and social
    pages. paper: the study to cite beside this repository.
    """
    tiny = [m for m in asked if registry.is_embedded(m)]
    return {
        "here": here,
        "root": root,
        "pages": pages,
        "tiny": tiny,
        "others": [m for m in asked if m not in tiny],
        "told": told,
        "cited": _cited(),
        "study": paths.papers().get(paper),
        "style": (HERE / "frame.css").read_text(encoding="utf-8"),
    }


@functools.cache
def _cited():
    """CITATION.cff as a dict; empty in a copy without it, such as the seminar's."""
    import yaml

    path = paths.ROOT / "CITATION.cff"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def drawing(path: Path, title: str) -> dict[str, str] | None:
    """A figure's picture for `parts.picture`, wide and narrow; None if there is none."""
    svg, narrow = (
        base64.b64encode(p.read_bytes()).decode() if p.is_file() else ""
        for p in (path.with_suffix(".svg"), path.with_suffix(".narrow.svg"))
    )
    return {"title": title, "svg": svg, "narrow": narrow} if svg else None


def html(markdown: str) -> str:
    """Markdown as HTML; HTML in it is escaped."""
    import mistune

    return mistune.create_markdown(escape=True)(markdown)


def hashes(scripts: Iterable[str]) -> str:
    """The hashes by which a page's Content-Security-Policy names the scripts that it may run."""
    digests = (hashlib.sha256(s.encode()).digest() for s in scripts)
    return " ".join(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
