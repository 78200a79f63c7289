"""Other worlds: a study's readings, as its notebooks compute them, with other numbers or data.

    python tests/numbers/worlds.py flips STUDY [seconds]    # renews tests/numbers/flips
    python tests/numbers/worlds.py fragility STUDY          # renews data/fragility

Of each notebook only the statements run that its claims need, and in a changed world only those of
them that read what is changed. No model is asked and no output is written.
"""

import ast
import contextlib
import copy
import csv
import functools
import inspect
import itertools
import json
import resource
import signal
import sys
import time
import warnings
from unittest import mock

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import claims, paths, published, sources
from bedside.read.sources import sha256
from bedside.run import Run

FLIPS, FRAGILITY = paths.ROOT / "tests" / "numbers" / "flips", paths.DATA / "fragility"
FLIP = ["id", "reading", "holds", "place", "row", "column", "change", "becomes"]
TURN = ["claim", "table", "row", "column", "change", "verdict", "becomes"]
INPUTS = ("published", "readings", "claims")  # of data/, by study: what fragility rests on
IMPORTS = ast.Import | ast.ImportFrom
STEPS = (-5, -1, 1, 5)  # changes in the last printed digit
NUMBERS = ["value", "low", "high"]


# ---- what of a notebook its claims need


def _names(node, context):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _set(statement):
    """The names that a statement sets, also by setting an item."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    if isinstance(statement, IMPORTS):
        return {a.asname or a.name.split(".")[0] for a in statement.names}
    parts = [n for n in ast.walk(statement) if isinstance(n, ast.Subscript)]
    of = {p.value.id for p in parts if isinstance(p.ctx, ast.Store)}
    return _names(statement, ast.Store) | of


def _needed(body, need):
    """The statements of a body that claims or later needs rest on; the names needed before it."""
    kept = []
    for s in reversed(body):
        if isinstance(s, ast.If):
            s.body, inside = _needed(s.body, set(need))
            s.orelse, other = _needed(s.orelse, set(need))
            if s.body or s.orelse:
                kept, need = [s, *kept], need | inside | other | _names(s.test, ast.Load)
        elif "run.claim" in ast.unparse(s) or _set(s) & need:
            kept = [s, *kept]
            if isinstance(s, ast.Assign) and all(
                isinstance(t, ast.Name | ast.Tuple) for t in s.targets
            ):
                need = need - _set(s)
            own = _names(s.target, ast.Store) if isinstance(s, ast.For) else set()
            own |= _names(s, ast.Store) if isinstance(s, ast.FunctionDef) else set()
            need = need | _names(s, ast.Load) - own
    return kept, need


class _Apart(ast.NodeTransformer):
    """Takes the calls f(run, ...) of a statement out of it, as statements of their own."""

    def __init__(self):
        self.calls = []

    def visit_Call(self, node):
        self.generic_visit(node)
        if not (node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == "run"):
            return node
        name = ast.Name(f"_call{len(self.calls)}", ast.Load())
        self.calls.append(ast.Assign([ast.Name(name.id, ast.Store())], node))
        return name

    def visit_IfExp(self, node):
        return node  # one branch isn't run

    def visit_For(self, node):
        node.iter = self.visit(node.iter)
        return node


def _apart(statement):
    if isinstance(statement, IMPORTS | ast.FunctionDef):
        return [statement]
    if isinstance(statement, ast.AugAssign):  # in place it would change another world's dict
        target = statement.target
        left = ast.Name(target.id, ast.Load())
        statement = ast.Assign([target], ast.BinOp(left, statement.op, statement.value))
    apart = _Apart()
    rest = apart.visit(statement)
    return [*apart.calls, rest]


# ---- a study and its worlds


class _Noted(dict):
    """Claims by id; whoever takes one reads the tables that its text refers to."""

    def __init__(self, found, study):
        super().__init__(found)
        self.study = study

    def __getitem__(self, id):
        self.study.read.update(self.study.claimed[id])
        return super().__getitem__(id)


class Study:
    """A study's statements with what they read, and `readings`, the base world's.

    readings: {id: {reading: (computed, low, high, holds)}}. The released data are read if they are
    here, otherwise the sample's.
    """

    def __init__(self, paper):
        self.paper, self.read, self.made, self.changed = paper, set(), {}, {}
        self.touched = set()
        self.memo, self.known = {}, None
        here = all(sources.here(n) for n in sources.used_by("public", paper) if _released(n))
        self.profile = "public" if here else "sample"
        self.frame = published.load(paper)
        rows = pd.read_csv(paths.CLAIMS / f"{paper}.csv", keep_default_na=False)
        told = zip(rows["id"], rows["published"])
        self.claimed = {
            i: {tuple(map(str.strip, m.groups()[:3])) for m in claims.REFERENCE.finditer(t)}
            for i, t in told
        }
        self.spaces, self.steps, self.reads = [], [], {}  # names by notebook; claims' reads
        self.uses = {}  # names by code
        for path in sorted((paths.ROOT / "notebooks" / paper).glob("0*.ipynb")):
            self._first(json.loads(path.read_text()))
        self.readings = self.made
        self.serves, later = [], {}  # the claims that rest on each step
        for space, code, _, made, said in reversed(self.steps):
            names = [(id(space), n) for n in made]
            self.serves[:0] = [set(said).union(*(later.get(n, ()) for n in names))]
            for name in self.uses[id(code)]:
                later.setdefault((id(space), name), set()).update(self.serves[0])

    def _first(self, notebook):
        """Run a notebook's statements; note what each sets, and reads itself or by its names."""
        cells = ("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code")
        body, _ = _needed([s for cell in cells for s in ast.parse(cell).body], set())
        space, behind = {"display": lambda *a: None}, {}
        self.spaces.append(space)
        while body:
            s = body.pop(0)
            if isinstance(s, ast.If):
                test = eval(compile(ast.Expression(s.test), "test", "eval"), space)
                body = (s.body if test else s.orelse) + body
                continue
            for part in _apart(s):
                patched = contextlib.nullcontext if isinstance(s, IMPORTS) else self._patched
                code = compile(ast.fix_missing_locations(ast.Module([part], [])), "claims", "exec")
                self.read, before = set(), set(self.made)
                self._fresh()
                with patched():
                    exec(code, space)
                if "profile" in _set(part):
                    space["profile"] = self.profile
                read = self.read.union(*(behind.get(n, ()) for n in _names(part, ast.Load)))
                made = {n: space[n] for n in _set(part) if n in space}
                behind |= dict.fromkeys(made, read)
                said = {id: self.made[id] for id in set(self.made) - before}
                self.reads |= dict.fromkeys(said, read)
                self.steps.append((space, code, read, made, said))
                self.uses[id(code)] = _names(part, ast.Load)

    def world(self, changed, ids=None):
        """All readings with other numbers, {table: its rows}, or data, {source: its frame}.

        What can't be computed is left out; `errors` holds what was raised. ids: the claims asked
        for; others may stay as they are.
        """
        self.changed, self.made, self.errors = changed, {}, []
        self.touched = self._touched()
        spaces = {id(space): dict(space) for space in self.spaces}
        self._fresh()
        try:
            with self._patched():
                for (space, code, read, made, said), serves in zip(self.steps, self.serves):
                    space = spaces[id(space)]
                    if not read & self.touched or (ids is not None and not serves & ids):
                        space.update((n, _own(v)) for n, v in made.items())
                        self.made.update(said)
                        continue
                    try:
                        exec(code, space)
                    except Exception as e:
                        self.errors.append(f"{type(e).__name__}: {e}")
                        space.update(dict.fromkeys(made, {}))
        finally:
            self._fresh()
            self.changed, self.touched = {}, set()
        return self.made

    def verdicts(self, made):
        """{id: verdict} from readings."""
        return {id: claims.judged(self.paper, id, ways)[0] for id, ways in made.items()}

    def said(self, made):
        """{(id, reading): yes, no or open} of computed readings."""
        return {
            (id, n): claims.SAID[way[3]] for id, ways in made.items() for n, way in ways.items()
        }

    def tables(self):
        """The printed tables behind its readings."""
        read = set().union(*map(self.places, self.reads))
        return [t for t in self.frame["table"].unique() if t in read]

    def data(self):
        """The sources behind its readings."""
        return sorted(set().union(*map(self.places, self.reads)) & set(sources.registry()))

    def places(self, id):
        """The tables and sources that a claim's readings read."""
        return {p if isinstance(p, str) else p[0] for p in self.reads[id]}

    def _touched(self):
        """What is changed: tables and sources, and the numbers (table, row, column)."""
        touched = set(self.changed)
        for t in touched & set(self.frame["table"]):
            new, old = self.changed[t], self.frame.loc[self.changed[t].index]
            same = (new[NUMBERS] == old[NUMBERS]) | (new[NUMBERS].isna() & old[NUMBERS].isna())
            other = old[~same.all(axis=1)]
            touched = touched | set(zip(other["table"], other["row"], other["column"]))
        return touched

    def prints(self, place):
        return place in set(self.frame["table"])

    def _functions(self):
        """The study's functions f(run, ...), as (module, name, wrapped), and caches to clear."""
        start = f"bedside.papers.{self.paper}."
        modules = {n: m for n, m in sys.modules.items() if n.startswith(start)}
        if len(modules) != self.known:
            self.known, self.wrapped, self.caches = len(modules), [], []
            for module in modules.values():
                for name, f in vars(module).items():
                    if hasattr(f, "cache_clear"):
                        self.caches.append(f)
                        if not inspect.signature(f).parameters:  # a cached call notes no reads
                            self.wrapped.append((module, name, self._remembered(f.__wrapped__)))
                    elif name == "counterparts":  # seconds, and it depends on its texts alone
                        self.wrapped.append((module, name, _by_text(f)))
                    elif f is published.value:
                        self.wrapped.append((module, name, None))
                    elif inspect.isfunction(f) and f.__module__.startswith(start) and _plain(f):
                        self.wrapped.append((module, name, self._remembered(f)))
        return self.wrapped, self.caches

    def _fresh(self):
        """Forget what rests on the printed numbers and data of another world."""
        for f in self._functions()[1]:
            many = hasattr(f, "cache_info") and f.cache_info().currsize > 200
            if many or not inspect.signature(f).parameters:
                f.cache_clear()
        self.memo = {k: v for k, v in self.memo.items() if not v[1] & self.touched}

    def _remembered(self, function):
        """f(run, ...) of the study, called once for each world in which what it reads differs."""

        @functools.wraps(function)
        def call(*args, **more):
            values = (*args, *more.values())
            named = (a if isinstance(a, str | int | float | bool) else id(a) for a in values)
            key = function, tuple(more), *named
            if key not in self.memo:
                outer, self.read = self.read, set()
                try:
                    made = function(*args, **more)
                    self.memo[key] = made, self.read, values  # which keeps the ids
                finally:
                    self.read = outer | self.read
            made, read, _ = self.memo[key]
            self.read |= read
            return copy.deepcopy(made) if isinstance(made, dict) else copy.copy(made)

        return call

    @contextlib.contextmanager
    def _patched(self):
        """Run with this world's numbers and data, noting what is read and claimed."""
        load, known = sources.load, claims.load(self.paper)
        parts = [t for t in self.changed if t in set(self.frame["table"])]
        frame = self.frame.copy() if parts else self.frame
        for t in parts:
            frame.loc[self.changed[t].index, NUMBERS] = self.changed[t][NUMBERS]

        by_table = dict(list(frame.groupby("table", sort=False)))
        by_place = dict(zip(zip(frame["table"], frame["row"], frame["column"]), frame["value"]))

        def read_table(paper, *names):
            self.read.update(names)
            return pd.concat([by_table[n] for n in names], ignore_index=True)

        def read_value(paper, *place):
            self.read.add(place)
            return float(by_place[place])

        def read_source(name):
            self.read.add(name)
            return self.changed[name].copy() if name in self.changed else load(name)

        def record(run, id, readings=None, *, basis="none"):
            self.made[id] = readings or {}

        def record_each(run, make, *, basis):
            self.made.update(make())

        with contextlib.ExitStack() as stack:

            def put(*what):
                stack.enter_context(mock.patch.object(*what))

            put(stats, "grim_counts", _counts)  # the slowest part, and it depends on numbers alone
            put(published, "load", lambda paper: frame)
            put(published, "table", read_table)
            put(published, "value", read_value)
            put(sources, "load", read_source)
            if any(cells & self.touched for cells in self.claimed.values()):
                known = claims.load.__wrapped__(self.paper)
            put(claims, "load", lambda paper: _Noted(known, self))
            each = {"claim": record, "claim_each": record_each}
            for name in ("claim", "claim_each", "table", "figure"):
                put(Run, name, each.get(name, lambda *a, **k: None))
            for module, name, f in self._functions()[0]:
                put(module, name, read_value if f is None else f)
            yield


