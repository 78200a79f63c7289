"""MedHalu: the figures that the three charts don't draw, and labels of the others' rows."""

import pandas as pd

from bedside.write import charts, plots

from .data import DATASETS
from .printed import RATES, SIX, TEN

LONGEST = dict(zip(DATASETS, [20, 200, 20]))  # words, of the histograms
BARS = 20
SERIES = {SIX: "alone (Table 6)", TEN: "with an expert's reason (Table 10)"}
LOOKS = {  # colour, outline without a reason, hatch with one: told apart in grey print too
    "LLaMA-2": (plots.CONTEXT, ":", "...."),
    "GPT-3.5": (plots.RED, "--", "////"),
    "GPT-4": (plots.BLUE, "-", None),
    "Experts": (plots.INK, "-", None),
    "Laypeople": (plots.INK, "-.", None),
}


def lengths(rows):
    """Histograms of the questions' words, with the mean that is printed and the computed one."""
    bars = rows.assign(left=rows["column"].str.extract(r"^from (\d+) words")[0].astype(float))
    bars = plots.floats(bars.dropna(subset="left"))
    sets = [d for d in DATASETS if d in set(bars["row"])]
    figure, (axes,) = plots.figure((plots.WIDE, 2.8), 1, len(sets))
    for ax, dataset in zip(axes, sets):
        part, look = bars[bars["row"] == dataset], {"edgecolor": plots.INK, "linewidth": 0.5}
        shade = plots.tint(plots.BLUE, 0.4)
        width = LONGEST[dataset] / BARS
        ax.bar(part["left"], part["value"], width, align="edge", color=shade, **look)
        means = rows[(rows["row"] == dataset) & (rows["column"] == "words, mean")]
        for source, mean in zip(means["source"], means["value"]):
            dash = "--" if source == "published" else "-"
            name = f"{plots.label(source)}: mean"
            ax.axvline(mean, color=plots.INK, linestyle=dash, label=name)
        plots.titled(ax, dataset, "words of a question", "% of questions")
    plots.legend_below(figure)
    return figure


def by_set(rows, **drawing):
    """`charts.forest` of one score, a panel for each base set; rows: `base set: evaluator`."""
    parts = rows["row"].str.split(": ", n=1)
    rows = rows.assign(column=parts.str[0], row=parts.str[1])
    return charts.forest(rows, columns=DATASETS, **drawing)


def rates(rows, **drawing):
    """`charts.forest` of rates behind Table 6, or behind Tables 6 and 10 a line for both."""
    parts = rows["row"].str.extract(r"^(.*), (Table \d+)$")
    names = parts[0].fillna(rows["row"].str.removeprefix("this run, all subsets: "))
    rows = rows.assign(row=names)
    if parts[1].nunique() > 1:
        rows["series"] = parts[1].map(SERIES).fillna("run")
    columns = [f"{rate}, %" for rate in RATES]
    order = sorted(dict.fromkeys(names), key=lambda name: name.partition(":")[0])  # base sets
    return charts.forest(rows, columns=columns, order=order, limits=(-3, 103), **drawing)


def planes(rows: pd.DataFrame, corners: pd.DataFrame, width: float = plots.WIDE):
    """Regions of `regions.every` by base set: outlined without a reason, filled with one."""
    figure, (axes,) = plots.figure((width, 4.2), 1, 3)
    for ax, dataset in zip(axes, DATASETS):
        part = corners[(corners["dataset"] == dataset) & corners["table"].isin([SIX, TEN])]
        for (table, who), region in part.groupby(["table", "row"], sort=False):
            ink, dash, hatch = LOOKS[who]
            y, x = (region[rate] for rate in RATES)
            look = {"edgecolor": ink, "facecolor": "none", "linestyle": dash, "linewidth": 1.4}
            if table == TEN:
                look = {"edgecolor": plots.CARD, "facecolor": ink, "hatch": hatch, "linewidth": 0}
            ax.fill(x, y, label=who + ", with a reason" * (table == TEN), **look)
        ax.plot([0, 1], [1, 0], color=plots.CONTEXT, linestyle=":", linewidth=0.8)
        x, y = (part[rate] for rate in reversed(RATES))
        ax.set(xlim=(x.min() - 0.07, x.max() + 0.07), ylim=(y.min() - 0.07, y.max() + 0.07))
        plots.titled(ax, dataset, "specificity", "sensitivity")
    plots.legend_below(figure)
    return figure
