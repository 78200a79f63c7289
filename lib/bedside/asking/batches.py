"""Batches: requests that wait, as files in OpenAI's format, and what an engine answers.

    rows = [row(r, recordings) for r in run.planned()]    # of each notebook in mode batch
    files = write(rows, "sample")                         # what all of them asked, as request files
    print(*collect("results.jsonl"), sep="\n")            # what came, recorded, with an account

A line's custom_id is the key of its request. What a recording needs besides is kept by key in
batches/asked. The user has an engine answer the files.
"""

import contextlib
import datetime
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Required, TypedDict

from bedside import BedsideError
from bedside.read import outside, paths

from . import failures, registry, store
from .failures import Failure
from .replies import Request

URL = "/v1/chat/completions"  # of a line, at all providers found
MOST_LINES, MOST_BYTES = 45_000, 190_000_000  # of a file; OpenAI takes 50,000 and 200 MB


def row(request: Request, recordings: store.Recordings) -> dict:
    """What stands for a request that waits, whose reply goes to these recordings.

    Raises StopRun for a retired model, and where request files can't hold what it is asked.
    """
    m = registry.check_there(request.model)
    if m.api == "completions" or registry.VARIABLE.search(json.dumps(m.extra_body)):
        raise registry.StopRun(
            f"model {request.model!r} can't be asked in batches: it uses bare text, or its"
            " extra_body uses a value from the environment, which mustn't be written to a file."
            " Call it with MODE=record."
        )
    folder, reads = (
        os.path.relpath(p, paths.RECORDINGS) for p in (recordings.folder, recordings.reads)
    )
    about = {"model": request.model, "folder": folder, "reads": reads, "likely": request.likely}
    usd = registry.cost(request.model, *request.estimate(), batch=True)
    return {**request.kept(), **about, "usd": usd, "body": request.body()}


class File(NamedTuple):
    """A request file: how many lines, and what is told of it."""

    path: Path
    lines: int
    text: str


def write(rows: Iterable[dict], run: str) -> list[File]:
    """Requests that wait, by `row`, as request files of a run, in place of those that were there.

    Each request is asked once; a file holds one model, and no more than an engine takes or the
    entry's `batch_tokens`. Its name changes with what it holds.
    """
    folder, waits = paths.BATCHES / run, {}
    for old in folder.glob("*.jsonl"):
        old.unlink()
    for each in rows:
        waits.setdefault(each["model"], {})[each["key"]] = each
    return [
        _written(folder, model, part)
        for model, asked in waits.items()
        for part in _parts(asked.values(), registry.model(model).batch_tokens or float("inf"))
    ]


def _parts(rows, most):
    """Rows of a model, as the (line, row)s of one file after the other."""
    part, size, tokens = [], 0, 0
    for row in rows:
        line = _line({"custom_id": row["key"], "method": "POST", "url": URL, "body": row["body"]})
        size, tokens = size + len(line), tokens + row["likely"]
        if part and (len(part) == MOST_LINES or size > MOST_BYTES or tokens > most):
            yield part
            part, size, tokens = [], len(line), row["likely"]
        part.append((line, row))
    yield part


def _line(value):
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _written(folder, model, part):
    """A request file; what was asked is on disk before anybody can answer it."""
    lines, rows = zip(*part)
    asked = [_line({k: v for k, v in row.items() if k != "body"}) for row in rows]
    store.append(paths.BATCHES / "asked" / f"{folder.name}.jsonl", asked)
    digest = store.digest([row["key"] for row in rows])[:8]
    path, content = folder / f"{paths.file_name(model)}-{digest}.jsonl", b"".join(lines)
    folder.mkdir(parents=True, exist_ok=True)
    paths.write(path, content)
    usd = registry.total(row["usd"] for row in rows)
    cost = "" if usd is None else f", at most ${usd:.2f}"
    size = f"{len(rows)} requests, {len(content) / 1e6:.1f} MB{cost}"
    return File(path, len(rows), f"{paths.rel(path)}: {size}")


# ---- results


class Result(TypedDict, total=False):
    """A line of results: OpenAI's, of which other engines leave out some."""

    custom_id: Required[str]
    response: dict | None
    error: Any