_alike = functools.cache(lambda f, a, b, *more: f(a, b, *more))


_counts = functools.cache(stats.grim_counts)


def _by_text(f):
    return lambda a, b, *more: dict(_alike(f, tuple(a), tuple(b), *more))


def _plain(f):
    """Whether a function takes a run first and returns a value, no coroutine and no generator."""
    late = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
    first = f.__code__.co_varnames[:1] if f.__code__.co_argcount else ()
    return first == ("run",) and not f.__code__.co_flags & late


def _released(name):
    return not sources.entry(name).get("optional") and "file" not in sources.entry(name)


def _own(value):
    return copy.copy(value) if isinstance(value, dict) else value


# ---- changes of a table or a source

TABLES, DATA = "all tables", "all data"


def _column(values, change):
    """Numbers of one column after a change that is made in each column."""
    if change == "reversed":
        return values[::-1]
    if change == "mirrored":
        return np.nanmin(values) + np.nanmax(values) - values
    if change in ("largest", "smallest"):
        end = np.nanmax(values) if change == "largest" else np.nanmin(values)
        return np.where(np.isnan(values), values, end)
    if change in ("doubled", "halved"):
        return values * (2 if change == "doubled" else 0.5)
    if change.startswith("ends"):
        ends = np.array([np.nanmin(values), np.nanmax(values)])
        which = np.random.default_rng(int(change.split()[1])).integers(3, size=len(values))
        return np.where(np.isnan(values) | (which == 2), values, ends[which % 2])
    if change.startswith("shuffled"):
        return np.random.default_rng(int(change.split()[1])).permutation(values)
    return np.where(np.isnan(values), values, float(change))


