"""Batches: requests that wait, as files in OpenAI's format, and what an engine answers.

    rows = [row(r, recordings) for r in run.planned()]    # of each notebook in mode batch
    jobs = write(rows, "sample")                          # what all of them asked, as request files
    found = collect([results])                            # what came, recorded, with an account

A line's custom_id is the key of its request. What a recording needs besides is kept by key in
batches/asked. Sending is in `submitting`.
"""

import contextlib
import datetime
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Required, TypedDict

import msgspec

from bedside import BedsideError
from bedside.read import outside, paths

from . import failures, registry, store
from .failures import Failure
from .replies import Request
from .usage import used

MOST_LINES, MOST_BYTES = 45_000, 190_000_000  # of a file; OpenAI takes 50,000 and 200 MB


def row(request: Request, recordings: store.Recordings) -> dict:
    """What stands for a request that waits, whose reply goes to these recordings.

    Raises StopRun for a model that takes no batches.
    """
    registry.check_batch(request.model)
    folder, reads = (
        os.path.relpath(p, paths.RECORDINGS) for p in (recordings.folder, recordings.reads)
    )
    about = {"model": request.model, "folder": folder, "reads": reads}
    about |= {"tokens": request.estimate(), "likely": request.likely}
    return {**request.kept(), **about, "body": registry.sent(request.model, request.body())}


def _line(row):
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


class Job(msgspec.Struct):
    """A request file: of which model, how many lines, USD at most (None without a price).

    file, batch: their ids at a service, once it has them; usd: what it did cost, once what came is
    recorded.
    """

    path: str
    model: str
    lines: int
    most: float | None
    file: str = ""
    batch: str = ""
    usd: float | None = None

    @property
    def name(self) -> str:
        return paths.rel(self.path)

    @property
    def beside(self) -> Path:
        """Where it is kept: beside its file."""
        return Path(self.path).with_suffix(".job.json")

    def keep(self, **changed: Any) -> None:
        """Write it down, with what has changed; it is on disk when this returns."""
        for name, value in changed.items():
            setattr(self, name, value)
        kept = msgspec.structs.replace(self, path=Path(self.path).name)
        paths.write(self.beside, msgspec.json.encode(kept), durable=True)

    def keys(self) -> set[str]:
        """The keys of its requests."""
        with open(self.path, "rb") as lines:
            return {json.loads(line)["custom_id"] for line in lines}


def write(rows: Iterable[dict], run: str, but: Set[str] = frozenset()) -> list[Job]:
    """Requests that wait, by `row`, as request files of a run, without the keys `but`.

    Each request is asked once; a file holds one model, and no more than an engine takes or the
    entry's `batch_tokens`. Its name changes with what it holds. What nobody sent is deleted first.
    """
    folder, waits = paths.BATCHES / run, {}
    for old in folder.glob("*.jsonl"):
        if not old.with_suffix(".job.json").is_file():
            old.unlink()
    for each in rows:
        if each["key"] not in but:
            waits.setdefault(each["model"], {})[each["key"]] = each
    return [_written(folder, m, part) for m, mine in waits.items() for part in _cut(m, mine)]


def _cut(model, rows):
    """What is asked of a model, as the (line, row)s of one file after the other."""
    most = registry.model(model).batch_tokens or float("inf")
    part, size, tokens = [], 0, 0
    for key, row in rows.items():
        asked = {"custom_id": key, "method": "POST", "url": registry.BATCH_URL}
        line = _line({**asked, "body": row.pop("body")})
        size, tokens = size + len(line), tokens + row["likely"]
        if part and (len(part) == MOST_LINES or size > MOST_BYTES or tokens > most):
            yield part
            part, size, tokens = [], len(line), row["likely"]
        part.append((line, row))
    yield part


def _written(folder, model, part):
    """A request file; what was asked is on disk before anybody can answer it."""
    lines, rows = zip(*part)
    store.append(paths.BATCHES / "asked" / f"{folder.name}.jsonl", list(map(_line, rows)))
    digest = store.digest([row["key"] for row in rows])[:8]
    path = folder / f"{paths.file_name(model)}-{digest}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    paths.write(path, b"".join(lines))
    usd = registry.total(registry.cost(model, *row["tokens"], batch=True) for row in rows)
    return Job(str(path), model, len(rows), usd)


