"""MedHalu's Table 10 (section 5): an expert's reason in the prompt, and what a note changes."""

import pandas as pd

from bedside.write.tables import COLUMNS, Row, frame, tested_rows

from ..scores import METRICS
from .detection import published_rows, score_rows


def expert_table(run, gains, found, changed):
    """Table 10: printed scores, their gains on Table 6, `scores` with each note, `change_rows`.

    gains: by row, dataset and metric as printed.
    """
    gained = frame(
        Row(f"{dataset}: {row}", f"Δ {METRICS[metric]}", "recomputed", value)
        for (row, dataset, metric), value in gains.items()
    )
    parts = [published_rows(run, "Table 10"), gained, score_rows(found), changed]
    return pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)


def change_rows(run, changes, names):
    """Changes of shares with intervals over questions, and p of permutation tests, Holm-corrected.

    changes: row, unit and share of each pair of verdicts; names: of the rows that there should be.
    """
    pairs = changes.assign(item=changes["unit"])  # what is drawn and flipped
    found = tested_rows(pairs, {"share": "share"}, run, "table_notes")
    lacking = [name for name in names if name not in set(found["row"])]  # no answer of the class
    none = frame(Row(name, "Δ share", "run", None, n=0, unscored=0) for name in lacking)
    return pd.concat([found, none], ignore_index=True) if lacking else found
