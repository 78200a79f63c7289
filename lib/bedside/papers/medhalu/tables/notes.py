"""MedHalu's Table 10 (section 5): an expert's reason in the prompt, and what a note changes."""

import pandas as pd

from bedside.read.checks import joined
from bedside.write.tables import COLUMNS, Row, differences, frame, tested_rows

from ..detection import NOTES
from ..scores import averaged, with_right
from .detection import published_rows, subset_rows


def expert_table(run, judged, items):
    """Table 10: printed scores, their gains on Table 6, this run with each note, and `changes`."""
    after, shares = published_rows(run, "Table 10"), averaged(judged, items)
    parts = [after, gains(run, after), subset_rows(shares, run), changes(run, shares)]
    return pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)


def gains(run, after):
    """The gains of Table 10's scores on Table 6's: table rows."""
    before = published_rows(run, "Table 6")[["row", "column", "value"]]
    before = before.rename(columns={"value": "before"})
    both = joined(after, before, ["row", "column"], whole="left")
    return both.assign(
        value=both["value"] - both["before"],
        column="Δ " + both["column"],
        source="recomputed",
    )


def changes(run, shares):
    """What a note changes, paired by item: share right, yes to hallucinated and to other answers.

    Table rows: differences of shares with confidence intervals over questions, and p of paired
    permutation tests over questions, Holm-corrected over all of them.
    """
    unit = shares.drop_duplicates("item").set_index("item")["unit"]
    shares = with_right(shares)
    hallucinated = shares["hallucinated"]
    parts = {
        "right, all answers": (shares, "right"),
        "yes, hallucinated answers": (shares[hallucinated], "yes"),
        "yes, the other answers": (shares[~hallucinated], "yes"),
    }
    made, names = [], []
    for model in run.models:
        for condition, words in list(NOTES.items())[1:]:
            for name, (part, column) in parts.items():
                columns = ["item", column]
                plain = part.loc[part["evaluator"] == model, columns]
                noted = part.loc[part["evaluator"] == model + condition, columns]
                change = differences(plain, noted, ["item"], [column])
                change = change.rename(columns={column: "share"})
                change["item"] = change["item"].map(unit)  # what is drawn and flipped
                names.append(f"{model}, {words}: {name}")
                made.append(change.assign(row=names[-1]))
    found = tested_rows(pd.concat(made, ignore_index=True), {"share": "share"}, run)
    lacking = [name for name in names if name not in set(found["row"])]  # no answer of the class
    none = frame(Row(name, "Δ share", "run", None, n=0, unscored=0) for name in lacking)
    return pd.concat([found, none], ignore_index=True) if lacking else found
