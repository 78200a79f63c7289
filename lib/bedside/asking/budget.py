"""Budget: the money that a checkout's processes spend on calls, in one small file.

    account = Account("my_paper/01_answers", budget_usd)
    most = account.reserve("mine", (1000, 96))   # StopRun before a budget would be passed
    account.settle("mine", most, (700, 50))
    account.close()

The file is replaced whole by whoever has its lock. The most that a call can cost is in it before
the call is sent. What a killed process had reserved stays counted, since it may have been paid.
"""

import contextlib
import json
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from filelock import lock_descriptor

from bedside.read import outside, paths
from bedside.read.surroundings import here

from .registry import StopRun, cost
from .store import StoreError

FILE = "calls.json"
MAKES = 50  # of how many makes the file knows


def make() -> str:
    """What stands for the whole `make`, or for this process where none is running."""
    here.make = here.make or f"process {uuid.uuid4().hex}"
    return here.make


@contextlib.contextmanager
def _state() -> Iterator[dict]:
    """The file's content, while nobody else has it; written anew if it has changed.

    spent: {scope: USD, reserved ones included}, of makes and of digests of settings; makes: {make:
    what it counted}, by "calls", "unpriced", and the row of errors.csv of a failure, as JSON.
    """
    path = Path(here.ledger or paths.CACHE) / FILE
    with contextlib.ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(open(path.with_suffix(".json.lock"), "w"))
            lock_descriptor(lock.fileno())
            before = path.read_bytes() if path.is_file() else b"{}"
            state = {"spent": {}, "makes": {}}
            state |= outside.fitted(outside.parsed(before), dict[str, dict])
        except OSError as e:
            raise StoreError(f"{paths.rel(path)}: can't be used ({paths.why(e)}") from None
        except ValueError as e:
            raise StoreError(
                f"{paths.rel(path)}: the file of spent budgets can't be read ({e}). Delete it"
                " and run again. BUDGET_TOTAL then starts at 0: lower it by the amount spent."
            ) from None
        yield state
        for old in list(state["makes"])[:-MAKES]:
            del state["makes"][old]
            state["spent"].pop(old, None)
        if (after := json.dumps(state).encode()) != before:
            paths.write(path, after)


@dataclass
class Account:
    """On whose account calls go: a notebook, and its limits in USD.

    usd: of this make; total: of all runs of the same settings, which `scope` stands for.
    """

    notebook: str = ""
    usd: float | None = None
    total: float | None = None
    scope: str = ""
    paid: float = 0.0  # USD of its calls
    unused: float = 0.0  # USD that were reserved for calls and not paid, until that is written
    counts: Counter = field(default_factory=Counter)  # not yet written
    unpriced: int = 0
    kinds: Counter = field(default_factory=Counter)  # of what failed for good

    def limits(self) -> list[tuple[str, float, str]]:
        """(name, USD, scope) of each budget that there is."""
        both = ("BUDGET_USD", self.usd, make()), ("BUDGET_TOTAL", self.total, self.scope)
        return [limit for limit in both if limit[1] is not None]

    def reserve(self, name: str, tokens: tuple[int, int]) -> float | None:
        """Put aside the most that a call to a model can cost, None where nobody knows; returns it.

        Raises StopRun if that would pass a budget, or there is one and the price isn't known.
        """
        usd = cost(name, *tokens)
        if usd is None and (limits := self.limits()):
            raise StopRun(
                f"{limits[0][0]} is set but the price of {name} isn't known: give it"
                " price_date, usd_per_million_in and _out in data/models.toml"
            )
        if usd:
            self._write(usd)
        return usd

    def settle(self, name: str, reserved: float | None, tokens: tuple) -> None:
        """Count what a call did cost; where that isn't known, what was reserved stays."""
        self.counts["calls"] += 1
        if reserved is None:
            self.counts["unpriced"] += 1
            self.unpriced += 1
            return
        usd = cost(name, *tokens)
        usd = reserved if usd is None else usd
        self.unused, self.paid = self.unused + reserved - usd, self.paid + usd

    def failed(self, *row: object) -> None:
        """Count a request that failed for good: model, kind, status, message."""
        name, kind, *rest = map(str, row)
        self.kinds[kind] += 1
        self.counts[json.dumps([name, self.notebook, kind, *rest])] += 1

    def close(self) -> None:
        """Write what was counted, and give back what wasn't needed."""
        with contextlib.suppress(StoreError, paths.Unwritable):  # then it counts as spent
            self._write(0.0)

    def _write(self, usd):
        with _state() as state:
            spent, counted = state["spent"], state["makes"].setdefault(make(), {})
            for name, limit, scope in self.limits() if usd else ():
                taken = spent.get(scope, 0.0) - self.unused
                if taken + usd > limit:
                    raise StopRun(
                        f"{name}={limit:g} would be exceeded: ${taken:.4f} are spent or under way"
                        f" (including killed runs), and the next call costs at most ${usd:.4f}."
                        " All replies are recorded. Raise the budget and run again."
                    )
            for scope in filter(None, (make(), self.scope)):
                spent[scope] = spent.get(scope, 0.0) + usd - self.unused
            for what, n in self.counts.items():
                counted[what] = counted.get(what, 0) + n
        self.unused, self.counts = 0.0, Counter()


def spent(scope: str = "") -> float:
    """USD spent or reserved by this make, another, or runs of the same settings."""
    with _state() as state:
        return state["spent"].get(scope or make(), 0.0)


COLUMNS = ("model", "notebook", "kind", "status", "message", "calls")


def told() -> tuple[int, int, list[dict]]:
    """Calls, those of unknown price, and what failed for good, as rows of errors.csv: COLUMNS."""
    with _state() as state:
        counts = state["makes"].get(make(), {})
    rows = [[*json.loads(key), n] for key, n in counts.items() if key.startswith("[")]
    rows.sort(key=lambda row: (*row[:2], -row[-1], *row))
    errors = [dict(zip(COLUMNS, row)) for row in rows]
    return counts.get("calls", 0), counts.get("unpriced", 0), errors
