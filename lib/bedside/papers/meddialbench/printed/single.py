"""MedDialBench: what its claims on single behaviours come to (section 4.2)."""

from collections import Counter

from bedside.claims import reading, same

from ..design import BASELINE
from . import MODELS, drops, marks, share, span

STEPS = {
    "cognition": ("partial_understanding", "complete_denial"),
    "logic": ("occasional_contradiction", "fabricating"),
}


def of_marks(run, paper):
    """Readings of the claims on significance: {id: readings}; paper: the paper's design."""
    ranges = marks(run)
    starred = ranges.pivot(index="configuration", columns="model", values="starred")
    every = [c for c in starred.index if starred.loc[c].all()]
    single = [c for c in every if c in paper.adverse]
    sure = (ranges["high"] < 0.05) & ranges["starred"], (ranges["low"] >= 0.05) & ~ranges["starred"]
    certain = f"{sure[0].sum()} marks and {sure[1].sum()} absences certain"
    possible = ranges["possible"]
    fab = ranges[ranges["configuration"] == "fabricating"]
    worst = fab.loc[fab["high"].idxmax()]
    largest = f"largest possible p: {worst['high']:.3f} ({worst['model']})"
    return {
        "md-only-single": reading(", ".join(single), single == ["fabricating"]),
        "md-only": reading(", ".join(every), every == ["fabricating"]),
        "md-marks": reading(f"{possible.sum()} of 80 possible; {certain}", possible.all()),
        "md-fabricating-certain": reading(largest, (fab["high"] < 0.05).all()),
    }


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
        steps = {
            "moderate": mean[moderate],
            "extreme": mean[extreme],
            "ratio": mean[extreme] / mean[moderate],
        }
        for what, value in steps.items():
            found[f"md-{name}-{what}"] = same(run, f"md-{name}-{what}", value, 1)
    for name in ("withholding", "dominant"):
        found[f"md-{name}"] = same(run, f"md-{name}", mean[name], 1)
    return found


def of_order(run):
    """Readings of the claims on the order of models: {id: readings}."""
    accuracy, lost = share(run), drops(run)
    order = {
        c: accuracy.loc[c].sort_values(ascending=False, kind="stable").index.tolist()
        for c in (BASELINE, *STEPS["cognition"])
    }
    told = "; ".join(f"{c}: {', '.join(v)}" for c, v in order.items())
    found = {"md-rank": reading(told, len(set(map(tuple, order.values()))) == 1)}
    ends = accuracy.loc[[BASELINE, "fabricating"]]
    for c, gap in (ends.max(axis=1) - ends.min(axis=1)).items():
        found[f"md-gap-{c}"] = same(run, f"md-gap-{c}", gap, 1)
    best = ends.idxmax(axis=1).tolist()
    found["md-lead"] = reading(", ".join(best), best == ["Gemini", "GPT-5.4"])
    falls = -lost.loc[["vague", "incoherent"]].to_numpy()
    ranges = marks(run)
    starred = ranges[ranges["configuration"].isin(["vague", "incoherent"])]["starred"]
    changes = f"changes {falls.min():+.1f} to {falls.max():+.1f} points"
    told = f"{starred.sum()} of {len(starred)} marked; {changes}"
    found["md-expression"] = reading(told, not starred.any())
    return found


def of_dose(run, paper):
    """Readings of the claims on dose and coverage: {id: readings}; paper: the paper's design."""
    lost = drops(run)
    mean = lost.mean(axis=1)
    moderate = mean[[paper.of(d)[1] for d in paper.dimensions]]
    extreme = mean[paper.extreme].sort_values(ascending=False)
    used = Counter(level for levels in paper.combinations.values() for level in levels)
    chosen = {level for level, times in used.items() if times > 1}
    levels = {d: paper.of(d)[1:] for d in paper.dimensions}
    steps = {}
    for d, (some, most) in levels.items():
        steps[d] = sum(lost.at[most, m] >= lost.at[some, m] >= 0 for m in MODELS)
    text = run.published("text 4.2").set_index("row")["value"]
    covered = {
        "fabricating": text["fabricating, mean loss of coverage"],
        "withholding": text["withholding and dominant, loss of coverage"],
    }
    each = {c: mean[c] / (100 * v) for c, v in covered.items()}
    return {
        "md-moderate": reading(listed(moderate), (moderate.abs() < 3).all()),
        "md-chosen": reading(listed(extreme), set(extreme.index[: len(chosen)]) == chosen),
        "md-monotonic": reading(
            ", ".join(f"{d} {k} of 5" for d, k in steps.items()), steps["cognition"] == len(MODELS)
        ),
        "md-dissociation": reading(
            ", ".join(f"{c} {v:.1f} points a point" for c, v in each.items()),
            each["fabricating"] > each["withholding"],
        ),
        "md-incoherent-coverage": {},
        "md-incoherent-turns": {},
        "md-coverage-losses": {},
    }


def listed(values):
    """A series in words."""
    return ", ".join(f"{name} {v:.1f}" for name, v in values.items())
