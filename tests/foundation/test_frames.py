"""Graded replies as files: their columns, what is refused, and reading them again."""

import json

import numpy as np
import pandas as pd
import pytest

import bedside
from bedside import BedsideError
from bedside.build import settings
from bedside.keep.replies import Request, as_reply
from bedside.read import paths, sources
from bedside.write import frames

FRAME = {
    "item": ["q1", "q1", "q2"],
    "model": "m",
    "configuration": "plain",
    "judge": ["a", "b", "a"],
    "status": ["graded", "unparsed", "graded"],
    "value": [1, 0, -1],
    "right": [True, True, False],
    "unit": ["a myth of others", "a myth of others", np.nan],
    "question": ["Is “this” so?", "Is “this” so?", "And\nthat?"],
    "kind": "x",
    "tokens": [3, None, 5],
}


def frame(**columns):
    return pd.DataFrame({**FRAME, **columns})


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of outputs, in a scratch folder of figures."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    folder = tmp_path / "sample" / "radiation"
    folder.mkdir(parents=True)
    return folder


def write(place, made, own=("kind", "tokens")):
    return frames.write(
        place, "lists", frames.checked(made, "lists"), own, "radiation/02_free_form"
    )


def test_the_columns_come_first_and_nothing_ungraded_has_a_value():
    made = frames.checked(frame(), "lists")
    assert list(made)[: len(frames.COLUMNS)] == frames.COLUMNS
    assert made["value"].tolist() == [1, None, -1] and made["right"].tolist() == [True, None, False]
    assert made["unit"].tolist() == ["a myth of others"] * 2 + ["q2"]  # else the item
    assert made["truncated"].tolist() == [False] * 3 and made["key"].tolist() == [""] * 3


@pytest.mark.parametrize(
    "columns, told",
    [
        ({"judge": "a"}, "two rows are q1, m, plain, a"),
        ({"item": ["q1", None, "q2"]}, "1 of 3 rows have no item"),
        ({"model": ["m", "", "m"]}, "1 of 3 rows have no model"),
        ({"status": "judged"}, "unknown status in graded_lists 'judged'"),
        ({"value": [None, 0, 1]}, "1 of 2 rows have no value: the first is item q1"),
    ],
)
def test_what_names_no_row_or_no_verdict_is_refused(columns, told):
    with pytest.raises(BedsideError, match=told):
        frames.checked(frame(**columns), "lists")


def test_the_file_has_ids_and_numbers_and_the_cache_has_texts(place):
    assert write(place, frame()) == "graded_lists.csv"
    text = (place / "graded_lists.csv").read_text()
    first, *lines = text.splitlines()
    assert first == ",".join([*frames.COLUMNS, "kind", "tokens"])
    assert lines[0] == "q1,m,plain,a,graded,1,1,q1,0,,,x,3"  # a unit is named by its first item
    assert lines[1] == "q1,m,plain,b,unparsed,,,q1,0,,,x," and "this" not in text
    whole = frames.read(place, "lists")
    assert whole["question"].tolist() == FRAME["question"]
    assert whole["unit"].tolist() == ["a myth of others"] * 2 + ["q2"]
    assert whole["right"].tolist()[::2] == [1, 0] and np.isnan(whole["right"][1])
    short = frames.read(place, "lists", texts=False)
    assert list(short) == [*frames.COLUMNS, "kind", "tokens"]
    assert short["value"].tolist()[::2] == [1, -1] and short["tokens"].tolist()[::2] == [3, 5]
    assert short["truncated"].tolist() == [False] * 3 and short["key"].tolist() == [""] * 3


def test_texts_that_are_not_those_of_the_file_are_an_error_that_says_what_to_run(place):
    write(place, frame())
    (place / "graded_lists.csv").write_text("item\nanother commit's\n")
    with pytest.raises(BedsideError, match="texts aren't here. Run .*make radiation.*texts=False"):
        frames.read(place, "lists")
    write(place, frame())
    (frames.cache(place) / "lists.jsonl").unlink()
    with pytest.raises(BedsideError, match="graded_lists.csv: its texts aren't here"):
        frames.read(place, "lists")
    assert len(frames.read(place, "lists", texts=False)) == 3


