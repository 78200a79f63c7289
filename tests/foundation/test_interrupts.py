"""Ctrl-C at any moment, also while modules are imported: a line, and exit status 130."""

import os
import signal
import subprocess
import sys

import pytest

SLOW = "import sys, time; print('here', flush=True); time.sleep(60); sys.exit('in vain')"


@pytest.mark.parametrize("module", ["asyncio", "papermill"])
def test_while_a_module_is_imported(tmp_path, module):
    """A module that `python -m bedside` imports at once, and one that a step imports."""
    (tmp_path / f"{module}.py").write_text(SLOW)
    step = [sys.executable, "-m", "bedside", "run", "medhalu/01_benchmark"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        step,
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=environment,
        # shells let what runs behind them ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and len(told.splitlines()) == 1 and "interrupted" in told
