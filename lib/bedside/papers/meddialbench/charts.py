"""Charts of this study alone: lines over few levels, and the plane of two changes."""

from itertools import cycle

from bedside.write import plots

APART = 0.12  # of a level: intervals of several series stand side by side, not on one another


def slopes(ax, frame, x, ink, ends, title):
    """One line for each series over a few levels, the whole numbers of the column `x`.

    frame: series, source, value, low, high, `x`. Published series are hollow marks on lines in
    `ink`; this run's are filled and stand beside their level, with intervals. ends: write names and
    values at both ends of published lines, at least so far apart, with so much room (of `x`).
    """
    frame = plots.floats(frame)
    published = frame[frame["source"] == "published"]
    hollow = {"markerfacecolor": plots.CARD, "markersize": 5}
    for _, part in published.groupby("series", sort=False):
        ax.plot(part[x], part["value"], "o-", color=ink, linewidth=1.2, **hollow)
    if ends and len(published):
        gap, room = ends
        _named_ends(ax, published, x, ink, gap)
        ax.set_xlim(frame[x].min() - room, frame[x].max() + room)
    mine = frame[frame["source"] == "run"]
    series = dict.fromkeys(mine["series"])
    places = [side * APART * k for k in range(1, len(series) + 1) for side in (1, -1)]
    for shift, (dash, _), (name, (marker, face)) in zip(
        places, cycle(plots.DASHES), plots.marks(series).items()
    ):
        part = mine[mine["series"] == name]
        reach = part["value"] - part["low"], part["high"] - part["value"]
        yerr = [side.fillna(0).clip(lower=0) for side in reach]
        look = {"marker": marker, "markersize": 5, "color": face, "linestyle": dash}
        look |= {"linewidth": 1, "label": plots.label(name)}
        ax.errorbar(part[x] + shift, part["value"], yerr=yerr, **look)
    ax.set_xticks(sorted(set(frame[x])))
    ax.grid(axis="x", visible=False)
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    plots.if_empty(ax, frame["value"])
    plots.titled(ax, title)


def _named_ends(ax, frame, x, ink, gap):
    """Names and values at both ends of lines, moved apart where they would touch."""
    for at, side, form, look in (
        (frame[x].min(), -7, "{0} {1:z.1f}", {"ha": "right", "color": plots.INK}),
        (frame[x].max(), 7, "{1:z.1f} {0}", {"ha": "left", "color": ink, "fontweight": "bold"}),
    ):
        last = frame[frame[x] == at].sort_values("value")
        places = plots.apart(last["value"], gap)
        for place, r in zip(places, last.to_dict("records")):
            text = form.format(r["series"], r["value"])
            how = {"xytext": (side, 0), "textcoords": "offset points", "va": "center", **look}
            ax.annotate(text, (at, place), fontsize=plots.SMALL, annotation_clip=False, **how)


def points(ax, frame, x, y, red, **labels):
    """Marks in the plane of two changes, the columns `x` and `y`, with lines at 0.

    frame: source, `x`, `y` and label, the text beside the mark. Published ones are hollow.
    red (n,): which ones are red.
    """
    frame = frame.astype({x: float, y: float})
    ax.axhline(0, color=plots.CONTEXT, linewidth=0.8)
    ax.axvline(0, color=plots.CONTEXT, linewidth=0.8)
    for (source, told), part in frame.groupby(["source", red], sort=False):
        marker, face = plots.MARKS[source]
        look = {"markerfacecolor": face, "markeredgecolor": plots.RED if told else plots.INK}
        ax.plot(part[x], part[y], marker, label=plots.label(source), **look)
    for at, part in frame.groupby([x, y], sort=False):
        plots.label_beside(ax, "\n".join(dict.fromkeys(part["label"])), at)
    plots.if_empty(ax, frame[x] + frame[y])
    ax.xaxis.get_major_locator().set_params(nbins=6)
    ax.margins(0.15)
    plots.titled(ax, **labels)
