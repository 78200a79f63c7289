"""MedDialBench: figures, drawn from the rows of `tables`."""

import math

from bedside.write import plots

from .design import BASELINE
from .printed import N
from .scores import WORST

HOLLOW = {"markerfacecolor": plots.CARD}
SAID = {  # levels in the words of a figure
    "partial_understanding": "half aware",
    "complete_denial": "denies",
    "occasional_contradiction": "contradicts",
    "fabricating": "fabricates",
    "withholding": "withholds",
}


def said(level):
    """A level as a figure names it."""
    return SAID.get(level, level.replace("_", " "))


def levels(design, configuration):
    """The levels of a configuration, one of the paper's or of a run of one's own."""
    return design.combinations.get(configuration) or tuple(configuration.split(" + "))


def in_words(design, configuration):
    """A configuration in words: its levels, and the name of a combination that has one."""
    name = f" ({configuration})" if configuration in design.combinations else ""
    return " + ".join(map(said, levels(design, configuration))) + name


def dose(rows, design, printed, width=plots.WIDE):
    """Figure 3: accuracy by severity, a panel for each dimension, the largest loss first and red.

    rows: with dimension and severity; this run's are drawn. printed: accuracy as shares,
    configurations by models; the models are hollow, their mean is thick.
    """
    means, panels = printed.mean(axis=1), {}
    for d in design.dimensions:
        names = [BASELINE, *design.of(d)[1:]]
        panels[d] = means.reindex(names)
    lost = {d: mean.iloc[0] - mean.iloc[-1] for d, mean in panels.items()}
    order = sorted(panels, key=lambda d: -lost[d])
    across = len(order) if width > plots.NARROW else 2
    down = math.ceil(len(order) / across)
    figure, axes = plots.figure((width, 3.2 * down), down, across, sharey=True)
    for ax in axes.flat[len(order) :]:
        ax.remove()
    for ax, d in zip(axes.flat, order):
        ink = plots.RED if d == order[0] else plots.CONTEXT
        names, steps = panels[d].index, range(len(panels[d]))
        for _, right in printed.reindex(names).items():
            ax.plot(steps, right, "o-", color=ink, linewidth=1, markersize=4, **HOLLOW)
        ax.plot(steps, panels[d], color=plots.INK, linewidth=2.2)
        _beside(ax, rows[(rows["dimension"] == d) & (rows["source"] == "run")])
        change = f"{-100 * lost[d]:+.1f} points".replace("-", "−") if lost[d] == lost[d] else ""
        plots.titled(ax, f"{design.dimensions[d]['title']}\n{change}")
        words = ["cooperative", *map(said, names[1:])]
        ax.set_xticks(steps, words, rotation=35, ha="right")
        ax.set_xlim(-0.3, len(words) - 0.7)
    plots.legend_below(figure)
    return figure


