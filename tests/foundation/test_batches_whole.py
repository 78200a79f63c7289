"""Studies through batches from nothing, as users run them: the same bytes as by direct calls."""

import os
import shlex
import signal
import subprocess
import sys

import pytest

from batch_objects import CHAT
from batch_service import BatchService
from batch_study import KEY, sent, with_key

SHOWN = (".csv", ".md", ".svg", ".png")
QUESTIONS = """item,question,reference
water,How much water a day after the operation?,As much as you are thirsty for
rest,May I climb stairs a week after it?,"Yes, slowly"
wound,When can I shower?,After two days
"""
ENTRY = """
[{name}]
provider = "test"
base_url = "{url}"
model = "{name}-1"
api_key_env = "TEST_KEY"
usd_per_million_in = 1
usd_per_million_out = 2
batch_discount = 0.5
"""


@pytest.fixture
def service():
    with BatchService() as service:
        yield service


@pytest.fixture
def project(root, service):
    """A copy of the project with three models at the service, and few questions."""
    with open(root / "data/models.toml", "a", encoding="utf-8") as f:
        f.writelines(ENTRY.format(name=name, url=service.url) for name in "abc")
    (root / "mine.csv").write_text(QUESTIONS, encoding="utf-8")
    return root


def begun(project, command, **environment):
    """A step in a process of its own, outputs as one text."""
    known = {k: v for k, v in os.environ.items() if k != "BEDSIDE_MAKE"}
    return subprocess.Popen(
        [sys.executable, "-m", "bedside", *shlex.split(command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=project,
        env={**known, "BEDSIDE_ROOT": str(project), "TEST_KEY": KEY, **environment},
    )


def done(project, command, **environment):
    """What such a step prints once it is over."""
    process = begun(project, command, **environment)
    told, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and KEY not in told, told
    return told


def killed(project, service, command, count):
    """Run a step, and kill it when the service has made so many batches more."""
    made = len(service.batches) + count

    def fault(method, path):
        if (method, path) == ("POST", "/v1/batches") and len(service.batches) + 1 == made:
            os.kill(process.pid, signal.SIGKILL)
            return "drop after"
        return None

    process, service.fault = begun(project, command), fault
    told, _ = process.communicate(timeout=120)
    service.fault = None
    assert process.returncode == -signal.SIGKILL and len(service.batches) == made, told


def shown(folder):
    """{name: bytes} of tables and figures; batches cost less."""
    found = {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in SHOWN}
    found.pop("models_costs.csv", None)
    assert {p.rpartition(".")[2] for p in found} >= {"csv", "md"}
    return found


ASKED = "QUESTIONS=mine.csv 'MODELS=a b' JUDGE=c"


def directly(project, command, folder, **environment):
    """Tables and figures of a study by direct calls, whose recordings then are gone."""
    told = done(project, command, **environment)
    assert (project / folder).is_dir(), told
    made = shown(project / folder)
    before = [p for p in (project / "data/recordings").rglob("[abc].jsonl")]
    assert before, told
    for path in before:
        path.unlink()
    for path in (project / folder).iterdir():
        if path.suffix in SHOWN:
            path.unlink()
    return made


def test_an_own_study_killed_twice_on_the_way(project, service):
    folder = "figures/own/mine"
    made = directly(project, f"study {ASKED}", folder)
    chats = sum(path == CHAT for path, _ in service.posts)
    for count in (2, 1):
        killed(project, service, f"batch --submit {ASKED}", count)
    told = done(project, f"batch --submit {ASKED}")
    assert "nothing is left to ask" in told and "make study" in told
    assert len(sent(service)) == 12 and set(sent(service).values()) == {1}
    assert sum(path == CHAT for path, _ in service.posts) == chats == 12
    told = done(project, f"study {ASKED} MODE=replay")
    assert shown(project / folder) == made, told
    assert with_key(project) == []
