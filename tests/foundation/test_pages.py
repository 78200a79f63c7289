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

from bedside import BedsideError
from bedside.build import notebooks
from bedside.publish import pages
from bedside.publish.pages import cite, content, site
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


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("paper", paths.papers())
def test_findings_say_whose_they_are_and_lead_to_claims_and_cells(profile, paper):
    text = (paths.FIGURES / profile / f"{paper}.html").read_text()
    ids = set(ID.findall(text))
    for f in findings.load(paper, paths.FIGURES / profile):
        assert (f.id in ids) == (not f.lacks)
        _, _, mine = text.partition(f'id="{f.id}"')
        mine = mine.partition("</li>")[0]
        if not f.lacks:
            assert f.finding in html.unescape(mine)
            assert ("Found here" in mine) == (f.of == "found")
            assert all(f'claims.html#{c}"' in mine for c in f.claims)
            cells = [unquote(to) for to in re.findall(r'href="#([^"]+\|?[^"]*)"', mine)]
            assert len([c for c in cells if "|" in c]) > 0
            assert all(html.escape(c) in ids for c in cells if "|" in c), cells


def test_another_run_has_no_findings(tmp_path):
    manifest = json.loads((paths.FIGURES / "public/manifest.json").read_text())
    for entry in manifest["notebooks"].values():
        entry["changed"] = {"limit": 3}
        (tmp_path / entry["paper"]).exists() or (tmp_path / entry["paper"]).symlink_to(
            paths.FIGURES / "public" / entry["paper"]
        )
    content.write(manifest, tmp_path)
    for name in PAGES:
        text = html.unescape((tmp_path / name).read_text())
        files = [unquote(f) for f in HREF.findall(text) if re.match(r"\w+/\w+\.(csv|png|svg)$", f)]
        assert [f for f in files if not (tmp_path / f).is_file()] == []
        assert files or name not in STUDIES
        told = [f for paper in paths.papers() for f in findings.load(paper)]
        assert told and not any(f.finding in text for f in told)
    assert "New here" not in (tmp_path / "index.html").read_text()


def test_rows_of_the_embedded_model_are_behind_a_switch(browser):
    with watched(browser, 1440, 900) as shown:
        shown.goto(at("public", "medhalu.html"))
        rows = shown.locator("#table6_detection tr", has_text="smollm2-135m")
        assert rows.count() and not rows.first.is_visible()
        shown.get_by_label("Show this run’s rows").check()
        assert rows.first.is_visible()
        assert shown.locator("#table6_detection table:visible tr", has_text="GPT-4").count() == 1
    with browser.new_context(java_script_enabled=False) as context:  # it needs no script
        shown = context.new_page()
        shown.goto(at("sample", "medhalu.html"))
        assert shown.locator("#table6_detection tr", has_text="smollm2-135m").first.is_visible()


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
        shown.locator("#radiation").get_by_role("link", name="What differs, and why").click()
        visible = shown.locator("article:visible")
        assert {visible.nth(k).get_attribute("id") for k in range(visible.count())} == off and off
        shown.get_by_role("searchbox").fill("no such words anywhere")
        assert visible.count() == 0 and "text=no" in shown.url
        shown.get_by_role("button", name="Show all").click()
        shown.locator("#count", has_text=f"{len(claims)} of").wait_for()
        shown.get_by_label("Basis").select_option("raw")
        assert visible.count() == sum(c["basis"] == "raw" for c in claims)
        shown.goto(f"{at('public', 'claims.html')}#{min(off)}")
        shown.reload()
        assert visible.count() == len(claims)
        assert (
            shown.evaluate("document.querySelector('article:target').getBoundingClientRect().top")
            < 900
        )


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


def test_the_bundled_model_is_named_at_the_head_of_each_page():
    for name in PAGES:
        head = (paths.FIGURES / "sample" / name).read_text().partition("</header>")[0]
        assert "smollm2-135m" in head


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
    content.write_notebooks(manifest, tmp_path)
    made = sorted(tmp_path.glob("notebooks/*/*.html"))
    assert [
        p.relative_to(tmp_path / "notebooks").with_suffix("").as_posix() for p in made
    ] == sorted(manifest["notebooks"])
    assert not any("<script" in path.read_text() for path in made)
    with browser.new_context() as context:
        shown = context.new_page()
        shown.goto(made[0].as_uri())
        shown.wait_for_load_state("networkidle")
        assert shown.title() != "ran"
    before = made[0].stat().st_mtime_ns
    content.write_notebooks(manifest, tmp_path)
    assert made[0].stat().st_mtime_ns == before  # nothing is newer than its page


@pytest.mark.slow
def test_the_site_holds_no_texts_of_other_people(ran, tmp_path):
    first = site.write(tmp_path / "site")
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


def test_a_site_without_executed_notebooks_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "executed", lambda *_: tmp_path / "none.ipynb")
    with pytest.raises(BedsideError, match="not executed here yet; run make all"):
        site.write(tmp_path / "site")


def test_only_the_scripts_written_here_may_run():
    text = (paths.FIGURES / "sample/claims.html").read_text()
    script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert f"script-src {pages.hashes([script])};" in policy and "default-src 'none'" in policy
    for name in STUDIES:
        text = (paths.FIGURES / "sample" / name).read_text()
        script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
        assert text.count("<script") == 1 and pages.hashes([script]) in text
    text = (paths.FIGURES / "sample/index.html").read_text()
    assert "script-src 'none';" in text and "<script" not in text


def test_each_page_says_how_to_cite(monkeypatch):
    for name in EVERY:
        text = (paths.FIGURES / "public" / name).read_text()
        made = html.unescape(re.search(r'aria-label="BibTeX">(.*?)</pre>', text, re.S)[1])
        assert made.count("@software{bedside,") == 1 and made.count("{") == made.count("}")
        assert made.count("@misc{") == (name in STUDIES)
        assert '<meta property="og:title"' in text
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setattr(cite, "about", lambda: {"repository-code": "https://github.com/a/b-c.git"})
    assert cite.binder() == "https://mybinder.org/v2/gh/a/b-c/HEAD?urlpath=lab/tree/notebooks"
    monkeypatch.setattr(cite, "about", dict)
    assert cite.binder() == ""
