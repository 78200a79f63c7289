"""The ledger: every call that this checkout's processes send, in one file that they share.

    ledger = Ledger("mine", Account(notebook, budget_usd))
    call = await ledger.turn(tokens, usd, key)  # limits allow it, and nobody else is sending it
    ledger.ended(call, usd, (prompt_tokens, completion_tokens), failure)
    ledger.release(key)                         # its reply is on disk

It keeps a model's calls within its entry's limits, slows down where an endpoint refuses, holds the
budgets, and knows what failed. A process that is gone holds nothing.
"""

import asyncio
import atexit
import contextlib
import json
import os
import random
import sqlite3
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from bedside.read import paths
from bedside.read.paths import rel

from . import locks
from .registry import StopRun, cost, entries, model
from .store import Recordings, StoreError
from .usage import used

if TYPE_CHECKING:
    from .failures import Failure

FILE = "calls.sqlite"
WINDOW_S = 60.0  # of requests_per_minute and tokens_per_minute
PAUSE_S, LONGEST_S = 1.0, 32.0  # after a refusal without Retry-After, doubled up to the longest
LONGEST_WAIT_S = 600.0  # that an endpoint may ask for
POLL_S, LOOK_S = 0.05, 0.25  # how often, and how rarely, somebody who waits looks again
SLOWER, FASTER = 2.0, 0.95  # the time between two calls after a refusal, and after a reply

SCHEMA = """
create table if not exists calls (id integer primary key, at real, make text,
    notebook text, model text, owner text, tokens real, usd real, open int, final int,
    kind text default '', status text default '', message text default '');
create index if not exists sent on calls (model, at);
create index if not exists running on calls (model) where open;
create index if not exists failed on calls (make) where kind != '';
create table if not exists progress (make text, notebook text, state text,
    primary key (make, notebook));
create table if not exists spent (scope text primary key, usd real);
create table if not exists batches (scope text, file text, usd real, over int,
    primary key (scope, file));
create table if not exists claims (key text primary key, owner text);
create table if not exists pace (model text primary key, until real, level int, gap real,
    next real, cut real);
"""


def folder() -> Path:
    """Where processes meet: the checkout's .cache, or BEDSIDE_LEDGER."""
    return Path(os.environ.get("BEDSIDE_LEDGER") or paths.CACHE)


def make() -> str:
    """What stands for the whole `make`, or for this process where none is running."""
    return os.environ.setdefault("BEDSIDE_MAKE", f"process {uuid.uuid4().hex}")


BUDGETS = ("BUDGET_USD", "BUDGET_TOTAL")


class Account(NamedTuple):
    """On whose account calls go: a notebook, and its limits in USD.

    usd: of this make; total: of all runs of the same settings, which `scope` stands for.
    """

    notebook: str = ""
    usd: float | None = None
    total: float | None = None
    scope: str = ""

    def check_price(self, name: str, usd: float | None = 0.0) -> None:
        """Raise StopRun if there is a budget and a model's price isn't known, or that of calls.

        usd: of those calls at most.
        """
        limited = [n for n, x in zip(BUDGETS, (self.usd, self.total)) if x is not None]
        if limited and (usd is None or cost(name, 0, 0) is None):
            raise StopRun(
                f"{limited[0]} is set but the price of {name} isn't known: give it price_date,"
                " usd_per_million_in and _out in data/models.toml"
            )


class _Owner:
    """This process, as others see it: it lives as long as it holds the lock on a file."""

    def __init__(self, folder):
        self.folder, self.pid, self.id = folder, os.getpid(), uuid.uuid4().hex
        folder.mkdir(parents=True, exist_ok=True)
        self.file = open(folder / self.id, "w")
        locks.lock(self.file)
        atexit.register(self.file.close)

    def alive(self, other):
        """Whether another process holds its lock; the file of one that is gone is removed."""
        if other == self.id:
            return True
        try:
            with open(self.folder / other) as file:
                locks.lock(file, wait=False)
                (self.folder / other).unlink(missing_ok=True)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False


_owners = {}


def _owner(folder):
    kept = _owners.get(folder)
    if kept is None or kept.pid != os.getpid():  # a fork holds its parent's locks, not its own
        kept = _owners[folder] = _Owner(folder)
    return kept


