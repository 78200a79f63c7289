"""The failure explorer: its file, and in a browser its filters, links, comparisons and replies."""

import base64
import hashlib
import json
import re

import explorer_page
import pytest
from explorer_page import (
    PAPERS,
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

from bedside import BedsideError, explorer, stats
from bedside.keep import registry

shown = explorer_page.shown  # a fixture


# The file


def test_same_document_gives_the_same_bytes_and_its_data_come_back():
    made = four_papers()
    text = explorer.html(made)
    assert text == explorer.html(json.loads(json.dumps(made)))
    assert explorer.read(text)[0] == made


def test_only_the_scripts_written_here_may_run_and_nothing_is_asked_for():
    text = explorer.html(four_papers())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    digests = [hashlib.sha256(s.encode()).digest() for s in scripts]
    hashes = [f"'sha256-{base64.b64encode(d).decode()}'" for d in digests]
    assert len(scripts) == 2 and f"script-src {' '.join(hashes)};" in policy
    for part in ("default-src 'none'", "base-uri 'none'", "form-action 'none'"):
        assert part in policy
    assert "unsafe-eval" not in policy
    rest = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    assert not re.search(r"<(link|img|iframe)\b|\bsrc=", rest)
    pages = ["index", *PAPERS, "claims", "explorer"]  # of the profile, beside this one
    assert re.findall(r'href="([^"]*)"', rest) == ["#main", *(f"{page}.html" for page in pages)]
    assert "sourceMappingURL" not in text


def test_head_is_escaped_and_lone_surrogates_are_replaced():
    made = document([row(reply="\ud800 half")], about="a < b & </title><script>", profile="p\udfff")
    text = explorer.html({**made, "papers": {"cancer_myth": "<b>\ud800"}})
    assert "a &lt; b &amp; &lt;/title&gt;&lt;script&gt;" in text and "p\ufffd" in text
    assert '<a href="cancer_myth.html">&lt;b&gt;\ufffd</a>' in text


def test_an_entry_named_like_what_answers_without_a_model_is_no_model_of_the_run(monkeypatch):
    """A user may name one so; the committed explorer stays as it is."""
    rows = [row(model="rules", by="rules"), row(model="smollm2-135m")]
    before = explorer.html(document(rows))
    monkeypatch.setitem(registry.entries(), "rules", {"provider": "local", "model": "mine"})
    assert explorer.html(document(rows)) == before


def test_whose_model_is_too_small_is_said():
    tiny = "Far too small for medicine"
    assert tiny not in explorer.html(four_papers())
    both = [row(), row(model="smollm2-135m"), row(model="gpt-4o-2024-08-06")]
    assert re.search(
        f"{tiny}.* beside gpt-4o-2024-08-06, replies of the embedded model, smollm2-135m",
        explorer.html(document(both)),
    )
    alone = explorer.html(document([row(), row(model="smollm2-135m")]))
    assert re.search(rf"{tiny}[^.]*embedded model, smollm2-135m\. ", alone)


def test_one_id_twice_is_an_error():
    with pytest.raises(BedsideError, match="cancer_myth/i1/m1/plain"):
        explorer.html(document([row(), row()]))


def test_own_script_never_writes_html():
    names = {path.stem for path in (explorer.FOLDER / "script").iterdir()}
    assert names == set(explorer.SCRIPT)  # none is left out
    text = explorer._script()
    writes = r"innerHTML|outerHTML|insertAdjacent|document\.write"
    runs = r"eval\(|\bFunction\(|setTimeout\(\s*['\"`]"
    assert not re.search(f"{writes}|{runs}", text)


# Filters, counts, links


def test_facets_filter_and_count(shown):
    page = shown(four_papers())
    summary, sections, models = (
        page.locator("#summary"),
        page.get_by_role("group", name="section", exact=True).locator("label:visible"),
        page.get_by_role("group", name="model", exact=True).locator("label"),
    )
    assert counts(page) == "12 of 12 rows · 7 items"
    assert "%" not in summary.inner_text()  # no rate over several studies
    choose(page, "paper", "Cancer-Myth")
    assert counts(page) == "6 of 12 rows · 3 items"
    assert "failures of 2 models 4 of 6 scored: 66.7% [" in summary.inner_text()
    # only what occurs in the paper
    assert sections.all_inner_texts() == ["4.3 evaluation\n6"]
    choose(page, "model", "m2")
    choose(page, "verdict", "-1")
    assert ids(page) == ["cancer_myth/i1/m2/plain", "cancer_myth/i3/m2/plain"]
    assert models.all_inner_texts() == ["m1\n2", "m2\n2"]  # what each choice would show
    page.get_by_role("button", name="Clear filters").click()
    choose(page, "paper", "MedHalu")
    choose(page, "paper", "Radiation side effects")
    assert counts(page) == "4 of 12 rows · 3 items"
    lines = page.locator("#rates tbody tr").all_inner_texts()
    assert lines == [
        "Radiation side effects\tm1\t0 of 2\t0.0% [no interval: fewer than ten units]\t0",
        "MedHalu\tm1\t0 of 0\tnone scored\t2",
    ]


def test_failed_right_unscored(shown):
    page = shown(four_papers())
    for name, n in (("✗ failed", 5), ("✓ right", 5), ("– unscored", 2), ("all", 12)):
        page.locator("#outcome label", has_text=name).locator("input").click()
        assert counts(page).startswith(f"{n} of 12 rows")
    choose(page, "judge", "strict")  # another judge's verdicts count, on the rows that it judged
    assert counts(page) == "6 of 12 rows · 3 items"
    assert "failures of 2 models 2 of 6 scored" in page.locator("#summary").inner_text()


def test_search_takes_words_phrases_and_all_texts(shown):
    page = shown(four_papers())

    def found(words, n):
        page.get_by_role("searchbox").fill(words)
        page.locator("#summary > span", has_text=re.compile(rf"^{n} of 12 rows")).wait_for()

    for words, n in {
        "XYLOPHONE2": 2,
        "question xylophone1 m2": 1,
        '"whole of question"': 6,
        '"question whole"': 0,
        "because": 6,
        "perhaps": 2,
        "jaw ache": 2,
        "hiccups": 2,
        "goodbye": 1,
        "": 12,
    }.items():
        found(words, n)
    found("nowhere", 0)
    tightest = "The tightest filter is “search”: 12 match without it."
    assert tightest in page.locator("#nothing").inner_text()
    page.locator("#nothing button").click()
    assert counts(page).startswith("12 of 12") and page.get_by_role("searchbox").input_value() == ""


def test_columns_sort(shown):
    def items():
        return [i.split("/")[1] for i in ids(page)]

    def head(name):
        return page.get_by_role("columnheader").get_by_role("button", name=name)

    rows = [row(item=f"i{n}", model=m) for n, m in ((10, "b"), (9, "a"), (2, "c"))]
    page = shown(document(rows))
    up, down, as_in_the_file = ["i2", "i9", "i10"], ["i10", "i9", "i2"], ["i10", "i9", "i2"]
    for expected in (up, down, as_in_the_file):
        head("item").click()
        assert items() == expected
    head("model").press("Enter")
    assert items() == ["i9", "i10", "i2"]
    page.keyboard.press("ArrowDown")  # the columns change when a row is open, the order doesn't
    assert page.locator("#place").inner_text() == "1 of 3"
    assert "Question i9" in page.locator("#detail").inner_text()
    assert items() == ["i9", "i10", "i2"]


def test_a_link_brings_back_view_and_row(shown):
    page = shown(four_papers())
    choose(page, "paper", "Cancer-Myth")
    page.locator("#outcome label", has_text="failed").locator("input").click()
    page.get_by_role("searchbox").fill("question i1")
    page.locator("#summary > span", has_text="2 of 12 rows").wait_for()
    page.get_by_role("searchbox").fill("question reply")
    page.locator("#summary > span", has_text="4 of 12 rows").wait_for()
    page.get_by_role("columnheader").get_by_role("button", name="model").click()
    page.locator(".tabulator-row").nth(2).click()
    order, address = ids(page), page.url
    assert page.locator("#detail h2").inner_text() == "Question i1"
    assert page.locator(".tabulator-row[aria-current]").count() == 1
    again = shown(four_papers(), "#" + address.split("#")[1])
    assert ids(again) == order and again.locator("#place").inner_text() == "3 of 4"
    assert again.get_by_role("searchbox").input_value() == "question reply"
    assert again.locator("#detail").inner_text() == page.locator("#detail").inner_text()
    page.go_back()  # opening a row is a step of its own
    page.locator("#detail").wait_for(state="hidden")
    assert counts(page).startswith("4 of 12")


def test_link_is_copied_or_shown_to_copy(shown):
    page = shown(four_papers(), "#p=medhalu")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.locator("#message", has_text="Link copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").endswith("#p=medhalu")
    refuse = "() => Promise.reject(new Error('not allowed'))"
    page.evaluate(f"() => {{ navigator.clipboard.writeText = {refuse}; }}")
    page.get_by_role("button", name="Copy link").click()
    page.locator("#message", has_text="copy it from there").wait_for()
    selected = "document.activeElement.value.slice(document.activeElement.selectionStart)"
    assert page.evaluate(selected).endswith("#p=medhalu")


def test_what_a_link_names_in_vain_is_said(shown):
    fragment = "#p=cancer_myth&m=gone&m=m1&id=no/such%20row&o=bad&zz=1&x=model&a=m1&b=away&%"
    page = shown(four_papers(), fragment)
    said = page.locator("#message").inner_text()
    names = ("model “gone”", "row “no/such row”", "filter “bad”", "setting “zz”", "B “away”")
    for name in (*names, "The rest is shown"):
        assert name in said, said
    assert counts(page) == "3 of 3 pairs · 3 items"  # A and B are chosen anew
    page.evaluate("location.hash = '#p=radiation'")
    page.locator("#summary > span", has_text="2 of 12 rows").wait_for()
    assert page.locator("#message").inner_text() == ""


def test_keys_step_through_the_filtered_rows(shown):
    page = shown(document([row(item=f"i{n}", model=f"m{n % 2}") for n in range(200)]), "#m=m1")
    pressed(page, "ArrowDown", "1 of 100")
    assert page.locator("#detail h2").inner_text() == "Question i1"
    for key, place in (
        ("j", "2 of 100"),
        ("ArrowDown", "3 of 100"),
        ("k", "2 of 100"),
        ("End", "100 of 100"),
        ("ArrowDown", "100 of 100"),
    ):
        pressed(page, key, place)
    assert page.locator("#detail h2").inner_text() == "Question i199"
    chosen = page.locator(".tabulator-row[aria-current]").bounding_box()
    frame = page.locator("#frame").bounding_box()
    assert frame["y"] <= chosen["y"]
    assert chosen["y"] + chosen["height"] <= frame["y"] + frame["height"] + 1
    pressed(page, "Home", "1 of 100")
    page.keyboard.press("Escape")
    page.locator("#detail").wait_for(state="hidden")
    page.keyboard.press("Enter")
    page.locator("#detail:focus").wait_for()
    page.get_by_role("searchbox").focus()
    page.keyboard.press("j")
    # typing steps nowhere
    assert page.locator("#place").inner_text() in ("1 of 100", "not among the rows shown")
    page.locator("#clear").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="hidden")


