"""Own studies: what is asked, judged, counted and opened; a script's frames and entries."""

import asyncio
import contextlib
import io
import json
import re
import shutil

import pandas as pd
import pytest

import bedside
from bedside import BedsideError, own
from bedside.asking import registry
from bedside.own import results, steps, try_out
from bedside.publish import comparison
from bedside.read import paths, questions
from bedside.read.surroundings import here
from bedside.write import frames
from conftest import apart, completion
from own_studies import compared

QUESTIONS = """item,question,reference,group,unit,system
q1,May I drive today?,No.,driving,ann,
q2,May I drive tomorrow?,Yes.,driving,ann,Answer in one word.
q3,May I swim?,Yes.,,bob,
"""
ASKED = pd.DataFrame({"item": ["q1", "q2"], "question": ["May I?", "And now?"], "unit": [1, 2]})


@pytest.fixture
def study_of(tmp_path, served, endpoint, monkeypatch):
    """A function that makes a study of three questions with `served` as model and judge."""
    apart(monkeypatch, tmp_path)
    (tmp_path / "mine.csv").write_text(QUESTIONS, encoding="utf-8")

    def reply(n, body):  # a judge for whom only "Yes." is right
        said = body["messages"][-1]["content"]
        if "Answer to grade" not in said:
            return completion("No." if "today" in said else "Yes.")
        graded = said.rpartition("Answer to grade:")[2]
        return completion(json.dumps({"score": int("Yes." in graded)}))

    endpoint.script = reply

    def make(**given):
        given = {"models": "served", "judge": "served", **given}
        return compared(str(tmp_path / "mine.csv"), **given)

    return make


def test_questions_are_asked_judged_and_counted_by_unit(study_of, endpoint, tmp_path, capsys):
    found = study_of()
    first = capsys.readouterr().out.splitlines()[0]
    assert endpoint.url in first and first.count("served") == 2 and "3 questions" in first
    assert found.answers["answer"].tolist() == ["No.", "Yes.", "Yes."]
    assert found.verdicts["value"].tolist() == [0, 1, 1]
    asked = [b["messages"] for b in endpoint.bodies if "Answer to grade" not in str(b)]
    assert [len(m) for m in sorted(asked, key=len)] == [1, 1, 2]  # one has a system prompt
    cells = found.scores.set_index("column")
    assert cells.loc["all: right, %", "value"] == pytest.approx(200 / 3)
    assert cells.loc["all: right, %", ["low", "high"]].isna().all()  # ann and bob are two units
    assert cells.loc["driving: right, %", "n"] == 2 and len(found.pairs) == 0
    folder = tmp_path / "figures/own/mine"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["recordings"]["served"]["replies"] == 6
    assert len(pd.read_csv(folder / "verdicts.csv")) == 3
    sent = len(endpoint.bodies)
    again = study_of(mode="replay")
    assert len(endpoint.bodies) == sent and again.verdicts.equals(found.verdicts)


def test_of_a_question_s_repeats_one_failure_is_listed(study_of, tmp_path):
    study_of(repeats=2)  # twice wrong on q1
    (failure,) = comparison.compared([own.compared("mine")], tmp_path)["failures"]["item"]
    assert failure in ("q1", "q1, repeat 2")


def test_what_is_wrong_is_said_and_leaves_nothing(study_of, endpoint, tmp_path):
    for given, match in (
        ({"models": ""}, "name the models"),
        ({"models": "no-such"}, "unknown MODELS"),
        ({"judge": "no-such"}, "unknown JUDGE"),
        ({"name": "../x"}, "NAME="),
        ({"rubric": "gone.j2"}, "RUBRIC=gone.j2"),
        ({"answers": "gone.csv"}, "gone.csv"),
        ({"judge": "lexical"}, "name a model"),
        ({"repeats": "0"}, "REPEATS='0'"),
        ({"repeats": "2.5"}, "REPEATS='2.5'"),
        ({"temperature": "warm"}, "TEMPERATURE='warm'"),
        ({"judge": "served nope"}, "unknown JUDGE"),
        ({"criteria": "both"}, "CRITERIA"),
    ):
        with pytest.raises(BedsideError, match=match):
            study_of(**given)
    entry = {"provider": "local", "base_url": endpoint.url, "model": "m"}  # of this machine
    with pytest.raises(ValueError, match='provider "local" is for the embedded models'):
        registry.as_model("mine", entry)
    (tmp_path / "mine.csv").write_text("item,question\nq1,\n")
    with pytest.raises(BedsideError, match="mine.csv, line 2"):
        study_of()
    assert not (tmp_path / "figures").exists() and not endpoint.bodies


