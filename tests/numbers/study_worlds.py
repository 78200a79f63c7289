"""A study's readings as its notebooks compute them, in the world as it is and in others.

Of each notebook only the statements run that its claims need, and in a changed world only those of
them that read what is changed. No model is asked and no output is written.
"""

import ast
import contextlib
import copy
import functools
import inspect
import json
import sys
from unittest import mock

import pandas as pd

from bedside import stats
from bedside.read import claims, paths, published, sources
from bedside.run import Run

IMPORTS = ast.Import | ast.ImportFrom
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
    return _names(statement, ast.Store) | {_of(p) for p in parts if isinstance(p.ctx, ast.Store)}


def _of(part):
    """The name of what an item is set in: of `scores` for scores.loc[row]."""
    while isinstance(part, ast.Subscript | ast.Attribute):
        part = part.value
    return part.id


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
