"""The second version's mitigations over scripted models: items, methods, agents, exams."""

import asyncio
import json

import pandas as pd
import pytest

from bedside.papers.cancer_myth import data, study
from bedside.papers.cancer_myth.baselines import Echo
from bedside.papers.cancer_myth.v2 import methods, scores, tables
from bedside.papers.cancer_myth.v2.agents import multi_agent
from bedside.papers.cancer_myth.v2.items import exam_items, split
from bedside.read import paths, sources
from conftest import SILENT, completion

ITEMS = pd.DataFrame({"item": ["q1", "q2", "q3"], "question": ["one?", "two?", "three?"]})


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "04_mitigation")


# ---- items


def test_no_reported_item_is_trained_on(run):
    items = data.questions(run)
    train, reported = split(items, 8, 24, run)
    assert [len(train), len(reported)] == [8, 24] and not {*train["item"]} & {*reported["item"]}
    assert len(split(items, 8, 0, run)[1]) == len(items) - 8
    pd.testing.assert_frame_equal(split(items, 8, 24, run)[1], reported)
    assert [len(part) for part in split(items.head(5), 8, 0, run)] == [2, 3]  # half at most


@pytest.fixture
def medqa(run, tmp_path, monkeypatch):
    """A function that writes a MedQA file, with these right options, where a user would put it."""
    monkeypatch.setattr(paths, "EXTERNAL", tmp_path / "external")
    monkeypatch.setitem(sources.registry(), "medqa", {**sources.entry("medqa"), "rows": 2})
    row = {"question": "Which?", "options": {"A": "this", "B": "that"}, "answer": "that"}
    row |= {"meta_info": "step1", "metamap_phrases": ["x"]}
    run.profile = "public"

    def write(*right):
        path = sources.where("medqa")[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({**row, "answer_idx": g}) + "\n" for g in right))

    yield write
    sources.forget()


def test_medqa_is_read_where_the_user_has_it(run, medqa):
    assert exam_items(run, "MedQA") is None
    medqa("B", "A")
    items = exam_items(run, "MedQA")
    assert items["item"].tolist() == ["medqa-0", "medqa-1"] and items["gold"].tolist() == ["B", "A"]
    assert "B) that" in items["question"][0]


# ---- methods


def test_simple_methods_differ_in_their_system_message_only(run, endpoint):
    def instructed(*given):
        return methods.instructed(*given, "be short")

    systems = []
    for method in (methods.plain, methods.precautionary, instructed):
        answers = asyncio.run(method(run, "served", ITEMS, 9))
        assert answers["item"].tolist() == ["q1", "q2", "q3"]
        assert (answers["answer"] == "fine").all() and (answers["reply_status"] == "").all()
        *system, user = endpoint.bodies[-1]["messages"]
        assert user["role"] == "user" and user["content"].endswith("?")
        systems.append([m["content"] for m in system])
    assert systems[0] == [] and len(systems[1]) == 1 and "be short" in systems[2][0]


# ---- agents


def agents(levels, monitor_text="nothing wrong", silent=()):
    """An endpoint for the agents: complexity by question, notes that name who wrote them.

    silent: (opening of a system message, word of a prompt, reply): who says something else.
    """

    def script(n, body):
        system, user = (m["content"] for m in body["messages"])
        for opening, word, reply in silent:
            if system.startswith(opening) and word in user:
                return reply
        if "response_format" in body:
            level = next(v for k, v in levels.items() if k in user)
            return completion(level if level.startswith("{") else json.dumps({"complexity": level}))
        if system.startswith("You watch"):
            return completion(monitor_text)
        if system.startswith("You are a clinician"):
            return completion("the answer")
        return completion("note by " + system.split(".")[0].removeprefix("You are "))

    return script


def asked_of(run, items=ITEMS, **how):
    return asyncio.run(multi_agent(run, "served", items, 9, 5, **how))


def prompts(endpoint, opening):
    """The prompts of those whose system message begins so."""
    messages = [[m["content"] for m in b["messages"]] for b in endpoint.bodies]
    return [user for system, user in messages if system.startswith(opening)]


