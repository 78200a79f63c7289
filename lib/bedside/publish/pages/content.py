"""What the pages show: a profile's manifest, prepared for the templates of the front page, of each
study's page and of the ledger of claims.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bedside.asking import registry
from bedside.build import notebooks, settings
from bedside.judging import trust_cards
from bedside.publish import comparison
from bedside.read import claims, findings, paths, sources
from bedside.read.published import SOURCES
from bedside.write import tables
from bedside.write.grids import address
from bedside.write.layouts import LEGEND, Layout, grid

from . import HERE, drawing, executed, frame, hashes, html, models, pages, write

PRINTED = re.compile(r"(Table|Figure) (\d+)(\w?)")  # a title that begins with the paper's number
APART = {  # what is counted apart from the papers' claims, by claims.RANKS: its name, its filter
    "consistency": ("printed numbers against each other", "kind=consistency"),
    "summary": ("a third party’s summary", "of=summary&kind=claim"),
    "data": ("the released data", "of=data&kind=claim"),
    "finding": ("our own questions (found, not found)", "kind=finding"),
}
WHOSE = {
    "paper": "the paper",
    "summary": "a third party’s summary",
    "data": "the released data",
    "own": "ours",
}
KIND = {
    "claim": "what a text says",
    "consistency": "printed numbers against each other",
    "finding": "our own findings",
}
WORST = {  # how a finding stands whose claims have several verdicts
    "differs": "in part it is contradicted",
    "undetermined": "in part it is open",
    "needs": "in part it needs data",
    "not measured": "in part it was not measured",
    "depends": "in part it depends on interpretation",
    "no bound": "in part it gives no threshold",
    "holds": "it is confirmed",
}
ABOUT = "Four studies of how language models fail patients, recomputed: what stands, what is new."
CHECKS = "table_data_checks"  # outputs of this name stand at the foot of a study's page
# sentences of captions that are about this run alone, and where sentences end
OF_RUN = re.compile(r"\b(this run|cut|judge[: ]|fewer than t\w+|was asked|made elsewhere)\b", re.I)
ENDS = re.compile(r"(?<=[.)]) (?=[A-Z(])")


class Pages:
    """The pages of a profile or run: what all of them share; templates see these attributes.

    A profile's own pages are committed, so they link to nothing that git leaves out: neither to
    executed notebooks nor, in profiles other than `sample`, to the explorer. A static host (site)
    may show no other people's texts; it has both for `sample` alone.
    """

    def __init__(self, manifest: dict, folder: Path, site: bool = False):
        self.entries, self.profile, self.folder = manifest["notebooks"], manifest["profile"], folder
        self.of_run, sample = folder.parent.name == "runs", self.profile == "sample"
        # the way from the profile's pages to the repository's files
        self.up = "../" if site else "../../../" if self.of_run else "../../"
        self.explorer, self.executed = sample or self.of_run, self.of_run or (site and sample)
        self.texts = sample or not site
        self.letters = self.profile == "public" and not self.of_run
        present = {e["paper"] for e in self.entries.values()}
        self.studies = {p: e for p, e in paths.papers().items() if p in present}
        asked = [{m for e in self.entries.values() for m in e.get(k, ())} for k in MODELS]
        self.asked = [m for some in asked for m in sorted(some)]
        self.claims = [{**c, "notebook": k} for k, e in self.entries.items() for c in e["claims"]]
        # findings are about printed and released numbers; another run has pages of its own
        committed = not self.of_run and not any(e["changed"] for e in self.entries.values())
        found = {p: findings.load(p, folder) if committed else [] for p in self.studies}
        self.findings = {p: [f for f in rows if not f.lacks] for p, rows in found.items()}
        # they are put side by side where all of them are there, and the notebook that does so
        whole = committed and self.studies.keys() == paths.papers().keys()
        self.across = whole and (paths.NOTEBOOKS / f"{notebooks.ACROSS}.ipynb").is_file()
        tiny = all(map(registry.is_embedded, self.asked))
        self.folds = committed and not sample and tiny  # this run's rows, behind a switch
        # what rests on private sources: linked where it is, which is never in a clone or a site
        self.local_page = f"../runs/{self.profile}-local/"
        self.local = {} if self.of_run or site else _decided(folder / self.local_page)

    def page(self, here: str, name: str, root: str = "", **fields: Any) -> None:
        """Write one page from the template `name`. root: the way to the profile's other pages."""
        named = {p: e["name"] for p, e in self.studies.items()}
        linked = pages(named, self.explorer, self.across)
        bare = name == "across" or self.folds and name in ("index", "paper")
        told, paper = fields.pop("told", ABOUT), fields.get("paper", "")
        shown = frame(linked, here, () if bare else self.asked, root, told, paper)
        about = {"ledger": claims, "whose": WHOSE, "frame": shown}
        write(self.folder / here, name, **vars(self), **about, **fields)

    def write(self, errors: Iterable[dict] = ()) -> None:
        """Write index.html, <paper>.html and claims.html. errors: this run's failed requests."""
        shown = {k: list(self.outputs(k)) for k in self.entries}
        of = {p: [] for p in self.studies}
        for name, outputs in shown.items():
            of[self.entries[name]["paper"]] += outputs
        studies = {p: self._study(p, outputs) for p, outputs in of.items()}
        self.page("index.html", "index", errors=errors, sections=studies, **self._index())
        script = (HERE / "address.js").read_text(encoding="utf-8")
        about = {"legend": LEGEND.values(), "scale": trust_cards.scale, "address": address}
        about |= {"of_this_run": OF_RUN.search, "script": script, "hashes": hashes([script])}
        for paper, study in studies.items():
            mine = {k: e for k, e in self.entries.items() if e["paper"] == paper}
            parts = {
                k: {
                    **e,
                    "title": notebooks.title(k),
                    "opening": html(notebooks.opening(k)),
                    "shown": [o for o in shown[k] if o["name"] != CHECKS],
                    "by_verdict": claims.by_verdict(sorted(e["claims"], key=_central_first)),
                }
                for k, e in mine.items()
            }
            self.page(
                f"{paper}.html",
                "paper",
                paper=paper,
                told=next((f.finding for f in self.findings[paper]), self.studies[paper]["asks"]),
                study=study,
                parts_of=parts,
                cards={j: c for e in [*mine.values()][::-1] for j, c in e["judges"].items()},
                checks=[o for o in of[paper] if o["name"] == CHECKS],
                **about,
            )
        script = (HERE / "claims.js").read_text(encoding="utf-8")
        facets = {  # of the ledger's filters: {field of a claim: (heading, {value: its words})}
            "paper": ("Study", {p: e["name"] for p, e in self.studies.items()}),
            "verdict": ("Verdict", claims.WORDS | {v: v for v in claims.FOUND.values()}),
            "basis": ("Basis", {s: t.lower() for s, t in SOURCES.items()} | {"none": "none yet"}),
            "weight": ("Weight", {w: w for w in claims.WEIGHT}),
            "of": ("Whose claim", WHOSE),
            "kind": ("What is asked", KIND),
            "saved": ("Not contradicted", {"yes": "by one interpretation alone"}),
        }
        self.page("claims.html", "claims", facets=facets, script=script, hashes=hashes([script]))

    def write_notebooks(self) -> None:
        """Write a page for each executed notebook, unless an up-to-date one is there."""
        ours = max(p.stat().st_mtime for p in HERE.glob("*.*"))
        for name, entry in self.entries.items() if self.texts else ():
            ran = notebooks.executed(name, self.profile)
            page = self.folder / f"notebooks/{name}.html"
            if not ran.is_file():
                continue
            if page.is_file() and page.stat().st_mtime > max(ran.stat().st_mtime, ours):
                continue
            form = executed.OF_OTHERS if entry["changed"] else executed.FOLDED
            self.page(
                f"notebooks/{name}.html",
                "notebook",
                "../../",
                title=notebooks.title(name),
                body=executed.converted(executed.read(ran), raw_template=form),
                code=executed.style(),
                notebook=name,
            )

    def write_latex(self) -> int:
        """Write a .tex beside the CSV of each table and figure; return how many."""
        outputs = [o for name in self.entries for o in self.outputs(name)]
        for o in outputs:
            text = o["grid"].latex(o["title"], o["caption"])
            paths.write((self.folder / o["files"][".csv"]).with_suffix(".tex"), text)
        return len(outputs)

    def outputs(self, notebook: str) -> Iterable[dict]:
        """A notebook's figures and tables, each with its numbers laid out, its picture, its cell.

        Where this run's rows are folded there is a second table without them.
        """
        entry, cells = self.entries[notebook], notebooks.cells(notebook)
        paper = entry["paper"]
        about = {"legend": False, "words": paths.papers()[paper].get("words")}
        for o in (o for o in entry["outputs"] if o["file"].endswith(".csv")):
            path = self.folder / paper / o["file"]
            rows = tables.read(path)
            layout = Layout.read({"digits": o.get("digits"), **(o.get("layout") or {})})
            forms = [".csv", ".md"] + [".png", ".svg"] * (o["kind"] == "figure")
            others = [r for r in rows if r["source"] != "run"] if self.folds else rows
            apart = 0 < len(others) < len(rows)
            written = (c["id"] for c in cells if f'"{path.stem}"' in "".join(c["source"]))
            yield {
                **o,
                "name": path.stem,
                "number": PRINTED.match(o["title"]),
                "files": {form: f"{paper}/{path.stem}{form}" for form in forms},
                "picture": drawing(path, o["title"]),
                "cell": "".join(f"#cell-id={id}" for id in [*written][:1]),
                "notebook": notebook,
                "grid": grid(rows, layout, **about),
                "bare": grid(others, layout, **about) if apart else None,
                "of_run": not others,  # nothing else is in it
                "said": ENDS.split(o["caption"]) if o["caption"] else [],
            }

    def _study(self, paper, outputs):
        """What the front page and a study's page show of it."""
        mine, told = [c for c in self.claims if c["paper"] == paper], self.findings[paper]
        verdicts = {c["id"]: claims.word(c["verdict"]) for c in mine}
        by_name, printed = {o["name"]: o for o in outputs}, _printed(outputs)
        shown = [by_name[f.output] for f in told if f.output in by_name]
        drawn = [o for o in shown or printed if o["picture"] and not o["of_run"]]
        # the figure of the first finding that is drawn for phones, too; else the first one
        narrow = [o for o in drawn if o["picture"]["narrow"]]
        return {
            "key": next(iter(narrow + drawn), None),
            "first": next(iter(told), None),
            "new": next((f for f in told[1:] if f.of == "found"), None),
            "rests": {f.id: _rests(f, verdicts) for f in told},
            "outputs": by_name,
            "stands": _stands(mine),
            "printed": printed,
            "others": len(outputs) - len(printed),
        }

    def _index(self):
        """What the front page shows besides the studies."""
        run = comparison.of(self.folder, self.entries) if self.of_run else None
        told = {f.id: (p, f) for p, these in self.findings.items() for f in these}
        changed, counts, known = {}, claims.tally(self.claims), sources.registry()
        for name, entry in self.entries.items():
            if entry["changed"]:
                given = " ".join(f"{k.upper()}={v}" for k, v in entry["changed"].items())
                changed.setdefault(given, []).append(name)
        used = {n for e in self.entries.values() for n in e["data"]}
        here = {n for n, e in known.items() if self.profile in e["profiles"]}
        optional = {n for n in here - used if known[n].get("optional")}
        kinds = {"that this run read": used, "that are optional and not in this run": optional}
        kinds |= {"of other profiles": known.keys() - here}
        return {
            "models": models.part(self.folder, [run]) if run and run.studies else None,
            "foremost": [told[id] for id in findings.foremost() if id in told],
            "unfinished": {
                k: v for k, v in settings.statuses(self.folder).items() if v[0] != "complete"
            },
            "reads": settings.profiles()[self.profile]["about"],
            "stands": _stands(self.claims),
            "apart": [(counts[r], *told) for r, told in APART.items() if any(counts[r].values())],
            "tested": sum(any(r["tests"] for r in c["readings"]) for c in self.claims),
            "changed": changed,
            "sources": {
                told: {n: e for n, e in known.items() if n in names}
                for told, names in kinds.items()
            },
        }


