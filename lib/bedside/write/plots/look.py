"""What all figures share: size, style, marks, titles, legends, and how they are saved."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.read import paths
from bedside.read.published import SOURCES

from .labels import SMALL, arrange
from .palette import BLUE, CARD, CONTEXT, GRID, INK, SOFT, with_dark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, NARROW = 9.0, 3.6  # inches: what a page and what a phone shows at its size
MARKS = {
    "published": ("D", CARD),
    "published, summary of version 2": ("s", CARD),
    "recomputed": ("^", SOFT),
    "raw": ("o", BLUE),
    "simulated": ("P", SOFT),
    "run": ("o", BLUE),
}
FILLED = "ovsPX*p<>"  # marks of computed series that are no source
DASHES = [(dash, ink) for ink in (BLUE, INK, CONTEXT) for dash in ("-", "--", ":", "-.")]
STYLE = {
    "svg.hashsalt": "bedside",
    "text.parse_math": False,  # names come from files, where a dollar is a dollar
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": CONTEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "xtick.color": CONTEXT,
    "ytick.color": CONTEXT,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "hatch.color": INK,
    "hatch.linewidth": 0.6,
}
LEADING = 1.35  # of the type's size, from line to line


def figure(size: tuple[float, float], rows: int = 1, columns: int = 1, **options: Any) -> tuple:
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


def save(
    figure: Figure, path: Path, title: str = "", below: str = "", narrow: Figure | None = None
) -> Picture:
    """Write path.png and path.svg under a title and what is said `below` it; return the Picture.

    narrow: the same for narrow screens, NARROW inches wide, written as path.narrow.svg. The SVGs
    have colours for light and dark screens. The same numbers give the same bytes: no dates, no
    random names.
    """
    for each in filter(None, (figure, narrow)):
        _head(each, title, below)
        settle(each)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=130, metadata={"Software": None})
    paths.write(path.with_suffix(".png"), png.getvalue())
    _svg(figure, path.with_suffix(".svg"))
    if narrow:
        _svg(narrow, path.with_suffix(".narrow.svg"))
    else:  # pages show the one that is there
        path.with_suffix(".narrow.svg").unlink(missing_ok=True)
    return Picture(png.getvalue())


def _svg(figure, path):
    made = io.StringIO()
    figure.savefig(made, format="svg", metadata={"Date": None, "Creator": None})
    paths.write(path, with_dark(made.getvalue()))


def _head(figure, title, below):
    """Make a figure higher by its title and what is below that, and write both there."""
    width, height = figure.get_size_inches()
    big = 11.5 if width < WIDE / 2 else 14
    most = 0.95 * 72 * width  # points; pixels make type up to 3% wider than it is measured
    lines = [(line, big, "bold", INK) for line in fitted(title, big, "bold", most)]
    lines += [(text, SMALL, "normal", SOFT) for text in fitted(below, SMALL, "normal", most)]
    if not lines:
        return
    room = (sum(size for _, size, *_ in lines) * LEADING + 12) / 72
    figure.set_size_inches(width, height + room)
    figure.get_layout_engine().set(rect=(0, 0, 1, height / (height + room)))
    down = 5
    for text, size, weight, ink in lines:
        y = 1 - down / 72 / (height + room)
        look = {"fontsize": size, "fontweight": weight, "color": ink}
        figure.text(4 / 72 / width, y, text, va="top", **look)
        down += size * LEADING


def fitted(text: str, size: float, weight: str, width: float) -> list[str]:
    """A text in the fewest lines of at most `width` points, all about as long."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font, measure = FontProperties(family="DejaVu Sans", size=size, weight=weight), TextToPath()

    def lines(most):
        made = [""]
        for word in text.split():
            longer = f"{made[-1]} {word}".strip()
            fits = measure.get_text_width_height_descent(longer, font, False)[0] <= most
            made = [*made[:-1], longer] if fits or not made[-1] else [*made, word]
        return made

    fewest = lines(width)
    widths = (width * k / 20 for k in range(10, 21))
    return next((m for w in widths if len(m := lines(w)) == len(fewest)), fewest) if text else []


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
    lines = textwrap.wrap(str(text), width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(t if len(t) <= width else t.replace("-", "-\n", 1) for t in lines) or str(text)


def label(series: str) -> str:
    """A series' name for the legend: a source in words, and what follows it after a comma."""
    base, _, more = series.partition(", ")
    return SOURCES.get(base, base) + (f", {more}" if more else "")


def titled(ax: Axes, title: str = "", xlabel: str = "", ylabel: str = "") -> Axes:
    """Set a chart's title, over its left edge, and the axes' labels; return the axes.

    The label of the y axis stands upright, below the title.
    """
    ax.set_title(title, loc="left", pad=19 if ylabel and title else None)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel, rotation=0, ha="left", va="bottom")
    if ylabel:
        ax.yaxis.set_label_coords(0, 1.01)
    return ax


def floats(frame: pd.DataFrame) -> pd.DataFrame:
    """A chart's frame with its numbers as floats, NaN where there is none."""
    numbers = [c for c in ("value", "low", "high") if c in frame]
    return frame.astype(dict.fromkeys(numbers, float))


def if_empty(ax: Axes, values: pd.Series) -> None:
    """Note in a chart that it shows nothing, if none of its values is a number."""
    if not values.notna().any():
        middle = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "nothing to show: no values", color=SOFT, fontsize=SMALL, **middle)


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
    columns = min(len(seen), 3) if figure.get_figwidth() > WIDE / 2 else 1
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
