"""The annotation widget in a real JupyterLab and Chromium.

By keyboard only, with a killed kernel, with hostile text.
"""

import json
import time

import annotation_lab
from annotation_lab import (
    OPINIONS,
    PROTOCOL,
    WIDGET,
    accessible,
    annotate,
    document,
    inert,
    kernels,
    notebook,
    press,
    ready,
    records,
    run_all,
)

from bedside import annotation
from bedside.read import paths

lab = annotation_lab.lab  # a fixture
page = annotation_lab.page  # a fixture


def test_labels_survive_a_killed_kernel(lab, page):
    given = {"rater": "Ann", "size": 7, "repetitions": 0.15, "folder": str(lab[1] / "labels")}
    annotate(lab[1], task="presupposition", **given)
    run_all(page, lab, "presupposition")
    ready(page, "0 of 8")
    for done, key in enumerate("12332", 1):
        press(page, key)
        page.locator(f"{WIDGET} .status", has_text=f"saved {done}").wait_for()
    ready(page, "5 of 8")
    inert(page)
    assert [r["value"] for r in records(lab, "presupposition")] == ["-1", "0", "1", "1", "0"]

    killed = kernels(lab[2])
    assert len(killed) == 1
    killed[0].kill()
    run_all(page, lab, "presupposition")
    page.locator(WIDGET, has_text="Ann has 5 labels since 20").wait_for()
    press(page, "Enter")
    ready(page, "5 of 8")
    assert len(records(lab, "presupposition")) == 5
    press(page, "2")
    ready(page, "6 of 8")
    press(page, "b", "3")  # the sixth again, corrected
    page.locator(f"{WIDGET} .status", has_text="saved again").wait_for()
    made = records(lab, "presupposition")
    assert [r["value"] for r in made[5:]] == ["0", "1"]
    assert made[5]["id"] == made[6]["id"] and made[5]["seconds"] > 0
    press(page, "1", "1")
    ready(page, "8 of 8")
    assert "All 8 are done: 8 labelled" in page.locator(WIDGET).inner_text()
    assert sum(r["check"] for r in records(lab, "presupposition")) == 1
    inert(page)


def test_spans_type_and_reason_by_keyboard(lab, page):
    notebook(lab[1], "hallucination", size=0, repetitions=0)
    run_all(page, lab, "hallucination")
    status = page.locator(f"{WIDGET} .status")
    press(page, "Enter")
    status.filter(has_text="choose one of yes").wait_for()
    press(page, "1", "Enter")
    status.filter(has_text="needs a type").wait_for()
    press(page, "f", "Enter")
    status.filter(has_text="at least one span").wait_for()
    # word 6, "Iron", and five more
    press(page, *["ArrowRight"] * 6, *["Shift+ArrowRight"] * 5, "s")
    pieces = page.locator(f"{WIDGET} .answer mark").all_inner_texts()
    assert pieces == ["Iron heals burns within one ", "day"]  # the cursor is on day
    press(page, "Home", "s", "x")
    assert page.locator(f"{WIDGET} .marked li").count() == 1
    press(page, "r")
    page.keyboard.type("12 s are too few. b1")
    started = time.monotonic()  # before the next item is shown
    press(page, "Escape", "Enter")
    status.filter(has_text="saved 1").wait_for()
    made = records(lab, "hallucination")[0]
    assert (made["value"], made["type"]) == ("yes", "fact")
    assert made["spans"] == ["Iron heals burns within one day"]
    assert made["reason"] == "12 s are too few. b1"

    hide = (
        "Object.defineProperty(document, 'hidden', {value: %s, configurable: true}); "
        "document.dispatchEvent(new Event('visibilitychange')); window.since = performance.now()"
    )
    page.evaluate(hide % "true")  # as when another tab is in front: this time does not count
    page.wait_for_function("performance.now() > since + 2000")
    page.evaluate(hide % "false")
    press(page, "2", "Enter")  # a plain no
    ready(page, "2 of 3")
    assert 0 < records(lab, "hallucination")[1]["seconds"] < time.monotonic() - started - 1.9
    press(page, "1", "i")
    page.set_viewport_size({"width": 390, "height": 844})  # the third at phone width, by mouse
    # else the list of files leaves no room
    page.locator(".jp-SideBar.jp-mod-left .lm-mod-current").click()
    fits = "w => w.clientWidth > 240 && w.scrollWidth <= w.clientWidth"
    page.wait_for_function(f"({fits})(document.querySelector('{WIDGET}'))")
    page.locator(f"{WIDGET} .answer").dblclick(position={"x": 20, "y": 12})
    press(page, "s", "Enter")
    ready(page, "3 of 3")
    assert [r["value"] for r in records(lab, "hallucination")] == ["yes", "no", "yes"]
    assert records(lab, "hallucination")[2]["spans"] == ["Plasters"]
    inert(page)


