"""The second version's mitigations over scripted models: items, agents, optimiser, exams."""

import asyncio
import itertools
import json

import pandas as pd
import pytest

from bedside.asking import models, registry
from bedside.asking.registry import StopRun
from bedside.judging import judges
from bedside.papers.cancer_myth import data, study
from bedside.papers.cancer_myth.v2 import methods, optimiser, scores
from bedside.papers.cancer_myth.v2.agents import multi_agent
from bedside.papers.cancer_myth.v2.items import split
from conftest import SILENT, completion, with_fields

ITEMS = pd.DataFrame({"item": ["q1", "q2", "q3"], "question": ["one?", "two?", "three?"]})


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "04_mitigation")


def told(**said):
    return completion(json.dumps(said))


def test_no_reported_item_is_trained_on(run):
    items = data.questions(run)
    train, reported = split(items, 8, 24, run)
    assert [len(train), len(reported)] == [8, 24] and not {*train["item"]} & {*reported["item"]}
    assert len(split(items, 8, 0, run)[1]) == len(items) - 8
    pd.testing.assert_frame_equal(split(items, 8, 24, run)[1], reported)
    assert [len(part) for part in split(items.head(5), 8, 0, run)] == [2, 3]  # half at most


# ---- agents


TEAMS = [{"name": "first", "members": ["a GP", "a nurse"]}]
TEAMS += [{"name": "last", "members": ["an oncologist"]}]
RECRUITED = {"panel": {"experts": ["a nurse", "a surgeon"]}, "teams": {"teams": TEAMS}}


def agents(levels, silent=(), agree_after=1):
    """An endpoint for the agents: complexity by question, notes that name who wrote them.

    silent: (opening of a system message, word of a prompt, reply): who says something else. The
    moderator of a recruited panel agrees from the n-th time on.
    """
    rounds = itertools.count(1)

    def script(n, body):
        system, user = (body["messages"][k]["content"] for k in (0, -1))
        for opening, word, reply in silent:
            if system.startswith(opening) and word in user:
                return reply
        if "response_format" not in body:
            who = system.split(".")[0].removeprefix("You are ")
            return completion("the answer" if who.startswith("a clinician") else f"note by {who}")
        form = body["response_format"]["json_schema"]["name"]
        if form in RECRUITED:
            return told(**RECRUITED[form])
        if system.startswith("You moderate"):
            return told(agreed="yes" if next(rounds) >= agree_after else "no")
        return told(complexity=next(v for k, v in levels.items() if k in user))

    return script


def asked_of(run, items=ITEMS, **how):
    return asyncio.run(multi_agent(run, "served", items, 9, **how))


def test_agents_by_complexity(run, endpoint):
    """Calls by level; an item whose check names none goes no further.

    One clinician: check and answer, 2 calls. Panel: check, 3 views, 3 replies, answer: 8. Teams:
    check, 2 x (2 notes and a report), answer: 8. A monitor is one more.
    """
    levels = {"one?": "basic", "two?": "intermediate", "three?": "advanced", "four?": "huge"}
    endpoint.script = agents(levels)
    four = pd.DataFrame({"item": ["q4"], "question": ["four?"]})
    answers = asked_of(run, pd.concat([ITEMS, four], ignore_index=True))
    assert answers["calls"].tolist() == [2, 8, 8, 1]
    assert answers["complexity"].tolist() == [*levels.values()][:3] + [""]
    assert answers["answer"].tolist() == ["the answer"] * 3 + [""]
    assert answers["reply_status"].tolist() == [""] * 3 + ["complexity unparsed"]
    sent = [[m["content"] for m in b["messages"]] for b in endpoint.bodies]
    last = [user for system, user in sent if system.startswith("You are a clinician")]
    notes = {q: p.count("note by") for p in last for q in levels if p.endswith(q)}
    assert notes == {"one?": 0, "two?": 6, "three?": 2}  # of teams reports, not notes
    # nobody sees another's first view
    assert sum("note by" not in user and "your view" in user for _, user in sent) == 3
    assert asked_of(run, monitor=True)["calls"].tolist() == [3, 9, 9]


STEPS = {"complexity": "You decide", "monitor": "You watch", "answers": "You are a clinician"}


def test_an_agent_without_an_answer_loses_its_item_and_is_named(run, endpoint):
    """Silence of any kind at any step, a question each; another question isn't touched."""
    lost = {f"{step}, {why}": (STEPS[step], SILENT[why]) for step in STEPS for why in SILENT}
    silent = [(opening, f"Number {k}?", r) for k, (opening, r) in enumerate(lost.values())]
    items = pd.DataFrame({"item": [*lost, ""]})
    items["question"] = [f"Number {k}?" for k in items.index]
    endpoint.script = agents({"?": "basic"}, silent)
    made = asked_of(run, items, monitor=True)
    assert made["reply_status"].tolist() == made["item"].tolist()
    assert made["answer"].tolist() == [""] * len(lost) + ["the answer"]


