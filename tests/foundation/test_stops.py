"""What ends a run is one sentence, in the notebook and where `make` prints, and costs no more.

Ctrl-C is a line, at any moment, and exit status 130.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import completion, until

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


@pytest.fixture
def started(root, endpoint):
    """A function that starts notebooks of a checkout whose model `remote` stands at `endpoint`."""
    with open(root / "data/models.toml", "a") as f:
        f.write(ENTRY.format(url=endpoint.url))
    for name in NOTEBOOKS:
        notebook(root, name)
    known = {k: v for k, v in os.environ.items() if k != "BEDSIDE_MAKE"}
    return lambda *names: subprocess.Popen(
        [sys.executable, "-m", "bedside", "run", *names, "-p", "mode", "record"]
        + ["-p", "models", "remote"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**known, "BEDSIDE_ROOT": str(root), "REMOTE_KEY": KEY},
        # shells let what runs behind them ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_a_refused_key_is_one_sentence_everywhere_and_ends_all_notebooks(started, root, endpoint):
    refusal = {"error": {"message": f"No such key: {KEY}.", "code": 401}}
    endpoint.script = lambda n, asked: (401, {}, refusal)
    process = started(*NOTEBOOKS)
    printed, told = process.communicate(timeout=120)
    (sentence,) = executed(root, "90_first")
    assert "the key (401): No such key: ***. 401. " in sentence and "\n" not in sentence
    assert process.returncode == 1 and f"bedside: cancer_myth/90_first: {sentence}" in told
    assert (printed + told).count(sentence) == 1 and KEY not in printed + told
    assert "Traceback" not in printed + told and "never awaited" not in printed + told
    assert executed(root, "91_second") is None  # it would end in the same way
    assert not [p for p in root.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    (path,) = (root / "figures").rglob("errors.csv")
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert row == {
        **{"model": "remote", "notebook": "cancer_myth/90_first", "kind": "key refused"},
        **{"status": "401", "message": "No such key: ***. 401", "calls": "1"},
    }
    assert "1 failed: remote, key refused" in printed and "errors.csv" in printed
    assert len(endpoint.bodies) == 1


def test_ctrl_c_is_a_line_and_what_came_is_kept(started, root, endpoint):
    endpoint.script = lambda n, body: (time.sleep(0.3), completion("fine"))[1]
    process = started(NOTEBOOKS[0])
    until(lambda: len(endpoint.bodies) > 2)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "Traceback" not in told, told
    assert "Interrupted. All replies so far are recorded" in told
    kept = (root / "data/recordings/cancer_myth/sample/remote.jsonl").read_text().splitlines()
    assert 0 < len(kept) < 6
