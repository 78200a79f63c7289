"""Numbers along an axis: means with bands."""

from __future__ import annotations

from collections.abc import Sequence
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


def apart(values: Sequence[float], gap: float) -> list[float]:
    """Rising values, moved as little as needed to stand at least `gap` apart."""
    groups = []
    for value in values:
        groups.append(([value], value))
        while (
            len(groups) > 1
            and groups[-1][1] - groups[-2][1] < gap * (len(groups[-1][0]) + len(groups[-2][0])) / 2
        ):
            last, before = groups.pop(), groups.pop()
            members = before[0] + last[0]
            groups.append((members, sum(members) / len(members)))
    return [
        middle + gap * (k - (len(members) - 1) / 2)
        for members, middle in groups
        for k in range(len(members))
    ]
