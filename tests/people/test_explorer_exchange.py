"""The explorer's export, what was sent and came back, and hostile texts in all of it."""

import re

import explorer_page
from explorer_page import (
    FIXED,
    HOSTILE,
    QUESTION,
    SYSTEM,
    block,
    call,
    document,
    exported,
    go,
    ids,
    message,
    opened,
    pressed,
    row,
    sent,
    unfold,
    verdict,
)

from bedside import explorer
from bedside.asking import store
from bedside.publish import judged_items
from bedside.read import paths
from bedside.write import tables
from browser import watched

shown = explorer_page.shown  # a fixture


# The export


def test_an_export_is_safe_for_spreadsheets_and_holds_what_each_row_has(shown):
    cells = {"=1+1": "'=1+1", "+cmd": "'+cmd", "-1": "-1", "-1e3": "-1e3", "-x": "'-x"}
    cells |= {"@a": "'@a", "\tb": "'\tb", 'a "b",\nc': 'a "b",\nc', "ö": "ö"}
    cells |= {"long " * 10_000: "long " * 10_000}  # longer than a spreadsheet's cell
    assert [tables.cell_text(c) for c in cells] == list(cells.values())  # the project's own rule
    made = [row(item=f"i{n}", reply=text) for n, text in enumerate(cells)]
    made[0]["blocks"] = [block("text", "=2+2", text="@x"), block("text", "reply", text="own")]
    made[1]["blocks"] = [block("list", "listed", entries=["y", "z"])]
    got = exported(shown(document(made)))
    assert [r["reply"] for r in got] == list(cells.values())
    assert "'@x" in got[0].values() and "own" in got[0].values()
    assert "• y\n• z" in got[1].values() and "• y\n• z" not in got[0].values()
    assert set(FIXED) <= set(got[0]) and not any(name.startswith("=") for name in got[0])


def test_the_export_agrees_with_what_was_judged_and_recorded(shown):
    """Of the sample: texts, verdicts and labels are all there, replies as they were recorded."""
    made = judged_items.collect("sample")
    got = {r["id"]: r for r in exported(shown(made))}
    assert list(got) == [r["id"] for r in made["rows"]]
    folders = {p: store.Recordings(paths.ROOT / "data/recordings" / p) for p in made["papers"]}
    compared = 0
    for r in made["rows"]:
        mine, cell = got[r["id"]], tables.cell_text
        for name in ("paper", "section", "item", "unit", "model", "configuration", "reply"):
            assert mine[name] == cell(r[name]), (r["id"], name)
        assert mine["question"] == cell(r["title"])
        for v in r["verdicts"]:
            told = [mine[f"judge {v['judge']}: {name}"] for name in ("status", "value", "raw")]
            assert told == [cell(v["status"]), cell(v["value"]), cell(v["raw"])], r["id"]
            right = "" if v["right"] is None else str(v["right"]).lower()
            assert mine[f"judge {v['judge']}: right"] == right
        for m in r["more"]:
            assert mine[f"question {m['task']}, {m['judge']}: value"] == cell(m["value"])
        assert mine["human"] == "; ".join(f"{h['by']}: {h['value']}" for h in r["human"])
        for b in [b for key in r["shared"] for b in made["shared"][key]] + r["blocks"]:
            if b["kind"] in ("text", "list"):
                text = (
                    b["text"] if b["kind"] == "text" else "\n".join("• " + e for e in b["entries"])
                )
                assert mine[b["label"]] == cell(text), (r["id"], b["label"])
            else:
                assert mine[b["label"]], (r["id"], b["label"])
        recorded = [folders[r["paper"]].get(key) for key in mine["calls"].split()]
        for name in ("finish", "prompt_tokens", "completion_tokens"):
            assert mine[name] == "\n".join(str(x[name]) for x in recorded), r["id"]
        for key in r["calls"]:
            for m in made["calls"][key]["messages"]:
                assert made["messages"][m]["content"] in mine["messages"]
        # a candidate is one of the questions of a reply
        if len(recorded) == 1 and r["reply"] and r["configuration"] != "candidate":
            assert mine["reply"] == cell(recorded[0]["text"]), r["id"]
            compared += 1
    assert compared > 400


def test_the_call_behind_a_verdict_is_the_judges():
    """Of the committed page: what a judge replied is what stands as its raw reply."""
    text = (paths.FIGURES / "sample" / "explorer.html").read_text(encoding="utf-8")
    made, studies = explorer.read(text)[0], set()
    for reply in made["rows"]:
        for told in (v for v in reply["verdicts"] if v["calls"]):
            assert {made["calls"][key]["model"] for key in told["calls"]} == {told["judge"]}
            studies.add(reply["paper"])
    assert studies == {"cancer_myth", "meddialbench", "radiation"}  # MedHalu has no judge