# Comparisons


def pair(page, name):
    page.locator("#pairs button", has_text=name).click()
    return [r["id"] for r in exported(page)]


def test_two_models(shown):
    page = shown(four_papers())
    choose(page, "paper", "Cancer-Myth")
    page.get_by_label("compare", exact=True).select_option("model")
    assert counts(page) == "3 of 3 pairs · 3 items"
    text = page.locator("#summary").inner_text()
    assert "A fails 2 of 3 scored" in text and "B fails 2 of 3 scored" in text
    assert pair(page, "both wrong") == ["cancer_myth/i1/m1/plain", "cancer_myth/i1/m2/plain"]
    assert pair(page, "only A wrong") == ["cancer_myth/i2/m1/plain", "cancer_myth/i2/m2/plain"]
    assert pair(page, "only B wrong") == ["cancer_myth/i3/m1/plain", "cancer_myth/i3/m2/plain"]
    assert len(pair(page, "they disagree")) == 4
    cells = page.locator("#pairs td").all_inner_texts()
    assert cells == ["0", "1", "1", "1"] and "p = 1.0000" in page.locator("#pairs").inner_text()
    page.keyboard.press("ArrowDown")
    detail = page.locator("#detail").inner_text()
    assert "Reply of m1." in detail and "Reply of m2." in detail
    again = shown(four_papers(), "#" + page.url.split("#")[1])
    again.get_by_label("B", exact=True).select_option("m1")  # what A was: they change places
    assert again.get_by_label("A", exact=True).input_value() == "m2"
    assert counts(again).startswith("2 of 3 pairs")


