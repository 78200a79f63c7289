"""The failure explorer: its file, walks through its page, and its numbers beside the tables'."""

import base64
import hashlib
import json
import re
import shutil

import explorer_page
import pytest
import walks
from explorer_page import HOSTILE, document, named, row

from bedside import BedsideError, explorer, stats
from bedside import __main__ as steps
from bedside.asking import store
from bedside.explorer import counts as counted
from bedside.publish import judged_items
from bedside.read import paths
from bedside.read.surroundings import here
from bedside.write import tables
from browser import watched
from judged import kept_in

explore = explorer_page.explore  # a fixture


# ---- the file


def test_a_page_holds_its_document_and_runs_no_script_but_its_own():
    made = named("everything")
    text = explorer.html(made)
    assert text == explorer.html(json.loads(json.dumps(made)))
    found, rest = explorer.read(text)
    assert found == made and made["rows"][0]["id"] not in rest
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert "script-src " + " ".join(f"'sha256-{h}'" for h in hashes) + ";" in policy
    assert "default-src 'none'" in policy and "unsafe-eval" not in policy
    outside = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    assert not re.search(r"<(link|img|iframe)\b|\bsrc=|href=\"(?!#main|\w+\.html)", outside)
    about = "a < b & </title><script>"
    head = explorer.html(document([row(reply="\ud800 half")], about=about, profile="p\udfff"))
    assert "a &lt; b &amp; &lt;/title&gt;&lt;script&gt;" in head and "p\ufffd" in head


def test_a_reply_twice_or_another_page_is_an_error():
    with pytest.raises(BedsideError, match="cancer_myth/i1/m1/plain"):
        explorer.html(document([row(), row()]))
    with pytest.raises(BedsideError, match="n't an explorer page"):
        explorer.read("<html></html>")


def test_after_one_study_alone_a_run_has_an_explorer_and_the_sample_keeps_its_own(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    kept_in(tmp_path, "medhalu")
    for top in ("", ".cache/graded"):
        made = tmp_path / top / "sample" / "medhalu"
        shutil.copytree(made, tmp_path / top / "runs" / "sample-limit-2" / "medhalu")
    steps.explorer({"profile": "sample", "limit": "2", "mode": "replay"})
    text = (tmp_path / "runs/sample-limit-2/explorer.html").read_text(encoding="utf-8")
    page, rest = explorer.read(text)
    assert {r["paper"] for r in page["rows"]} == {"medhalu"} and "radiation.html" not in rest
    capsys.readouterr()
    steps.explorer({"profile": "sample"})
    assert "sample/explorer.html is as it was" in capsys.readouterr().out
    assert not (tmp_path / "sample/explorer.html").exists()
    with pytest.raises(BedsideError, match="sample-limit-3/medhalu has no graded replies"):
        steps.explorer({"profile": "sample", "papers": "medhalu", "limit": "3", "mode": "replay"})


# ---- numbers beside the page


def test_failures_are_shares_of_what_was_scored_with_intervals_of_units():
    wrong = [n % 3 == 0 for n in range(24)]
    rows = [  # a unit is one within its paper: twelve of them
        row(f"p{n % 2}", f"{n}", "a", unit=f"u{n // 4}", verdicts=[("j", "x", not w)])
        for n, w in enumerate(wrong)
    ]
    rows += [row(item="none", model=model, verdicts=[("j", "")]) for model in "ab"]
    found = counted.failures(judged_items.frame({"rows": rows}), "model")
    share = stats.share(wrong, [f"p{n % 2} u{n // 4}" for n in range(24)])
    assert found.loc["a"].tolist() == [*(100 * x for x in share[:3]), 24, 1]
    assert found.loc["b"].isna().sum() == 3 and found.loc["b"].tolist()[3:] == [0, 1]
    one = counted.failures(judged_items.frame({"rows": rows[:4:2]}), ["paper", "model"])
    assert one.iloc[0, 0] == 50 and one.iloc[0, 1:3].isna().all()


def test_judges_disagree_where_both_graded():
    pairs = {"1": "tt", "2": "tf", "3": "t"}
    rows = [
        row(item=i, verdicts=[(judge, v, v == "t") for judge, v in zip("jk", said)])
        for i, said in pairs.items()
    ]
    rows.append(row(item="4", verdicts=[("m", "t", True)]))
    ((pair, (both, differing)),) = counted.disagreements(judged_items.frame({"rows": rows})).items()
    assert (pair, both) == ("j and k", 2)
    assert differing.to_dict("index") == {rows[1]["id"]: {"j": "t", "k": "f"}}
    assert counted.disagreements(judged_items.frame({"rows": []})) == {}


# ---- walks


@pytest.mark.parametrize("begins, steps", walks.of("explorer_walks.txt"))
def test_in_the_explorer(begins, steps, explore):
    name, _, fragment = begins.partition(" ")
    explore(named(name), fragment).take(steps)


@pytest.mark.slow
def test_the_export_agrees_with_what_was_judged_and_recorded(explore):
    """Of the sample: texts, verdicts and labels are all there, replies as they were recorded."""
    made, cell = judged_items.collect("sample"), tables.cell_text
    got = {r["id"]: r for r in explore(made, "#q=").export()}
    assert sorted(got) == sorted(r["id"] for r in made["rows"])
    folders = {p: store.Recordings(paths.ROOT / "data/recordings" / p) for p in made["papers"]}
    same, compared = ("paper", "section", "item", "unit", "model", "configuration", "reply"), 0
    for r in made["rows"]:
        expected = {name: cell(r[name]) for name in same} | {"question": cell(r["title"])}
        for v in r["verdicts"]:
            right = "" if v["right"] is None else str(v["right"]).lower()
            said = {name: cell(v[name]) for name in ("status", "value", "raw")} | {"right": right}
            expected |= {f"judge {v['judge']}: {name}": text for name, text in said.items()}
        for m in r["more"]:
            expected[f"question {m['task']}, {m['judge']}: value"] = cell(m["value"])
        expected["human"] = "; ".join(f"{h['by']}: {h['value']}" for h in r["human"])
        blocks = [b for key in r["shared"] for b in made["shared"][key]] + r["blocks"]
        plain = [b for b in blocks if b["kind"] in ("text", "list")]
        expected |= {b["label"]: cell(_text(b)) for b in plain}
        recorded = [folders[r["paper"]].get(key) for key in got[r["id"]]["calls"].split()]
        for name in ("finish", "prompt_tokens", "completion_tokens"):
            expected[name] = "\n".join(str(x[name]) for x in recorded)
        assert got[r["id"]] == got[r["id"]] | expected
        assert all(got[r["id"]][b["label"]] for b in blocks if b not in plain)
        sent = [made["messages"][m] for key in r["calls"] for m in made["calls"][key]["messages"]]
        assert all(m["content"] in got[r["id"]]["messages"] for m in sent)
        # a candidate is one of the questions of a reply
        if len(recorded) == 1 and r["reply"] and r["configuration"] != "candidate":
            assert got[r["id"]]["reply"] == cell(recorded[0]["text"]), r["id"]
            compared += 1
    assert compared > 400


def _text(block):
    return (
        block["text"] if block["kind"] == "text" else "\n".join(f"• {e}" for e in block["entries"])
    )


@pytest.mark.slow
def test_damaged_exchanges_are_said_and_cost_nothing_else(browser, tmp_path):
    path = tmp_path / "explorer.html"
    text = explorer.html(named("everything"))
    path.write_text(re.sub(r'(id="sent">.{40}).*?<', r"\1<", text), encoding="utf-8")
    with watched(browser) as page:
        page.goto(path.as_uri())
        walk = explorer_page.Walk(lambda fragment: page)
        walk.go("cancer_myth/sent/m1/plain")
        walk.at(".sent summary")
        walk.sees(".sent", "can't be read; the file may be damaged")
        for column, value in (("calls", "k1"), ("messages", "can't be read"), ("reply", "'=1+1")):
            walk.exports("cancer_myth/sent/m1/plain", column, value)


# ---- marks

FIRST = "cancer_myth/i0/m1/plain"
GOOD = {"id": FIRST, "mark": "example", "note": "n", "reply": ""}
BAD = ["<script>window.hacked = 1</script>", "", "null", "[" * 1_000_000, [GOOD]]
BAD += [{"bedside": "labels", "marks": []}, {"bedside": "marks", "marks": {"length": 1}}]
BAD += [
    {"bedside": "marks", "marks": [GOOD, wrong]}
    for wrong in (None, {**GOOD, "note": 5}, {**GOOD, "mark": "toString"}, {"__proto__": GOOD})
]


@pytest.mark.slow
def test_loaded_marks_are_merged_nothing_is_lost_and_other_files_are_refused_whole(explore):
    walk = explore(document([row(item=f"i{n}", reply=f"Reply {n}.") for n in range(3)]))
    walk.go(FIRST)
    for content in BAD:
        assert walk.load(content).endswith("Nothing was loaded."), str(content)[:100]
    walk.holds("note", "")
    assert walk.page.locator("#save").is_hidden()
    walk.press("1", "n")
    walk.types("mine")
    walk.press("Escape")
    (own,) = walk.keep()
    hostile = "\n".join(HOSTILE)
    theirs = [
        {**own, "mark": "example", "note": "theirs"},
        {"id": "cancer_myth/i1/m1/plain", "mark": "judge wrong", "note": hostile, "reply": "old"},
        {"id": "<b>gone</b>", "mark": "example", "note": "kept", "reply": ""},
        {"id": "__proto__", "mark": "", "note": "also", "reply": ""},
    ]
    said = walk.load({"bedside": "marks", "profile": "public", "saved": "", "marks": theirs})
    gone = ("2 of 4", "“public”", "<b>gone</b>", "__proto__", "cancer_myth/i1/m1/plain")
    assert all(words in said for words in gone), said
    kept = walk.keep()
    assert [m["id"] for m in kept] == [own["id"], *(m["id"] for m in theirs[1:])]
    assert kept[0]["note"] == "mine\ntheirs\nalso marked: example"
    assert kept[2:] == theirs[2:] and kept[1]["mark"] == "judge wrong"
    walk.press("j")
    walk.sees("#place", "2 of 3")
    walk.sees("#detail", "has changed since it was marked")
    assert "<img src=x" in walk.page.locator("#detail textarea").input_value()
    walk.press("1")  # marked anew, as it stands now
    walk.lacks("#detail .soft", "has changed since it was marked")
    assert walk.keep()[1]["reply"] != "old"
    walk.inert()
