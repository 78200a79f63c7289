"""The pages: escaped, whole in print, short, without a dead link, and usable by everybody."""

import html
import os
import re
import subprocess
from urllib.parse import parse_qs, unquote

import nbformat
import pytest

from bedside.build import notebooks
from bedside.publish import pages, verification
from bedside.publish.pages import content, executed, site
from bedside.read import paths
from browser import violations, watched

STUDIES = [f"{paper}.html" for paper in paths.papers()]
PAGES = ["index.html", *STUDIES, "claims.html"]
EVERY = [*PAGES, pages.ACROSS]
PROFILES = ("sample", "public")
HREF = re.compile(r'href="([^"]*)"')
ID = re.compile(r'\bid="([^"]*)"')
FACETS = {"paper", "verdict", "basis", "weight", "of", "kind", "saved"}


def at(profile, name):
    return (paths.FIGURES / profile / name).as_uri()


# ---- in a browser


def test_rows_of_the_embedded_model_are_behind_a_switch_that_needs_no_script(browser):
    with browser.new_context(java_script_enabled=False) as context:
        shown = context.new_page()
        for profile, seen in (("sample", True), ("public", False)):
            shown.goto(at(profile, "medhalu.html"))
            row = shown.locator("#table6_detection tr", has_text="smollm2-135m").first
            assert row.is_visible() == seen
        shown.get_by_label("Show this run’s rows").check()
        assert row.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_everybody_can_use_every_page_on_screens_wide_and_narrow(browser, profile):
    """In light and dark; no script fails, and axe-core finds nothing on one of each kind."""
    for width, scheme in ((1440, "light"), (390, "dark")):
        with watched(browser, width, 900) as shown:
            shown.emulate_media(color_scheme=scheme)
            for name in EVERY:
                shown.goto(at(profile, name))
                assert shown.evaluate("document.documentElement.scrollWidth") <= width, name
                if (profile, width) == ("sample", 390) and name in ("index.html", STUDIES[1]):
                    assert violations(shown) == [], name
                paint = shown.evaluate("getComputedStyle(document.body).backgroundColor")
                assert (min(map(int, re.findall(r"\d+", paint))) > 200) == (scheme == "light")


def test_an_address_leads_to_a_number_and_a_filter_to_its_claims(browser):
    entries = pages.last(paths.FIGURES / "public")["notebooks"].values()
    claims = [c for e in entries if e["paper"] == "radiation" for c in e["claims"]]
    verdicts = {c["id"]: c["verdict"] for c in claims if c["of"] == "paper"}
    off = {id for id, verdict in verdicts.items() if verdict == "differs"}
    with watched(browser, 1440, 900) as shown:
        shown.goto(at("sample", "medhalu.html"))
        cell = shown.locator('[id="table6_detection|HealthQA:_GPT-4|accuracy"]')
        cell.hover()
        cell.get_by_role("link", name="¶").click()
        assert unquote(shown.url).endswith("#table6_detection|HealthQA:_GPT-4|accuracy")
        assert shown.evaluate("document.querySelector(':target').textContent").startswith("0.57")
        shown.goto(f"{at('public', 'claims.html')}#paper=radiation&of=paper&verdict=differs")
        visible = shown.locator("article:visible")
        assert {visible.nth(k).get_attribute("id") for k in range(visible.count())} == off and off
        shown.get_by_role("searchbox").fill("no such words anywhere")
        assert visible.count() == 0 and "text=no" in shown.url
        shown.get_by_role("button", name="Show all").click()
        shown.get_by_label("Study").select_option("radiation")
        shown.get_by_label("Whose claim").select_option("paper")
        assert visible.count() == len(verdicts)


# ---- links and scripts


