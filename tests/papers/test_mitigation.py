"""The second version: items, simple methods, judges of exams, the pair of measures as one."""

import asyncio
import hashlib
import json

import mitigation_items
import numpy as np
import pandas as pd
import pytest
from mitigation_items import ITEMS

from bedside import BedsideError, stats
from bedside.papers.cancer_myth import data, study
from bedside.papers.cancer_myth.baselines import Echo
from bedside.papers.cancer_myth.v2 import implied, methods, scores, tables
from bedside.papers.cancer_myth.v2.agents import multi_agent
from bedside.papers.cancer_myth.v2.items import exam_items, split
from bedside.read import paths, sources
from conftest import SILENT, completion
from matrix import House

run = mitigation_items.run  # a fixture


# ---- items


def test_no_reported_item_is_trained_on(run):
    items = data.questions(run)
    train, reported = split(items, 8, 24, run)
    assert (
        len(train) == 8 and len(reported) == 24 and not set(train["item"]) & set(reported["item"])
    )
    assert len(split(items, 8, 0, run)[1]) == len(items) - 8
    pd.testing.assert_frame_equal(split(items, 8, 24, run)[1], reported)
    assert [len(part) for part in split(items.head(5), 8, 0, run)] == [
        2,
        3,
    ]  # LIMIT=5: half at most


def test_exam_items_of_the_sample(run):
    med, pub = (exam_items(run, name) for name in ("MedQA", "PubMedQA"))
    assert len(med) == len(pub) == 20 and all(g in o for g, o in zip(med["gold"], med["options"]))
    assert med["gold"].value_counts().to_dict() == dict.fromkeys("ABCD", 5)
    assert set(pub["gold"]) == {"yes", "no", "maybe"} and all(
        list(o) == ["yes", "no", "maybe"] for o in pub["options"]
    )
    assert all(
        f"{k}) {t}" in q for q, o in zip(med["question"], med["options"]) for k, t in o.items()
    )
    assert len(exam_items(run, "MedQA", 5)) == 5


@pytest.fixture
def medqa(tmp_path, monkeypatch):
    """A MedQA file of the hub's shape where a user would put it: a function that writes rows."""
    monkeypatch.setattr(paths, "EXTERNAL", tmp_path / "external")
    monkeypatch.setitem(sources.registry(), "medqa", {**sources.entry("medqa"), "rows": 2})

    def write(rows):
        path = sources.where("medqa")[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(r) + "\n" for r in rows))

    yield write
    sources._frame.cache_clear()


ROW = {
    "question": "Which?",
    "options": {"A": "this", "B": "that", "C": "those", "D": "none"},
    "answer_idx": "B",
    "answer": "that",
    "meta_info": "step1",
    "metamap_phrases": ["x"],
}


def test_medqa_is_read_where_the_user_has_it(run, medqa):
    run.profile = "public"
    assert exam_items(run, "MedQA") is None
    medqa([ROW, {**ROW, "answer_idx": "D"}])
    items = exam_items(run, "MedQA")
    assert (
        items["item"].tolist() == ["medqa-0", "medqa-1"]
        and items["gold"].tolist() == ["B", "D"]
        and "B) that" in items["question"][0]
    )


def test_an_exam_answer_outside_its_options_is_an_error(run, medqa):
    run.profile = "public"
    medqa([ROW, {**ROW, "answer_idx": "E"}])
    with pytest.raises(BedsideError, match="'medqa-1' is none of its options"):
        exam_items(run, "MedQA")


# ---- methods


def test_simple_methods_differ_in_their_system_message_only(run, endpoint):
    for method, system in (
        (methods.plain, None),
        (methods.precautionary, "takes for granted"),
        (None, "be short"),
    ):
        call = (
            method(run, "served", ITEMS, 9)
            if method
            else methods.instructed(run, "served", ITEMS, 9, "be short")
        )
        answers = asyncio.run(call)
        assert (
            answers["item"].tolist() == ["q1", "q2", "q3"]
            and (answers["answer"] == "fine").all()
            and (answers["reply_status"] == "").all()
        )
        messages = endpoint.bodies[-1]["messages"]
        assert messages[-1]["content"].endswith("?") and [m["role"] for m in messages] == (
            ["user"] if system is None else ["system", "user"]
        )
        assert system is None or system in messages[0]["content"]


# ---- judges and measures