def test_mcnemar_is_that_of_the_statistics(shown):
    right = {"m1": [n % 20 != 0 for n in range(400)], "m2": [n % 7 != 0 for n in range(400)]}
    rows = [
        row(item=f"i{n}", model=model, verdicts=[verdict("lexical", "x", right[model][n])])
        for n in range(400)
        for model in right
    ]
    page = shown(document(rows), "#x=model&a=m1&b=m2")
    pairs = list(zip(right["m1"], right["m2"]))
    p = stats.mcnemar_counts(pairs.count((True, False)), pairs.count((False, True)))
    told = "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
    assert told in page.locator("#pairs").inner_text()


def test_two_judges_disagree(shown):
    page = shown(four_papers(), "#x=judge&a=lexical&b=strict")
    assert counts(page) == "6 of 6 pairs · 3 items"
    twice = ["cancer_myth/i1/m2/plain"] * 2 + ["cancer_myth/i2/m1/plain"] * 2
    assert pair(page, "they disagree") == twice
    assert [(r["judge"], r["value"], r["right"]) for r in exported(page)[:2]] == [
        ("lexical", "-1", "false"),
        ("strict", "1", "true"),
    ]
    assert pair(page, "only A wrong") == twice


def test_judges_disagree_by_a_filter_and_from_the_search_keys_lead_on(shown):
    page = shown(four_papers())
    page.get_by_label("judges disagree").click()
    assert ids(page) == ["cancer_myth/i1/m2/plain", "cancer_myth/i2/m1/plain"]
    page = shown(four_papers(), "#y=1")
    assert len(ids(page)) == 2
    page.keyboard.press("/")
    page.keyboard.type("question i2")
    page.keyboard.press("Enter")  # before the field's own pause is over
    page.get_by_text("1 of 1", exact=True).wait_for()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert page.get_by_role("searchbox").input_value() == ""
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") != "search" and len(ids(page)) == 2


