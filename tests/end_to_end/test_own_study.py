"""Own questions as users have them: make study, its page, the documentation's script and lines."""

import json
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from bedside.read import paths, surroundings
from bedside.read.surroundings import within
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
    environment |= {"NAME": "a_machine"}  # NAME as some systems set it

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


def test_two_models_and_a_judge_from_file_to_page_and_again(checkout, root, endpoint, browser):
    text = (root / EXAMPLE).read_text(encoding="utf-8")
    (root / "mine.csv").write_text(f'{text}odd,"{HOSTILE}",,\n', encoding="utf-8")
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
    page = (folder / "index.html").read_text()
    assert "script-src 'none'" in page and "<script" not in page
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
    before = (folder / "verdicts.csv").read_bytes()
    labels = [
        "item,model,label,labelled_by",
        *(f"{i},a,{int(i != 'odd')},Ann" for i in answers["item"][:11]),
    ]
    (root / "labels.csv").write_text("\n".join(labels) + "\n")
    status, told = checkout(*asked, "MODE=replay", "LABELS=labels.csv")
    assert status == 0 and len(endpoint.bodies) == 44, told
    card = json.loads((folder / "trust_c.json").read_text())
    assert card["n"] == 11 and card["labelled_by"] == "Ann"  # c calls all of a's right
    assert card["exact"]["value"] == pytest.approx(10 / 11)
    assert (folder / "verdicts.csv").read_bytes() == before


def test_the_lines_of_the_documentation_print_what_it_says(tmp_path, monkeypatch):
    text = (paths.ROOT / "docs/own_study.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n([^`]*?)```\n\n```\n(.*?)```", text, re.S).groups()
    assert len(code.splitlines()) <= 10
    with within(figures=str(tmp_path)):
        environment = surroundings.handing_over(tmp_path / "settings.json")
    done = subprocess.run(
        [sys.executable, "-c", code],
        **{"cwd": paths.ROOT, "env": environment, "capture_output": True, "text": True},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


def test_the_script_of_the_documentation(root, endpoint, tmp_path):
    """A hundred questions to two models, graded and drawn."""
    text = (paths.ROOT / "docs/own_study.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n([^`]*range\(100\)[^`]*)```", text)[1]
    with open(root / "data/models.toml", "a", encoding="utf-8") as file:
        for name in ("small", "large", "judge"):
            about = f'provider = "test"\nbase_url = "{endpoint.url}"\nmodel = "{name}"\n'
            file.write(f"\n[{name}]\n{about}")

    def reply(n, body):
        said = body["messages"][-1]["content"]
        product = 7 * int(re.search(r"times (\d+)", said)[1])
        if body["model"] != "judge":
            return completion(str(product + (body["model"] == "small")))
        right = re.search(rf"\b{product}\b", said.rpartition("Answer to grade:")[2])
        return completion(json.dumps({"score": int(bool(right))}))

    endpoint.script = reply
    environment = {**os.environ, "BEDSIDE_ROOT": str(root), "PYTHONPATH": str(root / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        **{"cwd": tmp_path, "env": environment, "capture_output": True, "text": True},
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"large +1\.0 +100\nsmall +0\.0 +100", done.stdout), done.stdout
    assert len(endpoint.bodies) == 400 and (tmp_path / "sevens.png").stat().st_size > 5000
    rows = pd.read_csv(root / "figures/own/sevens/table_pairs.csv").set_index("column")
    assert rows.loc["difference, points", "value"] == 100
