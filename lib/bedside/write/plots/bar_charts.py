"""Lengths and areas: bars, stacked bars, histograms."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from .look import SMALL, floats, if_empty, label, titled
from .palette import BLUE, CARD, INK, ON_DARK, ON_LIGHT, tint

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LIGHT_BLUE = tint(BLUE, 0.4)
SHADES = (BLUE, LIGHT_BLUE, tint(INK, 0.08), tint(INK, 0.85))
HATCH = {"published": "////", "recomputed": "...."}
BACKED = {"facecolor": CARD, "edgecolor": "none", "pad": 0.8}  # legible over lines and hatches
EDGE = {"edgecolor": INK, "linewidth": 0.6}


def bars(
    ax: Axes, frame: pd.DataFrame, *, by: str = "source", digits: int = 0, **labels: str
) -> Axes:
    """Horizontal bars with their values, grouped by `by`; published ones hatched, others shaded.

    frame: row, value and the column `by`. A missing value has no bar and no text.
    """
    frame = floats(frame)
    rows, kinds = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame[by]))
    places = range(len(rows) - 1, -1, -1)
    height = 0.8 / max(len(kinds), 1)
    shades = dict(zip((k for k in kinds if k != "published"), cycle(SHADES)))
    for k, kind in enumerate(kinds):
        part = frame[frame[by] == kind].set_index("row")["value"].reindex(rows)
        made = ax.barh(
            [place + (len(kinds) - 1) / 2 * height - k * height for place in places],
            part.fillna(0),
            height * 0.9,
            color=shades.get(kind, CARD),
            hatch=HATCH.get(kind),
            label=label(kind),
            **EDGE,
        )
        texts = ["" if v != v else f"{v:z.{digits}f}" for v in part]
        ax.bar_label(made, texts, padding=3, fontsize=SMALL, bbox=BACKED)
    ax.set_yticks(places, rows)
    ax.margins(x=0.12)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)


def stacked(ax: Axes, frame: pd.DataFrame, **labels: str) -> Axes:
    """Stacked horizontal bars: one for each row, its parts by column, from dark to light.

    frame: row, column, value in percent, written in where there is room.
    """
    frame = floats(frame)
    rows, parts = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame["column"]))
    wide = frame.pivot(index="row", columns="column", values="value").loc[rows]
    places = range(len(rows) - 1, -1, -1)
    left = 0
    for k, part in enumerate(parts):
        dark = 0.75 - 0.75 * k / max(len(parts) - 1, 1)
        look = {"color": tint(INK, dark), "label": part, "clip_on": False, **EDGE}
        made = ax.barh(places, wide[part], left=left, **look)
        texts = [f"{v:.0f}" if v >= 4 else "" for v in wide[part]]
        ink = ON_DARK if dark > 0.5 else ON_LIGHT
        ax.bar_label(made, texts, label_type="center", fontsize=SMALL, color=ink)
        left = left + wide[part]
    ax.set_yticks(places, rows)
    ax.set_xlim(0, 100)
    if_empty(ax, frame["value"])
    return titled(ax, **labels)


def histogram(ax: Axes, frame: pd.DataFrame, **labels: str) -> Axes:
    """Bars of `value` between the edges `left` and `right`."""
    frame = floats(frame)
    widths = frame["right"] - frame["left"]
    look = {"color": LIGHT_BLUE, "edgecolor": INK, "linewidth": 0.5}
    ax.bar(frame["left"], frame["value"], widths, align="edge", **look)
    return titled(ax, **labels)