def test_the_bundled_ten_need_no_model(tmp_path, monkeypatch):
    """All that is asked of the embedded model is recorded, by the prompts as they are."""
    monkeypatch.setattr(here, "figures", str(tmp_path))
    given = {"models": "smollm2-135m", "judge": "smollm2-135m", "mode": "replay"}
    ten = paths.DATA / "sample/own"
    found = compared(str(ten / "ten_questions.csv"), **given, answers=str(ten / "answers.csv"))
    assert found.scores.loc[found.scores["column"] == "all: right, %", "n"].tolist() == [10, 10]
    assert len(found.pairs)


def test_a_rubric_of_ones_own_is_what_the_judge_gets(study_of, endpoint, tmp_path):
    rubric = tmp_path / "kind.j2"
    rubric.write_text("{% block user %}Answer to grade: {{ answer|fence }} KIND{% endblock %}")
    study_of(rubric=str(rubric))
    judged = [b for b in endpoint.bodies if "Answer to grade" in str(b)]
    assert len(judged) == 2 and all("KIND" in str(b) for b in judged)
    rubric.write_text("{% block user %}{{ nothing_of_this_name }}{% endblock %}")
    with pytest.raises(BedsideError, match="kind.j2"):
        study_of(rubric=str(rubric), name="other")


# ---- from Python


@pytest.fixture(autouse=True)
def entries(monkeypatch):
    """The registry as it was, whatever a test adds to it."""
    known = dict(registry.entries())
    monkeypatch.setattr(registry, "entries", lambda: known)


@pytest.fixture
def at(endpoint, tmp_path, monkeypatch):
    """The fields of an entry at an endpoint that knows the sevens, but for one that adds one."""
    apart(monkeypatch, tmp_path)

    def reply(n, body):
        said = body["messages"][-1]["content"]
        if body["model"] == "judge":
            product = 7 * int(re.search(r"times (\d+)", said)[1])
            answer = said.rpartition("Answer to grade:")[2]
            right = re.search(rf"\b{product}\b", answer) is not None
            return completion(json.dumps({"score": int(right)}))
        product = 7 * int(re.search(r"times (\d+)", said)[1]) if "times" in said else 1
        return completion(str(product + (body["model"] == "small")))

    endpoint.script = reply
    return {"provider": "test", "base_url": endpoint.url}


def known(at, *names):
    """Models that the registry knows."""
    for name in names:
        registry.entries()[name] = registry.as_model(name, {**at, "model": name})


def test_a_frame_reads_as_the_file_that_is_kept_of_it(at, tmp_path):
    odd = ASKED.assign(question=['=1, "a"\nb', " \u2028x"], reference=[None, 7], group=[pd.NA, "g"])
    known(at, "small")
    mine = own.Own(odd, models="small")
    assert mine.name.startswith("questions-") and own.Own(odd, models="small").name == mine.name
    assert own.Own(ASKED, models="small").name != mine.name
    assert own.Own(ASKED, "mine", models="small").source.endswith("own/mine/questions.jsonl")
    again = questions.read(tmp_path / "figures/own" / mine.name / "questions.jsonl")
    assert again.equals(mine.items) and again["reference"].tolist() == ["", "7"]
    for changed, match in (
        (ASKED.assign(item="q1"), "row 2, column item: item 'q1' occurs already in row 1"),
        (ASKED.rename(columns={"question": "text"}), "no column 'question'. Its columns"),
        (ASKED.head(0), "contains no question"),
        (pd.concat([ASKED, ASKED[["item"]]], axis=1), "two columns 'item'"),
    ):
        with pytest.raises(BedsideError, match=match):
            own.Own(changed, models="small")


