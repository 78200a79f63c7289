"""Numbers along an axis: means with bands, counts that grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .look import BLUE, DASHES, floats, if_empty, label, titled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def growth(ax: Axes, frame: pd.DataFrame, **labels: str) -> Axes:
    """How counts grow: one stepped line for each column, in the frame's order of rows."""
    frame = floats(frame)
    for dash, (name, part) in zip(DASHES, frame.groupby("column", sort=False)):
        steps = range(1, len(part) + 1)
        ax.step(steps, part["value"], where="post", color="black", linestyle=dash, label=name)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    ax.set_ylim(0)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)


def curves(
    ax: Axes, frame: pd.DataFrame, x: str, *, ticks: Sequence[float] | None = None, **labels: str
) -> Axes:
    """Means from 0 to 1 along the column `x`, one line for each series, its interval as a band.

    frame: series, value, low, high, `x`, and label (text beside a mark, or empty); published
    series are hollow marks without lines. ticks: of a logarithmic x axis.
    """
    frame = floats(frame)
    found = {name: part for name, part in frame.groupby("series", sort=False)}
    printed = [name for name in found if name.startswith("published")]
    for marker, name in zip("Ds^v", printed):
        part = found.pop(name)
        look = {"markerfacecolor": "white", "markeredgecolor": "black"}
        ax.plot(part[x], part["value"], marker, label=label(name), **look)
        beside = {"xytext": (6, -3), "textcoords": "offset points", "fontsize": 7}
        for r in part[part["label"] != ""].to_dict("records"):
            ax.annotate(r["label"], (r[x], r["value"]), **beside)
    for dash, (name, part) in zip(DASHES, found.items()):
        along = part[x].astype(float)
        ax.plot(part[x], part["value"], color=BLUE, linestyle=dash, label=name)
        ax.fill_between(along, part["low"], part["high"], color=BLUE, alpha=0.15, linewidth=0)
    if ticks:
        ax.set_xscale("log")
        if len(frame):
            ax.set_xlim(right=5 * frame[x].max())  # room for the labels
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
    ax.set_ylim(-0.02, 1.02)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)