def test_twenty_labels_by_keyboard_two_of_them_refusals(lab, page):
    given = {"size": 20, "repetitions": 0.0, "folder": str(lab[1] / "labels"), "rater": "../x"}
    annotate(lab[1], task="nfp", **given)
    run_all(page, lab, "nfp")
    field = page.locator(f"{WIDGET} input")
    page.locator(f"{WIDGET} .fault", has_text="1 to 40 letters").wait_for()
    accessible(page)
    for name, said in (("adjudicated", "is reserved"), ("a/b", "1 to 40 letters")):
        field.fill(name)
        page.keyboard.press("Enter")
        page.locator(f"{WIDGET} .fault", has_text=said).wait_for()
        assert field.input_value() == name
    assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    field.fill("Dr. Eve")
    page.keyboard.press("Enter")
    ready(page, "0 of 20")
    accessible(page)
    for done in range(1, 21):
        if done in (4, 11):
            press(page, "u" if done == 4 else "w")
            page.keyboard.press("Enter")  # without a reason
            page.locator(f"{WIDGET} .fault", has_text="a refusal needs a reason").wait_for()
            accessible(page)
            ready(page)
            page.keyboard.type("it could be either, 12")
            page.keyboard.press("Enter")
        else:
            press(page, "1")
        page.locator(f"{WIDGET} .status", has_text=f"saved {done}").wait_for()
    made = records(lab, "nfp", "Dr. Eve")
    refused = ["undecided" if i == 3 else "faulty" if i == 10 else "" for i in range(20)]
    assert [r["refused"] for r in made] == refused
    assert [r["value"] for r in made] == ["" if r else "1" for r in refused]
    assert all("smollm" not in json.dumps(r) for r in made)
    said = page.locator(WIDGET).inner_text()
    assert "20 of 20, 2 refused" in said and "18 labelled, 2 refused" in said
    accessible(page)


def test_a_name_that_has_labels_is_asked_about(lab, page):
    annotate(lab[1], task="presupposition", size=3, folder=str(lab[1] / "labels"))
    run_all(page, lab, "presupposition")
    page.locator(f"{WIDGET} input").fill("Zoe")
    page.keyboard.press("Enter")
    ready(page, "0 of")
    press(page, "n", "n", "n", "1")  # once around
    ready(page, "1 of")
    run_all(page, lab, "presupposition")
    page.locator(f"{WIDGET} input").fill("Zoe")
    page.keyboard.press("Enter")
    page.locator(WIDGET, has_text="Zoe has 1 label since 20").wait_for()
    accessible(page)
    press(page, "Tab", "Enter")  # another name
    page.locator(f"{WIDGET} input").fill("Zoe")
    page.keyboard.press("Enter")
    page.locator(WIDGET, has_text="Zoe has 1 label since").wait_for()
    press(page, "Enter")
    ready(page, "1 of")


def test_a_protocol_with_training_and_spans_by_mouse(lab, page):
    notebook(lab[1], "protocol", before=PROTOCOL, size=0, repetitions=0, protocol=True)
    run_all(page, lab, "protocol")
    agree = page.get_by_label("I have read this and agree")
    begin, pet = page.get_by_role("button", name="begin"), page.get_by_label("<i>A pet?</i>")
    page.locator(WIDGET, has_text="<b>Agree?</b>").wait_for()
    assert pet.input_value() == "prefer not to say" and not agree.is_checked()
    accessible(page)
    begin.click()
    page.locator(f"{WIDGET} .status", has_text="without your consent").wait_for()
    pet.select_option("a dog")
    agree.press("Space")
    agree.press("Enter")
    ready(page, "training 1 of 1")
    press(page, "2", "Enter")
    page.locator(f"{WIDGET} .feedback", has_text="<b>Nothing</b> shows it.").wait_for()
    assert "fact: it is false" in page.locator(f"{WIDGET} .feedback").inner_text()
    accessible(page)
    press(page, "1")  # does nothing: it must be read
    press(page, "Enter")
    ready(page, "0 of 3")
    status = page.locator(f"{WIDGET} .status")
    answer = page.locator(f"{WIDGET} .answer")
    press(page, "1", "f")
    drag(page, "Iron heals", 2, 7)  # from within a word into the next
    marked(page, "Iron heals")
    drag(page, "one day", 0, 2)
    marked(page, "Iron heals", "one")
    page.locator(f"{WIDGET} .answer mark").first.click()
    marked(page, "one")
    page.locator(f"{WIDGET} .answer mark").first.click()
    marked(page)
    # a finger: what the handles select is marked by the button
    page.evaluate(
        """() => { const text = document.querySelector('.bedside-annotation .answer').firstChild;
        getSelection().setBaseAndExtent(text, 1, text, 12); }"""
    )
    page.get_by_role("button", name="mark the selection").click()
    marked(page, "Plasters should")
    accessible(page)
    press(page, "Enter")
    status.filter(has_text="needs a reason").wait_for()
    press(page, "r")
    page.keyboard.type("not so")
    page.keyboard.press("Enter")
    status.filter(has_text="needs the source").wait_for()
    press(page, "Escape", "o")
    page.keyboard.type("a handbook")
    page.keyboard.press("Enter")
    ready(page, "1 of 3")
    assert records(lab, "protocol")[0]["source"] == "a handbook"
    assert records(lab, "protocol")[0]["spans"] == ["Plasters should"]
    kernels(lab[2])[-1].kill()
    run_all(page, lab, "protocol")  # consent is asked for again; training isn't shown
    page.get_by_role("button", name="go on as Ann").click()
    agree.check()
    assert pet.input_value() == "a dog"
    begin.click()
    ready(page, "1 of 3")
    press(page, "2", "Enter", "2", "Enter")
    page.locator(WIDGET, has_text="Give the file to who asked you.").wait_for()
    assert answer.count() == 0
    accessible(page)
    inert(page)


