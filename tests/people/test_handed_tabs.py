"""A rater's page in a browser, also in several tabs: no label is lost on its way to the tables."""

import json
import shutil

import annotation_rows
import pytest
from annotation_rows import BURN, SPANS, mine, row

from bedside.annotation import ADJUDICATED, handed, raters
from bedside.read import sources
from browser import browser, violations, watched
from judged import elsewhere

own = annotation_rows.own  # a fixture
ROWS = [row(f"cm-{i}", unit=f"u{i}") for i in range(4)]
HOSTILE = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"


def out(folder, rows, names, task="presupposition", **how):
    """The addresses of raters' pages."""
    how = {"repetitions": 0.0, **how}
    made = handed.out(rows, task, names, folder / "pages", folder / "labels", **how)
    return [path.as_uri() for path, _ in made]


@pytest.fixture
def desk(browser, tmp_path):
    """A rater's page of four items in a browser."""
    with watched(browser, 1366, 800) as page:
        page.goto(out(tmp_path, ROWS, ["Jo"])[0])
        told(page, "0 of 4")
        yield page


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
    with watched(browser, 1366, 800) as page:
        page.goto(out(tmp_path, [differs], [ADJUDICATED], opinions=opinions)[0])
        page.locator(".opinions section").nth(1).wait_for()
        assert not any(name in page.content() for name in names)  # what raters say, not who
        assert violations(page, ".bedside-annotation") == []
        press(page, "3", "All 1 are done")
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


def test_an_item_is_put_off_once_and_comes_before_its_repetition(browser, tmp_path):
    names, kept = ["Jo", "Ann"], {}
    pages = [out(tmp_path, ROWS[:3], [n], repetitions=r)[0] for n, r in zip(names, (0.0, 0.5))]
    for name, address, of in zip(names, pages, (3, 5)):
        with watched(browser, 1366, 800) as page:
            page.goto(address)
            told(page, f"0 of {of}")
            first = page.locator(".answer").inner_text()
            press(page, "n")
            assert page.locator(".answer").inner_text() != first
            for n in range(1, of):
                press(page, "1", f"{n} of {of}")
            if name == "Jo":
                assert page.locator(".answer").inner_text() == first
                press(page, "n", "put off once already")
            press(page, "1", f"All {of} are done")
            kept[name] = taken(page, tmp_path)
    assert len({line["id"] for line in kept["Ann"]}) == 3
    for n, line in enumerate(kept["Ann"]):  # the first label of an item is the one that counts
        assert line["again"] == (line["id"] in {before["id"] for before in kept["Ann"][:n]})


def test_a_reason_for_every_decision_is_asked_for_and_arrives(browser, tmp_path):
    with watched(browser, 1366, 800) as page:
        page.goto(out(tmp_path, ROWS[:2], ["Jo"], all_reasons=True)[0])
        (title,) = page.get_by_role("heading", level=1).all_inner_texts()
        assert title in page.title()
        assert violations(page, "body") == []
        for n, key in enumerate("13", 1):
            press(page, key)
            press(page, "Enter", "give a reason")
            press(page, "r")
            page.keyboard.type(f"because of {n}")
            page.keyboard.press("Enter")
            told(page, f"{n} of 2" if n == 1 else "All 2 are done")
        taken(page, tmp_path)
    labels = raters.labels("presupposition", ROWS, tmp_path / "labels")
    assert set(zip(labels["value"], labels["reason"])) == {
        ("-1", "because of 1"),
        ("1", "because of 2"),
    }


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


def test_labels_kept_by_the_page_of_an_earlier_version_go_on(desk, tmp_path):
    data = json.loads(desk.text_content("#data"))
    store = f"bedside {data['task']} {data['hand']}"
    said = {"again": False, "type": [], "spans": [], "reason": "", "source": "", "refused": ""}
    lines = [
        {"id": data["items"][n]["id"], **said, "values": [v], "at": f"2026-11-25T10:0{n}:00.000Z"}
        for n, v in enumerate(["1", "0"])
    ]
    earlier = "([store, lines]) => localStorage.setItem(store, JSON.stringify(lines))"
    desk.evaluate(earlier, [store, lines])
    desk.reload()
    told(desk, "Not in a file yet: 2")  # nobody knows whether they ever were
    press(desk, "3", "3 of 4")
    assert len(json.loads(desk.evaluate("store => localStorage.getItem(store)", store))) == 3
    other = {**lines[1], "id": data["items"][3]["id"], "at": "2026-11-25T10:05:00.000Z"}
    listening = tab(desk)
    desk.evaluate(earlier, [store, [*lines, other]])  # its tab, still open, writes what it knows
    told(listening, "4 of 4")
    assert len(taken(reopened(desk, listening), tmp_path)) == 4


# ---- a study's protocol, places in an answer


def marks(page, count):
    """Wait until so many places are marked."""
    for n, state in ((count, "detached"), (count - 1, "attached")):
        if n >= 0:
            page.locator(".marked li").nth(n).wait_for(state=state)


def test_consent_training_and_places_marked_by_key_mouse_and_finger(own, browser, tmp_path):
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
        assert violations(page, ".bedside-annotation") == []
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