class Ledger:
    """The calls of one notebook to one model, or (without its name) batches of all models."""

    def __init__(self, name: str, account: Account):
        self.name, self.account, self.make = name, account, make()
        self.entry = model(name) if name else None
        with _usable():
            self.owner = _owner(folder() / "processes")
        self.db, self.over = _open(), []

    def close(self) -> None:
        self._release()
        self.db.close()

    # ---- a request that one process has under way

    def _claim(self, key):
        """Whether this process may send a request: no living one has it under way."""
        row = self.db.execute("select owner from claims where key = ?", [key]).fetchone()
        if row and row[0] != self.owner.id and self.owner.alive(row[0]):
            return False
        self.db.execute("insert or replace into claims values (?, ?)", [key, self.owner.id])
        return True

    def release(self, key: str) -> None:
        """Give up the claim to a request, soon: those of POLL_S are one transaction."""
        if not self.over:
            asyncio.get_running_loop().call_later(POLL_S, self._release)
        self.over.append(key)

    def _release(self):
        if self.over:
            with _transaction(self.db):
                sql = "delete from claims where key = ? and owner = ?"
                self.db.executemany(sql, [(key, self.owner.id) for key in self.over])
            self.over = []

    # ---- when a call may be sent, and what it may cost

    async def turn(self, tokens: int, usd: float | None, key: str = "") -> int | None:
        """Wait until a call of at most so many tokens and USD may be sent; its number.

        usd: None where the price isn't known. key: of a request, which is this process's from now
        until its `release`; None if another process has it under way. StopRun if a budget would be
        passed or can't be kept.
        """
        if usd is None:
            self.account.check_price(self.name, usd)
        while isinstance(got := self._turn(tokens, usd, key), float):
            await asyncio.sleep(min(got, LOOK_S) * random.uniform(1.0, 1.1))
        return got

    def _turn(self, tokens, usd, key):
        """The number of a call that may be sent now, or the seconds after which to ask again."""
        with _transaction(self.db):
            now = time.time()  # once nobody else writes: a busy machine waits long for that
            if key and not self._claim(key):
                return None
            if wait := self._wait(now, tokens):
                return float(wait)
            self._check(usd or 0.0, "call")
            self._spend(usd)
            values = [now, self.make, self.account.notebook, self.name, self.owner.id, tokens, usd]
            return self.db.execute(
                "insert into calls (at, make, notebook, model, owner, tokens, usd, open)"
                " values (?, ?, ?, ?, ?, ?, ?, 1)",
                values,
            ).lastrowid

    def _wait(self, now, tokens):
        """Seconds until the model's limits allow another call; 0 if they do."""
        most = self.entry.max_concurrency
        if self._running() >= most and self._living() >= most:
            return POLL_S
        for what, more, limit in (
            ("count(*)", 1, self.entry.requests_per_minute),
            ("sum(tokens)", tokens, self.entry.tokens_per_minute),
        ):
            if limit and (wait := self._limited(now, what, more, limit)) > 0:
                return wait
        if pace := self._pace():
            until, level, gap, following, cut = pace
            if (
                0 < (wait := max(until, following) - now) <= LONGEST_WAIT_S
            ):  # else the clock's fault
                return wait
            # while it goes on refusing, one call at a time tries whether it still does
            until = now + PAUSE_S * 2**level if level > 1 else 0
            self._set_pace(until, level, gap, now + gap, cut)
        return 0

    def _running(self):
        sql = "select count(*) from calls where model = ? and open"
        return self.db.execute(sql, [self.name]).fetchone()[0]

    def _living(self):
        """Calls under way, after those of processes that are gone have been closed."""
        sql = "select distinct owner from calls where model = ? and open"
        for (owner,) in self.db.execute(sql, [self.name]).fetchall():
            if not self.owner.alive(owner):
                self.db.execute("update calls set open = 0 where owner = ?", [owner])
        return self._running()

    def _limited(self, now, what, more, limit):
        """Seconds until the oldest call leaves the window, if `more` passes a limit."""
        # what lies in the future was sent before the clock was set back
        sql = f"select {what}, min(at) from calls where model = ? and at > ? and at <= ?"
        used, first = self.db.execute(sql, [self.name, now - WINDOW_S, now]).fetchone()
        return first + WINDOW_S - now if used and used + more > limit else 0

    def _pace(self):
        sql = "select until, level, gap, next, cut from pace where model = ?"
        return self.db.execute(sql, [self.name]).fetchone()

    def _set_pace(self, *pace):
        self.db.execute("insert or replace into pace values (?, ?, ?, ?, ?, ?)", [self.name, *pace])

    def _scopes(self):
        return [s for s in (self.make, self.account.scope) if s]

    # ---- batches, which outlive the process that sends them

    def adopt(self, folder: str, under_way: dict[str, float]) -> None:
        """Count the batches of a folder that are under way; others don't cost anything any more.

        under_way: what they can cost, by their request files.
        """
        with _transaction(self.db):
            rows = self.db.execute("select * from batches").fetchall()
            for scope, file, usd, over in rows:
                if Path(folder) in Path(file).parents and file not in under_way:
                    self.db.execute(
                        "delete from batches where scope = ? and file = ?", [scope, file]
                    )
                    self._spend(usd if over else 0, [scope])
            self._put_down(under_way)

    def reserve(self, most: dict[str, float]) -> None:
        """Reserve what request files can cost; StopRun if a budget would be passed."""
        with _transaction(self.db):
            self._check(sum(most.values()), "wave")
            self._put_down(most)

    def settle(self, file: str, usd: float) -> None:
        """Count what a request file did cost, in place of what was reserved for it."""
        with _transaction(self.db):
            self.db.execute("update batches set usd = ?, over = 1 where file = ?", [usd, file])

    def _put_down(self, most):
        rows = [(scope, file, usd) for scope in self._scopes() for file, usd in most.items()]
        self.db.executemany("insert or ignore into batches values (?, ?, ?, 0)", rows)

    # ---- budgets

    def _check(self, usd, what):
        """Raise StopRun if so much more would pass a budget."""
        limits = zip(BUDGETS, (self.account.usd, self.account.total))
        for (name, limit), scope in zip(limits, (self.make, self.account.scope)):
            if limit is not None and (taken := self.spent(scope)) + usd > limit:
                raise StopRun(
                    f"{name}={limit:g} would be passed (${taken:.4f} spent or under way, the next"
                    f" {what} at most ${usd:.4f}); what came is recorded: raise it and run again"
                )

    def _spend(self, usd, scopes=None):
        if usd:
            for scope in scopes or self._scopes():
                self.db.execute("insert or ignore into spent values (?, 0)", [scope])
                self.db.execute("update spent set usd = usd + ? where scope = ?", [usd, scope])

    def spent(self, scope: str) -> float:
        """USD spent or reserved by a make, or by runs of the same settings."""
        sums = [f"(select sum(usd) from {table} where scope = ?)" for table in ("spent", "batches")]
        both = self.db.execute(f"select {', '.join(sums)}", [scope, scope]).fetchone()
        return sum(usd or 0.0 for usd in both)

    # ---- what became of a call

    def ended(
        self,
        call: int,
        reserved: float | None,
        tokens: tuple[int | None, ...],
        failure: "Failure | None" = None,
    ) -> float | None:
        """Close a call; returns its price, None where it isn't known and the reservation stands.

        tokens: as `cost` takes them, both 0 if nothing was charged.
        """
        usd = cost(self.name, *tokens[:2])
        used = None if None in tokens[:2] else sum(tokens[:2])
        why = (failure.kind, failure.status, failure.message) if failure else ("", "", "")
        with _transaction(self.db):
            if usd is not None and reserved is not None:
                self._spend(usd - reserved)
            self.db.execute(
                "update calls set open = 0, tokens = coalesce(?, tokens), usd = coalesce(?, usd),"
                " kind = ?, status = ?, message = ? where id = ?",
                [used, usd, *why, call],
            )
            if not (failure and failure.again) and (pace := self._pace()):
                until, level, gap, following, cut = pace
                gap = gap * FASTER if gap > 0.002 else 0
                if level and self._sent_at(call) > cut:
                    until, level = 0, 0
                self._set_pace(until, level, gap, following if gap else 0, cut)
        return usd

    def withdraw(self, call: int, reserved: float | None) -> None:
        """Take back the turn of a call that wasn't sent."""
        with _transaction(self.db):
            self._spend(-(reserved or 0.0))
            self.db.execute("delete from calls where id = ?", [call])

    def gave_up(self, call: int) -> None:
        """Note that the request of a failed call isn't tried again."""
        with _transaction(self.db):
            self.db.execute("update calls set final = 1 where id = ?", [call])

    def _sent_at(self, call):
        return self.db.execute("select at from calls where id = ?", [call]).fetchone()[0]

    def refused(self, call: int, wait: float | None) -> None:
        """Slow the model down for all processes; `wait`: the seconds that its endpoint asks for."""
        with _transaction(self.db):
            now = time.time()
            until, level, gap, following, cut = self._pace() or (0, 0, 0, 0, 0)
            if self._sent_at(call) > cut:  # those sent before say what is known already
                sql = "select count(*), min(at), sum(not open and kind = '') from calls"
                recent = f"{sql} where model = ? and at > ?"
                count, first, _ = self.db.execute(
                    recent, [self.name, now - 10 * PAUSE_S]
                ).fetchone()
                seen = (now - (first or now)) / max(count, 1)
                _, first, through = self.db.execute(recent, [self.name, now - WINDOW_S]).fetchone()
                # never slower than what got through of late: a refusal need not be of the rate
                got_through = max(now - (first or now), PAUSE_S) / max(through or 0, 4)
                gap = min(SLOWER * max(gap, seen), got_through)
                level, cut = level + 1, now
            pause = min(PAUSE_S * 2 ** (level - 1), LONGEST_S) if wait is None else wait
            self._set_pace(max(until if level > 1 else 0, now + pause), level, gap, following, cut)


