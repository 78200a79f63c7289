"""MedHalu: charts whose lines and panels are parts of the rows' labels."""

from bedside.write import charts, plots

from .data import DATASETS
from .printed import LLMS, RATES, SIX, TEN

COLUMNS = [f"{rate}, %" for rate in RATES]
FLAGGED = dict(zip(COLUMNS, ["hallucinated answers flagged", "correct answers flagged"]))


def by_set(rows, within, **drawing):
    """`charts.forest` of one score, a panel for each base set; rows: `base set: evaluator`.

    within: {(evaluator, base set): limits} of printed scores, which print none.
    """
    parts = rows["row"].str.split(": ", n=1)
    printed = rows["source"] == "published"
    for k, end in enumerate(("low", "high")):
        known = [within.get((who, of), (None, None))[k] for of, who in parts]
        rows = rows.assign(**{end: rows[end].astype(float).mask(printed, known)})
    rows = rows.assign(column=parts.str[0], row=parts.str[1])
    return charts.forest(rows, columns=DATASETS, **drawing)


def rates(rows, **drawing):
    """Both rates, a line for each system; of this run without words that its mark says."""
    rows = rows.assign(row=rows["row"].str.removeprefix("this run, all subsets: "))
    about = {"columns": COLUMNS, "order": sorted({*rows["row"]}), "limits": (-3, 103)}
    return charts.forest(rows, **about, **drawing)


def notes(rows, width=plots.WIDE):
    """What a model flags, alone and with an expert's reason: one panel for each base set.

    Blue: of the hallucinated answers (right); red: of the correct ones (false alarms). A tick is
    the model alone, a mark the model with the reason. A narrow figure has the first set only.
    """
    sets = DATASETS if width == plots.WIDE else DATASETS[:1]
    rows = rows.assign(value=rows["value"].where(rows["column"] == COLUMNS[0], 100 - rows["value"]))
    parts = rows["row"].str.extract(r"^(.*?): (.*), (Table \d+)$")
    flagged = rows.assign(set=parts[0], model=parts[1], table=parts[2]).dropna(subset="table")
    share = flagged.set_index(["set", "model", "column", "table"])["value"].astype(float)
    figure, (axes,) = plots.figure((width, 2.7), 1, len(sets), sharey=True)
    for ax, dataset in zip(axes, sets):
        for k, model in enumerate(reversed(LLMS)):
            for column, ink, mark, up in zip(COLUMNS, (plots.BLUE, plots.RED), "os", (0.17, -0.17)):
                alone, told = (share[dataset, model, column, table] for table in (SIX, TEN))
                look = {"color": ink, "linestyle": "-" if mark == "o" else "--", "linewidth": 2}
                ax.plot([alone, told], [k + up] * 2, zorder=2, **look)
                ax.plot(alone, k + up, "|", color=ink, markersize=9, markeredgewidth=2)
                name = FLAGGED[column] if k == 0 else "_"
                ax.plot(told, k + up, mark, color=ink, markersize=6.5, label=name)
                for x, beside, weight in ((alone, told, "normal"), (told, alone, "bold")):
                    place = {"ha": "left" if x >= beside else "right", "va": "center"}
                    step = 6 if x >= beside else -6
                    about = {"xytext": (step, 0), "textcoords": "offset points", "color": ink}
                    ax.annotate(f"{x:.0f}", (x, k + up), fontweight=weight, **about, **place)
        ax.set(yticks=range(len(LLMS)), xlim=(-9, 112), xticks=[0, 50, 100], ylim=(-0.6, 2.6))
        ax.set_yticklabels(reversed(LLMS))
        plots.titled(ax, dataset, xlabel="% flagged, bar: no reason")
    plots.legend_below(figure)
    return figure


def kappas(rows, width=plots.WIDE):
    """The experts' printed kappa with the labels, and the largest that their accuracy allows."""
    rows = rows[rows["row"] == "experts"]
    of = rows["column"].str.extract(r"at (\w+)'s")[0]
    named = ("at most, pooled, " + of).fillna("at most, mean of raters")
    rows = rows.assign(row=named.mask(rows["source"] == "published", "printed, mean of raters"))
    return charts.forest(rows.assign(column="kappa"), order=rows["row"], limits=(0, 1), width=width)
