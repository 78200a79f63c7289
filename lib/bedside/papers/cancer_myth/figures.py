"""Cancer-Myth's figures of several panels, drawn from rows of `tables`."""

from bedside import plots
from bedside.tables import without_bounds

from .tables.evaluation import series
from .tables.generation import HARD
from .v2.tables import HITS, in_plane


def generation(shown, models):
    """Figure 3: what became of the questions, how many fooled their author, how both sets grew."""
    became = shown[shown["row"].isin(models)]
    became = became.groupby("column", sort=False).filter(lambda c: c["value"].sum() > 0)
    grown = shown["row"].str.contains(" after ")
    fooled = shown[(shown["column"] == HARD) & ~grown]
    sizes = shown[grown]
    if len(models) > 1:
        model = sizes["row"].str.split(" after ").str[0]
        sizes = sizes.assign(column=sizes["column"] + ", " + model)
    heights = [0.6 + 0.4 * len(models), 0.4 * fooled["row"].nunique(), 2]
    figure, axes = plots.figure((8, 2.6 + sum(heights)), 3, height_ratios=heights)
    axes = axes[:, 0]
    share = {"xlabel": "% of the questions asked for"}
    plots.stacked(axes[0], became, title="What became of the questions", **share)
    plots.dots(axes[1], fooled, title="Questions that fool their author", limits=(-2, 102), **share)
    labels = {"xlabel": "myths done", "ylabel": "questions"}
    plots.growth(axes[2], sizes, title="Size of the valid and the invalid set", **labels)
    for ax in axes:
        plots.legend_right(ax)
    return figure


def balance(shown):
    """Figure 5: categories before and after a step, in this run and in the released data."""
    titles = {"this run": "This run: balancing", "released|candidates": "Released data: review"}
    pairs = {
        title: rows
        for stages, title in titles.items()
        if len(rows := shown[shown["column"].str.contains(stages)])
    }
    width = 5.4 + 3.4 * (len(pairs) > 1)
    figure, (axes,) = plots.figure((width, 4.6), 1, len(pairs), sharey=True)
    for ax, (title, rows) in zip(axes, pairs.items()):
        before = rows["column"] == rows["column"].iloc[0]
        rows = rows.assign(step=before.map({True: "before", False: "after"}))
        plots.bars(ax, rows, by="step", title=title, xlabel="% of the questions")
    plots.legend_below(figure)
    return figure


def scores(shown):
    """Figure 6a: PCR and PCS by model, the best published PCR first."""
    figure, (axes,) = plots.figure((9, 5), 1, 2, sharey=True)
    order = dict.fromkeys(shown["row"])
    for ax, metric, unit, limits in (
        (axes[0], "PCR", "% of questions corrected", (-2, 102)),
        (axes[1], "PCS", "mean grade, −1 to 1", (-1.05, 1.05)),
    ):
        rows = series(shown, metric)
        plots.dots(ax, rows, title=metric, xlabel=unit, limits=limits, order=order)
    plots.legend_below(figure)
    return figure


def panels(shown, about=""):
    """Figures 6b and 7: PCS with intervals, a panel for each value of `panel`, else of `column`.

    about: what the rows are.
    """
    shown = without_bounds(shown)
    panel = shown["panel" if "panel" in shown else "column"]
    names, order = list(dict.fromkeys(panel)), list(dict.fromkeys(shown["row"]))
    across = 4 if len(names) == 4 else 3
    down = -(-len(names) // across)
    size = 9, down * (0.9 + 0.2 * len(order)) + 0.6
    figure, axes = plots.figure(size, down, across, sharey=True)
    for ax in axes.flat[len(names) :]:
        ax.remove()
    for ax, name in zip(axes.flat, names):
        mine, limits = shown[panel == name], (-1.05, 1.05)
        plots.dots(ax, mine, title=name, xlabel="mean grade", limits=limits, order=order)
    for row in axes if about else ():
        row[0].set_ylabel(about)
    plots.legend_below(figure)
    return figure


def confusions(cards, values):
    """Confusion matrices of judges against labels, {judge: card}, a panel each."""
    return plots.confusions({name: card["confusion"] for name, card in cards.items()}, values)


def tradeoff(shown):
    """Correction against over-correction: published and this run's rates, this run's intervals."""
    mine = shown[shown["source"] == "run"]
    height = 0.4 * mine["row"].nunique()
    figure, axes = plots.figure((8, 6.8 + height), 2, height_ratios=[5.6, height])
    hit, price = HITS["Cancer-Myth"], HITS["Cancer-Myth-NFP"]
    plots.plane(
        axes[0, 0],
        in_plane(shown).assign(low=None, high=None),
        "Cancer-Myth-NFP",
        "Cancer-Myth",
        title="Published rates and this run's",
        xlabel=f"{price}, % of the questions without a false presupposition",
        ylabel=f"{hit}, % of the questions with a false presupposition",
    )
    names = mine["row"].str.split(" ", n=1)
    several = names.str[0].nunique() > 1
    mine = mine.assign(row=mine["row"] if several else names.str[1])
    mine = mine.assign(series="This run: " + mine["column"].map(HITS))
    labels = {"title": "This run, with 95% confidence intervals", "xlabel": "% of the questions"}
    plots.dots(axes[1, 0], mine, limits=(-2, 102), **labels)
    plots.legend_below(figure)
    return figure
