"""What the pages show: a profile's manifest, prepared for the templates of the index, of each
study's page and of the ledger of claims.
"""

import base64
import csv
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bedside import judges, notebooks, paths, settings, sources, tables
from bedside.claims import (
    FOUND,
    KINDS,
    OF,
    RANKS,
    VERDICTS,
    WEIGHT,
    by_verdict,
    rank,
    replies,
    tally,
    word,
)
from bedside.layouts import Layout, grid
from bedside.published import SOURCES

from . import HERE, executed, frame, hashes, pages, template

PRINTED = re.compile(r"(Table|Figure) (\d+)(\w?)")  # a title that begins with the paper's number
COUNTED = dict(
    zip(
        RANKS,
        (
            "The papers’ central claims",
            "The papers’ details",
            "Their printed numbers, against each other",
            "Counted apart: a third party’s summary",
            "Counted apart: the released data",
            "Counted apart: our own findings (found, not found)",
        ),
    )
)
TOLD = ("the paper", "a third party’s summary", "the released data", "ours")  # by OF
KIND = ("what a text says", "printed numbers against each other", "our own findings")  # by KINDS
DOUBT = ("differs", "depends", "undetermined")  # shown first, and open


def write(manifest: dict, folder: Path, errors: Iterable[dict] = (), site: bool = False) -> None:
    """Write index.html, <paper>.html and claims.html of a profile into `folder`.

    errors: the requests of this run that failed. site: for a static host; see `Pages`.
    """
    Pages(manifest, folder, site).write(errors)


def write_notebooks(manifest: dict, folder: Path, site: bool = False) -> None:
    """Write a page for each executed notebook of a profile, unless an up-to-date one is there."""
    Pages(manifest, folder, site).write_notebooks()


class Pages:
    """The pages of a profile or run: what all of them share, and the templates.

    A static host (site) may show no other people's texts. There the profiles other than `sample`
    have neither executed notebooks nor an explorer.
    """

    def __init__(self, manifest, folder, site=False):
        self.entries, self.profile, self.folder = manifest["notebooks"], manifest["profile"], folder
        self.texts = self.profile == "sample" or not site
        # the way from the profile's pages to the repository's files
        of_run = folder.parent.name == "runs"
        self.up = "../" if site else "../../../" if of_run else "../../"
        self.letters = self.profile == "public" and not of_run
        present = {e["paper"] for e in self.entries.values()}
        self.studies = {p: e for p, e in paths.papers().items() if p in present}
        said = (m for e in self.entries.values() for m in e["recordings"])
        brought = (m for e in self.entries.values() for m in e.get("elsewhere", ()))
        self.asked = [*sorted(set(said)), *sorted(set(brought))]
        self.claims = [{**c, "notebook": k} for k, e in self.entries.items() for c in e["claims"]]
        self.replies = {p: replies(p) for p in self.studies}

    def page(self, here, name, root="", **more):
        """Write one page from the template `name`."""
        linked = pages({p: e["name"] for p, e in self.studies.items()}, explorer=self.texts)
        shared = {
            "frame": frame(linked, here, self.asked, root),
            "profile": self.profile,
            "studies": self.studies,
            "claims": self.claims,
            "replies": self.replies,
            "verdicts": VERDICTS,
            "word": word,
            "rank": rank,
            "doubt": DOUBT,
            "whose": dict(zip(OF, TOLD)),
            "up": self.up,
            "texts": self.texts,
            "letters": self.letters,
        }
        path = self.folder / here
        path.parent.mkdir(parents=True, exist_ok=True)
        text = template(HERE / f"{name}.html.j2").render(**shared, **more)
        path.write_text(text, encoding="utf-8")

    def write(self, errors):
        shown = {k: list(_outputs(k, e, self.folder)) for k, e in self.entries.items()}
        index = _index(self.profile, self.entries, self.claims, shown)
        self.page("index.html", "index", errors=errors, **index)
        cards = _cards(self.entries)
        for paper, about in self.studies.items():
            parts = {
                k: {
                    **e,
                    "title": notebooks.title(k),
                    "shown": shown[k],
                    "cards": cards[k],
                    "ranked": _ranked(e["claims"]),
                }
                for k, e in self.entries.items()
                if e["paper"] == paper
            }
            printed = _printed(o for e in parts.values() for o in e["shown"])
            more = {"paper": paper, "about": about, "parts_of": parts, "printed": printed}
            more["scale"] = judges.scale
            self.page(f"{paper}.html", "paper", **more)
        script = (HERE / "claims.js").read_text(encoding="utf-8")
        facets = {
            "paper": {p: e["name"] for p, e in self.studies.items()},
            "verdict": {v: v for v in (*VERDICTS, *FOUND.values())},
            "basis": {**{s: t.lower() for s, t in SOURCES.items()}, "none": "none yet"},
            "weight": dict(zip(WEIGHT, WEIGHT)),
            "of": dict(zip(OF, TOLD)),
            "kind": dict(zip(KINDS, KIND)),
            "saved": {"yes": "by one reading alone"},
        }
        self.page("claims.html", "claims", facets=facets, script=script, hashes=hashes([script]))

    def write_notebooks(self):
        if self.texts:
            place, code = self.folder / "notebooks", executed.style()
            for name, title, body in executed.bodies(self.entries, self.profile, place):
                more = {"title": title, "body": body, "code": code, "notebook": name}
                self.page(f"notebooks/{name}.html", "notebook", "../../", **more)


