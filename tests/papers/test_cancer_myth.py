"""Cancer-Myth: metrics by hand, tables, readings of the files, graded examples for judges."""

import asyncio
import json

import cancer_myth_graded
import numpy as np
import pandas as pd
import pytest
from cancer_myth_graded import graded, listed_for

from bedside import stats
from bedside.keep.replies import VERDICT_TOKENS
from bedside.papers.cancer_myth import data, figures, implied, pipeline, study
from bedside.papers.cancer_myth.scores import counted, scores
from bedside.papers.cancer_myth.tables import evaluation, generation
from bedside.papers.cancer_myth.v2 import items as v2_items
from bedside.read import claims, sources
from bedside.run import Run
from bedside.write.tables import BOUNDS, paired
from conftest import SILENT, completion

run = cancer_myth_graded.run  # a fixture


def test_pcs_and_pcr_by_hand(run):
    # grades 1, 1, 0, -1 and one unscored: PCS (1 + 1 + 0 - 1) / 4 = 0.25, PCR 2 / 4 = 50%;
    # if the unscored one were -1 or 1: PCS 0 / 5 to 2 / 5, PCR 2 / 5 to 3 / 5
    s = scores(graded(m=[1, 1, 0, -1, None]), run).set_index("metric")
    assert s.loc["PCS", ["value", "n", "unscored", "least", "most"]].tolist() == [
        0.25,
        4,
        1,
        0.0,
        0.4,
    ]
    assert s.loc["PCR", ["value", "n", "unscored", "least", "most"]].tolist() == [
        50.0,
        4,
        1,
        40.0,
        60.0,
    ]
    assert s[["low", "high"]].isna().all(axis=None)  # of four


def test_what_an_answer_counts():
    found = counted(graded(m=[1, 0, -1, None]))
    assert found["PCS"].tolist()[:3] == [1, 0, -1] and found["PCR"].tolist()[:3] == [100, 0, 0]
    assert found.loc[3, ["PCS", "PCR"]].isna().all()


