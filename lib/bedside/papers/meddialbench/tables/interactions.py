"""MedDialBench: tables and figures of combinations (section 4.3)."""

import numpy as np

from bedside import plots
from bedside.tables import Row, frame, percent, printed

from .. import scores
from ..printed import MODELS, N, combinations, drops, ratio_draws, ratios, share
from . import stack


def interaction_table(run, design, found):
    """Table 4: mean accuracy, drop and O/E of each combination, printed, recomputed, of this run.

    found: `scores.interactions`. Recomputed is the mean, and each model's O/E.
    """
    rows = printed(run.published("Table 4")) + _recomputed(run, combinations(design))
    for r in found.itertuples():
        if r.n and r.value == r.value:
            numbers = r.value, r.low, r.high, r.n
            rows.append(Row(r.configuration, f"O/E, {r.model}", "run", *numbers))
        if r.eligible and r.eligible > 0:
            name = f"fail only in combination, %, {r.model}"
            failing = percent(r.failing, int(r.eligible))
            rows.append(Row(r.configuration, name, "run", *failing))
    return frame(rows)


def _recomputed(run, paper):
    """Rows of the printed combinations; intervals of O/E as if cells were independent."""
    observed, draws = ratios(run, paper), ratio_draws(run, paper)
    means = np.quantile(draws.mean(-1), [0.025, 0.975], axis=0)
    each = np.quantile(draws, [0.025, 0.975], axis=0)
    accuracy, lost, rows = share(run), drops(run), []
    for k, c in enumerate(paper):
        rows += [
            Row(c, "Mean Acc", "recomputed", accuracy.loc[c].mean(), n=N),
            Row(c, "Mean drop", "recomputed", lost.loc[c].mean(), n=N),
            Row(c, "O/E", "recomputed", observed.loc[c].mean(), *means[:, k], N),
        ]
        for j, m in enumerate(MODELS):
            rows.append(Row(c, f"O/E, {m}", "recomputed", observed.at[c, m], *each[:, k, j], N))
    return rows


def interaction_figure(rows):
    """Figure 4: O/E of each combination: printed and recomputed mean, this run, each model."""
    figure, axes = plots.figure((10, 4.2), columns=2)
    ratio = rows[rows["column"].str.startswith("O/E")]
    doctor = ratio["column"].str.removeprefix("O/E, ")
    mean = ratio[ratio["column"] == "O/E"].assign(series=lambda f: f["source"])
    mine = ratio[ratio["source"] == "run"].assign(series="run, " + doctor)
    shown = stack(mean, mine)
    plots.dots(
        axes[0][0],
        shown,
        title="Observed over expected accuracy",
        xlabel="O/E; 1: the two levels act independently",
        limits=(-0.1, max(2.2, 1.05 * shown["high"].max())),
    )
    axes[0][0].axvline(1, color="0.6", linewidth=0.8)
    each = ratio.assign(column=doctor)[(ratio["source"] == "recomputed") & (doctor != "O/E")]
    plots.heat(axes[0][1], each, title="Recomputed from Table 9, each model")
    plots.legend_below(figure)
    return figure


def mixed_table(fitted):
    """The mixed model's terms: odds of failure at baseline, odds ratios, the deviation of cases."""
    named = {scores.INTERCEPT: "odds of failure", scores.BETWEEN: "log odds"}
    return frame(
        Row(r.term, named.get(r.term, "odds ratio of failure"), "run", *odds, r.n)
        for r in fitted.itertuples()
        for odds in [np.exp([r.value, r.low, r.high])]
    )