def _open():
    with _usable():
        folder().mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(folder() / FILE, timeout=60, isolation_level=None)
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = off")  # recordings are synced; this survives a kill
        db.executescript(SCHEMA)
    return db


@contextlib.contextmanager
def _usable():
    try:
        yield
    except (OSError, sqlite3.Error) as e:
        where = f"{rel(folder() / FILE)}: the ledger of calls"
        if isinstance(e, OSError):
            told = f"can't be used ({paths.why(e)}: what came is recorded"
        elif isinstance(e, sqlite3.OperationalError):
            way = "free the disk or fix its permissions, then run again: what came is recorded"
            told = f"can't be used ({e}); {way}"
        else:
            told = (
                f"is damaged ({e}); `make doctor` moves it away and counts the recorded replies"
                " anew. Lost is only what BUDGET_TOTAL has counted so far, and what failed"
            )
        raise StoreError(f"{where} {told}") from None


def mended() -> str:
    """Move a damaged ledger away; in words, what its recorded replies cost. Empty if it is sound.

    That is all that BUDGET_TOTAL needs of it, and whoever sets it again has to take it off.
    """
    try:
        with contextlib.closing(_open()) as db, _usable():
            if db.execute("pragma quick_check").fetchone()[0] != "ok":
                raise StoreError
        return ""
    except StoreError:
        for path in folder().glob(f"{FILE}*"):
            path.replace(path.with_name(f"damaged-{path.name}"))
    told = [f"{rel(folder() / FILE)} was damaged and is now damaged-{FILE}; recorded replies cost"]
    for study in sorted(p for p in paths.RECORDINGS.glob("*/*") if p.is_dir()):
        records = list(Recordings(study).records())
        for name in sorted({unquote(p.stem) for p in study.glob("*.jsonl")} & set(entries())):
            mine = [r for r in records if r["fields"].get("model") == model(name).model]
            usd = [cost(name, *used(r)[:2], batch=bool(r.get("batch"))) for r in mine]
            unknown = f", {usd.count(None)} of them of unknown price" * (None in usd)
            spent = sum(u or 0.0 for u in usd)
            told += [f"  {rel(study)}, {name}: {len(usd)} replies, ${spent:.4f}{unknown}"]
    return "\n".join(told)