@pytest.mark.parametrize(
    "item, agree_after, rounds, calls", [(1, 1, 5, 9), (1, 2, 5, 12), (1, 9, 2, 12), (2, 1, 5, 6)]
)
def test_a_recruited_panel_discusses_and_teams_work_in_turn(
    run, endpoint, item, agree_after, rounds, calls
):
    """Panel: check, recruiting, 2 views, then 2 replies and the moderator a round, report, answer.

    Teams: check, recruiting, a note and a report, the last team's report, answer.
    """
    level = ["", "intermediate", "advanced"][item]
    endpoint.script = agents({"?": level}, agree_after=agree_after)
    asked = ITEMS[item : item + 1].reset_index(drop=True)
    (made,) = asked_of(run, asked, rounds=rounds).itertuples()
    assert (made.calls, made.complexity, made.answer) == (calls, level, "the answer")
    second, last = (b["messages"][-1]["content"] for b in endpoint.bodies[-2:])
    if level == "advanced":
        assert "the lead of first, a GP:" in second and "a nurse (first):" not in second
        assert last.index("the lead of first") < last.index("the lead of last")
    else:
        assert "the moderator of the discussion:" in last and "a nurse:" not in last


@pytest.mark.parametrize("few, n", [(2, 2), (0, 3)])
def test_agents_get_the_first_few_questions_and_other_methods_all(run, endpoint, few, n):
    endpoint.script = agents({"?": "basic"})
    asked = methods.answered(run, {"served": "Be careful."}, {"Cancer-Myth": ITEMS}, few, 9)
    sizes = {method: len(rows) for method, rows in asyncio.run(asked).items()}
    others = dict.fromkeys(("plain", "precautionary", "gepa"), 3)
    assert sizes == others | {"multi_agent": n, "multi_agent_monitor": n}


# ---- the optimiser of instructions

TRAIN = pd.DataFrame({"item": [f"t{i}" for i in range(6)], "kind": ["myth"] * 4 + ["plain"] * 2})
TRAIN["question"], TRAIN["correction"] = "train " + TRAIN["item"] + "?", "what is true"


@pytest.fixture
def optimise(run, endpoint, monkeypatch):
    """A function that optimises; answers to one instruction, which reflections propose, are good.

    A judge calls 'good' right, and everything else wrong.
    """

    async def grade(frame, judge, question, ask, **_):
        value = [question.values[-1 if a == "good" else 0] for a in frame["answer"]]
        given = {"status": "graded", "value": pd.Series(value, dtype=object), "raw": ""}
        return pd.DataFrame({"item": frame["item"].to_numpy(), **given})

    def made(proposal, budget=20):
        def script(n, body):
            if "response_format" in body:
                return told(instruction=proposal) if proposal else completion("not JSON")
            return completion("good" if "careful" in body["messages"][0]["content"] else "bad")

        endpoint.script = script
        known = dict.fromkeys(("myth", "plain"), study.Known())
        how = {"budget": budget, "max_tokens": 9}
        return asyncio.run(optimiser.optimise(run, "served", TRAIN, known, **how))

    monkeypatch.setattr(judges, "grade", grade)
    return made


def test_the_optimiser_keeps_what_scores_better(run, endpoint, optimise):
    found = optimise("Be careful.")
    assert (found.instruction, found.status) == ("Be careful.", "improved")
    assert (found.start, found.best, found.unusable) == (0.0, 1.0, 0) and found.proposals >= 1
    (*_, asked) = next(b for b in endpoint.bodies if "response_format" in b)["messages"]
    assert optimiser.SEED_INSTRUCTION in asked["content"] and "what is true" in asked["content"]
    before, run.mode = len(endpoint.bodies), "replay"
    assert optimise("Be careful.") == found and len(endpoint.bodies) == before  # all is recorded


@pytest.mark.parametrize(
    "proposal, budget, status",
    [
        ("Be kind.", 14, "nothing better found"),
        ("", 14, "no usable proposal"),
        ("Be careful.", 6, "budget used up before the first proposal"),
    ],
)
def test_an_optimiser_that_finds_nothing_says_why(optimise, proposal, budget, status):
    found = optimise(proposal, budget)
    assert (found.status, found.instruction) == (status, optimiser.SEED_INSTRUCTION)
    assert found.start == found.best and found.calls >= 6
    assert found.unusable == (0 if proposal else found.proposals)


def test_a_budget_used_up_in_the_optimiser_stops_the_run(run, optimise, monkeypatch):
    """GEPA goes on after exceptions; it must not swallow a refused key or a budget."""
    dear = {"usd_per_million_in": 1e3, "usd_per_million_out": 1e3}
    monkeypatch.setitem(registry.entries(), "served", with_fields("served", **dear))
    run.budget_usd = 0.6
    with pytest.raises(StopRun, match="BUDGET_USD"):
        optimise("Be kind.", 400)
    run.budget_usd, run.mode = None, "replay"
    with pytest.raises(models.MissingRecording):
        optimise("Be kind, too.", 400)  # a reflection that isn't recorded


# ---- exams


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
