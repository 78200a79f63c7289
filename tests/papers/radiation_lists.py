"""A run and lists of side effects, for radiation's tests."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.radiation import scores


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


def strata(graded, reference):
    """`scores.strata` with the recall in each cell, as notebook 05 computes it."""
    found = scores.strata(graded, reference)
    return found.assign(recall=found["hits"] / found["size"])


def recall_by(found, by):
    """Recall of each list by level, as notebook 05 computes it."""
    levels = found.groupby([*scores.KEYS, by], sort=False)
    pooled = levels["hits"].sum(min_count=1) / levels["size"].sum()
    return levels["recall"].mean().to_frame().assign(pooled=pooled).reset_index()


def matched(frame):
    """Matches of equal words, without the library's matchers."""
    pairs = [
        np.array([[t == term for term in TERMS] for t in ts], dtype=float) if ts else None
        for ts in frame["terms"]
    ]
    match = ["graded" if ts else "unparsed" for ts in frame["terms"]]
    return frame.assign(match=match, pairs=pairs)
