"""MedHalu: sensitivity and specificity, behind Tables 6 and 10 and of this run."""

import pandas as pd

from bedside import plots
from bedside.tables import COLUMNS, estimates

from ..data import DATASETS
from ..scores import averaged, with_right

RATES = ["specificity, %", "sensitivity, %"]
OWN = "this run, all subsets"
MORE = ["panel", "label", "shape"]


def rate_rows(run, judged, items, rates):
    """Sensitivity and specificity in percent, printed and of this run, as `rate_planes` needs them.

    rates: {table: rows of `implied`}, of which those count that one confusion matrix explains;
    low and high are its range.
    """
    printed = [row for table, part in rates.items() for row in printed_rates(table, part)]
    made = pd.DataFrame([*printed, *own_rates(run, judged, items)]).reindex(
        columns=[*COLUMNS, *MORE]
    )
    # who judged one class only has no place
    both = made.groupby("row")["value"].transform("count") == len(RATES)
    made = made[both].reset_index(drop=True)
    before = made["row"].str.replace("Table 10", "Table 6").where(made["shape"] == "Table 10", "")
    for model in run.models:
        before = before.where(~made["label"].str.startswith(f"{model}, "), f"{OWN}: {model}")
    return made.assign(origin=before, label=made["label"].str.replace(r"^.*?, ", "", regex=True))


def printed_rates(table, implied):
    """The rows of `implied` that counts explain, each rate a row."""
    return [
        {
            "row": f"{r['dataset']}: {r['row']}, {table}",
            "column": f"{rate}, %",
            "source": "published",
            "n": r["n"],
            "value": 100 * r[rate],
            "low": 100 * r[f"{rate} least"],
            "high": 100 * r[f"{rate} most"],
            "panel": r["dataset"],
            "label": r["row"],
            "shape": table,
        }
        for r in implied[implied["fits"] > 0].to_dict("records")
        for rate in ("specificity", "sensitivity")
    ]


def own_rates(run, judged, items):
    """Rates of this run's models and people over all subsets, with intervals over items."""
    shares = with_right(averaged(judged, items))
    shares = shares.assign(
        right=100 * shares["right"],
        rate=shares["hallucinated"].map({True: RATES[1], False: RATES[0]}),
    )
    found = estimates(shares, ["right"], ["evaluator", "rate"], run, best=100.0)
    return [
        {
            **r,
            "row": f"{OWN}: {r['evaluator']}",
            "column": r["rate"],
            "source": "run",
            "panel": OWN,
            "label": r["evaluator"],
            "shape": "people" if r["evaluator"].startswith("people: ") else "models",
        }
        for r in found.to_dict("records")
    ]


def rate_planes(rows):
    """`rate_rows` in the plane of both rates: a panel a printed subset, and one for this run."""
    figure, axes = plots.figure((9.6, 9.4), 2, 2)
    for ax, panel in zip(axes.flat, [*DATASETS, OWN]):
        part = rows[rows["panel"] == panel]
        plots.plane(
            ax,
            part.assign(label=part["row"].map(labels_of(part)).fillna("")),
            *RATES,
            title=panel,
            xlabel="answers without a hallucination that are let pass, %",
            ylabel="hallucinated answers that are found, %",
        )
    plots.legend_below(figure)
    return figure


def labels_of(part):
    """{row: its label}: marks that touch share one; one just above another's is a line higher."""
    wide = part.pivot(index="row", columns="column", values="value")
    wide = wide.reindex(index=part["row"].unique(), columns=RATES)
    names = part.drop_duplicates("row").set_index("row")["label"]
    placed = {}  # {row: (x, y, names beside the mark)}
    for row, (x, y) in wide.iterrows():
        touching = [k for k, (a, b, _) in placed.items() if abs(a - x) < 4 and abs(b - y) < 4]
        near = any(abs(a - x) < 16 and -0.5 < y - b < 3 for a, b, _ in placed.values())
        if touching:
            placed[touching[0]][2].append(names[row])
        else:
            placed[row] = (x, y, [names[row] + "\n" * near])
    return {row: "\n".join(dict.fromkeys(mine)) for row, (_, _, mine) in placed.items()}
