"""Signatures: short ones, and types on what one room uses of another."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import bedside
from bedside import annotation
from bedside.read import paths

MOST = 8  # parameters, without self
LONG = {  # functions with more, and why
    "run.Run.figure": "notebooks call it: a keyword for each thing about a picture",
    "own.steps.study": "a script names each setting of a study",
    "papers.cancer_myth.generation.generate": "a notebook names the loop's settings one by one",
}
MODULES = [
    importlib.import_module(m.name) for m in pkgutil.walk_packages(bedside.__path__, "bedside.")
]


def functions(tree, above=""):
    """(name, function) of all functions in a module, class or function."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        name = f"{above}.{node.name}" if named else above
        if named and not isinstance(node, ast.ClassDef):
            yield name, node
        yield from functions(node, name)


def test_functions_have_few_parameters():
    found = set()
    for path in (paths.ROOT / "lib/bedside").rglob("*.py"):
        module = ".".join(path.relative_to(paths.ROOT / "lib/bedside").with_suffix("").parts)
        for name, f in functions(ast.parse(path.read_text()), module):
            a = f.args
            given = [
                p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p
            ]
            if len(given) - (given[:1] in (["self"], ["cls"])) > MOST:
                found.add(name)
    assert found == set(LONG)


def room(name):
    return name.split(".")[1]


def of_others(module):
    """The functions and classes of other rooms that a module names."""
    tree, names = ast.parse(Path(module.__file__).read_text()), dict(vars(module))
    for node in ast.walk(tree):  # in functions, too
        if isinstance(node, ast.ImportFrom) and (node.level or node.module.startswith("bedside")):
            exec(compile(ast.Module([node], []), module.__name__, "exec"), names)
    for node in ast.walk(tree):
        found = names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = getattr(names.get(node.value.id), node.attr, None)
        found = inspect.unwrap(found) if callable(found) else found
        if inspect.isfunction(found) or inspect.isclass(found):
            home = found.__module__
            if home.startswith("bedside.") and room(home) != room(module.__name__):
                yield found


def parts(found):
    """A function, or a class's public methods and its __init__."""
    if inspect.isfunction(found):
        return [found]
    public = [f for k, f in vars(found).items() if k == "__init__" or not k.startswith("_")]
    bare = (getattr(f, "__func__", None) or getattr(f, "fget", None) or f for f in public)
    return [inspect.unwrap(f) for f in bare if inspect.isfunction(f)]


def untyped(f):
    """What of a function has no type: names of parameters, and its result as `return`."""
    typed = {"self", "cls", *f.__annotations__}
    typed |= {"return"} if f.__name__ == "__init__" else set()
    return {*inspect.signature(f).parameters, "return"} - typed


def lacking(found):
    """{function: what of it has no type}; a lambda can have none."""
    named = {f"{f.__module__}.{f.__qualname__}": untyped(f) for f in found}
    return {k: sorted(bare) for k, bare in named.items() if bare and not k.endswith("<lambda>")}


def test_what_a_room_uses_of_another_has_types():
    found = {f for module in MODULES for used in of_others(module) for f in parts(used)}
    assert len(found) > 300 and not lacking(found)


def test_what_explorer_and_raters_call_of_a_study_has_types():
    """They reach it through the studies' DISPLAYS and TASKS."""
    displays = [m.DISPLAYS for m in MODULES if hasattr(m, "DISPLAYS")]
    shown = [*(d for those in displays for d in those), *annotation.tasks().values()]
    called = {f for one in shown for f in vars(one).values() if inspect.isfunction(f)}
    assert len(called) > 40 and not lacking(called)