# ---- results


class Result(TypedDict, total=False):
    """A line of results: OpenAI's, of which other engines leave out some."""

    custom_id: Required[str]
    response: dict | None
    error: Any


@dataclass
class Found:
    """What became of lines of results.

    failed: {key: (model and item, Failure)}; odd: (what it is, place) of other lines that weren't
    taken in; came: keys that have a recording now; usd: of all lines, the most that they can cost
    where they don't say what they used, None without a price.
    """

    taken: int = 0
    known: int = 0
    failed: dict = field(default_factory=dict)
    odd: list = field(default_factory=list)
    came: set = field(default_factory=set)
    usd: float | None = 0.0

    def told(self) -> Iterator[str]:
        """The account in lines; of what wasn't taken in the first ones are named."""
        odd = Counter(what for what, _ in self.odd)
        yield (
            f"{self.taken} taken in, {self.known} known already, {len(self.failed)} failed,"
            f" {odd[UNKNOWN]} {UNKNOWN}, {odd[UNREADABLE]} {UNREADABLE}"
        )
        lines = [f"{f.kind}: {name}: {f.message}" for name, f in self.failed.values()]
        lines += [f"{what}: {place}" for what, place in self.odd]
        yield from (f"  {line}" for line in lines[:SHOWN] + ["..."] * (len(lines) > SHOWN))


UNKNOWN, UNREADABLE = "never asked for by this checkout", "unreadable or cut off"
SHOWN = 20  # failures that are named


def results(place: str | Path) -> list[Path]:
    """The result files that FROM= names: a file, or all of a folder that end in .jsonl."""
    place = Path(place)
    if there := [place] if place.is_file() else sorted(place.rglob("*.jsonl")):
        return there
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
    try:
        result = outside.parsed(line)
        outside.fitted(result, Result)
    except ValueError:
        return None
    return result if result.get("response") or result.get("error") else None


def _outcome(about, result):
    """(record or None, failure or None, tokens as `cost` takes them) of a line."""
    response, error = result.get("response") or {}, result.get("error")
    status, answer = response.get("status_code", 200), response.get("body")
    failed, date = answer is None and error, _date(answer)
    if failed and status not in range(400, 600):
        status = failures.status_of(error)
    try:
        if failed or status != 200:
            status = status if isinstance(status, int) else 502
            raise failures.of(status, json.dumps(failed or answer).encode(), {}, ())
        record = failures.read(about, answer, {}, (), date)
        return record, None, used(record)
    except Failure as e:
        record = failures.withheld(about, e, date) if e.fate == "withheld" else None
        return record, None if record else e, e.tokens


def _date(answer):
    """When a reply was made, by its own account; None where it gives none."""
    created = answer.get("created") if isinstance(answer, dict) else None
    with contextlib.suppress(TypeError, ValueError, OverflowError, OSError):
        return datetime.datetime.fromtimestamp(created, datetime.UTC) if created else None


def _take(found, asked, kept, line, place):
    """Record a line's reply where it belongs, or put down what else the line is."""
    result = _parsed(line)
    about = asked.get(result["custom_id"]) if result else None
    if not about:
        return found.odd.append((UNKNOWN if result else UNREADABLE, place))
    key, model, where = about["key"], about["model"], (about["folder"], about["reads"])
    try:
        masked = failures.masked(line, registry.secrets(model))
        record, failure, tokens = _outcome(about, _parsed(masked))
    except RecursionError:  # just not too deep to be parsed
        return found.odd.append((UNREADABLE, place))
    if where not in kept:
        kept[where] = store.Recordings(*(paths.RECORDINGS / p for p in where))
    if key not in found.came and not (failure and key in found.failed):  # else it is paid already
        usd = registry.cost(model, *tokens[:2], batch=True)
        most = registry.cost(model, *about["tokens"], batch=True)
        found.usd = registry.total((found.usd, most if usd is None else usd))
    if key in found.came or key in kept[where]:
        found.known += 1
    elif failure:
        found.failed[key] = f"{model}, {about['item']}", failure
        return
    else:
        found.taken += 1
        kept[where].put(model, {**record, "batch": True})
    found.failed.pop(key, None)  # the same line failed elsewhere
    found.came.add(key)
