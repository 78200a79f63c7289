"""What the summary of the second version prints on mitigations in its Table 1."""

import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run

from ..printed import QUESTIONS
from .items import SETS

MYTH, NFP = SETS[:2]
CURES = {  # rows of Table 1: without and with a mitigation
    "GPT-4o": ("GPT-4o Plain", "GPT-4o GEPA"),
    "Gemini-2.5-Pro": ("Gemini-2.5-Pro Plain", "Gemini-2.5-Pro GEPA"),
    "MDAgents": ("GPT-4o with MDAgents Plain", "GPT-4o with MDAgents Monitor"),
}


def rates(run: Run) -> pd.DataFrame:
    """Table 1's percentages, with intervals over all counts that print as them.

    Columns: row, column, value, low, high, n, least, most (the counts).
    """
    size = {MYTH: QUESTIONS, NFP: int(published.value(run.paper, "v2 text method", "NFP", "count"))}
    said, rows = run.published("v2 Table 1"), []
    for r in said[said["column"].isin(size)].itertuples():  # the exams' sizes are not printed
        n = size[r.column]
        counts = stats.grim_counts(r.value, n, 0)
        least, most = counts[0], counts[-1]
        low, high = 100 * stats.wilson(least, n).low, 100 * stats.wilson(most, n).high
        rows.append((r.row, r.column, r.value, low, high, n, least, most))
    columns = ["row", "column", "value", "low", "high", "n", "least", "most"]
    return pd.DataFrame(rows, columns=columns)


def pairs_as_one(run):
    """Balanced accuracy of the printed rates, as `scores.pairs_as_one`; intervals as in `rates`."""
    rows = []
    for row, part in rates(run).groupby("row", sort=False):
        two = part.set_index("column").loc[[MYTH, NFP]]
        least, most = (
            stats.balanced_accuracy(*two[[end, "n"]].to_numpy().ravel().tolist())
            for end in ("least", "most")
        )
        value, n = two["value"].mean(), two["n"].sum()
        rows.append((row, "balanced accuracy", value, 100 * least.low, 100 * most.high, n))
    return pd.DataFrame(rows, columns=["row", "column", "value", "low", "high", "n"])
