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


# What was sent and what came back

FIXED = "id paper section item unit model by configuration category question reply reply_status"
FIXED += " truncated judge status value right reason raw human mark note calls messages"
FIXED += " model_asked model_answered settings response_format repeat finish prompt_tokens"
FIXED = f"{FIXED} completion_tokens date seconds usd fingerprint router".split()
QUESTION = "Does it hurt?\nI am afraid."
SYSTEM = "Be brief. <b>=1+1</b>"


def call(*messages, **more):
    return {
        "model": "m1",
        "returned_model": "m1-2026-01-01",
        "messages": list(messages),
        "settings": {"max_tokens": 96, "temperature": 0},
        "response_format": None,
        "repeat": 0,
        "finish": "stop",
        "prompt_tokens": 40,
        "completion_tokens": 7,
        "date": "2026-02-03",
        "seconds": 1.25,
        "usd": 0.5,
        "fingerprint": None,
        "router": None,
        **more,
    }


def message(role, content):
    return {"role": role, "content": content}


def sent():
    """Rows with one call, with three, with one that isn't there, and three rows without any.

    The second of the three calls is another model's; the third goes on where the first ended.
    """
    messages = {
        "s": message("system", SYSTEM),
        "q": message("user", QUESTION),
        "a": message("assistant", "Where?"),
        "b": message("user", "Here. " * 500),
        "other": message("user", "Write a question."),
    }
    gone = dict.fromkeys(("returned_model", "date", "seconds", "usd", "finish"))
    form = {"type": "json_object"}
    calls = {
        "k1": call("s", "q"),
        "k2": call("other", model="m2", response_format=form, **gone),
        "k3": call("s", "q", "a", "b", seconds=2.5),
    }
    made = [
        row(item="one", calls=["k1"]),
        row(item="three", calls=["k1", "k2", "k3"]),
        row(item="lost", calls=["k9"]),
    ]
    made += [row(item=by, by=by) for by in ("written", "rules", "person", "model")]
    return document(made, calls=calls, messages=messages)


def go(page, item, paper="cancer_myth", configuration="plain"):
    """Open a row by its address, however long the page takes to write its own; its detail."""
    shown = """([id, item]) => { location.hash = "#id=" + id;
        return document.querySelector("#detail h2")?.textContent.includes("Question " + item); }"""
    row = [f"{paper}/{item}/m1/{configuration}", item]
    until(lambda: page.evaluate(shown, row), seconds=300)
    return page.locator("#detail")


def opened(page, item, words=""):
    """The fold of a row's exchange, opened."""
    fold = go(page, item).locator(".sent")
    if fold.get_attribute("open") is None:
        fold.locator("summary").first.click()
    fold.get_by_text(words).first.wait_for()
    return fold


def unfold(fold, summary, words):
    """Open a fold in the exchange and wait for what is in it."""
    fold.locator("summary", has_text=summary).first.click()
    fold.get_by_text(words).first.wait_for()


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