@contextlib.contextmanager
def _transaction(db) -> Iterator[None]:
    with _usable():
        db.execute("begin immediate")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # it may have done so itself
                db.execute("rollback")
            raise
        db.execute("commit")


class Progress:
    """How far a notebook is, for whoever watches the make from another process."""

    def __init__(self, notebook: str):
        self.place, self.db = [make(), notebook], _open()

    def tell(self, **state: Any) -> None:
        with _transaction(self.db):
            row = [*self.place, json.dumps(state)]
            self.db.execute("insert or replace into progress values (?, ?, ?)", row)

    def close(self) -> None:
        self.db.close()


def progress(make: str) -> tuple[dict[str, dict], float]:
    """What notebooks of a make last told of their progress, by notebook; and the USD it spent."""
    with contextlib.closing(_open()) as db:
        sql = "select notebook, state from progress where make = ?"
        told = {name: json.loads(state) for name, state in db.execute(sql, [make]).fetchall()}
        spent = db.execute("select sum(usd) from spent where scope = ?", [make]).fetchone()[0]
        held = "select sum(usd) from calls where open and make = ?"  # by calls under way
        return told, (spent or 0.0) - (db.execute(held, [make]).fetchone()[0] or 0.0)


COLUMNS = ("model", "notebook", "kind", "status", "message", "calls")


def errors(make: str) -> list[dict]:
    """What failed in a make, as rows of errors.csv: COLUMNS."""
    rows = _of_make(
        "select model, notebook, kind, status, message, count(*) from calls"
        " where make = ? and kind != '' and final"
        " group by 1, 2, 3, 4, 5 order by 1, 2, 6 desc, 3, 4, 5",
        make,
    )
    return [dict(zip(COLUMNS, row)) for row in rows]


def total(make: str) -> tuple[int, float, int]:
    """(calls, USD spent or reserved, calls of unknown price) of a make."""
    counted = "select count(*), coalesce(sum(usd), 0), count(*) - count(usd) from calls"
    return next(iter(_of_make(f"{counted} where make = ?", make)), (0, 0.0, 0))


def _of_make(sql, make):
    """Rows on a make; none where nobody ever called."""
    if not (folder() / FILE).is_file():
        return []
    with contextlib.closing(_open()) as db:
        return db.execute(sql, [make]).fetchall()