BY_ROW = "by row: "
IN_COLUMNS = ("reversed", "mirrored", "largest", "smallest", "doubled", "0", "100", "shuffled 1")
IN_ROWS = ("reversed", "mirrored", "shuffled 1")
ROWS = ("first half", "last half", "without the last", "twice", "rows reversed")
NUMERIC = ("mirrored", "largest", "smallest", "0", "ends 1", "ends 2", "ends 3")
IN_DATA = (*NUMERIC, "reversed", "first", "last", "emptied", "shuffled 1", "shuffled 2")


def changed(study, place, row, column, change):
    """{table or source: its rows after a change}, as `Study.world` takes them.

    place: a table, a source, TABLES or DATA. row, column: the only ones that change, empty for
    all. A change `by row: ...` is made in each row instead of each column; a number is the new
    value.
    """
    if place in (TABLES, DATA):
        places = study.tables() if place == TABLES else study.data()
        each = (changed(study, p, row, column, change) for p in places)
        return {p: rows for one in each for p, rows in one.items()}
    if not study.prints(place):
        return {place: _data(sources.load(place), column, change)}
    rows = study.frame[study.frame["table"] == place].copy()
    mine = ((rows["row"] == row) | (row == "")) & ((rows["column"] == column) | (column == ""))
    by = "row" if change.startswith(BY_ROW) else "column"
    what = change.removeprefix(BY_ROW)
    for _, part in rows[mine].groupby(by, sort=False):
        for number in NUMBERS:
            if part[number].notna().any():
                rows.loc[part.index, number] = _column(part[number].to_numpy(float), what)
    return {place: rows}