UNKNOWN, UNREADABLE = "never asked for by this checkout", "unreadable or cut off"
SHOWN = 20  # failures that are named


def collect(place: str | Path) -> list[str]:
    """Record what an engine wrote, in any order; it is on disk when it returns.

    place: a file, or a folder of files that end in .jsonl. Only what was asked for and has no
    recording yet is taken in. Returns the account in lines; of what wasn't taken in the first ones
    are named. Raises BedsideError for a place without a readable file, StoreError for recordings
    that can't be written; taking the same files again adds what was lost.
    """
    place = Path(place)
    files = [place] if place.is_file() else sorted(place.rglob("*.jsonl"))
    if not files:
        raise BedsideError(
            f"FROM={place}: no such file, and no folder with a .jsonl file. Name the"
            " engine's result file or its folder."
        )
    new, faults, known = _taken_in(files, store.Recordings(paths.BATCHES / "asked"))
    for (recordings, model), records in new.items():
        recordings.add(model, list(records.values()))
    taken, count = sum(map(len, new.values())), Counter(kind for kind, _ in faults.values())
    first = (
        f"{taken} taken in, {known} known already, {count['failed']} failed, {count[UNKNOWN]}"
        f" {UNKNOWN}, {count[UNREADABLE]} {UNREADABLE}"
    )
    lines = [f"  {text}" for _, text in faults.values()]
    return [first, *lines[:SHOWN], *["  ..."] * (len(lines) > SHOWN)]


def _taken_in(files, asked):
    """({(recordings, model): {key: record}}, {key or place: (kind, text) of a fault}, known)."""
    new, faults, folders, known = defaultdict(dict), {}, {}, 0
    for path, number, line in _lines(files):
        here = f"{paths.rel(path)} line {number}"
        try:
            result = _parsed(line)
            if not (about := asked.get(result["custom_id"])):
                faults[here] = UNKNOWN, f"{UNKNOWN}: {here}"
                continue
            key, model, where = about["key"], about["model"], (about["folder"], about["reads"])
            if where not in folders:
                folders[where] = store.Recordings(*(paths.RECORDINGS / p for p in where))
            records = new[folders[where], model]
            if key in records or key in folders[where]:
                known += 1
            else:
                masked = failures.masked(line, registry.model(model).secrets)
                records[key] = {**_record(about, _parsed(masked)), "batch": True}
            faults.pop(key, None)  # the same line failed elsewhere
        except Failure as e:
            faults[key] = "failed", f"{e.kind}: {model}, {about['item']}: {e.message}"
        except (ValueError, RecursionError):  # no JSON, or just not too deep to be parsed
            faults[here] = UNREADABLE, f"{UNREADABLE}: {here}"
    return new, faults, known


def _lines(files):
    """(path, number, line) of all lines that say anything."""
    for path in files:
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError as e:
            raise BedsideError(f"{paths.rel(path)} can't be read ({e.strerror})") from None
        yield from ((path, n, line) for n, line in enumerate(lines, 1) if line.strip())


def _parsed(line):
    """A line of results as an object with a custom_id and what came; ValueError for others."""
    outside.fitted(result := outside.parsed(line), Result)
    if not (result.get("response") or result.get("error")):
        raise ValueError("nothing came")
    return result


def _record(about, result):
    """The record of a line's reply; raises Failure."""
    response, error = result.get("response") or {}, result.get("error")
    status, answer = response.get("status_code", 200), response.get("body")
    created, date = answer.get("created") if isinstance(answer, dict) else None, None
    with contextlib.suppress(TypeError, ValueError, OverflowError, OSError):
        date = datetime.datetime.fromtimestamp(created, datetime.UTC) if created else None
    failed = answer is None and error
    if failed and status not in range(400, 600):
        status = failures.status_of(error)
    try:
        if failed or status != 200:
            status = status if isinstance(status, int) else 502
            raise failures.failure_of(status, json.dumps(failed or answer).encode(), {}, ())
        return failures.record_of(about, answer, {}, (), date)
    except Failure as e:
        if e.fate != "withheld":
            raise
        return failures.withheld(about, e, date)
