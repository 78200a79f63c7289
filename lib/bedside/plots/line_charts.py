"""Numbers along an axis: means with bands, counts that grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from .beside import beside
from .look import DASHES, floats, if_empty, label, marks, titled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HOLLOW = {"markerfacecolor": "white", "markeredgecolor": "black", "markersize": 5}
APART = 0.16  # of a level: intervals of several series stand side by side, not on one another


def growth(ax: Axes, frame: pd.DataFrame, **labels: str) -> Axes:
    """How counts grow: one stepped line for each column, in the frame's order of rows."""
    frame = floats(frame)
    for (dash, ink), (name, part) in zip(cycle(DASHES), frame.groupby("column", sort=False)):
        steps = range(1, len(part) + 1)
        ax.step(steps, part["value"], where="post", color=ink, linestyle=dash, label=name)
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
        ax.plot(part[x], part["value"], marker, label=label(name), **HOLLOW)
        for r in part[part["label"] != ""].to_dict("records"):
            beside(ax, r["label"], (r[x], r["value"]))
    for (dash, ink), (name, part) in zip(cycle(DASHES), found.items()):
        along = part[x].astype(float)
        ax.plot(part[x], part["value"], color=ink, linestyle=dash, label=name)
        ax.fill_between(along, part["low"], part["high"], color=ink, alpha=0.15, linewidth=0)
    if ticks:
        ax.set_xscale("log")
        if frame[x].max() > 0:
            ax.set_xlim(right=2 * frame[x].max())  # room for the labels
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
    ax.set_ylim(-0.02, 1.02)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)


def levels(ax: Axes, frame: pd.DataFrame, x: str, **labels: str) -> Axes:
    """Shares at a few levels, the whole numbers of the column `x`: marks with their intervals.

    frame: series, value, low, high, `x`. Published series are hollow marks at the level itself;
    the others stand beside it, joined by lines.
    """
    frame = floats(frame)
    found = {name: part for name, part in frame.groupby("series", sort=False)}
    printed = [name for name in found if name.startswith("published")]
    for marker, name in zip("D^vs", printed):
        part = found.pop(name)
        ax.plot(part[x], part["value"], marker, label=label(name), **HOLLOW)
    places = [side * APART * k for k in range(1, len(found) + 1) for side in (-1, 1)]
    for shift, (dash, ink), (name, part), (marker, face) in zip(
        places, cycle(DASHES), found.items(), marks(found).values()
    ):
        reach = part["value"] - part["low"], part["high"] - part["value"]
        ax.errorbar(
            part[x] + shift,
            part["value"],
            yerr=[side.fillna(0).clip(lower=0) for side in reach],
            marker=marker,
            markerfacecolor=face,
            markeredgecolor="black",
            markersize=5,
            color=ink,
            linestyle=dash,
            linewidth=1,
            capsize=2,
            label=label(name),
        )
    ax.set_xticks(sorted(set(frame[x])))
    ax.margins(x=0.12)
    ax.set_ylim(-0.04, 1.04)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)
