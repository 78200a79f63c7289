"""The failure explorer: its file, and in a browser its filters, links, comparisons and replies."""

import base64
import hashlib
import json
import re

import explorer_page
import pytest
from explorer_page import (
    choose,
    counts,
    document,
    exported,
    four_papers,
    go,
    ids,
    pressed,
    row,
    verdict,
)

from bedside import BedsideError, explorer, stats
from browser import violations, watched

shown = explorer_page.shown  # a fixture


# The file


def test_a_page_holds_its_document_and_runs_no_script_but_its_own():
    made = four_papers()
    text = explorer.html(made)
    assert text == explorer.html(json.loads(json.dumps(made)))
    found, rest = explorer.read(text)
    assert found == made and made["rows"][0]["id"] not in rest
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert "script-src " + " ".join(f"'sha256-{h}'" for h in hashes) + ";" in policy
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    outside = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    assert not re.search(r"<(link|img|iframe)\b|\bsrc=|href=\"(?!#main|\w+\.html)", outside)
    told = "a < b & </title><script>"
    head = explorer.html(document([row(reply="\ud800 half")], about=told, profile="p\udfff"))
    assert "a &lt; b &amp; &lt;/title&gt;&lt;script&gt;" in head and "p\ufffd" in head


def test_what_is_no_page_or_has_a_reply_twice_is_an_error(browser, tmp_path):
    with pytest.raises(BedsideError, match="cancer_myth/i1/m1/plain"):
        explorer.html(document([row(), row()]))
    with pytest.raises(BedsideError, match="not an explorer page"):
        explorer.read("<html></html>")
    path = tmp_path / "explorer.html"
    for damage, said in ((r'(id="data">.{40}).*?<', "damaged"), (None, "can't unpack")):
        text = explorer.html(four_papers())
        path.write_text(re.sub(damage, r"\1<", text) if damage else text)
        with watched(browser) as page:
            if not damage:  # an old browser
                page.add_init_script("delete window.DecompressionStream")
            page.goto(path.as_uri())
            page.locator("#message", has_text=said).wait_for()


def test_whose_model_is_too_small_is_said():
    tiny = "Far too small for medicine"
    assert tiny not in explorer.html(four_papers())
    both = [row(), row(model="smollm2-135m"), row(model="gpt-4o-2024-08-06")]
    said = f"{tiny}.* beside gpt-4o-2024-08-06, replies of the embedded model, smollm2-135m"
    assert re.search(said, explorer.html(document(both)))


# Filters, counts, links


def search(page, words, n):
    page.get_by_role("searchbox").fill(words)
    page.locator("#summary > span", has_text=re.compile(rf"^{n} of ")).wait_for()


def outcome(page, name):
    page.locator("#outcome label", has_text=name).locator("input").click()


def test_filters_and_searches_show_what_they_name_and_count_it(shown):
    page = shown(four_papers())
    assert counts(page) == "12 of 12 rows · 7 items"
    assert "%" not in page.locator("#summary").inner_text()  # no rate over several studies
    for name, n in (("✗ failed", 5), ("✓ right", 5), ("– unscored", 2), ("all", 12)):
        outcome(page, name)
        assert counts(page).startswith(f"{n} of 12 rows")
    choose(page, "paper", "Cancer-Myth")
    assert "failures of 2 models 4 of 6 scored: 66.7% [" in page.inner_text("#summary")
    choose(page, "model", "m2")
    choose(page, "verdict", "-1")
    assert ids(page) == ["cancer_myth/i1/m2/plain", "cancer_myth/i3/m2/plain"]
    models = page.get_by_role("group", name="model", exact=True).locator("label")
    assert models.all_inner_texts() == ["m1\n2", "m2\n2"]  # what each choice would show
    clear = page.get_by_role("button", name="Clear filters")
    clear.click()
    choose(page, "judge", "strict")  # its verdicts count, on the rows that it judged
    assert "failures of 2 models 2 of 6 scored" in page.inner_text("#summary")
    clear.click()
    page.get_by_label("judges disagree").click()
    assert ids(page) == ["cancer_myth/i1/m2/plain", "cancer_myth/i2/m1/plain"]
    page.get_by_label("judge differs from human").click()
    assert ids(page) == ["cancer_myth/i2/m1/plain"]
    clear.click()
    found = {"XYLOPHONE2": 2, "question xylophone1 m2": 1, '"question whole"': 0, "because": 6}
    found |= {'"whole of question"': 6, "perhaps": 2, "jaw ache": 2, "hiccups": 2, "nowhere": 0}
    for words, n in found.items():
        search(page, words, n)
    page.locator("#nothing button").click()  # the way out that it offers
    assert counts(page).startswith("12 of 12") and page.get_by_role("searchbox").input_value() == ""


