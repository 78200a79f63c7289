"""MedHalu: its figures, drawn from rows of `tables`."""

from bedside import plots

from .data import DATASETS
from .tables.benchmark import LONGEST
from .tables.rates import OWN, RATES


def lengths(rows):
    """Histograms of `length_table`, with mean and deviation, printed hollow and computed filled."""
    figure, axes = plots.figure((9.4, 3.2), 1, len(DATASETS), sharey=True)
    for ax, dataset in zip(axes[0], DATASETS):
        part = rows[rows["row"] == dataset]
        plots.histogram(
            ax,
            part[part["left"].notna()],
            title=dataset,
            xlabel="words of a question",
            ylabel="share of questions, %",
        )
        by_source = part.pivot_table(index="source", columns="column", values="value", sort=False)
        for k, (source, r) in enumerate(by_source.iterrows()):
            plots.spread(ax, r["words, mean"], r["words, standard deviation"], 96 - 8 * k, source)
        ax.set_xlim(0, LONGEST[dataset])
    axes[0, 0].set_ylim(0, 102)
    plots.legend_below(figure)
    return figure


def f1(rows):
    """`macro_f1` by subset: a line an evaluator; printed hollow, computed filled, blind grey."""
    names = rows["row"].str.split(": ", n=1)
    rows = rows.assign(dataset=names.str[0], row=names.str[1])
    order = list(dict.fromkeys(rows["row"]))
    figure, axes = plots.figure((10.2, 0.36 * len(order) + 1.5), 1, len(DATASETS), sharey=True)
    for ax, dataset in zip(axes[0], DATASETS):
        plots.dots(
            ax,
            rows[rows["dataset"] == dataset],
            title=dataset,
            xlabel="macro F1",
            order=order,
            limits=(0, 1.04),
        )
    plots.legend_below(figure)
    return figure


def rates(rows):
    """`rate_rows` in the plane of both rates: a panel a printed subset, and one for this run."""
    figure, axes = plots.figure((9.6, 9.4), 2, 2)
    for ax, panel in zip(axes.flat, [*DATASETS, OWN]):
        part = rows[rows["panel"] == panel]
        plots.plane(
            ax,
            part.assign(label=part["row"].map(labels_of(part)).fillna("")),
            *RATES,
            title=panel,
            xlabel="answers without a hallucination that are let pass, %",
            ylabel="hallucinated answers that are found, %",
        )
    plots.legend_below(figure)
    return figure


def labels_of(part):
    """{row: its label}: marks that touch share one; one just above another's is a line higher."""
    wide = part.pivot(index="row", columns="column", values="value")
    wide = wide.reindex(index=part["row"].unique(), columns=RATES)
    names = part.drop_duplicates("row").set_index("row")["label"]
    placed = {}  # {row: (x, y, names beside the mark)}
    for row, (x, y) in wide.iterrows():
        touching = [k for k, (a, b, _) in placed.items() if abs(a - x) < 4 and abs(b - y) < 4]
        near = any(abs(a - x) < 16 and -0.5 < y - b < 3 for a, b, _ in placed.values())
        if touching:
            placed[touching[0]][2].append(names[row])
        else:
            placed[row] = (x, y, [names[row] + "\n" * near])
    return {row: "\n".join(dict.fromkeys(mine)) for row, (_, _, mine) in placed.items()}
