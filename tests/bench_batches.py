"""What many requests and results take: seconds and memory of a process of their own."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bedside.keep import registry
from bedside.keep.replies import Request

COUNTS = (50_000, 100_000, 200_000)
PARTS = ("requests written", "results taken in")


def requests(count):
    """Turns of a consultation: about 1,200 tokens each, as MedDialBench's are on average."""

    told = "A doctor asks one question at a time and ends the inquiry once enough is known. " * 12
    said = "It began three weeks ago and is worse at night, when I lie down; nothing helps. " * 14
    for i in range(count):
        yield Request(
            f"case {i}",
            "bench",
            [
                {"role": "system", "content": told},
                {"role": "user", "content": f"{i} {said}"},
                {"role": "assistant", "content": f"{said} {i}"},
            ],
            {"max_tokens": 1000, "temperature": 0},
        )


def work(part, count):
    """One part, in this process: prints its seconds and MiB at most."""
    from bedside.bulk import files, folder, results
    from bedside.keep import store
    from bedside.read import paths

    prices = {"usd_per_million_in": 1.0, "usd_per_million_out": 2.0, "batch_discount": 0.5}
    registry.entries()["bench"] = {"provider": "bench", "base_url": "x", "model": "bench", **prices}
    paths.RECORDINGS = folder() / "recordings"
    start = time.perf_counter()
    if part == PARTS[0]:
        sink = files.Sink(folder() / "parts" / "n", store.Recordings(paths.RECORDINGS / "a" / "b"))
        sink.extend(requests(count))
        sink.close()
        assert sum(m.lines for m in files.gather(folder() / "parts", folder() / "01", "b")) == count
    else:
        assert results.take([folder() / "results.jsonl"]).taken == count
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([time.perf_counter() - start, most]))


def answered():
    """What an engine writes for the request files, in another order."""
    from bedside.bulk import folder

    text = "Have you had a fever, or lost weight, and when did you first notice it? " * 3
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    usage = {"prompt_tokens": 1200, "completion_tokens": 60, "total_tokens": 1260}
    body = {"id": "x", "created": 1, "model": "bench", "choices": [choice], "usage": usage}
    response = json.dumps({"status_code": 200, "request_id": "r", "body": body})
    with open(folder() / "results.jsonl", "w") as out:
        for path in sorted(folder().glob("01/*.jsonl"), reverse=True):
            for line in open(path, "rb"):
                key = line[14:78].decode()
                row = f'{{"id":"x","custom_id":"{key}","response":{response},"error":null}}\n'
                out.write(row)


def batches():
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as tmp:
            os.environ["BEDSIDE_BATCHES"] = tmp
            for part in PARTS:
                command = [sys.executable, __file__, part, str(count)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds, most = json.loads(done.stdout)
                size = sum(p.stat().st_size for p in Path(tmp).rglob("01/*.jsonl")) / 1e6
                told = f"{count:,} {part} ({size:.0f} MB of requests)"
                print(f"{told:58} {seconds:7.2f} s   {most:.0f} MiB", flush=True)
                if part == PARTS[0]:
                    answered()


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
