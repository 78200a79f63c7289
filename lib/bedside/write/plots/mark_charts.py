"""Estimates as marks: on lines with their intervals, or in the plane of two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .labels import label_beside
from .look import MARKS, SMALL, floats, if_empty, label, marks, titled, wrapped
from .palette import BLUE, CARD, CONTEXT, INK, SOFT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WHISKERS = {"color": INK, "markeredgecolor": INK, "capsize": 2}
SHAPES = "osD^vP*X"
LINE = 24  # characters of a row's name in a line
MOST = 3  # names of marks in one place that are all told
ARROW = {"arrowstyle": "->", "color": CONTEXT, "linewidth": 0.8, "shrinkA": 5, "shrinkB": 5}


def dots(
    ax: Axes,
    frame: pd.DataFrame,
    *,
    order: Sequence[str] | None = None,
    limits: tuple[float, float] | None = None,
    **labels: str,
) -> Axes:
    """Dots with intervals, one line for each row; `series` (or `source`) gives the mark.

    frame: row, value, low, high, and series or source. Rows from the top in `order` (default: as
    they come). limits: of the x axis; a scale is shown whole, so that a narrow spread doesn't
    look wide. Marks of a row stand apart. A row without any value says so.
    """
    frame = floats(frame)
    order = list(order or dict.fromkeys(frame["row"]))
    series = frame["series"] if "series" in frame else frame["source"]
    place = {row: len(order) - 1 - i for i, row in enumerate(order)}
    looks = marks(dict.fromkeys(series))
    height = frame["row"].map(place) + _shifts(frame, series.map(list(looks).index))
    for kind, look in looks.items():
        mine = series == kind
        part = frame[mine]
        below, above = part["value"] - part["low"], part["high"] - part["value"]
        reach = [side.fillna(0).clip(lower=0) for side in (below, above)]
        _marks(ax, part["value"], height[mine], reach, look, label(kind))
    ax.set_yticks(list(place.values()), [wrapped(row, LINE) for row in place])
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlim(limits)
    lost = frame.groupby("row")["value"].count() == 0
    across = {"transform": ax.get_yaxis_transform(), "va": "center", "color": SOFT}
    for row in lost.index[lost]:
        ax.text(0.01, place[row], "no value", fontsize=SMALL, **across)
    if frame.empty:
        if_empty(ax, frame["value"])
    return titled(ax, **labels)


def _shifts(frame, kind):
    """How far each mark stands from its row's line: the kinds that a row has, one under another."""
    slot = kind.where(frame["value"].notna()).astype(float).groupby(frame["row"]).rank("dense")
    many = slot.groupby(frame["row"]).transform("max")
    return ((many + 1) / 2 - slot) * min(0.26, 0.8 / max(many.max(), 1))


def _marks(ax, x, y, reach, mark, name):
    marker, face = mark
    look = {"fmt": marker, "markerfacecolor": face, "markersize": 5.5, "linewidth": 1}
    ax.errorbar(x, y, xerr=reach, label=name, **look, **WHISKERS)


def plane(ax: Axes, frame: pd.DataFrame, x: str, y: str, **labels: str) -> Axes:
    """Points in the plane of two rates in percent, the columns `x` and `y` of a table.

    frame: row, column, source, value, low, high, and label (text beside the mark), shape (its
    kind, for the legend, or empty) and origin (the row that an arrow comes from, or empty). One
    mark with intervals for each row, in its source's colour; marks in one place share a label.
    The chart names rows that lack a rate. Dashed lines join points of equal mean.
    """
    frame = floats(frame)
    _equal_means(ax)
    wide = {c: frame[frame["column"] == c].set_index(["source", "row"]) for c in (x, y)}
    kinds, places, names, lost = list(dict.fromkeys(frame["shape"])), {}, {}, []
    for (source, row), up in wide[y].iterrows():
        along = wide[x].loc[(source, row)]
        at = along["value"], up["value"]
        if any(v != v for v in at):
            lost.append(row)
            continue
        places[row] = at
        if up["origin"] in places:
            ax.annotate("", at, places[up["origin"]], zorder=1, arrowprops=ARROW)
        ax.errorbar(
            *at,
            xerr=_reach(along),
            yerr=_reach(up),
            fmt=SHAPES[kinds.index(up["shape"])],
            markerfacecolor=MARKS.get(source, ("o", BLUE))[1],
            markersize=6,
            linewidth=0.8,
            label=label(source) + (up["shape"] and f": {up['shape']}"),
            **WHISKERS,
        )
        names.setdefault(at, []).append(up["label"])
    for at, told in names.items():
        label_beside(ax, _joined(told), at)
    if lost:
        corner = {"transform": ax.transAxes, "va": "bottom", "color": SOFT, "fontsize": SMALL}
        ax.text(0.01, 0.01, "not shown, since a rate has no value:\n" + "\n".join(lost), **corner)
    ax.set_xlim(-3, 106)  # room for labels
    ax.set_ylim(-3, 106)
    ax.grid(False)
    return titled(ax, **labels)


def _equal_means(ax):
    """Dashed lines through the points whose two rates have the same mean, with that mean."""
    text = {"fontsize": SMALL, "color": SOFT, "ha": "center", "va": "center", "zorder": 0.5}
    box = {"backgroundcolor": CARD, "bbox": {"pad": 0.6, "color": CARD}}
    for mean in range(10, 100, 10):
        least, most = max(0, 2 * mean - 100), min(100, 2 * mean)
        line = {"color": CONTEXT, "linestyle": "--", "linewidth": 0.6, "zorder": 0}
        ax.plot([least, most], [most, least], **line)
        ax.annotate(str(mean), (least + 2, most - 2), **text, **box)


def _reach(row):
    """How far an interval reaches below and above its value, or None where there is none."""
    if row["low"] != row["low"]:
        return None
    return [[max(row["value"] - row["low"], 0)], [max(row["high"] - row["value"], 0)]]


def _joined(names):
    """Names of marks in one place, a line each, or the first and how many more."""
    first, *more = dict.fromkeys(names)
    return f"{first} and {len(more)} more" if len(more) >= MOST else "\n".join([first, *more])
