"""The explorer's marks and notes: by keyboard, in the export, saved and loaded again."""

import json
import re

import explorer_page
from explorer_page import HOSTILE, document, exported, ids, load, marked, pressed, row

shown = explorer_page.shown  # a fixture


def saved(page):
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "bedside_sample_marks.json"
    return json.loads(download.value.path().read_text(encoding="utf-8"))


def items(n=3):
    return document([row(item=f"i{i}", reply=f"Reply {i}.") for i in range(n)])


def holds_back(page):
    """Whether the page asks before it is left."""
    return page.evaluate(
        """() => { const leaving = new Event("beforeunload", { cancelable: true });
        window.dispatchEvent(leaving); return leaving.defaultPrevented; }"""
    )


def test_marks_by_keyboard_are_filtered_exported_saved_and_loaded_again(shown):
    page = shown(items())
    for i in range(3):
        pressed(page, "ArrowDown", f"{i + 1} of 3")
        marked(page, *[(2, "A good one: j, k"), (3,), (3,)][i])
    page.keyboard.press("3")  # once more takes it away
    page.keyboard.press("n")
    page.keyboard.type("no mark")
    page.keyboard.press("Escape")
    page.locator(".tabulator-row").nth(1).click()
    page.get_by_role("button", name="look again").click()  # another takes its place
    got = [(r["mark"], r["note"]) for r in exported(page)]
    assert got == [("example", "A good one: j, k"), ("look again", ""), ("note alone", "no mark")]
    group = page.get_by_role("group", name="mark", exact=True).first
    group.locator("label", has_text="look again").locator("input").click()
    assert ids(page) == ["cancer_myth/i1/m1/plain"]
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox").fill("good one")
    page.locator("#summary > span", has_text=re.compile("^1 of 3")).wait_for()
    assert holds_back(page)
    file = saved(page)
    assert not holds_back(page)
    marks = [(m["id"][12:14], m["mark"], m["note"]) for m in file["marks"]]
    assert marks == [("i0", *got[0]), ("i1", *got[1]), ("i2", "", "no mark")]
    again = shown(items(), "#id=cancer_myth/i2/m1/plain")
    for _ in range(2):  # a second time changes nothing
        assert load(again, file) == "Marks loaded: 3 of 3."
        assert saved(again)["marks"] == file["marks"]
    assert again.locator("#detail textarea").input_value() == "no mark"


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


def test_in_a_pair_each_side_has_its_mark(shown):
    made = document([row(model="m1"), row(model="m2")])
    page = shown(made, "#x=model&a=m1&b=m2&id=cancer_myth/i1/m1/plain")
    page.locator("#detail .marks").nth(1).get_by_role("button", name="judge wrong").click()
    page.keyboard.press("2")
    assert [r["mark"] for r in exported(page)] == ["example", "judge wrong"]