def _beside(ax, rows):
    """This run's doctors beside their level, with intervals."""
    rows = plots.floats(rows)
    for k, (name, part) in enumerate(rows.groupby("column", sort=False)):
        x = part["severity"] + 0.12 * (-1) ** k * (1 + k // 2)
        reach = [(part["value"] - part["low"]).fillna(0), (part["high"] - part["value"]).fillna(0)]
        ax.errorbar(
            x, part["value"], yerr=reach, marker="osv^PX"[k % 6], label=name, color=plots.BLUE
        )


def interactions(rows, design):
    """Figure 4: O/E by combination on a log scale, from 1 to the printed mean.

    rows: of `tables.interactions.interaction_table`. Hollow: printed means; lines and ticks: their
    recomputed interval and single models; filled: this run's doctors, if they have an O/E above 0.
    """
    ratio = rows[rows["column"].str.startswith("O/E")]
    ratio = ratio.astype({c: float for c in ("value", "low", "high")})
    doctor = ratio["column"].str.removeprefix("O/E").str.removeprefix(", ")
    of = {s: ratio[ratio["source"] == s].assign(doctor=doctor) for s in set(ratio["source"])}
    means = of["published"].set_index("row")["value"].sort_values()
    bad = {c: WORST in levels(design, c) for c in ratio["row"]}
    order = sorted(bad, key=lambda c: (not bad[c], means.get(c, math.inf)))
    place = {c: len(order) - k for k, c in enumerate(order)}
    figure, ((ax,),) = plots.figure((plots.WIDE, 0.42 * len(order) + 0.9))
    ax.set_xscale("log")
    ax.axvline(1, color=plots.INK, linewidth=1.4)
    for c, y in place.items():
        ink = plots.RED if bad[c] else plots.SOFT
        _ratio(ax, y, means.get(c), {s: f[f["row"] == c] for s, f in of.items()}, ink)
    ax.set_yticks(list(place.values()), [in_words(design, c) for c in place])
    for text, c in zip(ax.get_yticklabels(), place):
        text.set_color(plots.RED if bad[c] else plots.INK)
    ax.set_ylim(0.4, len(order) + 1)
    for way, side, ink in (
        ("← fewer than expected", "right", plots.RED),
        ("more →", "left", plots.SOFT),
    ):
        shift = {"xytext": (-6 if side == "right" else 6, 0), "textcoords": "offset points"}
        look = {"ha": side, "va": "center", "color": ink, "fontsize": plots.SMALL}
        ax.annotate(way, (1, len(order) + 0.75), **shift, **look)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.tick_params(length=0)
    _log_ticks(ax, ratio.loc[ratio["value"] > 0, "value"])
    ax.set_xlabel("observed / expected accuracy (log scale)")
    if len(of.get("run", ())):
        plots.legend_below(figure)
    none = ratio[(ratio["source"] == "run") & (ratio["value"] <= 0)]
    names = "; ".join(none["row"] + none["column"].str.removeprefix("O/E"))
    low, rest = (means[means.index.map(bad.get) == kind] for kind in (True, False))
    fewer, most = 100 * (1 - low), 100 * (rest - 1).abs().max() + 0.5  # as far as rounding allows
    return plots.message(
        figure,
        f"On average, pairs with fabricating leave {fewer.min():.0f} to {fewer.max():.0f}% fewer"
        f" right diagnoses than expected; other pairs stay within {math.ceil(most)}%",
        bool(len(low) and len(rest) and fewer.min() > most),
        "Observed accuracy over the accuracy expected if both effects multiply. Means of the"
        f" paper's five models, {N} cases each (Table 4). Ticks (single models) and 95% intervals,"
        " as if cells were independent: recomputed from Table 9."
        + f" O/E of 0, not shown: {names}."
        * (names != ""),
    )


def _ratio(ax, y, mean, of, ink):
    """One combination of Figure 4: its printed mean, what is recomputed, and this run's doctors."""
    back = of["recomputed"]
    each = back[back["doctor"] != ""].sort_values("value")
    ax.plot(each["value"], [y] * len(each), "|", color=plots.CONTEXT, markersize=9, zorder=2)
    for r in back[back["doctor"] == ""].itertuples():
        ax.plot([r.low, r.high], [y, y], color=ink, linewidth=1.2, zorder=2)
    if mean:
        ax.barh(y, mean - 1, 0.3, left=1, color=plots.tint(ink, 0.3), zorder=1)
        look = {"markerfacecolor": plots.CARD, "markeredgewidth": 1.8, "markersize": 8}
        ax.plot(mean, y, "o", color=ink, zorder=3, **look)
        look = {"ha": "right", "va": "center", "color": ink, "fontweight": "bold"}
        ax.text(1.06, y, f"{mean:.2f}", transform=ax.get_yaxis_transform(), **look)
    mine = of.get("run", back[:0])
    for k, r in enumerate(mine[mine["value"] > 0].itertuples()):
        marker, low = "osv^PX"[k % 6], max(r.low, 0.05) if r.low == r.low else r.value
        high, down = r.high if r.high == r.high else r.value, y - 0.16 - 0.1 * k
        look = {"color": plots.BLUE, "linewidth": 0.8, "label": f"This run: {r.doctor}"}
        ax.plot([low, r.value, high], [down] * 3, marker=marker, markevery=[1], **look)


def _log_ticks(ax, values):
    """Ticks of a ratio's log axis, which ends where the ratios do."""
    low, high = values.min() / 1.04, values.max() * 1.04
    ticks = [
        t for t in (0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10) if low <= t <= high
    ]
    ax.set_xlim(low, high)
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()


def profiles(rows, design):
    """Changes of accuracy by configuration and model, sorted by their mean; this run's beside.

    rows: losses, of `tables.vulnerability.profile_rows`.
    """
    rows = rows.assign(value=-100 * rows["value"].astype(float))
    paper, mine = (rows[rows["source"] == source] for source in ("recomputed", "run"))
    mean = paper.groupby("row")["value"].mean().reindex(dict.fromkeys(rows["row"]))
    order = list(mean.sort_values(kind="stable").index)
    words = {c: in_words(design, c) for c in order}
    doctors = mine["column"].nunique()
    size = ((9 if doctors else 7), 0.27 * len(order) + 0.9)
    ratios = [5, max(1.2, doctors)][: 1 + (doctors > 0)]
    figure, (axes,) = plots.figure(size, 1, len(ratios), sharey=True, width_ratios=ratios)
    parts = [paper, mine] if doctors else [paper]
    for ax, part, title in zip(axes, parts, ("The paper's models", "This run")):
        part = part.sort_values("row", key=lambda r: r.map(order.index), kind="stable")
        shown = part.assign(row=part["row"].map(words))
        plots.changes(ax, shown, most=rows["value"].abs().max(), title=title * (doctors > 0))
    worst = paper[paper["value"] == paper.groupby("column")["value"].transform("min")]["row"]
    return plots.message(
        figure,
        f"All {plots.spelt(paper['column'].nunique())} models lose most when patients fabricate"
        " and do something else besides",
        all(WORST in levels(design, c) and len(levels(design, c)) > 1 for c in worst),
        f"Change of accuracy against the cooperative patient, points ({N} cases), recomputed from"
        " Table 9. Framed: each model's worst.",
    )
