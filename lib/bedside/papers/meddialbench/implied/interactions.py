"""MedDialBench: readings of the claims on combinations (section 4.3)."""

import numpy as np

from bedside import stats
from bedside.read.claims import between, every, in_words, outcome, reading, same

from ..design import BASELINE
from . import (
    SCALES,
    combinations,
    drops,
    interaction,
    log_ratio,
    ratios,
    share,
    wide,
)

FABRICATED, OTHER = ["C1", "C2", "C3"], ["C4", "C5", "C6"]
NEAR = 0.9, 1.1  # ratios that count as close to 1
SPREADS = {  # of the models' ratios, by combination
    "range": lambda x: x.max(axis=1) - x.min(axis=1),
    "standard deviation": lambda x: x.std(axis=1),
    "coefficient of variation": lambda x: x.std(axis=1) / x.mean(axis=1),
    "standard deviation of logarithms": lambda x: np.log(x).std(axis=1),
    "mean absolute deviation": lambda x: x.sub(x.mean(axis=1), axis=0).abs().mean(axis=1),
    "interquartile range": lambda x: x.quantile(0.75, axis=1) - x.quantile(0.25, axis=1),
}


def of_table(run, paper):
    """Readings of the claims on Table 4: {id: readings}; paper: the paper's design."""
    observed, four = ratios(run, combinations(paper)).mean(axis=1), wide(run, "Table 4")
    found = {}
    for c in four.index:
        found[f"md-oe-{c.lower()}"] = same(run, f"md-oe-{c.lower()}", observed[c], 2)
    for what, mine in (("Mean Acc", share(run)), ("Mean drop", drops(run))):
        mean = mine.loc[four.index].mean(axis=1)
        equal = [f"{mean[c]:.1f}" == f"{v:.1f}" for c, v in four[what].items()]
        told = ", ".join(f"{v:.2f}" for v in mean)
        found[f"md-{what.lower().replace(' ', '-')}"] = reading(told, all(equal))
    return found


def of_fabricating(run, paper):
    """Readings of the claims that only fabricating makes pairs super-additive: {id: readings}."""
    pairs = combinations(paper)
    observed = ratios(run, pairs)
    lied, other = observed.loc[FABRICATED], observed.loc[OTHER]
    means, each = other.mean(axis=1), other.stack()
    apart = each[(each < NEAR[0]) | (each > NEAR[1])]
    ends = {c: _ends(c, pairs[c]) for c in OTHER}
    told = ", ".join(f"{c} {low:.2f}-{high:.2f}" for c, (low, high) in ends.items())
    return {
        "md-super": _super(run, pairs, lied),
        "md-super-each": _super_each(lied),
        "md-additive": {
            "each mean between 0.9 and 1.1 (the bounds are ours)": outcome(
                in_words(means, ".2f"), means.between(*NEAR).all()
            ),
            "each 95% interval between 0.9 and 1.1, however cases overlap": outcome(
                told, every(between(*end, *NEAR) for end in ends.values())
            ),
            "each model between 0.9 and 1.1 (the bounds are ours)": outcome(
                f"{len(each) - len(apart)} of {len(each)}; not {_cells(apart)}", apart.empty
            ),
        },
    }


def _ends(combination, levels):
    """The widest 95% interval of a pair's geometric mean O/E that the margins allow."""
    mean, _, most = log_ratio(combination, levels)
    return tuple(float(np.exp(mean + side * 1.96 * most)) for side in (-1, 1))


def _below(pairs):
    """Whether mean O/E is below 1 beyond chance for all three pairs, however cases overlap."""
    from scipy.special import ndtr

    made = {c: log_ratio(c, pairs[c]) for c in FABRICATED}
    p = np.array([[2 * ndtr(-abs(mean) / e) for e in errors] for mean, *errors in made.values()])
    holds = [
        between(*ends, most=0.05) if mean < 0 else False
        for (mean, *_), *ends in zip(made.values(), *map(stats.holm, p.T))
    ]
    told = ", ".join(f"{c} {low:.1g} to {high:.1g}" for c, (low, high) in zip(made, p))
    return reading(f"p: {told}", every(holds), name="below 1 beyond chance, however cases overlap")


def _super(run, pairs, lied):
    """Whether the pairs' mean ratios are below 1, by each kind of mean and beyond chance."""
    a = share(run).mean(axis=1)
    means = {
        "mean of the five ratios": lied.mean(axis=1),
        "ratio of the mean accuracies": {
            c: a[c] * a[BASELINE] / (a[x] * a[y]) for c, (x, y) in pairs.items() if c in FABRICATED
        },
        "geometric mean of the five ratios": np.exp(np.log(lied).mean(axis=1)),
    }
    made = {
        k: outcome(in_words(v, ".2f"), all(x < 1 for x in dict(v).values()))
        for k, v in means.items()
    }
    return made | _below(pairs)


def _super_each(lied):
    """In how many models, and in how many cells, ratios are below 1."""
    mean, cells = lied.mean(), lied.stack()
    above = cells[cells >= 1]
    told = f"{len(cells) - len(above)} of {len(cells)} below 1; not {_cells(above)}"
    return {
        "each model's mean of its three": outcome(in_words(mean, ".2f"), (mean < 1).all()),
        "each of the 15 ratios": outcome(told, above.empty),
    }


def _cells(values):
    return ", ".join(f"{c} {m} {v:.2f}" for (c, m), v in values.items()) or "none"


def _at_end(run, id, named, ratio):
    """Whether the named model is at this end, with the printed ratio."""
    ((computed, *ends, equal),) = same(run, id, ratio, 2).values()
    return reading(computed, named and equal, *ends)


def of_models(run, paper):
    """Readings of the claims on single models, scales and cases: {id: readings}."""
    pairs = combinations(paper)
    observed = ratios(run, pairs)
    spreads = {k: f(observed.loc[FABRICATED]) for k, f in SPREADS.items()}
    widest = {k: f(observed).idxmax() for k, f in SPREADS.items()}
    c2 = observed.loc["C2"]
    alone, lowest = drops(run).loc["incoherent"].mean(), observed.mean(axis=1).idxmin()
    return {
        "md-spread": {
            k: outcome(in_words(v, ".3f"), widest[k] == "C2") for k, v in spreads.items()
        },
        "md-c2-deepseek": _at_end(run, "md-c2-deepseek", c2.idxmin() == "DeepSeek", c2.min()),
        "md-c2-gemini": _at_end(run, "md-c2-gemini", c2.idxmax() == "Gemini", c2.max()),
        **_on_scales(pairs),
        "md-eligible-fabricating": {},
        "md-eligible-other": {},
        "md-incoherent-harmless": reading(
            f"{-alone:+.1f} points alone; lowest O/E {lowest}", alone < 0 and lowest == "C2"
        ),
    }


def _on_scales(pairs):
    """Harm of pairs beyond their levels on each scale: specific to fabricating, or to C2?"""
    beyond = {
        scale: {c: interaction(scale, c, levels) for c, levels in pairs.items()} for scale in SCALES
    }
    apart = {s: min(map(x.get, FABRICATED)) > max(map(x.get, OTHER)) for s, x in beyond.items()}
    more = {c: sum(stats.drop_noise(x[c]) > 0 for x in beyond.values()) for c in FABRICATED}
    told = ", ".join(f"{c} on {n}" for c, n in more.items())
    return {
        "md-odds": {s: outcome(in_words(x, "+.2f"), apart[s]) for s, x in beyond.items()},
        "md-c2-scales": reading(
            f"{told} of {len(SCALES)} scales", [c for c in more if more[c] == len(SCALES)] == ["C2"]
        ),
    }
