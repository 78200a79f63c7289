"""Budget: money, limits and turns of the calls that a checkout's processes make, in one small file.

    account = Account("my_paper/01_answers", budget_usd)
    async with turn():                 # no other process of this make calls models meanwhile
        most = account.reserve(0.05)   # StopRun before a budget would be passed
        account.settle(most, 0.01)
        account.close()

The file is replaced whole by whoever has its lock, and looked at once for several calls: a process
reserves a share of what its budgets leave, and gives back what it didn't need. What a killed one
had reserved stays counted, since its calls may be paid for.
"""

import asyncio
import contextlib
import json
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from filelock import lock_descriptor

from bedside.read import outside, paths
from bedside.read.surroundings import here

from .registry import StopRun, cost, model
from .store import StoreError

FILE = "calls.json"
WINDOW_S = 60.0  # of requests_per_minute and tokens_per_minute
LOOK_S = 0.25  # how often somebody who waits looks again
SHARE, SLICE = 10, 32  # of what budgets leave a tenth at most, for so many calls, is reserved
MAKES, TURNS_S = 50, 7 * 24 * 3600  # how many makes, and how long files of turns, are kept


def folder() -> Path:
    """Where processes meet: the checkout's .cache, or another one."""
    return Path(here.ledger or paths.CACHE)


def make() -> str:
    """What stands for the whole `make`, or for this process where none is running."""
    here.make = here.make or f"process {uuid.uuid4().hex}"
    return here.make


def _opened(name):
    try:
        folder().mkdir(parents=True, exist_ok=True)
        return open(folder() / name, "w")
    except OSError as e:
        raise StoreError(f"{paths.rel(folder() / name)}: can't be used ({paths.why(e)}") from None


@contextlib.contextmanager
def _state(change: bool = False) -> Iterator[dict]:
    """The file's content, while nobody else has it; written anew to `change` it.

    spent: {scope: USD, reserved ones included}, of makes and of digests of settings; batches:
    {request file under way: [USD at most, scopes]}; makes: {make: {"counts", "progress"}}; sent:
    {model: [[time, tokens] of calls of late]}.
    """
    path = folder() / FILE
    with _opened(f"{FILE}.lock") as lock:
        lock_descriptor(lock.fileno())
        state = {"spent": {}, "batches": {}, "makes": {}, "sent": {}}
        try:
            if path.is_file():
                state |= outside.fitted(outside.parsed(path.read_bytes()), dict[str, dict])
        except (OSError, ValueError) as e:
            raise StoreError(
                f"{paths.rel(path)}: what budgets have counted can't be read ({e}); delete it and"
                " run again: BUDGET_TOTAL begins anew, so take off what was spent before"
            ) from None
        mine = state["makes"].pop(make(), {"counts": {}, "progress": ""})
        state["makes"][make()] = mine  # the last one
        yield state
        if change:
            for old in list(state["makes"])[:-MAKES]:
                del state["makes"][old]
                state["spent"].pop(old, None)
            state["sent"] |= {name: list(sent) for name, sent in _sent.items()}
            paths.write(path, json.dumps(state))


# ---- money


@dataclass
class Account:
    """On whose account calls go: a notebook, and its limits in USD.

    usd: of this make; total: of all runs of the same settings, which `scope` stands for.
    """

    notebook: str = ""
    usd: float | None = None
    total: float | None = None
    scope: str = ""
    left: float = 0.0  # USD that are reserved and that no call needs yet
    paid: float = 0.0  # USD of its calls
    kinds: Counter = field(default_factory=Counter)  # of what failed for good
    counts: Counter = field(default_factory=Counter)
    told: Counter = field(default_factory=Counter)  # what of it is written

    @property
    def scopes(self) -> list[str]:
        return [s for s in (make(), self.scope) if s]

    @property
    def limits(self) -> dict[str, tuple[float, str]]:
        """{its name: (USD, scope)} of each budget that there is."""
        both = {"BUDGET_USD": (self.usd, make()), "BUDGET_TOTAL": (self.total, self.scope)}
        return {name: b for name, b in both.items() if b[0] is not None}

    def check_price(self, name: str) -> None:
        """Raise StopRun if there is a budget and a model's price isn't known."""
        if self.limits and cost(name, 0, 0) is None:
            raise StopRun(
                f"{next(iter(self.limits))} is set but the price of {name} isn't known: give it"
                " price_date, usd_per_million_in and _out in data/models.toml"
            )

    def _room(self, state, usd, what):
        """USD that the budgets leave; StopRun if less than `usd`."""
        room = float("inf")
        for name, (limit, scope) in self.limits.items():
            taken = state["spent"].get(scope, 0.0) - self.left
            if taken + usd > limit:
                raise StopRun(
                    f"{name}={limit:g} would be passed (${taken:.4f} spent or under way, in a run"
                    f" that was killed too; the next {what} at most ${usd:.4f}); what came is"
                    " recorded: raise it and run again"
                )
            room = min(room, limit - taken)
        return room

    def reserve(self, usd: float | None) -> float | None:
        """Put aside the most that a call can cost, None where nobody knows; returns it."""
        if usd and usd > self.left:
            with _state(change=True) as state:
                room = self._room(state, usd, "call")
                more = max(usd, min(SLICE * usd, room / SHARE)) - self.left
                _spend(state, self.scopes, more)
            self.left += more
        self.left -= usd or 0.0
        return usd

    def settle(self, reserved: float | None, usd: float | None) -> None:
        """Count what a call did cost; where that isn't known, what was reserved stays."""
        self.counts["calls"] += 1
        self.counts["unpriced"] += reserved is None
        if reserved is not None:
            usd = reserved if usd is None else usd
            self.left += reserved - usd
            self.paid += usd

    def failed(self, *row: object) -> None:
        """Count a request that failed for good: model, kind, status, message."""
        name, *rest = map(str, row)
        self.kinds[rest[0]] += 1
        self.counts[json.dumps([name, self.notebook, *rest])] += 1

    def tell(self, line: str = "", unused: float = 0.0) -> None:
        """Write down what was counted, and a line of progress for whoever watches the make."""
        with _state(change=True) as state:
            mine = state["makes"][make()]
            mine["counts"] = Counter(mine["counts"]) + (self.counts - self.told)
            mine["progress"] = line
            _spend(state, self.scopes, -unused)
        self.told = self.counts.copy()

    def close(self) -> None:
        """Give back what is left."""
        with contextlib.suppress(StoreError, paths.Unwritable):  # then it counts as spent
            self.tell(unused=self.left)
        self.left = 0.0

    # ---- batches, which outlive the process that sends them

    def reserve_batches(self, folder: Path, under_way: dict[str, float]) -> None:
        """Count a folder's batches, {file: USD at most}, and no others that were counted.

        StopRun if new ones could pass a budget.
        """
        with _state(change=True) as state:
            for file in [f for f in state["batches"] if folder in Path(f).parents]:
                if file not in under_way:
                    _end(state, file, 0.0)
            new = {f: usd for f, usd in under_way.items() if f not in state["batches"]}
            if new:
                self._room(state, sum(new.values()), "wave")
            for file, usd in new.items():
                state["batches"][file] = [usd, self.scopes]
                _spend(state, self.scopes, usd)

    def settle_batch(self, file: str, usd: float) -> None:
        """Count what a request file did cost, in place of what was reserved for it."""
        with _state(change=True) as state:
            _end(state, file, usd)