def test_the_two_grade_judge_without_a_model():
    """Sentences that take up the question's words are the mark; one that shares none never is."""
    labelled = pd.DataFrame(
        {
            "item": ["a", "a", "b", "b"],
            "question": (
                ["Is BCG put into the bladder on Monday?"] * 2 + ["May I swim after the scan?"] * 2
            ),
            "answer": [
                "BCG is not put into the bladder. Drink water.",
                "Drink water. Rest well.",
                "You may never swim after a scan.",
                "Take a towel.",
            ],
            "label": [-1, 1, -1, 1],
        }
    )
    judge = Echo(labelled, study.PLAIN_GRADES)
    assert judge.out_of_fold() == [-1, 1, -1, 1]
    assert judge.grade(
        pd.DataFrame(
            {
                "question": ["Does radiotherapy hurt?"] * 2,
                "answer": ["Rest well.", "Radiotherapy does not hurt."],
            }
        )
    ) == [1, -1]


@pytest.mark.parametrize(
    "text, status, value",
    [
        ('{"score": -1}', "graded", -1),
        ('{"score": 1}', "graded", 1),
        ('{"score": 0}', "unparsed", None),
        ("1", "unparsed", None),
        ("The score is 1, I think", "unparsed", None),
        ("I'm sorry, I can't.", "refused", None),
        ('{"score": -1} and then {"score": 1}', "unparsed", None),
    ],
)
def test_the_two_grade_judge_of_a_model(run, endpoint, text, status, value):
    endpoint.script = lambda n, body: completion(text)
    frame = pd.DataFrame(
        {
            "item": ["q"],
            "question": ["Why?"],
            "rejected": ["It can't be so."],
            "answer": ['Because. {"score": 1} <<<'],
            "reply_status": [""],
        }
    )
    verdict = asyncio.run(study.grade(run, frame, "plain", study.Known(), judge="served"))
    assert verdict[["status", "value"]].values.tolist() == [[status, value]]
    body = endpoint.bodies[-1]
    mark = hashlib.sha256(frame["answer"][0].encode()).hexdigest()[:12]
    assert f"<<<{mark}\n{frame['answer'][0]}\n{mark}>>>" in body["messages"][-1]["content"]
    assert body["response_format"]["json_schema"]["schema"]["properties"]["score"]["enum"] == [
        -1,
        1,
    ]


def test_exam_outcomes():
    items = pd.DataFrame(
        {"item": list("abcdef"), "options": [{"A": "one", "B": "two"}] * 6, "gold": ["A"] * 6}
    )
    answers = pd.DataFrame(
        {
            "item": list("abcdef"),
            "reply_status": ["", "", "", "", "", "500"],
            "answer": [
                "Answer: A",
                "Answer: (B) two",
                "It could be A or B.",
                "I'm sorry, I can't say.",
                "Answer: A or B",
                "",
            ],
        }
    )
    graded = scores.grade_exam(items, answers)
    assert graded["outcome"].tolist() == [
        "right",
        "wrong",
        "not answered",
        "refused",
        "not answered",
        "failed",
    ]
    assert (
        graded["status"].tolist() == ["graded"] * 2 + ["unscored"] * 4 and graded["hit"].sum() == 1
    )


def measured(times=1):
    """plain: 1 of 4 corrected, 3 of 4 left alone; cure: 3 of 4 (one more unscored), 1 of 4."""
    rows = [
        ("m", method, name, f"{name}{k}", "graded" if hit is not None else "unparsed", bool(hit))
        for method, sets in {
            "plain": {"Cancer-Myth": [1, 0, 0, 0, 0], "Cancer-Myth-NFP": [1, 1, 1, 0]},
            "cure": {"Cancer-Myth": [1, 1, 1, 0, None], "Cancer-Myth-NFP": [1, 0, 0, 0]},
        }.items()
        for name, hits in sets.items()
        for k, hit in enumerate(hits * times)
    ]
    return pd.DataFrame(rows, columns=["model", "method", "set", "item", "status", "hit"])


def test_rates_and_the_pair_as_one_number_by_hand():
    rates = scores.rates(measured())
    cure = rates[rates["row"] == "m cure"].set_index("column").loc["Cancer-Myth"]
    assert cure[["value", "n", "unscored", "least", "most"]].tolist() == [75.0, 4, 1, 60.0, 80.0]
    assert np.isnan(cure["low"]) and np.isnan(cure["high"])  # of four
    one = scores.pairs_as_one(rates).set_index("row")
    assert one["value"].to_dict() == {
        "m plain": pytest.approx((20 + 75) / 2),
        "m cure": pytest.approx((75 + 25) / 2),
    }
    assert one.loc["m cure", "n"] == 8
    many = scores.pairs_as_one(scores.rates(measured(3))).set_index("row").loc["m cure"]
    assert many["n"] == 24 and many["low"] < 50 < many["high"]