def test_a_link_brings_back_view_order_and_row_and_says_what_is_gone(shown):
    page = shown(four_papers())
    choose(page, "paper", "Cancer-Myth")
    outcome(page, "failed")
    search(page, "question reply", 4)
    head = page.get_by_role("columnheader").get_by_role("button", name="model")
    head.click()
    up = ids(page)
    assert [i.split("/")[2] for i in up] == ["m1", "m1", "m2", "m2"]
    head.click()
    assert sorted(ids(page)) == sorted(up) and ids(page)[0].split("/")[2] == "m2"
    page.locator(".tabulator-row").nth(2).click()
    order = ids(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.locator("#message", has_text="Link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    again = shown(four_papers(), "#" + link.split("#")[1])
    assert ids(again) == order and again.inner_text("#place") == "3 of 4"
    assert again.get_by_role("searchbox").input_value() == "question reply"
    assert again.inner_text("#detail") == page.inner_text("#detail")
    page.go_back()  # opening a row is a step of its own
    page.locator("#detail").wait_for(state="hidden")
    assert counts(page).startswith("4 of 12")
    fragment = "#p=cancer_myth&m=gone&m=m1&id=no/such%20row&o=bad&zz=1&x=model&a=m1&b=away&%"
    page = shown(four_papers(), fragment)
    said = page.inner_text("#message")
    assert all(name in said for name in ("gone", "no/such row", "bad", "zz", "away")), said
    assert counts(page) == "3 of 3 pairs · 3 items"  # A and B are chosen anew


def test_keys_step_through_the_filtered_rows_and_typing_steps_nowhere(shown):
    page = shown(document([row(item=f"i{n}", model=f"m{n % 2}") for n in range(200)]), "#m=m1")
    keys = ("ArrowDown", 1), ("j", 2), ("k", 1), ("End", 100), ("ArrowDown", 100), ("Home", 1)
    for key, place in keys:
        pressed(page, key, f"{place} of 100")
    assert page.inner_text("#detail h2") == "Question i1"
    page.keyboard.press("Escape")
    page.locator("#detail").wait_for(state="hidden")
    page.keyboard.press("/")
    page.keyboard.type("i199 j")
    page.keyboard.press("Enter")  # before the field's own pause is over
    page.locator("#summary > span", has_text=re.compile("^0 of ")).wait_for()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.locator("#summary > span", has_text=re.compile("^100 of ")).wait_for()
    page.locator("#clear").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="hidden")


# Comparisons


def pair(page, name):
    page.locator("#pairs button", has_text=name).click()
    return ids(page)


def test_two_models_are_compared_question_by_question_and_tested(shown):
    page = shown(four_papers(), "#p=cancer_myth")
    page.get_by_label("compare", exact=True).select_option("model")
    text = page.inner_text("#summary")
    assert "A fails 2 of 3 scored" in text and "B fails 2 of 3 scored" in text
    found = {"both wrong": "1", "only A wrong": "2", "only B wrong": "3"}
    for name, n in found.items():
        assert pair(page, name) == [f"cancer_myth/i{n}/m{m}/plain" for m in "12"]
    assert len(pair(page, "they disagree")) == 4
    page.keyboard.press("ArrowDown")
    detail = page.inner_text("#detail")
    assert "Reply of m1." in detail and "Reply of m2." in detail
    page.get_by_label("B", exact=True).select_option("m1")  # what A was: they change places
    assert page.get_by_label("A", exact=True).input_value() == "m2"
    right = {"m1": [n % 20 != 0 for n in range(400)], "m2": [n % 7 != 0 for n in range(400)]}
    rows = [
        row(item=f"i{n}", model=model, verdicts=[verdict("lexical", "x", right[model][n])])
        for n in range(400)
        for model in right
    ]
    p = stats.mcnemar(right["m1"], right["m2"])
    told = "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
    assert told in shown(document(rows), "#x=model&a=m1&b=m2").inner_text("#pairs")


def test_two_judges_and_two_configurations_are_compared(shown):
    page = shown(four_papers(), "#x=judge&a=lexical&b=strict")
    twice = ["cancer_myth/i1/m2/plain"] * 2 + ["cancer_myth/i2/m1/plain"] * 2
    assert pair(page, "they disagree") == twice and pair(page, "only A wrong") == twice
    assert [(r["judge"], r["value"], r["right"]) for r in exported(page)[:2]] == [
        ("lexical", "-1", "false"),
        ("strict", "1", "true"),
    ]
    view_of(page, "p=meddialbench&x=configuration&a=baseline&b=denial")
    assert counts(page).startswith("1 of 1 pairs")
    page.keyboard.press("ArrowDown")
    assert page.locator(".sides.two .turn", has_text="What brings you?").count() == 2


# One reply


def test_each_study_shows_its_texts_verdicts_lists_marks_and_turns(shown):
    page = shown(four_papers(), "#id=cancer_myth/i1/m2/plain")
    detail = page.locator("#detail")
    texts = ["The whole of question i1", "second", "Reply of m2.", "kappa 0.56", "✗ failed"]
    for text in [*texts, "The judge says so.", "because of it", "✓ right"]:
        assert text in detail.inner_text(), text
    go(page, "h1", "medhalu")
    assert detail.locator(".block .text .bracket").all_inner_texts() == ["⌜", "⟨", "⌝", "⟩"]
    assert "unparsed" in detail.inner_text() and "– unscored" in detail.inner_text()
    go(page, "r1", "radiation", "base")
    table = detail.locator("table.aligned").inner_text()
    assert "matched 2" in table and "spurious 1" in table and "missed 1" in table
    go(page, "d1", "meddialbench", "denial")
    detail.locator(".script").first.wait_for()
    texts = ["ended without a diagnosis", "discloses key item 3: jaw ache", "Goodbye.", "misled"]
    for text in [*texts, "Reply of m1."]:  # the baseline's, beside it
        assert text in detail.inner_text(), text


# For everybody


VIEWS = ["id=cancer_myth/i1/m2/plain", "id=medhalu/h1/m1/plain", "q=nowhere"]
VIEWS += ["id=meddialbench/d1/m1/denial", "x=models&w=some&id=cancer_myth/i2/m1/plain"]


def view_of(page, fragment):
    """Have the page show what an address names."""
    page.evaluate(
        """fragment => new Promise(shown => { location.hash = fragment;
        addEventListener("hashchange", () => requestAnimationFrame(shown), { once: true }); })""",
        fragment,
    )


def test_everybody_can_use_every_view_wide_and_on_a_phone(shown):
    made = four_papers()
    made["rows"][0] |= {"reply": "x" * 3000, "title": "y" * 300, "category": "z" * 200}
    page = shown(made)
    for view in VIEWS:
        view_of(page, view)
        assert violations(page) == [], view
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    for view in ("id=cancer_myth/i1/m1/plain", "x=judge&a=lexical&b=strict"):
        view_of(page, view)
        assert violations(page) == [], view
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


def test_lists_and_open_replies_print_whole(shown):
    rows = [row(item=f"i{n}", model=f"m{n % 2}") for n in range(400)]
    page = shown(document(rows), "#m=m1&sort=-item")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    items = page.locator("#printed tbody .item").all_inner_texts()
    assert items == [f"i{n}" for n in range(399, 0, -2)] and page.locator("#frame").is_hidden()
    page = shown(document([row(reply="long word " * 3000)]), "#id=cancer_myth/i1/m1/plain")
    assert len(page.inner_text("#detail")) < 25_000  # cut until asked for
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.inner_text("#detail").count("long word") == 3000
