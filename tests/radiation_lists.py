"""A run and lists of side effects, for radiation's tests."""

import numpy as np
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


TERMS = ["fatigue", "nausea", "rib fracture", "mastitis"]
REFERENCE = pd.DataFrame(
    {
        "effect": ["fatigue", "nausea", "rib fracture", "fatigue", "mastitis"],
        "site": ["chest wall"] * 3 + ["breast only"] * 2,
        "onset": ["short-term", "short-term", "long-term", "short-term", "long-term"],
        "frequency": ["common", "rare", "rare", "common", "rare"],
    }
)


def matched(frame):
    """Matches of equal words, without the library's matchers."""
    pairs = [
        np.array([[t == term for term in TERMS] for t in ts], dtype=float) if ts else None
        for ts in frame["terms"]
    ]
    match = ["graded" if ts else "unparsed" for ts in frame["terms"]]
    return frame.assign(match=match, pairs=pairs)
