"""A rater's page in a browser: from what is shown by key and mouse to the table of labels."""

import json
import shutil

import annotation_rows
import pytest
from annotation_rows import BURN, SPANS, mine, row

from bedside.annotation import handed, raters
from bedside.read import sources
from browser import violations, watched
from judged import elsewhere

own = annotation_rows.own  # a fixture
ROWS = [row(f"cm-{i}", unit=f"u{i}") for i in range(4)]
HOSTILE = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"


def out(folder, rows, names, task="presupposition", **how):
    """The addresses of raters' pages."""
    how = {"repetitions": 0.0, **how}
    made = handed.out(rows, task, names, folder / "pages", folder / "labels", **how)
    return [path.as_uri() for path, _ in made]


def told(page, words):
    page.bring_to_front()
    page.locator("main", has_text=words).wait_for()


def tab(page):
    """The same page in a further tab."""
    other = page.context.new_page()
    other.goto(page.url)
    other.locator('[aria-busy="false"]').wait_for()
    return other


def press(page, key, words=""):
    """Press a key when the page takes it, and wait for what it then says."""
    page.bring_to_front()
    # no script of ours: the page's policy lets none run while we wait
    page.locator(".bedside-annotation:focus, .bedside-annotation :focus").first.wait_for()
    page.locator('[aria-busy="false"]').wait_for()
    page.keyboard.press(key)
    told(page, words)


def reopened(*pages):
    """Close these tabs; the page opened once more."""
    fresh = tab(pages[0])
    for page in pages:
        page.close()
    fresh.reload()
    fresh.locator('[aria-busy="false"]').wait_for()
    return fresh


def taken(page, folder):
    """Save the labels as a file and take it in; return its lines of labels."""
    with page.expect_download() as file:
        page.get_by_role("button", name="Save your labels as a file").click()
    back = folder / "back"
    shutil.rmtree(back, ignore_errors=True)
    file.value.save_as(back / file.value.suggested_filename)
    lines, refused = handed.taken(back, folder / "labels")
    assert not refused, lines
    told(page, "All labels are in the file")
    (path,) = back.iterdir()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def values(folder):
    """The rater's labels, once their file has been taken in."""
    return sorted(raters.labels("presupposition", ROWS, folder / "labels")["value"])


def marks(page, count):
    """Wait until so many places are marked."""
    for n, state in ((count, "detached"), (count - 1, "attached")):
        if n >= 0:
            page.locator(".marked li").nth(n).wait_for(state=state)


def test_a_walk_from_consent_by_key_mouse_and_finger_to_the_labels(own, browser, tmp_path):
    consent, pet = "You may stop.\n\n<b>Agree?</b>", ("pet", "<i>A pet?</i>", ("a cat", "a dog"))
    own(**SPANS, consent=consent, background=(pet,))
    rows = mine(3, reply=f"Plasters should be left off. {BURN} {HOSTILE}")
    with watched(browser, 1280, 900) as page:
        page.goto(out(tmp_path, rows, ["Jo"], "own", protocol=True)[0])
        told(page, "<b>Agree?</b>")
        begin = page.get_by_role("button", name="begin")
        begin.click()
        told(page, "without your consent")
        page.get_by_label("<i>A pet?</i>").select_option("a dog")
        page.get_by_label("I have read this and agree").check()
        begin.click()
        told(page, "training 1 of 2")
        press(page, "2")
        press(page, "Enter", "why Iron heals burns.")
        press(page, "1")  # does nothing: it must be read
        press(page, "Enter", "training 2 of 2")
        press(page, "2")
        press(page, "Enter", "why Water cools.")
        press(page, "Enter", "0 of 3")
        press(page, "1")
        press(page, "Enter", "choose a type")
        press(page, "f")
        press(page, "Enter", "mark at least one place")
        page.locator(".answer").dblclick(position={"x": 20, "y": 12})
        marks(page, 1)
        for key in ("End", "Shift+ArrowLeft", "s"):
            press(page, key)
        marks(page, 2)
        press(page, "x")
        marks(page, 1)
        page.locator(".answer mark").first.click()
        marks(page, 0)
        # a finger: what the handles select is marked by the button
        page.evaluate(
            """() => { const text = document.querySelector(".answer").lastChild;
            getSelection().setBaseAndExtent(text, 2, text, 6); }"""
        )
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="mark the selection").click()
        marks(page, 1)
        assert violations(page, ".bedside-annotation") == []
        press(page, "Enter", "give a reason")
        press(page, "r")
        page.keyboard.type("not so")
        page.keyboard.press("Enter")
        told(page, "consulted (o)")
        page.get_by_label("source").fill("a handbook")
        page.get_by_label("source").press("Enter")
        told(page, "1 of 3")
        press(page, "2")
        press(page, "Enter", "2 of 3")
        page.reload()
        page.get_by_label("I have read this and agree").check()  # asked anew; no training again
        begin.click()
        told(page, "2 of 3")
        press(page, "2")
        press(page, "Enter", "Give the file to who asked you.")
        assert page.evaluate("window.hacked") is None
        taken(page, tmp_path)
    labels = raters.labels("own", [{**r, "unit": r["item"]} for r in rows], tmp_path / "labels")
    assert sorted(labels["value"]) == ["no", "no", "yes"]
    one = labels[labels["value"] == "yes"].iloc[0]
    assert (one["type"], one["reason"], one["source"]) == ("fact", "not so", "a handbook")
    assert len(one["spans"]) == 1 and one["spans"][0].strip("' ") in rows[0]["reply"]
    kept = (tmp_path / "labels/own/background/Jo.jsonl").read_text().splitlines()
    assert json.loads(kept[0])["answers"] == {"pet": "a dog"}


