"""MedHalu: charts whose lines and panels are parts of the rows' labels."""

from bedside.write import charts, plots

from .data import DATASETS
from .printed import RATES, SIX, TEN

SERIES = {SIX: "alone (Table 6)", TEN: "with an expert's reason (Table 10)"}
COLUMNS = [f"{rate}, %" for rate in RATES]


def by_set(rows, **drawing):
    """`charts.forest` of one score, a panel for each base set; rows: `base set: evaluator`."""
    parts = rows["row"].str.split(": ", n=1)
    rows = rows.assign(column=parts.str[0], row=parts.str[1])
    return charts.forest(rows, columns=DATASETS, **drawing)


def planes(rows, width=plots.WIDE):
    """Both rates by base set, with an arrow from a model alone to the same with a reason."""
    rows = rows[rows["column"].isin(COLUMNS)]
    parts = rows["row"].str.extract(r"^(.*?): (.*), (Table \d+)$")
    told = rows["row"].str.replace(TEN, SIX).where(parts[2] == TEN, "")
    rows = rows.assign(label=parts[1], shape=parts[2].map(SERIES), origin=told)
    figure, (axes,) = plots.figure((width, 4.2), 1, 3)
    for ax, dataset in zip(axes, DATASETS):
        axis = {"xlabel": COLUMNS[1], "ylabel": COLUMNS[0]}
        plots.plane(ax, rows[parts[0] == dataset], *reversed(COLUMNS), title=dataset, **axis)
    plots.legend_below(figure)
    return figure


def rates(rows, **drawing):
    """Both rates, a line for each system; of this run without words that its mark says."""
    rows = rows.assign(row=rows["row"].str.removeprefix("this run, all subsets: "))
    return charts.forest(rows, order=sorted({*rows["row"]}), limits=(-3, 103), **drawing)
