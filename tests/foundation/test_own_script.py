"""Own questions from Python: a frame, entries of a script's own, the files of `make study`."""

import asyncio
import inspect
import json
import os
import re
import subprocess
import sys

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import bedside
from bedside import BedsideError, own
from bedside.keep import registry
from bedside.own import results
from bedside.read import paths, questions
from bedside.write import frames
from conftest import apart, completion

ASKED = pd.DataFrame({"item": ["q1", "q2"], "question": ["May I?", "And now?"], "unit": [1, 2]})


@pytest.fixture(autouse=True)
def entries(monkeypatch):
    """The registry as it was, whatever a test adds to it."""
    known = dict(registry.entries())
    monkeypatch.setattr(registry, "entries", lambda: known)
    monkeypatch.setenv(registry.INLINE, "")


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


# ---- what is given


def test_help_lists_every_argument_with_its_type_and_default():
    given = inspect.signature(bedside.study).parameters
    assert list(given)[:3] == ["questions", "models", "judge"]
    assert all(p.annotation is not p.empty for p in given.values())
    assert [n for n, p in given.items() if p.default is p.empty] == ["questions"]
    told = inspect.getdoc(bedside.study)
    assert all(re.search(rf"\b{name}\b.*:", told) for name in given)


@pytest.mark.parametrize(
    "changed, match",
    [
        ({"question": ["May I?", " "]}, "DataFrame of questions, row 2, column question: is empty"),
        ({"item": ["q1", "q1"]}, "row 2, column item: item 'q1' is already in row 1"),
        ({"refrence": ["a", "b"]}, "unknown column 'refrence'; did you mean 'reference'"),
        ({"question": [["a"], "b"]}, "row 1, column question: is a list"),
        ({"group": ["all", None]}, "row 1, column group: 'all' stands for all questions"),
    ],
)
def test_faults_of_a_frame_are_told_as_those_of_a_file(changed, match, at, tmp_path):
    with pytest.raises(BedsideError, match=match):
        bedside.study(ASKED.assign(**changed), {**at, "model": "small"})
    with pytest.raises(BedsideError, match="no column 'question'; it has item, text"):
        bedside.study(ASKED[["item"]].assign(text="x"), {**at, "model": "small"})
    with pytest.raises(BedsideError, match="has no question in it"):
        bedside.study(ASKED.head(0), {**at, "model": "small"})
    twice = pd.concat([ASKED, ASKED[["item"]]], axis=1)
    with pytest.raises(BedsideError, match="two columns 'item'"):
        bedside.study(twice, {**at, "model": "small"})
    assert not (tmp_path / "figures").exists()


def test_a_frame_reads_as_the_file_that_is_kept_of_it(at, tmp_path):
    odd = ASKED.assign(question=['=1, "a"\nb', " \u2028x"], reference=[None, 7], group=[pd.NA, "g"])
    registry.names_of({**at, "model": "small"})
    mine = own.Own(odd, models="small")
    assert mine.name.startswith("questions-") and own.Own(odd, models="small").name == mine.name
    assert own.Own(ASKED, models="small").name != mine.name
    assert own.Own(ASKED, "mine", models="small").source.endswith("own/mine/questions.jsonl")
    again = questions.read(tmp_path / "figures/own" / mine.name / "questions.jsonl")
    assert again.equals(mine.items) and again["reference"].tolist() == ["", "7"]


def test_an_entry_of_a_scripts_own_is_known_by_its_name(at):
    given = [{**at, "model": "m/x", "name": "mine"}, "smollm2-135m", {**at, "model": "m/x"}]
    assert registry.names_of(given) == "mine smollm2-135m m/x"
    assert registry.model("mine") == {**at, "model": "m/x"}
    handed = json.loads(os.environ[registry.INLINE])  # to the kernel of the study's notebook
    assert handed.keys() == {"mine", "m/x"}
    assert registry.names_of({**at, "model": "other", "name": "mine"}) == "mine"  # a mended script
    assert registry.model("mine")["model"] == "other"


@pytest.mark.parametrize(
    "entry, match",
    [
        ({"api_key": "secret-1"}, "a key comes from the environment: api_key_env names"),
        ({"api_key_env": "sk-secret-1"}, "the name of an environment variable, not a key"),
        ({"headers": {"Authorization": "secret-1"}}, "a key stands in it"),
        ({"key_env": "X"}, "did you mean 'api_key_env'"),
        ({"name": "smollm2-135m"}, "data/models.toml has another one of this name"),
        ({"base_url": 1}, "should be a text"),
    ],
)
def test_a_faulty_entry_or_a_key_is_refused_and_never_shown(at, entry, match, tmp_path):
    with pytest.raises(BedsideError, match=match) as told:
        bedside.study(ASKED, [{**at, "model": "small", **entry}])
    assert "secret-1" not in str(told.value) + os.environ[registry.INLINE]
    assert not (tmp_path / "figures").exists()


