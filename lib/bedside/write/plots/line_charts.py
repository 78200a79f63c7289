"""Numbers along an axis: means with bands, counts that grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from .labels import SMALL, label_beside
from .look import DASHES, floats, if_empty, label, marks, titled
from .palette import CARD, CONTEXT, INK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HOLLOW = {"markerfacecolor": CARD, "markersize": 5}
APART = 0.12  # of a level: intervals of several series stand side by side, not on one another


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


def slopes(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    *,
    ink: str = CONTEXT,
    ends: tuple[float, float] | None = None,
    **labels: str,
) -> Axes:
    """One line for each series over a few levels, the whole numbers of the column `x`.

    frame: series, source, value, low, high, `x`. Published series are hollow marks on lines in
    `ink`; this run's are filled and stand beside their level, with intervals. ends: write names and
    values at both ends of published lines, at least so far apart, with so much room (of `x`).
    """
    frame = floats(frame)
    published = frame[frame["source"] == "published"]
    for _, part in published.groupby("series", sort=False):
        ax.plot(part[x], part["value"], "o-", color=ink, linewidth=1.2, **HOLLOW)
    if ends and len(published):
        gap, room = ends
        _named_ends(ax, published, x, ink, gap)
        ax.set_xlim(frame[x].min() - room, frame[x].max() + room)
    mine = frame[frame["source"] == "run"]
    series = dict.fromkeys(mine["series"])
    places = [side * APART * k for k in range(1, len(series) + 1) for side in (1, -1)]
    for shift, (dash, _), (name, (marker, face)) in zip(
        places, cycle(DASHES), marks(series).items()
    ):
        part = mine[mine["series"] == name]
        reach = part["value"] - part["low"], part["high"] - part["value"]
        yerr = [side.fillna(0).clip(lower=0) for side in reach]
        look = {"marker": marker, "markersize": 5, "color": face, "linestyle": dash}
        ax.errorbar(
            part[x] + shift, part["value"], yerr=yerr, linewidth=1, label=label(name), **look
        )
    ax.set_xticks(sorted(set(frame[x])))
    ax.grid(axis="x", visible=False)
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)


def _named_ends(ax, frame, x, ink, gap):
    """Names and values at both ends of lines, moved apart where they would touch."""
    for at, side, form, look in (
        (frame[x].min(), -7, "{0} {1:z.1f}", {"ha": "right", "color": INK}),
        (frame[x].max(), 7, "{1:z.1f} {0}", {"ha": "left", "color": ink, "fontweight": "bold"}),
    ):
        last = frame[frame[x] == at].sort_values("value")
        places = apart(last["value"], gap)
        for place, r in zip(places, last.to_dict("records")):
            text = form.format(r["series"], r["value"])
            how = {"xytext": (side, 0), "textcoords": "offset points", "va": "center", **look}
            ax.annotate(text, (at, place), fontsize=SMALL, annotation_clip=False, **how)


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
