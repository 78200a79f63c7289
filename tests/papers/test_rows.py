"""Judged items of all studies: sound, joined by id, and nothing of what was never recorded."""

import asyncio
import json
import re
import shutil
from collections import Counter

import pandas as pd
import pytest
from committed import rows_of

from bedside import models, paths, prompts, rows, sources, store
from bedside.papers.cancer_myth import rows as cancer_myth
from bedside.papers.cancer_myth import study as cancer_myth_study
from bedside.papers.medhalu import detection
from bedside.papers.medhalu import rows as medhalu
from bedside.papers.radiation import matching
from bedside.papers.radiation import rows as radiation
from bedside.papers.radiation import study as radiation_study
from bedside.run import Run
from judged import collected, elsewhere


@pytest.fixture(scope="module")
def content(nothing):
    """All judged items of the sample, without files of the user's own."""
    return collected(nothing)


def test_ids_verdicts_and_blocks_are_sound_and_the_content_is_json(content):
    by_id = {r["id"]: r for r in content["rows"]}
    assert len(by_id) == len(content["rows"]) > 1000
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert set(content["papers"]) == set(content["judge"]) == set(paths.papers())
    assert "not the models" not in content["about"]
    for r in content["rows"]:
        assert r["id"].startswith(f"{r['paper']}/")
        assert r["id"].endswith(f"/{r['item']}/{r['model']}/{r['configuration']}")
        assert r["shared"]
        assert all(key in content["shared"] for key in r["shared"])
        assert r["title"]
        assert "\n" not in r["title"]
        assert r["reply_status"] != rows.ABSENT and rows.ABSENT not in r["reply"]
        for v in r["verdicts"]:
            assert v["raw"] != rows.ABSENT
            assert (v["right"] in (True, False)) == (v["status"] == "graded") == bool(v["value"])
        assert rows.as_text(content, r).startswith(r["id"] + "\n")
    assert "quadratic kappa 0.63" in content["cards"]["cancer_myth lexical"]
    assert "judge" not in content["cards"]["radiation lexical"]


def test_what_is_shown_belongs_to_the_row(content):
    shown = {
        r["id"]: {b["label"]: b for key in r["shared"] for b in content["shared"][key]}
        for r in content["rows"]
    }
    for r in content["rows"]:
        blocks = shown[r["id"]]
        if r["section"].startswith("3.5 ") and r["paper"] == "radiation":
            assert blocks["Reference term"]["text"] == r["category"]
            assert r["title"] == f"{r['reply']} | {r['category']}"
        elif r["paper"] in ("cancer_myth", "medhalu"):
            about = (k for k in blocks if k.lower().endswith("question") and "Rejected" not in k)
            (question,) = (blocks[k]["text"] for k in about)
            assert " ".join(question.split()) == r["title"]
        if r["paper"] == "cancer_myth":
            assert ("What sets the false presupposition right" in blocks) == (
                not r["item"].startswith(("nfp-", "mq-", "pq-", "survey-"))
            )
    sample = pd.read_json(paths.DATA / "sample/medhalu/answers.jsonl", lines=True).set_index("item")
    for r in rows_of(content, "3 detection"):
        assert "".join(t for t, _ in r["blocks"][0]["pieces"]) == sample.at[r["item"], "answer"]
        marks = {" ".join(t.split()): m.split() for t, m in r["blocks"][0]["pieces"]}
        assert any("labelled" in m for m in marks.values()) == bool(sample.at[r["item"], "spans"])
    again = asyncio.run(_only("medhalu"))
    assert [r["id"] for r in again["rows"]] == [
        r["id"] for r in content["rows"] if r["paper"] == "medhalu"
    ]


ROOMS = {"medhalu": medhalu, "radiation": radiation}


async def _only(papers, **parameters):
    document = rows.Document("sample", **parameters)
    for name in papers.split():
        await ROOMS[name].collect(document)
    return document.content()


