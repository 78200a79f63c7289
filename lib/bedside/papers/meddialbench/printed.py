"""MedDialBench: what follows from the printed percentages: counts, drops, dose-response, O/E ratios, marks, power (sections 4 to 6).

Table 9 is the ground: 17 configurations by five models, percent of N cases. All of it is recovered as counts first.
"""

import functools

from bedside import published, stats
from bedside.papers.meddialbench.data import BASELINE

N = 85  # cases (section 3.3)
MODELS = ["GPT-5.4", "Claude", "DeepSeek", "Gemini", "Qwen"]


@functools.cache
def counts():
    """Correct diagnoses out of N in Table 9: frame of configurations by models; an error if a percentage has not exactly one count."""
    cells = published.table("meddialbench", "Table 9")
    found = {(r.column, r.row): stats.grim_counts(r.value, N, 1) for r in cells.itertuples()}
    if bad := [k for k, v in found.items() if len(v) != 1]:
        raise ValueError(f"Table 9, {bad[0]}: {len(found[bad[0]])} counts of {N} print so")
    import pandas as pd

    wide = pd.Series({k: v[0] for k, v in found.items()}).unstack()
    return wide.loc[cells["column"].unique(), MODELS]


def combinations(design):
    """The combinations of a design that Table 9 has: {configuration: levels}."""
    there = set(counts().index)
    return {c: v for c, v in design.combinations.items() if {c, *v} <= there}


def share(run):
    """Accuracies in percent from the counts, configurations by models; their file goes into the manifest."""
    run.published("Table 9")
    return 100 * counts() / N


def drops(run):
    """Loss of accuracy against the baseline in percentage points, configurations (without the baseline) by models."""
    table = share(run)
    return (table.loc[BASELINE] - table).drop(index=BASELINE)


def ratios(run, combinations):
    """O/E under multiplicative independence (equation 1), combinations by models: observed accuracy over A·B / baseline."""
    import pandas as pd

    a = share(run)
    return pd.DataFrame(
        {
            c: a.loc[c] / (a.loc[x] * a.loc[y] / a.loc[BASELINE])
            for c, (x, y) in combinations.items()
        }
    ).T


def odds_interaction(run, combination, levels):
    """Mean over models of what a combination adds to the log odds of failure beyond its two levels' own additions (0: additive)."""
    import numpy as np

    odds = np.log((N - counts()) / counts())
    a, b = levels
    return float((odds.loc[combination] - odds.loc[a] - odds.loc[b] + odds.loc[BASELINE]).mean())


def ratio_draws(run, combinations, draws=10_000):
    """O/E drawn as if every printed accuracy were a binomial of its own: (draws, combinations, models).

    The cases are the same in all cells and for all models, which the printed numbers can't show; an interval from this
    is the width that the number of cases gives, not a test.
    """
    import numpy as np

    rng, table = run.rng("ratio"), counts()
    made = {
        c: rng.binomial(N, table.loc[c] / N, (draws, len(MODELS))) / N
        for c in dict.fromkeys([BASELINE, *combinations, *sum(combinations.values(), ())])
    }
    return np.stack(
        [
            made[c] * made[BASELINE] / np.maximum(made[x] * made[y], 1 / N**2)
            for c, (x, y) in combinations.items()
        ],
        axis=1,
    )


def marks(run):
    """Each significance mark of Table 9 against what its margins allow: frame configuration, model, marked, low, high (of p), possible.

    With margins x and y out of N pairs, exact McNemar's p depends on how many pairs are correct in both; a mark is
    possible if some overlap gives p < 0.05, a missing one if some gives p of 0.05 or more.
    """
    import pandas as pd

    starred = {
        (r.column, r.row): bool(r.value) for r in run.published("Table 9 marks").itertuples()
    }
    rows = []
    for (configuration, model), marked in starred.items():
        low, high = _range(
            int(counts().at[BASELINE, model]), int(counts().at[configuration, model])
        )
        rows.append(
            (configuration, model, marked, low, high, low < 0.05 if marked else high >= 0.05)
        )
    return pd.DataFrame(
        rows, columns=["configuration", "model", "marked", "low", "high", "possible"]
    )


@functools.cache
def _range(x, y):
    return stats.mcnemar_range(x, y, N)


def least_discordant(x, y):
    """How many pairs must differ at least, and most, between margins x and y out of N."""
    return abs(x - y), min(x, N - y) + min(y, N - x)


def powers(run, configuration, sizes=(N,)):
    """Power of exact McNemar at the printed drop, at the fewest and the most discordant pairs: frame model, n, fewest, most.

    The drop and the share of discordant pairs are kept when the number of cases changes.
    """
    import pandas as pd

    rows = []
    for model in MODELS:
        x, y = int(counts().at[BASELINE, model]), int(counts().at[configuration, model])
        least, most = least_discordant(x, y)
        pair = [
            stats.mcnemar_power(n, (d + x - y) / 2 / N, (d - x + y) / 2 / N)
            for n in sizes
            for d in (least, most)
        ]
        rows += [(model, n, *pair[2 * i : 2 * i + 2]) for i, n in enumerate(sizes)]
    return pd.DataFrame(rows, columns=["model", "n", "fewest", "most"])


def regression(kept, accuracy, models=5):
    """Accuracy to be expected on the kept cases in new baseline dialogues, if those that selected them (section 3.3) are the ones reported.

    kept: the share of cases that one model at least got right; accuracy: its mean on them. As if cases' chances of a
    right diagnosis followed a beta distribution, the same for all models: fitted to both numbers, it says how much of
    the reported accuracy was luck. Selection works on the baseline alone, so a drop of that size needs no behaviour.
    """
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import betaln

    mean = kept * accuracy  # over all cases: dropped ones have none right

    def never(total):  # the share of cases that no model gets right
        a, b = mean * total, (1 - mean) * total
        return np.exp(betaln(a, b + models) - betaln(a, b))

    total = brentq(lambda t: never(t) - (1 - kept), 1e-3, 1e3)
    a, b = mean * total, (1 - mean) * total
    return float((mean - np.exp(betaln(a + 1, b + models) - betaln(a, b))) / kept)
