"""Documents for the explorer, and walks through its page."""

import contextlib
import csv
import io
import json
import re
from pathlib import Path

import pytest
import walks

from bedside import explorer
from bedside.read import paths
from browser import watched
from conftest import until

csv.field_size_limit(10_000_000)
DOCUMENTS = paths.toml(Path(__file__).with_name("explorer.toml"))
PAPERS = {
    "cancer_myth": "Cancer-Myth",
    "radiation": "Radiation side effects",
    "medhalu": "MedHalu",
    "meddialbench": "MedDialBench",
}
HOSTILE = ["<script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>"]
HOSTILE += ["[press](javascript:window.hacked=3)", "</script><script>window.hacked=4</script>"]
HOSTILE += ["\u202egnp.exe\u202c and \u2067rtl\u2069 \u200e", "<svg onload=window.hacked=6>"]
HOSTILE += ["{{7*7}} ${window.hacked=8} <!--", "\x00\x07\x1b[31m", "half \ud83d emoji"]
HOSTILE += ["<style>*{display:none}</style>", "__proto__", "a,b; c", "100% #1 & 'one' +?=", "a\nb"]


def verdict(judge, value, right=None, raw="", reason="", **more):
    status = "unparsed" if right is None else "graded"
    made = dict(judge=judge, status=status, value=value, right=right, raw=raw, reason=reason)
    return made | more


def row(paper="cancer_myth", item="i1", model="m1", configuration="plain", verdicts=(), **more):
    made = {"id": f"{paper}/{item}/{model}/{configuration}", "section": "4.3 evaluation"}
    made |= dict(paper=paper, item=item, unit=item, model=model, by="model", truncated=False)
    made |= dict(configuration=configuration, category="general", title=f"Question {item}")
    made |= dict(reply=f"Reply of {model}.", reply_status="", beside="")
    made |= {"verdicts": [v if isinstance(v, dict) else verdict(*v) for v in verdicts]}
    return made | {name: [] for name in ("calls", "shared", "blocks", "more", "human")} | more


def document(rows, **more):
    made = dict(profile="sample", about="", papers=PAPERS, cards={}, shared={}, calls={})
    made |= {"messages": {}, "judge": dict.fromkeys(PAPERS, "lexical"), "rows": rows}
    return made | more


def named(name):
    """A document of explorer.toml."""
    known = DOCUMENTS[name]
    more = {k: v for k, v in known.items() if k not in ("rows", "criteria", "scores")}
    if name == "rubric":
        return document(_rubric(**known), **more)
    made = document([row(**r) for r in known["rows"]], **more)
    for call in made["calls"].values():
        call |= dict.fromkeys(("response_format", "fingerprint", "router"))
    if name == "everything":
        made["rows"].append(hostile_row(0, HOSTILE[0] + HOSTILE[1]))
        made["rows"][0] |= {"reply": "x" * 3000, "title": "Question i1 " + "y" * 300}
    return made


def _rubric(criteria, scores, **more):
    said, rows = {"yes": "met", "no": "not met"}, {}
    for item, judge, score, *met, right in (line.split() for line in scores.split("\n") if line):
        if score == "-":
            rows.setdefault(item, []).append(verdict(judge, ""))
            continue
        more = [{**c, "said": said[m]} for c, m in zip(criteria, met, strict=True)]
        value, more = f"{score} % of the points", {"score": int(score), "criteria": more}
        rows.setdefault(item, []).append(verdict(judge, value, right == "true", **more))
    return [row("own", item, verdicts=verdicts) for item, verdicts in rows.items()]


def hostile_row(n, bad):
    """A row in which every text is `bad`."""
    blocks = [
        dict(kind="text", label=bad, text=bad),
        dict(kind="list", label="l", entries=[bad]),
        dict(kind="marked", label="m", pieces=[[bad, "labelled"], [bad, bad]]),
        dict(kind=bad, label="unknown"),
        dict(kind="aligned", label="a", columns=[bad], rows=[{"term": bad, "cells": [bad]}]),
        dict(kind="dialogue", label="d")
        | {"turns": [{"who": bad, "pieces": [[bad, "script"]], "notes": [bad]}]},
    ]
    texts = ("item", "model", "configuration", "category", "title", "section", "reply")
    more = dict.fromkeys((*texts, "reply_status"), bad) | {"id": f"{bad} {n}", "blocks": blocks}
    more["human"] = [{"by": "the author", "value": bad, "type": "", "reason": ""}]
    more["more"] = [{"judge": bad, "task": bad, "status": "graded", "value": bad, "raw": bad}]
    return row(verdicts=[verdict(bad, bad, False, bad, bad), verdict("lexical", "x", True)], **more)


