"""MedDialBench: rows of tables as the three charts draw them, with levels in words."""

from bedside.write import charts, plots

from .printed import MODELS

WORDS = {  # levels in the words of a figure
    "incoherent": "rambles",
    "partial_understanding": "half aware",
    "complete_denial": "denies",
    "occasional_contradiction": "contradicts",
    "fabricating": "invents",
    "withholding": "withholds",
    "dominant": "dominates",
}


def in_words(rows, design):
    """Rows, each configuration in words: its levels, after the name of a combination."""

    def words(configuration):
        levels = design.combinations.get(configuration)
        name = f"{configuration} " if levels else ""
        return name + ", ".join(WORDS.get(n, n) for n in levels or configuration.split(" + "))

    return rows.assign(row=rows["row"].map(words))


def dose(rows, design, width=plots.WIDE):
    """Figure 3: accuracy by severity, a panel for each dimension, the largest printed loss first.

    rows: also have dimension and severity. What is printed has hollow marks.
    """
    rows = plots.floats(rows)
    means = rows["value"].where(rows["column"].str.startswith("published, mean"))
    means = means.groupby(rows["dimension"], sort=False)
    change = (100 * (means.last() - means.first())).sort_values()
    down, across = (1, len(change)) if width > plots.NARROW else (len(change), 1)
    figure, axes = plots.figure((width, 3.6 * down), down, across, sharey=True)
    for ax, (dimension, points) in zip(axes.flat, change.items()):
        part = rows[rows["dimension"] == dimension]
        for shape, (name, line) in zip(plots.SHAPES, part.groupby("column", sort=False)):
            ends = line["value"] - line["low"], line["high"] - line["value"]
            label = name.removeprefix("published, ")
            ink, face = plots.INK, plots.CARD
            if name == label:
                face = plots.INK
            at = line["severity"], line["value"], ends
            ax.errorbar(*at, marker=shape, color=ink, markerfacecolor=face, label=label)
        told = f"\n{points:+.1f} points".replace("-", "\u2212") if points == points else ""
        words = ["cooperative", *(WORDS.get(n, n) for n in design.of(dimension)[1:])]
        plots.titled(ax, f"{words[-1].capitalize()}{told}")
        ax.set_xlabel(f"({design.dimensions[dimension]['title']})")
        ax.set_xticks(range(len(words)), words, rotation=90)
    axes.flat[0].set_ylabel("accuracy")
    plots.legend_below(figure)
    return figure


def interactions(rows, design):
    """Figure 4: O/E by combination, the mean of the paper's models and each doctor of this run."""
    own = rows["source"] == "run"
    series = rows["column"].str.removeprefix("O/E, ").where(own, rows["source"])
    rows = in_words(rows.assign(series=series)[own | (rows["column"] == "O/E")], design)
    look = {"references": {"O/E": 1}, "xlabel": "observed / expected accuracy"}
    return charts.forest(rows.assign(column="O/E"), order=rows["row"], **look)


def profiles(rows, design):
    """Change of accuracy by configuration and model, the largest mean loss on top; rows: losses."""
    rows = in_words(rows.assign(value=-100 * rows["value"].astype(float), source=""), design)
    paper = rows["column"].isin(MODELS)
    order = rows[paper].groupby("row")["value"].mean().sort_values(kind="stable").index
    panels = {"The paper's models": MODELS, "This run": sorted({*rows.loc[~paper, "column"]})}
    panels = {title: columns for title, columns in panels.items() if columns}
    order = dict.fromkeys([*order, *rows["row"]])
    return charts.heat(rows, panels=panels, order=[*order], signed=True, digits=0)


def scales(rows, design):
    """A pair's harm beyond that of its levels on each scale, with two intervals for each."""
    rows = in_words(rows[~rows["column"].str.endswith("above 0")], design)
    label = rows["column"].str.split(": ", expand=True)
    ends = {"least": "as many shared cases as counts allow", "most": "whatever cases are shared"}
    rows = rows.assign(column=label[0].str.replace(" of failure", ""), series=label[1].map(ends))
    return charts.forest(rows, order=rows["row"], references=dict.fromkeys(rows["column"], 0))


def choices(rows):
    """Ratios of losses under choices, a line for each pair of levels, a mark for each scale."""
    title, levels = "loss by pollution / loss by deficit", rows["row"].str.partition(": ")[0]
    rows = rows.assign(series=rows["column"], column=title, row=levels)
    return charts.forest(rows, order=levels, references={title: 1})
