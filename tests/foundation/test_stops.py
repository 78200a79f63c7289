"""What ends a run is one sentence, in the notebook and where `make` prints, and costs no more."""

import csv
import json
import os
import subprocess
import sys

import pytest

from bedside.read import paths

KEY = "sk-made-up-51c8d2a7e9"
ENTRY = """
[remote]
provider = "remote"
base_url = "{url}"
model = "remote"
api_key_env = "REMOTE_KEY"
max_concurrency = 1
usd_per_million_in = 1
usd_per_million_out = 2
"""
CELLS = (
    'profile = "sample"\nmode = "replay"\nmodels = ""\nbudget_usd = ""',
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
    """Write a notebook <paper>/<name> that asks each model so many questions."""
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None}
        | {"source": [c.format(name=name.partition("/")[2], said=said, count=count) if i else c]}
        for i, c in enumerate(CELLS)
    ]
    cells[0]["metadata"] = {"tags": ["parameters"]}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path = root / f"notebooks/{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made))


NOTEBOOKS = ["cancer_myth/90_first", "cancer_myth/91_second"]


def executed(project, name):
    """The errors that an executed notebook shows; None if it didn't run."""
    for path in (project / ".cache/executed").rglob(f"{name}.ipynb"):
        outputs = [o for c in json.loads(path.read_text())["cells"] for o in c.get("outputs", [])]
        return [o["evalue"] for o in outputs if o["output_type"] == "error"]
    return None


REFUSAL = {"error": {"message": f"No such key: {KEY}.", "code": 401}}
STOPS = {
    "budget": "BUDGET_USD=0.0002 would be exceeded",
    "key": "the key (401): No such key: ***. 401;",
}


@pytest.mark.parametrize("why", STOPS)
def test_a_stop_is_one_sentence_everywhere(root, endpoint, why):
    with open(root / "data/models.toml", "a") as f:
        f.write(ENTRY.format(url=endpoint.url))
    for name in NOTEBOOKS:
        notebook(root, name)
    given = ["-p", "mode", "record", "-p", "models", "remote"]
    if why == "key":
        endpoint.script = lambda n, asked: (401, {}, REFUSAL)
    else:
        given += ["-p", "budget_usd", "0.0002"]
    known = {k: v for k, v in os.environ.items() if k != "BEDSIDE_MAKE"}
    done = subprocess.run(
        [sys.executable, "-m", "bedside", "run", *NOTEBOOKS, *given],
        capture_output=True,
        text=True,
        timeout=120,
        env={**known, "BEDSIDE_ROOT": str(root), "REMOTE_KEY": KEY},
    )
    printed = done.stdout + done.stderr
    (sentence,) = executed(root, "90_first")
    assert STOPS[why] in sentence and "\n" not in sentence and printed.count(sentence) == 1
    assert done.returncode == 1 and f"bedside: cancer_myth/90_first: {sentence}" in done.stderr
    assert "Traceback" not in printed and "never awaited" not in printed and KEY not in printed
    assert executed(root, "91_second") is None  # it would end in the same way
    assert not [p for p in root.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    listed = [*(root / "figures").rglob("errors.csv")]
    assert bool(listed) == (why == "key")
    if listed:
        with open(listed[0], newline="") as file:
            (row,) = csv.DictReader(file)
        assert list(row) == ["model", "notebook", "kind", "status", "message", "calls"]
        assert (row["model"], row["notebook"]) == ("remote", "cancer_myth/90_first")
        assert row["status"] in STOPS[why] and row["message"] in STOPS[why]
        assert int(row["calls"]) == len(endpoint.bodies) <= 4
        assert f"{row['calls']} failed: remote, {row['kind']}" in done.stdout
        assert "errors.csv" in done.stdout