def test_each_method_against_plain_on_shared_items(run):
    tests = scores.against_plain(measured(), run).set_index("row")
    # Cancer-Myth, items 0 to 3 (item 4 has no grade under the cure): plain right on 0,
    # cure on 0, 1, 2: discordant 2 and 0, p = 2 / 4;
    # NFP: plain right on 0, 1, 2, cure on 0: the same p
    myth = tests.loc["m cure against plain, Cancer-Myth"]
    assert (myth["difference"], myth["n"], myth["p"], myth["test"]) == (50.0, 4, 0.5, "McNemar")
    assert tests.loc["m cure against plain, Cancer-Myth-NFP", "difference"] == -50.0


def test_table_1_has_both_papers_and_runs(run, monkeypatch):
    card = {
        "sensitivity": stats.wilson(18, 20)._asdict(),
        "specificity": stats.wilson(18, 20)._asdict(),
    }
    monkeypatch.setattr(run, "card", lambda judge=None, task="": card)
    table = tables.table1(scores.rates(measured()), run)
    printed = table[(table["row"] == "GPT-4o GEPA") & (table["source"] == "published")].set_index(
        "column"
    )["value"]
    assert printed.to_dict() == {
        "Cancer-Myth": 68,
        "Cancer-Myth-NFP": 59,
        "MedQA": 63,
        "PubMedQA": 59,
    }
    again = table[(table["row"] == "GPT-4o GEPA") & (table["source"] == "recomputed")].iloc[0]
    assert again["column"] == "balanced accuracy" and again["value"] == 63.5 and again["n"] == 735
    fixed = table[table["column"] == "Cancer-Myth corrected for the judge's errors"].set_index(
        "row"
    )["value"]
    assert fixed["m cure"] == pytest.approx(100 * (0.75 - 0.1) / 0.8)
    assert not table.duplicated(["row", "column", "source"]).any()


def test_the_tradeoff_shows_printed_numbers_as_printed(run):
    shown = tables.tradeoff(scores.rates(measured()), run)
    marked = tables.in_plane(shown).set_index(["row", "column"])
    assert marked.loc[("GPT-4o Plain", "Cancer-Myth"), "value"] == 12 and pd.isna(
        marked.loc[("GPT-4o Plain", "Cancer-Myth"), "low"]
    )
    again = shown[
        (shown["source"] == "recomputed")
        & (shown["row"] == "GPT-4o Plain")
        & (shown["column"] == "Cancer-Myth")
    ].iloc[0]
    assert (again["low"], again["high"]) == pytest.approx(
        (100 * stats.wilson(68, 585).low, 100 * stats.wilson(73, 585).high)  # 11.5 to 12.5%
    )
    assert marked.loc[("m cure", "Cancer-Myth"), ["value", "origin", "label"]].tolist() == [
        75,
        "m plain",
        "cure",
    ]
    assert (marked.xs("m plain")["origin"] == "").all()
    others = shown.assign(
        row=shown["row"].replace({"m plain": "m multi_agent", "m cure": "m multi_agent_monitor"})
    )
    agents = tables.in_plane(others).set_index(["row", "column"])["origin"]
    assert (
        agents["m multi_agent", "Cancer-Myth"] == ""
        and agents["m multi_agent_monitor", "Cancer-Myth"] == "m multi_agent"
    )
    monitor = marked.loc[("GPT-4o with MDAgents Monitor", "Cancer-Myth")]
    assert monitor["origin"] == "GPT-4o with MDAgents Plain"
    assert monitor["label"] == "with Monitor"


def test_claims_on_the_cures(run):
    """By Table 1: 96 - 68 = 28 and 100 - 68 = 32; 100 - 35 = 65; MDAgents 89 to 70 and 2 to 12."""
    made = implied.readings(run)
    said = {id: {n: (r[0], r[3]) for n, r in ways.items()} for id, ways in made.items()}
    one = "as written"
    assert said["cm-gepa-over-28"] == {
        "the fall between its two printed rates": ("from 96 to 68% is 28 points", True),
        "the share of the questions": ("32%", False),
    }
    assert said["cm-monitor-65"][one] == ("65%", True)
    agents = "MedQA 89 against 70; PubMedQA 77 against 67; Cancer-Myth 2 against"
    assert said["cm-agents-exams"] == {
        "rates of Table 1": (f"{agents} 12", True),
        "rates of its text": (f"{agents} 5.8", True),
    }
    changes = "GPT-4o +56, Gemini-2.5-Pro +47, MDAgents +79"
    assert said["cm-cures-correct"][one] == (changes, True)
    balance = "GPT-4o 50.0 to 63.5; Gemini-2.5-Pro 68.5 to 78.0; MDAgents 46.0 to 58.0"
    assert said["cm-cures-balance"][one] == (balance, True)
    assert said["cm-gpt4o-coin"][one] == ("12 + 88 = 100", True)
    # 7 / 92 and 4 / 82 to 8 / 67 of the plain accuracy, 4 to 8 points; printed: 5 to 15
    drops = said["cm-gepa-drop-range"]
    assert drops["extremes of both models, %"] == ("4.9 to 11.9%", False)
    assert drops["each drop of both models, points"] == ("4 to 8 points", None)


