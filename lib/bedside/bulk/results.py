"""Results: what an engine wrote for request files, taken into the recordings.

A result is taken in only if its key was asked for and has no recording yet. Nothing is changed in
the files; whatever is wrong with a line is counted and named.
"""

import contextlib
import datetime
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Required, TypedDict

from bedside import BedsideError
from bedside.asking import failures, registry, store
from bedside.asking.failures import Failure
from bedside.asking.usage import used
from bedside.read import outside, paths

from . import files

SHOWN = 3  # of each kind that are named
# what becomes of lines that an engine never got to, by the code of their error
LEFT = {"batch_expired": "expired", "batch_cancelled": "cancelled"}
LATE = "request_timeout"  # of one whose call took too long, as a 504 says of a direct call


@dataclass
class Account:
    """What became of results: counts, and whose lines weren't taken.

    failed: {key: Failure}; unreadable, unknown: [(file, line number)]; usd: price of all lines, at
    batch prices, the most that it can be where a line doesn't say what it used, None without a
    price; models: counts of what was taken; came: keys that have a recording now.
    """

    taken: int = 0
    known: int = 0
    unknown: list = field(default_factory=list)
    unreadable: list = field(default_factory=list)
    failed: dict = field(default_factory=dict)
    items: dict = field(default_factory=dict)  # of the failed: key -> (model, item)
    models: Counter = field(default_factory=Counter)
    usd: float | None = 0.0
    came: set = field(default_factory=set)

    def lines(self) -> list[str]:
        """The account in lines."""
        lines = [
            f"{self.taken} taken in{_of(self.models)}, {self.known} known already,"
            f" {len(self.failed)} failed, {len(self.unknown)} never asked for,"
            f" {len(self.unreadable)} unreadable"
        ]
        kinds = Counter(f.kind for f in self.failed.values())
        for kind, count in kinds.most_common():
            mine = [k for k, f in self.failed.items() if f.kind == kind]
            named = "; ".join(", ".join(self.items[k]) for k in mine[:SHOWN])
            words = self.failed[mine[0]].message
            lines.append(f"  {count} {kind}: {named}{_more(count)}: {words}")
        for what, places in (
            ("never asked for by this checkout", self.unknown),
            ("no result, or cut off", self.unreadable),
        ):
            if places:
                named = ", ".join(f"{paths.rel(file)} line {n}" for file, n in places[:SHOWN])
                lines.append(f"  {len(places)} {what}: {named}{_more(len(places))}")
        return lines


def _of(models):
    return f" ({', '.join(f'{n} of {m}' for m, n in models.items())})" if models else ""


def _more(count):
    return ", ..." if count > SHOWN else ""


def found(place: str | Path) -> list[Path]:
    """The result files that FROM= names: a file, or all of a folder that end in .jsonl."""
    place = Path(place)
    if place.is_file():
        return [place]
    if there := sorted(place.rglob("*.jsonl")):
        return there
    what = "no file in it ends in .jsonl" if place.is_dir() else "there is no such file or folder"
    raise BedsideError(f"FROM={place}: {what}; name what the engine wrote")


def take(results: Iterable[Path]) -> Account:
    """Take in the results of files, in any order; they are on disk when it returns.

    BedsideError for a file that can't be read, StoreError for recordings that can't be written;
    what was taken until then is kept, and taking the same files again adds the rest.
    """
    account, asked, kept = Account(), files.asked(), _Kept()
    for path in results:
        try:
            with open(path, "rb") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        _taken(account, asked, kept, line, (path, number))
        except OSError as e:
            raise BedsideError(f"{paths.rel(path)} can't be read ({e.strerror})") from None
        finally:
            kept.flush()
    return account


