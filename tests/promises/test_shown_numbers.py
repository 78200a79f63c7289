"""What people read is what the files say: each number of a page or Markdown table, at its digits.

Pages are written anew here, from the committed manifests and tables.
"""

import csv
import json
import re
from decimal import Decimal

import pytest
from bs4 import BeautifulSoup

from bedside.publish.pages import content
from bedside.read import paths
from bedside.read.claims import on_page

PROFILES = ("sample", pytest.param("public", marks=pytest.mark.slow))
FAST = "radiation"  # whose page is small
PAPERS = [p if p == FAST else pytest.param(p, marks=pytest.mark.slow) for p in paths.papers()]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
KINDS = ("value", "low", "high", "n", "unscored", "worst", "best")
# types drawn by our rule; a ratio of means where the paper may print a mean of ratios
OURS = ("medhalu/table4_statistics", "meddialbench/table2_baseline")


def manifest(profile):
    return json.loads((paths.FIGURES / profile / "manifest.json").read_text())


def outputs(profile):
    """The tables that the manifest lists: (study, path of the CSV) each."""
    made = manifest(profile)
    entries = [*made["notebooks"].values(), {"paper": "across", **made["across"]}]
    for entry in entries:
        for o in entry["outputs"]:
            if o["file"].endswith(".csv"):
                yield entry["paper"], paths.FIGURES / profile / entry["paper"] / o["file"]


@pytest.fixture(scope="module", params=PROFILES)
def pages(request, tmp_path_factory):
    """A profile, and a folder with its pages of today's code."""
    profile = request.param
    folder = tmp_path_factory.mktemp("pages") / profile
    folder.mkdir()
    for paper in (*paths.papers(), "across"):
        (folder / paper).symlink_to(paths.FIGURES / profile / paper)
    content.Pages(manifest(profile), folder).write()
    return profile, folder


def parsed(folder, name):
    return BeautifulSoup((folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


class Table:
    """The numbers of a CSV, and those that a table for people has to show."""

    def __init__(self, path):
        with open(path, newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.places = {}
        shown = ("value", "low", "high", "worst", "best")
        self.shown = [Decimal(r[k]) for r in rows for k in shown if r.get(k)]
        self.every = {Decimal(r[kind]) for r in rows for kind in KINDS if r.get(kind)}
        for r in rows:
            at = self.places.setdefault(address(r), {kind: set() for kind in KINDS})
            for kind in KINDS:
                at[kind] |= {Decimal(r[kind])} if r.get(kind) else set()


def address(row):
    return re.sub(r"\s+", "_", f"{row['row']}|{row['column']}")


def numbers(text):
    """The numbers of a cell, exact."""
    return [Decimal(t) for t in NUMBER.findall(text.replace("\\", ""))]


def says(shown, number):
    """Whether what is shown is a number at its own digits."""
    return abs(number - shown) <= Decimal(5).scaleb(shown.as_tuple().exponent - 1)


def said(shown, among):
    return any(says(shown, number) for number in among)


def faults(table, cells):
    """What a table for people shows that its CSV hasn't, and what it leaves out."""
    seen = {x for cell in cells for x in numbers(cell)}
    invented = [x for x in seen if not said(x, table.every)]
    lost = [x for x in table.shown if not any(says(shown, x) for shown in seen)]
    return {"invented": invented, "lost": lost}


def in_markdown(text):
    """The cells of Markdown's tables below and right of their labels: columns set to the right."""
    found, labels = [], 0
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if set(cells) & {"---", "--:"}:
            labels = cells.index("--:")
        elif labels and cells:
            found += cells[labels:]
        else:
            labels = 0
    return found


NONE = {"invented": [], "lost": []}


@pytest.mark.parametrize("profile", PROFILES)
def test_markdown_tables_show_the_numbers_of_their_csv(profile):
    tables = list(outputs(profile))
    assert len(tables) > 100
    for _, path in tables:
        cells = in_markdown(path.with_suffix(".md").read_text(encoding="utf-8"))
        assert faults(Table(path), cells) == NONE, path


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", OURS)
def test_numbers_by_a_rule_of_ours_accuse_no_paper(profile, name):
    text = (paths.FIGURES / profile / f"{name}.md").read_text(encoding="utf-8")
    with open(paths.FIGURES / profile / f"{name}.csv", newline="", encoding="utf-8") as f:
        sources = {row["source"] for row in csv.DictReader(f)}
    assert "published" in sources and len(sources) > 1
    assert "≠" not in text


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_show_the_numbers_of_their_csv_each_at_its_address(pages, paper):
    profile, page, count = pages[0], parsed(pages[1], paper), 0
    for path in (path for study, path in outputs(profile) if study == paper):
        table, section = Table(path), page.find(id=path.stem)
        cells = section.select("td:not(thead td)")
        assert faults(table, [c.get_text() for c in cells]) == NONE, path
        for cell in (c for c in cells if c.get("id")):
            there = table.places[cell["id"].removeprefix(f"{path.stem}|")]
            text = cell.get_text()
            value = re.match(r"[^[(]*", text)[0]
            told = [said(x, there["value"]) for x in numbers(value)]
            ends = set().union(*(there[k] for k in ("low", "high", "worst", "best")))
            told += [said(x, ends) for x in numbers(text[len(value) :])]
            assert all(told), (path, cell)
            assert told or not any(there[k] for k in ("value", "low", "high")), (path, cell)
            count += len(told)
    assert count > 100


def test_every_claim_has_its_numbers_and_its_verdict_on_the_page(pages):
    profile, folder = pages
    with open(paths.FIGURES / profile / "claims.csv", newline="", encoding="utf-8") as f:
        claims = list(csv.DictReader(f))
    articles = {a["id"]: a.get_text(" ") for a in parsed(folder, "claims").select("article")}
    assert {c["id"] for c in claims} == {*articles}
    for claim in claims:
        verdict = on_page(claim["verdict"])
        said = verdict, claim["published"], claim["computed"].removeprefix("'")
        assert all(part in articles[claim["id"]] for part in said), claim["id"]


ERRATA = {  # what reviewers of these papers asked about first
    "cancer_myth": {"cm-p-claude"},
    "radiation": {"rad-fields-named"},
    "medhalu": {"mh-six", "mh-kappa"},
    "meddialbench": {"md-spread"},
}


@pytest.mark.parametrize("paper", paths.papers())
def test_a_study_page_says_what_each_table_shows_and_what_cant_be_as_printed(pages, paper):
    page = parsed(pages[1], paper)
    linked = {a["href"].partition("#")[2] for a in page.select(".errata td a")}
    assert linked >= ERRATA[paper]
    for box in page.select("section.box"):
        head, *about = (e.get_text(" ", strip=True) for e in box.select("h3, h3 + p"))
        if not box.select("picture"):  # a figure's message is its own
            assert about and not re.match(r"(Table|Figure) \d", head), head
    assert not [d for d in page.select("details.claim") if not d.select("li")]
