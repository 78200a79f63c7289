"""Documents for the explorer, calls of their replies, and its page in a browser."""

import contextlib
import csv
import io
import json
import re

import pytest

from bedside import explorer
from browser import watched
from conftest import until

csv.field_size_limit(10_000_000)
PAPERS = {
    "cancer_myth": "Cancer-Myth",
    "radiation": "Radiation side effects",
    "medhalu": "MedHalu",
    "meddialbench": "MedDialBench",
}


def verdict(judge, value, right, status="graded", **more):
    value = value if status == "graded" else ""
    return dict(judge=judge, status=status, value=value, right=right, raw="", reason="") | more


def row(
    paper="cancer_myth", item="i1", model="m1", configuration="plain", verdicts=(), human=(), **more
):
    made = {"id": f"{paper}/{item}/{model}/{configuration}", "section": "4.3 evaluation"}
    made |= dict(paper=paper, item=item, unit=item, model=model, by="model", truncated=False)
    made |= dict(configuration=configuration, category="general", title=f"Question {item}")
    made |= dict(reply=f"Reply of {model}.", reply_status="", beside="", verdicts=[*verdicts])
    made |= {name: [] for name in ("calls", "shared", "blocks", "more")} | more
    said = [{"by": "the author", "value": h, "type": "", "reason": ""} for h in human]
    return made | {"human": said}


def document(rows, shared=None, **more):
    made = dict(profile="sample", about="Questions of our own.", papers=PAPERS, rows=rows)
    made |= dict(cards={}, shared=shared or {}, calls={}, messages={})
    return made | {"judge": dict.fromkeys(PAPERS, "lexical")} | more


def block(kind, label="b", **more):
    return {"kind": kind, "label": label, **more}


def dialogue(*turns):
    made = [
        {"who": ("Doctor", "Patient")[i % 2], "pieces": pieces, "notes": notes}
        for i, (pieces, notes) in enumerate(turns)
    ]
    return block("dialogue", "consultation", turns=made)


GRADES = {  # of two judges, by item and model
    **{("i1", "m1"): ("-1", "-1"), ("i1", "m2"): ("-1", "1"), ("i2", "m1"): ("-1", "1")},
    **{("i2", "m2"): ("1", "1"), ("i3", "m1"): ("1", "1"), ("i3", "m2"): ("-1", "-1")},
}
MATCHED = {"dry mouth": ["matched", "missed"], "hair loss": ["matched", ""]}
MATCHED |= {"hiccups": ["spurious", "matched"]}
MATCHED = [{"term": term, "cells": cells} for term, cells in MATCHED.items()]
ALIGNED = block("aligned", "side effects", columns=["base", "specified"], rows=MATCHED)
PIECES = [["Take ", ""], ["two ", "labelled"], ["a day", "labelled detected"]]
MARKED = block("marked", "answer", pieces=[*PIECES, [" always", "detected"], [".", ""]])
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


HOSTILE = ["<script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>"]
HOSTILE += ["[press](javascript:window.hacked=3)", "</script><script>window.hacked=4</script>"]
HOSTILE += ["\u202egnp.exe\u202c and \u2067rtl\u2069 \u200e", "<svg onload=window.hacked=6>"]
HOSTILE += ["{{7*7}} ${window.hacked=8} <!--", "\x00\x07\x1b[31m", "half \ud83d emoji"]
HOSTILE += ["<style>*{display:none}</style>", "![x](https://example.org/x.png)"]
HOSTILE += ["__proto__", "constructor", "a,b; c", "100% #1 & 'one' \"two\" +?=", "two\nlines"]


# What was sent and what came back

QUESTION = "Does it hurt?\nI am afraid."
SYSTEM = "Be brief. <b>=1+1</b>"


def call(*messages, **more):
    made = dict(model="m1", returned_model="m1-2026-01-01", messages=[*messages], repeat=0)
    made |= dict(settings={"max_tokens": 96, "temperature": 0}, response_format=None, usd=0.5)
    made |= dict(prompt_tokens=40, completion_tokens=7, date="2026-02-03", seconds=1.25)
    return made | dict(finish="stop", fingerprint=None, router=None) | more


def message(role, content):
    return {"role": role, "content": content}


def go(page, item, paper="cancer_myth", configuration="plain"):
    """Open a row by its address, however long the page takes to write its own; its detail."""
    shown = """([id, item]) => { location.hash = "#id=" + id;
        return document.querySelector("#detail h2")?.textContent.includes("Question " + item); }"""
    row = [f"{paper}/{item}/m1/{configuration}", item]
    until(lambda: page.evaluate(shown, row), seconds=60)
    return page.locator("#detail")


def opened(page, item, words=""):
    """The fold of a row's exchange, opened."""
    fold = go(page, item).locator(".sent")
    if fold.get_attribute("open") is None:
        fold.locator("summary").first.click()
    fold.get_by_text(words).first.wait_for()
    return fold


def marked(page, n, note=""):
    page.keyboard.press(str(n))
    if note:
        page.keyboard.press("n")
        page.keyboard.type(note)
        page.keyboard.press("Escape")


def load(page, content):
    """Choose a file of marks; returns what is said."""
    text = content if isinstance(content, str) else json.dumps(content)
    before = page.locator("#message").inner_text()
    page.evaluate("document.getElementById('message').textContent = ''")
    file = {"name": "m.json", "mimeType": "application/json", "buffer": text.encode()}
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Load marks").click()
    chooser.value.set_files(file)
    page.locator("#message:not(:empty)").wait_for()
    return page.locator("#message").inner_text() or before


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
    return made | {"id": f"{bad} {n}", "shared": ["k"], "more": more, "calls": [bad]}


def inert(page):
    """Nothing of the texts has run or has become a part of the page."""
    parts = ":is(a, img, svg, iframe, object, script, style, i, b b)"
    live = f"document.querySelectorAll('#app {parts}').length"
    assert page.evaluate(f"[window.hacked, {live}]") == [None, 0]


def saved(page):
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "bedside_sample_marks.json"
    return json.loads(download.value.path().read_text(encoding="utf-8"))


def search(page, words, n):
    page.get_by_role("searchbox").fill(words)
    page.locator("#summary > span", has_text=re.compile(rf"^{n} of ")).wait_for()