# What was sent and came back


def test_what_was_sent_and_came_back_stands_on_the_page_and_in_the_export(shown):
    made = sent()
    judge = {**verdict("m2", "1", True), "calls": ["k2"]}
    made["rows"][0]["verdicts"] = [judge, {**verdict("lexical", "0", False), "calls": []}]
    page = shown(made)
    fold = opened(page, "one", "finish reason")
    for words in (SYSTEM, QUESTION, "m1-2026-01-01", "temperature: 0", "2026-02-03", "1.25", "k1"):
        assert words in fold.inner_text(), words
    asked = page.locator("#detail .verdict details.asked")  # the judge's messages, by its verdict
    asked.locator("summary").click()
    asked.locator(".turn", has_text="Write a question.").wait_for()
    assert QUESTION not in asked.inner_text()
    fold = opened(page, "three", "call 3 of 3: m1")
    unfold(fold, "call 2 of 3: m2", "Write a question.")
    assert "price unknown" in fold.inner_text() and '{"type":"json_object"}' in fold.inner_text()
    unfold(fold, "call 3 of 3: m1", "Where?")
    fold.get_by_role("button", name="show all").click()
    assert fold.inner_text().count("Here.") == 500 and QUESTION not in fold.inner_text()
    unfold(fold, "messages 1 to 2, as in call 1", "Does it hurt?")
    assert "k9" in opened(page, "lost", "k9").inner_text()
    whys = {"written": "written for this project", "rules": "rules without a model"}
    for by, why in {**whys, "person": "people wrote", "model": "not recorded"}.items():
        assert why in go(page, by).inner_text() and page.locator("#detail .sent").count() == 0
    got = {r["item"]: r for r in exported(page)}
    assert got["one"]["messages"] == f"[system]\n{SYSTEM}\n\n[user]\n{QUESTION}"
    assert got["one"]["settings"] == "max_tokens: 96, temperature: 0"
    three = got["three"]
    assert three["calls"] == "k1\nk2\nk3" and three["model_asked"] == "m1\nm2\nm1"
    assert three["seconds"] == "1.25\nnot recorded\n2.5"
    assert three["usd"] == "0.5\nprice unknown\n0.5"
    assert three["messages"].count(QUESTION) == 1 and three["messages"].count("Here.") == 500
    assert got["lost"]["calls"] == "k9" and got["lost"]["finish"] == "not in the file"
    assert all(got["written"][k] == "" for k in FIXED[FIXED.index("calls") :])


def test_damaged_exchanges_are_said_and_cost_nothing_else(browser, tmp_path):
    path = tmp_path / "explorer.html"
    path.write_text(re.sub(r'(id="sent">.{40}).*?<', r"\1<", explorer.html(sent())))
    with watched(browser) as page:
        page.goto(path.as_uri())
        opened(page, "one", "can't be read; the file may be damaged")
        got = {r["item"]: r for r in exported(page)}
        assert got["one"]["calls"] == "k1" and got["one"]["messages"] == "can't be read"
        assert got["one"]["reply"] == "Reply of m1." and got["written"]["messages"] == ""


# Hostile texts


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


def test_hostile_texts_stay_texts(shown):
    rows = [hostile_row(n, bad) for n, bad in enumerate(HOSTILE)]
    made = call(*HOSTILE, settings=dict.fromkeys(HOSTILE, HOSTILE[1]), finish=HOSTILE[2])
    page = shown(
        document(
            rows,
            {"k": [block("text", bad, text=bad) for bad in HOSTILE]},
            about=HOSTILE[0],
            cards={f"cancer_myth {HOSTILE[0]}": HOSTILE[1]},
            calls=dict.fromkeys(HOSTILE, made),
            messages={bad: message(bad, bad) for bad in HOSTILE},
        )
    )
    for n in range(len(rows)):
        pressed(page, "ArrowDown", f"{n + 1} of {len(rows)}")
        if not n:  # its fold stays open at the others
            page.locator("#detail .sent > summary").click()
            page.locator("#detail .sent").get_by_text("finish reason").first.wait_for()
    inert(page)
    for what in ("model", "models", "judge", "configuration", ""):
        page.get_by_label("compare", exact=True).select_option(what)
    assert ids(page) == [r["id"].replace("\ud83d", "\ufffd") for r in rows]
    page.keyboard.press("Home")
    assert "<script>window.hacked = 1</script>" in page.inner_text("#detail")
    assert "\u202e" not in page.inner_text("body")  # what hides or turns text is named instead
    inert(page)
