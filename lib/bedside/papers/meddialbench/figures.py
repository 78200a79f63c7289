"""MedDialBench: its own figures, drawn from rows of tables."""

import math

from bedside.write import charts, plots

from .design import BASELINE
from .printed import MODELS
from .scores import WORST

HOLLOW = {"markerfacecolor": plots.CARD}
SAID = {  # levels in the words of a figure
    "partial_understanding": "half aware",
    "complete_denial": "denies",
    "occasional_contradiction": "contradicts",
    "fabricating": "fabricates",
    "withholding": "withholds",
}


def said(level):
    """A level as a figure names it."""
    return SAID.get(level, level.replace("_", " "))


def levels(design, configuration):
    """The levels of a configuration, one of the paper's or of a run of one's own."""
    return design.combinations.get(configuration) or tuple(configuration.split(" + "))


def in_words(design, configuration):
    """A configuration in words: its levels, and the name of a combination that has one."""
    name = f" ({configuration})" if configuration in design.combinations else ""
    return " + ".join(map(said, levels(design, configuration))) + name


def dose(rows, design, printed, width=plots.WIDE):
    """Figure 3: accuracy by severity, a panel for each dimension, the largest loss first and red.

    rows: with dimension and severity; this run's are drawn. printed: accuracy as shares,
    configurations by models; the models are hollow, their mean is thick.
    """
    means, panels = printed.mean(axis=1), {}
    for d in design.dimensions:
        names = [BASELINE, *design.of(d)[1:]]
        panels[d] = means.reindex(names)
    lost = {d: mean.iloc[0] - mean.iloc[-1] for d, mean in panels.items()}
    order = sorted(panels, key=lambda d: -lost[d])
    across = len(order) if width > plots.NARROW else 2
    down = math.ceil(len(order) / across)
    figure, axes = plots.figure((width, 3.2 * down), down, across, sharey=True)
    for ax in axes.flat[len(order) :]:
        ax.remove()
    for ax, d in zip(axes.flat, order):
        ink = plots.RED if d == order[0] else plots.CONTEXT
        names, steps = panels[d].index, range(len(panels[d]))
        for _, right in printed.reindex(names).items():
            ax.plot(steps, right, "o-", color=ink, linewidth=1, markersize=4, **HOLLOW)
        ax.plot(steps, panels[d], color=plots.INK, linewidth=2.2)
        _beside(ax, rows[(rows["dimension"] == d) & (rows["source"] == "run")])
        change = f"{-100 * lost[d]:+.1f} points".replace("-", "−") if lost[d] == lost[d] else ""
        plots.titled(ax, f"{design.dimensions[d]['title']}\n{change}")
        words = ["cooperative", *map(said, names[1:])]
        ax.set_xticks(steps, words, rotation=90)
        ax.set_xlim(-0.3, len(words) - 0.7)
    plots.legend_below(figure)
    return figure


def _beside(ax, rows):
    """This run's doctors beside their level, with intervals."""
    rows = plots.floats(rows)
    for k, (name, part) in enumerate(rows.groupby("column", sort=False)):
        x = part["severity"] + 0.12 * (-1) ** k * (1 + k // 2)
        reach = [(part["value"] - part["low"]).fillna(0), (part["high"] - part["value"]).fillna(0)]
        ax.errorbar(
            x, part["value"], yerr=reach, marker="osv^PX"[k % 6], label=name, color=plots.BLUE
        )


def interactions(rows, design):
    """Figure 4: O/E by combination, pairs with WORST on top. Ticks: the paper's single models.

    rows: columns "O/E" and "O/E, model"; this run's doctors are drawn, if their ratio is above 0.
    """
    rows = rows[rows["value"] > 0]
    model = rows["column"].str.removeprefix("O/E").str.removeprefix(", ")
    rows = rows.assign(column="O/E", series=rows["source"].where(rows["source"] != "run", model))
    single = (rows["source"] == "recomputed") & (model != "")
    printed = rows[rows["source"] == "published"].set_index("row")["value"]
    worst = {c: WORST in levels(design, c) for c in rows["row"]}
    order = sorted(worst, key=lambda c: (not worst[c], printed.get(c, math.inf)))
    how = {"references": {"O/E": 1}, "xlabel": "observed / expected accuracy (log scale)"}
    figure = charts.forest(rows[~single], order=order, **how)
    (ax,) = figure.axes
    height = [len(order) - 1.3 - order.index(c) for c in rows.loc[single, "row"]]
    ax.plot(rows.loc[single, "value"], height, "|", color=plots.SOFT, markersize=7)
    ax.set_yticks(ax.get_yticks(), [in_words(design, c) for c in order])
    ax.set_xscale("log")
    ax.set_xticks(*zip(*((t, f"{t:g}") for t in (0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3))), minor=False)
    ax.minorticks_off()
    return figure


def profiles(rows, design):
    """Change of accuracy by configuration and model, the largest mean loss on top; rows: losses."""
    rows = rows.assign(value=-100 * rows["value"].astype(float))
    paper = rows[rows["source"] == "recomputed"]
    order = paper.groupby("row")["value"].mean().sort_values(kind="stable").index
    order = dict.fromkeys([*order, *rows["row"]])
    rows = rows.assign(row=[in_words(design, c) for c in rows["row"]], source="")
    panels = {"The paper's models": MODELS, "This run": sorted({*rows["column"]} - {*MODELS})}
    panels = {title: columns for title, columns in panels.items() if columns}
    return charts.heat(
        rows, panels=panels, order=[in_words(design, c) for c in order], signed=True, digits=0
    )


def scales(rows, design):
    """A pair's harm beyond that of its levels on each scale, with two intervals for each."""
    rows = rows[~rows["column"].str.endswith("above 0")]
    label = rows["column"].str.split(": ", expand=True)
    ends = {"least": "as many shared cases as counts allow", "most": "whatever cases are shared"}
    scale = label[0].str.replace(" of failure", "")
    rows = rows.assign(column=scale, series=label[1].map(ends))
    order = list(dict.fromkeys(rows["row"]))
    figure = charts.forest(rows, order=order, references=dict.fromkeys(scale, 0))
    figure.axes[0].set_yticks(range(len(order)), [in_words(design, c) for c in order[::-1]])
    return figure


def choices(rows):
    """Ratios of losses under choices, a line for each pair of levels, a mark for each scale."""
    title = "loss by pollution / loss by deficit"
    levels = rows["row"].str.partition(": ")[0]
    rows = rows.assign(series=rows["column"], column=title, row=levels)
    return charts.forest(rows, order=list(dict.fromkeys(levels)), references={title: 1})
