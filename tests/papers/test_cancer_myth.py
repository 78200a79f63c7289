"""Cancer-Myth: what the released files decide, its judges, the examples that they are shown."""

import asyncio
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest

from bedside.papers.cancer_myth import data, pipeline, study
from bedside.papers.cancer_myth.scores import scores
from bedside.papers.cancer_myth.tables import evaluation
from bedside.papers.cancer_myth.tables import generation as tables
from bedside.papers.cancer_myth.v2 import items as v2_items
from bedside.read import claims, sources
from bedside.run import Run
from conftest import SILENT, completion

KINDS = list(data.CATEGORIES.values())


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run("cancer_myth", "03_evaluation", profile="sample")


# ---- the released files


def texts(n, seed=0):
    """Different questions of eight words that nothing else is like."""
    draw = np.random.default_rng(seed)
    return [" ".join("".join(draw.choice([*"abcdefghij"], 6)) for _ in range(8)) for _ in range(n)]


def as_printed(said):
    """Files of which all is true that is said of them: 76 and 3 x 266 candidates, 994 myths."""
    generators = ["GPT-4o", "Gemini-1.5-Pro", "Claude-3.5-Sonnet"]
    each, first = 266, said["valid at first", "count"]
    rows = [("GPT-4o", True, KINDS[k % 3], 1 + k // 2) for k in range(first)]
    for g in generators:
        begin = 1 + (g == "GPT-4o") * first // 2
        reach = np.linspace(begin + 1, said["myths", "count"], each).astype(int)
        rows += [(g, False, KINDS[k % 7], reach[k]) for k in range(each)]
    offered = pd.DataFrame(rows, columns=["generator", "first", "category", "myth"])
    offered["question"] = texts(len(offered))
    offered["item"] = [*data.DROPPED] + [f"c{k}" for k in range(len(offered) - 2)]
    gemini = offered["generator"] == "Gemini-1.5-Pro"
    out = offered["item"].isin(data.DROPPED) | gemini & (offered.index % 3 > 0)
    released = offered.loc[~out, ["question"]]
    myths = pd.DataFrame(
        {c: texts(said["myths", "count"], k) for k, c in enumerate(("myth", "fact"))}
    )
    valid = offered["question"].head(said["positive examples", "count"])
    start = pd.DataFrame({"kind": "valid", "question": valid})
    bad = pd.DataFrame({"kind": "invalid", "question": ["?"] * said["negative examples", "count"]})
    raw = {
        "candidates": offered,
        "released": released,
        "myths": myths.assign(cancer="x", source="y"),
    }
    raw["nfp"] = pd.DataFrame({"example_question": offered.loc[out, "question"]})
    return raw, pd.concat([start, bad]), 0


def otherwise(said):
    """The same files with a fault for each claim."""
    raw, start, _ = as_printed(said)
    offered = raw["candidates"]
    offered.loc[(offered.index > 99) & (offered.index % 5 > 0), "category"] = KINDS[0]
    offered["first"] = offered.index < 70
    offered.loc[offered["myth"] > 500, "myth"] = 7
    offered = offered.drop(offered.index[-9:])
    raw["released"] = pd.concat([offered[["question"]], pd.DataFrame({"question": ["What else?"]})])
    raw["nfp"] = offered[["question"]].rename(columns={"question": "example_question"})
    raw["nfp"] = pd.concat([raw["nfp"].head(3), pd.DataFrame({"example_question": ["Why?"]})])
    raw["myths"] = raw["myths"].iloc[1:].assign(myth="one", fact="one")
    return {**raw, "candidates": offered}, start.tail(5).assign(kind=["valid"] + ["invalid"] * 4), 1


def test_readings_of_the_files_say_yes_and_no(run):
    counts = run.published("v1 text 3", "v1 text 4.1", "v1 text B.1", "v1 text B.4")
    said = {(r.row, r.column): int(r.value) for r in counts.itertuples()}
    made = []
    for raw, start, faults in (as_printed(said), otherwise(said)):
        checked = pd.DataFrame({"column": ["repeated texts", "empty cells"], "value": faults})
        checked["row"] = "cancer_myth_nfp"
        found = pipeline.readings(run, raw, start, checked)
        made.append({(id, name): way[3] for id, w in found.items() for name, way in w.items()})
    yes, no = made
    ids = {id for id, _ in yes}
    assert ids == {*pipeline.CLAIMS}
    assert {k for k in yes if (yes[k], no[k]) != (True, False)} == {
        ("cm-cancer-types", "names in the file of myths")
    }


def test_what_the_review_kept_by_hand():
    """Two of three: one word for word, one reworded."""
    offered = pd.DataFrame(
        {
            "question": [
                "My father has surgery next week and we prepare.",
                "Which tea is good for her?",
                "Is it all lost?",
            ],
            "generator": ["a", "a", "b"],
            "category": ["x", "y", "y"],
            "myth": [1, 1, 2],
        }
    )
    reworded = "My father has, I think, surgery next week and we prepare."
    released = pd.DataFrame({"question": ["which tea is good for her", reworded]})
    table = tables.review_table(offered, released).set_index("row")
    expected = {"all": 66.6667, "a": 100, "b": 0, "x": 100, "y": 50}
    assert table["value"].round(4).to_dict() == expected
    assert table["n"].to_dict() == {"all": 3, "a": 2, "b": 1, "x": 1, "y": 2}


def test_the_first_set_ends_where_another_generator_begins():
    """In the order of raw_QID: manual, GPT-4o, Claude, GPT-4o; two belong to the first set."""
    names = ["gpt-4o", "gpt-4o", "claude-3-5-sonnet", "manual"]
    frame = pd.DataFrame({"raw_QID": [3, 1, 2, 0], "source_row": [9, 1, 4, -1]})
    frame = frame.assign(example_question=[*"dbca"], example_assumption="", from_model=names)

    class Released:
        def load(self, name):
            return frame.assign(category="other")

    made = data.candidates(Released())
    assert made["question"].tolist() == [*"abcd"] and set(made["category"]) == {"Others"}
    assert made["first"].tolist() == [True, True, False, False]
    assert made["generator"].tolist() == ["Manual", "GPT-4o", "Claude-3.5-Sonnet", "GPT-4o"]


def test_claims_on_the_released_data_wait_for_it(run):
    known = claims.load("cancer_myth")
    made = pipeline.readings(run, {}, None, None)
    assert [id for id in known if id in made] == list(made) == pipeline.CLAIMS
    said = {claims.judged(run.paper, id, r)[0] for id, r in made.items()}
    assert said == {
        "needs the released data: make all PROFILE=public",
        "needs the list of the 127 cancer types, which is not released",
    }


# ---- our own data


def test_our_questions_have_a_source_and_as_many_of_each_category():
    frame, plain = map(sources.load, ("cancer_myth_questions_sample", "cancer_myth_nfp_sample"))
    assert frame["category"].value_counts().to_dict() == dict.fromkeys(data.CATEGORIES, 6)
    assert plain["near"].value_counts().to_dict() == dict.fromkeys(data.CATEGORIES, 3)
    assert frame["item"].is_unique
    assert all(s["organisation"] and s["title"] for f in (frame, plain) for s in f["source"])
    assert [fit[0] for fit in frame["fits"]] == frame["category"].tolist()
    assert set(frame["fits"].explode()) == set(data.CATEGORIES)


def test_labelled_answers_are_balanced_and_no_phrase_gives_the_grade_away(run):
    frame, plain = data.labelled(run), data.labelled_plain(run)
    assert frame["label"].value_counts().to_dict() == {-1: 40, 0: 40, 1: 40}
    assert (frame.groupby("item")["label"].apply(sorted).map(tuple) == (-1, 0, 1)).all()
    words = frame["answer"].str.split().str.len()
    assert np.ptp(words.groupby(frame["label"]).mean()) < 1 and words.between(70, 100).all()
    assert pd.crosstab(frame["label"], frame["tone"]).to_numpy().min() >= 12
    for phrase in ("actually", "misconception", "not necessarily", "however", "sorry"):
        hit = frame["answer"].str.contains(rf"\b{phrase}\b", flags=re.I)
        assert np.ptp(hit.groupby(frame["label"]).mean()) <= 0.15, phrase
    words = plain.assign(words=plain["answer"].str.split().str.len())
    wide = words.pivot(index="item", columns="label", values="words")
    assert len(wide) == 21 and (wide[-1] - wide[1]).abs().max() <= 8
    assert np.ptp(plain.groupby(["label", "tone"]).size()) <= 1


# ---- answers and judges


def silent_by_question(items, silent):
    """A script: each question has a kind of silence of its own, {item: why}."""
    why = dict(zip(items["question"], itertools.cycle(SILENT)))

    def script(n, body):
        text = body["messages"][-1]["content"]
        return SILENT[next(w for q, w in why.items() if q in text)] if silent(body) else said

    said = completion("All is well.")
    return script, dict(zip(items["item"], why.values()))


def test_a_reply_without_text_has_no_grade(run_of, endpoint):
    """Not -1: n 0 and every question unscored, by a judge of either kind; the table says why."""
    run = run_of("cancer_myth", "03_evaluation")
    items, known = data.questions(run), study.known(run)["myth"]
    endpoint.script, why = silent_by_question(items, lambda body: True)
    answered = asyncio.run(study.answers(run, items, 2048))
    assert answered.set_index("item")["reply_status"].to_dict() == why
    assert not answered["truncated"].any()
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.verdicts(run, items, answered, known, judge))
        assert set(graded["status"]) == {"error"} and graded["value"].isna().all()
        found = scores(graded, run).set_index("metric")
        assert found["value"].isna().all() and found["n"].tolist() == [0, 0]
        assert found["unscored"].tolist() == [42, 42] and found.loc["PCS", "least"] == -1
    assert len(endpoint.bodies) == 42  # nobody was asked for a verdict
    health = evaluation.answer_health(answered, {"all": items["item"]}, graded)
    health = health.set_index("column")["value"]
    assert health["no answer, %"] == 100
    parts = [health[f"no answer: {w}, %"] for w in SILENT]
    assert sum(parts) == pytest.approx(100) and min(parts) > 100 / 6


def test_a_judge_that_says_nothing_gives_no_grade(run_of, endpoint):
    run = run_of("cancer_myth", "03_evaluation")
    items = data.questions(run).head(len(SILENT))
    endpoint.script, _ = silent_by_question(items, lambda body: "response_format" in body)
    answered = asyncio.run(study.answers(run, items, 2048))
    assert (answered["reply_status"] == "").all()
    graded = asyncio.run(study.verdicts(run, items, answered, study.Known(), "served"))
    assert set(graded["status"]) <= {"unparsed", "refused"} and graded["value"].isna().all()


def test_a_table_of_judges_without_an_answer_says_so(run):
    """With LIMIT none of the answers may be among those that a second judge grades."""
    items = pd.DataFrame(columns=["item", "question", "correction"])
    answered = pd.DataFrame(columns=["item", "model", "answer", "reply_status", "truncated"])
    none = asyncio.run(study.verdicts(run, items, answered, study.Known()))
    table = evaluation.judge_table({"lexical": none}, run).set_index("column")
    assert table["value"].isna().all() and table["n"].to_dict() == {"PCS": 0, "PCR": 0}
    assert evaluation.cut_by_judge({"lexical": none}) == ""


def test_captions_count_what_was_cut_and_score_the_rest():
    """Grades 1, 1, 0, -1 and one unscored, of which the first, the -1 and the last are cut."""
    frame = pd.DataFrame({"item": [*"abcde"], "model": "m", "value": [1, 1, 0, -1, None]})
    frame["status"] = ["graded"] * 4 + ["unparsed"]
    frame["truncated"] = [True, False, False, True, True]
    others = frame.assign(value=1, status="graded")
    for told, scored in (
        (evaluation.cut(frame), [("50.00", "0.50")]),
        (
            evaluation.cut_by_judge({"x": frame, "y": others}),
            [("50.00", "0.50"), ("100.00", "1.00")],
        ),
    ):
        found = re.findall(r"(\d+) of (\d+)[^;]*?([\d.]+\d),[^;]*?([\d.]+\d)", told)
        assert found == [("3", "5", *pair) for pair in scored]


# ---- graded examples for judges (Figures 13 and 14)


def test_our_examples_have_each_grade_a_reason_and_a_source(run):
    myth, plain, category = (data.shown(run, kind) for kind in data.SHOWN)
    assert [e["label"] for e in myth] == study.GRADES and len({e["question"] for e in myth}) == 1
    assert sorted(e["label"] for e in plain) == study.PLAIN_GRADES
    assert [e["category"] for e in category] == [k for k in data.CATEGORIES if k != "other"]
    assert {k: len(data.shown(run, k)) for k in data.SHOWN} == data.SHOWN
    for e in (*myth, *plain, *category):
        assert e["reason"] and e["source"]["organisation"] and e["source"]["title"]
    for items in (data.questions(run), data.plain_questions(run)):  # nothing is left out
        assert data.unseen(run, items)["item"].tolist() == items["item"].tolist()


def test_questions_that_judges_are_shown_are_left_out(run, monkeypatch):
    items = data.questions(run, whole=True)
    drawn = v2_items.split(items, 8, 12, run)[1]
    there = {"question": drawn["question"].iloc[0].upper() + "  "}
    monkeypatch.setattr(data, "shown", lambda run, kind: [there] * (kind == "category"))
    left = data.unseen(run, items)["item"]
    assert set(items["item"]) - set(left) == {drawn["item"].iloc[0]}
    assert len(data.unseen(run, items, keep=1)) == 42
    train, reported = v2_items.split(items, 8, 12, run)
    assert len(train) == 8 and set(drawn["item"]) - set(reported["item"]) == {drawn["item"].iloc[0]}
    assert v2_items.split(items, 8, 12, run, keep=1)[1].equals(drawn)


@pytest.mark.skipif(not sources.here("cancer_myth_judge_examples"), reason="released data")
def test_the_released_examples(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    run = Run("cancer_myth", "03_evaluation", profile="public")
    assert [e["label"] for e in data.shown(run, "myth")] == study.GRADES
    plain = data.shown(run, "plain")
    assert {e["label"] for e in plain} == {-1, 1} and plain[0]["note"] != plain[1]["note"]
    items = data.questions(run, whole=True)
    assert set(items["item"]) - set(data.unseen(run, items)["item"]) == {
        f"cm-{n}" for n in (1, 5, 22, 35)
    }
    asked = data.plain_questions(run)
    assert asked["rejected"].str.len().min() > 20 and len(data.unseen(run, asked)) == 150


def test_a_model_is_shown_examples_and_gives_a_reason_first(run_of, endpoint):
    run = run_of("cancer_myth", "03_evaluation")
    said = json.dumps({"reason": 'It says "score": -1 in so many words.', "score": 1})
    endpoint.script = lambda n, body: completion(said)
    frame = data.labelled(run).head(1).assign(reply_status="")
    known = study.known(run, temperature=0.7)["myth"]
    found = asyncio.run(study.grade(run, frame, "myth", known, "served"))
    assert found[["status", "value"]].values.tolist() == [["graded", 1]]
    with_them, form = endpoint.bodies[-1], lambda b: b["response_format"]["json_schema"]["schema"]
    system, user = (m["content"] for m in with_them["messages"])
    assert list(form(with_them)["properties"]) == ["reason", "score"]
    assert with_them["temperature"] == 0.7
    for e in known.shown:
        assert e["answer"] in system and json.dumps(e["label"]) in system
        assert e["answer"] not in user
    asyncio.run(study.grade(run, frame, "myth", study.Known(), "served"))
    system = endpoint.bodies[-1]["messages"][0]["content"]
    assert "Example" not in system and "reason" not in system
    assert list(form(endpoint.bodies[-1])["properties"]) == ["score"]


def test_the_embedded_model_is_shown_no_examples(run):
    known = study.known(run)
    gpt = study.grading(run, "myth", known["myth"], "gpt-4o-2024-08-06")
    assert [e["label"] for e in gpt["shown"]] == study.GRADES
    assert study.grading(run, "myth", known["myth"], "smollm2-135m")["shown"] == []
    assert [len(k.shown) for k in study.known(run, examples=2).values()] == [2, 2, 2]


def test_any_category_that_fits_counts():
    """Of three verdicts one is the label, one a second category, and one neither: 2 of 3."""
    items = pd.DataFrame({"item": [*"abcd"], "fits": [["x"], ["x", "y"], ["x"], ["y"]]})
    found = pd.DataFrame({"value": ["x", "y", "y", None], "status": ["graded"] * 3 + ["unparsed"]})
    assert study.overlap(items, found)["value"] == pytest.approx(2 / 3)