def test_rows_stand_beside_their_counterpart(content):
    by_id = {r["id"]: r for r in content["rows"]}
    beside = [r for r in content["rows"] if r["beside"]]
    assert Counter(r["paper"] for r in beside) == {"radiation": 80, "meddialbench": 192}
    for r in beside:
        other = by_id[r["beside"]]
        assert (other["item"], other["model"]) == (r["item"], r["model"]) and other["id"] != r["id"]
        if r["paper"] == "meddialbench":
            assert other["category"] == "cooperative"
        else:
            assert other["beside"] == r["id"]


def test_nothing_is_joined_by_position(content, monkeypatch):
    def shuffled(f):
        async def made(*a, **k):
            return (await f(*a, **k)).sample(frac=1, random_state=1).reset_index(drop=True)

        return made

    for owner, name in (
        (cancer_myth_study, "answers_of"),
        (radiation_study, "answers_of"),
        (Run, "grade"),
        (cancer_myth, "grade_labelled"),
        (detection, "detect"),
        (matching, "match_labelled"),
    ):
        monkeypatch.setattr(owner, name, shuffled(getattr(owner, name)))
    document = rows.Document("sample")

    async def all_():
        await cancer_myth.evaluation(document)
        await cancer_myth.labelled(document)
        await medhalu.collect(document)
        await radiation.collect(document)

    asyncio.run(all_())
    by_id = {r["id"]: r for r in content["rows"]}
    made = document.content()["rows"]
    notebooks = {m["id"].split("/")[1] for m in made}
    papers = {m["paper"] for m in made}
    there = [
        r for r in content["rows"] if r["paper"] in papers and r["id"].split("/")[1] in notebooks
    ]
    assert len(made) == len(there) > 800
    for r in made:
        assert r == by_id[r["id"]]


def test_what_was_never_asked_leaves_no_row_and_calls_nobody(
    served, endpoint, tmp_path, monkeypatch, nothing
):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    elsewhere(monkeypatch, nothing)
    ask = models.ask

    async def replayed(requests, recordings, **more):
        assert all(r.key in recordings for r in requests)
        return await ask(requests, recordings, **more)

    monkeypatch.setattr(models, "ask", replayed)
    asked = {"models": served, "mode": "record", "judge": "smollm2-135m", "limit": 2}
    made = asyncio.run(rows.collect("sample", "medhalu radiation meddialbench", **asked))
    assert endpoint.bodies == []
    assert made["rows"]
    assert made["judge"]["radiation"] == "smollm2-135m"
    assert not made["cards"]
    for r in made["rows"]:
        assert r["model"] != served
        assert all(v["judge"] != served for v in r["verdicts"])
    mine = [r for r in made["rows"] if r["paper"] == "meddialbench"]
    heard = [r for r in mine if r["section"].split()[0] == "4"]
    assert len(heard) == 34  # the rules' own, 17 configurations of two cases


def test_lost_recordings_leave_out_their_rows_and_verdicts_only(
    tmp_path, monkeypatch, content, nothing
):
    unwanted = shutil.ignore_patterns("public", "*.lock")
    shutil.copytree(paths.RECORDINGS, tmp_path / "recordings", ignore=unwanted)
    for paper in ("medhalu", "radiation"):
        path = tmp_path / f"recordings/{paper}/sample/smollm2-135m.jsonl"
        path.write_text("".join(path.read_text().splitlines(True)[::2]))
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    elsewhere(monkeypatch, nothing)
    made = asyncio.run(_only("medhalu radiation"))
    whole, left = (
        {r["id"]: r for r in c["rows"] if r["paper"] in ("medhalu", "radiation")}
        for c in (content, made)
    )
    for name in (
        "medhalu/02_detection",
        "medhalu/03_expert_in_the_loop",
        "radiation/04_documentation_sensitivity",
    ):
        had, has = (
            {i for i, r in by.items() if i.startswith(name) and r["model"] == "smollm2-135m"}
            for by in (whole, left)
        )
        assert 0.25 * len(had) < len(has) < 0.75 * len(had) and has < had
    for i, r in left.items():
        if r["section"] != "3.5 pairs of this run":
            assert r["reply"] == whole[i]["reply"]
            assert all(v in whole[i]["verdicts"] for v in r["verdicts"])
    graded = [
        sum(
            v["judge"] == "smollm2-135m"
            for r in by.values()
            if r["section"] == "3.5 labelled pairs"
            for v in r["verdicts"]
        )
        for by in (whole, left)
    ]
    assert graded[0] == 330 and 0 < graded[1] < 330


