"""The explorer's export, what was sent and came back, marks and notes."""

import csv
import json
import re

import pytest
from test_explorer import (
    HOSTILE,
    block,
    document,
    exported,
    ids,
    pressed,
    row,
    shown,  # noqa: F401
    verdict,
)

from bedside import explorer
from bedside.keep import store
from bedside.publish import judged_items
from bedside.read import paths
from bedside.seminar import handout
from bedside.write import tables
from browser import browser, violations, watched  # noqa: F401

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


# The export


def test_export_is_safe_for_spreadsheets(shown):  # noqa: F811
    cells = {
        "=1+1": "'=1+1",
        "+cmd": "'+cmd",
        "-1": "-1",
        "-1e3": "-1e3",
        "-x": "'-x",
        "@a": "'@a",
        "\tb": "'\tb",
        'a "b",\nc': 'a "b",\nc',
        "ö": "ö",
        "long " * 10_000: "long " * 10_000,  # longer than a spreadsheet's cell
    }
    assert [tables.cell_text(c) for c in cells] == list(cells.values())  # the project's own rule
    judged = {"verdicts": [verdict("lexical", "-1", False)], "human": ["-1"]}
    made = [row(item=f"i{n}", reply=text, **judged) for n, text in enumerate(cells)]
    made[0]["blocks"] = [block("text", "=2+2", text="@x"), block("text", "reply", text="own")]
    made[0]["blocks"] += [block("list", "=2+2", entries=["y"]), block("new", "odd", text="z")]
    got = exported(shown(document(made)))
    assert [r["reply"] for r in got] == list(cells.values())
    assert {k: v for k, v in got[0].items() if v} == {
        "id": "cancer_myth/i0/m1/plain",
        "paper": "cancer_myth",
        "section": "4.3 evaluation",
        "item": "i0",
        "unit": "i0",
        "model": "m1",
        "by": "model",
        "configuration": "plain",
        "category": "general",
        "question": "Question i0",
        "reply": "'=1+1",
        "truncated": "false",
        "judge": "lexical",
        "status": "graded",
        "value": "-1",
        "right": "false",
        "human": "the author: -1",
        "'=2+2": "'@x\n\n• y",
        "reply (block)": "own",
        "odd": '{"kind":"new","label":"odd","text":"z"}',
        "judge lexical: status": "graded",
        "judge lexical: value": "-1",
        "judge lexical: right": "false",
        "label the author: value": "-1",
    }
    assert list(got[0])[: len(FIXED)] == FIXED


@pytest.fixture(scope="module")
def sample():
    """The document of the sample's real page."""
    return judged_items.collect("sample")


@pytest.fixture
def whole(sample, shown):  # noqa: F811
    """The export of the sample's page, by id."""
    got = {r["id"]: r for r in exported(shown(sample))}
    assert list(got) == [r["id"] for r in sample["rows"]]
    return got


def expected(document, r):
    """The cells of a row that aren't empty, from its document."""
    first = {v["judge"]: v for v in r["verdicts"]}
    counted = first.get(document["judge"][r["paper"]], next(iter(first.values()), {}))
    human = "; ".join(f"{h['by']}: {h['value']}" for h in r["human"])
    made = {
        **r,
        **{k: counted.get(k) for k in judged_items.VERDICT + ["reason"]},
        "question": r["title"],
    }
    cells = {k: made.get(k) for k in FIXED[: FIXED.index("calls")]} | {"human": human}
    blocks = [b for key in r["shared"] for b in document["shared"][key]] + r["blocks"]
    cells |= {b["label"]: "\n".join(judged_items.forms._lines(b)) for b in blocks}
    lists = [b for b in blocks if b["kind"] == "list"]
    cells |= {b["label"]: "\n".join(f"• {e}" for e in b["entries"]) for b in lists}
    assert len({b["label"] for b in blocks}) == len(blocks)
    said = [(f"judge {v['judge']}", v, "status value right reason raw") for v in r["verdicts"]]
    said += [(f"question {m['task']}, {m['judge']}", m, "status value raw") for m in r["more"]]
    said += [(f"label {h['by']}", h, "value type reason") for h in r["human"]]
    cells |= {f"{who}: {name}": one[name] for who, one, names in said for name in names.split()}
    calls = [document["calls"][key] for key in r["calls"]]
    if calls:
        cells["calls"] = "\n".join(r["calls"])
        names = {"model": "model_asked", "returned_model": "model_answered", "finish": "finish"}
        names |= {k: k for k in ("prompt_tokens", "completion_tokens", "date", "seconds")}
        for name, column in names.items():
            values = ("not recorded" if c[name] is None else c[name] for c in calls)
            cells[column] = "\n".join(map(str, values))
    text = {k: str(v).lower() if isinstance(v, bool) else v for k, v in cells.items()}
    return {k: tables.cell_text(v) for k, v in text.items() if v not in (None, "")}


