"""Batches: requests that wait, as files in OpenAI's format, and what an engine answers.

    waiting = Waiting(path, recordings)     # for each notebook in mode batch: takes what it asks
    made = write(parts, "sample")           # what all of them asked, as request files
    found = collect([results])              # what came, recorded, with an account

A line's custom_id is the key of its request. What a recording needs besides is kept by key in
batches/asked. Sending is in `submitting`.
"""

import contextlib
import datetime
import json
import os
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
ENDS = "-waits.jsonl"  # of the files that `Waiting`s write


class Waiting:
    """What a notebook would ask, put down as it comes, each request once; `keys` are theirs.

    recordings: where the replies go. Raises StopRun for a model that takes no batches.
    """

    def __init__(self, path: Path, recordings: store.Recordings):
        self.path, self.recordings, self.keys = path, recordings, set()

    def append(self, request: Request) -> None:
        self.extend([request])

    def extend(self, requests: Iterable[Request]) -> None:
        new = {r.key: r for r in requests if r.key not in self.keys}
        self._put([self._row(r) for r in new.values()])
        self.keys |= new.keys()

    def leave(self, what: str) -> None:
        """Put down what no batch holds, in words for whoever runs the next command."""
        self._put([{"left": what}])

    def _row(self, request):
        registry.check_batch(request.model)
        kept = self.recordings
        folder, reads = (os.path.relpath(p, paths.RECORDINGS) for p in (kept.folder, kept.reads))
        about = {"model": request.model, "folder": folder, "reads": reads}
        about |= {"tokens": request.estimate(), "likely": request.likely}
        body = registry.sent(request.model, request.body())
        return {**request.kept(), **about, "body": body}

    def _put(self, rows):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.writelines(map(_line, rows))


def _line(row):
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


class Job(msgspec.Struct):
    """A request file: of which model, how many lines, USD at most (None without a price).

    file, batch: their ids at a service, once it has them; taken: whether what came is recorded.
    """

    path: str
    model: str
    lines: int
    most: float | None
    file: str = ""
    batch: str = ""
    taken: bool = False

    @property
    def name(self) -> str:
        return paths.rel(self.path)

    def keep(self, **changed: Any) -> None:
        """Write the job down beside its file, with what has changed; on disk when it returns."""
        for name, value in changed.items():
            setattr(self, name, value)
        kept = msgspec.json.encode(msgspec.structs.replace(self, path=Path(self.path).name))
        paths.write(beside(self.path), kept, durable=True)

    def keys(self) -> set[str]:
        """The keys of its requests."""
        with open(self.path, "rb") as lines:
            return {json.loads(line)["custom_id"] for line in lines}


def beside(path: str | Path) -> Path:
    """Where the job of a request file is kept."""
    return Path(path).with_suffix(".job.json")


def write(parts: Path, run: str, but: Set[str] = frozenset()) -> tuple[list[Job], list[str]]:
    """(request files of what `Waiting`s put down below `parts`, what no batch holds, in words).

    run: its name; but: keys that are left out. Each request is asked once; a file holds one model,
    and no more than an engine takes or the entry's `batch_tokens`. Its name is that of what it
    holds. Files of the run that nobody sent are deleted first.
    """
    folder, waits, left = paths.BATCHES / run, {}, []
    for old in folder.glob("*.jsonl"):
        if not beside(old).is_file():
            old.unlink()
    for part in sorted(parts.rglob(f"*{ENDS}")):
        with open(part, "rb") as lines:
            for line in lines:
                row = json.loads(line) if line.endswith(b"\n") else {}  # cut off by a kill
                if "left" in row:
                    left.append(row["left"])
                elif row and row["key"] not in but:
                    waits.setdefault(row["model"], {})[row["key"]] = row
    files = (_written(folder, m, some) for m, mine in waits.items() for some in _cut(m, mine))
    return list(files), left


def _cut(model, rows):
    """Parts of what is asked of a model, one for each file, as (line, row)s."""
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
    """A request file; on disk, with what was asked, before anybody can answer it."""
    asked = [row for _, row in part]
    store.append(paths.BATCHES / "asked" / f"{folder.name}.jsonl", list(map(_line, asked)))
    digest = store.digest([row["key"] for row in asked])[:8]
    path = folder / f"{paths.file_name(model)}-{digest}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    paths.write(path, b"".join(line for line, _ in part))
    usd = (registry.cost(model, *row["tokens"], batch=True) for row in asked)
    return Job(str(path), model, len(part), registry.total(usd))


# ---- results


class Result(TypedDict, total=False):
    """A line of results: OpenAI's, of which other engines leave out some."""

    custom_id: Required[str]
    response: dict | None
    error: Any


