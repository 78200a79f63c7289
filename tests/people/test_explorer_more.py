"""More of the explorer's page than the walk shows: all of what it counts, sends, keeps and says."""

import json
import re

import explorer_page
import pytest
from explorer_page import (
    HOSTILE,
    QUESTION,
    call,
    choose,
    counts,
    document,
    exported,
    four_papers,
    ids,
    load,
    marked,
    message,
    opened,
    pressed,
    row,
    saved,
    search,
    verdict,
)

from bedside import explorer
from bedside.asking import store
from bedside.publish import judged_items
from bedside.read import paths
from bedside.write import tables
from browser import violations, watched

shown = explorer_page.shown  # a fixture
pytestmark = pytest.mark.slow


def test_a_link_brings_back_view_order_and_row_and_says_what_is_gone(shown):
    page = shown(four_papers(), "#q=")
    choose(page, "paper", "Cancer-Myth")
    page.locator("#outcome label", has_text="failed").locator("input").click()
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


def pair(page, name):
    page.locator("#pairs button", has_text=name).click()
    return ids(page)


def test_two_models_are_compared_question_by_question_and_by_whose_reply_failed(shown):
    page = shown(four_papers(), "#p=cancer_myth")
    page.get_by_label("compare", exact=True).select_option("model")
    assert page.inner_text("#summary").count("failed 2 · right 1") == 2
    found = {"both failed": "1", "only m1’s reply failed": "2", "only m2’s reply failed": "3"}
    for name, n in found.items():
        assert pair(page, name) == [f"cancer_myth/i{n}/m{m}/plain" for m in "12"]
    assert len(pair(page, "they disagree")) == 4
    page.keyboard.press("ArrowDown")
    detail = page.inner_text("#detail")
    assert "Reply of m1." in detail and "Reply of m2." in detail
    page.get_by_label("B", exact=True).select_option("m1")  # what A was: they change places
    assert page.get_by_label("A", exact=True).input_value() == "m2"


def rubric():
    """Answers to four questions by a rubric and two judges; one is unscored."""

    def said(judge, score, a, d, right):
        criteria = [{"id": "1", "text": "names a", "points": 5, "group": "g", "said": a}]
        criteria += [{"id": "2", "text": "names d", "points": -4, "group": "g", "said": d}]
        more = {"score": score, "criteria": criteria, "raw": f"words of {judge}"}
        return verdict(judge, f"{score} % of the points", right, **more)

    met, no = "met", "not met"
    scores = {  # failed with 0 and -80, unscored, right
        "q1": [said("j", 0, no, no, False), said("k", 0, no, no, False)],
        "q2": [verdict("j", "", None, "unparsed"), said("k", 100, met, no, True)],
        "q3": [said("j", 100, met, no, True), said("k", 20, met, met, False)],
        "q4": [said("j", -80, no, met, False), said("k", -80, no, met, False)],
    }
    rows = [row("own", item, verdicts=v) for item, v in scores.items()]
    return document(rows, papers={"own": "mine"}, judge={"own": "j"})


@pytest.mark.parametrize("width", [1440, 390])
def test_failures_of_a_rubric_come_first_and_are_found_by_score_criterion_and_judges(shown, width):
    page = shown(rubric(), width=width, height=900)

    def items():
        return [i.split("/")[1] for i in ids(page)]

    def only(facet, value, expected):
        if width < 1000 and page.locator("#filters").is_hidden():
            page.get_by_role("button", name="Filters").first.click()
        box = page.get_by_role("group", name=facet, exact=True)
        if box.is_hidden():
            page.locator("#facets summary", has_text=facet).click()
        choose(page, facet, value)
        assert items() == expected, (facet, value)
        page.get_by_role("button", name="Clear filters").click()

    assert items() == ["q4", "q1", "q3", "q2"]  # failures, the lowest score first
    only("criterion", "names a", ["q4", "q1"])
    only("criterion", "names d", ["q4"])  # by the first judge
    only("score", "below 0", ["q4"])
    page.get_by_label("judges disagree").click()
    assert items() == ["q3"]
    page.get_by_role("button", name="Clear filters").click()
    if width < 1000:
        page.get_by_role("button", name="Filters").first.click()
    else:
        page.get_by_role("columnheader").get_by_role("button", name="judges apart").click()
        page.get_by_role("columnheader").get_by_role("button", name="judges apart").click()
        assert items()[0] == "q3"
        page.get_by_role("columnheader").get_by_role("button", name="score, %").click()
        assert items() == ["q4", "q1", "q3", "q2"]
    page.keyboard.press("ArrowDown")
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert "question" in heads and "section" not in heads and "model" not in heads
    detail = page.locator("#detail")
    cells = detail.locator("table.aligned tr").nth(1).inner_text().split("\t")
    assert [c.strip() for c in cells] == ["names a (+5)", "not met", "not met"]
    boxes = [b.bounding_box() for b in detail.locator(".verdict").all()]
    assert len(boxes) == 2 and (boxes[0]["y"] == boxes[1]["y"] or width < 1000)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def test_it_opens_where_verdicts_vary(shown):
    rows = [
        row(item=f"a{n}", section="same", verdicts=[verdict("lexical", "-1", False)])
        for n in range(5)
    ]
    rows += [
        row(item=f"b{n}", section="vary", verdicts=[verdict("lexical", "x", n < 2)])
        for n in range(4)
    ]
    assert counts(shown(document(rows))) == "4 of 9 rows · 4 items"
    assert counts(shown(document(rows), "#q=")) == "9 of 9 rows · 9 items"


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
    page = shown(made, "#q=")
    for view in VIEWS:
        view_of(page, view)
        assert violations(page) == [], view
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    for view in ("id=cancer_myth/i1/m1/plain", "x=judge&a=lexical&b=strict"):
        view_of(page, view)
        assert violations(page) == [], view
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


