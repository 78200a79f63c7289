"""MedDialBench's printed percentages and what follows from them: counts, drops, O/E, marks, power.

Table 9 is the ground: 17 configurations by five models, percent of N cases. All of it is recovered
as counts first. What claims make of it stands in modules by subject.
"""

import functools
import itertools

import numpy as np
import pandas as pd

from bedside import published, stats

from ..design import BASELINE

N, DRAWN = 85, 107  # cases, and those that they were chosen from (section 3.3)
MODELS = ["GPT-5.4", "Claude", "DeepSeek", "Gemini", "Qwen"]
EFFICIENT, EXHAUSTIVE = ["Claude", "Gemini"], ["GPT-5.4", "DeepSeek"]  # in inquiry (section 4.1)


@functools.cache
def counts():
    """Correct diagnoses out of N in Table 9, configurations by models; ValueError if not unique."""
    cells = published.table("meddialbench", "Table 9")
    found = {(r.column, r.row): stats.grim_counts(r.value, N, 1) for r in cells.itertuples()}
    if bad := [k for k, v in found.items() if len(v) != 1]:
        raise ValueError(f"Table 9, {bad[0]}: {len(found[bad[0]])} counts of {N} print so")
    wide = pd.Series({k: v[0] for k, v in found.items()}).unstack()
    return wide.loc[cells["column"].unique(), MODELS]


def combinations(design):
    """The combinations of a design that Table 9 has: {configuration: levels}."""
    there = set(counts().index)
    return {c: v for c, v in design.combinations.items() if {c, *v} <= there}


def share(run):
    """Accuracies in percent from the counts, configurations by models; noted in the manifest."""
    run.published("Table 9")
    return 100 * counts() / N


def drops(run):
    """Loss of accuracy against the baseline in points, adverse configurations by models."""
    table = share(run)
    return (table.loc[BASELINE] - table).drop(index=BASELINE)


def printed_losses(run):
    """Mean loss against the baseline by adverse configuration, from percentages as printed."""
    table = wide(run, "Table 9")
    return table.rsub(table[BASELINE], axis=0).mean().drop(BASELINE)


def exchanged(a, b):
    """Pairs of models that change places from configuration a to b, the one ahead in a first."""
    before, after = counts().loc[a], counts().loc[b]
    pairs = itertools.permutations(MODELS, 2)
    return [(m, n) for m, n in pairs if before[m] > before[n] and after[m] < after[n]]


def factors(run):
    """How many times the loss by pollution is that by deficit: of one level each, of both."""
    lost = drops(run)
    pollution, deficit = ["fabricating", "complete_denial"], ["withholding", "dominant"]
    single = lost.loc["fabricating"] / lost.loc["withholding"]
    pathways = lost.loc[pollution].mean() / lost.loc[deficit].mean()
    return pd.DataFrame({"single": single, "pathways": pathways}).T


def ratios(run, combinations):
    """O/E (equation 1), combinations by models: accuracy over A·B / baseline."""
    a = share(run)
    expected = {c: a.loc[x] * a.loc[y] / a.loc[BASELINE] for c, (x, y) in combinations.items()}
    return pd.DataFrame({c: a.loc[c] / expected[c] for c in combinations}).T


SCALES = {  # harm by the share that is right, such that independent effects add up
    "success multiplied": lambda right: -np.log(right),
    "risks added": lambda right: 1 - right,
    "odds of failure multiplied": lambda right: np.log((1 - right) / right),
    "failures multiplied": lambda right: np.log(1 - right),
}


def interaction(scale, combination, levels):
    """What a combination adds to harm beyond its levels on one of SCALES, mean over models."""
    harm = SCALES[scale](counts() / N)
    a, b = levels
    return float((harm.loc[combination] - harm.loc[a] - harm.loc[b] + harm.loc[BASELINE]).mean())