def _outputs(notebook, entry, folder):
    """An entry's figures and tables, each with its numbers laid out for readers and its picture."""
    cells = notebooks.cells(notebook)
    for o in (o for o in entry["outputs"] if o["file"].endswith(".csv")):
        path, svg = folder / entry["paper"] / o["file"], b""
        with open(path, newline="", encoding="utf-8") as f:
            rows = [tables.read(r) for r in csv.DictReader(f)]
        if o["kind"] == "figure":
            svg = base64.b64encode(path.with_suffix(".svg").read_bytes())
        layout = Layout(**o["layout"]) if "layout" in o else None
        forms = [".csv", ".md", ".tex"] + ([".png", ".svg"] if svg else [])
        yield {
            **o,
            "name": path.stem,
            "number": PRINTED.match(o["title"]),
            "files": {form: f"{entry['paper']}/{path.stem}{form}" for form in forms},
            "svg": svg.decode(),
            "cell": f"{notebook}.html{executed.anchor(cells, path.stem)}",
            "grid": grid(rows, layout, o["digits"]),
        }


def _printed(shown):
    """Outputs that belong to a numbered table or figure of the paper, in order, tables first.

    Each gets a `short` name. If several share a number, it also tells them apart.
    """
    numbered = [o for o in shown if o["number"]]
    same = Counter(o["number"][0] for o in numbered)
    for o in numbered:
        more = o["name"].partition("_")[2].replace("_", " ")
        o["short"] = o["number"][0] + (f" ({more})" if same[o["number"][0]] > 1 else "")
    return sorted(
        numbered, key=lambda o: (o["number"][1] == "Figure", int(o["number"][2]), o["name"])
    )


def _ranked(claims):
    """A section's claims: the paper's central ones in doubt, and all others by verdict."""
    first = [c for c in claims if _central(c) and word(c["verdict"]) in DOUBT]
    rest = [c for c in claims if c not in first]
    return first, by_verdict(rest)


def _central(claim):
    return rank(claim) == "central"


def _cards(entries):
    """{notebook: {judge: (card, whether the page shows it here first)}}; later ones are links."""
    seen, found = set(), {}
    for k, e in entries.items():
        found[k] = {}
        for judge, card in e["judges"].items():
            found[k][judge] = (card, (e["paper"], judge) not in seen)
            seen.add((e["paper"], judge))
    return found


def _index(profile, entries, claims, shown):
    """What the index shows inside the frame."""
    known = sources.registry()
    mine = {n: e for n, e in known.items() if profile in e["profiles"]}
    by_paper = {e["paper"]: [] for e in entries.values()}
    for c in claims:
        by_paper[c["paper"]].append(c)
    used = {n for e in entries.values() for n in e["data"]} & set(known)
    studies = {}
    for paper, made in by_paper.items():
        central = [c for c in made if _central(c)]
        outputs = [o for k, e in entries.items() if e["paper"] == paper for o in shown[k]]
        theirs = [c for c in made if c["of"] == "paper"]
        studies[paper] = {
            "central": by_verdict(central),
            "counts": Counter((c["basis"], word(c["verdict"])) for c in theirs),
            "bases": {c["basis"] for c in theirs},
            "printed": _printed(outputs),
            "others": sum(not o["number"] for o in outputs),
        }
    return {
        "told": settings.profiles()[profile]["about"],
        "sections": studies,
        "tally": tally(claims),
        "ranks": COUNTED,
        "bases": {**SOURCES, "none": "No basis yet"},
        "tested": sum(any(r["tests"] for r in c["readings"]) for c in claims),
        "changed": _changed(entries),
        "registry": known,
        "used": sorted(used),
        "absent": {n: e for n, e in known.items() if n not in mine},
        "lacking": {n: e for n, e in mine.items() if e.get("optional") and n not in used},
    }


def _changed(entries):
    """{settings that differ from the profile's, as text: the notebooks that had them}."""
    found = {}
    for name, entry in entries.items():
        if entry["changed"]:
            told = " ".join(f"{k.upper()}={v}" for k, v in entry["changed"].items())
            found.setdefault(told, []).append(name)
    return found