def test_the_export_holds_the_sample_whole(sample, whole):
    longest = 0
    for r in sample["rows"]:
        got = {k: v for k, v in whole[r["id"]].items() if v}
        told = {k: got.pop(k) for k in FIXED[FIXED.index("calls") :] if k in got}
        told |= got
        for name, value in expected(sample, r).items():
            assert told.pop(name) == value, (r["id"], name)
        left = {"messages", "settings", "response_format", "repeat", "usd", "fingerprint", "router"}
        assert set(told) == (left if r["calls"] else set()), r["id"]
        longest = max(longest, len(r["title"]))
    headings = {"What sets the false presupposition right", "Key items", "Right option"}
    headings |= {"True diagnosis", "Consultation", "Reference and lists"}
    assert headings <= set(next(iter(whole.values()))) and longest > 160


def test_the_export_agrees_with_the_recordings(sample, whole):
    """Replies of one call are the text that was recorded under its key; messages are all there."""
    folders = {p: store.Recordings(paths.ROOT / "data/recordings" / p) for p in sample["papers"]}
    compared = 0
    for r in sample["rows"]:
        got, found = whole[r["id"]], folders[r["paper"]]
        recorded = [found.get(key) for key in got["calls"].split()]
        assert None not in recorded
        for name in ("finish", "prompt_tokens", "completion_tokens"):
            assert got[name] == "\n".join(str(x[name]) for x in recorded), r["id"]
        for key in r["calls"]:
            for m in sample["calls"][key]["messages"]:
                assert sample["messages"][m]["content"] in got["messages"]
        if r["configuration"] == "candidate":  # one of the questions of a reply
            continue
        if len(recorded) == 1 and r["reply"]:
            assert got["reply"] == tables.cell_text(recorded[0]["text"]), r["id"]
            compared += 1
    assert compared > 400


def test_what_was_sent_stands_in_the_export(shown):  # noqa: F811
    got = {r["item"]: r for r in exported(shown(sent()))}
    assert got["one"]["messages"] == f"[system]\n{SYSTEM}\n\n[user]\n{QUESTION}"
    assert got["one"]["settings"] == "max_tokens: 96, temperature: 0"
    assert got["one"]["response_format"] == "none requested"
    assert [got["one"][k] for k in ("seconds", "usd", "router")] == ["1.25", "0.5", "not recorded"]
    three = got["three"]
    assert three["calls"] == "k1\nk2\nk3" and three["model_asked"] == "m1\nm2\nm1"
    assert three["seconds"] == "1.25\nnot recorded\n2.5"
    assert three["usd"] == "0.5\nprice unknown\n0.5"
    assert three["response_format"].split("\n")[1] == '{"type":"json_object"}'
    assert three["messages"].count(QUESTION) == 1
    tail = "call 3 of 3\n\n[messages 1 to 2, as in call 1]\n\n[assistant]\nWhere?"
    tail += f"\n\n[user]\n{'Here. ' * 500}"
    assert three["messages"].endswith(tail)
    assert got["lost"]["calls"] == "k9" and got["lost"]["finish"] == "not in the file"
    assert all(got["written"][k] == "" for k in FIXED[FIXED.index("calls") :])


