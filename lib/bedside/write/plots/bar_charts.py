"""Horizontal bars."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from .look import SMALL, floats, if_empty, label, titled
from .palette import BLUE, CARD, INK, tint

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SHADES = (BLUE, tint(BLUE, 0.4), tint(INK, 0.08), tint(INK, 0.85))
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