MODELS = ("recordings", "elsewhere")  # of a manifest's entry: models asked, and answers brought


def _decided(folder):
    """{claim: verdict} of what is decided in a folder with pages of its own; empty without them."""
    path = folder / "manifest.json"
    if not path.is_file() or not (folder / "index.html").is_file():
        return {}
    entries = json.loads(path.read_text(encoding="utf-8"))["notebooks"].values()
    verdicts = {c["id"]: c["verdict"] for entry in entries for c in entry["claims"]}
    return {id: v for id, v in verdicts.items() if claims.word(v) != "needs"}


def _central_first(claim):
    return claims.rank(claim) != "central"


def _stands(made):
    """{weight: {verdict's word: number}} of the papers' claims, central ones first."""
    counts = claims.tally(made)
    return {w: counts[w] for w in claims.WEIGHT if any(counts[w].values())}


def _rests(finding, verdicts):
    """Whose a finding is and, if it is a text's, what became of the claims on which it rests."""
    if finding.of == "found":
        return "Found here, not claimed by the paper"
    who = "The paper" if finding.of == "paper" else "A third party’s summary"
    said = {verdicts[c] for c in finding.claims if c in verdicts}
    return f"{who} says so; {next((told for v, told in WORST.items() if v in said), '')}"


def _printed(outputs):
    """Outputs that belong to a numbered table or figure of the paper, in order, tables first.

    Each gets a `short` name. If several share a number, it also tells them apart.
    """
    numbered = [o for o in outputs if o["number"]]
    same = Counter(o["number"][0] for o in numbered)
    for o in numbered:
        more = o["name"].partition("_")[2].replace("_", " ")
        o["short"] = o["number"][0] + (f" ({more})" if same[o["number"][0]] > 1 else "")
    return sorted(
        numbered, key=lambda o: (o["number"][1] != "Table", int(o["number"][2]), o["name"])
    )
