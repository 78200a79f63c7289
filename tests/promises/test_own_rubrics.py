"""Own studies by a rubric: repeats, several judges, labels, conversations, by hand."""

import asyncio
import json
import re
import threading
from collections import Counter

import pandas as pd
import pytest

from bedside import BedsideError, explorer, own
from bedside.asking import registry
from bedside.own import steps
from bedside.read import paths, prompts, questions
from calling import answered_in_batches
from conftest import apart, completion
from own_studies import compared

RUBRIC = """id,points,levels,group,criterion
a,5,,accuracy,names a
b,3,,accuracy,names b
c,2,,communication,names c
d,-4,,safety,names d
harm,,none|mild|severe,safety,harm to who follows it
"""
MET = [
    "a b; harm 0",
    "a c; harm 1",
    "a d; harm 2",
]  # of 10 points: 8, 7 and 1


def said(body, seen):
    """What the endpoint's models reply: `a` answers in turn as MET, `b` and `c` judge."""
    text = body["messages"][-1]["content"]
    if body["model"] == "a-1":
        n = int(re.search(r"number (\d+)", text)[1])
        seen[n] += 1
        return f"Q{n}, {seen[n]}: {'a b c; harm 0' if n == 0 else MET[(seen[n] - 1) % 3]}"
    answer = re.search(r"Q(\d+), \d: ([abcd ]+); harm (\d)", text)
    if "criterion_1:" not in text:
        name = text.rpartition("Criterion:")[2].split("\n")[2]
        stated = verdict(body["model"], answer, name)
        return "Perhaps." if stated is None else json.dumps({"score": stated})
    names = re.findall(r"criterion_\d:\n\n?<<<.*\n(.*)", text)
    stated = {f"criterion_{n}": verdict(body["model"], answer, k) for n, k in enumerate(names, 1)}
    return json.dumps({k: "perhaps" if v is None else v for k, v in stated.items()})


def verdict(judge, answer, name):
    """What a judge states on a criterion, None if it can't."""
    if name.startswith("harm"):
        return int(answer[3])
    met = name[-1] in answer[2].split()
    if judge == "c-1":  # c never sees b, and can't tell c of question 9
        met = met and name[-1] != "b"
        if name[-1] == "c" and answer[1] == "9":
            return None
    return int(met)


@pytest.fixture
def service(tmp_path, monkeypatch, endpoint):
    """An endpoint for calls and batches, with ten questions and the rubric beside it."""
    apart(monkeypatch, tmp_path)
    monkeypatch.setattr(paths, "BATCHES", tmp_path / "batches")
    rows = "".join(f"q{n},What is number {n}?\n" for n in range(10))
    (tmp_path / "mine.csv").write_text("item,question\n" + rows)
    (tmp_path / "rubric.csv").write_text(RUBRIC)
    for name in "abc":
        fields = {"provider": "test", "base_url": endpoint.url, "model": f"{name}-1"}
        monkeypatch.setitem(registry.entries(), name, registry.as_model(name, fields))
    endpoint.seen = Counter()
    one_at_a_time = threading.Lock()

    def answer(body):
        with one_at_a_time:
            return completion(said(body, endpoint.seen))

    endpoint.answer, endpoint.script = answer, lambda n, body: answer(body)
    return endpoint


def given(tmp_path, **more):
    asked = {"models": "a", "judge": "b c", "repeats": 3, "criteria": "each"}
    asked |= {"rubric": str(tmp_path / "rubric.csv")}
    return asked | more


def of(rows):
    return rows.set_index("column")[["value", "n", "unscored"]].astype(float)


