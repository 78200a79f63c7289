"""A make over whole studies is killed and continued: what is paid for, by the endpoint's count."""

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import psutil
import pytest

from bedside.asking import store
from bedside.read import paths
from conftest import until
from providers import KEY, Providers

AT_ONCE = 6
ENTRY = """
[scripted]
provider = "scripted"
base_url = "{url}"
model = "gpt-4"
revision = "1"
api_key_env = "SCRIPTED_KEY"
max_concurrency = {at_once}
usd_per_million_in = 1
usd_per_million_out = 2
"""


class Paid(Providers):
    """The endpoint, which takes a while for each answer; `usd`: of all that it has answered."""

    def __init__(self):
        super().__init__()
        self.usd, answer, rng = 0.0, self.script, random.Random(0)

        def script(n, body):
            status, headers, content = answer(n, body)
            usage = json.loads(content)["usage"]
            time.sleep(rng.uniform(0.01, 0.04))
            with self.lock:
                self.usd += (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1e6
            return status, headers, content

        self.script = script


class Checkout:
    """A copy of the project whose model stands at the endpoint."""

    def __init__(self, folder, endpoint, studies, limit):
        self.folder, self.endpoint = folder, endpoint
        self.words = [*studies, "MODELS=scripted", "JUDGE=scripted", f"LIMIT={limit}", "RUN=mine"]
        self.words += ["MODE=record", "BUDGET_TOTAL=50"]
        for name in ("data", "notebooks", "lib"):
            but = shutil.ignore_patterns("external", "*.egg-info")
            shutil.copytree(paths.ROOT / name, folder / name, ignore=but)
        for name in ("Makefile", "requirements.lock", "pyproject.toml"):
            shutil.copy(paths.ROOT / name, folder / name)
        (folder / ".venv").symlink_to(sys.prefix)
        with open(folder / "data/models.toml", "a", encoding="utf-8") as f:
            f.write(ENTRY.format(url=endpoint.at("openai"), at_once=AT_ONCE))

    def begun(self):
        """The make, as the first process of its own group."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CONDA", "BEDSI"))}
        env |= {"PYTHONPATH": str(self.folder / "lib"), "SCRIPTED_KEY": KEY}
        with open(self.folder / "told.txt", "a") as told:
            return subprocess.Popen(
                ["make", "-o", ".venv/.ready", *self.words],
                cwd=self.folder,
                env=env,
                stdout=told,
                stderr=told,
                start_new_session=True,
            )

    def made(self):
        """Let the make come to its end."""
        assert self.begun().wait(900) == 0, (self.folder / "told.txt").read_text()[-3000:]

    def killed(self, after, pause):
        """Kill the make, so many calls after its start and a pause."""
        before, make = len(self.endpoint.bodies), self.begun()
        until(lambda: len(self.endpoint.bodies) >= before + after or make.poll() is not None, 600)
        time.sleep(pause)
        assert make.poll() is None
        kernels = psutil.Process(make.pid).children(recursive=True)
        os.killpg(make.pid, signal.SIGKILL)
        make.wait()
        _, left = psutil.wait_procs(kernels, 30)  # these notice that who started them is gone
        assert not left

    def recorded(self):
        """All recordings of its model."""
        lines = [
            line
            for path in (self.folder / "data/recordings").rglob("scripted.jsonl")
            for line in path.read_text("utf-8").split("\n")[:-1]
        ]
        return [r for r in map(whole, lines) if r]

    def spent(self):
        """USD that BUDGET_TOTAL counts."""
        file = self.folder / ".cache/calls.json"
        spent = json.loads(file.read_text())["spent"] if file.is_file() else {}
        return sum(usd for scope, usd in spent.items() if not scope.startswith("make "))

    def tables(self):
        """{table: rows} of its run, without the time that calls took."""
        folder, found = self.folder / "figures/runs/mine", {}
        for path in folder.rglob("*.csv"):
            with open(path, encoding="utf-8-sig", newline="") as file:
                rows = [{k: v for k, v in r.items() if k != "hours"} for r in csv.DictReader(file)]
            found[path.relative_to(folder).as_posix()] = rows
        return found


def whole(line):
    """A line of recordings; None for what a kill cut off."""
    try:
        return json.loads(line)
    except ValueError:
        return None


def bodies(endpoint, since=0):
    return Counter(map(store.canonical, endpoint.bodies[since:]))


def quiet(endpoint):
    """Wait until what was sent has reached the endpoint and is answered."""
    seen = None
    while seen != (seen := (len(endpoint.bodies), endpoint.usd)):
        time.sleep(0.3)


def killed_and_continued(folder, studies, limit, kills, seed=0):
    """All that the test promises, for studies and a number of kills; prints what was counted."""
    rng = random.Random(seed)
    with Paid() as endpoint:
        once = Checkout(folder / "once", endpoint, studies, limit)
        once.made()
        asked, count = bodies(endpoint), len(endpoint.bodies)
        print(
            f"uninterrupted: {count} calls; paid ${endpoint.usd:.4f}, counted ${once.spent():.4f}"
        )
    with Paid() as endpoint:
        mine, kept, lost = Checkout(folder / "killed", endpoint, studies, limit), [], []
        for _ in range(kills):
            before = len(endpoint.bodies)
            mine.killed(rng.randint(1, (count - len(kept)) // 2), rng.uniform(0, 0.1))
            quiet(endpoint)
            sent, records = len(endpoint.bodies) - before, mine.recorded()
            lost.append(sent - (len(records) - len(kept)))
            print(
                f"killed after {sent} calls, {lost[-1]} of them in flight or not on disk yet;",
                end="",
            )
            print(f" paid ${endpoint.usd:.4f}, counted ${mine.spent():.4f}", flush=True)
            assert all(r in records for r in kept)
            assert 0 <= lost[-1] <= 2 * AT_ONCE  # sent, or come and waiting for the disk
            assert mine.spent() >= endpoint.usd
            kept = records
        before = len(endpoint.bodies)
        mine.made()
        total = len(endpoint.bodies)
        print(f"to its end: {total - before} calls, {len(kept)} replies were recorded before")
        print(f"in all {total} calls, {sum(lost)} of them again;", end="")
        print(f" paid ${endpoint.usd:.4f}, counted ${mine.spent():.4f}", flush=True)
        assert total == count + sum(lost) and mine.spent() >= endpoint.usd
        assert not asked - bodies(endpoint) and (bodies(endpoint) - asked).total() == sum(lost)
        keys = [[r["key"] for r in each.recorded()] for each in (once, mine)]
        assert sorted(keys[0]) == sorted(keys[1]) and len(set(keys[1])) == count
        assert mine.tables() == once.tables()
        shutil.rmtree(mine.folder / ".cache/stamps")  # as `make clean` does
        mine.made()
        assert len(endpoint.bodies) == total and mine.tables() == once.tables()
        print(f"once more: {len(endpoint.bodies) - total} calls")


@pytest.mark.slow
def test_a_make_that_is_killed_and_continued_loses_nothing_that_was_paid_for(tmp_path):
    """It pays again only for what was in flight, and ends with the same tables."""
    killed_and_continued(tmp_path, ["radiation"], limit=1, kills=2)
