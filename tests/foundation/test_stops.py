"""What ends a run is one sentence, in the notebook and where `make` prints, and costs no more."""

import csv
import json
import os
import subprocess
import sys

import pytest

from bedside.read import paths

KEY = "sk-made-up-51c8d2a7e9"
# quoted in TOML, since a name may have a slash
ENTRY = """
["{name}"]
provider = "remote"
base_url = "{url}"
model = "{name}"
api_key_env = "REMOTE_KEY"
max_concurrency = 1
usd_per_million_in = 1
usd_per_million_out = 2
"""
CELLS = (
    'profile = "sample"\nmode = "replay"\nmodels = ""\njudge = ""\nlimit = 0\nseed = 0\n'
    'prompts = ""\nbudget_usd = ""',
    "from bedside.asking.replies import Request\nfrom bedside.run import Run\n"
    "run = Run('cancer_myth', '{name}', profile=profile, mode=mode, models=models,"
    " budget_usd=budget_usd)",
    "said = [[{{'role': 'user', 'content': f'{said} {{k}}'}}] for k in range({count})]\n"
    "asked = [Request(f'q{{k}}', name, m, {{'max_tokens': 20}}) for name in run.models for k, m in"
    " enumerate(said)]\n"
    "replies = await run.ask(asked, 'answers')",
    "run.close()",
)


def notebook(root, name, said="question", count=6):
    """Write a notebook of cancer_myth that asks each model so many questions."""
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": []}
        | {"execution_count": None}
        | {"source": [c.format(name=name, said=said, count=count) if i else c]}
        for i, c in enumerate(CELLS)
    ]
    cells[0]["metadata"] = {"tags": ["parameters"]}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}}
    path = root / f"notebooks/cancer_myth/{name}.ipynb"
    path.write_text(json.dumps({**made, "nbformat": 4, "nbformat_minor": 5}))


@pytest.fixture
def project(root, endpoint):
    """A copy of the project with two small notebooks, and models behind `endpoint`."""
    with open(root / "data/models.toml", "a") as f:
        f.write(ENTRY.format(name="remote", url=endpoint.url))
    for name in ("90_first", "91_second"):
        notebook(root, name)
    return root


def run(project, *more, both=True):
    """Record by the notebooks, in a process of their own, as `make` starts it."""
    names = ["cancer_myth/90_first", "cancer_myth/91_second"][: 1 + both]
    given = ["-p", "mode", "record", "-p", "models", "remote", *more]
    known = {k: v for k, v in os.environ.items() if k != "BEDSIDE_MAKE"}
    return subprocess.run(
        [sys.executable, "-m", "bedside", "run", *names, *given],
        capture_output=True,
        text=True,
        timeout=120,
        env={**known, "BEDSIDE_ROOT": str(project), "REMOTE_KEY": KEY},
    )


def executed(project, name):
    """The errors that an executed notebook shows; None if it didn't run."""
    for path in (project / ".cache/executed").rglob(f"{name}.ipynb"):
        outputs = [o for c in json.loads(path.read_text())["cells"] for o in c.get("outputs", [])]
        return [o["evalue"] for o in outputs if o["output_type"] == "error"]
    return None


def failures(project):
    """The rows of errors.csv; None if there is no such file."""
    if not (found := list((project / "figures").rglob("errors.csv"))):
        return None
    (path,) = found
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def refused(status, message):
    body = {"error": {"message": message, "code": status}}
    return lambda n, asked: (status, {}, body)


STOPS = {
    "budget": (None, "BUDGET_USD=0.0002 would be passed"),
    "key": (refused(401, f"No such key: {KEY}."), "the key (401): No such key: ***. 401;"),
}


@pytest.mark.parametrize("why", STOPS)
def test_a_stop_is_one_sentence_everywhere(project, endpoint, why):
    script, words = STOPS[why]
    endpoint.script = script or endpoint.script
    done = run(project, *["-p", "budget_usd", "0.0002"] * (why == "budget"))
    printed = done.stdout + done.stderr
    (sentence,) = executed(project, "90_first")
    assert words in sentence and "\n" not in sentence and printed.count(sentence) == 1
    assert done.returncode == 1 and f"bedside: cancer_myth/90_first: {sentence}" in done.stderr
    assert "Traceback" not in printed and "never awaited" not in printed and KEY not in printed
    assert executed(project, "91_second") is None  # it would end in the same way
    files = [p for p in project.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    assert files == []
    if why == "key":
        (row,) = failures(project)
        assert list(row) == ["model", "notebook", "kind", "status", "message", "calls"]
        assert (row["model"], row["notebook"]) == ("remote", "cancer_myth/90_first")
        assert row["status"] in words and row["message"] in words
        assert int(row["calls"]) == len(endpoint.bodies) <= 4
        assert f"{row['calls']} failed: remote, {row['kind']}" in done.stdout
        assert "errors.csv" in done.stdout
    else:
        assert failures(project) is None


# ---- make


VALUES = ["'; touch FILE; '", "$(shell touch FILE)", "`touch FILE`", '"; touch FILE', "../../x"]


def test_a_value_never_runs_as_a_command(tmp_path):
    """Whatever it holds, it is a wrong one, and is named as it was given."""
    file = tmp_path / "touched"
    known = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    names = ("MODELS", "YOURS", "MIRROR", "PAPER", "MODELS")
    for name, value in zip(names, (v.replace("FILE", str(file)) for v in VALUES)):
        target = {"PAPER": "new", "MIRROR": "data"}.get(name, "plan")
        command = ["make", "--no-print-directory", "-C", str(paths.ROOT), target, f"{name}={value}"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=120, env=known)
        assert not file.exists(), value
        shown = value.split()[0] if name == "MODELS" else value
        told = shown in made.stderr or repr(shown)[1:-1] in made.stderr
        assert name in ("MIRROR", "YOURS") or (made.returncode == 2 and told), value
