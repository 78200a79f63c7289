"""What a missing value is: unscored and counted, or an error that names it. Never a number."""

import itertools
import re

import pandas as pd
import pytest
from catalogue import CASES, call, same  # noqa: F401

from bedside import BedsideError
from bedside.read import checks

NAN = float("nan")
MISSING = [None, NAN, ""]
STATUSES = {"status", "verdict", "match"}
# columns in which an empty text says something: no reason, nobody, no further label
TEXTS = {"reply_status", "why", "by", "group", "complexity", "part", "refused", "type", "raw"}


def changed(frame, row, cells):
    """The frame with these values in a row."""
    made = frame.astype(dict.fromkeys(cells, object))
    for column, value in cells.items():
        made.at[row, column] = value
    return made


def row_of(frame):
    """A row with a verdict, that was neither cut nor the first of its model."""
    return frame.index[len(frame) // 2 + 5]


def outcome(call, name, frame):  # noqa: F811
    try:
        return call(name, frame)
    except BedsideError as error:
        return str(error)


def alike(found, expected):
    try:
        same(found, expected)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_a_row_that_lacks_what_it_is_about_is_an_error_that_says_so(name, call):  # noqa: F811
    """All but results are missing at once; each column that is read is named in turn."""
    of, frame = CASES[name][0], CASES[name][0].make()
    lacking = dict(zip(frame, itertools.cycle(MISSING)))
    lacking = {c: None if c in TEXTS else v for c, v in lacking.items() if not measured(of, c)}
    while isinstance(found := outcome(call, name, changed(frame, row_of(frame), lacking)), str):
        column = re.search(r"rows have no (\w+): the first is \w+ \S", found)
        assert column and column[1] in lacking, found
        del lacking[column[1]]
    same(found, call(name))  # nothing else is read


def measured(of, column):
    return column in STATUSES or column in of.lost or column in of.read


@pytest.mark.parametrize("name", CASES)
def test_a_missing_result_is_unscored_or_an_error_that_says_so(name, call):  # noqa: F811
    of, frame = CASES[name][0], CASES[name][0].make()
    row = row_of(frame)
    for column, value in zip(filter(lambda c: measured(of, c), frame), itertools.cycle(MISSING)):
        found = outcome(call, name, changed(frame, row, {column: value}))
        if isinstance(found, str):
            assert re.search(rf"rows have no {column}: the first is \w+ \S", found), found
            continue
        lost = {column: NAN} if column in of.read else of.lost
        lost = {column: "unparsed"} if column in STATUSES else lost
        if not alike(found, call(name)):
            same(found, call(name, changed(frame, row, lost)))


UNSCORED = [name for name, (of, _) in CASES.items() if STATUSES & {*of.lost}]


@pytest.mark.parametrize("name", UNSCORED)
def test_what_has_no_verdict_is_no_number_whatever_its_value_says(name, call):  # noqa: F811
    """A stale value beside a status other than graded is never read; the reason changes nothing."""
    of, frame = CASES[name][0], CASES[name][0].make()
    row, refused = row_of(frame), {c: "refused" for c in of.lost if c in STATUSES}
    one = call(name, changed(frame, row, of.lost))
    stale = {c: v for c, v in of.lost.items() if c in ("hit", "yes", "outcome")}
    same(call(name, changed(frame, row, stale | refused)), one)
    for labels in one:
        assert not {"nan", "None", ""} & {*labels[:2]}, labels


def test_each_kind_of_missing_value_is_named():
    frame = pd.DataFrame({"item": ["a", "b"], "model": ["m", "n"], "why": ["", "x"]})
    assert checks.complete(frame, ["item", "model"], ["why"]) is frame
    for value in (None, NAN, "", pd.NA):
        with pytest.raises(BedsideError, match="1 of 2 rows have no model: the first is item b"):
            checks.complete(changed(frame, 1, {"model": value}), ["model"])
    with pytest.raises(BedsideError, match="no why: the first is item a"):
        checks.complete(changed(frame, 0, {"why": None}), [], ["why"])
    with pytest.raises(BedsideError, match="model is no number: the first is item a"):
        checks.numbers(frame, ["model"])
    assert checks.numbers(frame.assign(x=["", 2]), ["x"])["x"].isna().tolist() == [True, False]
    graded = frame.assign(status=["graded", "refused"], value=[1, None])
    assert len(checks.scored(graded)) == 1
    with pytest.raises(BedsideError, match="no value: the first is item b"):
        checks.scored(graded.assign(status="graded"))
    with pytest.raises(BedsideError, match="no model"):
        checks.groups(changed(frame, 0, {"model": NAN}), "model")
