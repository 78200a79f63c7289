"""Cancer-Myth's figures of several panels, drawn from rows of `tables`."""

from itertools import cycle

import pandas as pd

from bedside.write import charts, plots

from .robustness import BY
from .tables.generation import HARD
from .v2.items import SETS


def survey(shown, people):
    """Figure 2: the physicians' mean scores by source. people: the source that is no model."""
    figure, ((ax,),) = plots.figure((7, 2.4))
    plots.dots(ax, shown, xlabel="mean score, 1 to 5", limits=(0.9, 5.1))
    plots.legend_below(figure)
    said = shown[shown["source"] == "published"].set_index("row")["value"].astype(float)
    models = said.drop(people)
    return plots.message(
        figure,
        f"On average, physicians rated the answers of all {plots.spelt(len(models))} models above"
        f" those of {people.lower()}",
        models.min() > said[people],
        "Mean of three physicians' scores. Intervals: over questions.",
    )


def generation(shown, models):
    """Figure 3: how many questions fooled their author; what became of this run's, and its sets."""
    grown = shown["row"].str.contains(" after ")
    fooled, sizes = shown[(shown["column"] == HARD) & ~grown], shown[grown]
    became = shown[shown["row"].isin(models)]
    became = became.groupby("column", sort=False).filter(lambda c: c["value"].sum() > 0)
    heights = [0.4 * fooled["row"].nunique()]
    heights += [0.6 + 0.4 * len(models), 2] if len(became) or len(sizes) else []
    size = 6 if len(heights) == 1 else 8, 0.9 * len(heights) + sum(heights)
    figure, axes = plots.figure(size, len(heights), height_ratios=heights)
    axes, share = axes[:, 0], {"xlabel": "% of the questions asked for"}
    most = 1.15 * fooled[["value", "high"]].astype(float).max(axis=None)
    title = "Questions that fool their author" * (len(heights) > 1)
    plots.dots(axes[0], fooled, title=title, limits=(0, min(most, 102)), **share)
    names = list(dict.fromkeys(fooled["row"]))
    for r in fooled[fooled["source"] == "recomputed"].itertuples():
        at = r.value, len(names) - 1 - names.index(r.row)
        axes[0].annotate(f"{r.value:.0f}%", at, (8, 0), textcoords="offset points", va="center")
    if len(heights) > 1:
        several = sizes["row"].str.split(" after ").str[0] if len(models) > 1 else None
        if several is not None:
            sizes = sizes.assign(column=sizes["column"] + ", " + several)
        stacked(axes[1], became, title="What became of the questions", **share)
        labels = {"xlabel": "myths done", "ylabel": "questions"}
        growth(axes[2], sizes, title="Size of the valid and the invalid set", **labels)
        for ax in axes:
            plots.legend_right(ax)
    paper = fooled[fooled["source"] == "recomputed"]
    low, high = paper["value"].min(), paper["value"].max()
    return plots.message(
        figure,
        f"Of the questions that three models were asked to write, {low:.0f} to {high:.0f}% fooled"
        " their author",
        len(paper) == 3 and paper["n"].nunique() == 1,
        "Printed counts of adversarial questions as shares of three questions on each of 994 myths;"
        " GPT-4o's run covered only part of them, so that its share is at least this.",
    )


def stacked(ax, frame, **labels):
    """Stacked horizontal bars: one for each row, its parts by column, from dark to light.

    frame: row, column, value in percent, written in where there is room.
    """
    frame = plots.floats(frame)
    rows, parts = list(dict.fromkeys(frame["row"])), list(dict.fromkeys(frame["column"]))
    wide = frame.pivot(index="row", columns="column", values="value").loc[rows]
    places = range(len(rows) - 1, -1, -1)
    left = 0
    for k, part in enumerate(parts):
        dark = 0.75 - 0.75 * k / max(len(parts) - 1, 1)
        look = {"color": plots.tint(plots.INK, dark), "label": part, "clip_on": False}
        made = ax.barh(places, wide[part], left=left, edgecolor=plots.INK, linewidth=0.6, **look)
        texts = [f"{v:.0f}" if v >= 4 else "" for v in wide[part]]
        ink = plots.ON_DARK if dark > 0.5 else plots.ON_LIGHT
        ax.bar_label(made, texts, label_type="center", fontsize=plots.SMALL, color=ink)
        left = left + wide[part]
    ax.set_yticks(places, rows)
    ax.set_xlim(0, 100)
    plots.if_empty(ax, frame["value"])
    return plots.titled(ax, **labels)


def growth(ax, frame, **labels):
    """How counts grow: one stepped line for each column, in the frame's order of rows."""
    frame = plots.floats(frame)
    for (dash, ink), (name, part) in zip(cycle(plots.DASHES), frame.groupby("column", sort=False)):
        steps = range(1, len(part) + 1)
        ax.step(steps, part["value"], where="post", color=ink, linestyle=dash, label=name)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    ax.set_ylim(0)
    plots.if_empty(ax, frame["value"])
    return plots.titled(ax, **labels)


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


def scores(rows, width=plots.WIDE):
    """Figure 6a: PCR and PCS by model, the best published PCR first; a narrow one has PCR alone."""
    parts = rows["column"].str.extract(r"^(PC[RS])(?:,? (.*))?$")
    series = rows["source"] + (", " + parts[1]).fillna("")
    rows = rows.assign(column=parts[0], series=series).dropna(subset="value")
    said = rows[(rows["column"] == "PCR") & (rows["source"] == "published")]
    said = said.astype({"value": float}).groupby("row")["value"].unique()
    order = said.loc[said.map(max).sort_values(ascending=False, kind="stable").index]
    order = list(dict.fromkeys([*order.index, *rows["row"]]))
    columns = ["PCR", "PCS"][: int(width // plots.NARROW)]
    figure = charts.forest(rows, columns=columns, order=order, width=width)
    figure.axes[0].set_xlim(-1)
    for ax, unit in zip(figure.axes, ("% of the questions corrected", "mean grade, \u22121 to 1")):
        ax.set_xlabel(unit)
    for row, values in said.items():  # the printed rates beside their marks
        at = max(values), len(order) - 1 - order.index(row)
        look = {"xytext": (9, 0), "textcoords": "offset points", "fontsize": plots.SMALL}
        figure.axes[0].annotate(" / ".join(f"{v:g}" for v in values), at, va="center", **look)
    return figure


def panels(shown, about=""):
    """Figures 6b and 7: PCS with intervals, a panel for each value of `panel`, else of `column`.

    about: what the rows are.
    """
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
    plots.legend_below(figure)
    return plots.message(figure, "", False, about)


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
    null, bare = rows[["low", "high"]], rows.assign(low=None, high=None)
    plots.choices(axes[:, 0], bare, BY, null=null, ylabel="lead, in SDs of the null")
    plots.legend_below(figure)
    return figure


def judge(rows, lines, known):
    """Where a judge's errors turn a conclusion, and known judges: of `plots.regions`."""
    figure, ((ax,),) = plots.figure((8, 4.6))
    plots.regions(ax, pd.concat(lines), known, least=0.6)
    plots.legend_right(ax)
    return figure
