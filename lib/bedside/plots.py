"""The figures' common look: published marks are hollow, computed ones filled, so that grey print tells them apart."""

from .published import SOURCES

MARKS = {
    "published": ("D", "white"),
    "published, version 1": ("D", "white"),
    "published, version 2": ("s", "white"),
    "recomputed": ("^", "0.45"),
    "raw": ("o", "#1b6f8a"),
    "run": ("o", "#1b6f8a"),
}
HATCH = {"published": "////", "recomputed": "....", "raw": "", "run": ""}


def figure(size, rows=1, columns=1, **options):
    """A figure and its axes (rows, columns) in the project's style; size in inches."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(
        {
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
    )
    made = Figure(size, layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False, **options)


class Picture:
    """A picture (PNG) as a notebook shows it."""

    def __init__(self, png):
        self.png = png

    def _repr_png_(self):
        return self.png

    def __repr__(self):
        return "(figure)"


def drawn(figure):
    """A figure as a Picture, without a file."""
    import io

    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=110)
    return Picture(made.getvalue())


def save(figure, path, note=""):
    """Write path.png and path.svg without dates, so that the same numbers give the same bytes; return the Picture."""
    if note:
        figure.suptitle(note, fontsize=7, color="0.35", x=0.01, ha="left")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:  # the layout's solver differs in the last bits from run to run
        ax.set_position([round(v, 4) for v in ax.get_position(original=True).bounds])
    figure.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    return Picture(path.with_suffix(".png").read_bytes())


def label(series):
    """A series' name for the legend."""
    base, _, more = series.partition(", ")
    return SOURCES.get(base, base) + (f", {more}" if more else "")


def dots(ax, frame, *, title="", xlabel="", order=None, limits=None):
    """Dots with intervals, one line for each row; `series` (or `source`) gives the mark.

    frame: row, value, low, high, and series or source. Rows from the top in `order` (default: as they come).
    limits: of the x axis; a scale is shown whole, so that a narrow spread doesn't look wide.
    """
    order = list(order or dict.fromkeys(frame["row"]))
    series = frame["series"] if "series" in frame else frame["source"]
    place = {row: len(order) - 1 - i for i, row in enumerate(order)}
    kinds = list(dict.fromkeys(series))
    for k, kind in enumerate(kinds):
        part = frame[series == kind]
        shift = (k - (len(kinds) - 1) / 2) * -0.16
        y = [place[r] + shift for r in part["row"]]
        marker, face = MARKS.get(kind, ("o", "#1b6f8a"))
        err = [
            (part["value"] - part["low"]).fillna(0).clip(lower=0),
            (part["high"] - part["value"]).fillna(0).clip(lower=0),
        ]
        ax.errorbar(
            part["value"],
            y,
            xerr=err,
            fmt=marker,
            markerfacecolor=face,
            markeredgecolor="black",
            color="black",
            markersize=5.5,
            capsize=2,
            linewidth=1,
            label=label(kind),
        )
    ax.set_yticks(list(place.values()), list(place))
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlim(limits)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    return ax


def bars(ax, frame, *, title="", xlabel="", by="source", digits=0):
    """Horizontal bars with their values, grouped by `by`; published ones hatched."""
    rows, kinds = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame[by]))
    height = 0.8 / len(kinds)
    for k, kind in enumerate(kinds):
        part = frame[frame[by] == kind].set_index("row")["value"].reindex(rows)
        y = [
            len(rows) - 1 - i + (len(kinds) - 1) / 2 * height - k * height for i in range(len(rows))
        ]
        shade = "white" if kind == "published" else ["#1b6f8a", "#9cc5d1", "0.75", "0.45"][k % 4]
        drawn = ax.barh(
            y,
            part.fillna(0),
            height * 0.9,
            color=shade,
            edgecolor="black",
            linewidth=0.6,
            hatch=HATCH.get(kind, ["", "...", "xxx", "\\\\"][k % 4]),
            label=label(kind),
        )
        ax.bar_label(
            drawn, ["" if v != v else f"{v:.{digits}f}" for v in part], padding=2, fontsize=7
        )
    ax.set_yticks(range(len(rows) - 1, -1, -1), rows)
    ax.margins(x=0.12)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    return ax


def confusion(ax, counts, values, *, title="", rows="labelled", columns="judged"):
    """A confusion matrix with its counts written in; shading by share of the row."""
    import numpy as np

    counts = np.asarray(counts)
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    ax.imshow(share, cmap="Greys", vmin=0, vmax=1.4)
    ax.grid(False)
    for i, j in np.ndindex(counts.shape):
        ax.text(
            j,
            i,
            str(counts[i, j]),
            ha="center",
            va="center",
            color="black" if share[i, j] < 0.8 else "white",
        )
    ax.set_xticks(range(len(values)), values)
    ax.set_yticks(range(len(values)), values)
    ax.set_xlabel(columns)
    ax.set_ylabel(rows)
    ax.set_title(title, loc="left")
    return ax


