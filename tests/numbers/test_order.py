"""What the order of rows and the names of models may not change: any number of any table."""

import ast
import importlib
import inspect
import pkgutil
import re
from types import CodeType

import pandas as pd
import pytest
from catalogue import CASES, call, run_of, same  # noqa: F401
from catalogue_frames import MODELS

import medhalu_cells
from bedside import papers
from bedside.papers.meddialbench.scores import changes
from bedside.papers.meddialbench.tables import vulnerability
from cells import statements

# shown is the first case that one of the run's models fails, and odds are against its first model
FIRST = ("meddialbench case_table", "meddialbench mixed_table")
SWAPPED = dict(zip(MODELS, MODELS[::-1]))
MAKES = {frame.make for frame, _ in CASES.values()}
NAMING = {make for make in MAKES if MODELS[0] in make().to_csv()}
NAMED = [name for name, (frame, _) in CASES.items() if frame.make in NAMING]


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_rows_changes_no_number(name, call):  # noqa: F811
    other = CASES[name][0].make().sample(frac=1, random_state=1).reset_index(drop=True)
    other = other.sort_values("model", kind="stable") if name in FIRST else other
    same(call(name, other), call(name))


def turned(found, names):
    """A result with models renamed back; a difference keeps its sign, whichever comes first."""

    def text(said):
        return re.sub("|".join(names), lambda m: names[m[0]], said)

    made = {}
    for labels, rows in found.items():
        key = tuple(map(text, labels))
        pair = re.match(f"({MODELS[1]}) vs ({MODELS[0]})", key[0])
        if pair:
            key = (f"{pair[2]} vs {pair[1]}", *key[1:])
            if any("difference" in k and "detectable" not in k for k in key):
                less = {"value": "value", "low": "high", "high": "low"}
                rows = [{**r, **{k: -r[v] for k, v in less.items()}} for r in rows]
        made[key] = rows
    return made


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("back", [SWAPPED, {"zelkova": MODELS[0]}], ids=["swap", "new"])
def test_numbers_move_with_the_names_of_models(name, back, call):  # noqa: F811
    """Names exchanged, and one that sorts otherwise. p and detectable differences stay."""
    frame, there = CASES[name][0].make(), {old: new for new, old in back.items()}

    def renamed(cell):
        found = isinstance(cell, str) and re.sub("|".join(there), lambda m: there[m[0]], cell)
        return found or cell

    found = call(name, frame.map(renamed), [there.get(m, m) for m in MODELS])
    same(turned(found, back), call(name))


def test_configurations_that_tie_for_the_worst_are_all_named(call):  # noqa: F811
    # Four cases, right at baseline: two lost under x and y, one under z; x and y tie at 50 points.
    right = {"baseline": [1, 1, 1, 1], "x": [0, 0, 1, 1], "y": [1, 1, 0, 0], "z": [1, 1, 1, 0]}
    rows = [(f"c{k}", c, "m", float(v)) for c, mine in right.items() for k, v in enumerate(mine)]
    done = pd.DataFrame(rows, columns=["case", "configuration", "model", "correct"])
    run, none = run_of("meddialbench"), pd.DataFrame()

    def worst(part):
        found = vulnerability.worst_table(none, none, changes(part, run))
        found = found[found["source"] == "run"].iloc[0]
        return found["column"], found["value"], found["n"], pd.isna(found["low"])

    assert worst(done) == worst(done[::-1]) == ("worst: x, y", 50, 4, True)
    assert worst(done[done["configuration"].isin(["baseline", "x", "y"])])[0] == "worst: all alike"
    assert worst(done[done["configuration"] != "y"])[:3] == ("worst: x", 50, 4)


# ---- is every function in the catalogue?

NOT_HERE = {  # public functions of scores and tables that no case reaches, and why
    "by_kind card_table table1 categoriser_table judge_table": "take trust cards or labelled pairs",
    "examples_table": "takes trust cards, too",
    "experts_table text_table versions_table named published_rows": "show printed numbers",
    "identity_table misfit_table implied_rows implied_table power_table": "follow from these",
    "related_table configuration_table script_table cost_table": "count the design and its scripts",
    "length_rows repair_table strict_table pair_table": "count the released files",
    "editing_table answered_table": "count words of texts; tests/papers/test_review.py",
    "collected_table": "takes verdicts on pairs; tests/papers/test_generation.py",
    "flag_table": "takes raters' flags; tests/oracles/test_radiation_matchers.py",
    "with_limits stack": "are called by cells of notebooks, which `accuracy` runs",
    "of_agents": "is a sentence of a caption; tests/papers/test_mitigation.py",
    "took_part": "is a sentence of a caption; tests/papers/test_medhalu.py",
    "blind rates found_table beside": "take counts, no replies",
    "positions cards balanced generated readings as_printed": "show counts or what others read",
    "own": "joins models and generators by name; tests/papers/test_released_answers.py",
    "most_misled": "shows one consultation",
    "by_words": "fits a classifier by rows; tests/numbers/test_answers.py",
    "grade_exam": "reads answers; tests/papers/test_mitigation.py",
    "printed_rows histogram_rows": "called with what others read",
}


def names_in(code):
    """All names that a function's code mentions."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names}.union(*map(names_in, inner))


def test_every_function_of_scores_and_tables_is_in_the_catalogue():
    functions = {}
    for module in pkgutil.walk_packages(papers.__path__, f"{papers.__name__}."):
        if re.search(r"\.(scores|tables)(\.|$)", module.name):
            made = vars(importlib.import_module(module.name)).values()
            here = [f for f in made if inspect.isfunction(f) and f.__module__ == module.name]
            for f in here:
                functions.setdefault(f.__name__, []).append(f)
    codes = [f.__code__ for _, f in CASES.values()]
    cells = [s for name in medhalu_cells.NOTEBOOKS for s in statements(name)]
    codes += [compile(ast.unparse(s), "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT) for s in cells]
    seen, todo = set(), set().union(*map(names_in, codes))
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= set().union(*(names_in(f.__code__) for f in functions.get(name, ()))) - seen
    public = {n for n, of in functions.items() if n[0] != "_" and not asks(of)}
    reasons = {name for names in NOT_HERE for name in names.split()}
    assert public - seen - reasons == set()
    assert reasons <= functions.keys(), "no longer there"


def asks(functions):
    """Whether functions are coroutines, which ask judges before they count."""
    return all(inspect.iscoroutinefunction(f) for f in functions)
