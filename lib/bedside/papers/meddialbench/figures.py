"""MedDialBench: figures, drawn from the rows of `tables`."""

import math

import pandas as pd

from bedside import plots

from .rules import NAME as RULES
from .tables import stack
from .tables.single import COVERAGE, POINTS


def coverage(rows, done):
    """Figure 2: coverage by configuration and doctor, and changes of coverage and accuracy."""
    heat = rows[rows["column"].isin(done["model"].unique())]
    ratios = 0.9 * max(2, heat["column"].nunique()), 4
    figure, axes = plots.figure((9, 4.8), columns=2, width_ratios=ratios)
    plots.heat(axes[0][0], heat, title="Coverage in this run")
    both = rows[rows["column"].str.startswith("change")]
    pairs = both.pivot_table(index="row", columns="column", values="value", sort=False)
    pairs = pairs.reset_index().dropna()
    paper = pairs["row"].str.endswith("five models")
    mine = pairs[~paper & pairs["row"].str.endswith(RULES)].assign(source="run")
    pairs = pd.concat([mine, pairs[paper].assign(source="published")])
    plots.points(
        axes[0][1],
        pairs.assign(label=pairs["row"].str.split(",").str[0]),
        COVERAGE,
        POINTS,
        title="Changes: the paper's means and the rules",
        xlabel=COVERAGE,
        ylabel=POINTS,
    )
    plots.legend_below(figure)
    return figure


def dose(rows, design):
    """Figure 3: accuracy by severity, a panel for each dimension, three in a row."""
    lines = math.ceil(len(design.dimensions) / 3)
    figure, axes = plots.figure((9, 2.7 * lines + 0.6), lines, 3, sharey=True)
    for ax in axes.flat[len(design.dimensions) :]:
        ax.remove()
    for ax, (d, part) in zip(axes.flat, rows.groupby("dimension", sort=False)):
        title = design.dimensions[d]["title"]
        ylabel = "accuracy" if ax in axes[:, 0] else ""
        plots.levels(ax, part, "severity", title=title, xlabel="severity", ylabel=ylabel)
    plots.legend_below(figure)
    return figure


def interactions(rows):
    """Figure 4: O/E by combination: printed and recomputed means, this run, and each model."""
    figure, axes = plots.figure((9, 4.2), columns=2)
    ratio = rows[rows["column"].str.startswith("O/E")]
    doctor = ratio["column"].str.removeprefix("O/E, ")
    mean = ratio[ratio["column"] == "O/E"].assign(series=lambda f: f["source"])
    mine = ratio.assign(series="run, " + doctor)[ratio["source"] == "run"]
    shown = stack(mean, mine).dropna(subset=["value"])  # the table says where there is no ratio
    plots.dots(
        axes[0][0],
        shown,
        title="Observed over expected accuracy",
        xlabel="O/E (1: the two levels act independently)",
        ylabel="combination",
        limits=(-0.1, max(2.2, 1.05 * shown["high"].max())),
    )
    axes[0][0].axvline(1, color="0.6", linewidth=0.8)
    each = ratio.assign(column=doctor)[(ratio["source"] == "recomputed") & (doctor != "O/E")]
    plots.heat(axes[0][1], each, title="Recomputed from Table 9, by model")
    plots.legend_below(figure)
    return figure


def profiles(rows):
    """Losses by configuration: the paper's models, and this run's doctors with any change."""
    order = list(dict.fromkeys(rows["row"]))
    rows = rows.sort_values("row", key=lambda r: r.map(order.index), kind="stable")
    paper, mine = (rows[rows["source"] == source] for source in ("recomputed", "run"))
    moved = mine["column"].isin(mine.loc[mine["value"].fillna(0) != 0, "column"])
    still, mine = mine.loc[~moved, "column"].unique(), mine[moved]
    doctors = mine["column"].nunique()
    size = (9, 5.2) if doctors else (6.6, 5.2)
    ratios = [5, max(1.2, doctors)][: 1 + (doctors > 0)]
    figure, (axes,) = plots.figure(size, 1, len(ratios), sharey=True, width_ratios=ratios)
    plots.heat(axes[0], paper, title="Loss of accuracy: the paper's models")
    if doctors:
        plots.heat(axes[1], mine, title="This run")
        axes[1].tick_params(left=False)
    if len(still):
        plots.remark(figure, f"Not shown (no loss or gain): {', '.join(still)} (this run)")
    return figure
