"""What a notebook computes, for tests of the definitions that stand in its cells."""

import ast
import dis
import functools
import inspect
import json
import re

from bedside.read import paths


@functools.cache
def statements(name):
    """All statements of a notebook, in order."""
    found = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ("".join(c["source"]) for c in found if c["cell_type"] == "code")
    return [statement for source in code for statement in ast.parse(source).body]


def _compiled(statement):
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compile(ast.Module([statement], []), "<cell>", "exec", flags)


def _changed(node):
    """The name of which a node changes a part, if any: x in `x[i].y = 1` and `x.append(1)`."""
    if isinstance(node, ast.AugAssign):
        node = node.target
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
        node = node.func
    elif not isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(node, ast.Name):
        return []
    return re.findall(r"^\w+", ast.unparse(node))


def _names(statement):
    """The names that a statement sets, those of which it changes a part, and those it reads."""
    made, read, codes = set(), set(), [_compiled(statement)]
    for code in codes:  # comprehensions and functions have their own
        codes += filter(inspect.iscode, code.co_consts)
        for step in dis.get_instructions(code):
            made |= {step.argval} if step.opname == "STORE_NAME" else set()
            read |= {step.argval} if step.opname in ("LOAD_NAME", "LOAD_GLOBAL") else set()
    in_part = {name for node in ast.walk(statement) for name in _changed(node)}
    if isinstance(statement, ast.For):  # what a loop makes isn't from before
        read -= made - in_part
    return made, in_part, read


def _asks(statement, given):
    """Whether a statement is an `if` that asks for the truth of a given name."""
    return isinstance(statement, ast.If) and getattr(statement.test, "id", "") in given


@functools.cache
def _steps(name, variables, given, holds):
    """The code of the statements that variables need, beside what is given, in order.

    holds: the names given whose `if` is taken.
    """
    need, kept, taken = set(variables), [], []
    for s in statements(name):
        taken += (s.body if s.test.id in holds else s.orelse) if _asks(s, given) else [s]
    for statement in reversed(taken):
        made, in_part, read = _names(statement)
        if (made | in_part) & need - given:
            kept.insert(0, _compiled(statement))
            whole = isinstance(statement, ast.Assign | ast.Import | ast.ImportFrom)
            need = (need - made if whole else need) | in_part | read
    return kept


def wanted(name, *variables, **given):
    """A notebook's variables, from those given: only statements run that they need."""
    asked = {s.test.id for s in statements(name) if _asks(s, given)}
    holds = frozenset(n for n in asked if given[n])
    space = {**given}
    for code in _steps(name, variables, frozenset(given), holds):
        exec(code, space)
        space |= given  # what is given stays, whatever else a statement sets
    found = [space[v] for v in variables]
    return found if len(found) > 1 else found[0]
