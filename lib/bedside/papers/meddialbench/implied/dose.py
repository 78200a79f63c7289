"""MedDialBench: readings of the claims on severity and coverage (sections 3.4, 4.2 and 6)."""

import itertools
from collections import Counter

from bedside.read.claims import between, in_words, outcome, reading

from ..design import BASELINE
from . import MODELS, counts, drops, on_pathway, wide
from .single import STEPS

FABRICATING = "fabricating, mean loss of coverage"  # in the text, with two decimals
DEFICIT = "withholding and dominant, loss of coverage"


def of_levels(run, paper):
    """Readings of the claims on moderate and extreme levels: {id: readings}."""
    mean = drops(run).mean(axis=1)
    moderate = mean[[paper.of(d)[1] for d in paper.dimensions]]
    dearer = moderate[moderate > mean["incoherent"]].sort_values(ascending=False)
    told = f"{in_words(dearer, '.1f')}; incoherent {mean['incoherent']:.1f}"
    steps = {d: _steps(*paper.of(d)[1:]) for d in paper.dimensions}
    down = {d: sum(both) for d, (_, both) in steps.items()}
    named = [steps[d] for d in STEPS]
    return {
        "md-moderate": _moderate(run, mean, [paper.of(d)[1:] for d in paper.dimensions]),
        "md-moderate-incoherent": reading(
            told, {"impatient", "partial_understanding"} <= set(dearer.index)
        ),
        "md-chosen": _chosen(paper, mean),
        "md-threshold": _threshold(drops(run)),
        "md-monotonic": reading(
            ", ".join(f"{d} {n} of 5" for d, n in down.items()), down["cognition"] == len(MODELS)
        ),
        "md-dose-each": {
            name: outcome(
                ", ".join(f"{d} {sum(x)} of 5" for d, x in zip(STEPS, each)),
                all(sum(x) == len(MODELS) for x in each),
            )
            for name, each in zip(
                ("the extreme costs no less than the moderate level", "each step costs"),
                zip(*named),
            )
        },
    }


def _steps(moderate, extreme):
    """Which models lose no less at the extreme level, and which at each of the two steps."""
    at = counts()
    last = at.loc[extreme] <= at.loc[moderate]
    return last, last & (at.loc[moderate] <= at.loc[BASELINE])


def _threshold(lost):
    """Whether Cognition's two steps cost alike and Logic's second one more; lost: by level."""
    mean = lost.mean(axis=1)
    steps = {d: (mean[a], mean[b] - mean[a]) for d, (a, b) in STEPS.items()}
    times = {d: second / first for d, (first, second) in steps.items()}
    last = {d: 1 - lost.loc[a] / lost.loc[b] for d, (a, b) in STEPS.items()}
    more = last["logic"] > last["cognition"]
    return {
        "means: one step is twice the other or more in Logic only (the bound is ours)": outcome(
            "; ".join(f"{d} {first:.1f}, then {more:.1f}" for d, (first, more) in steps.items()),
            0.5 < times["cognition"] < 2 < times["logic"],
        ),
        "each model: the second step is a larger share of the loss in Logic": outcome(
            f"{more.sum()} of {len(more)}", more.all()
        ),
    }


def _moderate(run, mean, levels):
    """Whether the effects of moderate levels are near zero: by themselves, beside extreme ones."""
    called = run.published("text 4.2").set_index("row").at["Cognition drop, moderate", "value"]
    moderate = mean[[first for first, _ in levels]]
    beside = {first: abs(mean[first] / mean[last]) for first, last in levels}
    return {
        "smaller than what 4.2 calls degradation (5.9 points)": outcome(
            in_words(moderate, ".1f"), bool((moderate.round(1) < called).all())
        ),
        "less than half of the extreme level's effect (the bound is ours)": outcome(
            in_words(beside, ".2f"), max(beside.values()) < 0.5
        ),
    }


def _chosen(paper, mean):
    """Whether combinations use the levels with the largest effects of their own."""
    extreme = mean[paper.extreme].sort_values(ascending=False)
    pairs = {frozenset(v) for v in paper.combinations.values()}
    used = Counter(level for levels in pairs for level in levels)
    often = {level for level, times in used.items() if times > 1}
    sums = {frozenset(p): mean[list(p)].sum() for p in itertools.combinations(paper.extreme, 2)}
    largest = sorted(sums, key=sums.get, reverse=True)[: len(pairs)]
    stronger = sum(abs(mean[b]) > abs(mean[a]) for _, a, b in map(paper.of, paper.dimensions))
    strongest = {
        mean[on_pathway(paper, p, paper.extreme)].idxmax() for p in ("pollution", "deficit")
    }
    has = sum(bool(pair & strongest) for pair in pairs)
    return {
        "levels that are used more than once cost most": outcome(
            in_words(extreme, ".1f"), set(extreme.index[: len(often)]) == often
        ),
        "pairs have the largest sums of the ten": outcome(
            f"{len(pairs & set(largest))} of the {len(pairs)} largest sums", pairs == set(largest)
        ),
        "of each dimension the level with the larger effect, in either direction": outcome(
            f"{stronger} of {len(paper.dimensions)} dimensions", stronger == len(paper.dimensions)
        ),
        "each pair has the costliest pollution or the costliest deficit": outcome(
            f"{has} of {len(pairs)} pairs", has == len(pairs)
        ),
    }


def gate(lost):
    """Whether nothing but Disclosure lowers coverage; lost: coverage, by another level."""
    told = f"lost: {in_words(lost, '.2f')}"
    return reading(told, max(lost.values()) < 0.005, name="coverage of a dialogue")


def of_coverage(run):
    """Readings of the claims on coverage compared with accuracy: {id: readings}."""
    mean, text = drops(run).mean(axis=1), run.published("text 4.2").set_index("row")["value"]
    fabricating, deficit = ((text[k] - 0.005, text[k] + 0.005) for k in (FABRICATING, DEFICIT))
    a, b = (
        (mean[level] / 100 / high, mean[level] / 100 / low)
        for level, (low, high) in (("fabricating", fabricating), ("withholding", deficit))
    )
    told = [f"{x[0]:.1f}-{x[1]:.1f}" for x in (a, b)]
    ratio = fabricating[0] / deficit[1], fabricating[1] / deficit[0]
    part = f"{ratio[0]:.2f}-{ratio[1]:.2f} of what deficit costs"
    base = wide(run, "Table 2").at["Gemini", "Coverage"]
    said = run.published("text 4.4").set_index("row").at["Gemini, impatient", "value"]
    others = {
        "fabricating": text[FABRICATING],
        "dominant": text[DEFICIT],
        "impatient (Gemini)": base - said,
    }
    return {
        "md-gate": gate(others),
        "md-dissociation": reading(
            f"fabricating {told[0]}, withholding {told[1]} points for each of coverage",
            between(a[0] - b[1], a[1] - b[0], least=0),
        ),
        "md-coverage-barely": {
            "a smaller loss than by deficit": outcome(part, between(*ratio, most=1), *ratio),
            "less than half of deficit's loss (the bound is ours)": outcome(
                part, between(*ratio, most=0.5), *ratio
            ),
        },
        "md-incoherent-coverage": {},
        "md-incoherent-turns": {},
        "md-coverage-losses": {},
    }
