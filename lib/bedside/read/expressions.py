"""Expressions in data files: one line over named quantities, read by this module alone.

    evaluated("every(T1.Precision > T1.Recall)", {"T1": ..., "every": ...})

An expression has numbers, texts, lists, names, columns, the arithmetic + - * /, one comparison at a
time, & | ~, and calls: of named functions, and of the METHODS of frames and series. Nothing else is
evaluated, and no text becomes code.
"""

import ast
import contextlib
import operator
from collections.abc import Mapping
from numbers import Number
from typing import Any

import pandas as pd

from bedside import BedsideError, choose
from bedside.stats import rounded
from bedside.stats.rounded import Rounded

LONGEST = 160  # characters
# of what a name stands for: of frames, series and rounded numbers
METHODS = ("min", "max", "mean", "median", "sum", "drop", "stack", "of", "between")
PARTS = ("value", "low", "high")  # of a rounded number: for what is printed as such
OPERATIONS = {
    getattr(ast, node): getattr(operator, name)
    for node, name in (
        pair.split(":")
        for pair in "Add:add Sub:sub Mult:mul Div:truediv BitAnd:and_ BitOr:or_ USub:neg"
        " Invert:invert Gt:gt GtE:ge Lt:lt LtE:le Eq:eq NotEq:ne".split()
    )
}
FUNCTIONS = {  # that every expression may call
    name: getattr(rounded, name)
    for name in "every most some at_least prints possible which count size rank_correlation".split()
}
INSTEAD = {  # what people write that isn't read, and what is
    ast.BoolOp: "write & for `and`, | for `or`",
    ast.Not: "write ~ for `not`",
    ast.Pow: "write a product",
    ast.In: "compare with ==, or name a quantity",
}


def parsed(text: str) -> ast.expr:
    """An expression's tree; BedsideError for what isn't one, or is longer than LONGEST."""
    if len(text) > LONGEST:
        raise BedsideError(f"{len(text)} characters are too many for an expression ({LONGEST})")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise BedsideError(f"{text!r} isn't an expression: {e}") from None


def mentions(text: str) -> set[str]:
    """The names in an expression."""
    return _names(parsed(text))


def _names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@contextlib.contextmanager
def _of(text):
    """Name the expression in whatever goes wrong in it."""
    try:
        yield
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, ArithmeticError) as e:
        raise BedsideError(f"{text}: {type(e).__name__}: {e}") from None


def evaluated(text: str, names: Mapping[str, Any]) -> Any:
    """What an expression comes to; names: quantities and functions that it may use.

    BedsideError naming the expression for what it may not hold and for whatever goes wrong in it.
    """
    with _of(text):
        return _value(parsed(text), names)


def outcome(text: str, names: Mapping[str, Any]) -> tuple:
    """(told, low, high, holds) of an expression that decides something.

    told: what was found, beside what it is compared with. low, high: of one number that is
    compared, the range that rounding allows, if any. Holds is None where that leaves it open.
    """
    node, left, beside = parsed(text), None, ""
    with _of(text):
        result = _value(node, names)
        if isinstance(node, ast.Compare):
            left, right = (_value(side, names) for side in (node.left, node.comparators[0]))
            if _names(node.comparators[0]) - {"claimed"}:
                beside = f" against {_told(right)}"
        found = rounded.verdict(result)
    told = (found.told or _told(left)) + beside
    if isinstance(left, Rounded) and left.high - left.low > rounded.TIE:
        return told, float(left.low), float(left.high), found.holds
    return told, found.low, found.high, found.holds


def _told(value):
    """What was compared, in words."""
    if isinstance(value, list):
        return ", ".join(map(_told, value)) or "none"
    if isinstance(value, Rounded):
        return f"{float(value.value):z.3g}"
    return f"{value:z.4g}" if isinstance(value, Number) else str(value or "")


def _value(node, names):
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return node.value
        case ast.Name():
            return names[choose(node.id, names, "name")]
        case ast.List() | ast.Tuple():
            return [_value(part, names) for part in node.elts]
        case ast.UnaryOp():
            return _done(node.op, _value(node.operand, names))
        case ast.BinOp():
            return _done(node.op, _value(node.left, names), _value(node.right, names))
        case ast.Compare(ops=[op], comparators=[right]):
            return _done(op, _value(node.left, names), _value(right, names))
        case ast.Compare():
            raise BedsideError(f"{ast.unparse(node)}: one comparison at a time, joined by &")
        case ast.Subscript():
            return _value(node.value, names)[_value(node.slice, names)]
        case ast.Attribute():
            return _part(_value(node.value, names), node.attr)
        case ast.Call():
            function = _function(node.func, names)
            more = {k.arg: _value(k.value, names) for k in node.keywords if k.arg}
            return function(*(_value(a, names) for a in node.args), **more)
    _refuse(node)


def _done(op, *parts):
    if type(op) not in OPERATIONS:
        _refuse(op)
    return OPERATIONS[type(op)](*parts)


def _refuse(node):
    name = type(node).__name__.lower()
    raise BedsideError(INSTEAD.get(type(node), f"an expression can't contain {name}"))


def _part(of, name):
    """A column, or a quantity of several that have a name together."""
    if isinstance(of, Rounded) and name in PARTS:
        return getattr(of, name)
    columns = getattr(of.value if isinstance(of, Rounded) else of, "columns", ())
    if isinstance(of, Mapping) or name in columns:
        return of[name]
    raise BedsideError(f"there is no {name!r}. Columns: {', '.join(map(str, columns))}.")


def _function(node, names):
    if isinstance(node, ast.Name):
        function = names[choose(node.id, names, "function")]
        if callable(function):
            return function
        raise BedsideError(f"{node.id!r} isn't a function. Write it without brackets")
    if isinstance(node, ast.Attribute) and node.attr in METHODS:
        of = _value(node.value, names)
        if isinstance(of, Rounded | pd.Series | pd.DataFrame):
            return getattr(of, node.attr)
    raise BedsideError(f"{ast.unparse(node)}() can't be called. Allowed: {', '.join(METHODS)}.")