def test_agents_by_complexity(run, endpoint):
    """Calls by level; an item whose check names none goes no further.

    One clinician: check and answer, 2 calls. Panel: check, 3 views, 3 replies, answer: 8. Teams:
    check, 2 x (2 notes and a report), answer: 8.
    """
    levels = {"one?": "basic", "two?": "intermediate", "three?": "advanced"}
    endpoint.script = agents(levels | {"four?": '{"complexity": "huge"}'})
    four = pd.DataFrame({"item": ["q4"], "question": ["four?"]})
    answers = asked_of(run, pd.concat([ITEMS, four], ignore_index=True))
    assert answers["calls"].tolist() == [2, 8, 8, 1]
    assert answers["complexity"].tolist() == ["basic", "intermediate", "advanced", ""]
    assert answers["answer"].tolist() == ["the answer"] * 3 + [""]
    assert answers["reply_status"].tolist() == [""] * 3 + ["complexity unparsed"]
    last = prompts(endpoint, "You are a clinician")
    one, two, three = (next(p for p in last if p.endswith(q)) for q in ITEMS["question"])
    assert "note by" not in one and two.count("note by") == 6
    assert three.count("note by") == 2  # reports, not notes
    views = [p for p in prompts(endpoint, "You are") if "note by" not in p and "your view" in p]
    assert len(views) == 3  # nobody sees another's first view


STEPS = {"complexity": "You decide", "monitor": "You watch", "answers": "You are a clinician"}


@pytest.mark.parametrize("step", STEPS)
def test_an_agent_without_an_answer_loses_its_item_and_is_named(run, endpoint, step):
    """Silence of any kind, a question each, and a failed call; another question isn't touched."""
    why = [*SILENT, "400"]
    items = pd.DataFrame({"item": [*why, "whole"]})
    items["question"] = [f"Number{k} ?" for k in range(len(items))]
    replies = [*SILENT.values(), (400, {}, b"{}")]
    silent = [(STEPS[step], f"Number{k} ", reply) for k, reply in enumerate(replies)]
    endpoint.script = agents({"?": "basic"}, silent=silent)
    made = asked_of(run, items, monitor=True).set_index("item")
    assert made.loc["whole", ["answer", "reply_status"]].tolist() == ["the answer", ""]
    assert (made["answer"].drop("whole") == "").all()
    for w in SILENT:
        assert made.loc[w, "reply_status"] == f"{step}, {w}"
    failed = made.loc["400", "reply_status"]
    assert failed.startswith(f"{step}, ") and "400" in failed


def recruiting(agree_after):
    """An endpoint for MDAgents as published; the moderator agrees from the n-th time on."""
    asked = []

    def script(n, body):
        system, user = (m["content"] for m in body["messages"])
        if "response_format" not in body:
            who = system.split(" Texts")[0].removeprefix("You are ").rstrip(".")
            return completion("the answer" if who.startswith("a clinician") else f"note by {who}")
        form = body["response_format"]["json_schema"]["name"]
        if form == "panel":
            blank = "nobody" in user
            return completion(json.dumps({"experts": [" "] if blank else ["a nurse", "a surgeon"]}))
        if form == "teams":
            teams = [("first", ["a GP", "a nurse"]), ("last", ["an oncologist"])]
            named = [{"name": name, "members": mine} for name, mine in teams]
            return completion(json.dumps({"teams": named}))
        if system.startswith("You moderate"):
            asked.append(user)
            return completion(json.dumps({"agreed": "yes" if len(asked) >= agree_after else "no"}))
        level = "advanced" if "three" in user else "basic" if "one" in user else "intermediate"
        return completion(json.dumps({"complexity": level}))

    return script


@pytest.mark.parametrize("agree_after, rounds, calls", [(1, 5, 9), (2, 5, 12), (9, 2, 12)])
def test_a_recruited_panel_discusses_until_it_agrees(run, endpoint, agree_after, rounds, calls):
    """Check, recruiting, 2 views, then 2 replies and the moderator a round, report and answer."""
    endpoint.script = recruiting(agree_after)
    two = ITEMS[ITEMS["item"] == "q2"]
    (made,) = asyncio.run(multi_agent(run, "served", two, 9, 5, rounds=rounds)).itertuples()
    assert (made.calls, made.complexity, made.answer) == (calls, "intermediate", "the answer")
    last = endpoint.bodies[-1]["messages"][-1]["content"]
    assert "the moderator of the discussion:" in last and "a nurse:" not in last


