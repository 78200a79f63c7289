"""MedDialBench: readings of the claims on single behaviours (section 4.2)."""

import math

from bedside.read.claims import in_words, load, outcome, reading, same

from ..design import BASELINE
from . import (
    MODELS,
    N,
    counts,
    drops,
    exchanged,
    marks,
    on_pathway,
    printed_losses,
    share,
    span,
)

STEPS = {
    "cognition": ("partial_understanding", "complete_denial"),
    "logic": ("occasional_contradiction", "fabricating"),
}
UNCLEAR = ("vague", "incoherent")
PAIRS = math.comb(len(MODELS), 2)


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
    return {
        "md-only": {k: outcome(", ".join(v), v == ["fabricating"]) for k, v in pools.items()},
        "md-marks": reading(f"{told}; {certain}; {lied}", ranges["possible"].all()),
        "md-expression": _expression(run, ranges[ranges["configuration"].isin(UNCLEAR)]),
    }


def _expression(run, ranges):
    """Whether no change is marked, and whether no loss can be significant."""
    lost = drops(run).stack()
    worst = ranges[[lost[r.configuration, r.model] > 0 for r in ranges.itertuples()]]["low"].min()
    marked = f"{ranges['starred'].sum()} of {len(ranges)} marked"
    return {
        "Table 9's marks": outcome(marked, not ranges["starred"].any()),
        "exact McNemar for losses, whatever the overlap": outcome(
            f"losses: exact p at least {worst:.3f}", worst >= 0.05
        ),
    }


def of_surfaces(run, paper):
    """Readings of the claim on the dominant vulnerabilities (4.2): {id: readings}."""
    lost = drops(run).mean(axis=1)[paper.extreme].sort_values(ascending=False)
    named = {"fabricating", "withholding"}  # the extreme levels of Logic and Disclosure
    costliest = {lost[on_pathway(paper, p, lost.index)].idxmax() for p in ("pollution", "deficit")}
    told, friction = in_words(lost, ".1f"), lost["incoherent"]
    return {
        "md-dominant-surfaces": {
            "the two dimensions that cost most": outcome(
                told, set(lost.index[: len(named)]) == named
            ),
            "the costliest of each pathway": outcome(
                told, costliest == named and (lost[list(named)] > friction).all()
            ),
        }
    }


def of_losses(run):
    """Readings of the claims on tables, losses and their ratios: {id: readings}."""
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
    # Table 9's percentages give 10.34 on average, the counts behind them 10.35: either will do
    plain = printed_losses(run)[denial]
    told = f"{plain:.2f} from the printed percentages, {mean[denial]:.2f} from counts"
    said = f"{load(run.paper)[id].value:.1f}"
    found[id] = reading(told, said in {f"{plain:.1f}", f"{mean[denial]:.1f}"})
    for name in ("withholding", "dominant"):
        found[f"md-{name}"] = same(run, f"md-{name}", mean[name], 1)
    return found


def of_order(run):
    """Readings of the claims on the models' rank order: {id: readings}."""
    accuracy, right = share(run), counts()
    gap = right.max(axis=1) - right.min(axis=1)  # in cases
    points, ends = 100 * gap / N, [BASELINE, "fabricating"]
    best = accuracy.loc[ends].idxmax(axis=1).tolist()
    return {
        "md-rank": _rank(),
        "md-parallel": _parallel(right),
        **{f"md-gap-{c}": same(run, f"md-gap-{c}", points[c], 1) for c in ends},
        "md-lead": reading(", ".join(best), best == ["Gemini", "GPT-5.4"]),
        "md-rank-convergence": _convergence(points, accuracy.std(axis=1)),
        "md-gap-withholding": reading(
            in_words(points[["withholding", "fabricating", "C3"]], ".1f"),
            gap["withholding"] <= gap["fabricating"],
        ),
    }


def _rank():
    """Whether models keep their order under the two levels of Cognition."""
    moved = sorted({pair for c in STEPS["cognition"] for pair in exchanged(BASELINE, c)})
    told = f"{PAIRS - len(moved)} of {PAIRS} pairs keep their order"
    return reading("; ".join([told, *(f"{a} falls behind {b}" for a, b in moved)]), not moved)


def _parallel(right):
    """Whether models lose alike under denial, compared with fabricating; right: `counts`."""
    levels = ["complete_denial", "fabricating"]
    base, lost = right.loc[BASELINE], (right.loc[BASELINE] - right).loc[levels]
    gap = right.max(axis=1) - right.min(axis=1)
    spreads = {
        "range of the losses: narrower": lost.max(axis=1) - lost.min(axis=1),
        "standard deviation of the losses: smaller": lost.std(axis=1),
        "gap from best to worst: changes less": (gap[levels] - gap[BASELINE]).abs(),
    }
    made = {
        f"{name} than under fabricating": outcome(
            "{:.1f} and {:.1f} points".format(*100 * spread[levels] / N),
            spread[levels[0]] < spread[levels[1]],
        )
        for name, spread in spreads.items()
    }
    alike = [right.loc[c].corr(base) for c in levels]
    name = "correlation with the baseline: higher than under fabricating"
    return made | reading("{:.2f} and {:.2f}".format(*alike), alike[0] > alike[1], name=name)


def _convergence(points, deviation):
    """Whether models converge under fabricating, in accuracy or in rank order."""
    lied, denied = (len(exchanged(BASELINE, c)) for c in ("fabricating", "complete_denial"))
    gap, spread = (f"{x[BASELINE]:.1f} to {x['fabricating']:.1f}" for x in (points, deviation))
    return {
        "distances between accuracies": outcome(
            f"best to worst {gap}, standard deviation {spread} points",
            all(x["fabricating"] < x[BASELINE] for x in (points, deviation)),
        ),
        "pairs that change places, more than under denial": outcome(
            f"{lied} of {PAIRS} pairs; under denial {denied}", lied > denied
        ),
    }