@pytest.mark.parametrize("criteria, calls", [("each", 330), ("", 90)])
def test_a_rubric_two_judges_and_three_repeats_by_hand(
    criteria, calls, service, tmp_path, monkeypatch, capsys
):
    """One by one or all in one call, which is the default: the numbers are the same."""
    mine, asked = str(tmp_path / "mine.csv"), given(tmp_path, criteria=criteria)
    steps.plan(own.Own(mine, mode="plan", **asked))
    # 10 questions 3 times, and (5 criteria of) each of the 30 answers for each of two judges
    assert f"{calls} calls in all" in capsys.readouterr().out and not service.bodies
    found = compared(mine, **asked)
    assert len(service.bodies) == calls
    study = own.Own(mine, mode="replay", **asked)
    scores = of(found.scores)
    # b: questions 1 to 9 have .8 + .7 + .1, question 0 three times 1: (9 * 1.6 + 3) / 30
    assert scores.loc["all: score, % (b)"].tolist() == pytest.approx([58, 30, 0])
    # c: 1 to 8 have .5 + .7 + .1, 0 three times .7; 9 is unscored: (8 * 1.3 + 2.1) / 27
    assert scores.loc["all: score, % (c)"].tolist() == pytest.approx([1250 / 27, 27, 3])
    bounds = found.scores[found.scores["column"] == "all: score, % (c)"].iloc[0]
    # 9's answers have at least .5, .5 and .1, and .2 more each if c is met
    assert [bounds["worst"], bounds["best"]] == pytest.approx([1360 / 30, 1420 / 30])
    again = of(own.repeats(study, found.verdicts))
    # b: the worst of 1 to 9 is .1: (9 * .1 + 1) / 10; b, c and d of nine questions vary, of 4 * 10
    assert again.loc["worst of 3: score, % (b)"].tolist() == pytest.approx([19, 10, 0])
    assert again.loc["criteria met both ways, % (b)"].tolist() == pytest.approx([67.5, 40, 0])
    # c: (8 * .1 + .7) / 9; c and d of eight questions and d of question 9, of 39
    assert again.loc["worst of 3: score, % (c)"].tolist() == pytest.approx([150 / 9, 9, 1])
    both = again.loc["criteria met both ways, % (c)"].tolist()
    assert both == pytest.approx([1700 / 39, 39, 1])
    # within: nine sums of squares of .8, .7, .1 around their mean 1.6 / 3, over 30 - 10
    within = 9 * (0.64 + 0.49 + 0.01 - 1.6**2 / 3) / 20
    assert again.loc["variance within a question (b)", "value"] == pytest.approx(within)
    assert again.loc["variance between questions (b)", "value"] == 0
    met = of(own.criteria(study, found.verdicts))["value"]
    # b: a in all 30 and b in 9 + 3 of them; c in 9 + 3; d in 9
    assert met["accuracy: met, % (b)"] == pytest.approx(100 * 42 / 60)
    assert met["communication: met, % (b)"] == pytest.approx(40)
    assert met["safety (negative points): met, % (b)"] == pytest.approx(30)
    levels = [met[f"harm: {level}, % (b)"] for level in ("none", "mild", "severe")]
    assert levels == pytest.approx([40, 30, 30])
    apart = of(own.disagreement(study, found.verdicts))
    # on b in the 12 answers that have it, of 120 criteria but for three that c couldn't tell
    assert apart.loc["judges disagree, %"].tolist() == pytest.approx([1200 / 117, 117, 3])
    kept = pd.read_csv(study.folder / "criteria.csv")
    assert len(kept) == 300 and kept["judge"].value_counts().to_dict() == {"b": 150, "c": 150}
    whole = own.compared("mine").studies[0]  # by the first judge
    assert whole.replies["score"].mean() == pytest.approx(0.58) and len(whole.replies) == 30
    assert explorer.read(explorer.html(own.document(found.own, found.verdicts)))[0]["rows"]
    if criteria == "each":
        return
    service.seen.clear()
    place = {"mode": "record", "questions": mine, "name": "batched", **asked}
    answered_in_batches(lambda: steps.waiting(place), service.answer)
    assert len(service.bodies) == calls
    by_batch = compared(mine, name="batched", mode="replay", **asked)
    assert of(by_batch.scores).equals(of(found.scores))


@pytest.mark.parametrize("criteria", ["each", "together"])
def test_labels_measure_each_judge_and_correct_its_rates(criteria, service, tmp_path):
    labels = tmp_path / "grades.csv"
    # physicians met a and b in Q1's first answer and c in neither: b is right, c misses b
    text = "Q1, 1: a b; harm 0"
    rows = [f'q1,"{text}",{i},{int(i in "ab")},Ann' for i in "abcd"]
    labels.write_text("\n".join(["item,answer,criterion,label,labelled_by", *rows]) + "\n")
    how = given(tmp_path, labels=str(labels), repeats="", criteria=criteria)
    found, sent = compared(str(tmp_path / "mine.csv"), **how), len(service.bodies)
    study = own.Own(str(tmp_path / "mine.csv"), mode="record", **how)
    cards = asyncio.run(own.cards(study, found.answers))
    if criteria == "together":  # its call on this answer is there, and has the verdicts on all
        assert len(service.bodies) == sent and "one call" in cards["b"]["of"]
    assert cards["b"]["confusion"] == [[2, 0], [0, 2]]
    assert cards["c"]["confusion"] == [[2, 0], [1, 1]]
    rates = own.corrected(study, found.verdicts, cards).set_index("column")["value"]
    # b meets a and b in nine answers and a, b, c in one: 21 of 40 criteria, and never errs
    for which in ("judge says", "corrected"):
        assert rates[f"criteria met: {which}, % (b)"] == pytest.approx(100 * 21 / 40)


def test_a_saved_study_keeps_its_way_of_asking_about_criteria(service, tmp_path):
    mine, asked = str(tmp_path / "mine.csv"), given(tmp_path, judge="b", repeats="")
    compared(mine, **asked)
    path, sent = tmp_path / "figures/own/mine/manifest.json", len(service.bodies)
    compared(mine, **asked | {"criteria": ""})
    about = json.loads(path.read_text())
    assert len(service.bodies) == sent and about["parameters"]["criteria"] == "each"
    about["parameters"]["criteria"] = True  # as it was before there were two ways
    path.write_text(json.dumps(about))
    compared(mine, **asked | {"criteria": "", "mode": "replay"})
    compared(mine, **asked | {"criteria": "together"})
    assert len(service.bodies) == sent + 10


