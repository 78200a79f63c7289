"""MedHalu: sensitivity and specificity behind Tables 6 and 10, and of this run."""

import pandas as pd

from bedside.write.tables import COLUMNS, estimated_means

from ..data import PEOPLE

RATES = ["specificity, %", "sensitivity, %"]
OWN = "this run, all subsets"
MORE = ["panel", "label", "shape"]


def rate_rows(shares, rates):
    """Sensitivity and specificity in percent, printed and of this run, for `figures.rates`.

    shares: evaluator, unit, rate (of RATES) and right, in percent, of each answer.
    rates: {table: rows of `printed.behind`}; only evaluators that are in all of them count.
    low and high are what rounding allows.
    """
    names = [set(part["row"]) for part in rates.values()]
    shown = {t: part[part["row"].isin(set.intersection(*names))] for t, part in rates.items()}
    printed = [row for table, part in shown.items() for row in printed_rates(table, part)]
    made = pd.DataFrame([*printed, *_own_rates(shares)]).reindex(columns=[*COLUMNS, *MORE])
    return made.assign(label=made["label"].str.replace(r"^.*?, ", "", regex=True))


def printed_rates(table, behind):
    """The rows of `printed.behind`, one for each rate."""
    return [
        {
            "row": f"{r['dataset']}: {r['row']}, {table}",
            "column": f"{rate}, %",
            "source": "recomputed",
            "n": r["n"],
            "value": 100 * r[rate],
            "low": 100 * r[f"{rate} least"],
            "high": 100 * r[f"{rate} most"],
            "panel": r["dataset"],
            "label": r["row"],
            "shape": table,
        }
        for r in behind.to_dict("records")
        for rate in ("specificity", "sensitivity")
    ]


def _own_rates(shares):
    """Rates of this run's models and people over all subsets, with intervals over questions.

    A rate has no value and n 0 where no answer is of its class.
    """
    shares, by = shares.assign(item=shares["unit"]), ["evaluator", "rate"]
    found = estimated_means(shares, ["right"], by, best=100.0)
    every = pd.MultiIndex.from_product([found["evaluator"].unique(), RATES])
    lacking = every.difference(pd.MultiIndex.from_frame(found[["evaluator", "rate"]]), sort=False)
    none = [{"evaluator": who, "rate": rate, "n": 0} for who, rate in lacking]
    return [
        {
            **r,
            "row": f"{OWN}: {r['evaluator']}",
            "column": r["rate"],
            "source": "run",
            "panel": OWN,
            "label": r["evaluator"],
            "shape": "people" if r["evaluator"].startswith(PEOPLE) else "models",
        }
        for r in [*found.to_dict("records"), *none]
    ]
