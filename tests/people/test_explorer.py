"""The failure explorer: its file, and in a browser its filters, links, comparisons and export.

And its calm with hostile texts.
"""

import base64
import contextlib
import csv
import hashlib
import io
import json
import re

import pytest

from bedside import BedsideError, explorer, stats
from bedside.build import settings
from browser import violations, watched

PAPERS = {
    "cancer_myth": "Cancer-Myth",
    "radiation": "Radiation side effects",
    "medhalu": "MedHalu",
    "meddialbench": "MedDialBench",
}


def verdict(judge, value, right, status="graded", **more):
    return {
        "judge": judge,
        "status": status,
        "value": value if status == "graded" else "",
        "right": right,
        "raw": "",
        "reason": "",
        **more,
    }


def row(
    paper="cancer_myth", item="i1", model="m1", configuration="plain", verdicts=(), human=(), **more
):
    return {
        "id": f"{paper}/{item}/{model}/{configuration}",
        "paper": paper,
        "section": "4.3 evaluation",
        "item": item,
        "unit": item,
        "model": model,
        "by": "model",
        "configuration": configuration,
        "category": "general",
        "title": f"Question {item}",
        "calls": [],
        "shared": [],
        "reply": f"Reply of {model}.",
        "reply_status": "",
        "truncated": False,
        "blocks": [],
        "verdicts": list(verdicts),
        "more": [],
        "beside": "",
        **more,
        "human": [{"by": "the author", "value": h, "type": "", "reason": ""} for h in human],
    }


def document(rows, shared=None, **more):
    return {
        "profile": "sample",
        "about": "Questions of our own.",
        "papers": PAPERS,
        "judge": dict.fromkeys(PAPERS, "lexical"),
        "cards": {},
        "shared": shared or {},
        "rows": rows,
        "calls": {},
        "messages": {},
        **more,
    }


def block(kind, label="b", **more):
    return {"kind": kind, "label": label, **more}


def dialogue(*turns):
    made = [
        {"who": ("Doctor", "Patient")[i % 2], "pieces": pieces, "notes": notes}
        for i, (pieces, notes) in enumerate(turns)
    ]
    return block("dialogue", "consultation", turns=made)


GRADES = {  # of two judges, by item and model
    ("i1", "m1"): ("-1", "-1"),
    ("i1", "m2"): ("-1", "1"),
    ("i2", "m1"): ("-1", "1"),
    ("i2", "m2"): ("1", "1"),
    ("i3", "m1"): ("1", "1"),
    ("i3", "m2"): ("-1", "-1"),
}
ALIGNED = block(
    "aligned",
    "side effects",
    columns=["base", "specified"],
    rows=[
        {"term": "dry mouth", "cells": ["matched", "missed"]},
        {"term": "hair loss", "cells": ["matched", ""]},
        {"term": "hiccups", "cells": ["spurious", "matched"]},
    ],
)
MARKED = block(
    "marked",
    "answer",
    pieces=[
        ["Take ", ""],
        ["two ", "labelled"],
        ["a day", "labelled detected"],
        [" always", "detected"],
        [".", ""],
    ],
)
TURNS = [
    ([["What brings you?", ""]], []),
    ([["My jaw aches. ", ""], ["I never smoked.", "script"]], ["discloses key item 3: jaw ache"]),
]


def myths():
    """Six rows of Cancer-Myth, with two models and two judges."""
    said = {"raw": "The judge says so.", "reason": "because of it"}
    return [
        row(
            item=item,
            model=model,
            shared=[f"cancer_myth {item}"],
            human=["1"] if item == "i2" else [],
            category="Only" if item == "i1" else "general",
            verdicts=[verdict("lexical", a, a == "1"), verdict("strict", b, b == "1", **said)],
        )
        for (item, model), (a, b) in GRADES.items()
    ]


def consultations():
    """A consultation that ends with a diagnosis, and one beside it that doesn't."""
    done = row(
        "meddialbench",
        "d1",
        configuration="baseline",
        section="4.1",
        blocks=[dialogue(*TURNS)],
        verdicts=[verdict("lexical", "yes", True)],
    )
    broken = row(
        "meddialbench",
        "d1",
        configuration="denial",
        section="4.1",
        blocks=[dialogue(*TURNS, ([["Goodbye.", ""]], []))],
        verdicts=[verdict("lexical", "no", False)],
        reply="",
        reply_status="the consultation ended without a diagnosis",
    )
    misled = {"judge": "lexical", "task": "misled", "status": "graded", "value": "yes", "raw": ""}
    return [done, broken | {"beside": "meddialbench/d1/m1/baseline", "more": [misled]}]


def four_papers():
    """Twelve rows: six of Cancer-Myth, and two of each other paper with its blocks."""
    same = [verdict("lexical", "same", True)]
    unread = [verdict("lexical", "", None, "unparsed", raw="Perhaps.")]
    rows = myths()
    rows += [
        row("radiation", "r1", configuration=c, section="3.2", blocks=[ALIGNED], verdicts=same)
        for c in ("base", "specified")
    ]
    rows += [
        row("medhalu", item, blocks=[MARKED], verdicts=unread, section="5") for item in ("h1", "h2")
    ]
    shared = {
        f"cancer_myth {item}": [
            block(
                "text", "question", text=f"The whole of question {item}, with xylophone{item[1]}."
            ),
            block("list", "correction", entries=["first", "second"]),
        ]
        for item in ("i1", "i2", "i3")
    }
    card = "kappa 0.56 [0.45, 0.66] on 120 labelled answers"
    return document([*rows, *consultations()], shared, cards={"cancer_myth lexical": card})


@pytest.fixture
def shown(browser, tmp_path):
    """A function that opens the explorer of a document in a watched page.

    After the test all pages are closed, and checked.
    """
    with contextlib.ExitStack() as stack:

        def show(document, fragment="", **size):
            path = tmp_path / "explorer.html"
            explorer.write(path, document)
            page = stack.enter_context(watched(browser, **size))
            page.goto(path.as_uri() + fragment)
            page.wait_for_selector(
                "#message:empty, #message:has-text('link names')", state="attached"
            )
            return page

        yield show


def choose(page, facet, value):
    """Tick a choice of a facet."""
    group = page.get_by_role("group", name=facet, exact=True)
    name = page.locator("bdi", has_text=re.compile(f"^{re.escape(value)}$"))
    group.locator("label").filter(has=name).locator("input").click()


def counts(page):
    return page.locator("#summary > span").first.inner_text()


def ids(page):
    """The ids of the lines shown, in order, as the export has them."""
    return [r["id"] for r in exported(page)]


def exported(page):
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").click()
    data = download.value.path().read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def pressed(page, key, place):
    """Press a key and wait until the open row says its place."""
    page.keyboard.press(key)
    page.locator("#place", has_text=re.compile(f"^{place}$")).wait_for()


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
        "Radiation side effects\tm1\t0 of 2\t0.0% [no interval: one unit]\t0",
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


HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "[press](javascript:window.hacked=3)",
    "</script><script>window.hacked=4</script>",
    "\u202egnp.exe\u202c and \u2067rtl\u2069 \u200e",
    "<a href='javascript:window.hacked=5'>a</a>",
    "<svg onload=window.hacked=6>",
    "{{7*7}} ${window.hacked=8} <!--",
    "\x00\x07\x1b[31m",
    "half \ud83d emoji",
    "https://example.org/track.png",
    "<style>*{display:none}</style>",
    "![x](https://example.org/x.png)",
    "\U000e0041hidden",
]


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