@pytest.mark.parametrize("profile", PROFILES)
def test_every_link_of_a_fresh_clone_leads_somewhere(profile):
    asked = ["git", "-C", str(paths.ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    files = subprocess.run(asked, capture_output=True, text=True).stdout.split("\0")
    if len(files) == 1:
        pytest.skip("not a git checkout")
    here, count = paths.FIGURES / profile, 0
    there = {str(paths.ROOT / name) for name in files}
    texts = {name: (here / name).read_text() for name in EVERY}
    ids = {name: {html.unescape(i) for i in ID.findall(text)} for name, text in texts.items()}
    links = [(name, href) for name, text in texts.items() for href in HREF.findall(text)]
    for name, href in links:
        file, _, anchor = html.unescape(href).partition("#")
        if href.startswith("https://"):
            continue
        if href == "explorer.html" and profile == "public":  # once it is written, says the page
            assert "once they are written" in texts[name]
            continue
        assert os.path.normpath(here / (unquote(file) or name)) in there, (name, href)
        if anchor and file in ("", *EVERY) and unquote(anchor) not in ids[file or name]:
            assert file == "claims.html" and set(parse_qs(anchor)) <= FACETS, (name, href)
        count += 1
    assert count > 1000


def test_only_the_scripts_written_here_may_run():
    for name in PAGES:
        text = (paths.FIGURES / "sample" / name).read_text()
        scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        allowed = pages.hashes(scripts) if scripts else "'none'"
        assert f"script-src {allowed};" in policy and "default-src 'none'" in policy
        assert text.count("<script") == len(scripts) <= 1


# ---- notebooks, the site, verification


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Notebooks that count as executed, each with hostile outputs."""
    hostile = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"
    shown = {"text/html": hostile, "text/plain": hostile}

    def place(name, profile):
        out = tmp_path / "executed" / f"{name}.ipynb"
        if not out.is_file():
            made = nbformat.read(paths.NOTEBOOKS / f"{name}.ipynb", 4)
            cell = next(c for c in made.cells if c.cell_type == "code")
            cell.outputs = [nbformat.v4.new_output("display_data", data=shown)]
            out.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(made, out)
        return out

    monkeypatch.setattr(notebooks, "executed", place)


def test_what_a_notebook_shows_runs_nothing(browser, ran, tmp_path):
    manifest = pages.last(paths.FIGURES / "sample")
    name = "medhalu/02_detection"
    manifest["notebooks"] = {name: manifest["notebooks"][name]}
    content.Pages(manifest, tmp_path).write_notebooks()
    page = tmp_path / f"notebooks/{name}.html"
    assert "<script" not in page.read_text()
    with browser.new_context() as context:
        shown = context.new_page()
        shown.goto(page.as_uri())
        shown.wait_for_load_state("networkidle")
        assert shown.title() != "ran"


@pytest.mark.slow
def test_the_site_holds_no_texts_of_other_people(ran, tmp_path):
    top = site.write_site(tmp_path / "site").parent.resolve()
    files = {p.relative_to(top).as_posix() for p in top.rglob("*") if p.is_file()}
    assert {f"{profile}/{name}" for profile in PROFILES for name in EVERY} < files
    assert "sample/explorer.html" in files and "public/explorer.html" not in files
    assert not any(f.startswith("public/notebooks/") or "/.parts/" in f for f in files)
    assert sum(f.startswith("sample/notebooks/") for f in files) == len(notebooks.listed())
    for page in (top / f for f in files if f.endswith(".html") and "explorer" not in f):
        for href in HREF.findall(page.read_text()):
            if not href.startswith(("https://", "#", "http://")):
                target = (page.parent / unquote(href.partition("#")[0])).resolve()
                assert target.relative_to(top).as_posix() in files, href


def test_a_run_of_other_models_folds_what_the_papers_numbers_show():
    shows = nbformat.v4.new_markdown_cell("All fail.", metadata={"tags": ["shows"]})
    cells = [nbformat.v4.new_markdown_cell("What was asked."), shows]
    made = nbformat.v4.new_notebook(cells=cells)
    ours, theirs = (
        executed.converted(made, raw_template=form)
        for form in (executed.FOLDED, executed.OF_OTHERS)
    )
    assert "<details>" not in ours and "All fail." in ours
    assert theirs.index("What was asked.") < theirs.index("<details>") < theirs.index("All fail.")
    assert theirs.count("<details>") == 1


def test_verification_tells_each_row_that_differs_and_no_order(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("row,value\na,1\nb,2\n")
    for text, told in (
        ("row,value\nb,2\na,1\n", []),
        ("row,value\na,1\nb,2.1\n", ["- b,2", "+ b,2.1"]),
        ("row,value\na,1\nb,2\nb,2\n", ["+ b,2"]),
        ("row,value\na,1\n", ["- b,2"]),
    ):
        new.write_text(text)
        assert verification.differing(old, new)[1:] == told
    new.unlink()
    assert "not built" in verification.differing(old, new)[0]
