"""Two charts that carry most figures: each takes a table's rows and gives a figure.

    show(run, "table1", title, printed, ours, figure=charts.forest, limits=(0, 1))

Printed marks are hollow. A panel for each column; on narrow screens panels stand below each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bedside import stats

from . import plots

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
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
    line: str = "reference",
    xlabel: str = "",
    width: float = plots.WIDE,
) -> Figure:
    """Estimates with their intervals: a panel for each column, a line for each row.

    columns: those that have a panel, by default all that have a value. order: of the rows from the
    top, by default by the last panel's printed value, the largest on top. references: {column: x},
    such as what a baseline reaches; line: what that is. limits: of all x axes. A column `series`
    gives other marks than those of the sources.
    """
    columns = list(columns) or list(dict.fromkeys(rows.loc[rows["value"].notna(), "column"]))
    rows = rows[rows["column"].isin(columns)]
    order = list(dict.fromkeys(order)) or _best(rows, columns[-1] if columns else "")
    figure, axes = _panels(len(columns), AROUND + LINE * len(order), width, sharey=True)
    letters = 22 if width < plots.WIDE else 60 // max(len(columns), 1)  # that fit into a title
    for ax, column in zip(axes, columns):
        part, title = rows[rows["column"] == column], plots.wrapped(column, letters)
        plots.dots(ax, part, order=order, limits=limits, title=title, xlabel=xlabel)
        ax.locator_params(axis="x", nbins=6)
        if column in (references or {}):
            look = {"color": plots.INK, "linestyle": "--", "zorder": 0.5}
            ax.axvline(references[column], label=line, **look)
    plots.legend_below(figure)
    return figure


def _best(rows, column):
    """Rows by what is printed in a column, the largest on top; then the others as they come."""
    said = rows[(rows["column"] == column) & rows["source"].isin(["published", "recomputed"])]
    said = said.astype({"value": float}).groupby("row", sort=False)["value"].max()
    best = said.sort_values(ascending=False, kind="stable").index
    return list(dict.fromkeys([*best, *rows["row"]]))


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
        plots.heat(ax, part, signed=signed, digits=digits, title=title)
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


# ---- of robustness notebooks


def choices(
    axes: Iterable[Axes], frame: pd.DataFrame, by: Sequence[str], null: pd.DataFrame, **labels: str
) -> None:
    """A specification curve: one result under each combination of choices, in order of its size.

    axes: the upper one has the results, the lower one the choices behind each. frame: value, and a
    column of names for each of `by`; its column `usual` is true for the hollow mark of the paper's
    own. null: low and high, a row for each place in the order, between which results lie where
    there is no effect.
    """
    above, below = axes
    frame = plots.floats(frame).sort_values("value", key=stats.drop_noise, kind="stable")
    frame = frame.reset_index(drop=True)
    edges = null["low"].astype(float), null["high"].astype(float)
    band = {"color": plots.GRID, "label": "no effect: 95% of permutations"}
    above.fill_between(range(len(null)), *edges, zorder=0, **band)
    above.axhline(0, color=plots.CONTEXT, linewidth=0.8)
    usual = frame["usual"].astype(bool)
    for part, mark, face, name in (
        (frame[~usual], "o", plots.INK, "another choice"),
        (frame[usual], "D", plots.CARD, "the paper's choices"),
    ):
        look = {"markerfacecolor": face, "markeredgecolor": plots.INK, "markersize": 4.5}
        above.plot(part.index, part["value"], mark, label=name, **look)
    names = {}
    for gap, choice in enumerate(by):
        for level in dict.fromkeys(frame[choice]):
            place = -len(names) - 0.6 * gap
            names[place], at = f"{choice}: {level}", frame.index[frame[choice] == level]
            below.plot(at, [place] * len(at), "|", color=plots.INK, markeredgewidth=1.2)
    below.set_yticks(list(names), list(names.values()), fontsize=plots.SMALL)
    below.set_ylim(min(names) - 1, 1)
    below.grid(False)
    for ax in axes:
        ax.set(xticks=[], xlim=(-0.8, len(frame) - 0.2))
    plots.titled(above, **labels)
