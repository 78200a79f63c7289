"""The explorer's export, what was sent and came back."""

import re

import pytest
from exchange_calls import (
    FIXED,
    QUESTION,
    SYSTEM,
    call,
    load,
    marked,
    message,
    opened,
    sent,
    unfold,
)
from explorer_page import (
    HOSTILE,
    block,
    document,
    exported,
    ids,
    pressed,
    row,
    shown,  # noqa: F401  (a fixture)
    verdict,
)

from bedside import explorer
from bedside.keep import store
from bedside.publish import judged_items
from bedside.read import paths
from bedside.write import tables
from browser import (
    browser,  # noqa: F401  (a fixture)
    violations,
    watched,
)

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


def test_a_judges_messages_stand_beside_its_verdict(shown):  # noqa: F811
    made = sent()
    judged = made["rows"][0]
    judged["verdicts"] = [
        {**verdict("m2", "1", True), "calls": ["k2"]},
        {**verdict("lexical", "0", False), "calls": []},
    ]
    page = shown(made)
    opened(page, "one", "finish reason")
    boxes = page.locator("#detail .verdict")
    assert boxes.locator("details").count() == 1
    fold = boxes.nth(0).locator("details.asked")
    fold.locator("summary").click()
    fold.locator(".turn", has_text="Write a question.").wait_for()
    assert "m2" in fold.inner_text() and QUESTION not in fold.inner_text()


def test_the_call_behind_a_verdict_is_the_judges():
    """Of the committed page: what a judge replied is what stands as its raw reply."""
    text = (paths.FIGURES / "sample" / "explorer.html").read_text(encoding="utf-8")
    made, studies = explorer.read(text)[0], set()
    for reply in made["rows"]:
        for told in (v for v in reply["verdicts"] if v["calls"]):
            assert {made["calls"][key]["model"] for key in told["calls"]} == {told["judge"]}
            studies.add(reply["paper"])
    assert studies == {"cancer_myth", "meddialbench", "radiation"}  # MedHalu has no judge


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
