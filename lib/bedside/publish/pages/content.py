"""What the pages show: a profile's manifest, prepared for the templates of the front page, of each
study's page and of the ledger of claims.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bedside.asking import registry
from bedside.build import notebooks, settings
from bedside.judging import trust_cards
from bedside.publish import comparison, scope
from bedside.read import claims, findings, paths, published, sources
from bedside.write import layouts, tables

from . import HERE, drawing, executed, frame, hashes, html, models, pages, write

PRINTED = re.compile(r"(Table|Figure) (\d+)(\w?)")  # a title that begins with the paper's number
APART = {  # what is counted apart from the papers' claims, by claims.RANKS: its name, its filter
    "consistency": ("printed numbers against each other", "kind=consistency"),
    "summary": ("a third party’s summary", "of=summary&kind=claim"),
    "data": ("the released data", "of=data&kind=claim"),
    "finding": ("this project’s own questions", "kind=finding"),
}
WORST = {  # the word for a finding whose claims have several verdicts
    "differs": "Contradicted in part",
    "undetermined": "Open in part",
    "needs": "Needs data in part",
    "not measured": "Not measured in part",
    "depends": "Depends on interpretation",
    "no bound": "No threshold given",
    "holds": "Confirmed",
}
ABOUT = "Four studies of how language models fail patients: which claims fail, what is new."
TERMS = paths.DATA / "terms.toml"
# sentences of captions that are about this run alone, and where sentences end
OF_RUN = re.compile(r"\b(this run|cut|judge[: ]|fewer than t\w+|was asked|made elsewhere)\b", re.I)
ENDS = re.compile(r"(?<=[.)]) (?=[A-Z(])")


MODELS = ("recordings", "elsewhere")  # of a manifest's entry: models asked, and answers brought


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
        self.letters = self.profile == "public" and not self.of_run
        self.beside = self.letters and not site  # the explorer, once it is built
        present = {e["paper"] for e in self.entries.values()}
        self.studies = {p: e for p, e in paths.papers().items() if p in present}
        asked = [{m for e in self.entries.values() for m in e.get(k, ())} for k in MODELS]
        self.asked = [m for some in asked for m in sorted(some)]
        self.claims = [{**c, "notebook": k} for k, e in self.entries.items() for c in e["claims"]]
        # findings are about printed and released numbers; another run has pages of its own
        committed = not self.of_run and not any(e["changed"] for e in self.entries.values())
        found = {p: findings.load(p, folder) if committed else [] for p in self.studies}
        self.findings = {p: [f for f in rows if not f.lacks] for p, rows in found.items()}
        self.messages = {
            p: findings.sentences(p, folder) if committed else {} for p in self.studies
        }
        self.this_run = {
            p: findings.sentences(p, folder, "this_run") if committed and sample else {}
            for p in self.studies
        }
        # they are put side by side where all of them are there, and the notebook that does so
        whole = committed and self.studies.keys() == paths.papers().keys()
        self.across = whole and (paths.NOTEBOOKS / f"{notebooks.ACROSS}.ipynb").is_file()
        tiny = all(map(registry.is_embedded, self.asked))
        self.folds = committed and not sample and tiny  # this run's rows, behind a switch
        # what rests on private sources: linked where it is, which is never in a clone or a site
        self.local_page = f"../runs/{self.profile}-local/"
        self.local = {} if self.of_run or site else _decided(folder / self.local_page)

    def page(self, here: str, name: str, root: str = "", script: str = "", **fields: Any) -> None:
        """Write one page from the template `name`.

        root: the way to the profile's other pages. script: the file of the page's own.
        """
        named = {p: e["name"] for p, e in self.studies.items()}
        linked = pages(named, self.explorer, self.across)
        bare = name == "across" or self.folds and name in ("index", "paper")
        bare |= name == "claims" and all(c["basis"] != "run" for c in self.claims)
        told, paper = fields.pop("told", ABOUT), fields.get("paper", "")
        about = {"frame": frame(linked, here, () if bare else self.asked, root, told, paper)}
        about |= {"named": named, "ledger": claims, "published": published, "script": ""}
        about["explained"] = explaining()
        if script:
            about["script"] = (HERE / script).read_text(encoding="utf-8")
            about["hashes"] = hashes([about["script"]])
        write(self.folder / here, name, **vars(self), **about, **fields)

    def write(self, errors: Iterable[dict] = ()) -> None:
        """Write index.html, <paper>.html and claims.html. errors: this run's failed requests."""
        shown = {k: list(self.outputs(k)) for k in self.entries}
        studies = {p: self._study(p, shown) for p in self.studies}
        self.page("index.html", "index", errors=errors, sections=studies, **self._index())
        tools = {"notebooks": notebooks, "html": html, "trust_cards": trust_cards}
        tools |= {"of_this_run": OF_RUN.search, "layouts": layouts}
        for paper, study in studies.items():
            mine = {k: e for k, e in self.entries.items() if e["paper"] == paper}
            told = next((f.finding for f in self.findings[paper]), self.studies[paper]["asks"])
            cards = {j: c for e in [*mine.values()][::-1] for j, c in e["judges"].items()}
            about = {"paper": paper, "told": told, "study": study, "parts_of": mine, "cards": cards}
            self.page(f"{paper}.html", "paper", script="address.js", shown=shown, **about, **tools)
        self.page("claims.html", "claims", script="claims.js")

    def write_notebooks(self) -> None:
        """Write a page for each executed notebook, unless an up-to-date one is there."""
        ours = max(p.stat().st_mtime for p in HERE.glob("*.*"))
        for name, entry in self.entries.items():
            ran, file = notebooks.executed(name, self.profile), f"notebooks/{name}.html"
            page = self.folder / file
            made = page.stat().st_mtime if page.is_file() else 0
            if not ran.is_file() or made > max(ran.stat().st_mtime, ours):
                continue
            form = executed.OF_OTHERS if entry["changed"] else executed.FOLDED
            body = executed.converted(executed.read(ran), raw_template=form)
            about = {"title": notebooks.title(name), "code": executed.style(), "notebook": name}
            self.page(file, "notebook", "../../", body=body, **about)

    def write_latex(self) -> int:
        """Write a .tex beside the CSV of each table and figure; return how many."""
        outputs = [o for name in self.entries for o in self.outputs(name)]
        for o in outputs:
            paths.write(o["path"].with_suffix(".tex"), o["grid"].latex(o["title"], o["caption"]))
        return len(outputs)

    def outputs(self, notebook: str) -> Iterable[dict]:
        """A notebook's figures and tables, each with its numbers laid out, its picture, its cell.

        Where this run's rows are folded there is a second table without them.
        """
        entry, cells = self.entries[notebook], notebooks.cells(notebook)
        about = {"legend": False, "words": paths.papers()[entry["paper"]].get("words")}
        told = self.messages[entry["paper"]]
        for o in (o for o in entry["outputs"] if o["file"].endswith(".csv")):
            path = self.folder / entry["paper"] / o["file"]
            rows = tables.read(path)
            layout = layouts.Layout.read({"digits": o.get("digits"), **(o.get("layout") or {})})
            others = [r for r in rows if r["source"] != "run"] if self.folds else rows
            apart = 0 < len(others) < len(rows)
            yield {
                **o,
                "path": path,
                "name": path.stem,
                "message": o.get("message") or told.get(path.stem, ""),
                "number": (number := PRINTED.match(o["title"])),
                "place": number and _place(number),
                "picture": drawing(path, o["title"]),
                "cell": [c["id"] for c in cells if f'"{path.stem}"' in "".join(c["source"])][:1],
                "grid": layouts.grid(rows, layout, **about),
                "bare": layouts.grid(others, layout, **about) if apart else None,
                "of_run": not others,  # nothing else is in it
                "said": ENDS.split(o["caption"]) if o["caption"] else [],
            }

    def _study(self, paper, shown):
        """What the front page and a study's page show of it."""
        mine, told = [c for c in self.claims if c["paper"] == paper], self.findings[paper]
        outputs = [o for k in shown if self.entries[k]["paper"] == paper for o in shown[k]]
        # the paper's numbered tables and figures, in order, tables first
        printed = sorted((o for o in outputs if o["number"]), key=lambda o: o["place"])
        by_name, verdicts = {o["name"]: o for o in outputs}, {c["id"]: c["verdict"] for c in mine}
        shown = [by_name[f.output] for f in told if f.output in by_name]
        drawn = [o for o in shown or printed if o["picture"] and not o["of_run"]]
        key = next(iter(drawn), None)
        return {
            "key": key,
            "first": next(iter(told), None),
            "told": next((f for f in told if key and f.output == key["name"]), None),
            "rests": {f.id: _rests(f, verdicts) for f in told},
            "errata": [c for c in mine if _doubtful(c)],
            "outputs": by_name,
            "stands": _stands(mine),
            "printed": printed,
        }

    def _index(self):
        """What the front page shows besides the studies."""
        run = comparison.of(self.folder, self.entries) if self.of_run else None
        told = {f.id: (p, f) for p, these in self.findings.items() for f in these}
        given = [e["changed"].items() for e in self.entries.values() if e["changed"]]
        counts, statuses = claims.tally(self.claims), settings.statuses(self.folder)
        used = {n for e in self.entries.values() for n in e["data"]}
        known = {n: e for n, e in sources.registry().items() if self.profile in e["profiles"]}
        lacking = {n: e for n, e in known.items() if e.get("optional") and n not in used}
        return {
            "models": models.part(self.folder, [run]) if run and run.studies else None,
            "foremost": [told[id] for id in findings.foremost() if id in told],
            "unfinished": {k: v for k, v in statuses.items() if v[0] != "complete"},
            "reads": settings.profiles()[self.profile]["about"],
            "stands": _stands(self.claims),
            "scope": scope.counted(self.entries, self.folder),
            "apart": [(n, *told) for r, told in APART.items() if (n := sum(counts[r].values()))],
            "changed": {" ".join(f"{k.upper()}={v}" for k, v in pairs) for pairs in given},
            "sources": {
                "that this run read": {n: e for n, e in known.items() if n in used},
                "that are optional and not in this run": lacking,
            },
        }


