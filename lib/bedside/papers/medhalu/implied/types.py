"""Readings of MedHalu's claims on types and spans (sections 4.1 and 4.2, Tables 7 and 8)."""

import pandas as pd

from bedside.read.claims import outcome, reading

from ..data import DATASETS, TYPES
from .numbers import OPEN, PROPRIETARY, apart, grid, long, wide

KINDS = list(TYPES.values())[1:]
# LLaMA-2's types by section 4.2: worst in HealthQA, best in LiveQA, best in MedicationQA
LLAMA = ("Input-conflict", "Input-conflict", "Fact-conflict")


def claims(run):
    """Readings of the claims on types and spans that printed numbers can decide."""
    return types(run) | spans(run)


def types(run):
    """Section 4.2 and Table 8: which type a model detects best."""
    metrics = list(long(run, "Table 8")["metric"].unique())

    def block(model, metric):  # types by datasets
        return wide(run, "Table 8", metric).loc[[f"{model}, {t}" for t in KINDS]].set_axis(KINDS)

    both = {x: pd.concat([block(m, x) for m in PROPRIETARY], keys=PROPRIETARY) for x in metrics}
    best, order = [], {}
    for name, metric in (("accuracy", "Acc"), ("macro-F1", "ma-F1")):
        fact, given = (both[metric].xs(t, level=1) for t in ("Fact-conflict", "Input-conflict"))
        best.append(both[metric].xs("Context-conflict", level=1) - fact.where(fact > given, given))
        gap = fact - given
        told = f"{(gap > 0).sum().sum()} of {gap.size}; ties: {(gap == 0).sum().sum()}"
        order[name] = outcome(told, apart(gap, least=0))
    first = pd.concat(best)
    context = f"{(first > 0).sum().sum()} of {first.size}"
    order["both after context, in no order"] = outcome(context, apart(first, least=0))
    llama = block(OPEN, "ma-F1")
    most = ", ".join(f"{d}: best {llama[d].idxmax()} {llama[d].max()}" for d in DATASETS)
    found = (llama["HealthQA"].idxmin(), llama["LiveQA"].idxmax(), llama["MedicationQA"].idxmax())
    said = run.published("text 4.2")
    same = [
        llama.at[row.row.removeprefix(f"{OPEN}, "), row.column.split()[0]] == row.value
        for row in said.itertuples()
    ]
    return {
        "mh-context": reading(context, apart(first, least=0)),
        "mh-fact-input": order,
        "mh-llama-types": reading(most, found == LLAMA and all(same)),
        "mh-caption": reading(", ".join(metrics), len(metrics) == 4),
    }


def spans(run):
    """Section 4.1 and Table 7: edit distances."""
    seven = pd.concat([wide(run, "Table 7", x) for x in ("Mean", "Med")], keys=["Mean", "Med"])
    nearer = seven.xs("GPT-4", level="row") < seven.xs("GPT-3.5", level="row")
    largest = seven.idxmax(axis=1) == "LiveQA"
    told = grid(run, "text 4.1").loc[PROPRIETARY]
    equal = seven.loc["Mean"] == told[[f"{d} mean edit distance" for d in DATASETS]].to_numpy()
    return {
        "mh-text-spans": reading(f"{equal.sum().sum()} agree", equal.all(axis=None)),
        "mh-spans-gpt4": reading(f"{nearer.sum().sum()} of {nearer.size}", nearer.all(axis=None)),
        "mh-spans-liveqa": reading(
            f"{largest.sum()} of {len(largest)} means and medians", largest.all()
        ),
    }
