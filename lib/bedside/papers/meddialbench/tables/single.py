"""MedDialBench: tables and figures of single behaviours (section 4.2)."""

import pandas as pd

from bedside.read.checks import joined
from bedside.write.tables import Row, estimated_means, frame

from ..printed import N, drops, marks

CHANGED = "correct", "coverage", "turns"
POINTS, COVERAGE = "change of accuracy, points", "change of coverage"


def change_table(run, changed, coverage, turns):
    """Changes against the baseline with exact McNemar tests, and the p that margins allow.

    changed, coverage, turns: `scores.changes` of each of CHANGED.
    """
    rows = [
        Row(r.configuration, f"{r.model}: least and most p", "recomputed", None, r.low, r.high, N)
        for r in marks(run).itertuples()
    ]
    rows += [
        Row(c, f"{m}: change, points", "recomputed", -v, n=N)
        for c, r in drops(run).iterrows()
        for m, v in r.items()
    ]
    for r in changed.itertuples():
        change = 100 * r.value, 100 * r.low, 100 * r.high
        rows.append(Row(r.configuration, f"{r.model}: change, points", "run", *change, r.n))
        detectable = 100 * r.detectable
        tests = {"p": r.p, "p, Holm": r.p_holm, "detectable change, points": detectable}
        for what, value in tests.items():
            if not pd.isna(value):
                rows.append(Row(r.configuration, f"{r.model}: {what}", "run", value, n=r.n))
    said = run.published("text 4.2").set_index("row")
    gain, fewer = (
        said.loc[f"incoherent, {what}", ["low", "high"]]
        for what in ("gain of coverage", "fewer turns")
    )
    for column, found, limits in (
        (COVERAGE, coverage, gain),
        ("change of turns", turns, 0 - fewer[::-1]),
    ):
        rows.append(Row("incoherent", f"five models: {column}", "published", None, *limits))
        for r in found.itertuples():
            name = f"{r.model}: {column}"
            rows.append(Row(r.configuration, name, "run", r.value, r.low, r.high, r.n))
    return frame(rows)


def coverage_rows(run, done, changed, coverage):
    """Coverage (share) by configuration and doctor, with changes of coverage and accuracy."""
    by = ["configuration", "model"]
    made = estimated_means(done.assign(item=done["case"]), ["coverage"], by)
    made = made.rename(columns={"configuration": "row", "model": "column"}).assign(source="run")
    keys, rows = ["model", "configuration"], []
    both = joined(changed, coverage.set_index(keys).add_suffix("_coverage").reset_index(), keys)
    for r in both[(both["n"] > 0) & (both["n_coverage"] > 0)].itertuples():
        name = f"{r.configuration}, {r.model}"
        rows.append(Row(name, POINTS, "run", 100 * r.value, 100 * r.low, 100 * r.high, r.n))
        told = r.value_coverage, r.low_coverage, r.high_coverage, r.n_coverage
        rows.append(Row(name, COVERAGE, "run", *told))
    keep = ["row", "column", "value", "low", "high", "n", "unscored", "source"]
    rows += printed_changes(run)
    return pd.concat([made[keep], frame(rows)], ignore_index=True)


def printed_changes(run):
    """Changes of coverage that the text prints (section 4.2), and mean changes of accuracy."""
    mean = drops(run).mean(axis=1)
    said = run.published("text 4.2").set_index(["row", "column"])["value"]
    rows, deficit = [], "withholding and dominant, loss of coverage"
    for name, words in (
        ("fabricating", "fabricating, mean loss of coverage"),
        ("withholding", deficit),
        ("dominant", deficit),
    ):
        row = f"{name}, mean of five models"
        rows.append(Row(row, COVERAGE, "published", -said[words, "coverage"]))
        rows.append(Row(row, POINTS, "recomputed", -mean[name], n=N))
    return rows