# ---- export, what was sent, marks


def test_the_export_agrees_with_what_was_judged_and_recorded(shown):
    """Of the sample: texts, verdicts and labels are all there, replies as they were recorded."""
    made = judged_items.collect("sample")
    got = {r["id"]: r for r in exported(shown(made, "#q="))}
    assert sorted(got) == sorted(r["id"] for r in made["rows"])
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


def test_damaged_exchanges_are_said_and_cost_nothing_else(browser, tmp_path):
    path, made = tmp_path / "explorer.html", document([row(item="one", calls=["k1"])])
    made["calls"], made["messages"] = {"k1": call("q")}, {"q": message("user", QUESTION)}
    path.write_text(re.sub(r'(id="sent">.{40}).*?<', r"\1<", explorer.html(made)))
    with watched(browser) as page:
        page.goto(path.as_uri())
        opened(page, "one", "can't be read; the file may be damaged")
        (got,) = exported(page)
        assert got["calls"] == "k1" and got["messages"] == "can't be read"
        assert got["reply"] == "Reply of m1."


def items(n=3):
    return document([row(item=f"i{i}", reply=f"Reply {i}.") for i in range(n)])


def test_loaded_marks_are_merged_and_nothing_is_lost(shown):
    page = shown(items(), "#id=cancer_myth/i0/m1/plain")
    marked(page, 1, "mine")
    own = saved(page)["marks"][0]
    theirs = [
        {**own, "mark": "example", "note": "theirs"},
        {"id": "cancer_myth/i1/m1/plain", "mark": "judge wrong", "note": "", "reply": "old"},
        {"id": "<b>gone</b>", "mark": "example", "note": "kept", "reply": ""},
        {"id": "__proto__", "mark": "", "note": "also", "reply": ""},
    ]
    said = load(page, {"bedside": "marks", "profile": "public", "saved": "", "marks": theirs})
    gone = ("2 of 4", "“public”", "<b>gone</b>", "__proto__", "cancer_myth/i1/m1/plain")
    assert all(words in said for words in gone), said
    kept = saved(page)["marks"]
    assert [m["id"] for m in kept] == [own["id"], *(m["id"] for m in theirs[1:])]
    assert kept[0]["note"] == "mine\ntheirs\nalso marked: example" and kept[1:] == theirs[1:]
    pressed(page, "j", "2 of 3")
    changed = page.get_by_text("has changed since it was marked")
    assert changed.is_visible()
    page.keyboard.press("1")  # marked anew, as it stands now
    assert changed.is_hidden() and saved(page)["marks"][1]["reply"] != "old"


GOOD = {"id": "cancer_myth/i0/m1/plain", "mark": "example", "note": "n", "reply": ""}


BAD = ["<script>window.hacked = 1</script>", "", "null", "[" * 1_000_000]


BAD += [[GOOD], {"bedside": "labels", "marks": []}, {"bedside": "marks", "marks": {"length": 1}}]


BAD += [
    {"bedside": "marks", "marks": [GOOD, wrong]}
    for wrong in (None, {**GOOD, "note": 5}, {**GOOD, "mark": "toString"}, {"__proto__": GOOD})
]


def test_other_files_are_refused_whole(shown):
    page = shown(items(), "#id=cancer_myth/i0/m1/plain")
    for content in BAD:
        assert load(page, content).endswith("Nothing was loaded."), str(content)[:100]
    assert page.locator("#detail textarea").input_value() == ""
    assert page.locator("#save").is_hidden()
    hostile = [{**GOOD, "note": "\n".join(HOSTILE)}]
    assert "Marks loaded: 1 of 1" in load(page, {"bedside": "marks", "marks": hostile})
    assert "<img src=x" in page.locator("#detail textarea").input_value()
    live = "document.querySelectorAll('#app :is(a, img, svg, iframe, object)').length"
    assert page.evaluate(f"[window.hacked, ({{}}).note, {live}]") == [None, None, 0]
