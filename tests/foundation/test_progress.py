"""What a person sees who waits: the line of a notebook, and what Ctrl-C says."""

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from bedside.asking import progress
from bedside.keep import ledger
from bedside.read import paths
from conftest import completion, until

STATE = {"label": "answers", "done": 120, "total": 735, "recorded": 100}


@pytest.mark.parametrize(
    "more, rate, shown",
    [
        ({}, 0.0, "a/03 answers: 120 of 735, $0.12 so far"),
        ({}, 4.1, "a/03 answers: 120 of 735, 4.1/s, 2 min left, $0.12 so far"),
        ({"total": None}, 4.1, "a/03 answers: 120, 4.1/s, $0.12 so far"),
        (
            {"failed": {"timeout": 1, "rate limit": 2}, "again": {"bad answer": 3}},
            0.0,
            "a/03 answers: 120 of 735, $0.12 so far, failed: 2 rate limit, 1 timeout, tried again:"
            " 3 bad answer",
        ),
    ],
)
def test_a_line_says_how_far_it_is_and_what_it_cost(more, rate, shown):
    state = {**STATE, "failed": {}, "again": {}, **more}
    assert progress.line("a/03", state, rate, 0.12) == shown


@pytest.mark.parametrize(
    "seconds, said", [(4, "4 s"), (99, "99 s"), (150, "2 min"), (7800, "2 h 10 min")]
)
def test_a_duration_as_a_person_says_it(seconds, said):
    assert progress.duration(seconds) == said


def test_without_a_terminal_lines_come_now_and_then(monkeypatch):
    monkeypatch.setattr(progress, "PRINTED_S", 0.05)
    shown = io.StringIO()
    earlier = ledger.Progress("a/02")  # of the same make, but not of these notebooks
    earlier.tell(**STATE, failed={}, again={})
    earlier.close()
    meter = ledger.Progress("a/03")
    with progress.Watch(["a/03"], file=shown) as watch:
        meter.tell(**STATE, failed={}, again={})
        until(shown.getvalue)
        watch.write("[ 1 of 1] a/03", "a/03")
        length = len(shown.getvalue())
        time.sleep(0.2)  # nothing more is said of a notebook that is done
    meter.close()
    first, *_, last = shown.getvalue().splitlines()
    assert first.startswith("a/03 answers: 120 of 735") and last == "[ 1 of 1] a/03"
    assert len(shown.getvalue()) == length


def in_terminal(command, environment, until, send, limit=60):
    """What a command shows in a terminal of its own, and its status; `send` goes in at `until`."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    ends = dict(stdin=inside, stdout=inside, stderr=inside)

    def own_terminal():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells let what runs behind them ignore it
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(command, env=environment, preexec_fn=own_terminal, **ends)
    os.close(inside)
    shown, end = b"", time.monotonic() + limit
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
        if until and re.search(until, shown):
            os.write(terminal, send)
            until = None
    os.close(terminal)
    return shown.decode(), process.wait(20)


VIEW = """
import time
from bedside.asking import progress
from bedside.keep import ledger
progress.DRAWN_S, meter = 0.1, ledger.Progress("a/03")
with progress.Watch(["a/03"]) as watch:
    meter.tell(label="answers", done=1, total=9, recorded=0, failed={}, again={})
    time.sleep(2)
    watch.write("[ 1 of 1] a/03", "a/03")
"""


def test_a_line_that_stays_comes_in_the_place_of_the_view():
    shown, status = in_terminal([sys.executable, "-c", VIEW], dict(os.environ), None, b"")
    assert status == 0 and "a/03 answers: 1 of 9" in shown
    before = shown.partition("[ 1 of 1] a/03")[0]
    assert re.search(r"\r +\r$", before), repr(before)  # it was wiped out


def test_ctrl_c_is_one_line_and_what_came_is_kept(endpoint, root, monkeypatch):
    endpoint.script = lambda n, body: (time.sleep(0.2), completion("fine"))[1]
    with open(root / "data/models.toml", "a") as f:
        f.write(f'\n[slow]\nprovider = "test"\nbase_url = "{endpoint.url}"\nmodel = "m"\n')
        f.write("max_concurrency = 2\n")
    command = [sys.executable, "-m", "bedside", "run", "cancer_myth/03_evaluation"]
    given = ["-p", "models", "slow", "-p", "mode", "record"]
    environment = {**os.environ, "BEDSIDE_ROOT": str(root), "BEDSIDE_FIGURES": ""}
    environment.pop("BEDSIDE_MAKE")
    view = rb"cancer_myth/03 answers: [1-9]\d* of 63, [\d.]+/s, \d+ s left"
    shown, status = in_terminal([*command, *given], environment, view, b"\x03")
    assert status == 130 and "Traceback" not in shown, shown
    told = shown.partition("^C")[2].split("bedside: ")[1].splitlines()
    assert told[0].startswith("interrupted; every reply that came is recorded") and not any(
        told[1:]
    )
    kept = (root / "data/recordings/cancer_myth/sample/slow.jsonl").read_text().splitlines()
    assert 0 < len(kept) < 63
    folder = root / "figures/runs/sample-slow"
    assert folder.is_dir() and [p.name for p in folder.parent.iterdir()] == ["sample-slow"]
    assert not (paths.FIGURES / "runs/sample-slow").exists()
