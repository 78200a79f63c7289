"""The explorer's page: calm with hostile texts, on paper, narrow, dark, by keyboard."""

import re

import explorer_page
import pytest
from explorer_page import (
    HOSTILE,
    PAPERS,
    block,
    choose,
    counts,
    document,
    exported,
    four_papers,
    ids,
    pressed,
    row,
    verdict,
)

from bedside import BedsideError, explorer
from bedside.build import settings
from browser import violations, watched

shown = explorer_page.shown  # a fixture


# One reply


def hostile_row(n, bad):
    """A row in which every text is `bad`."""
    blocks = [
        block("text", bad, text=bad),
        block("list", "l", entries=[bad]),
        block("marked", "m", pieces=[[bad, "labelled"], [bad, bad]]),
        block(bad, "unknown"),
        block("aligned", "a", columns=[bad], rows=[{"term": bad, "cells": [bad]}]),
        block("dialogue", "d", turns=[{"who": bad, "pieces": [[bad, "script"]], "notes": [bad]}]),
    ]
    verdicts = [verdict(bad, bad, False, raw=bad, reason=bad), verdict("lexical", "x", True)]
    more = [{"judge": bad, "task": bad, "status": "graded", "value": bad, "raw": bad}]
    made = row(
        item=bad, model=bad, configuration=bad, human=[bad], verdicts=verdicts, blocks=blocks
    )
    made |= dict.fromkeys(("category", "title", "section", "reply", "reply_status"), bad)
    return made | {"id": f"{bad} {n}", "shared": ["k"], "more": more}


def test_hostile_texts_stay_texts(shown):
    rows = [hostile_row(n, bad) for n, bad in enumerate(HOSTILE)]
    shared = {"k": [block("text", bad, text=bad) for bad in HOSTILE]}
    cards = {f"cancer_myth {HOSTILE[0]}": HOSTILE[1]}
    page = shown(document(rows, shared, about=HOSTILE[0], cards=cards))
    for n in range(len(rows)):
        pressed(page, "ArrowDown", f"{n + 1} of {len(rows)}")
    for what in ("model", "judge", "configuration", ""):
        page.get_by_label("compare", exact=True).select_option(what)
    assert len(exported(page)) == len(rows)
    page.keyboard.press("Home")
    live = "document.querySelectorAll('#app :is(a, img, svg, iframe, object)').length"
    assert page.evaluate(f"[window.hacked, {live}]") == [None, 0]
    assert page.locator("a").count() == 1 + len(PAPERS) + 3  # those of the frame
    assert page.locator("script").count() == 4 and page.locator("style").count() == 3
    assert "<script>window.hacked = 1</script>" in page.locator("#detail").inner_text()
    page.get_by_role("searchbox").fill("gnp.exe rtl nothing")
    page.locator("#nothing button").click()
    go = "select => location.hash = '#id=' + encodeURIComponent(select)"
    page.evaluate(go, f"{HOSTILE[4]} 4")
    page.locator("#detail h2", has_text="⟦RLO⟧gnp.exe⟦PDF⟧ and ⟦RLI⟧rtl⟦PDI⟧ ⟦LRM⟧").wait_for()
    assert page.locator("#detail .block .text > .hidden").first.inner_text() == "⟦RLO⟧"
    assert "\u202e" not in page.locator("body").inner_text()


def test_names_that_mean_something_to_scripts(shown):
    names = ["__proto__", "constructor", "toString", "hasOwnProperty", "a,b; c"]
    names += ["100% #1 & 'one' \"two\" +?=", " ", ""]

    def called(n):
        verdicts = [verdict(n, n, False), verdict("lexical", "x", True)]
        made = row(item=n, model=n, configuration=n, verdicts=verdicts)
        return made | {"id": f"id {n}", "category": n, "section": n, "shared": [n]}

    shared = {n: [block("text", n, text=f"shared by {i}")] for i, n in enumerate(names)}
    made = document([called(n) for n in names], shared)
    page = shown(made)
    for n in range(len(names)):
        pressed(page, "ArrowDown", f"{n + 1} of {len(names)}")
        assert f"shared by {n}" in page.locator("#detail").inner_text()
    for name in names[:6]:
        choose(page, "model", name)
        choose(page, "category", name)
        choose(page, "judge", name)
        page.locator(".tabulator-row").click()
        assert ids(page) == [f"id {name}"]
        page.get_by_role("button", name="Copy link").click()
        again = shown(made, "#" + page.url.split("#")[1])
        assert ids(again) == [f"id {name}"] and again.locator("#place").inner_text() == "1 of 1"
        assert again.locator("#message").inner_text() == ""
        page.get_by_role("button", name="Clear filters").click()


