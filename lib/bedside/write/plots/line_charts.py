"""Numbers along an axis: means with bands."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from .labels import label_beside
from .look import DASHES, floats, if_empty, label, titled
from .palette import CARD, INK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HOLLOW = {"markerfacecolor": CARD, "markersize": 5}


def curves(ax: Axes, frame: pd.DataFrame, x: str, **labels: str) -> Axes:
    """Means from 0 to 1 along the column `x`, one line for each series, its interval as a band.

    frame: series, value, low, high, `x`, and label (text beside a mark, or empty); published
    series are hollow marks without lines.
    """
    frame = floats(frame)
    found = {name: part for name, part in frame.groupby("series", sort=False)}
    printed = [name for name in found if name.startswith("published")]
    for marker, name in zip("Ds^v", printed):
        part = found.pop(name)
        ax.plot(part[x], part["value"], marker, label=label(name), markeredgecolor=INK, **HOLLOW)
        for r in part[part["label"] != ""].to_dict("records"):
            label_beside(ax, r["label"], (r[x], r["value"]))
    for (dash, ink), (name, part) in zip(cycle(DASHES), found.items()):
        along = part[x].astype(float)
        ax.plot(part[x], part["value"], color=ink, linestyle=dash, label=name)
        ax.fill_between(along, part["low"], part["high"], color=ink, alpha=0.15, linewidth=0)
    ax.set_ylim(-0.02, 1.02)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)
