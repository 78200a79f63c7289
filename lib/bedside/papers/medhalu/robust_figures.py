"""MedHalu: figures of notebook 04, drawn from regions of rates and from rows of its tables."""

import numpy as np
import pandas as pd

from bedside.write import plots

from .data import DATASETS
from .printed import RATES, SIX, TEN
from .regions import TOLD

LOOKS = {  # colour, outline without a reason, hatch with one: told apart in grey print too
    "LLaMA-2": (plots.CONTEXT, ":", "...."),
    "GPT-3.5": (plots.RED, "--", "////"),
    "GPT-4": (plots.BLUE, "-", None),
    "Experts": (plots.INK, "-", None),
    "Laypeople": (plots.INK, "-.", None),
}


def planes(corners):
    """Regions of `regions.every` by base set: outlined without a reason, filled with one."""
    figure, (axes,) = plots.figure((plots.WIDE, 4.2), 1, 3)
    for ax, dataset in zip(axes, DATASETS):
        part = corners[(corners["dataset"] == dataset) & corners["table"].isin([SIX, TEN])]
        for (table, who), region in part.groupby(["table", "row"], sort=False):
            ink, dash, hatch = LOOKS[who]
            y, x = (region[rate] for rate in RATES)
            look = {"edgecolor": ink, "facecolor": "none", "linestyle": dash, "linewidth": 1.4}
            if table == TEN:
                look = {"edgecolor": plots.CARD, "facecolor": ink, "hatch": hatch, "linewidth": 0}
            ax.fill(x, y, label=who + TOLD * (table == TEN), **look)
        ax.plot([0, 1], [1, 0], color=plots.CONTEXT, linestyle=":", linewidth=0.8)
        x, y = (part[rate] for rate in reversed(RATES))
        ax.set(xlim=(x.min() - 0.07, x.max() + 0.07), ylim=(y.min() - 0.07, y.max() + 0.07))
        ax.set_xlabel("specificity")
        ax.set_title(dataset, loc="left", pad=19)
    plots.titled(axes[0], DATASETS[0], "specificity", "sensitivity")
    plots.legend_below(figure)
    return figure


SHADES = {  # of the stretches of `weights`: colour, whether beyond chance
    "first": (plots.tint(plots.BLUE, 0.35), plots.BLUE),
    "second": (plots.tint(plots.RED, 0.35), plots.RED),
}
EQUAL = {0.25: "25%", 0.5: "50%", 0.75: "75%"}  # shares of hallucinated answers, equal costs


def weights(rows, pairs):
    """By base set and pair, the weights of a miss at which the first or the second costs less.

    rows: of the notebook's `turning`; pairs: (first, second), those that are drawn.
    """
    wide = rows.pivot(index="row", columns="column", values="value").astype(float)
    size = plots.WIDE, 0.3 * len(pairs) + 1.4
    figure, (axes,) = plots.figure(size, 1, 3, sharey=True)
    for ax, dataset in zip(axes, DATASETS):
        for y, (a, b) in enumerate(reversed(pairs)):
            _strip(ax, y, wide.loc[f"{dataset}: {a}, {b}"])
        for share, text in EQUAL.items():
            at = share / (1 - share)
            ax.axvline(at, color=plots.INK, linewidth=0.7, linestyle=":")
            look = {"fontsize": plots.SMALL, "color": plots.SOFT, "ha": "center", "va": "bottom"}
            ax.text(at, len(pairs) - 0.45, text, **look)
        ax.set_xscale("log")
        ax.set(xlim=(0.1, 30), ylim=(-0.6, len(pairs) + 0.1), xlabel="weight of a miss")
        ax.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
        ax.set_yticks(range(len(pairs)), [", ".join(pair) for pair in reversed(pairs)])
        ax.tick_params(left=False)
        ax.set_title(dataset, loc="left")
        ax.grid(visible=False)
    plots.legend_below(figure)
    return figure


def _strip(ax, y, row):
    """Stretches of one pair: pale where rounding leaves one ahead, full where beyond chance."""
    ax.plot([0.1, 30], [y, y], color=plots.GRID, linewidth=1, zorder=0)
    for side, (pale, full) in SHADES.items():
        for name, ink in ((side, pale), (f"{side}, beyond chance", full)):
            ends = row[f"{name}, from"], row[f"{name}, to"]
            if np.isfinite(ends).all():
                hatch = "////" if side == "second" else None  # told apart in grey print
                look = {"color": ink, "height": 0.6, "hatch": hatch, "edgecolor": plots.CARD}
                label = f"the {side} costs less" + ", beyond chance" * ("," in name)
                ax.barh(y, ends[1] - ends[0], left=ends[0], linewidth=0, label=label, **look)


def label_planes(turns, marks):
    """By base set, the labels' errors at which rankings turn, on `plots.regions`.

    turns: dataset, name, specificity, sensitivity; marks: dataset, label, source and both rates.
    """
    names = pd.DataFrame({"name": turns["name"].unique(), "specificity": np.nan})
    figure, (axes,) = plots.figure((plots.WIDE, 4), 1, 3)
    for ax, dataset in zip(axes, DATASETS):
        mine = pd.concat([names, turns[turns["dataset"] == dataset]])  # one look for each name
        known = marks[marks["dataset"] == dataset]
        told = "labels' sensitivity" if dataset == DATASETS[0] else " "
        about = {"title": dataset, "xlabel": "labels' specificity", "ylabel": told}
        plots.regions(ax, mine.reindex(columns=turns.columns), known, least=0.3, **about)
        ax.set_ylim(0.7, 1.02)
    plots.legend_below(figure)
    return figure


def two_curves(frames: dict[str, pd.DataFrame], by):
    """Specification curves of several results side by side, {title: frame of `plots.choices`}."""
    size = plots.WIDE, 6.2
    figure, axes = plots.figure(size, 2, len(frames), height_ratios=[1, 1.1])
    for pair, (title, frame) in zip(axes.T, frames.items()):
        plots.choices(pair, frame, by, title=title)
    for ax in axes[1, 1:]:
        ax.tick_params(labelleft=False)
    plots.legend_below(figure)
    return figure
