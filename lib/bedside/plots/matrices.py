"""Matrices of shares, or of ratios near 1: the larger the darker, each cell with its number."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from .look import BLUE, SMALL, figure, floats, if_empty, titled, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

LINE = 12  # characters of a column's name in a line
DARK = 0.86  # the share whose grey carries black and white digits equally well (4.6 : 1)


def confusion(
    ax: Axes,
    counts: ArrayLike,
    values: Sequence,
    *,
    rows="labelled",
    columns="judged",
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


def confusions(counts: dict[str, ArrayLike], values: Sequence, **options) -> Figure:
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
    rows, columns = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame["column"]))
    wide = frame.pivot(index="row", columns="column", values="value").loc[rows, columns]
    _shaded(ax, wide, wide.map("{:.2f}".format), annot_kws={"fontsize": SMALL})
    ax.set_xticks(ax.get_xticks(), [wrapped(column, LINE) for column in columns])
    for text in ax.texts:
        if rows[int(text.get_position()[1])] in outlined:
            text.set_fontweight("bold")
    for place, row in enumerate(rows):
        if row in outlined:
            look = {"fill": False, "edgecolor": BLUE, "linewidth": 2, "clip_on": False}
            ax.axhspan(place, place + 1, **look)
    middle = {"ha": "center", "va": "center", "color": "0.35", "fontsize": SMALL}
    for place, row in enumerate(rows):
        if wide.loc[row].isna().all():
            ax.text(len(columns) / 2, place + 0.5, "no value", **middle)
    for place, column in enumerate(columns):
        if wide[column].isna().all() and len(columns) > 1:
            ax.text(place + 0.5, len(rows) / 2, "no value", rotation=90, **middle)
    return titled(ax, **labels)


def _shaded(ax, shares, texts, **options):
    """Cells in greys with their texts, as seaborn draws them; a missing share is left white."""
    import numpy as np
    import seaborn

    # black is 1.4: ratios exceed 1, and a share of 1 should not drown its neighbours in print
    greys = {"vmin": 0, "vmax": 1.4, "cmap": "Greys", "cbar": False}
    lines = {"linewidths": 0.5, "linecolor": "0.8", "clip_on": False}
    seaborn.heatmap(shares, annot=texts, fmt="", ax=ax, **greys, **lines, **options)
    ax.grid(False)
    ax.tick_params(rotation=0)
    values = np.ravel(shares)
    for text, share in zip(ax.texts, values[~np.isnan(values)]):
        text.set_color("white" if share > DARK else "black")
