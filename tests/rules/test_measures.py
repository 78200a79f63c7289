"""Laws of all measures: the order of rows, names of models, and missing results."""

import itertools
import re

import numpy as np
import pytest
from measures import MEASURES, MODELS, NAN, measure, renamed, same

from bedside import BedsideError

EACH = pytest.mark.parametrize("name", MEASURES)


@EACH
def test_the_order_of_rows_changes_no_number(name, measure):
    other = MEASURES[name][0].make().sample(frac=1, random_state=1).reset_index(drop=True)
    same(measure(name, other), measure(name))


def back_again(found, names):
    """A result with models renamed back; a difference keeps its sign, whichever comes first."""
    made = {}
    for labels, rows in found.items():
        key = tuple(re.sub("|".join(names), lambda m: names[m[0]], part) for part in labels)
        pair = re.match(f"({MODELS[1]}) vs ({MODELS[0]})", key[0])
        if pair:
            key = (f"{pair[2]} vs {pair[1]}", *key[1:])
            if any("difference" in k and "detectable" not in k for k in key):
                less = {"value": "value", "low": "high", "high": "low"}
                rows = [{**r, **{k: -r[v] for k, v in less.items()}} for r in rows]
        made[key] = rows
    return made


@EACH
def test_numbers_move_with_the_names_of_models(name, measure):
    """Names exchanged, and one that sorts otherwise. p and detectable differences stay."""
    for names in (dict(zip(MODELS, MODELS[::-1])), {MODELS[0]: "zelkova"}):
        frame = renamed(MEASURES[name][0].make(), names)
        found = measure(name, frame, [names.get(m, m) for m in MODELS])
        same(back_again(found, {new: old for old, new in names.items()}), measure(name))


# ---- what is missing is unscored and counted, or an error that names it; never a number

STATUSES = {"status", "match"}
# columns in which an empty text says something: no reason, nobody, no further label
TEXTS = {"reply_status", "why", "by", "group", "complexity", "part", "refused", "type", "raw"}
MISSING = [None, NAN, ""]
GIVEN = {"published", "recomputed"}  # sources of what isn't this run's


def changed(frame, cells):
    """The frame with these values in a row that has a verdict, and isn't its model's first."""
    made = frame.astype(dict.fromkeys(cells, object))
    for column, value in cells.items():
        made.at[frame.index[len(frame) // 2 + 5], column] = value
    return made


def outcome(measure, name, frame):
    try:
        return measure(name, frame)
    except BedsideError as error:
        return str(error)


def is_result(of, column):
    return column in STATUSES or column in of.lost or column in of.read


@EACH
def test_a_row_that_lacks_what_it_is_about_is_an_error_that_says_so(name, measure):
    """All but results are missing at once; each column that is read is named in turn."""
    of, frame = MEASURES[name][0], MEASURES[name][0].make()
    lacking = dict(zip(frame, itertools.cycle(MISSING)))
    lacking = {c: None if c in TEXTS else v for c, v in lacking.items() if not is_result(of, c)}
    while isinstance(found := outcome(measure, name, changed(frame, lacking)), str):
        column = re.search(r"rows have no (\w+): the first is \w+ \S", found)
        assert column and column[1] in lacking, found
        del lacking[column[1]]
    same(found, measure(name))  # nothing else is read


@EACH
def test_a_missing_result_is_unscored_or_an_error_that_says_so(name, measure):
    of, frame = MEASURES[name][0], MEASURES[name][0].make()
    whole = measure(name)
    for column, value in zip((c for c in frame if is_result(of, c)), itertools.cycle(MISSING)):
        found = outcome(measure, name, changed(frame, {column: value}))
        if isinstance(found, str):
            assert re.search(rf"rows have no {column}: the first is \w+ \S", found), found
        elif str(found) != str(whole):  # else it isn't read
            lost = {column: NAN} if column in of.read else of.lost
            lost = {column: "unparsed"} if column in STATUSES else lost
            same(found, measure(name, changed(frame, lost)))


@pytest.mark.parametrize("name", [n for n, (of, _) in MEASURES.items() if STATUSES & {*of.lost}])
def test_a_value_beside_another_status_than_graded_is_never_read(name, measure):
    of, frame = MEASURES[name][0], MEASURES[name][0].make()
    stale = {c: v for c, v in of.lost.items() if c in ("hit", "yes")}
    refused = {c: "refused" for c in of.lost if c in STATUSES}
    one = measure(name, changed(frame, of.lost))
    same(measure(name, changed(frame, stale | refused)), one)
    assert one != measure(name)


# those of MedHalu have tests of their own for it, and ends count replies
@pytest.mark.parametrize("name", sorted({*MEASURES} - {"Table 6", "spans", "ends"}))
def test_replies_that_all_lack_a_result_give_no_number(name, measure):
    of, frame = MEASURES[name][0], MEASURES[name][0].make()
    lost = {**of.lost, **dict.fromkeys(of.read, NAN)}
    frame = frame.assign(**{column: [value] * len(frame) for column, value in lost.items()})
    rows = [r for k, rows in measure(name, frame).items() if not GIVEN & {*k} for r in rows]
    assert all(r["n"] == 0 and np.isnan(r["value"]) for r in rows if "value" in r and "n" in r)
