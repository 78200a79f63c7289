"""A run and lists of side effects, for radiation's tests."""

import pandas as pd
import pytest


@pytest.fixture
def run(run_of):
    return run_of("radiation", "02_free_form")


def lists_of(*terms, profile="specified", regime="free-form", site="chest wall", model="m"):
    """One list for each patient p1, p2, ...; None: no list."""
    same = {"site": site, "profile": profile, "regime": regime, "model": model}
    rows = [
        {"item": f"p{i}", **same, "status": "listed" if t else "unparsed", "terms": t or []}
        for i, t in enumerate(terms, 1)
    ]
    return pd.DataFrame(rows).assign(truncated=False, repeated=0)
