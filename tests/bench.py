"""What this machine takes for calls, replay, batches, statistics and `make all`: `make bench`."""

import asyncio
import contextlib
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bedside.keep import registry
from bedside.keep.replies import Request

sys.path.insert(0, str(Path(__file__).parent))
from bench_batches import batches  # noqa: E402
from bench_explorer import explorer  # noqa: E402

SERVER = """
import asyncio, itertools, json, sys
from aiohttp import web
count, delay = itertools.count(), float(sys.argv[1])
TEXT = "COUNT " + " ".join(f"word{i} of the reply" for i in range(10))
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}
USAGE = {"prompt_tokens": 90, "completion_tokens": 50}
DATA = json.dumps({"model": "m", "choices": [CHOICE], "usage": USAGE})
async def answer(request):
    await request.read()
    await asyncio.sleep(delay)
    data = DATA.replace("COUNT", f"reply {next(count)}").encode()
    return web.Response(body=data, content_type="application/json")
async def main():
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=512)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


def show(what, seconds, more=""):
    print(
        f"{what:58} {statistics.median(seconds):7.2f} s   {min(seconds):.2f} to {max(seconds):.2f},"
        f" n = {len(seconds)}{more}",
        flush=True,
    )


def timed(function, times=3):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return taken


def requests(count):

    text = (
        "I was told last week that I have an early cancer and I would like to know what to plan"
        " for. " * 3
    )
    return [
        Request(
            f"q{i}",
            "bench",
            [{"role": "user", "content": f"{i} {text}"}],
            {"max_tokens": 96, "temperature": 0},
        )
        for i in range(count)
    ]


def bare(asked, url):
    """The same requests by a loop that does nothing else: no key, no retries, nothing on disk."""
    import aiohttp

    async def all_of_them():
        queue = iter(asked)
        async with aiohttp.ClientSession() as session:

            async def work():
                for request in queue:
                    async with session.post(f"{url}/chat/completions", json=request.body()) as r:
                        json.loads(await r.read())

            async with asyncio.TaskGroup() as tasks:
                for _ in range(100):
                    tasks.create_task(work())

    asyncio.run(all_of_them())


def calls():
    from bedside.asking import models
    from bedside.keep import store

    with served(0.05) as url:
        entry = {"provider": "bench", "model": "m", "max_concurrency": 100, "base_url": url}
        registry.entries()["bench"] = entry

        def recorded(asked):
            with tempfile.TemporaryDirectory(dir=".") as folder:
                kept = store.Recordings(folder)
                asyncio.run(models.ask(asked, kept, mode="record", progress=False))

        recorded(requests(100))  # the first one imports the client
        for count, times in ((2000, 5), (20_000, 2)):
            pairs = []
            for _ in range(times):
                ours = timed(lambda n=count: recorded(requests(n)), 1)[0]
                pairs.append((ours, timed(lambda n=count: bare(requests(n), url), 1)[0]))
            what = f"{count:,} calls of 50 ms, 100 at a time"
            show(f"{what}, every reply on disk", [a for a, _ in pairs])
            ratios = "; ratio " + ", ".join(f"{a / b:.2f}" for a, b in pairs)
            show(f"{what}, bare aiohttp", [b for _, b in pairs], ratios)


CONSULTATIONS = """
import asyncio, resource, sys, time
from bedside.asking import models
from bedside.keep import registry, store
from bedside.papers.meddialbench import consultations, design, study
from bedside.run import Run
number, url, folder, mode = int(sys.argv[1]), *sys.argv[2:]
doctors = [f"bench{i}" for i in range(5)]
entry = {"provider": "bench", "max_concurrency": 100, "base_url": url}
for name in doctors:
    registry.entries()[name] = {**entry, "model": name}
async def main():
    run = Run("meddialbench", "bench", profile="sample", mode=mode)
    run.recordings = store.Recordings(folder)
    plan = design.read(run)
    six, scripts = await study.cases(run, plan, 0)
    made = []
    for i in range(85):
        complaint = six["complaint"].iloc[i % 6] + f" ({i})"
        case = six.iloc[[i % 6]].assign(item=f"bench-{i}", complaint=complaint)
        made += consultations.planned(case, plan.configurations(), doctors, "bench0", 12)
    made = made[:number]
    start = time.perf_counter()
    async with run.asking() as one:
        speakers = consultations.by_models(run, one, made, plan, scripts, 300, 0.7)
        await consultations.hold(made, *speakers)
    assert all(c.end == "limit" and len(c.turns) == 12 and c.status == "graded" for c in made)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(time.perf_counter() - start, peak, sum(len(c.keys) for c in made))
