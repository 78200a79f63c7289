"""MedHalu: its figures, drawn from rows of `tables`."""

from bedside import plots

from .data import DATASETS
from .tables.benchmark import LONGEST
from .tables.rates import OWN, RATES


def lengths(rows):
    """Histograms of `length_table` below the mean and standard deviation of each source.

    Printed marks are hollow, computed ones filled. A base set without questions has no panel.
    """
    counted = [d for d in DATASETS if rows.loc[rows["row"] == d, "left"].notna().any()]
    size = 3 * len(counted), 4
    figure, axes = plots.figure(size, 2, len(counted), sharey="row", height_ratios=[1, 3])
    for (upper, lower), dataset in zip(axes.T, counted):
        part = rows[rows["row"] == dataset]
        plots.dots(upper, mean_and_deviation(part), title=dataset, limits=(0, LONGEST[dataset]))
        plots.histogram(
            lower,
            part[part["left"].notna()],
            xlabel="words of a question",
            ylabel="share of questions, %" if lower is axes[1, 0] else "",
        )
        lower.set_xlim(upper.get_xlim())
    if lacking := [d for d in DATASETS if d not in counted]:
        plots.remark(figure, f"No questions at hand: {', '.join(lacking)}")
    return figure


def mean_and_deviation(part):
    """Mean words of a base set by source, -+ one standard deviation: rows for `plots.dots`."""
    wide = part.pivot_table(index="source", columns="column", values="value", sort=False)
    mean, deviation = wide["words, mean"], wide["words, standard deviation"]
    made = wide.assign(value=mean, low=mean - deviation, high=mean + deviation).reset_index()
    return made.assign(row=made["source"].map(plots.label))


def f1(rows):
    """`macro_f1` by subset, one line for each evaluator: printed hollow, computed filled."""
    names = rows["row"].str.split(": ", n=1)
    rows = rows.assign(dataset=names.str[0], row=names.str[1])
    order = list(dict.fromkeys(rows["row"]))
    figure, axes = plots.figure((9, 0.36 * len(order) + 1.5), 1, len(DATASETS), sharey=True)
    for ax, dataset in zip(axes[0], DATASETS):
        plots.dots(
            ax,
            rows[rows["dataset"] == dataset],
            title=dataset,
            xlabel="macro-F1",
            order=order,
            limits=(0, 1.04),
        )
    plots.legend_below(figure)
    return figure


def rates(rows):
    """`rate_rows`: both printed rates in a plane for each subset; this run's by evaluator."""
    figure, axes = plots.figure((9, 8.6), 2, 2)
    for ax, panel in zip(axes.flat, DATASETS):
        plots.plane(
            ax,
            rows[rows["panel"] == panel],
            *RATES,
            title=panel,
            xlabel="specificity, % (other answers accepted)",
            ylabel="sensitivity, % (hallucinated answers found)",
        )
    mine = rows[rows["panel"] == OWN]
    once = mine.groupby("label")["row"].nunique().eq(1).all()
    names = mine["label"] if once else mine["row"].str.removeprefix(f"{OWN}: ")
    told = dict(zip(RATES, ("This run: specificity", "This run: sensitivity")))
    mine = mine.assign(row=names, series=mine["column"].map(told))
    own = axes[1, 1]
    plots.dots(own, mine, title=OWN, xlabel="% of the answers", limits=(-2, 102))
    own.set_box_aspect(
        min(0.15 + 0.18 * mine["row"].nunique(), 1.1)
    )  # no higher than its rows need
    own.set_anchor("N")
    plots.legend_below(figure)
    return figure
