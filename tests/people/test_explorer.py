"""The failure explorer: its file, a walk through its page, and its numbers beside the tables'."""

import base64
import gzip
import hashlib
import json
import re
import shutil

import explorer_page
import pytest
from explorer_page import (
    HOSTILE,
    QUESTION,
    SYSTEM,
    block,
    call,
    choose,
    counts,
    document,
    exported,
    four_papers,
    go,
    hostile_row,
    ids,
    inert,
    load,
    marked,
    message,
    opened,
    pressed,
    row,
    saved,
    search,
)

from bedside import BedsideError, explorer, stats
from bedside import __main__ as steps
from bedside.explorer import counts as counted
from bedside.publish import judged_items
from bedside.read.surroundings import here
from browser import violations, watched
from judged import kept_in

shown = explorer_page.shown  # a fixture


# ---- the file


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


def test_a_reply_twice_or_another_page_is_an_error():
    with pytest.raises(BedsideError, match="cancer_myth/i1/m1/plain"):
        explorer.html(document([row(), row()]))
    with pytest.raises(BedsideError, match="n't an explorer page"):
        explorer.read("<html></html>")


def test_after_one_study_alone_a_run_has_an_explorer_and_the_sample_keeps_its_own(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    kept_in(tmp_path, "medhalu")
    for top in ("", ".cache/graded"):
        made = tmp_path / top / "sample" / "medhalu"
        shutil.copytree(made, tmp_path / top / "runs" / "sample-limit-2" / "medhalu")
    steps.explorer({"profile": "sample", "limit": "2", "mode": "replay"})
    text = (tmp_path / "runs/sample-limit-2/explorer.html").read_text(encoding="utf-8")
    page, rest = explorer.read(text)
    assert {r["paper"] for r in page["rows"]} == {"medhalu"} and "radiation.html" not in rest
    capsys.readouterr()
    steps.explorer({"profile": "sample"})
    assert "sample/explorer.html is as it was" in capsys.readouterr().out
    assert not (tmp_path / "sample/explorer.html").exists()
    with pytest.raises(BedsideError, match="sample-limit-3/medhalu has no graded replies"):
        steps.explorer({"profile": "sample", "papers": "medhalu", "limit": "3", "mode": "replay"})


# ---- numbers beside the page


def judged(item, model, **rights):
    """A row with judges' verdicts: right, wrong or, for None, unparsed."""
    verdicts = [
        judged_items.verdict(judge, "unparsed" if right is None else "graded", str(right), right)
        for judge, right in rights.items()
    ]
    texts = {"id": f"{item}/{model}", "item": item, "unit": str(item), "model": model}
    return dict.fromkeys(judged_items.ROW, "") | texts | {"verdicts": verdicts, "human": []}


def test_failures_are_shares_of_what_was_scored_with_intervals_of_units():
    wrong = [n % 3 == 0 for n in range(24)]
    rows = [judged(n, "a", j=not w) for n, w in enumerate(wrong)]
    for n, one in enumerate(rows):
        one |= {"paper": f"p{n % 2}", "unit": f"u{n // 4}"}
    rows += [judged(n, model, j=None) for n, model in enumerate("ab")]
    found = counted.failures(judged_items.frame({"rows": rows}), "model")
    # a unit is one within its paper: twelve of them
    share = stats.share(wrong, [f"p{n % 2} u{n // 4}" for n in range(24)])
    assert found.loc["a"].tolist() == [*(100 * x for x in share[:3]), 24, 1]
    assert found.loc["b"].isna().sum() == 3 and found.loc["b"].tolist()[3:] == [0, 1]
    one = counted.failures(judged_items.frame({"rows": rows[:4:2]}), ["paper", "model"])
    assert one.iloc[0, 0] == 50 and one.iloc[0, 1:3].isna().all()


def test_judges_disagree_where_both_graded():
    content = {
        "rows": [
            judged(1, "a", j=True, k=True),
            judged(2, "a", j=True, k=False),
            judged(3, "a", j=True, k=None),
            judged(4, "b", m=True),
        ]
    }
    ((pair, (both, differing)),) = counted.disagreements(judged_items.frame(content)).items()
    assert (pair, both) == ("j and k", 2)
    assert differing.to_dict("index") == {"2/a": {"j": "True", "k": "False"}}
    assert counted.disagreements(judged_items.frame({"rows": []})) == {}


# ---- a walk


def everything():
    """Twelve rows of four papers, one with what was sent, and one whose texts are all hostile."""
    made = four_papers()
    bad = HOSTILE[0] + HOSTILE[1]
    made["rows"] += [row(item="sent", reply="=1+1", calls=["k1"]), hostile_row(0, bad)]
    long = {"reply": "x" * 3000, "title": "Question i1 " + "y" * 300, "category": "z" * 200}
    made["rows"][0] |= long
    made["shared"]["k"] = [block("text", bad, text=bad)]
    made["messages"] = {"s": message("system", SYSTEM), "q": message("user", QUESTION)}
    made["messages"] |= {"bad": message(bad, bad)}
    made["calls"] = {"k1": call("s", "q"), bad: call("bad", finish=bad)}
    return made


def test_a_walk_by_key_and_mouse_wide_and_on_a_phone(shown):
    page = shown(everything(), "#q=")
    assert counts(page) == "14 of 14 rows · 9 items"
    choose(page, "paper", "Cancer-Myth")
    choose(page, "model", "m2")
    assert "failed 2 · right 1 · unscored 0" in page.inner_text("#summary")
    choose(page, "verdict", "-1")
    assert ids(page) == ["cancer_myth/i1/m2/plain", "cancer_myth/i3/m2/plain"]
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("judge differs from human").click()
    assert "cancer_myth/i2/m1/plain" in ids(page) and len(ids(page)) == 2
    page.get_by_role("button", name="Clear filters").click()
    for words, n in {"XYLOPHONE2": 2, '"whole of question"': 6, "hiccups": 2, "nowhere": 0}.items():
        search(page, words, n)
    page.locator("#nothing button").click()  # the way out that it offers
    for key, place in (("ArrowDown", 1), ("j", 2), ("k", 1), ("End", 14), ("Home", 1)):
        pressed(page, key, f"{place} of 14")
    page.keyboard.press("/")
    page.keyboard.type("question j")  # typing steps nowhere
    page.keyboard.press("Escape")
    page.locator("#clear").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    detail = go(page, "i2")
    for text in ("The whole of question i2", "second", "Reply of m1.", "kappa 0.56", "because of"):
        assert text in detail.inner_text(), text
    detail = go(page, "h1", "medhalu")
    assert detail.locator(".block .text .bracket").all_inner_texts() == ["⌜", "⟨", "⌝", "⟩"]
    assert "– unscored" in detail.inner_text()
    table = go(page, "r1", "radiation", "base").locator("table.aligned").inner_text()
    assert "matched 2" in table and "spurious 1" in table and "missed 1" in table
    detail = go(page, "d1", "meddialbench", "denial")
    for text in ("ended without a diagnosis", "discloses key item 3: jaw ache", "Reply of m1."):
        assert text in detail.inner_text(), text
    fold = opened(page, "sent", "finish reason")
    for words in (SYSTEM, QUESTION, "m1-2026-01-01", "temperature: 0", "2026-02-03", "1.25"):
        assert words in fold.inner_text(), words
    marked(page, 2, "A good one: j, k")
    again = shown(everything(), "#" + page.url.split("#")[1])
    assert again.inner_text("#detail h2") == page.inner_text("#detail h2")
    assert "Marks loaded: 1 of 1" in load(again, saved(page))
    got = {r["item"]: r for r in exported(again)}
    assert got["sent"]["messages"] == f"[system]\n{SYSTEM}\n\n[user]\n{QUESTION}"
    assert got["sent"]["reply"] == "'=1+1"  # no formula of a spreadsheet
    assert (got["sent"]["mark"], got["sent"]["note"]) == ("example", "A good one: j, k")
    page.locator(".tabulator-row", has_text="window.hacked = 1").first.click()
    assert "<script>window.hacked = 1</script>" in page.inner_text("#detail")
    inert(page)
    page.get_by_label("compare", exact=True).select_option("model")
    inert(page)
    page.go_back()
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, "i1")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
