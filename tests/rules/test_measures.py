"""Laws of all measures: order and names, missing results, halves, and answers that are known."""

import itertools
import re

import numpy as np
import pytest
from measures import (
    ITEMS,
    MEASURES,
    MODELS,
    NAN,
    REFERENCE,
    matched,
    measure,
    renamed,
    same,
)

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


# ---- halves: n adds up, rates are weighted means, intervals get narrower

# rows whose values are no means over the replies that n counts
OTHER = re.compile(r"published|recomputed|macro|corrected|always|coin|all\b")
POOLED = ["PCS and PCR", "rates of the cures", "accuracy", "ends", "lists", "own scores"]


@pytest.mark.parametrize("name", [*POOLED, "own, corrected"])
def test_halves_of_the_units_pool_to_the_whole(name, measure):
    of, frame = MEASURES[name][0], MEASURES[name][0].make()
    units = frame[of.unit].unique()
    first, seen = frame[of.unit].isin(units[: len(units) // 2]), 0
    whole, *halves = (measure(name, part) for part in (frame, frame[first], frame[~first]))
    for labels in whole.keys() & halves[0].keys() & halves[1].keys():
        rows = [found[labels][0] for found in (whole, *halves)]
        value, low, high, n, lost = (
            np.array([r.get(k, NAN) for r in rows], float)
            for k in ("value", "low", "high", "n", "unscored")
        )
        if OTHER.search(" ".join(labels)) or np.isnan(n).any():
            continue
        seen += 1
        assert n[0] == n[1:].sum() and np.nan_to_num(lost)[0] == np.nan_to_num(lost)[1:].sum()
        if n[0]:
            assert value[0] == pytest.approx(np.nansum(value[1:] * n[1:]) / n[0]), labels
        if not np.isnan(high - low).any():
            assert (high - low)[0] <= (high - low)[1:].max() + 1e-9, labels
    assert seen


# ---- answers that are all right, all wrong, or all without a verdict


def known(name, verdict):
    """A measure's frame in which all replies are right (1), wrong (0) or without a verdict."""
    of, frame = MEASURES[name][0], MEASURES[name][0].make()
    if verdict is None:
        lost = {**of.lost, **dict.fromkeys(of.read, NAN)}
        return frame.assign(**{k: [v] * len(frame) for k, v in lost.items()})
    if name == "Table 6":
        right = ITEMS.set_index("item")["hallucinated"].astype(float)
        yes = frame["item"].map(right)
        return frame.assign(status="graded", yes=yes if verdict else 1 - yes)
    if name == "accuracy":
        return frame.assign(correct=float(verdict))
    if name == "lists":
        every = REFERENCE.groupby("site")["effect"].agg(list)
        said = [every[s] if verdict else ["cystitis"] for s in frame["site"]]
        frame = frame.assign(terms=said, status="listed", match="graded")
        return frame.assign(pairs=matched(said))
    worst = -1 if name == "PCS and PCR" else 0
    return frame.assign(status="graded", value=verdict or worst, hit=verdict == 1)


KNOWN = [  # a measure, words of its rows, its best and worst
    ("PCS and PCR", "PCS", 1, -1),
    ("PCS and PCR", "PCR", 100, 0),
    ("rates of the cures", "Cancer-Myth", 100, 0),
    ("Table 6", r": (larch|maple) (accuracy|macro \w+) run", 1, 0),
    ("accuracy", "", 100, 0),
    ("lists", "precision|recall|f1", 1, 0),
    ("own scores", "right, % run$", 100, 0),
]


@pytest.mark.parametrize("name, words, best, worst", KNOWN)
def test_all_right_is_the_best_score_and_without_a_verdict_there_is_none(
    name,
    words,
    best,
    worst,
    measure,
):
    def rows(verdict):
        found = measure(name, known(name, verdict))
        return [r for k, mine in found.items() if re.search(words, " ".join(k)) for r in mine]

    for verdict, end in ((1, best), (0, worst)):
        assert rows(verdict)
        for r in rows(verdict):
            assert r["value"] == pytest.approx(end) and r["n"] > 0 and not r["unscored"] > 0
    for r in rows(None):
        assert np.isnan(r["value"]) and np.isnan(r["low"]) and r["n"] == 0 and r["unscored"] > 0
        if "worst" in r:  # the bounds are then the ends of the scale
            assert (r["worst"], r["best"]) == pytest.approx((worst, best))
