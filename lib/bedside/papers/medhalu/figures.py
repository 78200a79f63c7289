"""MedHalu: its figures, drawn from rows of `tables`."""

from bedside import plots

from .data import DATASETS
from .tables.benchmark import LONGEST
from .tables.rates import OWN, RATES

NEAR = [6, 4]  # marks in the plane touch if they are nearer, in percent, both ways


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
            labelled(part),
            *RATES,
            title=panel,
            xlabel="answers without a hallucination that are let pass, %",
            ylabel="hallucinated answers that are found, %",
        )
    plots.legend_below(figure)
    return figure


def labelled(part):
    """Rows of one panel with label and side: marks of a shape that touch share one label."""
    at = part.pivot(index="row", columns="column", values="value").reindex(columns=RATES)
    at = at.loc[part["row"].unique()].dropna()
    known, placed = part.drop_duplicates("row").set_index("row"), {}
    for group in touching(at, known["shape"]):
        row, side = roomier(at, group)
        placed[row] = "\n".join(dict.fromkeys(known.loc[group, "label"])), side
    words = [placed.get(row, ("", "")) for row in part["row"]]
    return part.assign(label=[label for label, _ in words], side=[side for _, side in words])


def touching(at, shapes):
    """Lists of rows whose marks touch, over others or directly; at: rows by x and y in percent."""
    groups = []
    for row in at.index:
        near = ((at - at.loc[row]).abs() < NEAR).all(axis=1) & (shapes[at.index] == shapes[row])
        joined = [g for g in groups if near[g].any()]
        mine = [r for r in at.index if r == row or any(r in g for g in joined)]
        groups = [g for g in groups if g not in joined] + [mine]
    return groups


def roomier(at, group):
    """The mark of a group that its label stands at, and the side with fewer others beside it."""
    found = []
    for side, sign in (("right", 1), ("left", -1)):
        row = (sign * at.loc[group, RATES[0]]).idxmax()
        x, y = sign * (at[RATES[0]] - at.at[row, RATES[0]]), at[RATES[1]] - at.at[row, RATES[1]]
        beside = x.between(0, 16) & y.between(-3, 2 + 4 * len(group)) & ~at.index.isin(group)
        edge = sign * (at.at[row, RATES[0]] - 50) > 38
        found.append((beside.sum() + edge / 2, row, side))
    return min(found, key=lambda each: each[0])[1:]
