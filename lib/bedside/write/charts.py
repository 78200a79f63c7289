"""Three charts that carry most figures: each takes a table's rows and gives a figure.

    show(run, "table1", title, printed, ours, figure=charts.forest, limits=(0, 1))

Printed marks are hollow. A panel for each column; on narrow screens panels stand below each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import plots

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LINE = 0.3  # inches that a row takes
AROUND = 0.9  # inches for titles, axes and legends of a line of panels


def forest(
    rows: pd.DataFrame,
    *,
    columns: Sequence[str] = (),
    order: Sequence[str] = (),
    limits: tuple[float, float] | None = None,
    references: Mapping[str, float] | None = None,
    xlabel: str = "",
    width: float = plots.WIDE,
) -> Figure:
    """Estimates with their intervals: a panel for each column, a line for each row.

    columns: those that have a panel, by default all that have a value. order: of the rows from the
    top, by default by the last panel's printed value, the largest on top. references: {column: x},
    such as what a baseline reaches. limits: of all x axes. A column `series` gives other marks than
    those of the sources.
    """
    columns = list(columns) or list(dict.fromkeys(rows.loc[rows["value"].notna(), "column"]))
    rows = rows[rows["column"].isin(columns)]
    order = list(order) or _best(rows, columns[-1] if columns else "")
    figure, axes = _panels(len(columns), AROUND + LINE * len(order), width, sharey=True)
    for ax, column in zip(axes, columns):
        part = rows[rows["column"] == column]
        plots.dots(ax, part, order=order, limits=limits, title=column, xlabel=xlabel)
        ax.locator_params(axis="x", nbins=6)
        if column in (references or {}):
            ax.axvline(references[column], color=plots.BLUE, linestyle="--", zorder=0.5)
    plots.legend_below(figure)
    return figure


def _best(rows, column):
    """Rows by what is printed in a column, the largest on top; then the others as they come."""
    said = rows[(rows["column"] == column) & rows["source"].isin(["published", "recomputed"])]
    said = said.astype({"value": float}).groupby("row", sort=False)["value"].max()
    best = said.sort_values(ascending=False, kind="stable").index
    return list(dict.fromkeys([*best, *rows["row"]]))


def lines(
    rows: pd.DataFrame,
    x: str,
    *,
    columns: Sequence[str] = (),
    limits: tuple[float, float] = (-0.02, 1.02),
    xlabel: str = "",
    width: float = plots.WIDE,
) -> Figure:
    """Numbers along the column `x` (numeric): a panel for each column, a line for each row label.

    Intervals are bands; printed numbers are hollow marks. Rows of a `series` column have its lines.
    """
    columns = list(columns) or list(dict.fromkeys(rows["column"]))
    figure, axes = _panels(len(columns), 3.2, width, sharey=True)
    told = rows["source"].where(rows["source"] == "published", "")
    series = told.where(told == "", told + ", ") + rows.get("series", rows["row"])
    rows = rows.assign(series=series, label="")
    for ax, column in zip(axes, columns):
        plots.curves(ax, rows[rows["column"] == column], x, title=column, xlabel=xlabel)
        ax.set_ylim(limits)
    plots.legend_below(figure)
    return figure


def heat(
    rows: pd.DataFrame,
    *,
    panels: Mapping[str, Sequence[str]] | None = None,
    order: Sequence[str] = (),
    signed: bool = False,
    digits: int = 2,
    width: float = plots.WIDE,
) -> Figure:
    """A matrix of shares, ratios or, if `signed`, changes, with its numbers: rows by columns.

    panels: {title: columns}, by default one of all columns. order: of the rows from the top. Where
    several sources have a number in one place, a row of this run says so in its name.
    """
    if rows.duplicated(["row", "column"]).any():
        rows = rows.assign(row=rows["row"] + rows["source"].map({"run": " (this run)"}).fillna(""))
    panels = dict(panels or {"": list(dict.fromkeys(rows["column"]))})
    order = [r for r in order if r in set(rows["row"])] or list(dict.fromkeys(rows["row"]))
    sizes = [len(columns) for columns in panels.values()]
    high = AROUND + 0.36 * len(order)
    figure, axes = _panels(len(panels), high, width, sizes if width >= plots.WIDE else None)
    for ax, (title, columns) in zip(axes, panels.items()):
        part = rows[rows["column"].isin(columns)].copy()
        places = [part["column"].map(list(columns).index), part["row"].map(order.index)]
        part = part.assign(across=places[0], down=places[1]).sort_values(["down", "across"])
        draw = plots.changes if signed else plots.heat
        draw(ax, part, title=title, **({"digits": digits} if signed else {}))
    return figure


def _panels(n, height, width, sizes=None, **options):
    """A figure with n panels beside each other, or below each other where it is narrow."""
    n = max(n, 1)
    if width < plots.WIDE:
        figure, axes = plots.figure((width, n * height), n, 1)
    else:
        ratios = {"width_ratios": sizes} if sizes else {}
        figure, axes = plots.figure((width, height), 1, n, **options, **ratios)
    return figure, axes.ravel()
