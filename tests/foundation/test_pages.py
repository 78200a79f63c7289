"""The pages: escaped, whole in print, short, without a dead link, and usable by everybody."""

import html
import json
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, unquote

import nbformat
import pytest

from bedside.build import notebooks
from bedside.publish import pages
from bedside.publish.pages import content, executed, site
from bedside.read import findings, paths
from browser import violations, watched

STUDIES = [f"{paper}.html" for paper in paths.papers()]
PAGES = ["index.html", *STUDIES, "claims.html"]
EVERY = [*PAGES, pages.ACROSS]
PROFILES = ("sample", "public")
HREF = re.compile(r'href="([^"]*)"')
ID = re.compile(r'\bid="([^"]*)"')


def at(profile, name):
    return (paths.FIGURES / profile / name).as_uri()


# ---- in a browser


def test_another_run_has_no_findings(tmp_path):
    manifest = json.loads((paths.FIGURES / "public/manifest.json").read_text())
    for entry in manifest["notebooks"].values():
        entry["changed"] = {"limit": 3}
        (tmp_path / entry["paper"]).exists() or (tmp_path / entry["paper"]).symlink_to(
            paths.FIGURES / "public" / entry["paper"]
        )
    content.Pages(manifest, tmp_path).write()
    told = [f.finding for paper in paths.papers() for f in findings.load(paper)]
    for name in PAGES:
        text = html.unescape((tmp_path / name).read_text())
        assert told and not any(finding in text for finding in told)


def test_rows_of_the_embedded_model_are_behind_a_switch_that_needs_no_script(browser):
    with browser.new_context(java_script_enabled=False) as context:
        shown = context.new_page()
        for profile, seen in (("sample", True), ("public", False)):
            shown.goto(at(profile, "medhalu.html"))
            row = shown.locator("#table6_detection tr", has_text="smollm2-135m").first
            assert row.is_visible() == seen
        shown.get_by_label("Show this run’s rows").check()
        assert row.is_visible()


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


def test_from_the_index_to_a_table_to_the_address_of_a_number(browser):
    with watched(browser, 1440, 900) as shown:
        shown.goto(at("sample", "index.html"))
        shown.locator("#medhalu details summary").click()
        shown.locator("#medhalu details").get_by_role("link", name="Table 6", exact=True).click()
        assert shown.locator("#table6_detection table").first.is_visible()
        cell = shown.locator('[id="table6_detection|HealthQA:_GPT-4|accuracy"]')
        cell.hover()
        cell.get_by_role("link", name="¶").click()
        assert unquote(shown.url).endswith("#table6_detection|HealthQA:_GPT-4|accuracy")
        assert shown.evaluate("document.querySelector(':target').textContent").startswith("0.57")


def test_claims_are_filtered_and_linked(browser):
    made = json.loads((paths.FIGURES / "public/manifest.json").read_text())["notebooks"].values()
    claims = [c for e in made for c in e["claims"]]
    mine = [c for c in claims if c["paper"] == "radiation" and c["of"] == "paper"]
    off = {c["id"] for c in mine if c["verdict"] == "differs"}
    with watched(browser, 1440, 900) as shown:
        shown.goto(at("public", "index.html"))
        shown.locator("#radiation").get_by_role(
            "link", name="What is contradicted, and why"
        ).click()
        visible = shown.locator("article:visible")
        assert {visible.nth(k).get_attribute("id") for k in range(visible.count())} == off and off
        shown.get_by_role("searchbox").fill("no such words anywhere")
        assert visible.count() == 0 and "text=no" in shown.url
        shown.get_by_role("button", name="Show all").click()
        shown.locator("#count", has_text=f"{len(claims)} of").wait_for()
        shown.get_by_label("Basis").select_option("raw")
        assert visible.count() == sum(c["basis"] == "raw" for c in claims)


# ---- links


def committed():
    """The files of a fresh clone, as git has them; skips where git isn't."""
    asked = ["git", "-C", str(paths.ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return {*done.stdout.split("\0")}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_link_of_a_fresh_clone_leads_somewhere(profile):
    here, files = paths.FIGURES / profile, committed()
    texts = {name: (here / name).read_text() for name in EVERY}
    ids = {name: {html.unescape(i) for i in ID.findall(text)} for name, text in texts.items()}
    count = 0
    for name in EVERY:
        for href in HREF.findall(texts[name]):
            file, _, anchor = html.unescape(href).partition("#")
            if href.startswith("https://"):
                continue
            target = Path(os.path.normpath(here / (unquote(file) or name)))
            assert target.relative_to(paths.ROOT).as_posix() in files, (name, href)
            if anchor and file in ("", *EVERY) and unquote(anchor) not in ids[file or name]:
                assert file == "claims.html" and set(parse_qs(anchor)) <= FACETS, (name, href)
            count += 1
    assert count > 1000


FACETS = {"paper", "verdict", "basis", "weight", "of", "kind", "saved"}


# ---- notebooks and the site


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Notebooks that count as executed, one of them with hostile outputs."""
    hostile = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"

    def place(name, profile):
        out = tmp_path / "executed" / f"{name}.ipynb"
        if not out.is_file():
            made = nbformat.read(paths.NOTEBOOKS / f"{name}.ipynb", 4)
            cell = next(c for c in made.cells if c.cell_type == "code")
            data = {"text/html": hostile, "text/plain": hostile}
            cell.outputs = [nbformat.v4.new_output("display_data", data=data)]
            out.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(made, out)
        return out

    monkeypatch.setattr(notebooks, "executed", place)


def test_what_a_notebook_shows_runs_nothing(browser, ran, tmp_path):
    manifest = json.loads((paths.FIGURES / "sample/manifest.json").read_text())
    some = {n: e for n, e in manifest["notebooks"].items() if e["paper"] == "medhalu"}
    manifest["notebooks"] = some
    content.Pages(manifest, tmp_path).write_notebooks()
    made = sorted(tmp_path.glob("notebooks/*/*.html"))
    names = [p.relative_to(tmp_path / "notebooks").with_suffix("").as_posix() for p in made]
    assert names == sorted(some) and not any("<script" in path.read_text() for path in made)
    with browser.new_context() as context:
        shown = context.new_page()
        shown.goto(made[0].as_uri())
        shown.wait_for_load_state("networkidle")
        assert shown.title() != "ran"


@pytest.mark.slow
def test_the_site_holds_no_texts_of_other_people(ran, tmp_path):
    first = site.write_site(tmp_path / "site")
    files = {p.relative_to(first.parent).as_posix() for p in first.parent.rglob("*") if p.is_file()}
    assert {f"{profile}/{name}" for profile in PROFILES for name in EVERY} < files
    assert "sample/explorer.html" in files and "public/explorer.html" not in files
    assert not any(f.startswith("public/notebooks/") for f in files)
    assert sum(f.startswith("sample/notebooks/") for f in files) == len(notebooks.listed())
    for name in (f for f in files if f.endswith(".html") and "explorer" not in f):
        for href in HREF.findall((first.parent / name).read_text()):
            if not href.startswith(("https://", "#", "http://")):
                target = (first.parent / name).parent / unquote(href.partition("#")[0])
                assert target.resolve().relative_to(first.parent.resolve()).as_posix() in files, (
                    href
                )


def test_only_the_scripts_written_here_may_run():
    for name in PAGES:
        text = (paths.FIGURES / "sample" / name).read_text()
        scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        allowed = pages.hashes(scripts) if scripts else "'none'"
        assert f"script-src {allowed};" in policy and "default-src 'none'" in policy
        assert text.count("<script") == len(scripts) <= 1


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
