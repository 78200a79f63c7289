"""What the pages show: a profile's manifest, prepared for the templates of the front page, of each
study's page and of the ledger of claims.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bedside.asking import registry
from bedside.build import notebooks, settings
from bedside.judging import trust_cards
from bedside.publish import comparison
from bedside.read import findings, paths, prompts, sources
from bedside.read.claims import (
    FOUND,
    KINDS,
    OF,
    RANKS,
    WEIGHT,
    WORDS,
    by_verdict,
    on_page,
    rank,
    tally,
    word,
)
from bedside.read.published import SOURCES
from bedside.write import tables
from bedside.write.layouts import LEGEND, Layout, address, grid

from . import HERE, cite, encoded, executed, frame, hashes, models, pages, template

PRINTED = re.compile(r"(Table|Figure) (\d+)(\w?)")  # a title that begins with the paper's number
APART = dict(  # what is counted apart from the papers' claims: by RANKS, and its filter
    zip(
        RANKS[2:],
        (
            ("printed numbers against each other", "kind=consistency"),
            ("a third party’s summary", "of=summary&kind=claim"),
            ("the released data", "of=data&kind=claim"),
            ("our own questions (found, not found)", "kind=finding"),
        ),
    )
)
TOLD = ("the paper", "a third party’s summary", "the released data", "ours")  # by OF
KIND = ("what a text says", "printed numbers against each other", "our own findings")  # by KINDS
DOUBT = ("differs", "depends", "undetermined")  # shown first, and open
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
OFTEN = 3  # captions that say the same: then it is said once, above them


def write(manifest: dict, folder: Path, errors: Iterable[dict] = (), site: bool = False) -> None:
    """Write index.html, <paper>.html and claims.html of a profile into `folder`.

    errors: the requests of this run that failed. site: for a static host; see `Pages`.
    """
    Pages(manifest, folder, site).write(errors)


def write_notebooks(manifest: dict, folder: Path, site: bool = False) -> None:
    """Write a page for each executed notebook of a profile, unless an up-to-date one is there."""
    Pages(manifest, folder, site).write_notebooks()


def write_latex(manifest: dict, folder: Path) -> int:
    """Write a .tex beside the CSV of each table and figure of a profile; return how many."""
    made = Pages(manifest, folder)
    outputs = [o for k, e in made.entries.items() for o in made.outputs(k, e)]
    for o in outputs:
        text = o["grid"].latex(o["title"], o["caption"])
        paths.write((folder / o["files"][".csv"]).with_suffix(".tex"), text)
    return len(outputs)


class Pages:
    """The pages of a profile or run: what all of them share, and the templates.

    A profile's own pages are committed, so they link to nothing that git leaves out: neither to
    executed notebooks nor, in profiles other than `sample`, to the explorer. A static host (site)
    may show no other people's texts; it has both for `sample` alone.
    """

    def __init__(self, manifest, folder, site=False):
        self.entries, self.profile, self.folder = manifest["notebooks"], manifest["profile"], folder
        # the way from the profile's pages to the repository's files
        of_run, sample = folder.parent.name == "runs", self.profile == "sample"
        self.of_run = of_run
        self.up = "../" if site else "../../../" if of_run else "../../"
        self.explorer, self.executed = sample or of_run, of_run or (site and sample)
        self.texts = sample or not site
        self.letters = self.profile == "public" and not of_run
        present = {e["paper"] for e in self.entries.values()}
        self.studies = {p: e for p, e in paths.papers().items() if p in present}
        said = (m for e in self.entries.values() for m in e["recordings"])
        brought = (m for e in self.entries.values() for m in e.get("elsewhere", ()))
        self.asked = [*sorted(set(said)), *sorted(set(brought))]
        self.claims = [{**c, "notebook": k} for k, e in self.entries.items() for c in e["claims"]]
        self.changed = _changed(self.entries)
        # findings are about printed and released numbers; another run has pages of its own
        committed = not of_run and not self.changed
        found = {p: findings.load(p, folder) if committed else [] for p in self.studies}
        # they are put side by side where all of them are there, and the notebook that does so
        whole = committed and self.studies.keys() == paths.papers().keys()
        self.across = whole and (paths.NOTEBOOKS / f"{notebooks.ACROSS}.ipynb").is_file()
        self.findings = {p: [f for f in told if not f.lacks] for p, told in found.items()}
        tiny = all(map(registry.is_embedded, self.asked))
        self.folds = committed and not sample and tiny  # this run's rows, behind a switch
        # what rests on private sources: linked where it is, which is never in a clone or a site
        place = folder.parent / "runs" / f"{self.profile}-local"
        self.local = {} if of_run or site else _decided(place)

    def page(self, here, name, root="", paper="", told=ABOUT, **more):
        """Write one page from the template `name`."""
        named = {p: e["name"] for p, e in self.studies.items()}
        linked = pages(named, self.explorer, self.across)
        bare = name == "across" or self.folds and name in ("index", "paper")
        asked = () if bare else self.asked
        shared = {
            "frame": frame(linked, here, asked, root, told, paper),
            "profile": self.profile,
            "studies": self.studies,
            "claims": self.claims,
            "verdicts": WORDS,
            "word": word,
            "on_page": on_page,
            "rank": rank,
            "doubt": DOUBT,
            "whose": dict(zip(OF, TOLD)),
            "up": self.up,
            "executed": self.executed,
            "explorer": self.explorer,
            "letters": self.letters,
            "local": self.local,
            "local_page": f"../runs/{self.profile}-local/",
            "findings": self.findings,
            "folds": self.folds,
            "asked": self.asked,
            "paper": paper,
        }
        path = self.folder / here
        path.parent.mkdir(parents=True, exist_ok=True)
        text = template(HERE / f"{name}.html.j2").render(**shared, **more)
        paths.write(path, prompts.plain(text))

    def write(self, errors):
        shown = {k: list(self.outputs(k, e)) for k, e in self.entries.items()}
        studies = {p: self._study(p, shown) for p in self.studies}
        did = models.shared(self.folder, self._models())
        self.page("index.html", "index", errors=errors, sections=studies, **did, **self._index())
        cards = _cards(self.entries)
        script = (HERE / "address.js").read_text(encoding="utf-8")
        for paper, about in self.studies.items():
            mine = {k: e for k, e in self.entries.items() if e["paper"] == paper}
            parts = {
                k: {
                    **e,
                    "title": notebooks.title(k),
                    "opening": _html(notebooks.opening(k)),
                    "shown": [o for o in shown[k] if o["name"] != CHECKS],
                    "cards": cards[k],
                    "ranked": _ranked(e["claims"]),
                }
                for k, e in mine.items()
            }
            more = {"about": about, "parts_of": parts, "study": studies[paper]}
            more |= {"checks": [o for k in mine for o in shown[k] if o["name"] == CHECKS]}
            more |= {"notes": _notes(o for k in mine for o in shown[k]), "of_run": OF_RUN.search}
            more |= {"legend": LEGEND.values(), "scale": trust_cards.scale, "address": address}
            more |= {"script": script, "hashes": hashes([script])}
            said = self.findings[paper]
            told = said[0].finding if said else about["asks"]
            self.page(f"{paper}.html", "paper", paper=paper, told=told, **more)
        script = (HERE / "claims.js").read_text(encoding="utf-8")
        facets = {
            "paper": {p: e["name"] for p, e in self.studies.items()},
            "verdict": WORDS | {v: v for v in FOUND.values()},
            "basis": {**{s: t.lower() for s, t in SOURCES.items()}, "none": "none yet"},
            "weight": dict(zip(WEIGHT, WEIGHT)),
            "of": dict(zip(OF, TOLD)),
            "kind": dict(zip(KINDS, KIND)),
            "saved": {"yes": "by one interpretation alone"},
        }
        self.page("claims.html", "claims", facets=facets, script=script, hashes=hashes([script]))

    def _models(self):
        """What a run's front page says of its models; None for a profile, or without studies."""
        run = comparison.of(self.folder, self.entries) if self.of_run else None
        return models.part(self.folder, [run]) if run and run.studies else None

    def write_notebooks(self):
        if self.texts:
            place, code = self.folder / "notebooks", executed.style()
            for name, title, body in executed.bodies(self.entries, self.profile, place):
                more = {"title": title, "body": body, "code": code, "notebook": name}
                self.page(f"notebooks/{name}.html", "notebook", "../../", **more)

    def outputs(self, notebook, entry):
        """An entry's figures and tables, each with its numbers laid out for readers, its picture.

        Where this run's rows are folded there is a second table without them.
        """
        cells = notebooks.cells(notebook)
        for o in (o for o in entry["outputs"] if o["file"].endswith(".csv")):
            path = self.folder / entry["paper"] / o["file"]
            rows = tables.read(path)
            layout = Layout.read({"digits": o.get("digits"), **(o.get("layout") or {})})
            forms = [".csv", ".md"] + [".png", ".svg"] * (o["kind"] == "figure")
            others = [r for r in rows if r["source"] != "run"] if self.folds else rows
            apart = 0 < len(others) < len(rows)
            about = {"legend": False, "words": paths.papers()[entry["paper"]].get("words")}
            yield {
                **o,
                "name": path.stem,
                "number": PRINTED.match(o["title"]),
                "files": {form: f"{entry['paper']}/{path.stem}{form}" for form in forms},
                "svg": encoded(path.with_suffix(".svg")),
                "narrow": encoded(path.with_suffix(".narrow.svg")),
                "cell": executed.anchor(cells, path.stem),
                "notebook": notebook,
                "grid": grid(rows, layout, **about),
                "bare": grid(others, layout, **about) if apart else None,
                "of_run": not others,  # nothing else is in it
                "said": ENDS.split(o["caption"]) if o["caption"] else [],
            }

    def _study(self, paper, shown):
        """What the front page and a study's page show of it."""
        outputs = {o["name"]: o for k in shown if k.startswith(f"{paper}/") for o in shown[k]}
        mine, told = [c for c in self.claims if c["paper"] == paper], self.findings[paper]
        verdicts = {c["id"]: word(c["verdict"]) for c in mine}
        printed = _printed(outputs.values())
        shown = [outputs[f.output] for f in told if f.output in outputs]
        drawn = [o for o in shown or printed if o["svg"] and not o["of_run"]]
        # the figure of the first finding that is drawn for phones, too; else the first one
        key = next((o for o in drawn if o["narrow"]), drawn[0] if drawn else None)
        return {
            "key": key,
            "first": told[0] if told else None,
            "new": next((f for f in told[1:] if f.of == "found"), None),
            "rests": {f.id: _rests(f, verdicts) for f in told},
            "outputs": outputs,
            "stands": _stands(mine),
            "printed": printed,
            "others": sum(not o["number"] for o in outputs.values()),
        }

    def _index(self):
        """What the front page shows besides the studies."""
        known = sources.registry()
        mine = {n: e for n, e in known.items() if self.profile in e["profiles"]}
        used = {n for e in self.entries.values() for n in e["data"]} & set(known)
        counts = tally(self.claims)
        told = {f.id: (p, f) for p, these in self.findings.items() for f in these}
        return {
            "foremost": [told[id] for id in findings.foremost() if id in told],
            "unfinished": {
                k: v for k, v in settings.statuses(self.folder).items() if v[0] != "complete"
            },
            "reads": settings.profiles()[self.profile]["about"],
            "stands": _stands(self.claims),
            "apart": {
                told: (counts[r], to) for r, (told, to) in APART.items() if any(counts[r].values())
            },
            "tested": sum(any(r["tests"] for r in c["readings"]) for c in self.claims),
            "changed": self.changed,
            "registry": known,
            "used": sorted(used),
            "absent": {n: e for n, e in known.items() if n not in mine},
            "lacking": {n: e for n, e in mine.items() if e.get("optional") and n not in used},
            "binder": cite.binder(),
        }


