"""Calls of a reply, for tests of the explorer's export and of marks."""

import csv
import json

from explorer_page import document, row

csv.field_size_limit(10_000_000)
FIXED = "id paper section item unit model by configuration category question reply reply_status"
FIXED += " truncated judge status value right reason raw human mark note calls messages"
FIXED += " model_asked model_answered settings response_format repeat finish prompt_tokens"
FIXED = f"{FIXED} completion_tokens date seconds usd fingerprint router".split()
QUESTION = "Does it hurt?\nI am afraid."
SYSTEM = "Be brief. <b>=1+1</b>"


def call(*messages, **more):
    return {
        "model": "m1",
        "returned_model": "m1-2026-01-01",
        "messages": list(messages),
        "settings": {"max_tokens": 96, "temperature": 0},
        "response_format": None,
        "repeat": 0,
        "finish": "stop",
        "prompt_tokens": 40,
        "completion_tokens": 7,
        "date": "2026-02-03",
        "seconds": 1.25,
        "usd": 0.5,
        "fingerprint": None,
        "router": None,
        **more,
    }


def message(role, content):
    return {"role": role, "content": content}


def sent():
    """Rows with one call, with three, with one that isn't there, and three rows without any.

    The second of the three calls is another model's; the third goes on where the first ended.
    """
    messages = {
        "s": message("system", SYSTEM),
        "q": message("user", QUESTION),
        "a": message("assistant", "Where?"),
        "b": message("user", "Here. " * 500),
        "other": message("user", "Write a question."),
    }
    gone = dict.fromkeys(("returned_model", "date", "seconds", "usd", "finish"))
    form = {"type": "json_object"}
    calls = {
        "k1": call("s", "q"),
        "k2": call("other", model="m2", response_format=form, **gone),
        "k3": call("s", "q", "a", "b", seconds=2.5),
    }
    made = [
        row(item="one", calls=["k1"]),
        row(item="three", calls=["k1", "k2", "k3"]),
        row(item="lost", calls=["k9"]),
    ]
    made += [row(item=by, by=by) for by in ("written", "rules", "person", "model")]
    return document(made, calls=calls, messages=messages)


def opened(page, item, words=""):
    """The fold of a row's exchange, opened."""
    page.wait_for_timeout(250)  # until the page has written its own address
    page.evaluate("id => location.hash = '#id=' + id", f"cancer_myth/{item}/m1/plain")
    page.locator("#detail h2", has_text=f"Question {item}").wait_for()
    fold = page.locator("#detail .sent")
    if fold.get_attribute("open") is None:
        fold.locator("summary").first.click()
    fold.get_by_text(words).first.wait_for()
    return fold


def unfold(fold, summary, words):
    """Open a fold in the exchange and wait for what is in it."""
    fold.locator("summary", has_text=summary).first.click()
    fold.get_by_text(words).first.wait_for()


def marked(page, n, note=""):
    page.keyboard.press(str(n))
    if note:
        page.keyboard.press("n")
        page.keyboard.type(note)
        page.keyboard.press("Escape")


def load(page, content):
    """Choose a file of marks; returns what is said."""
    text = content if isinstance(content, str) else json.dumps(content)
    before = page.locator("#message").inner_text()
    page.evaluate("document.getElementById('message').textContent = ''")
    file = {"name": "m.json", "mimeType": "application/json", "buffer": text.encode()}
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Load marks").click()
    chooser.value.set_files(file)
    page.locator("#message:not(:empty)").wait_for()
    return page.locator("#message").inner_text() or before
