"""Table rows held against the values that they are means of."""

import numpy as np
import pandas as pd
import pytest

NAN = float("nan")


def counted(rows, expected, ends=()):
    """Each cell of a table is the mean of its values; those that are missing are unscored.

    expected: {(row, column): values}. ends: of the scale, for the worst and the best case.
    """
    found = rows.set_index(["row", "column"])
    for label, values in expected.items():
        values, at = np.asarray(values, float), found.loc[label]
        known = values[~np.isnan(values)]
        lost = len(values) - len(known)
        told = [at["value"], at["n"], lost if pd.isna(at["unscored"]) else at["unscored"]]
        made = [known.mean() if len(known) else NAN, len(known), lost]
        assert told == pytest.approx(made, nan_ok=True), label
        if ends:
            cases = [np.r_[known, [end] * lost].mean() if lost else NAN for end in ends]
            assert at[["worst", "best"]].tolist() == pytest.approx(cases, nan_ok=True), label
