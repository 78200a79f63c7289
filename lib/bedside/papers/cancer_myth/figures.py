"""Cancer-Myth: its figures of several panels, drawn from rows of `tables`."""

from bedside import plots

from .tables.evaluation import series
from .tables.generation import HARD


def generation(shown, models):
    """Figure 3: what became of the questions, how many fooled their author, how the sets grew."""
    became = shown[shown["row"].isin(models)]
    became = became.groupby("column", sort=False).filter(lambda c: c["value"].sum() > 0)
    grown = shown["row"].str.contains(" after ")
    fooled = shown[(shown["column"] == HARD) & ~grown]
    sizes = shown[grown]
    if len(models) > 1:
        model = sizes["row"].str.split(" after ").str[0]
        sizes = sizes.assign(column=sizes["column"] + ", " + model)
    figure, (axes,) = plots.figure((11, 3.6), 1, 3, width_ratios=[1.2, 1, 1])
    share = {"xlabel": "% of the questions asked for"}
    plots.stacked(axes[0], became, title="What became of them", **share)
    plots.dots(axes[1], fooled, title="Fooled its author", limits=(-2, 102), **share)
    labels = {"xlabel": "myths done", "ylabel": "questions"}
    plots.growth(axes[2], sizes, title="Growth of the two sets", **labels)
    plots.legend_below(figure)
    return figure


def balance(shown):
    """Figure 5: categories before and after a step, in this run and in the released data."""
    pairs = [
        rows
        for stages in ("this run", "released|candidates")
        if len(rows := shown[shown["column"].str.contains(stages)])
    ]
    width = 5 + 3.5 * (len(pairs) > 1)
    figure, (axes,) = plots.figure((width, 4.3), 1, len(pairs), sharey=True)
    for ax, rows in zip(axes, pairs):
        plots.bars(ax, rows, by="column", xlabel="% of the questions")
    plots.legend_below(figure)
    return figure


def scores(shown):
    """Figure 6a: PCR and PCS by model, best printed first."""
    figure, (axes,) = plots.figure((9, 4.4), 1, 2, sharey=True)
    order = dict.fromkeys(shown["row"])
    for ax, metric, unit, limits in (
        (axes[0], "PCR", "% of questions corrected", (-2, 102)),
        (axes[1], "PCS", "mean grade", (-1.05, 1.05)),
    ):
        rows = series(shown, metric)
        plots.dots(ax, rows, title=metric, xlabel=unit, limits=limits, order=order)
    plots.legend_below(figure)
    return figure


def confusions(cards, values):
    """The judges' confusion with labels, {judge: card}, a panel each."""
    figure, (axes,) = plots.figure((3.2 * len(cards), 3.1), 1, len(cards))
    for ax, (name, card) in zip(axes, cards.items()):
        plots.confusion(ax, card["confusion"], values, title=name)
    return figure
