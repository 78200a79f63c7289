"""The explorer's marks and notes: by keyboard, in the export, saved and loaded again."""

import json
import re

from exchange_calls import load, marked
from explorer_page import (
    HOSTILE,
    document,
    exported,
    ids,
    pressed,
    row,
    shown,  # noqa: F401  (a fixture)
)


def saved(page):
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "bedside_sample_marks.json"
    return json.loads(download.value.path().read_text(encoding="utf-8"))


def items(n=3):
    return document([row(item=f"i{i}", reply=f"Reply {i}.") for i in range(n)])


def test_marks_by_keyboard_are_shown_filtered_searched_and_exported(shown):  # noqa: F811
    page = shown(items())
    for i in range(3):
        pressed(page, "ArrowDown", f"{i + 1} of 3")
        marked(page, *[(2, "A good one: j, k"), (3,), (3,)][i])
    page.keyboard.press("3")  # once more takes it away
    page.locator(".tabulator-row").nth(1).click()
    page.get_by_role("button", name="look again").click()  # another takes its place
    pressed(page, "Home", "1 of 3")
    assert page.get_by_role("button", name="example").get_attribute("aria-pressed") == "true"
    assert page.locator("#detail textarea").input_value() == "A good one: j, k"
    cells = page.locator(".tabulator-cell[tabulator-field=mark]").all_inner_texts()
    assert cells == ["★ example ✎ note", "↻ look again", ""]
    assert page.locator(".tabulator-row[aria-current]").count() == 1
    got = [(r["mark"], r["note"]) for r in exported(page)]
    assert got == [("example", "A good one: j, k"), ("look again", ""), ("", "")]
    group = page.get_by_role("group", name="mark", exact=True).first
    group.locator("label", has_text="look again").locator("input").click()
    assert ids(page) == ["cancer_myth/i1/m1/plain"]
    page.wait_for_url("**k=look+again**")
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox").fill("good one")
    page.locator("#summary > span", has_text=re.compile("^1 of 3")).wait_for()
    page.get_by_role("searchbox").fill("")
    page.locator("#summary > span", has_text=re.compile("^3 of 3")).wait_for()
    page.keyboard.press("Escape")
    page.locator("#clear").focus()
    page.keyboard.press("?")
    assert "judge wrong" in page.get_by_role("dialog", name="Keys").inner_text()


def test_marks_are_saved_and_loaded_again(shown):  # noqa: F811
    page = shown(items(), "#id=cancer_myth/i0/m1/plain")
    assert page.locator("#save").is_hidden()
    marked(page, 1, "first")
    pressed(page, "j", "2 of 3")
    page.keyboard.press("n")
    page.keyboard.type("no mark")
    page.keyboard.press("Escape")
    assert page.locator("#save").inner_text() == "Save marks (2, unsaved)"
    file = saved(page)
    assert page.locator("#save").inner_text() == "Save marks (2)"
    assert (file["bedside"], file["profile"]) == ("marks", "sample")
    assert re.match(r"\d{4}-\d\d-\d\dT", file["saved"])
    got = [(m["id"], m["mark"], m["note"]) for m in file["marks"]]
    assert got == [
        ("cancer_myth/i0/m1/plain", "look again", "first"),
        ("cancer_myth/i1/m1/plain", "", "no mark"),
    ]
    again = shown(items(), "#id=cancer_myth/i1/m1/plain")
    assert load(again, file) == "Marks loaded: 2 of 2."
    assert again.locator("#detail textarea").input_value() == "no mark"
    assert again.locator("#save").inner_text() == "Save marks (2)"
    column = again.locator(".tabulator-cell[tabulator-field=mark]")
    assert column.all_inner_texts() == ["↻ look again ✎ note", "✎ note", ""]
    assert saved(again)["marks"] == file["marks"]
    assert load(again, file) == "Marks loaded: 2 of 2."  # a second time changes nothing
    assert saved(again)["marks"] == file["marks"]