@dataclass
class Found:
    """What became of lines of results.

    failed: {key: (what was asked, Failure)}; unknown, unreadable: their places; came: keys that
    have a recording now; usd: price of all lines, the most that it can be where a line doesn't say
    what it used, None without a price.
    """

    taken: int = 0
    known: int = 0
    failed: dict = field(default_factory=dict)
    unknown: list = field(default_factory=list)
    unreadable: list = field(default_factory=list)
    came: set = field(default_factory=set)
    usd: float | None = 0.0

    def told(self) -> Iterator[str]:
        """The account in lines; of each kind of fault some are named."""
        yield (
            f"{self.taken} taken in, {self.known} known already, {len(self.failed)} failed,"
            f" {len(self.unknown)} never asked for, {len(self.unreadable)} unreadable"
        )
        kinds = {}
        for about, failure in self.failed.values():
            kinds.setdefault(failure.kind, []).append((about, failure.message))
        for kind, mine in kinds.items():
            named = _some("; ", [f"{a['model']}, {a['item']}" for a, _ in mine])
            yield f"  {len(mine)} {kind}: {named}: {mine[0][1]}"
        for places, what in (
            (self.unknown, "never asked for by this checkout"),
            (self.unreadable, "no result, or cut off"),
        ):
            if places:
                yield f"  {len(places)} {what}: {_some(', ', places)}"


def _some(between, names, shown=3):
    return between.join(names[:shown]) + ", ..." * (len(names) > shown)


def results(place: str | Path) -> list[Path]:
    """The result files that FROM= names: a file, or all of a folder that end in .jsonl."""
    place = Path(place)
    if there := [place] if place.is_file() else sorted(place.rglob("*.jsonl")):
        return there
    raise BedsideError(
        f"FROM={place}: there is no such file, and no folder in which one ends in .jsonl; name what"
        " the engine wrote"
    )


def collect(files: Iterable[Path]) -> Found:
    """Record what an engine wrote, in any order; it is on disk when it returns.

    Only what was asked for and has no recording yet is taken in. Raises BedsideError for a file
    that can't be read, StoreError for recordings that can't be written; taking the same files again
    adds what was lost.
    """
    found, asked, kept = Found(), store.Recordings(paths.BATCHES / "asked"), {}
    for path in files:
        try:
            with open(path, "rb") as lines:
                for number, line in enumerate(lines, 1):
                    place = f"{paths.rel(path)} line {number}"
                    if line.strip() and (got := _asked_for(found, asked, line, place)):
                        _take(found, kept, *got)
        except OSError as e:
            raise BedsideError(f"{paths.rel(path)} can't be read ({e.strerror})") from None
        finally:
            for recordings in kept.values():
                recordings.write()
    return found


def _asked_for(found, asked, line, place):
    """(what was asked, what came) of a line of results; None, and its place put down, if odd."""
    result = _parsed(line)
    about = asked.get(result["custom_id"]) if result else None
    if not about:
        return (found.unknown if result else found.unreadable).append(place)
    try:
        came = _parsed(failures.masked(line, registry.secrets(about["model"])))
        return about, *_outcome(about, came.get("response") or {}, came.get("error"))
    except RecursionError:  # just not too deep to be parsed
        return found.unreadable.append(place)


def _parsed(line):
    """A line of results as an object with a custom_id and what came; None for anything else."""
    try:
        result = outside.parsed(line)
        outside.fitted(result, Result)
    except ValueError:
        return None
    return result if result.get("response") or result.get("error") else None


def _outcome(about, response, error):
    """(record or None, failure or None, tokens as `cost` takes them) of what came."""
    status, answer = response.get("status_code", 200), response.get("body")
    try:
        if answer is None and error:
            raise _left(status, error)
        if status != 200:
            status = status if isinstance(status, int) else 502
            raise failures.of(status, json.dumps(answer).encode(), {}, ())
        record = failures.read(about, answer, {}, (), _date(answer))
        return record, None, used(record)
    except Failure as e:
        withheld = e.fate == "withheld"
        record = failures.withheld(about, e, _date(answer)) if withheld else None
        return record, None if record else e, e.tokens


# what becomes of lines that an engine never got to, by the code of their error
LEFT = {"batch_expired": "expired", "batch_cancelled": "cancelled"}
LATE = "request_timeout"  # of one whose call took too long, as a 504 says of a direct call


def _left(status, error):
    """The Failure of a line that has an error in place of an answer."""
    code = str(error.get("code")) if isinstance(error, dict) else None
    if status not in range(400, 600):
        status = 504 if code == LATE else failures.status_of(error)
    failure = failures.of(status, json.dumps(error).encode(), {}, ())
    if code in LEFT:
        failure.kind, failure.status, failure.fate = LEFT[code], "", "again"
    return failure


def _date(answer):
    """When a reply was made, by its own account; None where it gives none."""
    created = answer.get("created") if isinstance(answer, dict) else None
    with contextlib.suppress(TypeError, ValueError, OverflowError, OSError):
        return datetime.datetime.fromtimestamp(created, datetime.UTC) if created else None


def _take(found, kept, about, record, failure, tokens):
    """Count an outcome, and put its record into the recordings that it belongs to."""
    key, model, place = about["key"], about["model"], (about["folder"], about["reads"])
    if place not in kept:
        kept[place] = store.Recordings(*(paths.RECORDINGS / p for p in place))
    known = key in found.came or key in kept[place]
    if key not in found.came and not (failure and key in found.failed):  # else it is paid already
        usd = registry.cost(model, *tokens[:2], batch=True)
        if usd is None:
            usd = registry.cost(model, *about["tokens"], batch=True)
        found.usd = registry.total((found.usd, usd))
    if failure and not known:
        found.failed[key] = about, failure
        return
    found.failed.pop(key, None)  # the same line failed elsewhere
    found.came.add(key)
    found.known += known
    if not known:
        found.taken += 1
        kept[place].put(model, {**record, "batch": True})