def test_an_empty_section_keeps_its_columns(place):
    write(place, frame().head(0))
    assert "question" in frames.read(place, "lists") and not len(frames.read(place, "lists"))


def test_notebooks_whose_frames_are_gone_run_again(place):
    name = write(place, frame())
    entry = {"paper": "radiation", "graded": [{"file": name, "sha256": "old"}]}
    manifest = place.parent / "manifest.json"
    manifest.write_text(json.dumps({"notebooks": {"radiation/02_free_form": entry}}))
    assert frames.missing(place.parent) == ["radiation/02_free_form"]
    entry["graded"][0]["sha256"] = sources.sha256(place / name)
    manifest.write_text(json.dumps({"notebooks": {"radiation/02_free_form": entry}}))
    assert frames.missing(place.parent) == []
    (frames.cache(place) / "lists.jsonl").unlink()
    assert frames.missing(place.parent) == ["radiation/02_free_form"]


def test_a_runs_replies_are_read_by_its_name(place, monkeypatch):
    mine = settings.figures() / "runs" / "mine" / "radiation"
    mine.mkdir(parents=True)
    write(mine, frame(model="another"))
    assert bedside.graded("radiation", "mine")["model"].unique() == ["another"]


def test_calls_are_written_as_they_come_and_messages_once(place):
    told = {"role": "user", "content": "Hello \ud800 there"}
    asked = [Request(f"q{n}", "smollm2-135m", [told] * 2, {"seed": n}) for n in (1, 2)]
    log = frames.Calls(frames.cache(place) / "calls_02_free_form.jsonl")
    for request in [*asked, asked[0]]:
        record = {"key": request.key, "item": request.item, "text": "a", "finish": "stop"}
        log.add(request, as_reply(request, record, True))
    log.close()
    lines = log.path.read_text().splitlines()
    assert len(lines) == 3  # one message, two calls
    found = frames.called(place)
    assert [c["item"] for c in found.values()] == ["q1", "q2"]
    one = found[asked[0].key]
    assert [m["content"] for m in one["messages"]] == ["Hello � there"] * 2
    assert (one["text"], one["finish"], one["settings"]["seed"]) == ("a", "stop", 1)
    assert bedside.calls("radiation")["key"].tolist() == [r.key for r in asked]
    frames.Calls(log.path).close()  # a run without a call leaves none of an earlier one
    assert frames.called(place) == {}


def test_what_was_not_recorded_is_not_made_up():
    request = Request("q1", "smollm2-135m", [{"role": "user", "content": "q"}])
    record = {"key": request.key, "item": "q1", "text": "a", "finish": "stop"}
    old = frames.sent_and_returned(request, as_reply(request, record, True))
    assert old["finish"] == "stop"
    assert [old[k] for k in ("date", "seconds", "prompt_tokens")] == [None] * 3
    record |= {"date": "2026-11-23T06:00:00+00:00", "latency_s": 0.0, "completion_tokens": 0}
    new = frames.sent_and_returned(request, as_reply(request, record, True))
    assert (new["seconds"], new["completion_tokens"], new["date"]) == (0.0, 0, record["date"])


# ---- what is committed


def test_committed_sections_keep_the_contract_and_are_documented():
    page = (paths.ROOT / "docs" / "graded.md").read_text()
    for path in sorted(paths.FIGURES.glob("*/*/graded_*.csv")):
        section = path.stem.removeprefix("graded_")
        made = frames.read(path.parent, section, texts=False)
        columns, own = frames.COLUMNS, [*made][len(frames.COLUMNS) :]
        assert [*made][: len(columns)] == columns, path
        assert all(f"`{name}`" in page for name in (section, *own)), path
        assert not made.duplicated(frames.ROW).any() and {*made["status"]} <= {*frames.STATUS}
        graded = made["status"] == "graded"
        right = made.loc[graded, "right"]
        assert right.isin([0, 1]).all() and made.loc[~graded, "right"].isna().all(), path
        assert made["unit"].isin(made["item"]).all(), path  # a unit is named by an item
        assert (made.loc[made["judge"] == "", "status"] == "").all(), path
