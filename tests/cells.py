"""What a notebook computes, for tests of the definitions that stand in its cells."""

import ast
import functools
import json

from bedside.read import paths


@functools.cache
def compiled(name, cell=None):
    """A cell's code up to the table or figure that it writes; None: of the first, with imports."""
    found = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [c for c in found if c["cell_type"] == "code"]
    (source,) = ("".join(c["source"]) for c in code if c["id"] == (cell or code[0]["id"]))
    for written in ("run.table(", "run.figure("):
        source = source.partition(written)[0]
    return compile(source, f"<{name}, cell {cell}>", "exec")


def computed(name, cells, /, **given):
    """The variables that cells of a notebook make, one after the other, from those given."""
    for cell in (None, *cells.split()):
        exec(compiled(name, cell), given)
    return given


@functools.cache
def statements(name):
    """All statements of a notebook, in order."""
    found = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ("".join(c["source"]) for c in found if c["cell_type"] == "code")
    return [statement for source in code for statement in ast.parse(source).body]


def _names(statement):
    """The names that a statement sets, changes in part, and reads."""
    nodes = [*ast.walk(statement)]
    names = [n for n in nodes if isinstance(n, ast.Name)]
    made = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    made |= {a.asname or a.name for n in nodes for a in getattr(n, "names", ())}
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
    in_part = {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}
    in_part |= {n.target.id for n in nodes if isinstance(n, ast.AugAssign) and n.target in names}
    return made, in_part, {n.id for n in names if isinstance(n.ctx, ast.Load)}


def wanted(name, *variables, **given):
    """A notebook's variables, from those given: only statements run that they need."""
    need, kept = set(variables), []
    for statement in reversed(statements(name)):
        made, in_part, read = _names(statement)
        if (made | in_part) & need - given.keys():
            kept.insert(0, statement)
            whole = isinstance(statement, ast.Assign | ast.Import | ast.ImportFrom)
            need = (need - made if whole else need) | in_part | read
    exec(compile(ast.Module(kept, []), f"<{name}>", "exec"), given)
    found = [given[v] for v in variables]
    return found if len(found) > 1 else found[0]
