"""A JupyterLab with notebooks of the annotation widget, and the widget in a page."""

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