@pytest.fixture
def desk(browser, tmp_path):
    """A rater's page of four items in a browser."""
    with watched(browser, 1366, 800) as page:
        page.goto(out(tmp_path, ROWS, ["Jo"])[0])
        told(page, "0 of 4")
        yield page


@pytest.mark.slow
def test_labels_of_two_raters_and_an_adjudicator_reach_the_studys_table(
    browser,
    tmp_path,
    monkeypatch,
):
    shared = [{"kind": "text", "label": "Question", "text": HOSTILE}]
    rows = [row("cm-9", reply=BURN, truncated=True, unit="u9", shared=shared), *ROWS[:3]]
    names = ["Anna Berg", "Jürgen Öz"]
    for address, keys in zip(out(tmp_path, rows, names, size=4), ("1231", "1221")):
        with watched(browser, 1366, 800) as page:
            page.goto(address)
            for n, key in enumerate(keys, 1):
                press(page, key, f"{n} of 4")
                if n == 2:
                    page.reload()
                    told(page, "2 of 4")
            told(page, "All 4 are done")
            assert page.evaluate("window.hacked") is None
            taken(page, tmp_path)
    labels = raters.labels("presupposition", rows, tmp_path / "labels")
    (differs,) = raters.differing(labels, rows, "presupposition")
    opinions = raters.opinions(labels, [differs])
    with watched(browser) as page:
        page.goto(out(tmp_path, [differs], [raters.ADJUDICATED], opinions=opinions)[0])
        for size in ({"width": 1280, "height": 800}, {"width": 820, "height": 1180}):
            page.set_viewport_size(size)  # what raters said is in view before a key can decide
            seen = page.locator(".opinions section, .choices button, #guide").all()
            boxes = [one.bounding_box() for one in seen]
            assert len(boxes) == 8 and all(b["y"] + b["height"] < size["height"] for b in boxes)
        assert not any(name in page.content() for name in names)  # what raters say, not who
        press(page, "3", "All 1 are settled")
        taken(page, tmp_path)
    labels = raters.labels("presupposition", rows, tmp_path / "labels")
    settled = raters.consensus(labels)
    assert settled["by"].value_counts().to_dict() == {"all": 3, "adjudicated": 1}
    elsewhere(monkeypatch, tmp_path)
    raters.publish("presupposition", rows, labels, settled, tmp_path)
    loaded = sources.load("cancer_myth_rated").set_index("item")["label"]
    sources.forget()
    assert len(loaded) == 4 and loaded[differs["item"]] == 1
    assert sorted(loaded.drop(differs["item"])) == [-1, -1, 0]


@pytest.mark.slow
def test_labels_given_in_two_tabs_are_all_kept_and_what_a_file_lacks_is_counted(desk, tmp_path):
    other = tab(desk)
    press(desk, "1", "1 of 4")
    press(desk, "2", "2 of 4")
    told(other, "2 of 4")  # it hears of them
    press(other, "3", "3 of 4")
    told(desk, "Not in a file yet: 3")
    fresh = reopened(other, desk)
    told(fresh, "Not in a file yet: 3")
    assert len(taken(fresh, tmp_path)) == 3 and values(tmp_path) == ["-1", "0", "1"]
    other = tab(fresh)
    told(other, "All labels are in the file")
    press(other, "b")
    press(other, "b")
    press(other, "b")
    press(other, "3", "saved again")  # the newest label of an item counts, whichever tab gave it
    told(fresh, "Not in a file yet: 1")  # a correction is no second label
    assert len(taken(reopened(fresh, other), tmp_path)) >= 3 and values(tmp_path) == ["0", "1", "1"]


@pytest.mark.slow
def test_what_is_half_entered_stays_when_another_tab_labels(desk, tmp_path):
    press(desk, "u")
    desk.get_by_label("reason").press_sequentially("two questions")  # the page need not be quick
    other = tab(desk)
    press(other, "1", "1 of 4")
    press(other, "1", "2 of 4")
    told(desk, "2 of 4")
    assert desk.get_by_label("reason").input_value() == "two questions"
    desk.get_by_label("reason").press("Enter")
    told(desk, "2 of 4, 1 refused")  # of the item on screen, which the other tab had labelled
    fresh = reopened(desk, other)
    told(fresh, "2 of 4, 1 refused")
    kept = taken(fresh, tmp_path)
    assert [line["reason"] for line in kept] == ["", "", "two questions"]
    assert kept[0]["id"] == kept[2]["id"]
