"""What this machine takes for calls, their replay and `make all`: `make bench`."""

import asyncio
import contextlib
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
    """Calls beside a loop of openai's client, and their replay."""
    from bedside.asking import models, store

    def ask(mode, folder, count):
        kept, asked = store.Recordings(folder), list(requests(count, 3))
        return models.ask(asked, kept, mode=mode)

    with served(0.05) as url:
        entry = {"provider": "bench", "model": "m", "max_concurrency": 100, "base_url": url}
        registry.entries()["bench"] = registry.as_model("bench", entry)
        asyncio.run(by_client(requests(100), url))  # imports
        count, taken = 2000, {}
        for _ in range(3):
            with tempfile.TemporaryDirectory(dir=".") as folder:
                for how, made in (
                    ("recorded", lambda f=folder: ask("record", f, count)),
                    ("client.post", lambda: by_client(requests(count, 3), url)),
                    ("replayed", lambda f=folder: ask("replay", f, count)),
                ):
                    before = time.process_time()
                    wall = timed(lambda made=made: asyncio.run(made()), 1)[0]
                    used = time.process_time() - before
                    taken.setdefault(how, []).append((wall, used))
        for how, each in taken.items():
            walls, used = zip(*each)
            what = f"{count:,} calls of 50 ms, 100 at a time, {how}"
            show(what, walls, f"; processor {statistics.median(used):.2f} s")


def builds():
    count = len(list(Path("notebooks").glob("*/[0-9][0-9]_*.ipynb")))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}

    def make(*goals):
        for goal in goals:
            subprocess.run(["make", goal], **quiet, env=environment)

    show(f"make all, {count} notebooks replayed", timed(lambda: make("clean", "all")))
    show("make all again, nothing changed", timed(lambda: make("all")))


if __name__ == "__main__":
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(f"{platform.platform()}, {os.cpu_count()} cores, {memory:.0f} GiB, median and range of n")
    parts = (calls, builds)
    for part in [p for p in parts if p.__name__ in sys.argv[1:]] or parts:  # all, or those named
        part()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"this process used at most {most:.0f} MiB")
