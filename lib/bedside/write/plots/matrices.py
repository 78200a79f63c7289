"""Matrices of shares, or of ratios near 1: the larger the darker, each cell with its number."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from .look import SMALL, figure, floats, if_empty, titled, wrapped
from .palette import BLUE, CARD, GRID, INK, ON_DARK, ON_LIGHT, RED, SOFT, tint

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

LINE = 10  # characters of a column's name in a line
DARK = 0.86  # the share whose grey carries black and white digits equally well (4.6 : 1)


def confusion(
    ax: Axes,
    counts: ArrayLike,
    values: Sequence,
    *,
    rows: str = "labelled",
    columns: str = "judged",
    **labels: str,
) -> Axes:
    """A confusion matrix with its counts written in, shaded by share of the row.

    counts (k, k): labels down, judgements across, both in the order of `values`.
    """
    import numpy as np

    counts = np.asarray(counts)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    _shaded(ax, shares, counts, square=True, xticklabels=values, yticklabels=values)
    return titled(ax, xlabel=columns, ylabel=rows, **labels)


def confusions(counts: dict[str, ArrayLike], values: Sequence, **options: Any) -> Figure:
    """Confusion matrices {title: counts} in one figure, about as many across as down."""
    across = math.ceil(math.sqrt(len(counts)))
    down = math.ceil(len(counts) / across)
    made, axes = figure((3.2 * across, 3.1 * down), down, across)
    for ax in axes.flat[len(counts) :]:
        ax.remove()
    for ax, (title, each) in zip(axes.flat, counts.items()):
        confusion(ax, each, values, title=title, **options)
    return made


def heat(ax: Axes, frame: pd.DataFrame, *, outlined: Collection[str] = (), **labels: str) -> Axes:
    """A matrix of shares or ratios with its values written in: rows and columns as they come.

    frame: row, column, value; a missing value leaves its cell empty, and a row or column without
    any says so.
    `outlined` rows have a frame and bold numbers.
    """
    frame = floats(frame)
    if frame.empty:
        if_empty(ax, frame["value"])
        return titled(ax, **labels)
    wide = _wide(frame)
    rows, columns = list(wide.index), list(wide.columns)
    _shaded(ax, wide, wide.map("{:z.2f}".format), annot_kws={"fontsize": SMALL})
    ax.set_xticks(ax.get_xticks(), [wrapped(column, LINE) for column in columns])
    for text in ax.texts:
        if rows[int(text.get_position()[1])] in outlined:
            text.set_fontweight("bold")
    for place, row in enumerate(rows):
        if row in outlined:
            look = {"fill": False, "edgecolor": BLUE, "linewidth": 2, "clip_on": False}
            ax.axhspan(place, place + 1, **look)
    middle = {"ha": "center", "va": "center", "color": SOFT, "fontsize": SMALL}
    for place, row in enumerate(rows):
        if wide.loc[row].isna().all():
            ax.text(len(columns) / 2, place + 0.5, "no value", **middle)
    for place, column in enumerate(columns):
        if wide[column].isna().all() and len(columns) > 1:
            ax.text(place + 0.5, len(rows) / 2, "no value", rotation=90, **middle)
    return titled(ax, **labels)


def changes(
    ax: Axes,
    frame: pd.DataFrame,
    *,
    most: float = 0,
    digits: int = 0,
    framed: int = 1,
    **labels: str,
) -> Axes:
    """A matrix of changes: losses in red, gains in blue, the larger the darker, with their numbers.

    frame: row, column, value; the least `framed` values of each column are bold and framed,
    unless more are equal. most: the change with the full colour, by default the largest.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    wide = _wide(floats(frame))
    most = most or wide.abs().max().max() or 1
    ramp = LinearSegmentedColormap.from_list("", [tint(RED, 0.6), CARD, tint(BLUE, 0.6)])
    nought = f"{0:.{digits}f}"
    texts = wide.map(lambda v: nought if float(t := f"{v:+.{digits}f}") == 0 else t)
    texts = texts.map(lambda t: t.replace("-", "\u2212"))
    shades = {"cmap": ramp, "vmin": -most, "vmax": most, "annot_kws": {"fontsize": SMALL}}
    _shaded(ax, wide, texts.where(wide.notna(), ""), **shades)
    ax.set_xticks(ax.get_xticks(), [wrapped(column, LINE) for column in wide])
    for text in ax.texts:
        across, down = (int(place) for place in text.get_position())
        text.set_color(ON_LIGHT)
        if (wide.iloc[:, across] <= wide.iloc[down, across]).sum() <= framed:
            text.set_fontweight("bold")
            look = {"fill": False, "edgecolor": INK, "linewidth": 1.5, "clip_on": False}
            ax.add_patch(Rectangle((across, down), 1, 1, **look))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    return titled(ax, **labels)


def _wide(frame):
    """A long frame as a matrix, rows and columns in the order in which they come."""
    rows, columns = dict.fromkeys(frame["row"]), dict.fromkeys(frame["column"])
    return frame.pivot(index="row", columns="column", values="value").loc[[*rows], [*columns]]


def _shaded(ax, shares, texts, **options):
    """Cells in greys with their texts, as seaborn draws them; a missing share is left white."""
    import numpy as np
    import seaborn

    # black is 1.4: ratios exceed 1, and a share of 1 should not drown its neighbours in print
    look = {"vmin": 0, "vmax": 1.4, "cmap": "Greys", "cbar": False}
    look |= {"linewidths": 0.5, "linecolor": GRID, "clip_on": False, **options}
    seaborn.heatmap(shares, annot=texts, fmt="", ax=ax, **look)
    ax.grid(False)
    ax.tick_params(rotation=0)
    values = np.ravel(shares)
    for text, share in zip(ax.texts, values[~np.isnan(values)]):
        text.set_color(ON_DARK if share > DARK else ON_LIGHT)