def _data(frame, column, change):
    half = len(frame) // 2
    if change in ROWS:
        return {
            "first half": frame.head(half),
            "last half": frame.tail(len(frame) - half),
            "without the last": frame.head(-1),
            "twice": pd.concat([frame, frame]),
            "rows reversed": frame[::-1],
        }[change].reset_index(drop=True)
    if not column:
        for each in frame.columns:
            frame = _data(frame, each, change)
        return frame
    old = frame[column].to_list()
    if change in NUMERIC:
        if frame[column].dtype.kind not in "if":
            return frame
        new = _column(frame[column].to_numpy(), change)
    elif change.startswith("shuffled"):
        new = [old[i] for i in np.random.default_rng(int(change[-1])).permutation(len(old))]
    elif change == "reversed":
        new = old[::-1]
    else:
        empty = "" if isinstance(old[0], str) else type(old[0])()
        new = [{"first": old[0], "last": old[-1], "emptied": empty}[change]] * len(old)
    return frame.assign(**{column: pd.Series(new, index=frame.index, dtype=frame[column].dtype)})


# ---- flips: for each reading a world in which it says the opposite


def _known(study, _):
    """The changes that are committed."""
    if (path := FLIPS / f"{study.paper}.csv").is_file():
        yield from {(r["place"], r["row"], r["column"], r["change"]): 0 for r in rows(path)}


def _every(study, _):
    """Changes of all tables at once, and of all data."""
    for change in (*IN_COLUMNS, "shuffled 2", "shuffled 3", *(BY_ROW + c for c in IN_ROWS)):
        yield TABLES, "", "", change
    for change in (*ROWS, *IN_DATA):
        yield DATA, "", "", change