def ratio_draws(run, combinations, draws=10_000):
    """O/E drawn as if each printed accuracy were a binomial: (draws, combinations, models).

    The cases are the same in all cells and for all models, which the printed numbers can't show; an
    interval from this is the width that the number of cases gives, not a test.
    """
    rng, table = run.rng("ratio"), counts()
    cells = dict.fromkeys([BASELINE, *combinations, *sum(combinations.values(), ())])
    made = {c: rng.binomial(N, table.loc[c] / N, (draws, len(MODELS))) / N for c in cells}
    drawn = [
        made[c] * made[BASELINE] / np.maximum(made[x] * made[y], 1 / N**2)
        for c, (x, y) in combinations.items()
    ]
    return np.stack(drawn, axis=1)


def marks(run):
    """Each significance mark of Table 9 against what its margins allow.

    Frame: configuration, model, starred, low, high (of p), possible. With margins x and y out of N
    pairs, exact McNemar's p depends on how many pairs are correct in both; a mark is possible if
    some overlap gives p < 0.05, a missing one if some gives p of 0.05 or more.
    """
    rows = []
    for r in run.published("Table 9 marks").itertuples():
        configuration, model, starred = r.column, r.row, bool(r.value)
        before, after = counts().at[BASELINE, model], counts().at[configuration, model]
        low, high = _range(int(before), int(after))
        possible = low < 0.05 if starred else high >= 0.05
        rows.append((configuration, model, starred, low, high, possible))
    columns = ["configuration", "model", "starred", "low", "high", "possible"]
    return pd.DataFrame(rows, columns=columns)


@functools.cache
def _range(x, y):
    return stats.mcnemar_range(x, y, N)


def least_discordant(x, y):
    """How many pairs must differ at least, and most, between margins x and y out of N."""
    return abs(x - y), min(x, N - y) + min(y, N - x)


def powers(run, configuration, sizes=(N,), power=stats.mcnemar_power):
    """Power of McNemar's test at the printed drop, at the fewest and the most discordant pairs.

    Frame: model, n, fewest, most. power: of (n, share lost, share won), exact unless told. The drop
    and the share of discordant pairs are kept when the number of cases changes.
    """
    rows = []
    for model in MODELS:
        x, y = int(counts().at[BASELINE, model]), int(counts().at[configuration, model])
        sides = [((d + x - y) / 2 / N, (d - x + y) / 2 / N) for d in least_discordant(x, y)]
        rows += [(model, n, *(power(n, *side) for side in sides)) for n in sizes]
    return pd.DataFrame(rows, columns=["model", "n", "fewest", "most"])


def regression(kept, accuracy, models=5):
    """Accuracy to expect on the kept cases in new baseline dialogues.

    If the dialogues that selected the cases are the ones reported. kept: the share of cases that
    one model at least got right (section 3.3); accuracy: its mean on them. As if cases' chances of
    a right diagnosis followed a beta distribution, the same for all models: fitted to both numbers,
    it says how much of the reported accuracy was luck. Selection works on the baseline alone, so a
    drop of that size needs no behaviour.
    """
    from scipy.optimize import brentq
    from scipy.special import betaln

    mean = kept * accuracy  # over all cases: dropped ones have none right

    def never(total):  # the share of cases that no model gets right
        a, b = mean * total, (1 - mean) * total
        return np.exp(betaln(a, b + models) - betaln(a, b))

    total = brentq(lambda t: never(t) - (1 - kept), 1e-3, 1e3)
    a, b = mean * total, (1 - mean) * total
    return float((mean - np.exp(betaln(a + 1, b + models) - betaln(a, b))) / kept)


def wide(run, table, column="value"):
    """A printed table as rows by columns."""
    return run.published(table).pivot(index="row", columns="column", values=column)


def span(values, digits=1):
    """Least and most as the text prints a range."""
    return f"{min(values):.{digits}f}-{max(values):.{digits}f}"


def in_words(values, digits=1):
    """A series in words."""
    return ", ".join(f"{k.replace('_', ' ')} {v:.{digits}f}" for k, v in values.items())


def joined(readings):
    """The readings of one claim."""
    return {name: way for made in readings for name, way in made.items()}


def limits(k, n):
    """Exact limits in percent (Clopper and Pearson, 95%) of a share of which k of n were found."""
    from scipy.special import betaincinv

    low = betaincinv(k, n - k + 1, 0.025) if k else 0.0
    return 100 * low, 100 * (betaincinv(k + 1, n - k, 0.975) if k < n else 1.0)
