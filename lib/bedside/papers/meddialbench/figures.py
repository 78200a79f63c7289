"""MedDialBench: its figures, drawn from rows of `tables`."""

import pandas as pd

from bedside import plots

from .rules import NAME as RULES
from .tables import stack
from .tables.single import COVERAGE, POINTS


def coverage(rows, done):
    """Figure 2: coverage by configuration and doctor, and its change against that of accuracy."""
    figure, axes = plots.figure((10, 4.6), columns=2)
    heat = rows[rows["column"].isin(done["model"].unique())]
    heat = heat.assign(column=heat["column"].str.replace("-", "-\n", n=1))
    plots.heat(axes[0][0], heat, title="Coverage of key items, this run")
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
        title="Changes: printed, and of the rules",
        xlabel=COVERAGE,
        ylabel=POINTS,
    )
    plots.legend_below(figure)
    return figure


def dose(rows, design):
    """Figure 3: a panel for each dimension."""
    figure, axes = plots.figure((10, 3.6), columns=len(design.dimensions), sharey=True)
    for ax, (d, part) in zip(axes[0], rows.groupby("dimension", sort=False)):
        title = design.dimensions[d]["title"]
        ylabel = "accuracy" if ax is axes[0][0] else ""
        plots.curves(ax, part, "severity", title=title, xlabel="severity", ylabel=ylabel)
        ax.set_xticks(range(len(design.of(d))))
    plots.legend_below(figure)
    return figure


def interactions(rows):
    """Figure 4: O/E of each combination: printed and recomputed mean, this run, each model."""
    figure, axes = plots.figure((10, 4.2), columns=2)
    ratio = rows[rows["column"].str.startswith("O/E")]
    doctor = ratio["column"].str.removeprefix("O/E, ")
    mean = ratio[ratio["column"] == "O/E"].assign(series=lambda f: f["source"])
    mine = ratio.assign(series="run, " + doctor)[ratio["source"] == "run"]
    shown = stack(mean, mine).dropna(subset=["value"])  # the table says where there is none
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


def profiles(rows):
    """Losses of the printed models and of this run's doctors, by configuration."""
    order = list(dict.fromkeys(rows["row"]))
    rows = rows.sort_values("row", key=lambda r: r.map(order.index), kind="stable")
    paper, mine = (rows[rows["source"] == source] for source in ("recomputed", "run"))
    mine = mine.assign(column=mine["column"].str.replace("-", "-\n", n=1))
    ratios = 5, max(2, mine["column"].nunique())
    figure, axes = plots.figure((10, 5), columns=2, width_ratios=ratios)
    plots.heat(axes[0][0], paper, title="Published models: loss of accuracy")
    plots.heat(axes[0][1], mine, title="This run")
    return figure
