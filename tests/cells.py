"""What a notebook computes, for tests of the definitions that stand in its cells."""

import ast
import functools
import json
import symtable

from bedside.read import paths


@functools.cache
def statements(name):
    """All statements of a notebook, in order."""
    found = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ("".join(c["source"]) for c in found if c["cell_type"] == "code")
    return [statement for source in code for statement in ast.parse(source).body]


def _names(statement):
    """The names that a statement sets, changes in part, and reads from before."""
    scope, nodes = symtable.symtable(ast.unparse(statement), "", "exec"), [*ast.walk(statement)]
    symbols, inner = scope.get_symbols(), [*scope.get_children()]
    read = {s.get_name() for s in symbols if s.is_referenced()}
    for part in inner:  # comprehensions and functions
        inner += part.get_children()
        read |= {s.get_name() for s in part.get_symbols() if s.is_global()}
    made = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    if isinstance(statement, ast.For):  # what its body makes anew isn't from before
        target, body = _names(ast.Assign([statement.target], ast.Constant(0), lineno=0))[0], set()
        for s in reversed(statement.body):
            own, part, more = _names(s)
            body = (body - own if isinstance(s, ast.Assign) else body) | part | more
        read = (body - target) | _names(ast.Expr(statement.iter))[2]
    parts = [
        n.value
        for n in nodes
        if isinstance(getattr(n, "ctx", None), ast.Store)
        and isinstance(n, ast.Subscript | ast.Attribute)
    ]
    parts += [
        n.func.value
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "append"
    ]
    for k, part in enumerate(parts):  # of x[i].y[j] it is x
        while isinstance(part, ast.Subscript | ast.Attribute | ast.Call):
            parts[k] = part = part.func if isinstance(part, ast.Call) else part.value
    in_part = {part.id for part in parts if isinstance(part, ast.Name)}
    augmented = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
    in_part |= {n.id for n in augmented if isinstance(n, ast.Name)}
    return made, in_part, read


def _tests(found):
    """The `if` statements that ask for a name alone."""
    return [s for s in found if isinstance(s, ast.If) and isinstance(s.test, ast.Name)]


@functools.cache
def _steps(name, variables, given, holds):
    """The code of the statements that variables need, beside what is given, in order.

    holds: the names given whose `if` is taken.
    """
    need, kept, taken = set(variables), [], []
    for s in statements(name):
        told = _tests([s]) and s.test.id in given
        taken += (s.body if s.test.id in holds else s.orelse) if told else [s]
    for statement in reversed(taken):
        made, in_part, read = _names(statement)
        if (made | in_part) & need - given:
            kept.insert(0, statement)
            whole = isinstance(statement, ast.Assign | ast.Import | ast.ImportFrom)
            need = (need - made if whole else need) | in_part | read
    return [compile(ast.Module([statement], []), f"<{name}>", "exec") for statement in kept]


def wanted(name, *variables, **given):
    """A notebook's variables, from those given: only statements run that they need."""
    asked = {s.test.id for s in _tests(statements(name))} & given.keys()
    holds = frozenset(n for n in asked if given[n])
    space = {**given}
    for code in _steps(name, variables, frozenset(given), holds):
        exec(code, space)
        space |= given  # what is given stays, whatever else a statement sets
    found = [space[v] for v in variables]
    return found if len(found) > 1 else found[0]
