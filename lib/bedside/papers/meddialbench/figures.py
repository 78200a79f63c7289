"""MedDialBench: figures, drawn from the rows of `tables`."""

import math

import pandas as pd

from bedside.write import charts, plots

from . import charts as own
from .design import BASELINE
from .printed import MODELS, N
from .rules import NAME as RULES
from .scores import WORST
from .tables.single import COVERAGE, POINTS

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


def coverage(rows):
    """Figure 2: lost accuracy by lost coverage; left of it this run's coverage, if it has any.

    rows: of `tables.single.coverage_rows`. Of this run's changes the rules' are drawn.
    """
    change = rows["column"].str.startswith("change")
    heat, both = rows[~change], rows[change]
    pairs = 0 - both.pivot_table(index="row", columns="column", values="value", sort=False)
    pairs = pairs.reset_index().dropna()
    paper = pairs["row"].str.endswith("five models")
    mine = pairs[~paper & pairs["row"].str.endswith(RULES)].assign(source="run")
    printed = pairs[paper].assign(source="published")
    pairs = pd.concat([mine, printed])
    if len(heat):
        ratios = 0.9 * max(2, heat["column"].nunique()), 4
        figure, (axes,) = plots.figure((9, 4.8), columns=2, width_ratios=ratios)
        plots.heat(axes[0], heat, title="Coverage in this run")
    else:
        figure, (axes,) = plots.figure((5.6, 3))
    names = pairs["row"].str.split(",").str[0].map(said)
    values = pairs[POINTS].map("{:.1f} points".format)
    own.points(
        axes[-1],
        pairs.assign(label=names + ": " + values),
        COVERAGE,
        POINTS,
        pairs["row"].str.startswith(f"{WORST}, mean"),
        ylabel="loss of accuracy, points",
        xlabel="loss of coverage (share of a case's facts)",
    )
    if (pairs[[COVERAGE, POINTS]] >= 0).all(axis=None):
        axes[-1].set(xlim=0, ylim=0)
    if len(mine):
        plots.legend_below(figure)
    by = printed.set_index(printed["row"].str.split(",").str[0])
    others = by.drop(WORST)
    return plots.message(
        figure,
        "Fabricating costs more than twice the accuracy that withholding or dominance costs,"
        " at a smaller loss of coverage",
        bool(by.at[WORST, COVERAGE] < others[COVERAGE].min())
        and by.at[WORST, POINTS] > 2 * others[POINTS].max(),
        f"Means of the paper's five models, {N} cases each, in section 4.2 and Table 9.",
    )


def dose(rows, design, printed, width=plots.WIDE):
    """Figure 3: accuracy by severity, the dimension with the largest loss first, and larger.

    rows: by dimension and severity, of which this run's are drawn. printed: accuracy in percent,
    configurations by models; its models are hollow, their mean is thick.
    """
    parts = {d: _lines(rows, design, printed, d) for d in design.dimensions}
    parts = {d: part for d, part in parts.items() if len(part)} or parts
    lost = {d: _lost(part) for d, part in parts.items()}
    first, *others = sorted(parts, key=lambda d: -lost[d] if lost[d] == lost[d] else math.inf)
    across = 4 if width > plots.NARROW else 2
    lines = math.ceil(len(others) / across)
    ratios = {"height_ratios": [1.6, *[1] * lines]}
    figure, axes = plots.figure(
        (width, 3.0 + 1.7 * lines), 1 + lines, across, sharey=True, **ratios
    )
    place = dict(zip(others, axes[1:].flat))
    for ax in {*axes.flat} - {axes[0, 0], *place.values()}:
        ax.remove()
    axes[0, 0].set_subplotspec(axes[0, 0].get_gridspec()[0, :])
    shown = pd.concat(parts.values())[["value", "low", "high"]].astype(float)
    height = shown.max(axis=None) - shown.min(axis=None)
    ends = 0.08 * height, 2.0
    for d, ax in {first: axes[0, 0], **place}.items():
        look = (plots.RED, ends) if d == first else (plots.CONTEXT, None)
        _dose(ax, parts[d], design, d, lost[d], *look)
        ax.tick_params(labelleft=ax in axes[1:, 0])
    if (rows["source"] == "run").any():
        plots.legend_below(figure)
    single = printed.loc[[n for n in design.adverse if n in printed.index]]
    worst = single.drop(index=WORST, errors="ignore").min()
    return plots.message(
        figure,
        f"Patients who fabricate cost all {plots.spelt(printed.shape[1])} models more right"
        " diagnoses than any other single behaviour",
        WORST in single.index and bool((single.loc[WORST] < worst).all()),
        f"Right diagnoses, % of {N} cases, from the cooperative patient to the extreme one in one"
        " dimension. Hollow: the paper's models as printed in Table 9; thick: their mean.",
    )


def _lines(rows, design, printed, dimension):
    """A dimension's lines: the printed models', and this run's in percent."""
    names = [BASELINE, *design.of(dimension)[1:]]
    theirs = [
        {"series": m, "source": "published", "severity": k, "value": v, "low": None, "high": None}
        for k, name in enumerate(names)
        if name in printed.index
        for m, v in printed.loc[name].items()
    ]
    mine = rows[(rows["dimension"] == dimension) & (rows["source"] == "run")]
    numbers = ["value", "low", "high"]
    mine = mine.assign(**{c: 100 * mine[c].astype(float) for c in numbers}).to_dict("records")
    return pd.DataFrame([*theirs, *mine], columns=["series", "source", "severity", *numbers])


def _lost(part):
    """Mean of the printed models' loss from the cooperative to the extreme level, in points."""
    mean = part[part["source"] == "published"].groupby("severity")["value"].mean()
    return mean.iloc[0] - mean.iloc[-1] if len(mean) > 1 else math.nan


def _dose(ax, part, design, dimension, lost, ink, ends):
    title = design.dimensions[dimension]["title"]
    own.slopes(ax, part, "severity", ink, ends, title)
    mean = part[part["source"] == "published"].groupby("severity")["value"].mean()
    if not ends:
        ax.plot(mean.index, mean, color=plots.INK, linewidth=2.2, zorder=1)
    if lost == lost:
        change = f"{-lost:+z.1f} points".replace("-", "−")
        look = {"color": ink if ends else plots.SOFT, "fontsize": plots.SMALL, "va": "bottom"}
        ax.text(0, 1.02, change, transform=ax.transAxes, **look)
        ax.set_title(ax.get_title(loc="left"), loc="left", pad=17)
    names = [said(n) for n in design.of(dimension)]
    if ends:
        names = ["cooperative", *("\n" * (k % 2 == 0) + n for k, n in enumerate(names[1:]))]
    else:  # one line down each: they would not fit side by side
        names = ["", *("\n" * k + n for k, n in enumerate(names[1:]))]
    ax.set_xticks(range(len(names)), names)
    for text in ax.get_xticklabels()[-1:]:
        text.set(color=ink if ends else plots.INK, fontweight="bold" if ends else "normal")


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
    return charts.heat(rows, panels=panels, order=[in_words(design, c) for c in order], signed=True)