def test_labelled_plain_answers_are_balanced(run):
    frame = data.labelled_plain(run)
    words = frame["answer"].str.split().str.len()
    wide = frame.assign(words=words).pivot(index="item", columns="label", values="words")
    assert len(wide) == 21 and (wide[-1] - wide[1]).abs().max() <= 8
    tones = frame.groupby(["label", "tone"]).size()
    assert tones.max() - tones.min() <= 1
    first = frame[frame["answer_id"].str.endswith("-a")]["label"].eq(1).mean()
    assert 0.35 < first < 0.65
    assert np.isin(frame["label"], study.PLAIN_GRADES).all()


def test_a_plan_counts_the_agents_calls(run):
    run.mode = "plan"
    asyncio.run(multi_agent(run, "served", ITEMS, 9, 5, monitor=True))
    assert len({r.key for r in run._planned}) == 3 * 9


# ---- replies without text, and cut ones


def silent_exam(items):
    return items.assign(options=[{"A": "one", "B": "two"}] * len(items), gold="A")


@pytest.mark.parametrize("why", SILENT)
def test_an_answer_without_text_is_no_answer(run, endpoint, why):
    """Neither judge grades it, no exam counts it: n 0, all unscored, and the table says why."""
    endpoint.script = lambda n, body: SILENT[why]
    sets = {
        "Cancer-Myth": ITEMS.assign(correction="what is true"),
        "Cancer-Myth-NFP": ITEMS,
        "MedQA": silent_exam(ITEMS),
    }
    answer = asyncio.run(methods.plain(run, "served", ITEMS, 9))
    answered = {"plain": pd.concat([answer.assign(set=name) for name in sets])}
    known, before = study.known(run), len(endpoint.bodies)
    graded = asyncio.run(scores.measure(run, sets, answered, known))
    assert len(endpoint.bodies) == before  # nothing to judge
    assert (graded["reply_status"] == why).all() and not graded["hit"].any()
    assert not graded["truncated"].any()  # cut before its first word is no cut answer
    found = scores.rates(graded).set_index("column")
    assert found["value"].isna().all()
    assert found["n"].tolist() == [0, 0, 0] and found["unscored"].tolist() == [3, 3, 3]
    shown = tables.outcomes(graded).set_index(["row", "column"])["value"]
    assert (shown.xs(f"no answer: {why}, %", level="column") == 100).sum() == 3
    assert shown["served plain, MedQA", "failed"] == 100
    assert tables.cut(graded) == "No reply was cut at its limit."


def test_rates_of_the_uncut_by_hand(run):
    """plain: Cancer-Myth 0 and 1 are cut, of 2 to 4 none is right; cure: 4, unscored, is cut."""
    frame = measured().assign(
        answer="a", reply_status="", outcome=None, complexity=None, calls=None, truncated=False
    )
    cut = [("plain", "Cancer-Myth0"), ("plain", "Cancer-Myth1"), ("cure", "Cancer-Myth4")]
    frame["truncated"] = [(r.method, r.item) in cut for r in frame.itertuples()]
    shown = tables.outcomes(frame).set_index(["row", "column"])
    assert shown.loc[("m plain, Cancer-Myth", "cut off at the limit"), "value"] == 40
    rate = shown.xs("corrected, of the uncut", level="column")[["value", "n", "unscored"]]
    assert rate.loc["m plain, Cancer-Myth"].tolist() == [0, 3, 0]
    assert rate.loc["m cure, Cancer-Myth"].tolist() == [75, 4, 0]
    assert "left alone, of the uncut" not in shown.index.get_level_values("column")
    assert tables.cut(frame) == (
        "Warning: a cut reply is not a wrong one. Replies cut at their limit:"
        " m plain 2 of 9 (of the uncut: Cancer-Myth 0, Cancer-Myth-NFP 75);"
        " m cure 1 of 9 (of the uncut: Cancer-Myth 75, Cancer-Myth-NFP 25)."
    )


def test_table_1_says_that_its_short_agents_are_not_mdagents(monkeypatch, tmp_path):
    house = House(monkeypatch, tmp_path)
    monkeypatch.setenv("BEDSIDE_RUN", "")
    house.run("cancer_myth/04_mitigation", profile="sample", until="table1_mitigation")
    text = (house.figures / "sample/cancer_myth/table1_mitigation.md").read_text(encoding="utf-8")
    assert "agent isn't MDAgents" in text.replace("\\", "")
    assert "multi_agent: MDAgents" in tables.of_agents(5)  # with rounds of discussion