def test_labels_of_a_reply_wait_for_it_and_a_lost_one_is_unscored(service, tmp_path, capsys):
    labels = tmp_path / "grades.csv"
    labels.write_text("item,label,model,repeat,criterion\nq1,1,a,1,a\nq2,1,a,2,a\n")
    how = given(tmp_path, labels=str(labels), repeats=2, limit=2)
    steps.plan(own.Own(str(tmp_path / "mine.csv"), mode="plan", **how))
    # 2 questions twice, 5 criteria for two judges; q2 is beyond LIMIT, and q1's label asks no more
    assert "44 calls in all" in capsys.readouterr().out
    place = {"mode": "record", "questions": str(tmp_path / "mine.csv"), **how}
    sent = []
    answered_in_batches(
        lambda: steps.waiting(place), lambda body: sent.append(body) or service.answer(body)
    )
    assert len(sent) == 44
    study = own.Own(str(tmp_path / "mine.csv"), mode="replay", **how)
    answered = asyncio.run(own.answers(study))
    cards = asyncio.run(own.cards(study, answered))
    assert cards["b"]["confusion"] == [[0, 0], [0, 1]] and cards["b"]["labelled_by"].endswith(
        ".csv"
    )
    lost = answered.assign(reply_status="timeout: it took too long")
    assert asyncio.run(own.cards(study, lost))["b"]["unscored"] == 1
    for row, told in {
        "q1,1,nobody,,a,": "no answer of 'nobody' to 'q1'",
        "q99,1,,,,x": "column item: 'q99' isn't one of the questions",
        "q1,maybe,,,,x": "column label: 'maybe' is neither",
        "q1,1,,,,": "column answer: give what was labelled",
        "q1,1,a,zero,,": "column repeat: 'zero' isn't a whole number",
        "q1,1,,,c9,x": "column criterion: 'c9'",
    }.items():
        labels.write_text(f"item,label,model,repeat,criterion,answer\n{row}\n")
        with pytest.raises(BedsideError, match=f"(?s)grades.csv.*line 2.*{told}"):
            study = own.Own(str(tmp_path / "mine.csv"), mode="replay", **how)
            asyncio.run(own.cards(study, answered))


def test_a_conversation_is_asked_as_it_is_and_judged_as_a_text(service, tmp_path):
    said = [("system", "Be brief."), ("user", "Number 4?"), ("assistant", "</x> Which?")]
    said = [{"role": r, "content": c} for r, c in [*said, ("user", "What is number 4?")]]
    rows = [{"item": "talk", "messages": said}, {"item": "q5", "question": "What is number 5?"}]
    (tmp_path / "talks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    how = given(tmp_path, repeats="", judge="b")
    found = compared(str(tmp_path / "talks.jsonl"), **how)
    asked = [b["messages"] for b in service.bodies if b["model"] == "a-1"]
    assert said in asked and [{"role": "user", "content": "What is number 5?"}] in asked
    judged = [b["messages"][-1]["content"] for b in service.bodies if b["model"] == "b-1"]
    told = prompts.fence("\n\n".join(f"{m['role'].upper()}: {m['content']}" for m in said))
    assert sum(told in text for text in judged) == 5
    assert found.verdicts["status"].eq("graded").all()
    framed = own.Own(pd.DataFrame(rows), "framed", mode="replay", **how)  # kept as a file
    again = questions.read(tmp_path / "figures/own/framed/questions.jsonl")
    assert again.equals(framed.items) and framed.asks()["talk"] == said


def test_questions_with_criteria_as_healthbench_has_them_come_as_they_are(service, tmp_path):
    def line(n, *criteria):
        rubrics = [{"criterion": t, "points": p, "tags": ["axis:accuracy"]} for t, p in criteria]
        prompt = [{"role": "user", "content": f"What is number {n}?"}]
        return {"prompt_id": f"p{n}", "prompt": prompt, "rubrics": rubrics, "canary": "x"} | {
            "example_tags": ["theme:hedging", "physician_agreed_category:x"]
        }

    lines = line(0, ("names a", 5), ("names d", -4)), line(1, ("names b", 3), ("names c", 2))
    (tmp_path / "bench.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    found = compared(str(tmp_path / "bench.jsonl"), models="a", judge="b")
    assert found.verdicts["value"].tolist() == [1, 0.6]  # a b c has 5 of 5; a b has 3 of 5
    assert found.verdicts["question"].tolist()[0] == "USER: What is number 0?"
    assert set(found.scores["column"]) == {"all: score, %", "hedging: score, %"}
    met = of(own.criteria(found.own, found.verdicts))["value"]
    assert met["accuracy: met, %"] == pytest.approx(100 * 2 / 3)
    kept = pd.read_csv(found.own.folder / "criteria.csv", dtype=str)
    assert kept["id"].tolist() == ["1", "2", "1", "2"]
    lines[1]["rubrics"][0]["points"] = "many"
    (tmp_path / "bench.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    with pytest.raises(BedsideError, match="line 2, column points: 'many'"):
        own.Own(str(tmp_path / "bench.jsonl"), models="a", judge="b")