def marked(page, *texts):
    """Wait until these places of the answer are marked, and no others."""
    found = f"[...document.querySelectorAll('{WIDGET} .answer mark')].map(m => m.innerText)"
    page.wait_for_function(f"wanted => {found}.join('|') === wanted.join('|')", arg=list(texts))


def drag(page, words, start, end):
    """Select from the start-th to the end-th letter of these words of the answer by mouse."""
    boxes = page.evaluate(
        """([words, ...places]) => {
          const answer = document.querySelector('.bedside-annotation .answer');
          const walk = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
          for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const at = node.data.indexOf(words);
            if (at < 0) continue;
            return places.map((place) => {
              const range = document.createRange();
              range.setStart(node, at + place);
              range.setEnd(node, at + place + 1);
              const { left, top, height } = range.getBoundingClientRect();
              return [left + 1, top + height / 2];
            });
          }
        }""",
        [words, start, end],
    )
    page.mouse.move(*boxes[0])
    page.mouse.down()
    page.mouse.move(*boxes[1], steps=4)
    page.mouse.up()


def test_an_adjudicator_sees_opinions_and_help_lists_each_key_once(lab, page):
    show = "annotation.widget(annotation.Session(rows, 'hallucination', 'adjudicated',"
    show += " opinions=opinions, folder='labels'))"
    notebook(lab[1], "hallucination", show, OPINIONS, "adjudication")
    run_all(page, lab, "adjudication")
    said = page.locator(f"{WIDGET} .material").inner_text()
    assert "One rater" in said and "Another rater" in said and "can't decide" in said
    assert "yes, it holds one; fact: it is false" in said and "<b>No</b>" in said
    press(page, "?")
    listed = page.locator(f"{WIDGET} .help kbd").all_inner_texts()
    assert len(listed) == len(set(listed)) and {"u", "w", "n", "s"} <= set(listed)
    accessible(page)
    press(page, "2", "Enter")
    ready(page, "1 of 3")
    assert records(lab, "hallucination", "adjudicated")[0]["value"] == "no"
    inert(page)


ALONE = """async ([script, state]) => {
  const made = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const told = { on() {}, off() {}, send(said) { window.sent = said; } };
  const model = { get: (name) => state[name], ...told };
  made.default.render({ model, el: document.body });
}"""


def test_spans_on_a_touch_screen(browser, tmp_path):
    given = {"folder": tmp_path, "drawing": annotation.Draw(size=0, repetitions=0)}
    session = annotation.Session(annotation.rows(document()), "hallucination", "Ann", **given)
    made = annotation.widget(session)
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.set_content("<main></main>")
    page.add_style_tag(path=paths.ROOT / "lib/bedside/annotation/annotation.css")
    page.evaluate(ALONE, [made._esm, {"about": made.about, "shown": made.shown}])
    page.locator(f"{WIDGET}[aria-busy=false]").wait_for()
    page.get_by_role("button", name="yes, it holds one").tap()
    page.get_by_role("button", name="fact: it is false").tap()
    select = """places => { const text = document.querySelector('.answer').lastChild;
      getSelection().setBaseAndExtent(text, places[0], text, places[1]); }"""
    page.evaluate(select, [0, 3])
    page.get_by_role("button", name="mark the selection").tap()
    marked(page, "Plasters")
    page.evaluate(select, [5, 22])
    page.get_by_role("button", name="mark the selection").tap()
    marked(page, "Plasters", "should be left off. Iron")
    page.locator(".answer mark").first.tap()
    marked(page, "should be left off. Iron")
    page.get_by_role("button", name="save").tap()
    assert page.evaluate("sent.spans") == ["should be left off. Iron"]
    context.close()


def test_a_mark_is_drawn_again_where_its_words_are_whole(browser):
    scripts = paths.ROOT / "lib/bedside/annotation/script"
    page = browser.new_page()
    page.set_content("<p></p>")
    for name in ("elements.js", "spans.js"):
        page.add_script_tag(content=(scripts / name).read_text(encoding="utf-8"))
    drawn = """([text, marks]) => { const answer = document.querySelector("p");
      const spans = spansIn(answer, { wanted: () => true, say() {}, changed() {} });
      spans.begin(text, marks); spans.draw();
      return [...answer.childNodes].map((n) => n.textContent); }"""
    pieces = page.evaluate(drawn, ["Hair loss comes from cold air.", ["air"]])
    assert pieces == ["Hair loss comes from cold ", "air", "."]
    assert page.evaluate(drawn, ["Hair loss", ["air"]]) == ["H", "air", " loss"]  # nowhere a word
    page.close()
