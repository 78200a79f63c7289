"""MedDialBench: figures of notebook 06, drawn from rows of its tables."""

import numpy as np

from bedside.write import plots

from .figures import WORST, in_words, levels

UNITS = {  # of the harm of a pair beyond that of its levels, by scale
    "success multiplied": "log share",
    "risks added": "share",
    "odds of failure multiplied": "log odds",
    "failures multiplied": "log share",
}


AXES = {"x": "specificity", "y": "sensitivity"}


def scales(rows, design):
    """By scale, a pair's harm beyond its levels: mean, and the 95% intervals that overlaps allow.

    rows: column "scale: most" (interval of the largest standard error) or "scale: least". Thick:
    the narrowest interval that some overlap of cases gives; thin: the widest.
    """
    pairs = list(dict.fromkeys(rows["row"]))
    figure, (axes,) = plots.figure((plots.WIDE, 0.36 * len(pairs) + 1.3), 1, 4, sharey=True)
    for ax, (scale, unit) in zip(axes, UNITS.items()):
        ax.axvline(0, color=plots.INK, linewidth=1.2)
        for y, pair in enumerate(reversed(pairs)):
            ink = plots.RED if WORST in levels(design, pair) else plots.SOFT
            for end, width in (("most", 1), ("least", 4)):
                r = rows[(rows["row"] == pair) & (rows["column"] == f"{scale}: {end}")].iloc[0]
                look = {"color": ink, "linewidth": width, "solid_capstyle": "butt"}
                ax.plot([r["low"], r["high"]], [y, y], **look)
            ax.plot(r["value"], y, "o", color=plots.INK, markersize=5)
        ax.set_title(scale.replace(" of failure", ""), loc="left", fontsize=plots.SMALL + 1)
        ax.set_xlabel(unit)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        reach = 1.05 * max(map(abs, ax.get_xlim()))
        ax.set_xlim(-reach, reach)
    names = [in_words(design, pair) for pair in reversed(pairs)]
    axes[0].set_yticks(range(len(pairs)), names)
    return figure


def ratios(frame, by):
    """Specification curve of a ratio around 1; frame: value and a column for each of `by`."""
    figure, axes = plots.figure((plots.WIDE, 6.2), 2, 1, height_ratios=[1.1, 1.4])
    beside = frame.assign(value=frame["value"].astype(float) - 1, low=np.nan, high=np.nan)
    plots.choices(axes[:, 0], beside, by, title="Loss by pollution / loss by deficit")
    ticks = np.arange(-1, np.ceil(beside["value"].max()) + 0.5)
    axes[0, 0].set_yticks(ticks, [f"{t + 1:g}" for t in ticks])
    plots.legend_below(figure)
    return figure


def judge(curves, judges):
    """Where results turn in the plane of a judge's errors in dialogues with fabricating."""
    figure, ((ax,),) = plots.figure((plots.WIDE, 4.6))
    where = {f"{axis}label": f"{rate} under fabricating" for axis, rate in AXES.items()}
    plots.regions(ax, curves, judges, least=0.4, **where)
    plots.legend_right(ax)
    return figure
