"""Cancer-Myth's figures of several panels, drawn from rows of `tables`."""

from bedside import stats
from bedside.write import charts, plots

from .robustness import BY
from .v2.items import SETS


def scores(rows, width=plots.WIDE):
    """Figure 6a: PCR and PCS by model, the best published one first; a narrow one has PCR alone.

    A printed PCR has Wilson's interval of its n questions.
    """
    parts = rows["column"].str.extract(r"^(PC[RS])(?:,? (.*))?$")
    series = rows["source"] + (", " + parts[1]).fillna("")
    rows = rows.assign(column=parts[0], series=series).dropna(subset="value")
    for at, r in rows[(rows["column"] == "PCR") & (rows["source"] == "published")].iterrows():
        limits = stats.wilson(round(float(r["value"]) * r["n"] / 100), int(r["n"]))
        rows.loc[at, ["low", "high"]] = 100 * limits.low, 100 * limits.high
    titles = {"PCR": "Fully corrected (PCR)", "PCS": "Mean grade (PCS)"}
    columns = [*titles.values()][: int(width // plots.NARROW)]
    figure = charts.forest(rows.replace({"column": titles}), columns=columns, width=width)
    figure.axes[0].set_xlim(-1)
    for ax, unit in zip(figure.axes, ("% of the questions", "\u22121 to 1")):
        ax.set_xlabel(unit)
    return figure


def in_plane(rows):
    """Rates for `plots.plane`: label (method), shape, origin (the row without the mitigation)."""
    said = rows["source"] == "published"
    model, method = rows["row"].str.split(" ").str[0], rows["row"].str.split(" ", n=1).str[1]
    agents = method.isin(["multi_agent", "multi_agent_monitor"])
    uncured = model + " " + agents.map({True: "multi_agent", False: "plain"})
    before = rows["row"].str.replace("GEPA|Monitor", "Plain", regex=True).where(said, uncured)
    several, cure = model[~said].nunique() > 1, rows["row"].str.rsplit(" ", n=1).str[-1]
    named = rows["row"].str.removesuffix(" Plain").where(cure == "Plain", "with " + cure)
    return rows.assign(
        label=named.where(said, rows["row"] if several else method),
        shape="",
        origin=before.where(before != rows["row"], ""),
    )


def tradeoff(rows):
    """Correction against over-correction, with arrows from systems to the same with their cures."""
    figure, ((ax,),) = plots.figure((6, 5.6))
    figure.get_layout_engine().set(h_pad=0.08)  # the label stands above the axes
    rows = in_plane(rows[rows["source"] != "recomputed"]).assign(low=None, high=None)
    labels = {"xlabel": "left alone, % of the sound questions"}
    labels["ylabel"] = "corrected, % of the false presuppositions"
    plots.plane(ax, rows, SETS[1], SETS[0], **labels)
    plots.legend_below(figure)
    return figure


def choices(rows):
    """Leads under all choices (`robustness.curve`) over the band of the null, and the choices."""
    figure, axes = plots.figure((9, 6), rows=2, height_ratios=[1, 1])
    figure.get_layout_engine().set(w_pad=0.12)  # room for the names of choices
    charts.choices(axes[:, 0], rows, BY, rows[["low", "high"]], ylabel="lead, in SDs of the null")
    plots.legend_below(figure)
    return figure