def test_columns_are_those_of_the_rows_shown_and_keep_their_order(shown):  # noqa: F811
    made = [row(item=i, blocks=[block("text", f"about {i}", text=i)]) for i in ("b", "a", "c")]
    page = shown(document(made), "#sort=item")
    own = [name for name in exported(page)[0] if name not in FIXED]
    assert ids(page)[0].startswith("cancer_myth/a") and own == ["about b", "about a", "about c"]
    page.get_by_role("searchbox").fill('"about c"')
    page.locator("#summary > span", has_text=re.compile("^1 of 3")).wait_for()
    assert [name for name in exported(page)[0] if name not in FIXED] == ["about c"]


# One reply


def test_a_long_heading_is_folded_and_none_is_cut(shown):  # noqa: F811
    title = "How long is this question, and does it end? " * 50
    made = document([row(item="a", title=title), row(item="b", title=title[:399])])
    page = shown(made, "#id=cancer_myth/a/m1/plain")
    head, box = page.locator("#detail h2"), page.locator("#reply > button.all")
    assert head.evaluate("e => e.textContent").strip() == title.strip()
    assert head.evaluate("e => e.clientHeight * 2 < e.scrollHeight")
    page.get_by_role("button", name="show all (2,200 characters)").click()
    assert head.evaluate("e => e.clientHeight >= e.scrollHeight") and box.count() == 0
    pressed(page, "ArrowDown", "2 of 2")
    assert head.inner_text() == title[:399].strip() and box.count() == 0


def test_one_call(shown):  # noqa: F811
    page = shown(sent())
    fold = opened(page, "one", "finish reason")
    assert page.locator("#detail .sides h3").inner_text() == "m1 · plain · – unscored"
    text = fold.inner_text()
    for words in (SYSTEM, QUESTION, "1 system", "2 user", "m1-2026-01-01", "temperature: 0"):
        assert words in text, words
    told = fold.locator("dl").inner_text().split("\n")
    facts = dict(zip(told[::2], told[1::2]))
    assert facts["date"] == "2026-02-03" and facts["latency, seconds"] == "1.25"
    assert facts["prompt tokens"] == "40" and facts["reply tokens"] == "7"
    assert facts["fingerprint"] == "not recorded" and facts["recording"] == "k1"
    page.locator("#close").focus()
    pressed(page, "j", "2 of 7")  # open as it was at the row before
    page.locator("#detail .sent[open]", has_text="call 3 of 3").wait_for()


def test_calls_stand_in_order_without_what_was_shown_before(shown):  # noqa: F811
    page = shown(sent())
    fold = opened(page, "three", "call 3 of 3: m1")
    assert "What was sent and what came back (3 calls)" in fold.inner_text()
    assert "seconds: not recorded; US dollars: price unknown" in fold.inner_text()
    unfold(fold, "call 2 of 3: m2", "Write a question.")
    assert '{"type":"json_object"}' in fold.locator("dl").inner_text()
    assert "price unknown" in fold.locator("dl").inner_text()
    unfold(fold, "call 3 of 3: m1", "Where?")
    fold.get_by_role("button", name="show all (3,000 characters)").click()
    assert fold.inner_text().count("Here.") == 500 and QUESTION not in fold.inner_text()
    unfold(fold, "messages 1 to 2, as in call 1", "Does it hurt?")
    assert QUESTION in fold.inner_text() and "3 assistant" in fold.inner_text()


def test_rows_without_a_call_say_why(shown):  # noqa: F811
    page = shown(sent())
    assert "This call isn't in the file: k9" in opened(page, "lost", "k9").inner_text()
    for by, why in (
        ("written", "the text was written for this project or for the benchmark"),
        ("rules", "rules without a model wrote the text"),
        ("person", "people wrote the text"),
        ("model", "the reply came with the data, or its call is not recorded"),
    ):
        page.evaluate("id => location.hash = '#id=' + id", f"cancer_myth/{by}/m1/plain")
        page.locator("#detail h2", has_text=f"Question {by}").wait_for()
        assert f"Nothing was sent from here: {why}." in page.locator("#detail").inner_text()
        assert page.locator("#detail .sent").count() == 0


