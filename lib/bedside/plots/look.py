"""What all figures share: size and style, marks, titles, legend, and how they are saved."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from bedside.published import SOURCES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE = "#1b6f8a"
MARKS = {
    "published": ("D", "white"),
    "published, summary of version 2": ("s", "white"),
    "recomputed": ("^", "0.45"),
    "raw": ("o", BLUE),
    "run": ("o", BLUE),
}
DASHES = ("-", "--", ":", "-.")
STYLE = {
    "svg.hashsalt": "bedside",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "axes.titlesize": 10,
    "hatch.linewidth": 0.6,
}


def figure(size: tuple[float, float], rows: int = 1, columns: int = 1, **options) -> tuple:
    """A figure and its axes (rows, columns) in the project's style; size in inches.

    options: of matplotlib's `Figure.subplots`, such as sharey or width_ratios.
    """
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(STYLE)
    made = Figure(size, layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False, **options)


class Picture:
    """A picture (PNG) as a notebook shows it."""

    def __init__(self, png: bytes):
        self.png = png

    def _repr_png_(self):
        return self.png

    def __repr__(self):
        return "(figure)"


def picture(figure: Figure) -> Picture:
    """A figure as a Picture, without a file."""
    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=110)
    return Picture(made.getvalue())


def save(figure: Figure, path: Path, note: str = "") -> Picture:
    """Write path.png and path.svg with `note` at the top; return the Picture.

    The same numbers give the same bytes: no dates, no random names.
    """
    if note:
        figure.suptitle(note, fontsize=7, color="0.35", x=0.01, ha="left")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:  # the layout's solver differs in the last bits from run to run
        ax.set_position([round(v, 4) for v in ax.get_position(original=True).bounds])
    figure.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    return Picture(path.with_suffix(".png").read_bytes())


def label(series: str) -> str:
    """A series' name for the legend: a source in words, and what follows it after a comma."""
    base, _, more = series.partition(", ")
    return SOURCES.get(base, base) + (f", {more}" if more else "")


def titled(ax: Axes, title: str = "", xlabel: str = "", ylabel: str = "") -> Axes:
    """Set a chart's title, over its left edge, and the axes' labels; return the axes."""
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def floats(frame: pd.DataFrame) -> pd.DataFrame:
    """A chart's frame with its numbers as floats, NaN where there is none."""
    numbers = [c for c in ("value", "low", "high") if c in frame]
    return frame.astype(dict.fromkeys(numbers, float))


def if_empty(ax: Axes, values: pd.Series) -> None:
    """Say in a chart that it shows nothing, where none of its values is a number."""
    if not values.notna().any():
        middle = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "nothing to show: no value", color="0.35", fontsize=8, **middle)


def legend_below(figure: Figure) -> None:
    """One legend for the whole figure, under the axes, without repetitions; none for no marks."""
    seen = {}
    for ax in figure.axes:
        for handle, text in zip(*ax.get_legend_handles_labels()):
            seen.setdefault(text, handle)
    if not seen:
        return
    columns = min(len(seen), 3)
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=columns, fontsize=8)