def _whole(study, place):
    """Changes of a whole table or source, also by row and by column."""
    if not study.prints(place):
        columns = sources.load(place).columns[:30]
        yield from ((place, "", "", change) for change in (*ROWS, *IN_DATA))
        yield from ((place, "", c, change) for c in columns for change in IN_DATA)
        return
    for change in (*IN_COLUMNS, *(BY_ROW + c for c in IN_ROWS)):
        yield place, "", "", change


def _parts(study, place):
    """Changes of a row, a column or a single number of a table."""
    if not study.prints(place):
        return
    for n in range(1, 16):
        for change in (f"shuffled {n}", f"ends {n}", f"{BY_ROW}ends {n}"):
            yield place, "", "", change
    mine = study.frame[study.frame["table"] == place]
    if mine["column"].nunique() > 1 and mine["row"].nunique() > 1:
        for name, change in itertools.product(mine["column"].unique(), IN_COLUMNS):
            yield place, "", name, change
        for name, change in itertools.product(mine["row"].unique(), IN_ROWS):
            yield place, name, "", BY_ROW + change
    known = mine["value"].dropna()
    for row in mine.itertuples():
        near = (known.min(), known.max(), row.value + 1, row.value - 1, row.value * 2)
        for new in dict.fromkeys(("0", "100", "1", *(f"{v:g}" for v in near))):
            yield place, row.row, row.column, new


def _opposite(before, after):
    return after is not None and after != before and (before == "open" or after != "open")


def flips(study, seconds=240):
    """Write rows of FLIP for the readings that flip, after each phase; return what doesn't flip.

    The committed changes first, then all tables at once, whole tables, parts. seconds: for each
    phase. Parts only of tables that moved a reading's number, where some did.
    """
    before, found, good, moves = study.said(study.readings), {}, {}, {}
    left = set(before)
    for kind in (_known, _every, _whole, _parts):
        places = {p for id, _ in left for p in study.places(id)}
        if kind is _parts:
            moved = {k: moves.get(k, set()) - {TABLES, DATA} for k in left}
            places = {p for k in left for p in moved[k] or study.places(k[0])}
        each = [kind(study, p) for p in (sorted(places) if kind in (_whole, _parts) else [""])]
        todo = [where for group in itertools.zip_longest(*each) for where in group if where]
        end = time.monotonic() + (np.inf if kind is _known else seconds)
        while todo and left and time.monotonic() < end:
            where = todo.pop(0)
            after = _after(study, where, None if kind in (_known, _every) else {i for i, _ in left})
            for k in left:
                if k in after and after[k] != _way(study.readings, k):
                    moves.setdefault(k, set()).add(where[0])
            found[where] = {k: claims.SAID[way[3]] for k, way in after.items()}
            good[where] = {k for k in before if _opposite(before[k], found[where].get(k))}
            left -= good[where]
        _write(study, before, found, good)
        print(f"{study.paper} {kind.__name__}: {len(todo)} untried, {len(left)} left", flush=True)
    weak = {k: [w for w in found if found[w].get(k, before[k]) != before[k]][:1] for k in left}
    return [(*k, before[k], moves.get(k), weak[k]) for k in before if k in left]


def _way(made, k):
    return made.get(k[0], {}).get(k[1])


