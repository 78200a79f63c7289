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
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS = {  # that every expression may call
    f.__name__: f
    for f in (
        rounded.every,
        rounded.most,
        rounded.some,
        rounded.at_least,
        rounded.prints,
        rounded.possible,
        rounded.which,
        rounded.count,
        rounded.size,
        rounded.rank_correlation,
    )
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
        raise BedsideError(f"{text!r} is no expression: {e}") from None


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
    node, compared, beside = parsed(text), None, ""
    with _of(text):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                compared, other = _value(left, names), _value(right, names)
                found = _done(op, compared, other)
                if _names(right) - {"claimed"}:
                    beside = f" against {_told(other)}"
            case _:
                found = _value(node, names)
    try:
        made = rounded.verdict(found)
    except TypeError as e:
        raise BedsideError(f"{text}: {e}") from None
    told = (made.told or _told(compared)) + beside
    if isinstance(compared, Rounded) and compared.high - compared.low > rounded.TIE:
        return told, float(compared.low), float(compared.high), made.holds
    return told, made.low, made.high, made.holds


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
    raise BedsideError(
        INSTEAD.get(type(node)) or f"an expression holds no {type(node).__name__.lower()}"
    )


def _part(of, name):
    """A column, or a quantity of several that have a name together."""
    if isinstance(of, Rounded) and name in PARTS:
        return getattr(of, name)
    columns = getattr(of.value if isinstance(of, Rounded) else of, "columns", ())
    if isinstance(of, Mapping) or name in columns:
        return of[name]
    raise BedsideError(f"there is no {name!r}; columns are {', '.join(map(str, columns))}")


def _function(node, names):
    if isinstance(node, ast.Name):
        function = names[choose(node.id, names, "function")]
        if callable(function):
            return function
        raise BedsideError(f"{node.id} is no function")
    if isinstance(node, ast.Attribute) and node.attr in METHODS:
        of = _value(node.value, names)
        if isinstance(of, Rounded | pd.Series | pd.DataFrame):
            return getattr(of, node.attr)
    raise BedsideError(f"{ast.unparse(node)}() can't be called; {', '.join(METHODS)} can")
