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

import psutil
import pytest

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
        return [json.loads(line) for line in lines if line.endswith("}")]  # not what was cut off

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


@pytest.mark.slow
def test_a_make_that_is_killed_and_continued_loses_nothing_that_was_paid_for(tmp_path):
    """It pays again only for what was in flight, and ends with the same tables."""
    rng, studies = random.Random(0), ["radiation"]
    with Paid() as endpoint:
        once = Checkout(tmp_path / "once", endpoint, studies, 1)
        once.made()
        count = len(endpoint.bodies)
    with Paid() as endpoint:
        mine, kept, lost = Checkout(tmp_path / "killed", endpoint, studies, 1), [], 0
        for _ in range(2):
            before = len(endpoint.bodies)
            mine.killed(rng.randint(1, (count - len(kept)) // 2), rng.uniform(0, 0.1))
            time.sleep(2)  # until what was sent has reached the endpoint
            records = mine.recorded()
            in_flight = len(endpoint.bodies) - before - (len(records) - len(kept))
            assert all(r in records for r in kept) and 0 <= in_flight <= 2 * AT_ONCE
            assert mine.spent() >= endpoint.usd
            kept, lost = records, lost + in_flight
        mine.made()
        assert len(endpoint.bodies) == count + lost and mine.spent() >= endpoint.usd
        keys = [sorted(r["key"] for r in each.recorded()) for each in (once, mine)]
        assert keys[0] == keys[1] and len({*keys[1]}) == count
        assert mine.tables() == once.tables()
        shutil.rmtree(mine.folder / ".cache/stamps")  # as `make clean` does
        mine.made()
        assert len(endpoint.bodies) == count + lost and mine.tables() == once.tables()
