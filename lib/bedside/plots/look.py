"""What all figures share: size, style, marks, titles, legends, and how they are saved."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from bedside.published import SOURCES

from .beside import SMALL, arrange

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
FILLED = "ovsPX*p<>"  # marks of computed series that are no source
DASHES = [(dash, ink) for ink in (BLUE, "black", "0.55") for dash in ("-", "--", ":", "-.")]
STYLE = {
    "svg.hashsalt": "bedside",
    "text.parse_math": False,  # names come from files, where a dollar is a dollar
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
    settle(figure)
    figure.savefig(made, format="png", dpi=110)
    return Picture(made.getvalue())


def save(figure: Figure, path: Path, note: str = "") -> Picture:
    """Write path.png and path.svg with `note` at the top; return the Picture.

    The same numbers give the same bytes: no dates, no random names.
    """
    if note:
        figure.suptitle(note, fontsize=SMALL, color="0.35", x=0.01, ha="left")
    settle(figure)
    figure.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    return Picture(path.with_suffix(".png").read_bytes())


def settle(figure: Figure) -> None:
    """Lay a figure out, and put the labels of its marks where there is room."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:  # the layout's solver differs in the last bits from run to run
        ax.set_position([round(v, 4) for v in ax.get_position(original=True).bounds])
        arrange(ax)


def marks(kinds: Iterable[str]) -> dict[str, tuple[str, str]]:
    """A mark and its colour for each series: a source's own, else one of the filled ones."""
    kinds = list(kinds)
    free = cycle(m for m in FILLED if m not in {MARKS[k][0] for k in kinds if k in MARKS})
    return {kind: MARKS.get(kind) or (next(free), BLUE) for kind in kinds}


def wrapped(text: str, width: int) -> str:
    """A long label in lines of at most `width` characters, where it can be broken."""
    return "\n".join(textwrap.wrap(str(text), width, break_long_words=False)) or str(text)


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
    """Note in a chart that it shows nothing, if none of its values is a number."""
    if not values.notna().any():
        middle = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "nothing to show: no values", color="0.35", fontsize=SMALL, **middle)


def remark(figure: Figure, text: str) -> None:
    """A line below a figure on what it leaves out."""
    figure.supxlabel(text, fontsize=SMALL, color="0.35", x=0.01, ha="left")


def legend_right(ax: Axes) -> None:
    """A legend beside a panel that has marks of its own."""
    seen = _told([ax])
    if seen:
        place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        ax.legend(seen.values(), seen.keys(), fontsize=SMALL, **place)


def legend_below(figure: Figure) -> None:
    """One legend for the whole figure, under the axes, without repetitions; none for no marks."""
    seen = _told(figure.axes)
    if not seen:
        return
    columns = min(len(seen), 3)
    figure.legend(
        seen.values(), seen.keys(), loc="outside lower center", ncols=columns, fontsize=SMALL
    )


def _told(axes):
    """What a legend tells, {text: handle}; of marks with intervals the mark alone."""
    from matplotlib.container import ErrorbarContainer

    seen = {}
    for ax in axes:
        for handle, text in zip(*ax.get_legend_handles_labels()):
            whiskers = isinstance(handle, ErrorbarContainer)  # they would blur a mark so small
            seen.setdefault(text, handle.lines[0] if whiskers else handle)
    return seen
