"""MedDialBench: what its claims on single behaviours come to (section 4.2)."""

from bedside.claims import reading, same

from ..design import BASELINE
from . import (
    MODELS,
    N,
    counts,
    drops,
    exchanged,
    in_words,
    joined,
    marks,
    printed_losses,
    share,
    span,
)

STEPS = {
    "cognition": ("partial_understanding", "complete_denial"),
    "logic": ("occasional_contradiction", "fabricating"),
}


def of_marks(run, paper):
    """Readings of the claims on significance: {id: readings}; paper: the paper's design."""
    ranges = marks(run)
    starred = ranges.pivot(index="configuration", columns="model", values="starred")
    everywhere = [c for c in starred.index if starred.loc[c].all()]
    pools = {
        "the ten single levels": [c for c in everywhere if c in paper.adverse],
        "all 16 adverse configurations": everywhere,
    }
    sure = (ranges["high"] < 0.05) & ranges["starred"], (ranges["low"] >= 0.05) & ~ranges["starred"]
    fabricating = ranges["configuration"] == "fabricating"
    told = f"{ranges['possible'].sum()} of 80 possible"
    certain = f"{sure[0].sum()} marks and {sure[1].sum()} absences certain"
    lied = f"fabricating: {sure[0][fabricating].sum()} of {fabricating.sum()} marks certain"
    unclear = ranges[ranges["configuration"].map(_expression)]
    count = f"{unclear['starred'].sum()} of {len(unclear)} marked"
    lost = [drops(run).at[r.configuration, r.model] > 0 for r in unclear.itertuples()]
    worst = unclear[lost]["low"].min()
    return {
        "md-only": joined(
            reading(", ".join(v), v == ["fabricating"], name=k) for k, v in pools.items()
        ),
        "md-marks": reading(f"{told}; {certain}; {lied}", ranges["possible"].all()),
        "md-expression": reading(count, not unclear["starred"].any(), name="Table 9's marks")
        | reading(
            f"losses: exact p at least {worst:.3f}",
            worst >= 0.05,
            name="exact McNemar for losses, whatever the overlap",
        ),
    }


def _expression(configuration):
    return configuration in ("vague", "incoherent")


def of_losses(run):
    """Readings of the claims on tables, losses and their steps: {id: readings}."""
    three, accuracy, lost = run.published("Table 3"), share(run), drops(run)
    nine = [round(accuracy.at[r.row, r.column], 1) for r in three.itertuples()]
    agree = ((three["value"] - nine).abs() < 0.05).sum()
    text = run.published("text 4.2").set_index("row")
    printed = span(text.loc["fabricating drop by model", ["low", "high"]])
    fabricating, mean = span(lost.loc["fabricating"]), lost.mean(axis=1)
    found = {
        "md-table3": reading(f"{agree} agree", agree == len(three)),
        "md-fabricating-range": reading(fabricating, fabricating == printed),
    }
    for name, (moderate, extreme) in STEPS.items():
        found |= {
            f"md-{name}-moderate": same(run, f"md-{name}-moderate", mean[moderate], 1),
            f"md-{name}-ratio": same(run, f"md-{name}-ratio", mean[extreme] / mean[moderate], 1),
        }
    id, denial = "md-cognition-extreme", STEPS["cognition"][1]
    found["md-logic-extreme"] = same(run, "md-logic-extreme", mean["fabricating"], 1)
    found[id] = same(run, id, mean[denial], 1, "mean of the counts' losses") | same(
        run, id, printed_losses(run)[denial], 1, "mean of the printed percentages' losses"
    )
    for name in ("withholding", "dominant"):
        found[f"md-{name}"] = same(run, f"md-{name}", mean[name], 1)
    return found


def of_order(run):
    """Readings of the claims on the order of models: {id: readings}."""
    accuracy, right, pairs = share(run), counts(), len(MODELS) * (len(MODELS) - 1) // 2
    moved = {c: exchanged(BASELINE, c) for c in right.index}
    cognition = sorted({pair for c in STEPS["cognition"] for pair in moved[c]})
    told = [f"{pairs - len(cognition)} of {pairs} pairs keep their order"]
    found = {
        "md-rank": reading(
            "; ".join(told + [f"{a} falls behind {b}" for a, b in cognition]), not cognition
        )
    }
    gap, deviation = right.max(axis=1) - right.min(axis=1), accuracy.std(axis=1)
    points = 100 * gap / N
    ends = [BASELINE, "fabricating"]
    for c in ends:
        found[f"md-gap-{c}"] = same(run, f"md-gap-{c}", points[c], 1)
    best = accuracy.loc[ends].idxmax(axis=1).tolist()
    found["md-lead"] = reading(", ".join(best), best == ["Gemini", "GPT-5.4"])
    shrinks = [x["fabricating"] < x[BASELINE] for x in (gap, deviation)]
    wide_, near = (f"{x[BASELINE]:.1f} to {x['fabricating']:.1f}" for x in (points, deviation))
    denial = STEPS["cognition"][1]
    found["md-rank-convergence"] = reading(
        f"best to worst {wide_}, standard deviation {near} points",
        all(shrinks),
        name="distances between accuracies",
    ) | reading(
        f"{len(moved['fabricating'])} of {pairs} pairs; under denial {len(moved[denial])}",
        len(moved["fabricating"]) > len(moved[denial]),
        name="pairs that change places, more than under denial",
    )
    found["md-gap-withholding"] = reading(
        in_words(points[["withholding", "fabricating", "C3"]]),
        gap["withholding"] <= gap["fabricating"],
    )
    return found
