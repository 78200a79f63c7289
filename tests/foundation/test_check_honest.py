"""Checks of printed numbers: none of an honest table is called wrong, and slips are found."""

from collections import Counter

import numpy as np
import pandas as pd

import bedside
import printed_tables

COLUMNS = ["table", "row", "column", "value", "n", "kind", "of"]


def checked(rows):
    return bedside.check(pd.DataFrame(rows, columns=COLUMNS))


def wrong(found):
    """The checks that say impossible, or possible only under a condition."""
    return found[found["verdict"].isin(["impossible", "only if"])]


def honest(count, seed=0):
    """Check so many honest tables; the verdicts by check."""
    rng, seen = np.random.default_rng(seed), Counter()
    for _ in range(count):
        rows = printed_tables.table(rng)
        found = checked(rows)
        assert wrong(found).empty, (rows, wrong(found)["arithmetic"].tolist())
        seen.update(zip(found["kind"], found["verdict"]))
    return seen


def slips(count, seed=1):
    """{kind: [found impossible, found only if, all]} of tables with one digit changed."""
    rng, seen = np.random.default_rng(seed), {}
    for _ in range(count):
        rows, changed = printed_tables.with_a_slip(printed_tables.table(rng), rng)
        verdicts = set(checked(rows)["verdict"])
        counts = seen.setdefault(changed[5], [0, 0, 0])
        counts[0] += "impossible" in verdicts
        counts[1] += "only if" in verdicts and "impossible" not in verdicts
        counts[2] += 1
    return seen


CHECKS = "share count total mean sd difference ratio kappa p interval".split()
CHECKS += ["mean of rows", "scores of one matrix", "rows that share positives"]


def test_no_honest_table_is_called_wrong():
    seen = honest(60)
    assert {kind for kind, verdict in seen if verdict == "possible"} == {*CHECKS}


def test_two_thousand_honest_tables(capsys):
    seen = honest(2000, seed=2)
    with capsys.disabled():
        print(dict(seen))


FOUND = ("share", "mean", "accuracy", "total", "p", "difference")  # by strong checks, mostly


def test_some_slips_are_found():
    seen = slips(20)
    assert sum(found for found, *_ in seen.values()) > 10


def test_slips_are_found_by_kind(capsys):
    """By the leading digits often, by the last one as far as the check's power goes."""
    seen = slips(1000, seed=3)
    with capsys.disabled():
        for kind, (impossible, only, of) in sorted(seen.items()):
            print(f"{kind}: {impossible} of {of} impossible, {only} only if")
    assert all(sum(seen[kind][:2]) > seen[kind][2] / 2 for kind in FOUND)
