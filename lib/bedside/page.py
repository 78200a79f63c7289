"""The index: merges the notebooks' parts into manifest.json, writes claims.csv and index.html."""

import base64
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import ledger, notebooks, paths, settings, sources, tables
from .claims import READING, VERDICTS, replies, tally
from .layouts import Layout, grid

if TYPE_CHECKING:
    import jinja2

CLAIM = ["id", "paper", "of", "section", "weight", "claim", "published", "computed", "basis"]
CLAIM += ["verdict", "readings"]


def merge(profile: str) -> dict:
    """Merge the notebooks' parts of a profile into its manifest; return the manifest.

    A notebook that did not run this time keeps its entry; one that is gone from the tree loses it.
    """
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
    (folder / "index.html").write_text(_html(profile, entries, folder), encoding="utf-8")
    return manifest


def _write(path, columns, rows):
    """Write rows, as dicts, as a CSV."""
    text = tables.csv_text(columns, ([row[c] for c in columns] for row in rows))
    path.write_text(text, encoding="utf-8")


def _changed(entries):
    """Settings that aren't the profile's, as text: the notebooks that had them."""
    found = {}
    for name, entry in entries.items():
        if entry["changed"]:
            told = " ".join(f"{k.upper()}={v}" for k, v in entry["changed"].items())
            found.setdefault(told, []).append(name)
    return found


def errors_file(profile: str) -> Path:
    return settings.outputs(profile) / "errors.csv"


def errors(profile: str) -> list[dict]:
    """What failed in this make, rows of `ledger.COLUMNS`; written to errors.csv if there is any."""
    path, rows = errors_file(profile), ledger.errors(ledger.make())
    if not rows:
        path.unlink(missing_ok=True)
        return rows
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, ledger.COLUMNS, rows)
    return rows


def _outputs(entry, folder):
    """An entry's figures and tables, each with its numbers in people's layout and its picture."""
    for o in (o for o in entry["outputs"] if o["file"].endswith(".csv")):
        path, svg = folder / entry["paper"] / o["file"], b""
        with open(path, newline="", encoding="utf-8") as f:
            rows = [tables.read(r) for r in csv.DictReader(f)]
        if o["kind"] == "figure":
            svg = base64.b64encode(path.with_suffix(".svg").read_bytes())
        layout = Layout(**o["layout"]) if "layout" in o else None
        about = {"name": path.stem, "paper": entry["paper"], "svg": svg.decode()}
        yield {**o, **about, "grid": grid(rows, layout, o["digits"])}


def template(path: Path, **options: Any) -> "jinja2.Template":
    """A page's template as jinja2 renders it: everything escaped, a missing field an error.

    options: jinja2's own, for what isn't HTML.
    """
    import jinja2

    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(**{"autoescape": True, **strict, **options})
    return environment.from_string(path.read_text(encoding="utf-8"))


def _html(profile, entries, folder):
    """index.html as text."""
    parts = {}
    for name, e in entries.items():
        parts[name] = {**e, "title": notebooks.title(name), "shown": list(_outputs(e, folder))}
    claims = [c for e in entries.values() for c in e["claims"]]
    known = sources.registry()
    mine = {n: e for n, e in known.items() if profile in e["profiles"]}
    lacking = {n: e for n, e in mine.items() if e.get("optional") and not sources.here(n)}
    return template(Path(__file__).with_name("index.html.j2")).render(
        profile=profile,
        folder=paths.rel(folder),
        about=settings.profiles()[profile]["about"],
        papers=paths.papers(),
        parts=parts,
        tally=tally(claims),
        verdicts=VERDICTS,
        tested=sum(any(r["tests"] for r in c["readings"]) for c in claims),
        replies={p: replies(p) for p in {e["paper"] for e in entries.values()}},
        claims=claims,
        errors=errors(profile),
        absent={n: e for n, e in known.items() if n not in mine},
        lacking=lacking,
        cards={j: c for e in entries.values() for j, c in e["judges"].items()},
        registry=known,
        used=sorted({n for e in entries.values() for n in e["data"]}),
        changed=_changed(entries),
    )
