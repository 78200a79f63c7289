"""Two halves pooled are the whole: n adds up, rates are weighted means, intervals get narrower."""

import re

import numpy as np
import pandas as pd
import pytest
from catalogue import CASES, call, run_of  # noqa: F401
from catalogue_frames import right_or_wrong
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside import stats
from bedside.own import results
from bedside.papers.cancer_myth.scores import scores
from meddialbench_cells import accuracy

# rows whose values are no means over the replies that n counts
OTHER = re.compile(r"published|recomputed|macro|corrected|PCR of|PCS of|always|coin|all\b")
# n: tables whose n counts replies, or units with as many replies each
TABLES = [
    *("cancer_myth " + n for n in "scores judge_table balance_table".split()),
    *("cancer_myth " + n for n in "rates outcomes yield_table".split()),
    *("medhalu " + n for n in "scores reply_table".split()),
    *("meddialbench " + n for n in "accuracy end_table adherence_table".split()),
    *("radiation " + n for n in "score_table overlap_table".split()),
    *("own " + n for n in "scores corrected".split()),
]
NUMBERS = ["value", "low", "high", "n", "unscored"]


def numbers(row):
    value, low, high, n, lost = (row.get(k, np.nan) for k in NUMBERS)
    return value, high - low, n, 0 if np.isnan(lost) else lost


@pytest.mark.parametrize("name", TABLES)
def test_halves_of_the_units_pool_to_the_whole(name, call):  # noqa: F811
    of, frame = CASES[name][0], CASES[name][0].make()
    units = frame[of.unit].unique()
    first = frame[of.unit].isin(units[: len(units) // 2])
    whole, *halves = (call(name, part) for part in (frame, frame[first], frame[~first]))
    seen = 0
    for labels in whole.keys() & halves[0].keys() & halves[1].keys():
        rows = [numbers(found[labels][0]) for found in (whole, *halves)]
        (value, width, n, lost), *parts = rows
        if OTHER.search(" ".join(labels)) or np.isnan([row[2] for row in rows]).any():
            continue
        seen += 1
        values, widths, sizes, losses = map(np.array, zip(*parts))
        assert (n, lost) == (sizes.sum(), losses.sum()), labels
        if n:
            assert value == pytest.approx(np.nansum(values * sizes) / n), labels
        if not np.isnan([width, *widths]).any():
            assert width <= widths.max() + 1e-9, labels
    assert seen


def pooled(rows, by):
    """Parts of a table as one: (value weighted by n, n, unscored) by `by`."""
    rows = rows.assign(value=rows["value"].fillna(0) * rows["n"])
    made = rows.groupby(by)[["value", "n", "unscored"]].sum()
    return made.assign(value=made["value"] / made["n"])


@pytest.mark.usefixtures("call")
def test_parts_of_a_table_pool_to_its_total():
    frame = CASES["cancer_myth scores"][0].make()
    run, columns = run_of("cancer_myth"), ["value", "n", "unscored"]
    total = scores(frame, run).set_index(["model", "metric"])[columns].sort_index()
    for by in ("category", "generator"):
        found = pooled(scores(frame, run, [by]), ["model", "metric"])
        pd.testing.assert_frame_equal(found, total, check_dtype=False)
    made = results.scores(run_of("own"), right_or_wrong())
    made = made[made["column"].str.endswith(": right, %")].astype({"value": float})
    every = made["column"].str.startswith("all")
    pd.testing.assert_frame_equal(
        pooled(made[~every], "row"),
        made[every].set_index("row")[columns].sort_index(),
        check_names=False,
        check_dtype=False,
    )


@given(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=2, max_size=30), st.data())
@settings(deadline=None, max_examples=40)
def test_any_split_of_consultations_pools(verdicts, data):
    cases = [f"c{k}" for k in range(len(verdicts))]
    done = pd.DataFrame({"case": cases, "model": "m", "configuration": "baseline"})
    done["correct"] = pd.Series(verdicts, dtype=float)
    cut = data.draw(st.integers(1, len(verdicts) - 1))
    whole = accuracy(done).set_index("model")[["value", "n", "unscored"]]
    halves = pooled(pd.concat(map(accuracy, (done[:cut], done[cut:]))), "model")
    pd.testing.assert_frame_equal(halves, whole, check_dtype=False)


@given(st.integers(0, 40), st.integers(1, 40))
def test_twice_as_many_alike_narrow_a_wilson_interval(hits, more):
    n = hits + more
    one, two = stats.wilson(hits, n), stats.wilson(2 * hits, 2 * n)
    assert two.high - two.low < one.high - one.low