def _decided(folder):
    """{claim: verdict} of what is decided in a folder with pages of its own; empty without them."""
    path = folder / "manifest.json"
    if not path.is_file() or not (folder / "index.html").is_file():
        return {}
    claims = (c for e in json.loads(path.read_text())["notebooks"].values() for c in e["claims"])
    return {c["id"]: c["verdict"] for c in claims if word(c["verdict"]) != "needs"}


def _html(text):
    """Markdown as HTML; HTML in it is escaped."""
    import mistune

    return mistune.create_markdown(escape=True)(text)


def _notes(outputs):
    """{sentence: its number} of what several captions of a page say."""
    said = Counter(s for o in outputs for s in o["said"])
    return {s: n for n, s in enumerate((s for s in said if said[s] >= OFTEN), 1)}


def _stands(made):
    """{weight: {verdict's word: number}} of the papers' claims, central ones first."""
    counts = tally(made)
    return {w: counts[w] for w in WEIGHT if any(counts[w].values())}


def _rests(finding, verdicts):
    """Whose a finding is and, if it is a text's, what became of the claims on which it rests."""
    if finding.of == "found":
        return "Found here, not claimed by the paper"
    who = "The paper" if finding.of == "paper" else "A third party’s summary"
    said = {verdicts[c] for c in finding.claims if c in verdicts}
    return f"{who} says so; {next((told for v, told in WORST.items() if v in said), '')}"


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
    first = [c for c in claims if rank(c) == "central" and word(c["verdict"]) in DOUBT]
    rest = [c for c in claims if c not in first]
    return first, by_verdict(rest)


def _cards(entries):
    """{notebook: {judge: (card, whether the page shows it here first)}}; later ones are links."""
    seen, found = set(), {}
    for k, e in entries.items():
        found[k] = {}
        for judge, card in e["judges"].items():
            found[k][judge] = (card, (e["paper"], judge) not in seen)
            seen.add((e["paper"], judge))
    return found


def _changed(entries):
    """{settings that differ from the profile's, as text: the notebooks that had them}."""
    found = {}
    for name, entry in entries.items():
        if entry["changed"]:
            told = " ".join(f"{k.upper()}={v}" for k, v in entry["changed"].items())
            found.setdefault(told, []).append(name)
    return found