class Walk(walks.Walk):
    """A walk through the explorer. show: opens the document in a page of its own."""

    def __init__(self, show, fragment=""):
        super().__init__(show(fragment))
        self.show, self.kept, self.link = show, None, ""

    def again(self, fragment=""):
        """Open the page anew, in a further tab, with another address or that of this view."""
        self.tabs.append(self.show(fragment or "#" + (self.link or self.page.url).split("#")[1]))
        before, self.page = self.page, self.tabs[-1]
        assert fragment or self.page.inner_text("#place") == before.inner_text("#place")
        assert fragment or self.page.inner_text("#detail h2") == before.inner_text("#detail h2")

    def choose(self, facet, value):
        """Tick a choice of a facet, which may be folded."""
        if self.page.locator("#filters").is_hidden():
            self.click("Filters")
        group = self.page.get_by_role("group", name=facet, exact=True)
        if group.is_hidden():
            self.page.locator("#facets summary", has_text=facet).click()
        name = self.page.locator("bdi", has_text=re.compile(f"^{re.escape(value)}$"))
        group.locator("label").filter(has=name).locator("input").click()

    def search(self, words, n):
        self.page.get_by_role("searchbox").fill(words)
        self.page.locator("#summary > span", has_text=re.compile(rf"^{n} of ")).wait_for()

    def export(self):
        with self.page.expect_download() as download:
            self.click("Export CSV")
        data = download.value.path().read_bytes()
        assert data.startswith(b"\xef\xbb\xbf")
        return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))

    def lists(self, ids):
        """These are the rows shown, in this order."""
        until(lambda: [r["id"] for r in self.export()] == ids.split(), seconds=60)

    def exports(self, id, column, value):
        (mine,) = [r for r in self.export() if r["id"] == id]
        assert " ".join(mine[column].split()) == value

    def view(self, fragment):
        """The view that an address names, however long the page takes to write its own."""
        self.page.evaluate(
            """fragment => new Promise(shown => {
            addEventListener("hashchange", () => requestAnimationFrame(shown), { once: true });
            location.hash = fragment; })""",
            fragment,
        )

    def go(self, id):
        """Open a row by its address."""
        shown = """id => { location.hash = "#q=&id=" + id;
            const head = document.querySelector("#detail h2");
            return head?.textContent.includes(id.split("/")[1]); }"""
        until(lambda: self.page.evaluate(shown, id), seconds=60)

    def copy(self):
        """The link that the page copies is what is opened `again`."""
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.click("Copy link")
        self.sees("#message", "Link copied")
        self.link = self.page.evaluate("navigator.clipboard.readText()")

    def keep(self):
        """Save the marks; returns them."""
        with self.page.expect_download() as download:
            self.page.locator("#save").click()
        assert download.value.suggested_filename == "bedside_sample_marks.json"
        self.kept = download.value.path().read_text(encoding="utf-8")
        return json.loads(self.kept)["marks"]

    def load(self, content):
        """Choose a file of marks, or those that were `kept`; returns what is said."""
        text = self.kept if content == "kept" else content
        text = text if isinstance(text, str) else json.dumps(text)
        self.page.evaluate("document.getElementById('message').textContent = ''")
        file = {"name": "m.json", "mimeType": "application/json", "buffer": text.encode()}
        with self.page.expect_file_chooser() as chooser:
            self.click("Load marks")
        chooser.value.set_files(file)
        self.page.locator("#message:not(:empty)").wait_for()
        return self.page.inner_text("#message")

    def inert(self):
        """Nothing of the texts has run or has become a part of the page."""
        parts = ":is(a, img, svg, iframe, object, script, style, i, b b)"
        live = f"document.querySelectorAll('#app {parts}').length"
        assert self.page.evaluate(f"[window.hacked, ({{}}).note, {live}]") == [None, None, 0]

    def dark(self):
        self.page.emulate_media(color_scheme="dark")


@pytest.fixture
def explore(browser, tmp_path):
    """A function that opens a document in a watched page and returns a walk through it.

    After the test all pages are closed, and checked.
    """
    with contextlib.ExitStack() as stack:

        def walk(document, fragment="", **size):
            path = tmp_path / "explorer.html"
            explorer.write(path, document)

            def show(fragment):
                page = stack.enter_context(watched(browser, **size))
                page.goto(path.as_uri() + fragment)
                at = "#message:empty, #message:has-text('link names')"
                page.wait_for_selector(at, state="attached")
                return page

            return Walk(show, fragment)

        yield walk