def test_recruited_teams_work_one_after_the_other(run, endpoint):
    """Check, recruiting, a note and a report, the last team's report, answer: 6 calls."""
    endpoint.script = recruiting(1)
    three = ITEMS[ITEMS["item"] == "q3"]
    (made,) = asyncio.run(multi_agent(run, "served", three, 9, 5, rounds=5)).itertuples()
    assert (made.calls, made.complexity) == (6, "advanced")
    second, answer = (b["messages"][-1]["content"] for b in endpoint.bodies[-2:])
    assert "the lead of first, a GP:" in second and "a nurse (first):" not in second
    assert answer.index("the lead of first") < answer.index("the lead of last")


def test_mdagents_as_a_system_of_its_own(run, endpoint):
    endpoint.script = recruiting(1)
    run.models = ["served"]
    made = asyncio.run(methods.as_systems(run, ITEMS, 2, 1, 5, 9))
    assert {b["max_tokens"] for b in endpoint.bodies if "response_format" not in b} <= {5, 9}
    assert made["model"].tolist() == ["served (MDAgents)"] * 2 and made["item"].is_unique
    assert asyncio.run(methods.as_systems(run, ITEMS, 0, 1, 5, 9)).empty


# ---- judges and exams


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


EXAM = {
    "Answer: A": "right",
    "Answer: (B) two": "wrong",
    "It could be A or B.": "not answered",
    "I'm sorry, I can't say.": "refused",
    "Answer: A or B": "not answered",
    "": "failed",
}


def test_exam_outcomes():
    items = pd.DataFrame({"item": [*"abcdef"], "gold": "A"})
    items["options"] = [{"A": "one", "B": "two"}] * 6
    answers = pd.DataFrame({"item": [*"abcdef"], "answer": [*EXAM]})
    answers["reply_status"] = answers["answer"].map(lambda a: "" if a else "500")
    graded = scores.grade_exam(items, answers)
    assert graded["outcome"].tolist() == [*EXAM.values()] and graded["hit"].sum() == 1
    assert graded["status"].tolist() == ["graded"] * 2 + ["unscored"] * 4
    cut = scores.grade_exam(items, answers.assign(truncated=True))
    assert cut["outcome"].iloc[0] == "not answered"  # the last option stated counts


def test_an_answer_without_text_is_no_answer(run, endpoint):
    """Neither judge grades it, no exam counts it: n 0, all unscored, and the table says why."""
    items = pd.DataFrame({"item": [*SILENT], "question": [f"{w} ?" for w in SILENT]})
    endpoint.script = lambda n, body: next(
        reply for w, reply in SILENT.items() if w in body["messages"][-1]["content"]
    )
    exam = items.assign(options=[{"A": "one", "B": "two"}] * len(items), gold="A")
    sets = {"Cancer-Myth": items.assign(correction="c"), "Cancer-Myth-NFP": items, "MedQA": exam}
    answer = asyncio.run(methods.plain(run, "served", items, 9))
    answered = {"plain": pd.concat([answer.assign(set=name) for name in sets])}
    before = len(endpoint.bodies)
    graded = asyncio.run(scores.measure(run, sets, answered, study.known(run)))
    assert len(endpoint.bodies) == before  # nothing to judge
    assert (graded["reply_status"] == graded["item"]).all() and not graded["hit"].any()
    assert not graded["truncated"].any()  # cut before its first word is no cut answer
    found = scores.rates(graded).set_index("column")
    assert found["value"].isna().all() and found["n"].eq(0).all() and found["unscored"].eq(5).all()
    shown = tables.outcomes(graded).set_index(["row", "column"])["value"]
    for w in SILENT:
        assert shown.xs(f"no answer: {w}, %", level="column").tolist() == [20] * 3
    assert shown["served plain, MedQA", "failed"] == 100