def _spend(state, scopes, usd):
    for scope in scopes:
        state["spent"][scope] = state["spent"].get(scope, 0.0) + usd


def _end(state, file, usd):
    most, scopes = state["batches"].pop(file, (0.0, ()))
    _spend(state, scopes, usd - most)


def spent(scope: str = "") -> float:
    """USD spent or reserved by this make, another, or runs of the same settings."""
    with _state() as state:
        return state["spent"].get(scope or make(), 0.0)


# ---- what this make's processes told


def progress() -> str:
    """The line of progress of the one that calls models; empty if none does."""
    with _state() as state:
        return state["makes"][make()]["progress"]


COLUMNS = ("model", "notebook", "kind", "status", "message", "calls")


def told() -> tuple[int, int, list[dict]]:
    """Calls, those of unknown price, and what failed for good, as rows of errors.csv: COLUMNS."""
    with _state() as state:
        counts = state["makes"][make()]["counts"]
    rows = [[*json.loads(key), n] for key, n in counts.items() if key.startswith("[")]
    rows.sort(key=lambda row: (*row[:2], -row[-1], *row))
    errors = [dict(zip(COLUMNS, row)) for row in rows]
    return counts.get("calls", 0), counts.get("unpriced", 0), errors


# ---- whose turn it is, and what a minute allows

_sent: dict[str, deque] = {}  # model -> [time, tokens] of calls in this process's turn, and before
_turns, _taking = [], threading.Lock()  # the lock's open file, once for each block of this process


@contextlib.asynccontextmanager
async def turn(waits: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """While its block runs no other process of this make calls models; blocks of this one may.

    waits: called while another process has its turn. The system ends that of a killed one.
    """
    while not _taken():
        waits()
        await asyncio.sleep(LOOK_S)
    try:
        yield
    finally:
        with _taking:
            file = _turns.pop()
            if not _turns:
                file.close()


def _taken():
    with _taking, contextlib.ExitStack() as stack:
        if _turns:
            _turns.append(_turns[0])
            return True
        file = stack.enter_context(_opened(f"turn-{paths.file_name(make())}"))
        if not lock_descriptor(file.fileno(), blocking=False):
            return False
        with _state() as state:
            _sent.clear()
            _sent.update({name: deque(sent) for name, sent in state["sent"].items()})
        for old in folder().glob("turn-*"):
            if old.stat().st_mtime < time.time() - TURNS_S:
                old.unlink(missing_ok=True)
        _turns.append(file)
        stack.pop_all()  # it stays open
        return True


def wait(name: str, call: list[float]) -> float:
    """Seconds until a model's limits allow one more call; 0 counts it as sent.

    call: [time, tokens at most]; the time is set, and the tokens may be corrected afterwards.
    """
    requests, tokens = model(name).requests_per_minute, model(name).tokens_per_minute
    if not (requests or tokens):
        return 0.0
    sent, now = _sent.setdefault(name, deque()), time.time()
    while sent and not now - WINDOW_S < sent[0][0] <= now:  # or the clock was set back
        sent.popleft()
    much = tokens and sum(t for _, t in sent) + call[1] > tokens
    if sent and (much or requests and len(sent) >= requests):
        return sent[0][0] + WINDOW_S - now
    call[0] = now
    sent.append(call)
    return 0.0