def test_a_plan_from_python_asks_nobody(at, endpoint, capsys):
    async def notebook():  # whose loop is running already
        return bedside.study(ASKED, [{**at, "model": "small"}], mode="plan")

    assert asyncio.run(notebook()) is None and not endpoint.bodies
    assert "2 calls in all; none was made" in capsys.readouterr().out
    with pytest.raises(BedsideError, match="unknown mode 'batch'"):
        bedside.study(ASKED, [{**at, "model": "small"}], mode="batch")


# ---- what comes back


def kept(mine):
    judged = asyncio.run(own.verdicts(mine, asyncio.run(own.answers(mine))))
    own.keep(mine, judged)
    return judged


def test_what_a_notebook_left_is_opened_with_all_texts(at):
    frame = ASKED.assign(question=["What is 7 times 2?", "What is 7 times 3?"], reference=[14, 22])
    names = registry.names_of([{**at, "model": m} for m in ("small", "judge")])
    mine = own.Own(frame, "mine", models=names, judge="judge")
    judged, found = kept(mine), results.opened(mine)
    assert list(found.graded)[: len(frames.COLUMNS)] == frames.COLUMNS
    assert found.graded["reply"].tolist() == judged["answer"].tolist()
    assert found.graded["question"].tolist() == [*frame["question"]] * 2
    assert found.graded["right"].tolist() == (judged["value"] == 1).astype(float).tolist()
    assert found.scores.equals(own.scores(mine, judged)) and len(found.pairs)
    assert found.cards == {} and found.page.name == "index.html"


def test_of_a_study_without_a_judge_nothing_is_right_or_wrong(at):
    registry.names_of({**at, "model": "small"})
    mine = own.Own(ASKED, "mine", models="small")
    kept(mine)
    found = results.opened(mine)
    assert found.graded["right"].isna().all() and found.scores.empty and found.pairs.empty


# ---- whole


def script():
    """The script of docs/own_study.md, which asks a hundred questions."""
    text = (paths.ROOT / "docs/own_study.md").read_text(encoding="utf-8")
    return re.search(r"```python\n([^`]*range\(100\)[^`]*)```", text)[1]


def test_the_script_of_the_documentation_is_short():
    assert len([line for line in script().splitlines() if line.strip()]) <= 10
    assert max(map(len, script().splitlines())) <= 100


def test_the_script_of_the_documentation(at, root, endpoint, tmp_path):
    """A hundred questions to two models, graded and drawn; then the same without a call."""
    code = script().replace("http://127.0.0.1:8000/v1", endpoint.url)
    environment = {**os.environ, "BEDSIDE_ROOT": str(root), "PYTHONPATH": str(root / "lib")}
    environment["BEDSIDE_FIGURES"] = str(root / "figures")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            **{"cwd": tmp_path, "env": environment, "capture_output": True, "text": True},
        )
        assert done.returncode == 0, done.stderr
        assert re.search(r"large +1\.0 +100\nsmall +0\.0 +100", done.stdout), done.stdout
        assert len(endpoint.bodies) == 400 and (tmp_path / "sevens.png").stat().st_size > 5000
    folder = root / "figures/own/sevens"
    names = {p.name for p in folder.iterdir()}
    tables = {f"table_{t}.{e}" for t in ("scores", "pairs") for e in ("csv", "md")}
    others = {"index.html", "explorer.html", "answers.csv", "verdicts.csv", "manifest.json"}
    did = {p for p in names if p.partition(".")[0].partition("_")[0] == "models"}
    assert {"models.csv", "models.svg", "models_failures.csv"} <= did
    assert names - did == tables | others | {"questions.jsonl"}
    rows = pd.read_csv(folder / "table_pairs.csv").set_index("column")
    assert rows.loc["difference, points", "value"] == 100
    assert "The judge judge was never measured" in (folder / "index.html").read_text()


def test_in_a_notebook_too(at, root, tmp_path, monkeypatch):
    """Its loop is running already, and its files are looked for in its own folder."""
    for name, value in {"ROOT": root, "FIGURES": root / "figures"}.items():
        monkeypatch.setenv(f"BEDSIDE_{name}", str(value))
    monkeypatch.setenv("PYTHONPATH", str(root / "lib"))
    code = f"""import bedside
small, judge = ({{**{at!r}, "model": name}} for name in ("small", "judge"))
found = bedside.study("mine.csv", small, judge)
print(found.page.is_file(), found.scores["n"].tolist())"""
    (tmp_path / "mine.csv").write_text("item,question\nq1,What is 7 times 3?\n")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    where = {"resources": {"metadata": {"path": tmp_path}}, "kernel_name": "python3"}
    NotebookClient(made, **where, timeout=120).execute()
    said = "".join(o.get("text", "") for o in made["cells"][0]["outputs"])
    assert "True [1]" in said and "to nobody else" in said