def test_two_configurations_stand_turn_by_turn(shown):
    page = shown(four_papers(), "#p=meddialbench&x=configuration&a=baseline&b=denial")
    assert counts(page) == "1 of 1 pairs · 1 item"
    page.keyboard.press("ArrowDown")
    turns = page.locator(".sides.two .turn", has_text="What brings you?")
    first, second = (turns.nth(i).bounding_box() for i in (0, 1))
    assert first["y"] == second["y"] and first["x"] < second["x"]


def test_judge_differs_from_human(shown):
    page = shown(four_papers())
    page.get_by_label("judge differs from human").click()
    assert ids(page) == ["cancer_myth/i2/m1/plain"]
    page.get_by_label("compare", exact=True).select_option("judge")
    assert ids(page) == ["cancer_myth/i2/m1/plain"] * 2
    page.locator(".tabulator-row").click()
    assert "≠ differs from human" in page.locator("#detail").inner_text()


# One reply


def test_each_papers_blocks(shown):
    page = shown(four_papers(), "#id=cancer_myth/i1/m2/plain")
    detail = page.locator("#detail")
    for text in (
        "The whole of question i1",
        "second",
        "Reply of m2.",
        "kappa 0.56",
        "The judge says so.",
        "because of it",
        "✗ failed",
        "✓ right",
    ):
        assert text in detail.inner_text(), text
    detail.locator("summary", has_text="question · correction").click()
    page.keyboard.press("ArrowDown")  # what was folded stays folded
    detail.locator("h2", has_text="Question i2").wait_for()
    assert "The whole of question" not in detail.inner_text()
    page.evaluate("location.hash = '#id=medhalu/h1/m1/plain'")
    detail.locator(".labelled").first.wait_for()
    assert detail.locator(".block .text .bracket").all_inner_texts() == ["⌜", "⟨", "⌝", "⟩"]
    unseen = detail.locator(".block .text .unseen").all_inner_texts()
    assert unseen[:2] == ["labelled:", "detected:"]
    assert "unparsed" in detail.inner_text() and "– unscored" in detail.inner_text()
    page.evaluate("location.hash = '#id=radiation/r1/m1/base'")
    detail.locator("table.aligned").wait_for()
    table = detail.locator("table.aligned").inner_text()
    assert "● matched 2" in table and "✕ spurious 1" in table and "○ missed 1" in table
    page.evaluate("location.hash = '#id=meddialbench/d1/m1/denial'")
    detail.locator(".script").first.wait_for()
    for text in (
        "no reply: the consultation ended without a diagnosis",
        "discloses key item 3: jaw ache",
        "Goodbye.",
        "misled",
        "Reply of m1.",
    ):
        assert text in detail.inner_text(), text
    # the baseline stands beside it
    assert detail.locator(".script .tag").all_inner_texts() == ["script", "script"]
