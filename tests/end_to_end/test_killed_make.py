"""A make over a whole study is killed and continued: what is paid for, by the endpoint's count."""

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import time

import psutil
import pytest

from conftest import of_make, until
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
MAKE = "make -o .venv/.ready radiation MODELS=scripted JUDGE=scripted LIMIT=1 RUN=mine".split()


@pytest.fixture
def paid():
    """An endpoint that takes a while for each answer; `usd`: of all that it has answered."""
    rng = random.Random(0)
    with Providers() as endpoint:
        answer, endpoint.usd = endpoint.script, 0.0

        def script(n, body):
            status, headers, content = answer(n, body)
            usage = json.loads(content)["usage"]
            time.sleep(rng.uniform(0.01, 0.04))
            with endpoint.lock:
                endpoint.usd += (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1e6
            return status, headers, content

        endpoint.script = script
        yield endpoint


def recorded(root):
    """All whole recordings of the model."""
    files = (root / "data/recordings").rglob("scripted.jsonl")
    lines = (line for path in files for line in path.read_text("utf-8").split("\n")[:-1])
    return [json.loads(line) for line in lines if line.endswith("}")]  # not what was cut off


def tables(root):
    """{table: rows} of its run, without the time that calls took."""
    folder, found = root / "figures/runs/mine", {}
    for path in folder.rglob("*.csv"):
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [{k: v for k, v in r.items() if k != "hours"} for r in csv.DictReader(file)]
        found[path.relative_to(folder).as_posix()] = rows
    return found


@pytest.mark.slow
def test_a_make_that_is_killed_and_continued_loses_nothing_that_was_paid_for(checkout, paid):
    """It pays again only for what was in flight, and made anew it has the same tables."""
    with open(checkout / "data/models.toml", "a", encoding="utf-8") as f:
        f.write(ENTRY.format(url=paid.at("openai"), at_once=AT_ONCE))
    shutil.rmtree(checkout / "data/recordings")

    def begun(*words):
        env = {**of_make(checkout), "SCRIPTED_KEY": KEY}
        where = {"cwd": checkout, "env": env, "start_new_session": True}
        return subprocess.Popen([*MAKE, "BUDGET_TOTAL=50", *words], **where)

    def spent():
        counted = json.loads((checkout / ".cache/calls.json").read_text())["spent"]
        return sum(usd for scope, usd in counted.items() if not scope.startswith("make "))

    kept, lost = [], 0
    for calls in (3, 9):
        before, make = len(paid.bodies), begun("MODE=record")
        until(lambda n=before + calls, make=make: len(paid.bodies) >= n or make.poll() == 2, 600)
        kernels = psutil.Process(make.pid).children(recursive=True)
        os.killpg(make.pid, signal.SIGKILL)
        make.wait()
        _, left = psutil.wait_procs(kernels, 30)  # these notice that who started them is gone
        time.sleep(2)  # until what was sent has reached the endpoint
        records = recorded(checkout)
        in_flight = len(paid.bodies) - before - (len(records) - len(kept))
        assert not left and all(r in records for r in kept) and 0 <= in_flight <= 2 * AT_ONCE
        assert spent() >= paid.usd > 0
        kept, lost = records, lost + in_flight
    assert begun("MODE=record").wait(900) == 0
    keys = [r["key"] for r in recorded(checkout)]
    assert len(keys) == len({*keys}) == len(paid.bodies) - lost and spent() >= paid.usd
    made, calls = tables(checkout), len(paid.bodies)
    shutil.rmtree(checkout / ".cache/stamps")  # as `make clean` does
    assert begun("MODE=record").wait(900) == 0
    assert len(paid.bodies) == calls and tables(checkout) == made != {}