def _decided(folder):
    """{claim: verdict} of what is decided in a folder with pages of its own; empty without them."""
    if not (folder / "index.html").is_file():
        return {}
    entries = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["notebooks"]
    verdicts = {c["id"]: c["verdict"] for entry in entries.values() for c in entry["claims"]}
    return {id: v for id, v in verdicts.items() if claims.word(v) != "needs"}


def explaining():
    """A function that explains each term of TERMS where it first occurs on a page, as HTML."""
    from markupsafe import Markup, escape

    left = paths.toml(TERMS)
    known = re.compile(rf"(?<![\w-])(\(?)({'|'.join(map(re.escape, left))})(?![\w-])")

    def first(found):
        words = left.pop(found[2], "")  # a term in brackets has just been explained
        return f"{found[0]} <i>({words})</i>" if words and not found[1] else found[0]

    return lambda text: Markup(known.sub(first, str(escape(text))))


def _doubtful(claim):
    """Whether a text can't mean what it prints: contradicted, or no interpretation supports it."""
    outcomes = {r["holds"] for r in claim["readings"]}
    ours = claim["of"] in ("paper", "own") and claim["kind"] != "finding"
    return ours and (claim["verdict"] == "differs" or "no" in outcomes and "yes" not in outcomes)


def _place(match):
    kind, number, letter = match.groups()
    return kind == "Figure", int(number), letter


def _stands(made):
    """{weight: {verdict's word: number}} of the papers' claims, central ones first."""
    counts = claims.tally(made)
    return {w: counts[w] for w in claims.WEIGHT if any(counts[w].values())}


def _rests(finding, verdicts):
    """What became of the claims behind a finding, and whose it is; or that it is new."""
    if finding.of == "found":
        return "New here", ""
    who = "the paper’s claim" if finding.of == "paper" else "a third party’s summary"
    words = {claims.word(verdicts[c]) for c in finding.claims if c in verdicts}
    return next((told for v, told in WORST.items() if v in words), ""), who
