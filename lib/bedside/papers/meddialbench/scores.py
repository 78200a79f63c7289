"""MedDialBench: statistics of consultations (section 3.5): changes, interaction.

Frames are those of `judging.outcomes`: one row a consultation with item, case, configuration,
levels, model, correct, coverage, per_turn, misled, turns; NaN if unscored. The unit is the case:
intervals are over cases.
"""

from collections.abc import Mapping
from itertools import product
from math import inf

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, joined, numbers
from bedside.run import Run
from bedside.write.tables import frame

from .design import BASELINE

WORST = "fabricating"  # the level of the paper's interactions
KEYS, ESTIMATE = ["model", "configuration"], ["value", "low", "high", "n"]


def wide(done, column):
    """One column as a frame, cases by (model, configuration)."""
    done = numbers(complete(done, ["case", *KEYS]), [column])
    return done.pivot(index="case", columns=KEYS, values=column)


def changes(done: pd.DataFrame, column: str = "correct") -> pd.DataFrame:
    """Change from the baseline by model and configuration, on the cases scored in both.

    Columns: model, configuration; value, low, high (mean difference, interval over cases); n. If
    `column` is correct, also lost and won (discordant cases), p (exact McNemar), p_holm (Holm over
    all models and configurations) and detectable (smallest change at this n and discordance).
    Without a case (n 0) there are no numbers.
    """
    table, rows = wide(done, column), []
    for model, configuration in table.columns:
        if configuration == BASELINE or (model, BASELINE) not in table:
            continue
        pair = table[[(model, BASELINE), (model, configuration)]].dropna()
        before, after = pair.to_numpy().T
        row = {"model": model, "configuration": configuration, "n": len(pair)}
        if len(pair):
            i = stats.difference(after, before, scale=(0, inf if column == "turns" else 1))
            row |= {k: round(v, 12) for k, v in i._asdict().items()}  # exactly 0 instead of noise
        if len(pair) and column == "correct":
            lost, won = int((before > after).sum()), int((before < after).sum())
            row |= {"lost": lost, "won": won, "p": stats.mcnemar_counts(lost, won)}
            row["detectable"] = stats.mde_paired(len(pair), (lost + won) / len(pair))
        rows.append(row)
    found = pd.DataFrame(rows, columns=[*KEYS, *ESTIMATE, "lost", "won", "p", "detectable"])
    return found.assign(p_holm=stats.holm(found["p"].to_numpy(float)))


def rows_of(changed: pd.DataFrame, row: str, column: str, of: str = "value") -> pd.DataFrame:
    """Changes as rows of a table; row, column: format strings over their columns.

    of: the column that is the value; only `value` has limits, and only it may be missing.
    """
    names, rows = changed.to_dict("records"), changed[["n"]].assign(source="run", value=changed[of])
    for name, label in {"row": row, "column": column}.items():
        rows[name] = [label.format(**r) for r in names]
    return rows.join(changed[["low", "high"]]) if of == "value" else rows.dropna(subset=["value"])


def worst(changed: pd.DataFrame) -> pd.DataFrame:
    """The largest loss of each doctor, in points, as rows of a table; changed: `changes`.

    Configurations that tie are named together, without an interval and with the smallest of their
    n. A doctor without a pair of scored consultations has no row.
    """
    rows = []
    for model, part in changed[changed["n"] > 0].groupby("model", sort=False):
        tied = part[part["value"] == part["value"].min()].sort_values("configuration")
        name = "all alike" if 1 < len(part) == len(tied) else ", ".join(tied["configuration"])
        value, *limits = -100 * tied.iloc[0][["value", "high", "low"]].astype(float) + 0.0
        limits = limits if len(tied) == 1 else (None, None)
        rows.append((model, f"worst: {name}", "run", value, *limits, tied["n"].min()))
    return frame(rows)


def interactions(done: pd.DataFrame, combinations: Mapping[str, tuple], run: Run) -> pd.DataFrame:
    """O/E (equation 1) of each combination and model, on the cases scored in all four cells.

    Frame: model, configuration; value, low, high (interval over cases); n (cases). value is NaN if
    the expected accuracy is 0. If the run has several models, `mean` is the mean of their ratios on
    the cases scored for all of them; the rules are not part of it.
    """
    table, rows = wide(done, "correct"), []
    groups = {m: [m] for m in done["model"].unique()}
    if len(run.models) > 1:
        groups["mean"] = run.models
    for (group, models), (name, levels) in product(groups.items(), combinations.items()):
        cells = [(m, c) for m in models for c in (name, BASELINE, *levels)]
        if set(cells) <= set(table.columns) and len(levels) == 2:
            both = table[cells].dropna().to_numpy()
            row = {"model": group, "configuration": name, "n": len(both)}
            if len(both):
                row |= stats.mean(both, scale=(0, inf), combine=observed_over_expected)[0]._asdict()
            rows.append(row)
    return pd.DataFrame(rows, columns=[*KEYS, *ESTIMATE])


def observed_over_expected(means):
    """Mean ratio (..., 1) of k models from accuracies (..., 4k); NaN if the expected one is 0.

    The four accuracies of a model: combination, baseline, first level, second level.
    """
    cells = means.reshape(*means.shape[:-1], -1, 4)
    combination, baseline, first, second = np.moveaxis(cells, -1, 0)
    nothing, unknown = np.zeros(np.shape(baseline)), np.full(np.shape(baseline), np.nan)
    expected = np.divide(first * second, baseline, out=nothing, where=baseline > 0)
    ratios = np.divide(combination, expected, out=unknown, where=expected > 0)
    return ratios.mean(-1, keepdims=True)


def eligible(done, combinations):
    """Consultations under a combination whose case is right at baseline and each level alone."""
    right, rows = wide(done, "correct"), []
    for model, (name, levels) in product(done["model"].unique(), combinations.items()):
        alone = [(model, c) for c in (BASELINE, *levels)]
        if {*alone, (model, name)} <= set(right.columns):
            cases = right.index[(right[alone] == 1).all(axis=1)]
            rows += [(model, name, case) for case in cases]
    able = pd.DataFrame(rows, columns=[*KEYS, "case"])
    return joined(able, done, [*KEYS, "case"], whole="left")


def lost(done):
    """Consultations with a wrong diagnosis, whose case is right at baseline."""
    complete(done, ["case", *KEYS])
    right = done[(done["configuration"] == BASELINE) & (done["correct"] == 1)]
    wrong = done[done["correct"] == 0]
    return wrong.merge(right[["model", "case"]], on=["model", "case"])  # the others lost nothing
