"""The annotation widget in a real JupyterLab and Chromium.

By keyboard only, with a killed kernel, with hostile text.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import psutil
import pytest

from bedside import annotation
from bedside.read import paths
from browser import violations

TOKEN = "annotation-test"
HOSTILE = (
    "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
    " [a](javascript:window.hacked=1) \u202eflows back"
)
ANSWER = (
    "Plasters should be left off. Iron heals burns within one day. <b onclick='window.hacked=1'>See"
    " a nurse.</b>"
)


SECRET = {  # what a rater must not see of a row
    "model": "SECRET-model",
    "configuration": "SECRET-configuration",
    "title": "SECRET-title",
    "verdicts": [
        {
            "judge": "SECRET-judge",
            "status": "graded",
            "value": "1",
            "right": True,
            "raw": "SECRET",
            "reason": "",
        }
    ],
    "human": [{"by": "SECRET-by", "value": "1", "type": "", "reason": "SECRET-human"}],
}


def answer(number):
    """A judged answer with hostile text; what identifies it holds SECRET."""
    reply = f"{ANSWER} Item {number}."
    return SECRET | {
        "id": f"medhalu/SECRET-id/mh-{number}",
        "paper": "medhalu",
        "section": "2.2 answers",
        "item": f"mh-{number}",
        "category": "any",
        "shared": ["mq"],
        "reply": reply,
        "reply_status": "",
        "truncated": False,
        "blocks": [
            {"kind": "marked", "label": "SECRET-marks", "pieces": [[reply, "labelled"]]},
            {"kind": "text", "label": "Expert answer", "text": "SECRET-expert"},
        ],
        "more": [],
        "beside": "",
    }


def document():
    """Three judged answers to one hostile question."""
    question = {"kind": "text", "label": "Question", "text": f"what helps a burn heal {HOSTILE}"}
    return {
        "profile": "sample",
        "about": "",
        "papers": {},
        "judge": {},
        "cards": {},
        "rows": [answer(number) for number in range(3)],
        "shared": {"mq": [question]},
    }


# A task of this test's own in the kernel: with a protocol, and what two raters said.
PROTOCOL = """
from bedside.publish.judged_items import Task, text
from bedside.annotation import tasks
right = {"value": "yes", "type": "fact", "spans": ["Iron heals"]}
item = {"shared": [text("Question", "what heals?")], "reply": "Iron heals burns.", "right": right}
how = vars(tasks()["hallucination"]) | {"name": "protocol", "reason_for": ("yes",)}
how |= {"source_for": ("yes",), "closing": "Give the file to who asked you."}
how |= {"training": lambda: [item | {"why": "<b>Nothing</b> shows it."}], "checks": None}
how |= {"consent": "You may stop.\\n\\n<b>Agree?</b>"}
how |= {"background": (("pet", "<i>A pet?</i>", ("a cat", "a dog")),)}
tasks()["protocol"] = Task(**how)
"""
OPINIONS = """
said = {"value": "yes", "type": "fact", "spans": ["Iron heals burns"], "reason": "<b>No</b>"}
unsure = {"value": "", "refused": "undecided", "reason": "no source either way"}
opinions = {row["id"]: [said, unsure] for row in rows}
"""


def code_cell(id, *lines):
    return {
        "cell_type": "code",
        "id": id,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": "\n".join(lines),
    }


def notebook(folder, task, show="", before="", name="", **given):
    """A notebook in `folder`, of the task's name or another, that shows the box of the document."""
    cell = code_cell(
        "one",
        "import json",
        "from bedside import annotation",
        "rows = annotation.rows(json.load(open('document.json')))",
        *before.splitlines(),
        f"given = {given!r}",
        show or f"annotation.box(rows, {task!r}, 'Ann', folder='labels', **given)",
    )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "cells": [cell],
        "metadata": {"kernelspec": kernel},
    }
    (folder / "document.json").write_text(json.dumps(document()))
    (folder / f"{name or task}.ipynb").write_text(json.dumps(made))


def annotate(root, **given):
    """The repository's notebook in `root`, with these parameters."""
    made = json.loads((paths.NOTEBOOKS / "annotate.ipynb").read_text(encoding="utf-8"))
    tags = [c["metadata"].get("tags", []) for c in made["cells"]]
    at = next(k for k, mine in enumerate(tags) if "parameters" in mine)
    made["cells"].insert(at + 1, code_cell("given", *(f"{k} = {v!r}" for k, v in given.items())))
    (root / f"{given['task']}.ipynb").write_text(json.dumps(made))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab on the loopback interface with nothing of the user's.

    (URL, root folder, process id)
    """
    top = tmp_path_factory.mktemp("lab")
    root = top / "root"
    root.mkdir()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    names = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    names += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    own = {name: str(top / name) for name in names}
    settings = [
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.allow_root=True",
    ]
    extension = top / "JUPYTERLAB_SETTINGS_DIR/@jupyterlab/apputils-extension"
    quiet = extension / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    with open(top / "log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *settings],
            stdout=log,
            stderr=log,
            cwd=root,
            env={**os.environ, **own, "BEDSIDE_ROOT": str(paths.ROOT)},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            assert server.poll() is None, (top / "log").read_text()
            try:
                urllib.request.urlopen(f"{url}/api/status?token={TOKEN}", timeout=5).close()
                break
            except OSError:
                time.sleep(0.25)
        else:
            pytest.fail("JupyterLab did not answer: " + (top / "log").read_text()[-2000:])
        yield url, root, server.pid
    finally:
        server.send_signal(signal.SIGINT)  # asks, at the first, whether it should
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(90_000)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))

    def met(dialog):
        if dialog.type == "beforeunload":
            return dialog.accept()
        page.faults.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", met)
    yield page
    context.close()


WIDGET = ".bedside-annotation"


def run_all(page, lab, task):
    """Open the notebook by its URL, run all its cells and wait for the widget of this run."""
    page.goto(f"{lab[0]}/lab/tree/{task}.ipynb?token={TOKEN}&reset")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    # earlier, JupyterLab would ask for a kernel
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    ready(page)


def ready(page, progress=""):
    """Wait until the widget takes keys, and shows this progress."""
    page.locator(f"{WIDGET}[aria-busy=false]").wait_for()
    if progress:
        page.locator(f"{WIDGET} .count", has_text=progress).wait_for()


def press(page, *keys):
    """Keys one after the other, each when the widget takes them; it has the focus all the time."""
    focused = f"document.querySelector('{WIDGET}').contains(document.activeElement)"
    for key in keys:
        ready(page)
        assert page.evaluate(focused)
        page.keyboard.press(key)


def kernels(server):
    """The kernels that a server has started, as processes."""
    started = psutil.Process(server).children(recursive=True)
    return [p for p in started if any("ipykernel_launcher" in a for a in p.cmdline())]


def records(lab, task, rater="Ann"):
    lines = (lab[1] / "labels" / task / f"{rater}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def accessible(page):
    """axe finds nothing in the box, in JupyterLab's light theme and in its dark one."""
    for light in ("true", "false"):
        page.evaluate("light => { document.body.dataset.jpThemeLight = light; }", light)
        assert violations(page, WIDGET) == []
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")


def inert(page):
    assert page.evaluate("window.hacked") is None and page.faults == []
    assert "SECRET" not in page.locator(WIDGET).inner_text()
    assert page.locator(f"{WIDGET} :is(img, script, a)").count() == 0


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
    press(page, "Escape", "Enter")
    status.filter(has_text="saved 1").wait_for()
    made, started = records(lab, "hallucination")[0], time.monotonic()
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
