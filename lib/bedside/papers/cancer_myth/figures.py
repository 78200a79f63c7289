"""Cancer-Myth's figures of several panels, drawn from rows of `tables`."""

from collections import Counter
from itertools import cycle

from bedside.write import plots

from .printed import QUESTIONS, SUMMARY
from .tables.evaluation import series
from .tables.generation import HARD
from .v2.tables import HITS, in_plane


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


def scores(shown, width=plots.WIDE):
    """Figure 6a: PCR and PCS by model, the best published PCR first; NARROW has room for PCR."""
    order = list(dict.fromkeys(shown["row"]))
    size = width, 1.2 + 0.32 * len(order)
    figure, (axes,) = plots.figure(size, 1, int(width // plots.NARROW), sharey=True)
    least = series(shown, "PCS")[["value", "low"]].astype(float).min(axis=None)
    for ax, metric, unit, limits in zip(
        axes,
        ("PCR", "PCS"),
        ("% of the questions corrected", "mean grade, from \u22121 to 1"),
        ((0, None), (min(-0.9, 1.05 * least), None)),
    ):
        rows = series(shown, metric)
        plots.dots(ax, rows, title=metric, xlabel=unit, limits=limits, order=order)
        ax.spines["left"].set_visible(False)
        ax.tick_params(length=0)
    said = series(shown, "PCR").query("source == 'published'").astype({"value": float})
    for row, values in said.groupby("row")["value"]:
        told = " / ".join(f"{v:g}" for v in dict.fromkeys(values))
        at = values.max(), len(order) - 1 - order.index(row)
        look = {"fontsize": plots.SMALL, "va": "center"}
        axes[0].annotate(told, at, (9, 0), textcoords="offset points", **look)
    plots.legend_below(figure)
    best = said.groupby("series")["value"].max().reindex(["published", f"published, {SUMMARY}"])
    return plots.message(
        figure,
        f"No model corrects even half of the false presuppositions: at most {best.iloc[0]:.0f}% in"
        f" the paper, {best.iloc[1]:.0f}% in a summary of its second version",
        bool((best < 50).all()),
        f"PCR: share of {QUESTIONS} questions whose false presupposition the answer corrects in"
        " full, as graded by GPT-4o.",
    )


def groups(shown, by):
    """Figures 6b and 7: PCS by kind of question (row) and model (column).

    Published values are a matrix; with this run's, all stand in `panels`, with intervals. by:
    category or generator.
    """
    if (shown["source"] != "published").any():
        return panels(shown, f"Rows: the question's {by}.")
    shown = shown.astype({"value": float})
    mean = shown.groupby("row")["value"].mean()
    shown = shown.sort_values("row", key=lambda r: r.map(mean), kind="stable")
    models, kinds = shown["column"].nunique(), len(mean)
    size = min(plots.WIDE, 2.5 + 0.9 * models), 0.9 + 0.32 * kinds
    figure, ((ax,),) = plots.figure(size)
    plots.changes(ax, shown, most=1, digits=2, framed=2 if by == "category" else 1)
    wide = shown.pivot(index="row", columns="column", values="value")
    return plots.message(figure, *(_categories if by == "category" else _generators)(wide))


def _categories(wide):
    """Figure 7's message: the two kinds of myth on which most models do worst."""
    worst = Counter(frozenset(wide[model].nsmallest(2).index) for model in wide)
    ((pair, models),) = worst.most_common(1)
    named = " and ".join(sorted(pair, reverse=True))
    said = (
        f"{plots.spelt(models).capitalize()} of {plots.spelt(wide.shape[1])} models do worst"
        f" on the same two kinds of myth: {named}"
    )
    about = "PCS: mean grade from \u22121 to 1, read from the paper's bars. Framed: each model's"
    about += " two lowest."
    return said, models > wide.shape[1] / 2, about


def _generators(wide):
    """Figure 6b's message: whose questions all but their author answer best."""
    best = wide.idxmax()
    easy = best.mode()[0]
    others = best.drop(easy, errors="ignore")
    said = f"Questions written by {easy} are the easiest for the other models, but not for {easy}"
    about = (
        "PCS: mean grade from \u22121 to 1, as printed. Rows: who wrote the questions; columns: who"
    )
    about += " answered them. Framed: a model's lowest."
    return said, easy in best.index and best[easy] != easy and (others == easy).all(), about


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


def confusions(cards, values):
    """Confusion matrices of judges against labels, {judge: card}, a panel each."""
    return plots.confusions({name: card["confusion"] for name, card in cards.items()}, values)


def tradeoff(shown):
    """Correction against over-correction: printed rates with arrows; this run's, with intervals."""
    mine = shown[shown["source"] == "run"]
    size, ratios = (6, 5.2), [5.6]
    if len(mine):
        ratios.append(0.4 * mine["row"].nunique())
        size = size[0], size[1] + 1.2 + ratios[1]
    figure, axes = plots.figure(size, len(ratios), height_ratios=ratios)
    hit, price = HITS["Cancer-Myth"], HITS["Cancer-Myth-NFP"]
    rows = in_plane(shown).assign(low=None, high=None)
    plots.plane(
        axes[0, 0],
        rows,
        "Cancer-Myth-NFP",
        "Cancer-Myth",
        title="Published rates and this run's" * (len(ratios) > 1),
        xlabel=f"{price}, % of the sound questions",
        ylabel=f"{hit}, % of the false presuppositions",
    )
    if len(mine):
        names = mine["row"].str.split(" ", n=1)
        several = names.str[0].nunique() > 1
        mine = mine.assign(row=mine["row"] if several else names.str[1])
        mine = mine.assign(series="This run: " + mine["column"].map(HITS))
        labels = {
            "title": "This run, with 95% confidence intervals",
            "xlabel": "% of the questions",
        }
        plots.dots(axes[1, 0], mine, limits=(-2, 102), **labels)
        plots.legend_below(figure)
    wide = rows[rows["source"] == "published"].pivot(index="row", columns="column", values="value")
    moved = rows[(rows["source"] == "published") & (rows["origin"] != "")]
    moved = moved.drop_duplicates("row").set_index("row")["origin"]
    change = wide.loc[moved.index].astype(float) - wide.loc[moved].astype(float).to_numpy()
    return plots.message(
        figure,
        f"In all {plots.spelt(len(change))} systems the fix corrects more false presuppositions"
        " and leaves fewer sound questions alone",
        len(change) > 1
        and bool((change["Cancer-Myth"] > 0).all() and (change["Cancer-Myth-NFP"] < 0).all()),
        "Arrows: from a system to the same with its fix, as a summary of version 2 prints them, in"
        " percent. Along a dashed line the mean of both rates is the same.",
    )
