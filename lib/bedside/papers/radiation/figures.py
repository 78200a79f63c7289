"""Radiation: its own drawing, of scores before and after a change of the prompt."""

from bedside.write import charts, plots

from .scores import METRICS

ROUNDING = 0.01  # of a difference between two printed scores


def steps(rows, *, before, references=None, width=plots.WIDE):
    """Precision, recall and F1 as `charts.forest`, with arrows from the printed rows `before`.

    The best printed F1 is on top; arrows of scores that fall are red. references: {score: x}.
    """
    rows = rows[rows["column"].isin(METRICS.values())]
    printed = rows[(rows["source"] == "published") & (rows["column"] == "F1")]
    best = printed.sort_values("value", ascending=False, kind="stable")["row"]
    order = list(dict.fromkeys([*best, *rows["row"]]))
    about = {"columns": list(METRICS.values()), "order": order, "references": references}
    figure = charts.forest(rows, **about, limits=(-0.02, 1.02), width=width)
    places = {row: len(order) - 1 - k for k, row in enumerate(order)}
    scores = rows[rows["source"] == "published"].set_index(["column", "row"])["value"]
    for ax, metric in zip(figure.axes, about["columns"]):
        for row, start in before[before["column"] == metric].set_index("row")["value"].items():
            end, y = scores[metric, row], places[row]
            ink = plots.RED if end < start - ROUNDING else plots.SOFT
            look = {"arrowstyle": "-|>", "color": ink, "shrinkA": 0, "shrinkB": 4}
            ax.annotate("", (end, y), (start, y), arrowprops=look)
    return figure