def _after(study, where, ids):
    """{(id, reading): way} of all readings after a change; {} if it can't be made."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, 15, 5)
    try:
        made = study.world(changed(study, *where), ids)
    except Exception:  # a change that the table or source doesn't allow
        return {}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {(id, n): way for id, ways in made.items() for n, way in ways.items()}


def _late(*_):
    raise TimeoutError("a changed world takes too long")


def _write(study, before, found, good):
    """The fewest worlds, greedily, that flip all readings that some world flips."""
    rows, open_ = [], set().union(*good.values())
    while open_:
        best = max(good, key=lambda where: len(good[where] & open_))
        rows += [(*k, before[k], *best, found[best][k]) for k in before if k in good[best] & open_]
        open_ -= good[best]
    write(FLIPS / f"{study.paper}.csv", FLIP, rows)


# ---- fragility: verdicts that turn with the last printed digit


def printed_numbers(study):
    """Printed numbers behind readings: (table, row, column, which, number, last digit).

    A number has as many decimals as any of its table and column, so 40 beside 39.5 is 40.0.
    """
    printed, places = rows(paths.PUBLISHED / f"{study.paper}.csv"), {}
    for r, which in itertools.product(printed, NUMBERS):
        at = r["table"], r["column"]
        places[at] = max(places.get(at, 0), len(r[which].partition(".")[2]))
    mine = set(study.tables())
    return [
        (r["table"], r["row"], r["column"], which, float(r[which]), places[r["table"], r["column"]])
        for r, which in itertools.product(printed, NUMBERS)
        if r[which] and r["table"] in mine
    ]


def turned(study, number):
    """The verdicts that other last digits of one number turn: rows of TURN.

    Of the claims that are `impossible` only the number is told: where no whole number of cases
    prints the changed number, or the code rejects it otherwise. Second value: {error: times}.
    """
    table, row, column, which, old, digits = number
    before, found, errors = study.verdicts(study.readings), [], {}
    for step in STEPS:
        frame = study.frame[study.frame["table"] == table].copy()
        mine = (frame["row"] == row) & (frame["column"] == column)
        frame.loc[mine, which] = round(old + step / 10**digits, digits)
        made = study.world({table: frame})
        for e in study.errors:
            errors[e] = errors.get(e, 0) + 1
        told = f"{step:+d}" if which == "value" else f"{which} {step:+d}"
        none = 0  # claims that can't be computed
        for id, was in before.items():
            ways = made.get(id, {})
            lost = set(study.readings[id]) - set(ways)
            none += bool(lost)
            if not lost and (now := claims.judged(study.paper, id, ways)[0]) != was:
                found.append((id, table, row, column, told, was, now))
        if none:
            found.append((f"{none} claims", table, row, column, told, "", "impossible"))
    return found, errors


def hashes(paper):
    """{file: sha256} of what a study's fragility rests on."""
    files = [paths.DATA / kind / f"{paper}.csv" for kind in INPUTS]
    return {paths.rel(f): sha256(f) for f in files}


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def unable(paper):
    """Readings that no change flips, with a reason: rows id, reading, why."""
    path = FLIPS / "unable" / f"{paper}.csv"
    return rows(path) if path.is_file() else []


def by_hand(paper):
    """Worlds made by hand, {(id, reading, becomes): rows table, row, column, value}.

    A row is a printed number or a cell of a source's frame, whose row is a place counted from 0.
    """
    path, found = FLIPS / "by_hand" / f"{paper}.csv", {}
    for r in rows(path) if path.is_file() else []:
        found.setdefault((r["id"], r["reading"], r["becomes"]), []).append(r)
    return found


def changed_by_hand(study, cells):
    """{table or source: its rows after changes of these cells}, as `Study.world` takes them."""
    made = {}
    for r in cells:
        place, prints = r["table"], study.prints(r["table"])
        if place not in made:
            own = study.frame[study.frame["table"] == place]
            made[place] = (own if prints else sources.load(place)).copy()
        frame = made[place]
        if prints:
            mine = (frame["row"] == r["row"]) & (frame["column"] == r["column"])
            assert mine.any(), f"{r} is not printed"
            by = float(r["value"]) - frame.loc[mine, "value"]  # its low and high move along
            frame.loc[mine, NUMBERS] = frame.loc[mine, NUMBERS].add(by, axis=0)
        else:
            frame.at[int(r["row"]), r["column"]] = r["value"]
    return made


def write(path, columns, rows):
    path.parent.mkdir(exist_ok=True)
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False, lineterminator="\n")


def renew_fragility(study):
    """Write a study's fragility, and the hashes of what it rests on; print the errors met."""
    found, errors, numbers = [], {}, printed_numbers(study)
    for i, number in enumerate(numbers):
        turns, met = turned(study, number)
        found += turns
        for e, n in met.items():
            errors[e] = errors.get(e, 0) + n
        if i % 50 == 0:  # so far
            write(FRAGILITY / f"{study.paper}.csv", TURN, found)
            print(study.paper, i, "of", len(numbers), flush=True)
    write(FRAGILITY / f"{study.paper}.csv", TURN, found)
    about = {"numbers": len(numbers), "verdicts": len(study.readings)}
    about |= {"inputs": hashes(study.paper)}
    (FRAGILITY / f"{study.paper}.json").write_text(json.dumps(about, indent=1) + "\n")
    for e in sorted(errors):
        print(f"  {errors[e]} times {e[:300]}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    kind, paper, *more = sys.argv[1:]
    if kind == "flips":
        print(*flips(Study(paper), *map(float, more)), sep="\n")
    else:
        renew_fragility(Study(paper))
