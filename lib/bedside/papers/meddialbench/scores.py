"""MedDialBench: statistics of consultations (section 3.5): changes, interaction.

Frames are those of `judging.outcomes`: one row a consultation with item, case, configuration,
levels, model, correct, coverage, per_turn, misled, turns; NaN if unscored. The unit is the case:
intervals are over cases.
"""

from collections.abc import Mapping
from math import inf

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, joined, numbers
from bedside.run import Run
from bedside.write.tables import frame

from .design import BASELINE

WORST = "fabricating"  # the level of the paper's interactions
# terms of `mixed` other than effects
INTERCEPT, BETWEEN = BASELINE, "standard deviation between cases"


def wide(done, column):
    """One column as a frame, cases by (model, configuration)."""
    done = numbers(complete(done, ["case", "model", "configuration"]), [column])
    return done.pivot(index="case", columns=["model", "configuration"], values=column)


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
            row |= _discordant(before, after) if column == "correct" else {}
        rows.append(row)
    numbers = ["value", "low", "high", "n", "lost", "won", "p", "detectable"]
    found = pd.DataFrame(rows).reindex(columns=["model", "configuration", *numbers])
    return found.assign(p_holm=stats.holm(found["p"].to_numpy(float)))


def rows_of(changed: pd.DataFrame, row: str, column: str, of: str = "value") -> pd.DataFrame:
    """Changes as rows of a table; row, column: format strings over their columns.

    of: the column that is the value; only `value` has limits, and only it may be missing.
    """
    names = changed.to_dict("records")
    rows = changed[["n"]].assign(
        row=[row.format(**r) for r in names],
        column=[column.format(**r) for r in names],
        source="run",
        value=changed[of],
    )
    return rows.join(changed[["low", "high"]]) if of == "value" else rows.dropna(subset=["value"])


def _discordant(before, after):
    lost, won = int((before > after).sum()), int((before < after).sum())
    return {
        "lost": lost,
        "won": won,
        "p": stats.mcnemar_counts(lost, won),
        "detectable": stats.mde_paired(len(before), (lost + won) / len(before)),
    }


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
    for group, models in groups.items():
        for name, levels in combinations.items():
            cells = [(m, c) for m in models for c in (name, BASELINE, *levels)]
            if not set(cells) <= set(table.columns) or len(levels) != 2:
                continue
            both = table[cells].dropna().to_numpy()
            row = {"model": group, "configuration": name, "n": len(both)}
            if len(both):
                (i,) = stats.mean(both, scale=(0, inf), combine=observed_over_expected)
                row |= i._asdict()
            rows.append(row)
    numbers = ["value", "low", "high", "n"]
    return pd.DataFrame(rows).reindex(columns=["model", "configuration", *numbers])


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
    for model in done["model"].unique():
        for name, levels in combinations.items():
            alone = [(model, c) for c in (BASELINE, *levels)]
            if {*alone, (model, name)} <= set(right.columns):
                cases = right.index[(right[alone] == 1).all(axis=1)]
                rows += [(model, name, case) for case in cases]
    keys = ["model", "configuration", "case"]
    return joined(pd.DataFrame(rows, columns=keys), done, keys, whole="left")


def only_combined(done, combinations):
    """Consultations wrong under a combination, but right at baseline and each level alone."""
    able = eligible(done, combinations)
    return able[able["correct"] == 0].reset_index(drop=True)


def lost(done):
    """Consultations with a wrong diagnosis, whose case is right at baseline."""
    complete(done, ["case", "model", "configuration"])
    right = done[(done["configuration"] == BASELINE) & (done["correct"] == 1)]
    wrong = done[done["correct"] == 0]
    return wrong.merge(right[["model", "case"]], on=["model", "case"])  # the others lost nothing


def most_misled(done):
    """One consultation (a frame) with a wrong diagnosis, misled if possible; else the last one."""
    wrong = done[done["correct"] == 0]
    order = wrong.sort_values(["misled", "model"], ascending=False, kind="stable")
    return order.head(1) if len(order) else done.tail(1)


def mixed(done, design):
    """Odds ratios of failure by a mixed-effects logistic model, with the case as random effect.

    Fixed effects are levels, combinations and models. Rows of a table: the odds at baseline, an
    odds ratio for each term, and the standard deviation between cases, on log odds, as a factor.
    This is statsmodels' Bayesian binomial mixed model, fitted by a variational approximation, whose
    intervals are rather too narrow. Normal priors (standard deviation 2) keep terms finite that the
    data don't bound. Unlike O/E, it defines independence on the scale of odds: a combination's term
    is the effect beyond the sum of its two levels. The odds have no value without two cases, or if
    all consultations fail or none does.
    """
    done = numbers(complete(done, ["case", "model", "configuration", "levels"]), ["correct"])
    rows = done.dropna(subset=["correct"])
    if rows["correct"].nunique() < 2 or rows["case"].nunique() < 2:
        odds = (INTERCEPT, "odds of failure", "run", None, None, None, len(rows))
        return frame([(*odds, len(done) - len(rows) or None)])
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    terms = _terms(done, rows, design)
    cases = pd.get_dummies(rows["case"]).to_numpy(float)
    size = len(terms) + 1 + cases.shape[1]
    model = BinomialBayesMixedGLM(
        1 - rows["correct"].to_numpy(),
        np.column_stack(list(terms.values())),
        cases,
        np.zeros(cases.shape[1], int),
        vcp_p=1,
        fe_p=2,
    )
    made = model.fit_vb(mean=np.zeros(size), sd=np.full(size, 0.6))  # otherwise the start is random
    mean = np.concatenate([made.fe_mean, made.vcp_mean])
    margin = 1.96 * np.concatenate([made.fe_sd, made.vcp_sd])
    ends = np.exp([mean, mean - margin, mean + margin]).T
    named = {INTERCEPT: "odds of failure", BETWEEN: "log odds"}
    return frame(
        (term, named.get(term, "odds ratio of failure"), "run", *three, len(rows))
        for term, three in zip([*terms, BETWEEN], ends)
    )


def _terms(done, rows, design):
    """{term of the mixed model: its values for the scored rows (n,)}, without all-zero terms."""
    first, *others = rows["model"].unique()
    combined = done.set_index("configuration")["levels"].to_dict()
    terms = {INTERCEPT: np.ones(len(rows))}
    terms |= {f"{m} (against {first})": rows["model"] == m for m in others}
    terms |= {n: rows["levels"].map(lambda levels, n=n: n in levels) for n in design.adverse}
    terms |= {
        f"{c}: {' × '.join(levels)}": rows["configuration"] == c
        for c, levels in combined.items()
        if len(levels) > 1
    }
    return {k: np.asarray(v, float) for k, v in terms.items() if np.any(v)}