asyncio.run(main())
"""


def consultations():
    """Whole consultations against an endpoint that answers at once, and their replay."""
    unit = 1024 if platform.system() == "Linux" else 1024**2
    with served(0) as url:
        for number in (1000, 7225):
            with (
                tempfile.TemporaryDirectory(dir=".") as folder,
                tempfile.TemporaryDirectory() as figures,
            ):
                for mode, what in (("record", "held"), ("replay", "replayed")):
                    out = subprocess.run(
                        [sys.executable, "-c", CONSULTATIONS, str(number), url, folder, mode],
                        capture_output=True,
                        text=True,
                        check=True,
                        env={**os.environ, "BEDSIDE_FIGURES": figures},
                    ).stdout.split()
                    show(
                        f"{number:,} consultations of 12 turns {what}",
                        [float(out[0])],
                        f"; {int(out[1]) / unit:.0f} MiB, {int(out[2]) / float(out[0]):,.0f}"
                        " replies a second",
                    )


@contextlib.contextmanager
def served(delay):
    """URL of an endpoint in a process of its own that answers after `delay` seconds."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(delay)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()


REPLAY = """
import asyncio, resource, sys, time
sys.path.insert(0, {tests!r})
from bench import requests
from bedside.asking import models
from bedside.keep import registry, store
registry.entries()["bench"] = {{"provider": "bench", "model": "m"}}
asked = requests(100_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
replies = asyncio.run(models.ask(asked, store.Recordings({folder!r})))
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before)
assert len(replies) == 100_000 and replies[-1].text
"""


def replay():
    from bedside.keep import store

    registry.entries()["bench"] = {"provider": "bench", "model": "m"}
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder, "bench.jsonl"), "w") as f:
            for r in requests(100_000):
                f.write(
                    json.dumps(
                        {
                            "key": r.key,
                            "item": r.item,
                            "text": "a reply of some forty words " * 7,
                            "finish": "stop",
                            "refusal": "",
                            "returned_model": "m",
                            "prompt_tokens": 90,
                            "completion_tokens": 50,
                            "fields": store.redacted(r.fields),
                        },
                        separators=(",", ":"),
                    )
                    + "\n"
                )
        taken, memory = [], []
        for _ in range(3):
            out = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    REPLAY.format(tests=str(Path(__file__).parent), folder=folder),
                ],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            taken.append(float(out[0]))
            unit = 1024 if platform.system() == "Linux" else 1024**2
            memory.append(int(out[1]) / unit)
            before = int(out[2]) / unit
        show(
            "100,000 recorded replies found (keys, lookup, parsing)",
            taken,
            f"; {max(memory):.0f} MiB in all, {before:.0f} of it the requests",
        )


def intervals():
    import numpy as np

    from bedside import stats

    grades = np.random.default_rng(0).integers(-1, 2, (585, 8)).astype(float)
    stats.mean(grades, scale=(-1, 1))
    show(
        "intervals: means of 585 items, 8 models",
        timed(lambda: stats.mean(grades, scale=(-1, 1)), 5),
    )


def builds():
    count = len(list(Path("notebooks").glob("*/[0-9][0-9]_*.ipynb")))
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.ipynb")
        cell = {
            "cell_type": "code",
            "id": "a",
            "metadata": {"tags": ["parameters"]},
            "outputs": [],
            "execution_count": None,
            "source": "import pandas\nimport matplotlib.pyplot",
        }
        empty.write_text(
            json.dumps(
                {
                    "cells": [cell],
                    "metadata": {
                        "kernelspec": {
                            "name": "python3",
                            "display_name": "Python 3",
                            "language": "python",
                        }
                    },
                    "nbformat": 4,
                    "nbformat_minor": 5,
                }
            )
        )
        papermill = [
            str(Path(sys.executable).with_name("papermill")),
            "--no-progress-bar",
            str(empty),
            str(Path(folder, "out.ipynb")),
        ]
        quiet = {
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "check": True,
            "env": {k: v for k, v in os.environ.items() if not k.startswith("MAKE")},
        }

        def empties():
            for _ in range(count):
                subprocess.run(papermill, **quiet)

        def build():
            subprocess.run(["make", "clean"], **quiet)
            subprocess.run(["make", "all"], **quiet)

        pairs = [(timed(build, 1)[0], timed(empties, 1)[0]) for _ in range(4)][1:]
        show(f"make all, sample, {count} notebooks, everything replayed", [a for a, _ in pairs])
        show(
            f"papermill on {count} empty notebooks",
            [b for _, b in pairs],
            "; ratio " + ", ".join(f"{a / b:.2f}" for a, b in pairs),
        )
        show(
            "make all again, nothing changed",
            timed(lambda: subprocess.run(["make", "all"], **quiet)),
        )


if __name__ == "__main__":
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(
        f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB,"
        f" Python {platform.python_version()}"
    )
    print("median, range of the repetitions")
    parts = (calls, consultations, replay, batches, intervals, explorer, builds)
    for part in [p for p in parts if p.__name__ in sys.argv[1:]] or parts:  # all, or those named
        part()
    print(
        "this process used at most"
        f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )
