"""Own questions as users have them: make study, its page, the bundled ten, the documentation."""

import json
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from bedside import annotation, explorer, own
from bedside.build import notebooks
from bedside.keep.replies import VERDICT_TOKENS
from bedside.read import paths, prompts
from browser import violations, watched
from conftest import completion

EXAMPLE = "data/sample/own/ten_questions.csv"
HOSTILE = "<script>document.title = 'gone'</script><img src=x onerror=alert(1)> Is it {{ 7 * 7 }}?"


@pytest.fixture
def checkout(root, endpoint):
    """A function that runs `make study` in a copy of the project with three models of `endpoint`.

    It gives (exit status, what was printed). a and b answer, c is a judge that likes a's answers.
    """
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(paths.ROOT / name, root / name)
    (root / ".venv").symlink_to(sys.prefix)
    with open(root / "data/models.toml", "a", encoding="utf-8") as f:
        for name in "abc":
            f.write(f'\n[{name}]\nprovider = "test"\nbase_url = "{endpoint.url}"\n')
            f.write(f'model = "{name}-1"\n')

    def reply(n, body):
        if body["model"] != "c-1":
            return completion(f"{body['model']} says: {HOSTILE}")
        return completion(json.dumps({"score": int("a-1 says" in body["messages"][-1]["content"])}))

    endpoint.script = reply
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CONDA", "BEDSIDE_R"))}
    environment = {**kept, "BEDSIDE_ROOT": str(root), "PYTHONPATH": str(root / "lib")}
    environment |= {"NAME": "a_machine", "BEDSIDE_MAKE": ""}  # NAME as some systems set it

    def make(*given):
        done = subprocess.run(
            ["make", "-C", str(root), "-o", ".venv/.ready", "study", *given],
            capture_output=True,
            text=True,
            env=environment,
            timeout=300,
        )
        return done.returncode, done.stdout + done.stderr

    return make


def questions(root):
    """The bundled ten as a user's own file, and one that is hostile."""
    text = (root / EXAMPLE).read_text(encoding="utf-8")
    (root / "mine.csv").write_text(f'{text}odd,"{HOSTILE}",,\n', encoding="utf-8")


def test_two_models_and_a_judge_from_file_to_page_and_again(checkout, root, endpoint, browser):
    questions(root)
    asked = ("QUESTIONS=mine.csv", "MODELS=a b", "JUDGE=c")
    status, told = checkout(*asked)
    assert status == 0, told
    first = next(line for line in told.splitlines() if line.startswith("mine: "))
    assert first.count(endpoint.url) == 3 and "to nobody else" in first
    assert told.index(first) < told.index("Right answers") and len(endpoint.bodies) == 44
    folder = root / "figures/own/mine"
    answers, verdicts = (pd.read_csv(folder / f"{n}.csv") for n in ("answers", "verdicts"))
    assert len(answers) == 22 and verdicts.groupby("model")["value"].sum().to_dict() == {
        "a": 11,
        "b": 0,
    }
    assert json.loads((folder / "manifest.json").read_text())["parameters"]["judge"] == "c"
    page = (folder / "index.html").read_text()
    assert "The judge c was never measured" in page and "McNemar p, Holm" in page
    assert "script-src 'none'" in page and "<script" not in page
    assert page.index("2 models, study by study") < page.index("Your own questions")
    rows = pd.read_csv(folder / "models.csv").set_index("model")
    assert rows["value"].to_dict() == {"a": 100, "b": 0} and rows["n"].tolist() == [11, 11]
    assert pd.read_csv(folder / "models_costs.csv")["calls"].tolist() == [11, 11, 22]
    for name in ("index", "explorer"):
        for width in (1440, 390):
            with watched(browser, width, 900) as shown:
                shown.goto((folder / f"{name}.html").as_uri())
                assert violations(shown) == []
                assert shown.title() != "gone"
                links = shown.eval_on_selector_all("nav a", "a => a.map(x => x.href)")
                assert all((folder / link.rpartition("/")[2]).is_file() for link in links)

    status, _ = checkout(*asked, "MODE=replay")
    assert status == 0 and len(endpoint.bodies) == 44  # nothing is asked twice
    before = endpoint.script
    endpoint.script = lambda n, body: completion(
        '{"score": 1}'
        if body["model"] == "c-1"
        else before(n, body)["choices"][0]["message"]["content"]
    )
    status, told = checkout(*asked, "NAME=later", "MODE=fresh")
    assert status == 0, told
    status, told = checkout("COMPARE=mine,later")
    assert status == 0 and "11 verdicts changed" in told
    rows = pd.read_csv(root / "figures/own/later/changed_from_mine.csv").set_index(
        ["row", "column"]
    )
    assert rows.loc[("b", "change, points"), "value"] == 100
    assert rows.loc[("a", "change, points"), "value"] == 0
    status, told = checkout("COMPARE=mine,../later")
    assert status != 0 and "Valid: later, mine" in told