def test_long_texts_are_cut_until_asked_for(shown):
    page = shown(document([row(reply="long word " * 104_858, title="t" * 5000)]))
    page.keyboard.press("ArrowDown")
    cut = page.locator("#detail .block .text")
    assert len(cut.inner_text()) < 20_100
    page.get_by_role("button", name="show all (1,048,580 characters)").click()
    length = "document.querySelector('#detail .block .text').textContent.length"
    assert page.evaluate(length) == 1_048_580


def test_no_data_and_old_browsers_are_told(browser, shown, tmp_path):
    page = shown(document([]))
    assert "The file holds no rows." in page.locator("#nothing").inner_text()
    with watched(browser) as old:
        old.add_init_script("delete window.DecompressionStream")
        old.goto((tmp_path / "explorer.html").as_uri())
        old.locator("#message", has_text="can't unpack").wait_for()
    damaged = re.sub(r'(id="data">.{40}).*?<', r"\1<", explorer.html(four_papers()))
    (tmp_path / "explorer.html").write_text(damaged)
    with watched(browser) as page:
        page.goto((tmp_path / "explorer.html").as_uri())
        page.locator("#message", has_text="may be damaged").wait_for()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_its_window(shown, width):
    made = four_papers()
    made["rows"][0] |= {
        "reply": "x" * 3000,
        "title": "y" * 300,
        "category": "z" * 200,
        "configuration": "plain" * 40,
    }
    page = shown(made, width=width, height=844)
    views = ["", *(f"id={r['id']}" for r in made["rows"])]
    views += ["x=model&a=m1&b=m2&id=cancer_myth/i2/m1/plain", "x=judge&a=lexical&b=strict"]
    parts = ("documentElement", "body", "querySelector('main')", "querySelector('#detail')")
    for fragment in (*views, "q=nowhere"):
        page.evaluate("f => location.hash = f", fragment)
        page.wait_for_timeout(50)
        for part in parts:
            assert page.evaluate(f"document.{part}.scrollWidth <= innerWidth"), (fragment, part)
    if width == 390:
        page.evaluate("location.hash = '#id=medhalu/h1/m1/plain'")
        page.locator("#detail .labelled").first.wait_for()
        page.keyboard.press("Escape")
        page.locator("#detail").wait_for(state="hidden")
        page.get_by_role("button", name="Filters").click()
        choose(page, "paper", "MedHalu")
        assert counts(page).startswith("2 of 12")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_detail_prints_whole(shown):
    page = shown(document([row(reply="long word " * 3000)]), "#id=cancer_myth/i1/m1/plain")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#detail button.all").count() == 0 and page.locator("#frame").is_hidden()
    height = "e => e.scrollHeight"
    whole, seen = (page.locator(what).evaluate(height) for what in (".sides", "#detail"))
    assert seen >= whole > 3000


def test_the_list_prints_whole(shown):
    made = document([row(item=f"i{n}", model=f"m{n % 2}") for n in range(400)])
    page = shown(made, "#m=m1&sort=-item")
    printed = page.locator("#printed")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    items = printed.locator("tbody .item").all_inner_texts()
    assert items == [f"i{n}" for n in range(399, 0, -2)]
    assert page.locator("#frame").is_hidden() and printed.is_visible()
    assert page.locator(".frame nav").is_hidden() and page.locator("h1").is_visible()
    assert lightness(page, "body") == 1  # paper is white, whatever the screen was
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert printed.count() == 0


# In the frame of all pages


def lightness(page, selector):
    """Of an element's own background: 0 black, 1 white."""
    colour = page.locator(selector).first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", colour), f"{selector} has no colour of its own"
    return sum(map(int, re.findall(r"\d+", colour))) / (3 * 255)