def test_loaded_marks_are_merged_and_nothing_is_lost(shown):  # noqa: F811
    page = shown(items(), "#id=cancer_myth/i0/m1/plain")
    marked(page, 1, "mine")
    own = saved(page)["marks"][0]
    theirs = [
        {**own, "mark": "example", "note": "theirs"},
        {"id": "cancer_myth/i1/m1/plain", "mark": "judge wrong", "note": "", "reply": "old"},
        {"id": "<b>gone</b>", "mark": "example", "note": "kept", "reply": ""},
        {"id": "__proto__", "mark": "", "note": "also", "reply": ""},
    ]
    file = {"bedside": "marks", "profile": "public", "saved": "", "marks": theirs}
    said = load(page, file)
    for words in (
        "Marks loaded: 2 of 4.",
        "saved from the profile “public”",
        "their marks are kept and saved with the others: “<b>gone</b>”, “__proto__”.",
        "changed since they were marked: “cancer_myth/i1/m1/plain”",
        "(the second one in the note): “cancer_myth/i0/m1/plain”",
    ):
        assert words in said, said
    assert page.locator("#detail textarea").input_value() == "mine\ntheirs\nalso marked: example"
    assert page.locator("#save").inner_text() == "Save marks (4, unsaved)"
    pressed(page, "j", "2 of 3")
    changed = page.get_by_text("has changed since it was marked")
    assert changed.is_visible()
    kept = saved(page)["marks"]
    assert [m["id"] for m in kept] == [own["id"], *(m["id"] for m in theirs[1:])]
    assert kept[0]["note"] == "mine\ntheirs\nalso marked: example" and kept[1:] == theirs[1:]
    page.keyboard.press("1")  # marked anew, as it stands now
    assert changed.is_hidden()
    assert saved(page)["marks"][1]["reply"] != "old"


GOOD = {"id": "cancer_myth/i0/m1/plain", "mark": "example", "note": "n", "reply": ""}
BAD = {
    "not JSON": ("<script>window.hacked = 1</script>", "it isn't JSON"),
    "empty": ("", "it isn't JSON"),
    "null": ("null", "it wasn't saved by this page"),
    "a list": ([GOOD], "it wasn't saved by this page"),
    "another's": ({"bedside": "labels", "marks": []}, "it wasn't saved by this page"),
    "no list": ({"bedside": "marks", "marks": {"length": 1}}, "it wasn't saved by this page"),
    "null mark": ({"bedside": "marks", "marks": [GOOD, None]}, "its mark 2 can't be read"),
    "number": ({"bedside": "marks", "marks": [{**GOOD, "note": 5}]}, "its mark 1 can't be read"),
    "new kind": (
        {"bedside": "marks", "marks": [GOOD, {**GOOD, "mark": "toString"}]},
        "its mark 2 can't be read",
    ),
    "prototype": (
        '{"bedside": "marks", "marks": [{"__proto__": {"id": "a", "mark": "", "note": "x"}}]}',
        "its mark 1 can't be read",
    ),
    "huge": (" " * 20_000_001, "it has 20 MB"),
    "deep": ("[" * 1_000_000, "it isn't JSON"),
}


def test_other_files_are_refused(shown):  # noqa: F811
    page = shown(items(), "#id=cancer_myth/i0/m1/plain")
    for name, (content, why) in BAD.items():
        said = load(page, content)
        assert said == f"This isn't a file of marks ({why}). Nothing was loaded.", name
    assert page.locator("#detail textarea").input_value() == ""
    assert page.locator("#save").is_hidden()
    hostile = [{**GOOD, "note": "\n".join(HOSTILE)}]
    assert "Marks loaded: 1 of 1" in load(page, {"bedside": "marks", "marks": hostile})
    assert "<img src=x" in page.locator("#detail textarea").input_value()
    live = "document.querySelectorAll('#app :is(a, img, svg, iframe, object)').length"
    assert page.evaluate(f"[window.hacked, ({{}}).note, {live}]") == [None, None, 0]


def test_unsaved_marks_hold_the_page_back(shown, tmp_path):  # noqa: F811
    page = shown(items(), "#id=cancer_myth/i0/m1/plain")
    held = """() => { const leaving = new Event("beforeunload", {cancelable: true});
        window.dispatchEvent(leaving); return leaving.defaultPrevented; }"""
    assert page.evaluate(held) is False
    marked(page, 1)
    assert page.evaluate(held) is True
    saved(page)
    assert page.evaluate(held) is False


def test_in_a_pair_each_side_has_its_mark(shown):  # noqa: F811
    made = document([row(model="m1"), row(model="m2")])
    page = shown(made, "#x=model&a=m1&b=m2&id=cancer_myth/i1/m1/plain")
    page.locator("#detail .marks").nth(1).get_by_role("button", name="judge wrong").click()
    page.keyboard.press("2")
    cell = page.locator(".tabulator-cell[tabulator-field=mark]")
    assert cell.all_inner_texts() == ["★ example | ⚖ judge wrong"]
    assert [r["mark"] for r in exported(page)] == ["example", "judge wrong"]