def _taken(account, asked, kept, line, place):
    """Take in one line of results, or put down why not."""
    result = _parsed(line)
    if result is None:
        return account.unreadable.append(place)
    key = result["custom_id"]
    about = asked.get(key)
    if about is None:
        return account.unknown.append(place)
    masked = failures.masked(line, registry.secrets(about["model"]))
    result = result if masked == line else _parsed(masked)
    known = key in account.came or kept.has(about)
    try:
        record, tokens = _record(about, result)
        record["batch"] = True
    except Failure as e:
        if key not in account.came and key not in account.failed:
            _book(account, about, e.tokens)
        if known:
            account.known += 1
            account.came.add(key)
        else:
            account.items[key] = about["model"], about["item"]
            account.failed[key] = e
        return None
    except RecursionError:  # just not too deep to be parsed
        return account.unreadable.append(place)
    if key not in account.came:
        _book(account, about, tokens)
    account.came.add(key)
    account.failed.pop(key, None)  # the same line failed elsewhere
    if known:
        account.known += 1
        return None
    account.taken += 1
    account.models[about["model"]] += 1
    return kept.put(about, record)


def _book(account, about, tokens):
    """Count what a line cost when it was answered; at most, where that isn't known."""
    usd = registry.cost(about["model"], *tokens[:2], batch=True)
    if usd is None:
        usd = registry.cost(about["model"], *about["tokens"], batch=True)
    account.usd = registry.total((account.usd, usd))


class Result(TypedDict, total=False):
    """A line of results: OpenAI's, of which other engines leave out some."""

    custom_id: Required[str]
    response: dict | None
    error: Any


def _parsed(line):
    """A line of results as an object with a custom_id and what came; None for anything else."""
    try:
        result = outside.parsed(line)
        outside.fitted(result, Result)
    except ValueError:
        return None
    return result if result.get("response") or result.get("error") else None


def _record(about, result):
    """The record of a result, and its tokens as `cost` takes them; Failure if it holds no reply."""
    response, error = result.get("response"), result.get("error")
    response = response if isinstance(response, dict) else {}
    status, answer = response.get("status_code", 200), response.get("body")
    if answer is None and error:
        raise _left(status, error, about)
    try:
        if status != 200:
            status = status if isinstance(status, int) else 502
            raise failures.of(status, _bytes(answer), {}, (), about)
        record = failures.read(about, answer, {}, (), _date(answer))
        return record, used(record)
    except Failure as e:
        if e.fate != "withheld":
            raise
        return failures.withheld(about, e, _date(answer)), e.tokens


def _left(status, error, about):
    """The Failure of a line that has an error in place of an answer."""
    code = str(error.get("code")) if isinstance(error, dict) else None
    if status not in range(400, 600):
        status = 504 if code == LATE else failures.status_of(error, 500)
    failure = failures.of(status, _bytes(error), {}, (), about)
    if code in LEFT:
        failure.kind, failure.status, failure.fate = LEFT[code], "", "again"
    return failure


def _bytes(error):
    return json.dumps(error).encode()


def _date(answer):
    """When a reply was made, by its own account; None where it gives none."""
    created = answer.get("created") if isinstance(answer, dict) else None
    try:
        return datetime.datetime.fromtimestamp(created, datetime.UTC) if created else None
    except (TypeError, ValueError, OverflowError, OSError):
        return None


class _Kept:
    """The recordings that results go to, opened when first needed and written in groups."""

    def __init__(self):
        self.open, self.waiting = {}, 0

    def has(self, about):
        place = about["folder"], about["reads"]
        if place not in self.open:
            mine, reads = (paths.RECORDINGS / p for p in place)
            self.open[place] = store.Recordings(mine, reads)
        return about["key"] in self.open[place]

    def put(self, about, record):
        self.open[about["folder"], about["reads"]].put(about["model"], record)
        self.waiting += 1
        if self.waiting == files.TOGETHER:
            self.flush()

    def flush(self):
        self.waiting = 0
        with contextlib.ExitStack() as all_written:  # one that can't be written keeps back no other
            for recordings in self.open.values():
                all_written.callback(recordings.write)