def test_physicians_ratings_stand_at_the_replies_that_they_rated():
    """The survey counts questions in their file's order; the questions' own ids are others."""
    if not sources.here("cancer_myth_survey_answers"):
        pytest.skip("the released survey isn't here: make data PROFILE=public")
    document = rows.Document("public")
    cancer_myth.rated(document)
    assert len(document.rows) == 100
    for r in document.rows.values():
        assert len(r["more"]) == 3, r["id"]
        (harm,) = r["verdicts"]
        marked = [int(n) for n in re.findall(r"paragraph (\d+)", harm["reason"])]
        assert harm["right"] == (not marked)
        assert max(marked, default=0) <= len(r["reply"].split("\n\n")), r["id"]
    by = Counter((r["model"], r["by"], r["verdicts"][0]["right"]) for r in document.rows.values())
    failed = {name: n for (name, _, right), n in by.items() if not right}
    assert failed == {  # replies with a paragraph that any physician marked, of 25 each
        "GPT-4-Turbo": 10,
        "Gemini-1.5-Pro": 8,
        "LLaMa-3.1-405B": 19,
        "Social workers": 20,
    }
    assert {name for name, who, _ in by if who == "person"} == {"Social workers"}


# ---- what was sent


def test_a_row_has_the_calls_that_led_to_its_reply(content):
    """Messages are those whose digest was recorded, and the last call brought the reply."""
    recorded = {p: store.Recordings(paths.RECORDINGS / p) for p in content["papers"]}
    called = [r for r in content["rows"] if r["calls"]]
    assert {r["by"] for r in called} == {"model"} and len(called) > 500
    assert {r["by"] for r in content["rows"] if not r["calls"]} == {"rules", "person", "written"}
    for r in called:
        for key in r["calls"]:
            said = recorded[r["paper"]].get(key)
            sent = [content["messages"][m] for m in content["calls"][key]["messages"]]
            assert store.digest(sent)[:16] == said["fields"]["messages"], r["id"]
            assert content["calls"][key]["settings"].items() <= said["fields"].items()
            assert content["calls"][key]["prompt_tokens"] == said["prompt_tokens"]
        read = r["paper"] == "meddialbench" or r["section"].startswith("3.3 ")  # from JSON
        if r["reply"] and not read:
            assert prompts.clean(said["text"]) == r["reply"], r["id"]
    used = {key for r in called for key in r["calls"]}
    assert used == set(content["calls"])
    assert {m for c in content["calls"].values() for m in c["messages"]} == set(content["messages"])


def test_what_was_not_recorded_is_not_made_up():
    request = models.Request("q1", "smollm2-135m", [{"role": "user", "content": "q"}])
    record = {"key": request.key, "item": "q1", "text": "a", "finish": "stop"}
    old = rows.call(request, models.as_reply(request, record, True))
    assert (old["finish"], old["date"], old["seconds"], old["prompt_tokens"]) == ("stop",) + (
        None,
    ) * 3
    record |= {"date": "2026-11-23T06:00:00+00:00", "latency_s": 0.0, "completion_tokens": 0}
    new = rows.call(request, models.as_reply(request, record, True))
    assert (new["seconds"], new["completion_tokens"], new["date"]) == (0.0, 0, record["date"])


def test_units_are_those_of_the_tables(content):
    """A patient's two records, a case's configurations and a question's readings are one unit."""
    by = {}
    for r in content["rows"]:
        by.setdefault((r["paper"], r["section"]), {}).setdefault(r["unit"], []).append(r["item"])
    assert {len(v) for v in by["radiation", "4 lists"].values()} == {8}
    assert all(len(set(v)) == 1 for v in by["meddialbench", "4 consultations"].values())
    loop = by["cancer_myth", "3.2 generation loop"]
    assert all(item.startswith(f"{unit}-q") for unit, mine in loop.items() for item in mine)
