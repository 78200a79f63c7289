"""Radiation: its figures, drawn from rows of `tables`.

Printed marks are hollow. Messages are made from printed and recomputed numbers, and hold only
beyond rounding.
"""

import pandas as pd

from bedside.write import plots

from .data import FREQUENCIES, LEAST, MOST, ONSETS
from .scores import METRICS

ROUNDED = 0.005 + 1e-9  # how far a printed score may be from what was rounded, as floats go
ASKED = f"{LEAST} to {MOST}"
PRINTED = "Hollow: as printed, with its 95% interval."


def reference_lengths(rows):
    """The number of effects in each site's reference, from `tables.files.length_rows`."""
    figure, ((ax,),) = plots.figure((7, 2.6))
    found = rows[rows["source"] != "published"].sort_values("value", ascending=False)
    plots.bars(ax, found, xlabel="side effects in the reference")
    ax.axvspan(LEAST, MOST, fill=False, edgecolor=plots.SOFT, linestyle="--")
    _above(ax, (LEAST + MOST) / 2, f"{ASKED}, as printed", plots.SOFT, "center")
    ax.set_xlim(0, MOST + 1)
    ax.grid(visible=False)
    least, most = found["value"].min(), found["value"].max()
    return plots.message(
        figure,
        f"The released reference holds {least:.0f} to {most:.0f} side effects, depending on the"
        f" site: within the {ASKED} that the paper states",
        holds=set(found["source"]) == {"raw"} and LEAST <= least <= most <= MOST,
    )


def _above(ax, x, text, ink, across="left"):
    """A label above a chart, of what is at x."""
    look = {"color": ink, "fontsize": plots.SMALL, "ha": across}
    ax.text(x, 1.01, text, transform=ax.get_xaxis_transform(), **look)


# ---- precision, recall, F1


def free(rows):
    """Table 1, from `tables.score_table`."""
    recall = _printed(rows, "Recall")
    return plots.message(
        _scores(rows),
        f"Listing freely, no model names more than {recall.max():.0%} of the clinicians' side"
        " effects",
        holds=recall.max() < 2 / 3,
        about=f"Means over 21 patients; the best F1 on top. {PRINTED}",
    )


def chosen(rows, before, copier=None):
    """Table 3 as arrows from Table 1, the rows `before`; copier: the copier's rows."""
    gains = _printed(rows, "F1") - _printed(before, "F1")
    text, about = "Choosing from the clinicians' list raises every model's F1", ""
    if copier is not None and not len(_reaching(rows, copier, "F1", ROUNDED)):
        text += ", yet none reaches that of a copy of the whole list"
        above = _reaching(rows, copier, "Precision", -ROUNDED)
        about = f" By precision, {len(above)} of {len(gains)} models exceed the copy."
    about = f"Arrows lead from free-form lists (Table 1). {PRINTED}{about}"
    return plots.message(_scores(rows, before, copier), text, gains.min() > 2 * ROUNDED, about)


def sized(rows, before, copier=None):
    """Table 4 as arrows from Table 3, the rows `before`; copier: the copier's rows."""
    best = () if copier is None else _reaching(rows, copier, "F1", ROUNDED)
    return plots.message(
        _scores(rows, before, copier),
        f"Asked to choose {ASKED} terms, only {' and '.join(best)} reaches the F1 of a copy of the"
        " whole list",
        holds=len(best) == 1,
        about=f"Arrows lead from lists without a size (Table 3); red: lower. {PRINTED}",
    )


def _printed(rows, column):
    """The printed values of a column by model."""
    rows = rows[(rows["source"] == "published") & (rows["column"] == column)]
    return rows.set_index("row")["value"].astype(float)


def _reaching(rows, copier, column, off):
    """The models whose printed score reaches the copier's if it is off by so much."""
    scores = _printed(rows, column)
    return scores.index[scores + off >= _copied(copier, column)]


def _copied(copier, column):
    return copier.set_index("column").loc[column, "value"]