SHAPES = "osD^vP*X"


def plane(ax, frame, x, y, *, title="", xlabel="", ylabel=""):
    """Points in the plane of two rates in percent, the columns `x` and `y` of a table: one for each row, with intervals.

    frame: row, column, source, value, low, high, and label (text beside the mark), shape (its kind, for the legend) and
    origin (the row that an arrow comes from, or empty). Published marks are hollow. Dashed lines join points with the
    same mean of x and y.
    """
    for mean in range(10, 100, 10):
        ax.plot(
            [max(0, 2 * mean - 100), min(100, 2 * mean)],
            [min(100, 2 * mean), max(0, 2 * mean - 100)],
            color="0.8",
            linestyle="--",
            linewidth=0.6,
            zorder=0,
        )
        ax.annotate(
            str(mean),
            (max(0, 2 * mean - 100) + 2, min(100, 2 * mean) - 2),
            fontsize=6,
            color="0.4",
            ha="center",
            va="center",
            backgroundcolor="white",
            bbox={"pad": 0.6, "color": "white"},
        )
    wide = {c: frame[frame["column"] == c].set_index(["source", "row"]) for c in (x, y)}
    kinds, places = list(dict.fromkeys(frame["shape"])), {}
    for key, r in wide[y].iterrows():
        pair, colour = (wide[x].loc[key], r), "white" if key[0] == "published" else "#1b6f8a"
        places[key[1]] = tuple(p["value"] for p in pair)
        if r["origin"] in places:
            ax.annotate(
                "",
                places[key[1]],
                places[r["origin"]],
                zorder=1,
                arrowprops={
                    "arrowstyle": "->",
                    "color": "0.55",
                    "linewidth": 0.8,
                    "shrinkA": 5,
                    "shrinkB": 5,
                },
            )
        reach = [
            (
                [[max(p["value"] - p["low"], 0)], [max(p["high"] - p["value"], 0)]]
                if p["low"] == p["low"]
                else None
            )
            for p in pair
        ]
        ax.errorbar(
            *places[key[1]],
            xerr=reach[0],
            yerr=reach[1],
            fmt=SHAPES[kinds.index(r["shape"])],
            color="black",
            markerfacecolor=colour,
            markeredgecolor="black",
            markersize=7,
            capsize=2,
            linewidth=0.8,
            label=f"{label(key[0])}: {r['shape']}",
        )
        if r["label"]:
            ax.annotate(
                r["label"], places[key[1]], xytext=(7, 4), textcoords="offset points", fontsize=7
            )
    ax.set_xlim(-2, 102)
    ax.set_ylim(-2, 102)
    ax.grid(False)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def growth(ax, frame, *, title="", xlabel="", ylabel=""):
    """How counts grow: one stepped line for each column, in the frame's order of rows; line styles tell them apart."""
    for style, (name, part) in zip(("-", "--", ":", "-."), frame.groupby("column", sort=False)):
        ax.step(
            range(1, len(part) + 1),
            part["value"],
            where="post",
            color="black",
            linestyle=style,
            label=name,
        )
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    ax.set_ylim(0)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def heat(ax, frame, *, title="", outlined=()):
    """A matrix of shares from 0 to 1 with its values written in: rows and columns as they come; `outlined` rows have a frame."""
    rows, columns = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame["column"]))
    wide = frame.pivot(index="row", columns="column", values="value").reindex(
        index=rows, columns=columns
    )
    ax.imshow(wide.fillna(0), cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
    ax.grid(False)
    for i, row in enumerate(rows):
        for j, value in enumerate(wide.loc[row]):
            ax.text(
                j,
                i,
                "" if value != value else f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if value > 0.75 else "black",
                fontweight="bold" if row in outlined else None,
            )
        if row in outlined:
            ax.plot(
                [-0.5, len(columns) - 0.5, len(columns) - 0.5, -0.5, -0.5],
                [i - 0.5, i - 0.5, i + 0.5, i + 0.5, i - 0.5],
                color="#1b6f8a",
                linewidth=2,
                clip_on=False,
            )
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_title(title, loc="left")
    return ax


def points(ax, frame, x, y, *, title="", xlabel="", ylabel=""):
    """Marks in the plane of two changes, the columns `x` and `y`, with lines at 0: one for each row, its `label` beside it; published ones hollow."""
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.axvline(0, color="0.6", linewidth=0.8)
    for source, part in frame.groupby("source", sort=False):
        marker, face = MARKS[source]
        ax.plot(
            part[x],
            part[y],
            marker,
            markerfacecolor=face,
            markeredgecolor="black",
            label=label(source),
        )
    places = [(at, part) for at, part in frame.groupby([x, y])]
    width = frame[x].max() - frame[x].min() or 1
    for k, (at, part) in enumerate(
        places
    ):  # under the mark where the next one is near, else over it
        first, *more = part["label"]
        under = k + 1 < len(places) and places[k + 1][0][0] - at[0] < 0.1 * width
        left = (part["source"] == "published").all() or at[0] < frame[x].min() + 0.3 * width
        ax.annotate(
            f"{first} and {len(more)} more" if len(more) > 1 else "\n".join([first, *more]),
            at,
            fontsize=6.5,
            xytext=(6 if left else -6, -4 if under else 4),
            textcoords="offset points",
            ha="left" if left else "right",
            va="top" if under else "bottom",
        )
    ax.xaxis.get_major_locator().set_params(nbins=6)
    ax.margins(0.15)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def curves(ax, frame, x, *, title="", xlabel="", ylabel="", ticks=None):
    """Means along `x`, one line for each series with its interval as a band; published ones are hollow marks without lines.

    frame: series, value, low, high, the column `x`, and label (text beside a mark, or empty). ticks: of a logarithmic x axis.
    """
    found = {name: part for name, part in frame.groupby("series", sort=False)}
    printed = [name for name in found if name.startswith("published")]
    for marker, name in zip("Ds^v", printed):
        part = found.pop(name)
        ax.plot(
            part[x],
            part["value"],
            marker,
            markerfacecolor="white",
            markeredgecolor="black",
            label=label(name),
        )
        for r in part[part["label"] != ""].to_dict("records"):
            ax.annotate(
                r["label"],
                (r[x], r["value"]),
                xytext=(6, -3),
                textcoords="offset points",
                fontsize=7,
            )
    for style, (name, part) in zip(("-", "--", ":", "-."), found.items()):
        ax.plot(part[x], part["value"], color="#1b6f8a", linestyle=style, label=name)
        ax.fill_between(
            part[x].astype(float),
            part["low"],
            part["high"],
            color="#1b6f8a",
            alpha=0.15,
            linewidth=0,
        )
    if ticks:
        ax.set_xscale("log")
        ax.set_xlim(right=5 * frame[x].max())  # room for the labels
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
    ax.set_ylim(-0.02, 1.02)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def legend_below(figure):
    """One legend for the whole figure, under the axes, without repetitions."""
    seen = {}
    for ax in figure.axes:
        for handle, text in zip(*ax.get_legend_handles_labels()):
            seen.setdefault(text, handle)
    figure.legend(
        seen.values(), seen.keys(), loc="outside lower center", ncols=min(len(seen), 3), fontsize=8
    )


def stacked(ax, frame, *, title="", xlabel=""):
    """Stacked horizontal bars: one for each row, its parts by column, from dark to light, the shares written in."""
    rows, parts = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame["column"]))
    wide = frame.pivot(index="row", columns="column", values="value").reindex(
        index=rows, columns=parts
    )
    left = 0
    for k, part in enumerate(parts):
        grey = 0.25 + 0.75 * k / max(len(parts) - 1, 1)
        drawn = ax.barh(
            range(len(rows) - 1, -1, -1),
            wide[part],
            left=left,
            color=str(grey),
            edgecolor="black",
            linewidth=0.6,
            label=part,
        )
        ax.bar_label(
            drawn,
            [f"{v:.0f}" if v >= 4 else "" for v in wide[part]],
            label_type="center",
            fontsize=7,
            color="white" if grey < 0.5 else "black",
        )
        left = left + wide[part]
    ax.set_yticks(range(len(rows) - 1, -1, -1), rows)
    ax.set_xlim(0, 100)
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    return ax


def histogram(ax, frame, *, title="", xlabel="", ylabel=""):
    """Bars of `value` between the edges `left` and `right`."""
    ax.bar(
        frame["left"],
        frame["value"],
        frame["right"] - frame["left"],
        align="edge",
        color="#9cc5d1",
        edgecolor="black",
        linewidth=0.5,
    )
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def spread(ax, mean, deviation, y, source):
    """A mean with one standard deviation to both sides, at height y; published ones hollow."""
    marker, face = MARKS[source]
    ax.errorbar(
        mean,
        y,
        xerr=deviation,
        fmt=marker,
        markerfacecolor=face,
        markeredgecolor="black",
        color="black",
        markersize=5.5,
        capsize=2,
        linewidth=1,
        label=f"{label(source)}: mean and standard deviation",
    )
    return ax
