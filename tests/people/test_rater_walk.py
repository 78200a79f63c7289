"""A rater's page in a browser: from what is shown by key and mouse to the table of labels."""

import json
import shutil

import pytest
import raters_labels
import walks
from raters_labels import ABOUT, BURN, SPANS, many, row

from bedside.annotation import handed, raters
from bedside.read import sources
from browser import watched
from judged import elsewhere
from rater_pages import taken

own = raters_labels.own  # a fixture
HOSTILE = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"


def out(folder, rows, names, task="presupposition", **how):
    """The addresses of raters' pages."""
    how = {"repetitions": 0.0, **how}
    made = handed.out(rows, task, names, folder / "pages", folder / "labels", **how)
    return [path.as_uri() for path, _ in made]


class Walk(walks.Walk):
    """A walk through a rater's page."""

    def __init__(self, page, folder, task, rows):
        super().__init__(page)
        self.folder, self.task, self.rows = folder, task, rows

    def marks(self, count):
        """So many places are marked."""
        at = f".marked:has(li:nth-child({count}):last-child)"
        self.page.locator(at if int(count) else ".marked:empty").wait_for(state="attached")

    def handles(self, start, end):
        """A finger selects these characters of the answer."""
        self.page.evaluate(
            """([from, to]) => { const text = document.querySelector(".answer").lastChild;
            getSelection().setBaseAndExtent(text, from, text, to); }""",
            [int(start), int(end)],
        )

    def file(self, values=""):
        """Save the labels as a file and take it in: these are then the rater's labels, sorted."""
        with self.page.expect_download() as file:
            self.click("Save your labels as a file")
        shutil.rmtree(self.folder / "back", ignore_errors=True)
        file.value.save_as(self.folder / "back" / file.value.suggested_filename)
        lines, refused = taken(self.folder)
        assert not refused, lines
        self.sees("main", "All labels are in the file")
        labels = raters.labels(self.task, self.rows, self.folder / "labels")
        if values:
            assert sorted(labels["value"].fillna("refused")) == values.split()
        return labels


@pytest.mark.parametrize("begins, steps", walks.of("rater_walks.txt"))
def test_on_a_raters_page(begins, steps, own, browser, tmp_path):
    own(**SPANS | ABOUT)
    asked = ("own", {"protocol": True}) if begins == "protocol" else ("presupposition", {})
    task, how = asked
    rows = many(3, "own", reply=f"Plasters should be left off. {BURN} {HOSTILE}")
    rows = rows if how else many(4)
    rows = [r | {"shared": [raters_labels.text("Question", r["id"])]} for r in rows]
    with watched(browser, 1280, 900) as page:
        page.goto(out(tmp_path, rows, ["Jo"], task, **how)[0])
        walk = Walk(page, tmp_path, task, rows)
        walk.take(steps)
        walk.fair(".bedside-annotation")
    if how:
        labels = raters.labels("own", rows, tmp_path / "labels")
        one = labels[labels["value"] == "yes"].iloc[0]
        assert (one["type"], one["reason"], one["source"]) == ("fact", "not so", "a handbook")
        assert len(one["spans"]) == 1 and one["spans"][0].strip("' ") in rows[0]["reply"]
        kept = (tmp_path / "labels/own/background/Jo.jsonl").read_text().splitlines()
        assert json.loads(kept[0])["answers"]["pet"] == "dog"


@pytest.mark.slow
def test_an_item_that_is_put_off_comes_before_its_repetition_and_not_right_before_it(
    browser, tmp_path
):
    rows = many(9)
    with watched(browser) as page:
        page.goto(out(tmp_path, rows, ["Jo"], size=9, repetitions=0.1, seed=1)[0])  # it comes last
        items = json.loads(page.locator("#data").text_content())["items"]
        (again,) = (n for n, item in enumerate(items) if item["again"])
        first = next(n for n, item in enumerate(items) if item["id"] == items[again]["id"])
        walk = Walk(page, tmp_path, "presupposition", rows)
        walk.press(*"1" * first, "n", *"1" * (len(items) - first))
        walk.file()
    (saved,) = (tmp_path / "back").iterdir()
    given = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()[1:]]
    once, twice = (n for n, line in enumerate(given) if line["id"] == items[again]["id"])
    assert (given[once]["again"], given[twice]["again"]) == (False, True)
    assert first < once < twice - 1 and len(given) == 10


@pytest.mark.slow
def test_labels_of_two_raters_and_an_adjudicator_reach_the_studys_table(
    browser,
    tmp_path,
    monkeypatch,
):
    shared = [raters_labels.text("Question", HOSTILE)]
    rows = [row("cm-9", reply=BURN, truncated=True, shared=shared), *many(3)]
    names = ["Anna Berg", "Jürgen Öz"]
    for address, keys in zip(out(tmp_path, rows, names, size=4), ("1231", "1221")):
        with watched(browser, 1366, 800) as page:
            page.goto(address)
            walk = Walk(page, tmp_path, "presupposition", rows)
            walk.press(*keys[:2])
            walk.sees("main", "2 of 4")
            walk.reload()
            walk.press(*keys[2:])
            walk.sees("main", "All 4 are done")
            labels = walk.file()
    (differs,) = raters.differing(labels, rows, "presupposition")
    opinions = raters.opinions(labels, [differs])
    with watched(browser) as page:
        page.goto(out(tmp_path, [differs], [raters.ADJUDICATED], opinions=opinions)[0])
        walk = Walk(page, tmp_path, "presupposition", rows)
        for width, height in ((1280, 800), (820, 1180)):
            walk.size(width, height)  # what raters said is in view before a key can decide
            seen = page.locator(".opinions section, .choices button, #guide, #status").all()
            boxes = [one.bounding_box() for one in seen]
            assert len(boxes) == 9 and all(b["y"] + b["height"] < height for b in boxes)
        assert not any(name in page.content() for name in names)  # what raters say, not who
        walk.press("3")
        walk.sees("main", "All 1 are settled")
        labels = walk.file()
    settled = raters.consensus(labels)
    assert settled["by"].value_counts().to_dict() == {"all": 3, "adjudicated": 1}
    elsewhere(monkeypatch, tmp_path)
    raters.publish("presupposition", rows, labels, settled, tmp_path)
    loaded = sources.load("cancer_myth_rated").set_index("item")["label"]
    sources.forget()
    assert len(loaded) == 4 and loaded[differs["item"]] == 1
    assert sorted(loaded.drop(differs["item"])) == [-1, -1, 0]