def _scores(rows, before=None, copier=None):
    """Precision, recall and F1 of the printed models, the best F1 on top, and of this run's."""
    order = list(dict.fromkeys([*_best(rows, "F1"), *rows["row"]]))
    size = plots.WIDE, 0.8 + 0.3 * len(order)
    figure, (axes,) = plots.figure(size, 1, len(METRICS), sharey=True)
    for ax, metric in zip(axes, METRICS.values()):
        part = rows[(rows["column"] == metric) & _shown(rows)]
        _dots(ax, part, order=order, title=metric)
        if copier is not None:
            place = _copied(copier, metric)
            ax.axvline(place, color=plots.BLUE, zorder=0.5)
            _above(ax, 1.02, f"copy of the list {place:.2f}", plots.BLUE, "right")
        if before is None:
            continue
        old, place = _printed(before, metric), {r: len(order) - 1 - k for k, r in enumerate(order)}
        for model, new in _printed(rows, metric).items():
            ink = plots.RED if new < old[model] - 2 * ROUNDED else plots.INK
            _arrow(ax, (old[model], place[model]), (new, place[model]), ink)
            if metric == "F1":
                said = {"va": "center", "fontsize": plots.SMALL, "color": ink}
                ax.text(1.06, place[model], f"{old[model]:.2f} to {new:.2f}", **said)
    if (rows["source"] == "run").any():
        plots.legend_below(figure)
    return figure


def _best(rows, column):
    return _printed(rows, column).sort_values(ascending=False, kind="stable").index


def _shown(rows):
    """Which rows have a line in a chart: printed ones with a value, and all of this run."""
    return rows["value"].notna() | (rows["source"] == "run")


def _dots(ax, rows, **options):
    """`plots.dots` from 0 to 1, with intervals as faint bars on which arrows stand out."""
    plots.dots(ax, rows, limits=(-0.02, 1.02), **options)
    for _, caps, bars in (marks.lines for marks in ax.containers):
        for each in caps:
            each.set_visible(False)
        for each in bars:
            each.set(color=plots.CONTEXT, alpha=0.4, linewidth=4)


def _arrow(ax, start, end, ink):
    """An arrow from a small hollow mark to a large one."""
    hollow = {"color": ink, "markerfacecolor": plots.CARD, "zorder": 3}
    ax.plot(*start, "o", markersize=3.5, **hollow)
    ax.plot(*end, "D", markersize=5.5, **hollow)
    style = {"arrowstyle": "-|>", "color": ink, "shrinkA": 2, "shrinkB": 4}
    ax.annotate("", end, start, arrowprops=style)


# ---- length


def lengths(rows):
    """Precision and recall by length, from `tables.length_curves` and `tables.implied_rows`.

    An arrow for each printed model, from its free-form list to the one that it chose, without and
    with a size; lines for this run's lists.
    """
    figure, axes = plots.figure((plots.WIDE, 7), 2, 2, sharex=True, sharey=True)
    names = rows["row"].str.partition(", ")
    rows = rows.assign(model=names[0], regime=names[2]).astype({"k": float, "value": float})
    by = rows[rows["source"] != "run"].set_index(["regime", "column", "model"])[["k", "value"]]
    by = by.sort_index()
    before, after = (by.loc[kind, "Precision"]["k"] for kind in ("free-form", "selection"))
    longest = before.idxmax()
    for line, size in zip(axes, ("", f", {LEAST}-{MOST}")):
        for ax, metric in zip(line, ("Precision", "Recall")):
            own = rows[(rows["source"] == "run") & (rows["column"] == metric)]
            if len(own) and not size:
                plots.curves(ax, own, "k")
            ax.set_title(f"{metric}, asked for {ASKED} items" if size else metric, loc="left")
            ax.axvspan(LEAST, MOST, color=plots.tint(plots.INK, 0.08), zorder=0)
            start, end = (by.loc[kind + size, metric] for kind in ("free-form", "selection"))
            for model in start.index:
                ink = plots.RED if model == longest else plots.SOFT
                _arrow(ax, start.loc[model], end.loc[model], ink)
                plots.label_beside(ax, model, tuple(start.loc[model]))
    ax.set_xscale("log")
    ax.set_xticks(TICKS := [1, 3, 10, 30, 100], [str(t) for t in TICKS])
    ax.minorticks_off()
    ax.set_xlim(min(rows["k"].min(), 6), 1.5 * rows["k"].max())
    ax.set_ylim(-0.02, 1.02)
    for ax in axes[1]:
        ax.set_xlabel("items listed (log scale)")
    if (rows["source"] == "run").any():
        plots.legend_below(figure)
    return plots.message(
        figure,
        f"{longest}'s printed scores imply some {round(before[longest], -1):.0f} items a list when"
        f" it lists freely, and {after[longest]:.0f} when it chooses from the clinicians' list",
        holds=before[longest] > 2 * before.drop(longest).max() and after[longest] < LEAST,
        about=f"Arrows: from free-form lists to lists chosen from the clinicians' terms. Shaded:"
        f" {ASKED} items. Lengths: size of the reference times recall, by precision.",
    )