def test_a_damaged_parcel_is_said_when_it_is_asked_for(browser, tmp_path):  # noqa: F811
    text = re.sub(r'(id="sent">.{40}).*?<', r"\1<", explorer.html(sent()))
    (tmp_path / "explorer.html").write_text(text)
    with watched(browser) as page:
        page.goto((tmp_path / "explorer.html").as_uri())
        page.wait_for_selector("#message:empty", state="attached")  # it isn't unpacked before
        opened(page, "one", "What was sent can't be read; the file may be damaged")
        got = {r["item"]: r for r in exported(page)}
        assert "The export leaves it out." in page.locator("#message").inner_text()
        assert got["one"]["calls"] == "k1" and got["one"]["messages"] == "can't be read"
        assert got["one"]["reply"] == "Reply of m1." and got["written"]["messages"] == ""


def test_what_is_open_is_printed(shown):  # noqa: F811
    page = shown(sent(), "#id=cancer_myth/three/m1/plain")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#detail .sent").is_hidden()
    page.emulate_media(media="screen")
    fold = opened(page, "three", "call 3 of 3")
    unfold(fold, "call 3 of 3", "Where?")
    page.locator("#detail textarea").fill("A note\nof two lines")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    text = page.locator("#detail").inner_text()
    assert text.count("Here.") == 500 and "Write a question." not in text
    assert "A note\nof two lines" in text and page.locator("#detail textarea").is_hidden()


def test_hostile_exchanges_stay_texts(shown):  # noqa: F811
    messages = {f"{bad}{n}": message(bad, bad) for n, bad in enumerate(HOSTILE)}
    messages["__proto__"] = message("user", {"parts": [HOSTILE[0]]})
    texts = {k: HOSTILE[n] for n, k in enumerate(("model", "returned_model", "finish", "date"))}
    made = call(*messages, **texts, settings=dict.fromkeys(HOSTILE, HOSTILE[1]))
    names = ["__proto__", HOSTILE[0]]
    page = shown(
        document(
            [row(item="one", calls=names)], calls=dict.fromkeys(names, made), messages=messages
        )
    )
    fold = opened(page, "one", "2 calls")
    unfold(fold, "call 1 of 2", "1 ")
    unfold(fold, "call 2 of 2", "messages 1 to")
    assert HOSTILE[0] in fold.inner_text() and '"parts"' in fold.inner_text()
    live = (
        "document.querySelectorAll('#app :is(a, img, svg, iframe, object, script, style)').length"
    )
    assert page.evaluate(f"[window.hacked, {live}]") == [None, 0]
    assert HOSTILE[0] in exported(page)[0]["messages"]


# Marks and notes


def marked(page, n, note=""):
    page.keyboard.press(str(n))
    if note:
        page.keyboard.press("n")
        page.keyboard.type(note)
        page.keyboard.press("Escape")


def saved(page):
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "bedside_sample_marks.json"
    return json.loads(download.value.path().read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)])
def test_axe_finds_nothing(shown, scheme, size):  # noqa: F811
    made = sent()
    made["rows"][0]["title"] = "Question one, " * 60
    page = shown(made, width=size[0], height=size[1])
    page.emulate_media(color_scheme=scheme)
    for item, what in (("one", "finish reason"), ("three", "call 3 of 3"), ("lost", "k9")):
        fold = opened(page, item, what)
        for n, summary in enumerate(fold.locator("details > summary").all()):
            summary.click()
            fold.locator("details dl").nth(n).wait_for()
        marked(page, 2, "A note")
        assert violations(page) == [], item
        for part in ("documentElement", "querySelector('#detail')"):
            assert page.evaluate(f"document.{part}.scrollWidth <= innerWidth"), item
    page.evaluate("location.hash = 'k=example'")
    page.wait_for_timeout(50)
    load(page, "damaged")
    assert violations(page) == []


def test_what_is_left_out_takes_its_calls_along():
    made = sent()
    left = handout.without(made, {("cancer_myth", "one"), ("cancer_myth", "lost")})
    assert set(left["calls"]) == {"k1", "k2", "k3"} and left["messages"] == made["messages"]
    left = handout.without(made, {("cancer_myth", "one"), ("cancer_myth", "three")})
    assert left["calls"] == {} and left["messages"] == {}
    made["rows"][1]["calls"] = ["k2"]
    left = handout.without(made, {("cancer_myth", "one")})
    assert set(left["calls"]) == {"k2"} and set(left["messages"]) == {"other"}