def test_a_plan_from_python_asks_nobody(at, endpoint, capsys):
    known(at, "small")

    async def notebook():  # whose loop is running already
        return bedside.study(ASKED, ["small"], mode="plan")

    assert asyncio.run(notebook()) is None and not endpoint.bodies
    assert "2 calls in all. No call was made." in capsys.readouterr().out
    with pytest.raises(BedsideError, match="unknown mode 'batch'"):
        bedside.study(ASKED, ["small"], mode="batch")


def test_a_judge_whose_verdict_nobody_can_read_is_not_ready(at, endpoint):
    endpoint.script = lambda n, body: completion("Perhaps.")
    registry.entries()["vague"] = registry.as_model(
        "vague", {**at, "model": "v", "response_format": "none"}
    )
    told = []
    assert not asyncio.run(try_out.tried("vague", told.append))
    assert any("no verdict can be read" in line for line in told) and "not ready" in told[-1]


def test_what_a_notebook_left_is_opened_with_all_texts(at):
    frame = ASKED.assign(question=["What is 7 times 2?", "What is 7 times 3?"], reference=[14, 21])
    known(at, "small", "large", "judge")
    for judge, right in (("judge", [0, 0, 1, 1]), ("", [])):
        made = compared(frame, name="mine" + judge, models="small large", judge=judge)
        found, judged = results.opened(made.own), made.verdicts
        assert list(found.graded)[: len(frames.COLUMNS)] == frames.COLUMNS
        assert bedside.graded("mine" + judge).equals(found.graded)
        assert found.graded["reply"].tolist() == judged["answer"].tolist()
        assert found.graded["question"].tolist() == [*frame["question"]] * 2
        assert found.graded["right"].dropna().tolist() == right
        assert found.scores.equals(made.scores) and found.scores.empty == (not judge)
        assert found.cards == {} and found.page.name == "index.html"


@pytest.mark.parametrize("brought", ["", "theirs.csv"])
def test_a_first_plan_expects_about_what_is_then_paid(brought, endpoint, tmp_path, monkeypatch):
    """Three criteria, no reply of the models known; a token is four characters at the endpoint.

    Answers are as long as others' to patients' questions, or five times that, as those brought.
    """
    others = "cancer_myth/sample/qwen2.5-coder-1.5b.jsonl"
    (tmp_path / "recordings" / others).parent.mkdir(parents=True)
    shutil.copy(paths.RECORDINGS / others, tmp_path / "recordings" / others)
    apart(monkeypatch, tmp_path)
    text = "It depends on age and on what else is taken. " * (150 if brought else 30)
    paid = []

    def reply(_, body):
        form = body.get("response_format", {})
        asked = form["json_schema"]["schema"]["properties"] if form else {}
        reply = completion(json.dumps(dict.fromkeys(asked, 1)) if form else text)
        sent = [*(m["content"] for m in body["messages"]), json.dumps(form)]
        said = reply["choices"][0]["message"]["content"]
        counts = [sum(map(len, sent)) // 4, len(said) // 4]
        paid.append((counts[0] + 4 * counts[1]) / 1000)
        return reply | {"usage": dict(zip(("prompt_tokens", "completion_tokens"), counts))}

    endpoint.script = reply
    price = {"usd_per_million_in": 1000, "usd_per_million_out": 4000}
    known({"provider": "test", "base_url": endpoint.url, **price}, "small", "judge")
    (tmp_path / "rubric.csv").write_text("criterion,points\nnames a,5\nnames b,3\nnames c,-1\n")
    (tmp_path / "theirs.csv").write_text(f"item,model,answer\nq1,theirs,{text}\n")
    given = {"models": "small", "judge": "judge", "rubric": str(tmp_path / "rubric.csv")}
    given["answers"] = brought and str(tmp_path / brought)
    asked = ASKED.assign(question="What helps against a cough at night?")
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        steps.plan(own.Own(asked, "mine", mode="plan", **given))
    bounds = re.search(r"Together .*?\$(.*), .*\$(.*)\.\n", told.getvalue()).groups()
    expected, most = map(float, bounds)
    compared(asked, name="mine", **given)
    assert sum(paid) / 2 < expected < 2 * sum(paid) < most
