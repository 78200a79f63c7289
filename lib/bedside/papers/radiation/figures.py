"""Radiation: its figures, drawn from rows of `tables`."""

import pandas as pd

from bedside import plots
from bedside.tables import without_bounds

from .data import LEAST, MOST
from .scores import METRICS


def reference_lengths(rows):
    """The number of effects in each site's reference, from `tables.files.length_rows`."""
    figure, ((ax,),) = plots.figure((7, 2.9))
    plots.bars(ax, rows[rows["source"] != "published"], xlabel="side effects in the reference")
    style = {"facecolor": "none", "edgecolor": "0.6", "hatch": "////", "zorder": 0}
    ax.axvspan(LEAST, MOST, **style, label=f"Published: {LEAST} to {MOST}")
    plots.legend_below(figure)
    return figure


def scores(rows, baseline=None):
    """Precision, recall and F1, from `tables.score_table`; rows of `baseline` are dashed lines."""
    figure, (axes,) = plots.figure((9, 1.2 + 0.34 * rows["row"].nunique()), 1, 3, sharey=True)
    for ax, metric in zip(axes, METRICS.values()):
        if baseline is not None:
            place = baseline.set_index("column").loc[metric, "value"]
            ax.axvline(place, color="0.35", linestyle="--", label=baseline["row"].iloc[0])
        part = rows[(rows["column"] == metric) & _shown(rows)]
        order = dict.fromkeys(rows["row"])
        labels = {"title": metric, "xlabel": "mean over patients"}
        plots.dots(ax, part, limits=(-0.02, 1.02), order=order, **labels)
    plots.legend_below(figure)
    return figure


def _shown(rows):
    """Which rows have a line in a chart: printed ones with a value, and all of this run."""
    return rows["value"].notna() | (rows["source"] == "run")


def lengths(rows):
    """Precision and recall by length, from `tables.length_curves` and `tables.implied_rows`."""
    figure, (axes,) = plots.figure((9, 5.2), 1, 2)
    for ax, metric in zip(axes, ("Precision", "Recall")):
        part, ticks = rows[rows["column"] == metric], [1, 3, 10, 30, 100]
        plots.curves(ax, part, "k", title=metric, xlabel="items listed (log scale)", ticks=ticks)
        asked = f"{LEAST} to {MOST} items, as two of the four prompts ask"
        style = {"facecolor": "none", "edgecolor": "0.5", "linestyle": "--", "zorder": 0}
        ax.axvspan(LEAST, MOST, **style, label=asked)
    plots.legend_below(figure)
    return figure


def overlaps(rows):
    """Overlap of base and specified lists, free-form and sized, from `tables.overlap_table`."""
    figure, (axes,) = plots.figure((9, 4.2), 1, 2, sharey=True)
    both = {"Overlap (FF)": "free-form", "Overlap (LSC)": f"{LEAST} to {MOST} items"}
    for ax, (column, lists) in zip(axes, both.items()):
        mine = rows["column"].isin([column, column + ", by meaning"]) & _shown(rows)
        part = rows[mine]
        part = part.assign(row=part["row"] + part["column"].str.removeprefix(column))
        labels = {"title": f"{column}: {lists}", "xlabel": "intersection over union"}
        plots.dots(ax, part, limits=(-0.02, 1.02), **labels)
    plots.legend_below(figure)
    return figure


def recalls(levels, crossing):
    """Recall by onset and by frequency, as printed and of this run, and both crossed for this run.

    levels: rows of Tables 6 and 7; crossing: of `tables.crossing_table`. Rows of this run are
    framed. Returns figure and rows.
    """
    levels = without_bounds(levels)
    levels = levels[~levels["column"].str.endswith(", over effects")]
    levels["row"] += levels["source"].map({"published": "", "run": " (this run)"})
    cells = without_bounds(crossing).assign(row=crossing["row"] + " (this run)")
    own = set(cells["row"])
    figure, axes = plots.figure((8, 5.2), 2, 1, height_ratios=[8, 1.2 * cells["row"].nunique()])
    title = "Recall by onset and by frequency"
    plots.heat(axes[0, 0], levels, title=title, outlined=own)
    title = "Onset and frequency crossed, this run"
    plots.heat(axes[1, 0], cells, title=title, outlined=own)
    return figure, pd.concat([levels, cells])