def test_intervals_are_over_myths(run):
    many = graded(m=[1, 1, 0, -1] * 6)
    plain, by_myth, six = (
        scores(many.assign(unit=[str(i // size) for i in range(24)]), run).set_index("metric")
        for size in (1, 2, 4)
    )
    assert plain.loc["PCS", "low"] < 0.25 < plain.loc["PCS", "high"]
    assert six[["low", "high"]].isna().all(axis=None)
    assert (by_myth["low"] < plain["low"]).all()
    assert by_myth["value"].tolist() == plain["value"].tolist()


def test_a_model_without_a_verdict_does_not_vanish(run):
    s = scores(graded(m=[None, None], k=[1, 0]), run)
    lost = s[s["model"] == "m"]
    assert (
        lost["value"].isna().all()
        and lost["n"].tolist() == [0, 0]
        and lost["unscored"].tolist() == [2, 2]
    )


def test_tables_show_the_bounds_that_unscored_answers_leave(run, monkeypatch):
    monkeypatch.setattr(run, "card", lambda judge: {"n": 3, "unscored": 3})
    table = evaluation.score_table(scores(graded(m=[1, 1, 0, -1, None]), run), run)
    bounds = table[(table["row"] == "m") & (table["column"] == "PCS" + BOUNDS)]
    assert bounds[["low", "high", "unscored"]].values.tolist() == [[0.0, 0.4, 1.0]]
    assert not evaluation.series(table, "PCS")["column"].str.endswith(BOUNDS).any()


def test_judge_table_with_unscored_answers_and_a_judge_without_skill(run, monkeypatch):
    cards = {
        "good": {
            "sensitivity": stats.wilson(50, 50)._asdict(),
            "specificity": stats.wilson(45, 50)._asdict(),
        },
        "none": {"n": 3, "unscored": 3},
    }
    monkeypatch.setattr(run, "card", cards.get)
    table = evaluation.judge_table(
        {"good": graded(m=[1, 0, None]), "none": graded(m=[None, None, None])}, run
    )
    assert not table[["row", "column", "source"]].isna().any(axis=None)
    # half of two judged 1; a tenth of the others are false alarms:
    # (0.5 + 0.9 - 1) / (1 + 0.9 - 1) = 4/9
    corrected = table[table["column"].str.startswith("PCR corrected")].set_index("row")
    assert corrected["value"].to_dict() == {
        "m, judge good": pytest.approx(400 / 9),
        "m, judge none": pytest.approx(float("nan"), nan_ok=True),
    }
    assert corrected["n"].to_dict() == {"m, judge good": 2, "m, judge none": 0}
    assert (table["column"] == "PCS" + BOUNDS).sum() == 2


def test_judge_table_without_an_answer_says_so(run, monkeypatch):
    """With LIMIT none of the answers may be among those that a second judge grades."""
    items = pd.DataFrame(columns=["item", "question", "correction"])
    answered = pd.DataFrame(columns=["item", "model", "answer", "reply_status", "truncated"])
    none = asyncio.run(study.verdicts(run, items, answered, study.Known()))
    table = evaluation.judge_table({"lexical": none}, run).set_index("column")
    assert table["row"].tolist() == ["smollm2-135m, judge lexical"] * 2
    assert table["value"].isna().all() and table["n"].to_dict() == {"PCS": 0, "PCR": 0}
    assert evaluation.cut_by_judge({"lexical": none}) == ""


def test_published_scores_stand_beside_the_runs(run):
    """Figure 7 has seven categories of eight systems, Figure 6b three generators of three."""
    found = graded(m=[1, 1, 0, -1]).replace({"category": {"A": "No Treatment", "B": "Others"}})
    table = evaluation.group_table(scores(found, run, ["category"]), "category", run)
    assert (table["source"] == "published").sum() == 56
    assert table["row"].iloc[0] == "Only/Standard Treatment" and table["row"].iloc[-1] == "Others"
    mine = table[table["column"] == "m"].set_index("row")["value"]
    assert mine.to_dict() == {"No Treatment": 1.0, "Others": -0.5}
    drawn = figures.panels(table, "the question's category")
    titles = [ax.get_title("left") for ax in drawn.axes]
    assert titles[0] == "Gemini-1.5-Pro" and titles[-1] == "m" and len(titles) == 9
    found = graded(m=[1, 1, 0, -1]).assign(generator="us")
    table = evaluation.group_table(scores(found, run, ["generator"]), "generator", run)
    cell = table.set_index(["row", "column"])["value"]
    assert cell["GPT-4o", "Gemini-1.5-Pro"] == 0.03 and cell["Gemini-1.5-Pro", "GPT-4o"] == -0.56
    assert cell["us", "m"] == 0.25 and len(table) == 10


def test_questions_beside_figure_5(run):
    said = run.published("v1 Figure 5a")
    by = evaluation.beside(said, pd.Series({"odd": 1, "Others": 2}), "raw", 3)
    assert by["row"].tolist() == [*said["row"], "Others", "odd"]  # the paper's order, then ours
    mine = by.loc[by["source"] == "raw", ["value", "n"]]
    assert mine.values.tolist() == [[2, 3], [1, 3]]
    assert by.loc[by["source"] == "published", "value"].tolist() == said["value"].tolist()


def test_scores_by_category(run):
    s = scores(graded(m=[1, 1, 0, -1]), run, ["category"])
    assert s[s["metric"] == "PCS"].set_index("category")["value"].to_dict() == {"A": 1.0, "B": -0.5}


def test_compare_uses_shared_questions_only(run):
    # on q0..q3 (q4 has no verdict for b): a is right on q0, q1, q2, b on q3:
    # discordant 3 and 1: p = 2 * 5/16 = 0.625
    pairs = paired(graded(a=[1, 1, 1, 0, 1], b=[0, 0, 0, 1, None]), run)
    assert (
        pairs["n"].tolist() == [4]
        and pairs["p"].tolist() == [0.625]
        and pairs["difference"].tolist() == [50.0]
        and pairs["test"].tolist() == ["McNemar"]
    )
    assert paired(graded(a=[1, 0]), run).empty


def test_possible_p_of_printed_rates(run):
    # 27.2% and 19.8% of 585 are 159 and 116: at the least overlap all discordant,
    # at the most 43 against 0
    paired, unpaired = implied.possible_p(run, "Gemini-1.5-Pro", "Claude-3.5-Sonnet")
    assert paired[0] == stats.mcnemar_counts(43, 0) and paired[-1] == stats.mcnemar_counts(159, 116)
    assert len(paired) == 117 and unpaired == pytest.approx(0.003, abs=5e-4)


def test_impossible_pairs(run, monkeypatch):
    assert implied.impossible_pairs(run) == []
    rows = run.published("v2 Main results")
    wrong = rows.assign(
        value=np.where((rows["row"] == "GPT-5") & (rows["column"] == "PCS"), 0.5, rows["value"])
    )
    monkeypatch.setattr(run, "published", lambda table: wrong)
    assert implied.impossible_pairs(run) == [
        "GPT-5"
    ]  # PCS 0.5 with PCR 42.1%: even no -1 at all gives 0.421


def test_readings_of_the_files_say_yes_and_no():
    """Two texts, one of them twice; even categories against one that most questions have."""
    two = pd.DataFrame({"question": ["a", "b"], "example_question": ["c", "d"]})
    raw = dict.fromkeys(["candidates", "released", "nfp"], two)
    kinds, made = list(data.CATEGORIES.values()), []
    first = pd.DataFrame({"category": kinds[:1] * 9})
    for most, again in ((20, 0), (200, 1)):
        many = {k: most if k == kinds[0] else 20 for k in kinds}
        rest = pd.DataFrame(
            [("GPT-4o", k) for k, n in many.items() for _ in range(n)],
            columns=["generator", "category"],
        )
        checked = pd.DataFrame(
            [("cancer_myth_nfp", c, again) for c in ("repeated texts", "empty cells")],
            columns=["row", "column", "value"],
        )
        myths = pd.DataFrame({"myth": ["a", "a" * again or "b"]})
        myths = myths.assign(cancer=["x", "y"], fact="", source="")
        said = {("myths", "count"): 2, ("cancer types", "count"): 2}
        found = {
            **pipeline._on_sets(raw, checked),
            **pipeline._on_myths(said, myths),
            "cm-even": pipeline._evenness(first, rest, rest),
        }
        made.append({(id, n): way[3] for id, ways in found.items() for n, way in ways.items()})
    yes, no = made
    shown = {k for k in yes if (yes[k], no[k]) == (True, False)}
    assert listed_for("test_readings_of_the_files_say_yes_and_no") - shown == set()


def test_claims_on_the_released_data_wait_for_it(run):
    known = claims.load("cancer_myth")
    made = pipeline.readings(run, {}, None, None)
    assert [id for id in known if id in made] == list(made) == pipeline.CLAIMS
    said = {claims.judged(run.paper, id, r)[0] for id, r in made.items()}
    assert said == {
        "needs the released data: make all PROFILE=public",
        "needs the list of the 127 cancer types, which is not released",
    }


# The sample data.


def test_yield_by_hand(run):
    """Of six asked for: two hard, one easy, one partly corrected, one copied, one truncated."""
    questions = pd.DataFrame(
        {
            "generator": "m",
            "myth": ["m1"] * 3 + ["m2"] * 3,
            "status": ["new"] * 4 + ["copied", "truncated"],
            "verdict": ["graded"] * 4 + ["", ""],
            "value": [-1, -1, 1, 0, None, None],
        }
    )
    rounds = pd.DataFrame(
        {
            "generator": "m",
            "myth": ["m1", "m2"],
            "valid": [3, 4],
            "invalid": [4, 5],
            "stopped": ["", "500"],
        }
    )
    run.models = ["m", "silent"]  # the second one's first call failed
    table = generation.yield_table(questions, rounds, run).set_index(["row", "column"])["value"]
    assert len(table["silent"]) and table["silent"].isna().all()
    mine = table["m"].round(2)
    assert mine[mine > 0].to_dict() == {
        "hard (joins the valid set)": 33.33,
        "partly corrected (apart)": 16.67,
        "easy (joins the invalid set)": 16.67,
        "question copied": 16.67,
        "question truncated": 16.67,
    }
    assert table["GPT-4o", "hard (joins the valid set)"] == pytest.approx(100 * 868 / (3 * 994))
    assert (
        table["m after m1"].to_dict() == {"valid set": 3, "invalid set": 4}
        and "m after m2" not in table.index
    )


# ---- replies without text, and cut ones


@pytest.mark.parametrize("why", SILENT)
def test_a_reply_without_text_has_no_grade(run_of, endpoint, why):
    """Not -1: n 0 and every question unscored, by a judge of either kind; the table says why."""
    run = run_of("cancer_myth", "03_evaluation")
    items, known = data.questions(run), study.known(run)["myth"]
    endpoint.script = lambda n, body: SILENT[why]
    answered = asyncio.run(study.answers(run, items, 2048))
    assert endpoint.bodies[-1]["max_tokens"] == 2048
    assert set(answered["reply_status"]) == {why} and not answered["truncated"].any()
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.verdicts(run, items, answered, known, judge))
        assert set(graded["status"]) == {"error"} and graded["value"].isna().all()
        found = scores(graded, run).set_index("metric")
        assert found["value"].isna().all() and found["n"].tolist() == [0, 0]
        assert found["unscored"].tolist() == [42, 42] and found.loc["PCS", "least"] == -1
    assert len(endpoint.bodies) == 42  # nobody was asked for a verdict
    health = evaluation.answer_health(answered, {"all": items["item"]}, graded).set_index("column")
    assert health.loc[[f"no answer: {why}, %", "no answer, %"], "value"].tolist() == [100, 100]
    assert evaluation.cut(graded) == "No reply was cut at its limit."


@pytest.mark.parametrize("why", SILENT)
def test_a_judge_that_says_nothing_gives_no_grade(run_of, endpoint, why):
    run = run_of("cancer_myth", "03_evaluation")
    items = data.questions(run).head(3)
    endpoint.script = lambda n, body: (
        SILENT[why] if "response_format" in body else completion("All is well.")
    )
    answered = asyncio.run(study.answers(run, items, 2048))
    graded = asyncio.run(study.verdicts(run, items, answered, study.Known(), "served"))
    assert set(graded["status"]) <= {"unparsed", "refused"} and graded["value"].isna().all()
    assert endpoint.bodies[-1]["max_tokens"] == VERDICT_TOKENS
    asyncio.run(study.categorise(run, items, study.Known(), "served"))
    assert endpoint.bodies[-1]["max_tokens"] == VERDICT_TOKENS


def cut_graded():
    """m: grades 1, 1, 0, -1 and one unscored; the first 1, the -1 and the unscored are cut."""
    frame = graded(m=[1, 1, 0, -1, None]).assign(answer="so it is", reply_status="")
    return frame.assign(truncated=[True, False, False, True, True])


def test_scores_of_the_uncut_by_hand():
    # uncut: 1 and 0, so PCR 50 and PCS 0.5
    assert evaluation.cut(cut_graded()) == (
        "Warning: a cut reply is not a wrong one."
        " Replies cut at their limit: m 3 of 5 (of the uncut: PCR 50.00, PCS 0.50)."
    )
    sets = {"all": [f"q{k}" for k in range(5)], "not graded": ["q9"]}
    answered = pd.concat([cut_graded(), cut_graded().head(1).assign(item="q9")])
    shown = evaluation.answer_health(answered, sets, cut_graded()).set_index(["row", "column"])
    mine = shown.loc["m, all"]
    assert mine.loc["cut off at the limit, %", "value"] == 60
    assert mine.loc["PCR of the uncut", ["value", "n", "unscored"]].tolist() == [50, 2, 0]
    assert mine.loc["PCS of the uncut", "value"] == 0.5
    assert "PCR of the uncut" not in shown.loc["m, not graded"].index
    whole = cut_graded().assign(truncated=False)
    del sets["not graded"]
    assert "PCR of the uncut" not in set(evaluation.answer_health(whole, sets, whole)["column"])


def test_cut_answers_are_told_of_under_each_judge():
    other = cut_graded().assign(value=1, status="graded")
    assert evaluation.cut_by_judge({"one": cut_graded(), "two": other}).endswith(
        "m, judge one 3 of 5 (of the uncut: PCR 50.00, PCS 0.50);"
        " m, judge two 3 of 5 (of the uncut: PCR 100.00, PCS 1.00)."
    )


# Graded examples for judges (Figures 13 and 14).


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
    items = pd.DataFrame({"item": list("abcd"), "fits": [["x"], ["x", "y"], ["x"], ["y"]]})
    found = pd.DataFrame({"value": ["x", "y", "y", None], "status": ["graded"] * 3 + ["unparsed"]})
    assert study.overlap(items, found)["value"] == pytest.approx(2 / 3)
    asked = sources.load("cancer_myth_questions_sample")
    assert [fit[0] for fit in asked["fits"]] == asked["category"].tolist()
    assert set(asked["fits"].explode()) == set(data.CATEGORIES)
