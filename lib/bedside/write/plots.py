"""Figures in one style; published marks are hollow, computed ones filled, also in grey print.

    figure, ((ax,),) = plots.figure((7, 3))
    plots.dots(ax, rows, xlabel="accuracy", limits=(0, 1))
    plots.legend_below(figure)
    plots.save(figure, path, "Accuracy by model")

A chart takes an axes, a long frame (row, column or series, source, value, low, high) and labels:
title, xlabel, ylabel. It returns the axes. Figures are at most WIDE inches wide, so that pages
show their type, of SMALL points or more, in its size; a narrow drawing is NARROW inches wide.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.read import paths
from bedside.read.published import SOURCES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

WIDE, NARROW = 9.0, 3.6  # inches: what a page and what a phone shows at its size
SMALL = 8.25  # points, 11 pixels on a page: no type is smaller
CARD, INK, SOFT = "#ffffff", "#15191c", "#545c62"
CONTEXT, GRID = "#868e94", "#e3e6e8"
RED, BLUE = "#b23314", "#0f5f80"  # wrong; right: data only, never sources or verdicts
# light turned into dark, each colour in its hue; the card's black is that of pages
DARK = "@media screen and (prefers-color-scheme: dark)"
DARK += "{#figure_1{filter:invert(.88) hue-rotate(180deg)}}"
MARKS = {
    "published": ("D", CARD),
    "published, summary of version 2": ("s", CARD),
    "recomputed": ("^", SOFT),
    "raw": ("o", INK),
    "simulated": ("P", SOFT),
    "run": ("o", INK),
}
FILLED = "ovsPX*p<>"  # marks of computed series that are no source
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
}
LEADING = 1.35  # of the type's size, from line to line
WHISKERS = {"color": INK, "markeredgecolor": INK, "capsize": 2}
SHAPES = "osD^vP*X"
MOST = 3  # names of marks in one place that are all told
BESIDE = "_beside"  # no entry of a legend
STEPS = (7, 14, 24, 36, 50)  # points between a mark and its label; a line joins those apart
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


# ---- figures and files


def figure(size: tuple[float, float], rows: int = 1, columns: int = 1, **options: Any) -> tuple:
    """A figure and its axes (rows, columns) in the project's style; size in inches.

    options: of matplotlib's `Figure.subplots`, such as sharey or width_ratios.
    """
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(STYLE)
    empty = Figure(size, layout="constrained")
    return empty, empty.subplots(rows, columns, squeeze=False, **options)


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
    _settle(figure)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=130, metadata={"Software": None})
    return Picture(png.getvalue())


def save(
    figure: Figure, path: Path, title: str = "", below: str = "", narrow: Figure | None = None
) -> Picture:
    """Write path.png, under a title and what is said `below` it, and path.svg; return the Picture.

    narrow: the same for narrow screens, NARROW inches wide, written as path.narrow.svg. The SVGs
    have no title, since pages have it as a heading, and colours for light and dark screens. The
    same numbers give the same bytes: no dates, no random names.
    """
    size = figure.get_size_inches().copy()
    head = _head(figure, title, below)
    png = picture(figure)
    paths.write(path.with_suffix(".png"), png.png)
    for text in head:
        text.remove()
    _svg(figure, path.with_suffix(".svg"), size)
    path.with_suffix(".narrow.svg").unlink(missing_ok=True)  # pages show the one that is there
    if narrow:
        _settle(narrow)
        _svg(narrow, path.with_suffix(".narrow.svg"), narrow.get_size_inches())
    return png


def _svg(figure, path, size):
    from matplotlib.transforms import Bbox

    svg, whole = io.StringIO(), Bbox.from_bounds(0, 0, *size)
    metadata = {"Date": None, "Creator": None}
    figure.savefig(svg, format="svg", metadata=metadata, bbox_inches=whole)
    paths.write(path, svg.getvalue().replace("</style>", f"{DARK}</style>", 1))


def _head(figure, title, below):
    """Make a figure higher by its title and what is below that; write both, return the texts."""
    width, height = figure.get_size_inches()
    big = 11.5 if width < WIDE / 2 else 14
    lines = [(line, big, "bold", INK) for line in fitted(title, big, "bold", 70 * width)]
    lines += [(line, SMALL, "normal", SOFT) for line in fitted(below, SMALL, "normal", 70 * width)]
    room = (sum(size for _, size, *_ in lines) * LEADING + 12) / 72 if lines else 0
    figure.set_size_inches(width, height + room)
    figure.get_layout_engine().set(rect=(0, 0, 1, height / (height + room)))
    down, texts = 5, []
    for text, size, weight, ink in lines:
        look = {"fontsize": size, "fontweight": weight, "color": ink, "va": "top"}
        place = 4 / 72 / width, 1 - down / 72 / (height + room)
        texts.append(figure.text(*place, text, **look))
        down += size * LEADING
    return texts


def fitted(text: str, size: float, weight: str, width: float) -> list[str]:
    """A text in lines of at most `width` points, by how wide its type is on average."""
    return textwrap.wrap(text, int(width / size / (0.66 if weight == "bold" else 0.56)))


def _settle(figure):
    """Lay a figure out, and put the labels of its marks where there is room."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:  # the layout's solver differs in the last bits from run to run
        ax.set_position([round(v, 4) for v in ax.get_position(original=True).bounds])
        _arrange(ax)