# ---- the site, onset and frequency


def overlaps(rows):
    """Overlap of base and specified lists, free-form and sized, from `tables.overlap_table`."""
    both = {"Overlap (FF)": "free-form", "Overlap (LSC)": f"{ASKED} items"}
    printed, best = pd.concat([_printed(rows, c) for c in both]), _best(rows, "Overlap (FF)")
    height = 0.8 + 0.3 * rows["row"].nunique()
    figure, (axes,) = plots.figure((plots.WIDE, height), 1, 2, sharey=True)
    for ax, (column, lists) in zip(axes, both.items()):
        part = rows[rows["column"].isin([column, column + ", by meaning"]) & _shown(rows)]
        part = part.assign(row=part["row"] + part["column"].str.removeprefix(column))
        labels = {"title": f"{column}: {lists}", "xlabel": "intersection over union"}
        _dots(ax, part, order=list(dict.fromkeys([*best, *part["row"]])), **labels)
    return plots.message(
        figure,
        f"Lists made with and without the irradiated site share {100 * printed.min():.0f} to"
        f" {printed.max():.0%} of their side effects, depending on the model",
        holds=printed.max() < 1 - ROUNDED,
        about=f"Effects in both lists, of those in either; means over 21 patients. {PRINTED}",
    )


def recall_rows(levels, crossing):
    """Recall by onset and by frequency, and both crossed for this run's models.

    levels: rows of Tables 6 and 7; crossing: of `tables.crossing_table`.
    """
    levels = levels[~levels["column"].str.endswith(", over effects")]
    levels["row"] += levels["source"].map({"published": "", "run": " (this run)"})
    return pd.concat([levels, crossing.assign(row=crossing["row"] + " (this run)")])


def recalls(rows):
    """`recall_rows` as matrices; on top, framed, the mean of the printed models."""
    printed = rows[rows["source"] == "published"].astype({"value": float})
    wide = printed.pivot(index="row", columns="column", values="value")
    means, top = wide.mean(), f"mean of the {len(wide)} models"
    order = [top, *wide.mean(axis=1).sort_values(ascending=False).index, *rows["row"]]
    mean = pd.DataFrame({"row": top, "column": means.index, "value": means.to_numpy()})
    every = pd.concat([rows, mean]).sort_values("row", key=lambda r: r.map(order.index))
    crossed = rows[rows["column"].str.contains(", ")]
    lines = every["row"].nunique(), 1.2 * crossed["row"].nunique()
    size, ratios = (plots.WIDE, 0.9 + 0.36 * sum(lines)), {"width_ratios": [2, 4]}
    if len(crossed):
        ratios["height_ratios"] = lines
    figure, axes = plots.figure(size, 1 + bool(len(crossed)), 2, **ratios)
    for ax, title, names in zip(axes[0], ("By onset", "By frequency"), (ONSETS, FREQUENCIES)):
        names = [n.title().replace("-T", "-t") for n in names]
        part = every[every["column"].isin(names)]
        part = part.sort_values("column", key=lambda c: c.map(names.index), kind="stable")
        plots.heat(ax, part, title=title, outlined={top})
    axes[0, 1].tick_params(left=False, labelleft=False)
    if len(crossed):
        below = axes[1, 0].get_gridspec()[1, :]
        for ax in axes[1]:
            ax.remove()
        plots.heat(
            figure.add_subplot(below), crossed, title="Onset and frequency crossed, this run"
        )
    few = means[["Rare", "Extremely Rare"]]
    return plots.message(
        figure,
        f"Averaged over {len(wide)} models, {means['Common']:.0%} of common side effects are"
        f" recalled, and {100 * few.min():.0f} to {few.max():.0%} of rare and extremely rare ones",
        holds=few.max() < means[["Common", "Uncommon"]].min() - 2 * ROUNDED,
        about="As printed; the best recall on top.",
    )