SURFACES = ["body", ".tabulator", ".tabulator-col", ".tabulator-table", "#compare", "#search"]
SURFACES += [".tabulator-row:nth-child(1)", ".tabulator-row:nth-child(2)", "[aria-current=true]"]
SURFACES += ["#detail .bar", ".block > .text", ".labelled", "#export", "dialog"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_dark_in_the_dark(shown, scheme):
    page = shown(four_papers(), "#p=medhalu&id=medhalu/h1/m1/plain")
    page.emulate_media(color_scheme=scheme)
    page.locator(".tabulator-row[aria-current]").hover()
    for selector in SURFACES:
        dark = lightness(page, selector) < 0.3
        assert dark == (scheme == "dark"), selector
    assert lightness(page, "[aria-current=true].tabulator-row") != lightness(
        page, ".tabulator-row:nth-child(2)"
    )


VIEWS = ["", "id=cancer_myth/i1/m2/plain", "id=medhalu/h1/m1/plain", "id=radiation/r1/m1/base"]
VIEWS += ["id=meddialbench/d1/m1/denial", "q=nowhere", "m=away"]
VIEWS += ["x=model&a=m1&b=m2&id=cancer_myth/i2/m1/plain", "p=cancer_myth&sort=-model"]
VIEWS += ["o=failed", "x=models&sort=model:m2", "x=models&w=some&id=cancer_myth/i2/m1/plain"]
VIEWS += ["x=source&a=m1&b=written%20answer", "x=judge&a=lexical&b=strict", "m=written%20answer"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)])
def test_axe_finds_nothing(shown, scheme, size):
    made = four_papers()
    made["rows"] += [row(model="smollm2-135m"), row(model="written answer", by="written")]
    page = shown(made, width=size[0], height=size[1])
    page.emulate_media(color_scheme=scheme)
    page.locator("#others summary").click()
    for view in VIEWS:
        page.evaluate("view => location.hash = view", view)
        page.wait_for_timeout(50)
        assert violations(page) == [], view
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
def test_the_header_leaves_the_window_to_the_replies(shown, size):
    about = settings.profiles()["sample"]["caution"]
    made = document([row(model="smollm2-135m")], about=about)
    page = shown(made, width=size[0], height=size[1])
    assert page.locator("header").bounding_box()["height"] <= size[1] / 6
    assert page.locator(".frame nav").bounding_box()["height"] < 30  # a line


def test_links_and_the_way_past_them_take_the_keyboard(shown):
    page = shown(four_papers(), "#p=medhalu")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("main:focus").wait_for()
    assert page.url.endswith("#p=medhalu") and page.locator("#message").inner_text() == ""
    assert counts(page).startswith("2 of 12")
    page.get_by_role("link", name="Single replies").press(
        "Enter"
    )  # a link is followed, no row opened
    page.wait_for_url("**/explorer.html")
    page.wait_for_selector("#message:empty", state="attached")
    assert counts(page).startswith("12 of 12") and page.locator("#detail").is_hidden()


def test_in_a_notebook_it_links_to_no_other_page(shown, tmp_path):
    page = shown(four_papers())
    assert page.locator(".frame nav").is_visible()
    (tmp_path / "notebook.html").write_text('<iframe src="explorer.html" width="900" height="700">')
    page.goto((tmp_path / "notebook.html").as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".tabulator-row").first.click()
    inside.locator("#detail h2", has_text="Question i1").wait_for()
    assert inside.locator(".frame nav").is_hidden()
    assert inside.get_by_role("heading", name="Single replies, profile sample").is_visible()


def test_a_table_that_two_sides_share_is_shown_once(shown):
    def side(configuration, other, cells):
        rows = [{"term": "fatigue", "cells": cells}]
        table = block("aligned", "lists", columns=["base", "specified"], rows=rows)
        beside = f"radiation/r1/m1/{other}"
        return row("radiation", "r1", configuration=configuration, blocks=[table], beside=beside)

    base = side("base", "specified", ["matched", "missed"])
    for cells, count in ((["matched", "missed"], 1), (["missed", "missed"], 2)):
        made = document([base, side("specified", "base", cells)])
        page = shown(made, "#id=radiation/r1/m1/base")
        page.locator("#detail .sides.two").wait_for()
        assert page.locator("table.aligned").count() == count


def test_a_page_gives_its_document_back():
    document = four_papers()
    text = explorer.html(document)
    found, rest = explorer.read(text)
    assert found == document and document["rows"][0]["id"] not in rest and len(rest) < len(text)
    with pytest.raises(BedsideError, match="not an explorer page"):
        explorer.read("<html></html>")
