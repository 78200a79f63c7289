"""Pages: merges the notebooks' parts into manifest.json, claims.csv and readings.csv, writes pages.

    merge("sample")  # figures/sample/index.html, <paper>.html, claims.html

All of them stand in one frame (frame.html.j2), need no server and no network, and may run no script
but those written here: their Content-Security-Policy says so to the browser.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bedside import ledger, models, paths, settings, sources, tables
from bedside.claims import READING

HERE = Path(__file__).parent
CLAIM = ["id", "paper", "of", "section", "weight", "claim", "published", "computed", "basis"]
CLAIM += ["verdict", "readings"]


def merge(profile: str) -> dict:
    """Merge the notebooks' parts of a profile into its manifest; return the manifest.

    A notebook that did not run this time keeps its entry; one that is gone from the tree loses it.
    """
    from . import content

    folder = settings.outputs(profile)
    path = folder / "manifest.json"
    entries = json.loads(path.read_text())["notebooks"] if path.is_file() else {}
    for part in sorted(folder.glob(".parts/*.json")):
        if not part.name.endswith(".plan.json"):
            p = json.loads(part.read_text())
            entries[f"{p['paper']}/{p['notebook']}"] = p
    papers = list(paths.papers())
    entries = {k: v for k, v in entries.items() if (paths.NOTEBOOKS / f"{k}.ipynb").is_file()}
    order = sorted(entries, key=lambda k: (papers.index(entries[k]["paper"]), k))
    # through JSON, so that fresh entries have the order of those that were kept
    entries = {k: json.loads(json.dumps(entries[k], sort_keys=True)) for k in order}
    for k, v in entries.items():
        v["notebook_sha256"] = sources.sha256(paths.NOTEBOOKS / f"{k}.ipynb")
    manifest = {"profile": profile, "notebooks": entries}
    path.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    claims = [c for e in entries.values() for c in e["claims"]]
    counted = [{**c, "readings": len(c["readings"])} for c in claims]
    _write(folder / "claims.csv", CLAIM, counted)
    _write(folder / "readings.csv", READING, [r for c in claims for r in c["readings"]])
    content.write(manifest, folder, errors=errors(folder))
    return manifest


def _write(path, columns, rows):
    """Write rows, as dicts, as a CSV."""
    text = tables.csv_text(columns, ([row[c] for c in columns] for row in rows))
    path.write_text(text, encoding="utf-8")


ERRORS = "errors.csv"


def errors(folder: Path) -> list[dict]:
    """What failed in this make, rows of `ledger.COLUMNS`; in errors.csv of `folder` if any did."""
    path, rows = folder / ERRORS, ledger.errors(ledger.make())
    if not rows:
        path.unlink(missing_ok=True)
        return rows
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, ledger.COLUMNS, rows)
    return rows


# ---- templates


def template(path: Path, **options: Any):
    """A template as jinja2 renders it: everything escaped, a missing field an error.

    It may extend `frame.html.j2`. options: jinja2's own, for what isn't HTML.
    """
    import jinja2

    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    loader = jinja2.FileSystemLoader([path.parent, HERE])
    options = {"autoescape": True, "loader": loader, **strict, **options}
    return jinja2.Environment(**options).get_template(path.name)


def pages(papers: dict[str, str], explorer: bool = True) -> dict[str, str]:
    """The pages of a profile, {file: name}. papers: {paper: name}."""
    studies = {f"{paper}.html": name for paper, name in papers.items()}
    made = {"index.html": "Bedside", **studies, "claims.html": "All claims"}
    return made | ({"explorer.html": "Single replies"} if explorer else {})


def frame(pages: dict[str, str], here: str = "", asked: Iterable[str] = (), root: str = "") -> dict:
    """What `frame.html.j2` takes: pages to link to, and whose models' answers this one is about.

    pages: {file: name}. here: this page's file. asked: models, also those of answers made
    elsewhere. root: the way to those files.
    """
    known = models.registry()
    tiny = [m for m in asked if known.get(m, {}).get("provider") == "local"]
    return {
        "here": here,
        "root": root,
        "pages": pages,
        "tiny": tiny,
        "others": [m for m in asked if m not in tiny],
        "style": (HERE / "frame.css").read_text(encoding="utf-8"),
    }


def hashes(scripts: Iterable[str]) -> str:
    """The scripts that a page may run, as its Content-Security-Policy names them."""
    digests = (hashlib.sha256(s.encode()).digest() for s in scripts)
    return " ".join(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