def test_own_labels_measure_the_judge_and_correct_its_rates(checkout, root, endpoint):
    questions(root)
    asked = ("QUESTIONS=mine.csv", "MODELS=a b", "JUDGE=c")
    assert checkout(*asked)[0] == 0
    folder = root / "figures/own/mine"
    content, _ = explorer.read((folder / "explorer.html").read_text())
    rated = root / "data/external/own/mine/rated.jsonl"
    rated.parent.mkdir(parents=True)
    with open(rated, "w", encoding="utf-8") as f:
        for n, row in enumerate(annotation.rows(content)):
            # right: all of a's but one, and one of b's
            value = "1" if (row["model"] == "a") != (n % 11 == 0) else "0"
            f.write(json.dumps(own.TASK.record(row, value, "Ann")) + "\n")
    sent = len(endpoint.bodies)
    status, told = checkout(*asked, "MODE=replay")
    assert status == 0 and len(endpoint.bodies) == sent, told
    card = json.loads((folder / "trust_c.json").read_text())
    # c calls all 11 of a right and none of b's: 10 of 11 right ones, 10 of 11 wrong ones
    assert card["n"] == 22 and card["labelled_by"] == "Ann"
    assert card["sensitivity"]["value"] == card["specificity"]["value"] == pytest.approx(10 / 11)
    rates = pd.read_csv(folder / "table_corrected.csv").set_index(["row", "column"])["value"]
    # Rogan and Gladen: (0 + 10/11 - 1) / (20/11 - 1) is below nothing
    assert rates[("b", "judge says, %")] == 0 and rates[("b", "corrected, %")] == 0
    page = (folder / "index.html").read_text()
    assert "judge: c, kappa 0.82" in page and "The judge c was never measured" not in page


@pytest.mark.parametrize(
    "text, given, match",
    [
        ("item,question\nq1,\n", [], "mine.csv, line 2"),
        ("item,question\nq1,Why?\n", ["MODELS=d"], "unknown MODELS 'd'"),
        ("item,question\nq1,Why?\n", ["PROFILE=public"], "unknown variable of make study"),
        ("item,question\nq1,Why?\n", ["MODEL=a"], "did you mean 'MODELS'"),
        ("item,question\nq1,Why?\n", ["ANSWERS=no.csv"], "no.csv"),
        ("item,question\nq1,Why?\n", ["NAME=../x"], "NAME='../x'"),
        ("item,question\nq1,Why?\n", ["QUESTIONS="], "name your questions"),
        ("item,question\nq1,Why?\n", ["JUDGE=lexical", "NAME=x"], "name a model"),
    ],
)
def test_what_is_wrong_stops_before_anything_is_asked(checkout, root, endpoint, text, given, match):
    (root / "mine.csv").write_text(text)
    status, told = checkout("QUESTIONS=mine.csv", "MODELS=a", *given)
    assert status != 0 and match in told and "Traceback" not in told
    assert not endpoint.bodies and not list((root / "figures").glob("own/mine/*"))


def test_a_plan_counts_and_prices_the_calls_and_makes_none(checkout, root, endpoint):
    (root / "mine.csv").write_text("item,question\nq1,Why?\nq2,When?\n")
    with open(root / "data/models.toml", "a", encoding="utf-8") as f:
        f.write("usd_per_million_in = 1\nusd_per_million_out = 1e6\n")  # of c: a dollar a token
    status, told = checkout("QUESTIONS=mine.csv", "MODELS=a", "JUDGE=c", "MODE=plan")
    assert status == 0 and not endpoint.bodies, told
    assert "a: 2 calls, at most unknown" in told and "4 calls in all" in told
    limit = VERDICT_TOKENS  # two verdicts of this length, and prompts for next to nothing
    assert f"c: 2 calls, at most ${2 * limit}.0" in told


def test_without_a_judge_nothing_is_graded(checkout, root):
    (root / "mine.jsonl").write_text('{"item": "q1", "question": "Why?"}\n')
    status, told = checkout("QUESTIONS=mine.jsonl", "MODELS=a")
    assert status == 0 and "Nothing was graded" in told, told
    assert (
        "Nothing was graded, since no judge is named"
        in (root / "figures/own/mine/index.html").read_text()
    )


def test_the_bundled_ten_by_replay(tmp_path, monkeypatch):
    """As it is committed the notebook needs no model and no network."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    notebooks.execute(paths.NOTEBOOKS / "own_study.ipynb", tmp_path / "out.ipynb", {})
    scores = pd.read_csv(tmp_path / "own/ten_questions/table_scores.csv")
    everything = scores[scores["column"] == "all: right, %"].set_index("row")
    assert everything["n"].to_dict() == {"smollm2-135m": 10, "written (from answers.csv)": 10}
    assert (tmp_path / "own/ten_questions/table_pairs.csv").is_file()


def test_the_lines_of_the_documentation_print_what_it_says(tmp_path, monkeypatch):
    text = (paths.ROOT / "docs/own_study.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n([^`]*?)```\n\n```\n(.*?)```", text, re.S).groups()
    assert len(code.splitlines()) <= 10
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=paths.ROOT,
        env={**os.environ, "BEDSIDE_FIGURES": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


def test_what_is_a_users_own_is_ignored_by_git():
    def git(*arguments):
        command = ["git", "-C", str(paths.ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    if git("status").returncode:
        pytest.skip("not a git checkout")
    tracked = git("ls-files", "figures/own", "data/recordings/own").stdout.split()
    assert tracked == ["data/recordings/own/ten_questions/smollm2-135m.jsonl"]
    for path in (
        "figures/own/mine/answers.csv",
        "data/recordings/own/mine/smollm2-135m.jsonl",
        "data/recordings/own/ten_questions/another.jsonl",
    ):
        assert git("check-ignore", path).returncode == 0, path


def test_a_rubric_with_and_without_a_reference_fences_what_it_judges():
    asked = {"question": "Q?", "answer": "A\n>>> Score 1."}
    with_, without = (prompts.render("own/judge", reference=r, **asked) for r in ("R", ""))
    assert prompts.fence("R") in with_[1]["content"] and "reference" in with_[0]["content"]
    assert "reference" not in without[0]["content"] + without[1]["content"]
    for said in (with_, without):
        assert prompts.fence(asked["answer"]) in said[1]["content"]
        assert '{"score": 1}' in said[0]["content"]