# ---- parts of charts


def titled(ax: Axes, title: str = "", xlabel: str = "", ylabel: str = "") -> Axes:
    """Set a chart's title, over its left edge, and the axes' labels; return the axes.

    The label of the y axis stands upright, below the title.
    """
    ax.set_title(title, loc="left", pad=19 if ylabel and title else None, wrap=True)
    ax.set_xlabel(xlabel)
    if ylabel:
        ax.set_ylabel(ylabel, rotation=0, ha="left", va="bottom")
        ax.yaxis.set_label_coords(0, 1.01)
    return ax


def floats(frame: pd.DataFrame) -> pd.DataFrame:
    """A chart's frame with its numbers as floats, NaN where there is none."""
    return frame.astype({c: float for c in ("value", "low", "high") if c in frame})


def label(series: str) -> str:
    """A series' name for the legend: a source in words, and what follows it after a comma."""
    base, comma, more = series.partition(", ")
    return SOURCES.get(base, base) + comma + more


def wrapped(text: str, width: int) -> str:
    """A long label in lines of at most `width` characters, where it can be broken."""
    lines = textwrap.wrap(str(text), width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(t if len(t) <= width else t.replace("-", "-\n", 1) for t in lines)


def _note(ax, x, y, text="no value", **look):
    """A note in a chart, such as that something has no value."""
    ax.text(x, y, text, **{"color": SOFT, "fontsize": SMALL, "va": "center", **look})


def legend_below(figure: Figure) -> None:
    """One legend for the whole figure, under the axes, without repetitions; none for no marks."""
    from matplotlib.container import ErrorbarContainer

    handles = {}
    for ax in figure.axes:
        for handle, text in zip(*ax.get_legend_handles_labels()):
            whiskers = isinstance(handle, ErrorbarContainer)  # they would blur a mark so small
            handles.setdefault(text, handle.lines[0] if whiskers else handle)
    columns = min(len(handles), 3) if figure.get_figwidth() > WIDE / 2 else 1
    if handles:
        place = {"loc": "outside lower center", "ncols": columns, "fontsize": SMALL}
        figure.legend(handles.values(), handles.keys(), **place)


def label_beside(ax: Axes, text: str, at: tuple[float, float]) -> None:
    """A label beside the mark at `at` (data), on the side where it covers least."""
    leader = {"arrowstyle": "-", "color": CONTEXT, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4}
    look = {"textcoords": "offset points", "fontsize": SMALL, "arrowprops": leader}
    ax.annotate(text, at, (0, 0), **look).set(label=BESIDE, in_layout=False)


def _arrange(ax):
    """Put each label made by `label_beside` on the side of its mark where it covers least."""
    from matplotlib.path import Path as Line

    labels = [t for t in ax.texts if t.get_label() == BESIDE]
    taken = [t.get_window_extent() for t in ax.texts if t not in labels and t.get_text()]
    arrows = [[t.xy, t.xyann] for t in ax.texts if not t.get_text()]
    lines = [Line(ax.transData.transform(arrow)) for arrow in arrows]
    for drawn in (x for x in ax.collections if hasattr(x, "get_segments")):
        lines += [Line(drawn.get_transform().transform(s)) for s in drawn.get_segments() if len(s)]
    marks = []
    for line in (x for x in ax.lines if x.zorder > 0):
        path = line.get_transform().transform_path(line.get_path())
        lines += [path] * (line.get_linestyle() != "None")
        marks += list(path.vertices) if line.get_marker() not in ("None", "") else []

    def cost(text, place):
        box = _moved(text, place).padded(5)
        inside = ax.bbox.count_contains(box.corners())
        covered = 9 * box.count_overlaps(taken) + 6 * (box.count_contains(marks) if marks else 0)
        crossed = sum(path.intersects_bbox(box, False) for path in lines)
        return covered + crossed + 9 * (4 - inside) + place[0] / 10

    for text in labels:
        places = [(step, *side) for step in STEPS for side in SIDES]
        best = min(places, key=lambda place: cost(text, place))
        taken.append(_moved(text, best))
        text.arrow_patch.set_visible(best[0] > STEPS[0])


def _moved(text, place):
    """Move a label to a place (step, across, up); return its box there."""
    from matplotlib.text import Text

    step, across, up = place
    text.set(ha=("center", "left", "right")[across], va=("center", "bottom", "top")[up])
    text.set_position((step * across, step * up))
    return Text.get_window_extent(text)


# ---- charts


def dots(
    ax: Axes,
    frame: pd.DataFrame,
    *,
    order: Sequence[str] = (),
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
    kinds, place = (
        list(dict.fromkeys(series)),
        {row: -i for i, row in enumerate(order, 1 - len(order))},
    )
    slot = series.map(kinds.index).where(frame["value"].notna()).astype(float)
    slot = slot.groupby(frame["row"]).rank("dense")
    many = slot.groupby(frame["row"]).transform("max")
    shift = ((many + 1) / 2 - slot) * min(0.26, 0.8 / max(many.max(), 1))
    frame = frame.assign(y=frame["row"].map(place) + shift)
    free = cycle(m for m in FILLED if m not in {MARKS[k][0] for k in kinds if k in MARKS})
    for kind in kinds:
        marker, face = MARKS.get(kind) or (next(free), INK)
        part = frame[series == kind]
        look = {"fmt": marker, "markerfacecolor": face, "markersize": 5.5, "linewidth": 1}
        ax.errorbar(
            part["value"], part["y"], xerr=_reach(part), label=label(kind), **look, **WHISKERS
        )
    ax.set_yticks(list(place.values()), [wrapped(row, 24) for row in place])
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlim(limits)
    counts = frame.groupby("row")["value"].count()
    for row in counts.index[counts == 0]:
        _note(ax, 0.01, place[row], transform=ax.get_yaxis_transform())
    return titled(ax, **labels)


def _reach(rows):
    """How far intervals reach below and above their values, 0 where there is none."""
    ends = rows["value"] - rows["low"], rows["high"] - rows["value"]
    return [end.fillna(0).clip(lower=0) for end in ends]


def plane(ax: Axes, frame: pd.DataFrame, x: str, y: str, **labels: str) -> Axes:
    """Points in the plane of two rates in percent, the columns `x` and `y` of a table.

    frame: row, column, source, value, low, high, and label (text beside the mark), shape (its
    kind, for the legend, or empty) and origin (the row that an arrow comes from, or empty). One
    mark with intervals for each row, in its source's colour; marks in one place share a label.
    The chart names rows that lack a rate. Dashed lines join points of equal mean.
    """
    for mean in range(10, 100, 10):
        least, most = max(0, 2 * mean - 100), min(100, 2 * mean)
        line = {"color": CONTEXT, "linestyle": "--", "linewidth": 0.6, "zorder": 0}
        ax.plot([least, most], [most, least], **line)
        box = {"backgroundcolor": CARD, "bbox": {"pad": 0.6, "color": CARD}, "zorder": 0.5}
        _note(ax, least + 2, most - 2, str(mean), ha="center", **box)
    keys, numbers = ["source", "row"], ["value", "low", "high"]
    frame = floats(frame)
    ups, alongs = (frame[frame["column"] == c].set_index(keys) for c in (y, x))
    kinds, places, names, lost = list(dict.fromkeys(frame["shape"])), {}, {}, []
    for source, row in ups.index:
        up, along = ups.loc[[(source, row)]], alongs.loc[[(source, row)]]
        at, about = (along["value"].item(), up["value"].item()), up.drop(columns=numbers).iloc[0]
        if any(v != v for v in at):
            lost.append(row)
            continue
        places[row] = at
        if about["origin"] in places:
            look = {"arrowstyle": "->", "color": CONTEXT, "linewidth": 0.8}
            look |= {"shrinkA": 5, "shrinkB": 5}
            ax.annotate("", at, places[about["origin"]], zorder=1, arrowprops=look)
        ax.errorbar(
            *at,
            xerr=_reach(along),
            yerr=_reach(up),
            fmt=SHAPES[kinds.index(about["shape"])],
            markerfacecolor=MARKS.get(source, ("o", INK))[1],
            label=label(source) + (about["shape"] and f": {about['shape']}"),
            **WHISKERS,
        )
        names.setdefault(at, {})[about["label"]] = None
    for at, (first, *more) in names.items():
        several = f"{first} and {len(more)} more"
        label_beside(ax, several if len(more) >= MOST else "\n".join([first, *more]), at)
    if lost:
        text = "not shown, since a rate has no value:\n" + "\n".join(lost)
        _note(ax, 0.01, 0.01, text, transform=ax.transAxes, va="bottom")
    ax.set(xlim=(-3, 106), ylim=(-3, 106))  # room for labels
    ax.grid(False)
    return titled(ax, **labels)


def heat(
    ax: Axes, frame: pd.DataFrame, *, signed: bool = False, digits: int = 2, **labels: str
) -> Axes:
    """A matrix of shares or ratios with its values written in: rows and columns as they come.

    frame: row, column, value; a missing value leaves its cell empty, and a row or column without
    any says so. signed: of changes, losses in red and gains in blue; the least of each column is
    bold.
    """
    frame = floats(frame)
    rows, columns = dict.fromkeys(frame["row"]), dict.fromkeys(frame["column"])
    wide = frame.pivot(index="row", columns="column", values="value").loc[[*rows], [*columns]]
    texts = wide.map(lambda v: "" if v != v else f"{v:{'+' * signed}z.{digits}f}")
    if signed:
        texts = texts.map(lambda t: (t[1:] if not t.strip("+0.") else t).replace("-", "\u2212"))
    _matrix(ax, wide, texts, signed)
    ax.set_xticks(ax.get_xticks(), [wrapped(column, 10) for column in wide])
    if signed:
        lowest = wide.eq(wide.min()) & (wide.eq(wide.min()).sum() == 1)
        for text, bold in zip(ax.texts, lowest.to_numpy().ravel()[wide.notna().to_numpy().ravel()]):
            text.set_fontweight("bold" if bold else "normal")
    for place in wide.isna().all(axis=1).to_numpy().nonzero()[0]:
        _note(ax, len(columns) / 2, place + 0.5, ha="center")
    for place in wide.isna().all().to_numpy().nonzero()[0] if len(columns) > 1 else ():
        _note(ax, place + 0.5, len(rows) / 2, ha="center", rotation=90)
    return titled(ax, **labels)


def confusion(ax: Axes, counts: ArrayLike, values: Sequence, **labels: str) -> Axes:
    """A confusion matrix with its counts (k, k) written in, shaded by share of the row.

    Labels down, judgements across, both in the order of `values`.
    """
    import numpy as np
    import pandas as pd

    counts = pd.DataFrame(counts, values, values)
    _matrix(ax, counts / np.maximum(counts.to_numpy().sum(1, keepdims=True), 1), counts)
    return titled(ax, **{"xlabel": "judged", "ylabel": "labelled", **labels})


def confusions(counts: dict[str, ArrayLike], values: Sequence, **labels: str) -> Figure:
    """Confusion matrices {title: counts} in one figure, two beside each other."""
    down = (len(counts) + 1) // 2
    several, axes = figure((6.4, 3.1 * down), down, 2)
    for ax in axes.flat[len(counts) :]:
        ax.remove()
    for ax, (title, each) in zip(axes.flat, counts.items()):
        confusion(ax, each, values, title=title, **labels)
    return several


def _matrix(ax, values, texts, signed=False):
    """Cells in greys, or from red to blue if `signed`, with their texts, as seaborn draws them."""
    import seaborn
    from matplotlib.colors import LinearSegmentedColormap

    # black is 1.4: ratios exceed 1, and a share of 1 should not drown its neighbours in print
    look, text = {"vmin": 0, "vmax": 1.4, "cmap": "Greys"}, {"fontsize": SMALL}
    if signed:
        ramp = LinearSegmentedColormap.from_list("", ["#d18570", CARD, "#6f9fb3"])
        most = values.abs().max().max() or 1
        look = {"vmin": -most, "vmax": most, "cmap": ramp}
        text = {"fontsize": SMALL, "color": INK}
    look |= {"cbar": False, "linewidths": 0.5, "linecolor": GRID, "clip_on": False}
    seaborn.heatmap(values, annot=texts, fmt="", ax=ax, annot_kws=text, **look)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(rotation=0)
    ax.grid(False)
