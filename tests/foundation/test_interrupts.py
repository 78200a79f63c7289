"""Ctrl-C at any moment, also while modules are imported: a line, and exit status 130."""

import os
import signal
import subprocess
import sys
import time

from conftest import completion, until


def started(*words, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "bedside", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        # shells let what runs behind them ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_while_calls_are_made_what_came_is_kept(endpoint, root):
    endpoint.script = lambda n, body: (time.sleep(0.2), completion("fine"))[1]
    with open(root / "data/models.toml", "a") as f:
        f.write(f'\n[slow]\nprovider = "test"\nbase_url = "{endpoint.url}"\nmodel = "m"\n')
        f.write("max_concurrency = 2\n")
    given = ["-p", "models", "slow", "-p", "mode", "record"]
    process = started("run", "cancer_myth/03_evaluation", *given, BEDSIDE_ROOT=str(root))
    until(lambda: len(endpoint.bodies) > 6)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "Traceback" not in told, told
    assert "Interrupted. All replies so far are recorded" in told
    kept = (root / "data/recordings/cancer_myth/sample/slow.jsonl").read_text().splitlines()
    assert 0 < len(kept) < 63
