"""Expressions in data files compute what they say, and nothing in a file is run as code."""

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.read.expressions import LONGEST, evaluated, mentions, outcome
from bedside.stats.rounded import Rounded, every, most

T = Rounded.printed(pd.DataFrame({"P": [0.81, 0.5], "R R": [0.25, 0.5]}, index=["a", "b"]), 2)
SEEN = []
NAMES = {"T": T, "every": every, "most": most, "n": 3, "one": {"low": 0.2}, "note": SEEN.append}


@pytest.mark.parametrize(
    "text, told, holds",
    [
        ("every(T.P > T['R R'])", "1 to 2 of 2, not surely b (0.5 to 0.81)", None),
        ("most(T.P.drop('b') >= 0.8) & (n == 3)", "1 of 1 (0.81 to 0.81)", True),
        ("T.P['a'] - 2 * T['R R']['a'] > 0.3", "0.31", None),
        ("n + 1 == 4", "4", True),
        ("[n, n / 2] == [3, 1.5]", "3, 1.5", True),
        ("-n < one.low", "-3 against 0.2", True),
        ("every(~(T.P.value > 0.9))", "2 of 2", True),
        ("T[['P']].mean().min() > 0.6", "0.655", True),
    ],
)
def test_an_expression_decides(text, told, holds):
    assert outcome(text, NAMES)[::3] == (told, holds)


def test_one_number_that_is_compared_has_the_range_that_rounding_allows():
    assert outcome("T.P['a'] > 0.5", NAMES)[1:3] == pytest.approx((0.805, 0.815))
    exact = Rounded(0.81, 0.81, 0.81)
    assert outcome("T > 0.5", {"T": exact})[1:3] == (None, None)


@pytest.mark.parametrize(
    "text, told",
    [
        ("every(T.P > 0) and n == 3", "write &"),
        ("not n", "write ~"),
        ("0.6 < n < 0.9", "one comparison at a time"),
        ("n in [3]", "compare with =="),
        ("m == 3", "unknown name 'm'"),
        ("evry(T.P > 0)", "did you mean 'every'"),
        ("T.Q > 0", "no 'Q'"),
        ("T.P", "isn't a comparison"),
        ("T.P > 0", "every, most or some"),
        ("T.P.to_csv('x')", "can't be called"),
        ("T.P.std() > 0", "can't be called"),
        ("T.__class__", "no '__class__'"),
        ("T.P['a'] == 0.81", "equals nothing"),
        ("n / 0 > 1", "ZeroDivisionError"),
        ("T.P['z'] > 1", "KeyError"),
        ("note('hacked')()", "can't be called"),
        ("__import__('os').system('true')", "can't be called"),
        ("().__class__.__bases__", "no '__class__'"),
        ("[x for x in T]", "can't contain listcomp"),
        ("(lambda: 1)()", "can't be called"),
        ("f'{n}'", "can't contain joinedstr"),
        ("(n := 4) == 4", "can't contain namedexpr"),
        ("n ** 99 > 1", "a product"),
        ("n if n else n", "can't contain ifexp"),
        ("b'x' == n", "can't contain constant"),
        ("n ==", "an expression"),
        ("n == 3; n", "an expression"),
        ("import os", "an expression"),
        ("(" * 70 + "n" + ")" * 70, ""),
        ("n == 3 " + " " * LONGEST, "too many"),
    ],
)
def test_all_else_is_an_error_that_quotes_it(text, told):
    if not told:  # as deep as a line can be
        assert evaluated(text, NAMES) == 3
        return
    with pytest.raises(BedsideError, match=told):
        outcome(text, NAMES)
    assert "hacked" not in str(SEEN) or SEEN == ["hacked"]  # a named function may be called


def test_names_are_found_wherever_they_stand():
    assert mentions("every(T['a'].b > c) & (d.of(e) == [f, -g])") == {*"Tcdefg", "every"}
