"""MedDialBench: statistics of consultations (section 3.5): accuracy, paired changes, dose, interaction, a mixed model.

Frames are `outcomes`: a row a consultation with item, case, configuration, levels, model, correct, coverage, per_turn,
misled, turns; NaN where unscored. Cases are what repeats: the bootstrap draws cases.
"""

from bedside import stats
from bedside.papers.meddialbench.data import BASELINE
from bedside.tables import percent

INTERCEPT, BETWEEN = (
    BASELINE,
    "standard deviation between cases",
)  # terms of `mixed` that are no effects


def accuracy(done):
    """Accuracy in percent by model and configuration, Wilson intervals: model, configuration, value, low, high, n, unscored, least, most."""
    import pandas as pd

    rows = []
    for (model, configuration), part in done.groupby(["model", "configuration"], sort=False):
        scored = part["correct"].dropna()
        lost, hits = len(part) - len(scored), scored.sum()
        rows.append(
            (
                model,
                configuration,
                *percent(hits, len(scored)),
                lost,
                100 * hits / len(part),
                100 * (hits + lost) / len(part),
            )
        )
    return pd.DataFrame(
        rows,
        columns=[
            "model",
            "configuration",
            "value",
            "low",
            "high",
            "n",
            "unscored",
            "least",
            "most",
        ],
    )


def wide(done, column):
    """One column as cases by (model, configuration)."""
    return done.pivot(index="case", columns=["model", "configuration"], values=column)


def changes(done, run, column="correct"):
    """Change from the baseline by model and configuration on the cases that have both: a frame with exact McNemar where `column` is correct.

    Columns: model, configuration, value, low, high (mean difference, bootstrap over cases), n, lost and won (discordant
    cases), p, p_holm (over a model's configurations), detectable (at this n and discordance). n 0: no numbers.
    """
    import pandas as pd

    table, rows = wide(done, column), []
    for model, configuration in table.columns:
        if configuration == BASELINE or (model, BASELINE) not in table:
            continue
        both = table[[(model, BASELINE), (model, configuration)]].dropna().to_numpy()
        row = {"model": model, "configuration": configuration, "n": len(both)}
        if len(both):
            i = stats.bootstrap(
                both[:, 1] - both[:, 0], run.rng("change", column, model, configuration)
            )
            row |= {"value": i.value, "low": i.low, "high": i.high}
            if column == "correct":
                lost, won = (
                    int((both[:, 0] > both[:, 1]).sum()),
                    int((both[:, 0] < both[:, 1]).sum()),
                )
                row |= {
                    "lost": lost,
                    "won": won,
                    "p": stats.mcnemar_counts(lost, won),
                    "detectable": stats.mde_paired(len(both), (lost + won) / len(both)),
                }
        rows.append(row)
    found = pd.DataFrame(rows).reindex(
        columns=[
            "model",
            "configuration",
            "value",
            "low",
            "high",
            "n",
            "lost",
            "won",
            "p",
            "detectable",
        ]
    )
    return found.assign(
        p_holm=found.groupby("model", sort=False)["p"].transform(
            lambda p: stats.holm(p.to_numpy(float))
        )
    )


def interactions(done, combinations, run):
    """O/E (equation 1) of each combination and model on the cases scored in all four cells, bootstrap over cases; and failures by combination.

    Frame: model, configuration, value, low, high, n (cases), eligible (right under the baseline and each level alone),
    failing (of these, wrong under the combination). value is NaN where the expected accuracy is 0. With several models
    of the run, `mean` is the mean of their ratios on the cases scored for all; the rules don't count in it.
    """
    import pandas as pd

    table, rows = wide(done, "correct"), []
    groups = {m: [m] for m in done["model"].unique()} | (
        {"mean": run.models} if len(run.models) > 1 else {}
    )
    for group, models in groups.items():
        for name, levels in combinations.items():
            cells = [(m, c) for m in models for c in (name, BASELINE, *levels)]
            if not set(cells) <= set(table.columns) or len(levels) != 2:
                continue
            both = table[cells].dropna().to_numpy()
            row = {"model": group, "configuration": name, "n": len(both)}
            if len(both):
                (i,) = stats.bootstrap(
                    both, run.rng("oe", group, name), combine=observed_over_expected
                )
                able = both[both[:, 1:].all(1)] if group != "mean" else both[:0]
                row |= {
                    "value": i.value,
                    "low": i.low,
                    "high": i.high,
                    "eligible": len(able),
                    "failing": int((1 - able[:, 0]).sum()),
                }
            rows.append(row)
    return pd.DataFrame(rows).reindex(
        columns=["model", "configuration", "value", "low", "high", "n", "eligible", "failing"]
    )


def observed_over_expected(means):
    """(..., 1) from accuracies (..., 4k): of combination, baseline, first and second level for k models, the mean of their ratios; NaN where nothing is expected."""
    import numpy as np

    combination, baseline, first, second = np.moveaxis(
        means.reshape(*means.shape[:-1], -1, 4), -1, 0
    )
    expected = np.divide(
        first * second, baseline, out=np.zeros(np.shape(baseline)), where=baseline > 0
    )
    return np.divide(
        combination, expected, out=np.full(np.shape(expected), np.nan), where=expected > 0
    ).mean(-1, keepdims=True)


def mixed(done, design):
    """A mixed-effects logistic model of failure: case as random effect, levels, their combinations and models as fixed ones.

    Frame: term, value (log odds; of BETWEEN the log), low, high (95%), n. statsmodels' Bayesian binomial mixed model by variational
    approximation, whose intervals are rather too narrow; normal priors (standard deviation 2) keep terms finite that the
    data can't bound. Unlike O/E this takes independence on the scale of odds: a combination's term is what its two
    levels don't add up to. None if all fail, or none.
    """
    import numpy as np
    import pandas as pd

    rows = done.dropna(subset=["correct"])
    if rows["correct"].nunique() < 2 or rows["case"].nunique() < 2:
        return None
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    terms = {INTERCEPT: np.ones(len(rows))}
    terms |= {
        f"{m} (against {rows['model'].iloc[0]})": rows["model"] == m
        for m in rows["model"].unique()[1:]
    }
    terms |= {n: rows["levels"].map(lambda v: n in v) for n in design.adverse}
    terms |= {
        f"{c}: {' × '.join(v)}": rows["configuration"] == c
        for c, v in done.set_index("configuration")["levels"].to_dict().items()
        if len(v) > 1
    }
    terms = {k: np.asarray(v, float) for k, v in terms.items() if np.any(v)}
    cases = pd.get_dummies(rows["case"]).to_numpy(float)
    size = len(terms) + 1 + cases.shape[1]
    made = BinomialBayesMixedGLM(
        1 - rows["correct"].to_numpy(),
        np.column_stack(list(terms.values())),
        cases,
        np.zeros(cases.shape[1], int),
        vcp_p=1,
        fe_p=2,
    ).fit_vb(mean=np.zeros(size), sd=np.full(size, 0.6))  # else the start is drawn
    return pd.DataFrame(
        {
            "term": [*terms, BETWEEN],
            "value": [*made.fe_mean, *made.vcp_mean],
            "low": [*(made.fe_mean - 1.96 * made.fe_sd), *(made.vcp_mean - 1.96 * made.vcp_sd)],
            "high": [*(made.fe_mean + 1.96 * made.fe_sd), *(made.vcp_mean + 1.96 * made.vcp_sd)],
            "n": len(rows),
        }
    )
