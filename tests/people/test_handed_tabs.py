"""A rater's page in several tabs of a browser: nothing is lost, and what a file lacks is told."""

import json

import pytest
from annotation_rows import row

from bedside.annotation import handed, raters
from browser import browser, watched  # noqa: F401

ROWS = [row(f"cm-{i}", unit=f"u{i}") for i in range(4)]


@pytest.fixture
def desk(browser, tmp_path):  # noqa: F811
    """A rater's page of four items in a browser."""
    made = handed.out(
        ROWS, "presupposition", ["Jo"], tmp_path / "pages", tmp_path / "labels", repetitions=0.0
    )
    with watched(browser, 1366, 800) as page:
        page.context.set_default_timeout(60_000)  # two tabs on a busy machine
        page.goto(made[0][0].as_uri())
        told(page, "0 of 4")
        yield page


def told(page, words):
    page.locator("main", has_text=words).wait_for()


def tab(page):
    """The same page in a further tab."""
    other = page.context.new_page()
    other.goto(page.url)
    other.locator('[aria-busy="false"]').wait_for()
    return other


def press(page, *keys):
    page.bring_to_front()
    page.wait_for_function("document.activeElement.closest('.bedside-annotation')")
    for key in keys:
        page.locator('[aria-busy="false"]').wait_for()
        page.keyboard.press(key)


def again(*pages):
    """Close these tabs; the page opened once more."""
    fresh = tab(pages[0])
    for page in pages:
        page.close()
    fresh.reload()
    fresh.locator('[aria-busy="false"]').wait_for()
    return fresh


def saved(page, folder):
    """Save the labels as a file and take it in; return its lines of labels."""
    with page.expect_download() as file:
        page.get_by_role("button", name="Save your labels as a file").click()
    folder.mkdir(exist_ok=True)
    file.value.save_as(folder / "Jo.jsonl")
    lines, refused = handed.taken(folder, folder.parent / "labels")
    assert not refused, lines
    return (folder / "Jo.jsonl").read_text(encoding="utf-8").splitlines()[1:]


def values(folder):
    """The rater's labels, once their file has been taken in."""
    return sorted(raters.labels("presupposition", ROWS, folder / "labels")["value"])


def test_labels_given_in_two_tabs_are_all_kept(desk, tmp_path):
    other = tab(desk)
    press(desk, "1", "2")
    told(desk, "2 of 4")
    told(other, "2 of 4")  # it hears of them
    press(other, "3")
    told(other, "3 of 4")
    told(desk, "3 of 4")
    told(desk, "Not in a file yet: 3")
    fresh = again(other, desk)
    told(fresh, "3 of 4")
    assert len(saved(fresh, tmp_path / "back")) == 3
    assert values(tmp_path) == ["-1", "0", "1"]


def test_labels_not_yet_in_a_file_are_counted_after_a_reload(desk, tmp_path):
    press(desk, "1")
    told(desk, "Not in a file yet: 1")
    desk.reload()
    told(desk, "Not in a file yet: 1")
    press(desk, "b", "3")  # a correction is no second label
    told(desk, "saved again")
    told(desk, "Not in a file yet: 1")
    other = tab(desk)
    saved(desk, tmp_path / "back")
    for page in (desk, other):
        told(page, "All labels are in the file")
    desk.reload()
    told(desk, "All labels are in the file")
    press(other, "2")
    for page in (desk, other, again(desk, other)):
        if not page.is_closed():
            told(page, "Not in a file yet: 1")


def test_the_newest_label_of_an_item_counts_whichever_tab_gave_it(desk, tmp_path):
    other = tab(desk)
    press(desk, "1")
    told(other, "1 of 4")
    press(other, "b", "3")
    told(other, "saved again")
    press(desk, "b")
    desk.locator('.choices button[aria-pressed="true"]').first.wait_for()
    chosen = desk.locator('.choices button[aria-pressed="true"]').all_inner_texts()
    assert len(chosen) == 1 and chosen[0].startswith("3")
    fresh = again(desk, other)
    told(fresh, "1 of 4")
    saved(fresh, tmp_path / "back")
    assert values(tmp_path) == ["1"]


def test_what_is_half_entered_stays_when_another_tab_labels(desk, tmp_path):
    press(desk, "u")
    desk.keyboard.type("two questions")
    other = tab(desk)
    press(other, "1", "1")
    told(desk, "2 of 4")
    assert desk.get_by_label("reason").input_value() == "two questions"
    desk.bring_to_front()
    desk.get_by_label("reason").press("Enter")
    told(desk, "2 of 4, 1 refused")  # of the item on screen, which the other tab had labelled
    fresh = again(desk, other)
    told(fresh, "2 of 4, 1 refused")
    kept = [json.loads(line) for line in saved(fresh, tmp_path / "back")]
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
    told(desk, "2 of 4")
    told(desk, "Not in a file yet: 2")  # nobody knows whether they ever were
    press(desk, "3")
    told(desk, "3 of 4")
    there = json.loads(desk.evaluate("store => localStorage.getItem(store)", store))
    assert len(there) == 3  # readable for it
    other = {**lines[1], "id": data["items"][3]["id"], "at": "2026-11-25T10:05:00.000Z"}
    listening = tab(desk)
    desk.evaluate(earlier, [store, [*lines, other]])  # its tab, still open, writes what it knows
    told(listening, "4 of 4")
    fresh = again(desk, listening)
    told(fresh, "4 of 4")
    assert len(saved(fresh, tmp_path / "back")) == 4
