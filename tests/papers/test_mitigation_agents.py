"""The second version: agents by complexity and recruited panels, over a scripted model."""

import asyncio
import json

import mitigation_items
import pandas as pd
import pytest
from mitigation_items import ITEMS, agents

from bedside.papers.cancer_myth.v2 import methods
from bedside.papers.cancer_myth.v2.agents import multi_agent
from conftest import SILENT, completion

run = mitigation_items.run  # a fixture


# ---- methods


def test_agents_by_complexity(run, endpoint):
    """Calls by level; an item whose check names none goes no further.

    One clinician: check and answer, 2 calls. Panel: check, 3 views, 3 replies, answer: 8. Teams:
    check, 2 x (2 notes and a report), answer: 8.
    """
    endpoint.script = agents(
        {
            "one?": "basic",
            "two?": "intermediate",
            "three?": "advanced",
            "four?": '{"complexity": "huge"}',
        }
    )
    items = pd.concat(
        [ITEMS, pd.DataFrame({"item": ["q4"], "question": ["four?"]})], ignore_index=True
    )
    answers = asyncio.run(multi_agent(run, "served", items, 9, 5)).set_index("item")
    assert answers["calls"].tolist() == [2, 8, 8, 1] and answers["complexity"].tolist() == [
        "basic",
        "intermediate",
        "advanced",
        "",
    ]
    assert (
        answers["answer"].tolist() == ["the answer"] * 3 + [""]
        and answers.loc["q4", "reply_status"] == "complexity unparsed"
    )
    last = {
        q: next(
            b["messages"][-1]["content"]
            for b in endpoint.bodies
            if "You are a clinician" in b["messages"][0]["content"]
            and b["messages"][-1]["content"].endswith(q)
        )
        for q in ("one?", "two?", "three?")
    }
    assert "note by" not in last["one?"] and last["two?"].count("note by") == 6
    assert (
        last["three?"].count("note by") == 2 and "the lead of the treatment team" in last["three?"]
    )  # reports, not notes
    views = [
        b["messages"][-1]["content"]
        for b in endpoint.bodies
        if "note by" not in str(b) and "Give your view" in str(b)
    ]
    assert len(views) == 3  # nobody sees another's first view


def test_the_monitor_sees_the_discussion_and_is_heard(run, endpoint):
    endpoint.script = agents(
        {"?": "intermediate"}, "It takes for granted that all lose their hair."
    )
    plain = asyncio.run(multi_agent(run, "served", ITEMS, 9, 5))
    before = len(endpoint.bodies)
    watched = asyncio.run(multi_agent(run, "served", ITEMS, 9, 5, monitor=True))
    assert (
        len(endpoint.bodies) - before == 2 * 3
    )  # the shared steps are recorded: a monitor and an answer for each item
    assert watched["calls"].tolist() == [9, 9, 9] and plain["calls"].tolist() == [8, 8, 8]
    monitor = next(
        b["messages"][-1]["content"]
        for b in endpoint.bodies
        if b["messages"][0]["content"].startswith("You watch")
    )
    assert monitor.count("note by") == 6
    assert "all lose their hair" in endpoint.bodies[-1]["messages"][-1]["content"]


def test_a_failing_agent_loses_its_item_and_is_named(run, endpoint):
    good = agents({"?": "basic"})
    endpoint.script = lambda n, body: (
        (400, {}, b"{}")
        if body["messages"][0]["content"].startswith("You watch") and "two?" in str(body)
        else good(n, body)
    )
    answers = asyncio.run(multi_agent(run, "served", ITEMS, 9, 5, monitor=True)).set_index("item")
    assert (
        answers["reply_status"].str.startswith("monitor, ").tolist() == [False, True, False]
        and answers.loc["q2", "answer"] == ""
    )


# ---- replies without text, and cut ones


@pytest.mark.parametrize("why", SILENT)
@pytest.mark.parametrize(
    "step, opening",
    [("complexity", "You decide"), ("monitor", "You watch"), ("answers", "You are a clinician")],
)
def test_an_agent_that_says_nothing_loses_its_item(run, endpoint, step, opening, why):
    good = agents({"?": "basic"})
    endpoint.script = lambda n, body: (
        SILENT[why]
        if body["messages"][0]["content"].startswith(opening) and "two?" in str(body)
        else good(n, body)
    )
    answers = asyncio.run(multi_agent(run, "served", ITEMS, 9, 5, monitor=True)).set_index("item")
    assert answers["reply_status"].tolist() == ["", f"{step}, {why}", ""]
    assert answers["answer"].tolist() == ["the answer", "", "the answer"]


def test_a_silent_member_of_the_panel_leaves_no_empty_note(run, endpoint):
    good = agents({"?": "intermediate"})
    endpoint.script = lambda n, body: (
        SILENT["blank"] if "You are a nurse" in body["messages"][0]["content"] else good(n, body)
    )
    answers = asyncio.run(multi_agent(run, "served", ITEMS, 9, 5))
    assert set(answers["reply_status"]) == {"a nurse specialised in cancer care, blank"}


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


def test_a_recruiter_without_words_loses_the_item(run, endpoint):
    endpoint.script = recruiting(1)
    asked = pd.DataFrame({"item": ["q"], "question": ["nobody?"]})
    (made,) = asyncio.run(multi_agent(run, "served", asked, 9, 5, rounds=5)).itertuples()
    assert (made.reply_status, made.answer, made.calls) == ("recruits unparsed", "", 2)


def test_mdagents_as_a_system_of_its_own(run, endpoint):
    endpoint.script = recruiting(1)
    run.models = ["served"]
    made = asyncio.run(methods.as_systems(run, ITEMS, 2, 1, 5, 9))
    assert {b["max_tokens"] for b in endpoint.bodies if "response_format" not in b} <= {5, 9}
    assert made["model"].tolist() == ["served (MDAgents)"] * 2 and made["item"].is_unique
    assert asyncio.run(methods.as_systems(run, ITEMS, 0, 1, 5, 9)).empty
