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

from bedside.asking import registry
from bedside.asking.replies import Request

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
    told = f"{min(seconds):.2f} to {max(seconds):.2f}, n = {len(seconds)}{more}"
    print(f"{what:58} {statistics.median(seconds):7.2f} s   {told}", flush=True)


def timed(function, times=3):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return taken


def requests(count, repeated=1):
    text = "I was told last week that I have an early cancer, and want to know what to plan for. "
    for i in range(count):
        asked = [{"role": "user", "content": f"{i} {repeated * text}"}]
        yield Request(f"q{i}", "bench", asked, {"max_tokens": 96, "temperature": 0})


@contextlib.contextmanager
def served(delay):
    """URL of an endpoint in a process of its own that answers after `delay` seconds."""
    command = [sys.executable, "-c", SERVER, str(delay)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()


async def a_hundred_at_a_time(asked, send):
    queue = iter(asked)

    async def work():
        for request in queue:
            await send(request)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(100):
            tasks.create_task(work())


async def bare(asked, url):
    """Requests by a loop that does nothing else: no key, no retries, nothing on disk."""
    import aiohttp

    async with aiohttp.ClientSession() as session:

        async def send(request):
            async with session.post(f"{url}/chat/completions", json=request.body()) as r:
                json.loads(await r.read())

        await a_hundred_at_a_time(asked, send)


async def by_client(asked, url):
    """The same by openai's client, whose answers are left as they come."""
    import httpx2
    import openai

    http = openai.DefaultAioHttpClient(follow_redirects=False)
    async with openai.AsyncOpenAI(base_url=url, api_key="none", http_client=http) as client:

        async def send(request):
            await client.post("/chat/completions", body=request.body(), cast_to=httpx2.Response)

        await a_hundred_at_a_time(asked, send)


def calls():
    """Calls beside a loop of openai's client and a bare one, and their replay: seconds, ratios."""
    from bedside.asking import models, store

    def ask(mode, folder, count):
        kept, asked = store.Recordings(folder), list(requests(count, 3))
        return models.ask(asked, kept, mode=mode, progress=False)

    with served(0.05) as url:
        entry = {"provider": "bench", "model": "m", "max_concurrency": 100, "base_url": url}
        registry.entries()["bench"] = registry.as_model("bench", entry)
        asyncio.run(by_client(requests(100), url))  # imports
        for count, times in ((2000, 5), (20_000, 2)):
            taken = {}
            for _ in range(times):
                with tempfile.TemporaryDirectory(dir=".") as folder:
                    for how, made in (
                        ("recorded", lambda n=count, f=folder: ask("record", f, n)),
                        ("client.post", lambda n=count: by_client(requests(n, 3), url)),
                        ("bare aiohttp", lambda n=count: bare(requests(n, 3), url)),
                        ("replayed", lambda n=count, f=folder: ask("replay", f, n)),
                    ):
                        before = time.process_time()
                        wall = timed(lambda made=made: asyncio.run(made()), 1)[0]
                        used = time.process_time() - before
                        taken.setdefault(how, []).append((wall, used))
            for how, each in taken.items():
                walls, used = zip(*each)
                what = f"{count:,} calls of 50 ms, 100 at a time, {how}"
                show(what, walls, f"; processor {statistics.median(used):.2f} s")
            for beside in ("client.post", "bare aiohttp"):
                pairs = zip(taken["recorded"], taken[beside])
                wall, used = zip(*((a / x, b / y) for (a, b), (x, y) in pairs))
                told = f"{statistics.median(wall):.2f}, processor {statistics.median(used):.2f}"
                print(f"recorded to {beside}, in the same round: {told}", flush=True)


def batches():
    """Request files of turns of about 1,200 tokens, and an engine's results taken in."""
    from bedside.asking import batches, store
    from bedside.read import paths

    prices = {"usd_per_million_in": 1.0, "usd_per_million_out": 2.0, "batch_discount": 0.5}
    entry = {"provider": "bench", "base_url": "http://x/v1", "model": "bench", **prices}
    registry.entries()["bench"] = registry.as_model("bench", entry)
    message = {"role": "assistant", "content": "Have you had a fever, or lost weight? " * 3}
    body = {"id": "x", "created": 1, "model": "bench", "usage": {}}
    body["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
    reply = {"status_code": 200, "request_id": "r", "body": body}
    for count in (50_000, 200_000):
        with tempfile.TemporaryDirectory() as tmp:
            paths.BATCHES, paths.RECORDINGS = Path(tmp), Path(tmp, "recordings")

            def written(n=count):
                kept = store.Recordings(paths.RECORDINGS / "a" / "b")
                made = batches.write((batches.row(r, kept) for r in requests(n, 55)), "b")
                assert sum(m.lines for m in made) == n

            show(f"{count:,} requests written", timed(written, 1))
            with open(paths.BATCHES / "results.jsonl", "w") as out:
                for path in sorted(paths.BATCHES.glob("b/*.jsonl"), reverse=True):
                    for line in open(path, "rb"):
                        key = json.loads(line)["custom_id"]
                        row = {"id": "x", "custom_id": key, "response": reply, "error": None}
                        out.write(json.dumps(row) + "\n")
            results_file = paths.BATCHES / "results.jsonl"
            taken = timed(lambda f=results_file: batches.collect([f]), 1)
            show(f"{count:,} results taken in", taken)


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
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}

    def make(*goals):
        for goal in goals:
            subprocess.run(["make", goal], **quiet, env=environment)

    with tempfile.TemporaryDirectory() as folder:
        import nbformat

        empty = Path(folder, "empty.ipynb")
        made = nbformat.v4.new_notebook()
        made.cells = [nbformat.v4.new_code_cell("import pandas\nimport matplotlib.pyplot")]
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
        nbformat.write(made, empty)
        command = [str(Path(sys.executable).with_name("papermill")), str(empty), str(empty)]

        def empties():
            for _ in range(count):
                subprocess.run(command, **quiet, env=environment)

        show(f"make all, {count} notebooks replayed", timed(lambda: make("clean", "all")))
        show(f"papermill on {count} empty notebooks", timed(empties))
        show("make all again, nothing changed", timed(lambda: make("all")))


if __name__ == "__main__":
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(f"{platform.platform()}, {os.cpu_count()} cores, {memory:.0f} GiB, median and range of n")
    parts = (calls, batches, intervals, builds)
    for part in [p for p in parts if p.__name__ in sys.argv[1:]] or parts:  # all, or those named
        part()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"this process used at most {most:.0f} MiB")
