"""Judged items of all studies: sound, joined by id, and nothing of what was never recorded."""

import json

import pandas as pd
import pytest

from bedside.asking import models, store
from bedside.papers.medhalu import display as medhalu
from bedside.papers.medhalu.spans import located
from bedside.read import paths, prompts
from bedside.write import frames
from judged import collected


@pytest.fixture(scope="module")
def content(nothing):
    """All judged items of the sample, without files of the user's own."""
    return collected(nothing)


def test_ids_verdicts_and_blocks_are_sound_and_the_content_is_json(content):
    assert len({r["id"] for r in content["rows"]}) == len(content["rows"]) > 1000
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert set(content["papers"]) == set(content["judge"]) == set(paths.papers())
    for r in content["rows"]:
        named = (r["paper"], r["item"], r["model"], r["configuration"])
        assert r["id"].startswith(f"{named[0]}/") and r["id"].endswith("/".join(("", *named[1:])))
        assert r["shared"] and all(key in content["shared"] for key in r["shared"])
        assert r["title"] and "\n" not in r["title"]
        assert r["reply_status"] != models.NOT_RECORDED and models.NOT_RECORDED not in r["reply"]
        for v in r["verdicts"]:
            assert v["raw"] != models.NOT_RECORDED
            assert (v["right"] in (True, False)) == (v["status"] == "graded") == bool(v["value"])


def test_each_graded_reply_is_shown_with_its_judges_verdict(content):
    """What a row says is what its study's notebook kept, and tables count."""
    keys = ["item", "model", "configuration", "judge"]
    told = pd.json_normalize(content["rows"], "verdicts", ["paper", *keys[:3]])
    told = {key: set(zip(p["status"], p["right"])) for key, p in told.groupby(["paper", *keys])}
    kept = 0
    for path in (paths.FIGURES / "sample").glob("*/graded_*.csv"):
        made = frames.read(path.parent, path.stem.removeprefix("graded_"), texts=False)
        made = made[made["judge"].fillna("") != ""]
        kept += len(made)
        for r in made.itertuples():
            right = bool(r.right) if r.status == "graded" else None
            key = path.parent.name, *(getattr(r, k) for k in keys)
            assert (r.status, right) in told[key], key
    assert kept > 2500


def test_a_row_has_the_calls_that_led_to_its_reply(content):
    """Messages are those whose digest was recorded, and the last call brought the reply."""
    recorded = {p: store.Recordings(paths.RECORDINGS / p) for p in content["papers"]}
    called = [r for r in content["rows"] if r["calls"]]
    assert {r["by"] for r in called} == {"model"} and len(called) > 500
    assert {r["by"] for r in content["rows"] if not r["calls"]} == {"rules", "person", "written"}
    for r in called:
        for key in r["calls"]:
            said, call = recorded[r["paper"]].get(key), content["calls"][key]
            sent = [content["messages"][m] for m in call["messages"]]
            assert store.digest(sent)[:16] == said["fields"]["messages"], r["id"]
            assert call["settings"].items() <= said["fields"].items()
            assert call["prompt_tokens"] == said["prompt_tokens"]
        read = r["paper"] == "meddialbench" or r["section"].startswith("3.3 ")  # from JSON
        if r["reply"] and not read:
            assert prompts.clean(said["text"]) == r["reply"], r["id"]
    judged = [(r["paper"], v) for r in content["rows"] for v in r["verdicts"] if v["calls"]]
    for paper, v in judged:
        if v["raw"] and v["status"] == "graded":
            assert v["raw"] == prompts.clean(recorded[paper].get(v["calls"][0])["text"])
    used = {key for part in (*called, *(v for _, v in judged)) for key in part["calls"]}
    assert used == set(content["calls"])
    assert {m for c in content["calls"].values() for m in c["messages"]} == set(content["messages"])


def test_labelled_and_detected_spans_are_marked_where_they_stand():
    answer, found = "Cold air causes it. Milk helps.", ["cold AIR", "snow and ice"]
    places = {"labelled": located(["Milk helps"], answer), "detected": located(found, answer)}
    (block,) = medhalu.spans(
        [{"answer": answer, "note": ""} | {f"{k}_spans": v for k, v in places.items()}]
    )
    pieces = [("Cold air", "detected"), (" causes it. ", ""), ("Milk helps", "labelled"), (".", "")]
    assert block["pieces"] == [list(piece) for piece in pieces]
