"""Batches: requests that wait, as files in OpenAI's format, and what an engine answers.

    rows = [row(r, recordings) for r in run.planned()]    # of each notebook in mode batch
    files = write(rows, "sample")                         # what all of them asked, as request files
    found = collect([results])                            # what came, recorded, with an account

A line's custom_id is the key of its request. What a recording needs besides is kept by key in
batches/asked. The user has an engine answer the files.
"""

import contextlib
import datetime
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
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
            f"model {request.model!r} can't be asked in batches: it is asked by bare text, or its"
            " extra_body takes a value from the environment, which no file may hold; MODE=record"
            " calls it"
        )
    folder, reads = (
        os.path.relpath(p, paths.RECORDINGS) for p in (recordings.folder, recordings.reads)
    )
    about = {"model": request.model, "folder": folder, "reads": reads, "likely": request.likely}
    usd = registry.cost(request.model, *request.estimate(), batch=True)
    return {**request.kept(), **about, "usd": usd, "body": request.body()}


class File(NamedTuple):
    """A request file: of which model, how many lines, USD at most (None without a price)."""

    path: Path
    model: str
    lines: int
    usd: float | None

    def __str__(self):
        cost = "" if self.usd is None else f", at most ${self.usd:.2f}"
        size = self.path.stat().st_size / 1e6
        return f"{paths.rel(self.path)}: {self.lines} requests, {size:.1f} MB{cost}"


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
    return [_written(folder, m, part) for m, mine in waits.items() for part in _parts(m, mine)]


def _parts(model, rows):
    """What is asked of a model, as the (line, row)s of one file after the other."""
    most = registry.model(model).batch_tokens or float("inf")
    part, size, tokens = [], 0, 0
    for key, row in rows.items():
        line = _line({"custom_id": key, "method": "POST", "url": URL, "body": row["body"]})
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
    path = folder / f"{paths.file_name(model)}-{digest}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    paths.write(path, b"".join(lines))
    return File(path, model, len(rows), registry.total(row["usd"] for row in rows))


# ---- results


class Result(TypedDict, total=False):
    """A line of results: OpenAI's, of which other engines leave out some."""

    custom_id: Required[str]
    response: dict | None
    error: Any


UNKNOWN, UNREADABLE = "never asked for by this checkout", "unreadable or cut off"
SHOWN = 20  # failures that are named


@dataclass
class Found:
    """What became of lines of results.

    failed: {key: kind, model and item, and words of a failure}; odd: [(UNKNOWN or UNREADABLE, place
    of a line)]; came: keys that have a recording now.
    """

    taken: int = 0
    known: int = 0
    failed: dict = field(default_factory=dict)
    odd: list = field(default_factory=list)
    came: set = field(default_factory=set)

    def told(self) -> Iterator[str]:
        """The account in lines; of what wasn't taken in the first ones are named."""
        odd = Counter(what for what, _ in self.odd)
        yield (
            f"{self.taken} taken in, {self.known} known already, {len(self.failed)} failed,"
            f" {odd[UNKNOWN]} {UNKNOWN}, {odd[UNREADABLE]} {UNREADABLE}"
        )
        lines = [*self.failed.values(), *map(": ".join, self.odd)]
        yield from (f"  {line}" for line in lines[:SHOWN] + ["..."] * (len(lines) > SHOWN))


def results(place: str | Path) -> list[Path]:
    """The result files that FROM= names: a file, or all of a folder that end in .jsonl."""
    place = Path(place)
    if files := [place] if place.is_file() else sorted(place.rglob("*.jsonl")):
        return files
    told = "there is no such file, nor a folder with one that ends in .jsonl"
    raise BedsideError(f"FROM={place}: {told}; name what the engine wrote")


def collect(files: Iterable[Path]) -> Found:
    """Record what an engine wrote, in any order; it is on disk when it returns.

    Only what was asked for and has no recording yet is taken in. Raises BedsideError for a file
    that can't be read, StoreError for recordings that can't be written; taking the same files again
    adds what was lost.
    """
    found, asked, kept = Found(), store.Recordings(paths.BATCHES / "asked"), {}
    for path in files:
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError as e:
            raise BedsideError(f"{paths.rel(path)} can't be read ({e.strerror})") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                _take(found, asked, kept, line, f"{paths.rel(path)} line {number}")
        for recordings in kept.values():
            recordings.write()
    return found


def _parsed(line):
    """A line of results as an object with a custom_id and what came; None for anything else."""
    with contextlib.suppress(ValueError):
        outside.fitted(result := outside.parsed(line), Result)
        return result if result.get("response") or result.get("error") else None


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


def _take(found, asked, kept, line, place):
    """Record a line's reply where it belongs, or put down what else the line is."""
    result = _parsed(line)
    if not (about := asked.get(result["custom_id"]) if result else None):
        return found.odd.append((UNKNOWN if result else UNREADABLE, place))
    key, model, where = about["key"], about["model"], (about["folder"], about["reads"])
    if where not in kept:
        kept[where] = store.Recordings(*(paths.RECORDINGS / p for p in where))
    try:
        if key in found.came or key in kept[where]:
            found.known += 1
        else:
            masked = failures.masked(line, registry.model(model).secrets)
            record = _record(about, _parsed(masked))
            kept[where].put(model, {**record, "batch": True})
            found.taken += 1
    except Failure as e:
        found.failed[key] = f"{e.kind}: {model}, {about['item']}: {e.message}"
        return
    except RecursionError:  # just not too deep to be parsed
        return found.odd.append((UNREADABLE, place))
    found.failed.pop(key, None)  # the same line failed elsewhere
    found.came.add(key)
