"""MedDialBench: figures, drawn from the rows of `tables`."""

import math

import pandas as pd

from bedside.write import plots

from . import charts
from .design import BASELINE
from .printed import N
from .rules import NAME as RULES
from .scores import WORST
from .tables.single import COVERAGE, POINTS

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


def coverage(rows):
    """Figure 2: lost accuracy by lost coverage; left of it this run's coverage, if it has any.

    rows: of `tables.single.coverage_rows`. Of this run's changes the rules' are drawn.
    """
    change = rows["column"].str.startswith("change")
    heat, both = rows[~change], rows[change]
    pairs = 0 - both.pivot_table(index="row", columns="column", values="value", sort=False)
    pairs = pairs.reset_index().dropna()
    paper = pairs["row"].str.endswith("five models")
    mine = pairs[~paper & pairs["row"].str.endswith(RULES)].assign(source="run")
    printed = pairs[paper].assign(source="published")
    pairs = pd.concat([mine, printed])
    if len(heat):
        ratios = 0.9 * max(2, heat["column"].nunique()), 4
        figure, (axes,) = plots.figure((9, 4.8), columns=2, width_ratios=ratios)
        plots.heat(axes[0], heat, title="Coverage in this run")
    else:
        figure, (axes,) = plots.figure((5.6, 3))
    names = pairs["row"].str.split(",").str[0].map(said)
    values = pairs[POINTS].map("{:.1f} points".format)
    charts.points(
        axes[-1],
        pairs.assign(label=names + ": " + values),
        COVERAGE,
        POINTS,
        pairs["row"].str.startswith(f"{WORST}, mean"),
        ylabel="loss of accuracy, points",
        xlabel="loss of coverage (share of a case's facts)",
    )
    if (pairs[[COVERAGE, POINTS]] >= 0).all(axis=None):
        axes[-1].set(xlim=0, ylim=0)
    if len(mine):
        plots.legend_below(figure)
    by = printed.set_index(printed["row"].str.split(",").str[0])
    others = by.drop(WORST)
    return plots.message(
        figure,
        "Fabricating costs more than twice the accuracy that withholding or dominance costs,"
        " at a smaller loss of coverage",
        bool(by.at[WORST, COVERAGE] < others[COVERAGE].min())
        and by.at[WORST, POINTS] > 2 * others[POINTS].max(),
        f"Means of the paper's five models, {N} cases each, in section 4.2 and Table 9.",
    )


def dose(rows, design, printed, width=plots.WIDE):
    """Figure 3: accuracy by severity, the dimension with the largest loss first, and larger.

    rows: by dimension and severity, of which this run's are drawn. printed: accuracy in percent,
    configurations by models; its models are hollow, their mean is thick.
    """
    parts = {d: _lines(rows, design, printed, d) for d in design.dimensions}
    parts = {d: part for d, part in parts.items() if len(part)} or parts
    lost = {d: _lost(part) for d, part in parts.items()}
    first, *others = sorted(parts, key=lambda d: -lost[d] if lost[d] == lost[d] else math.inf)
    across = 4 if width > plots.NARROW else 2
    lines = math.ceil(len(others) / across)
    ratios = {"height_ratios": [1.6, *[1] * lines]}
    figure, axes = plots.figure(
        (width, 3.0 + 1.7 * lines), 1 + lines, across, sharey=True, **ratios
    )
    place = dict(zip(others, axes[1:].flat))
    for ax in {*axes.flat} - {axes[0, 0], *place.values()}:
        ax.remove()
    axes[0, 0].set_subplotspec(axes[0, 0].get_gridspec()[0, :])
    shown = pd.concat(parts.values())[["value", "low", "high"]].astype(float)
    height = shown.max(axis=None) - shown.min(axis=None)
    ends = 0.08 * height, 2.0
    for d, ax in {first: axes[0, 0], **place}.items():
        look = (plots.RED, ends) if d == first else (plots.CONTEXT, None)
        _dose(ax, parts[d], design, d, lost[d], *look)
        ax.tick_params(labelleft=ax in axes[1:, 0])
    if (rows["source"] == "run").any():
        plots.legend_below(figure)
    single = printed.loc[[n for n in design.adverse if n in printed.index]]
    worst = single.drop(index=WORST, errors="ignore").min()
    return plots.message(
        figure,
        f"Patients who fabricate cost all {plots.spelt(printed.shape[1])} models more right"
        " diagnoses than any other single behaviour",
        WORST in single.index and bool((single.loc[WORST] < worst).all()),
        f"Right diagnoses, % of {N} cases, from the cooperative patient to the extreme one in one"
        " dimension. Hollow: the paper's models as printed in Table 9; thick: their mean.",
    )


def _lines(rows, design, printed, dimension):
    """A dimension's lines: the printed models', and this run's in percent."""
    names = [BASELINE, *design.of(dimension)[1:]]
    theirs = [
        {"series": m, "source": "published", "severity": k, "value": v, "low": None, "high": None}
        for k, name in enumerate(names)
        if name in printed.index
        for m, v in printed.loc[name].items()
    ]
    mine = rows[(rows["dimension"] == dimension) & (rows["source"] == "run")]
    numbers = ["value", "low", "high"]
    mine = mine.assign(**{c: 100 * mine[c].astype(float) for c in numbers}).to_dict("records")
    return pd.DataFrame([*theirs, *mine], columns=["series", "source", "severity", *numbers])


def _lost(part):
    """Mean of the printed models' loss from the cooperative to the extreme level, in points."""
    mean = part[part["source"] == "published"].groupby("severity")["value"].mean()
    return mean.iloc[0] - mean.iloc[-1] if len(mean) > 1 else math.nan


def _dose(ax, part, design, dimension, lost, ink, ends):
    title = design.dimensions[dimension]["title"]
    charts.slopes(ax, part, "severity", ink, ends, title)
    mean = part[part["source"] == "published"].groupby("severity")["value"].mean()
    if not ends:
        ax.plot(mean.index, mean, color=plots.INK, linewidth=2.2, zorder=1)
    if lost == lost:
        change = f"{-lost:+z.1f} points".replace("-", "−")
        look = {"color": ink if ends else plots.SOFT, "fontsize": plots.SMALL, "va": "bottom"}
        ax.text(0, 1.02, change, transform=ax.transAxes, **look)
        ax.set_title(ax.get_title(loc="left"), loc="left", pad=17)
    names = [said(n) for n in design.of(dimension)]
    if ends:
        names = ["cooperative", *("\n" * (k % 2 == 0) + n for k, n in enumerate(names[1:]))]
    else:  # one line down each: they would not fit side by side
        names = ["", *("\n" * k + n for k, n in enumerate(names[1:]))]
    ax.set_xticks(range(len(names)), names)
    for text in ax.get_xticklabels()[-1:]:
        text.set(color=ink if ends else plots.INK, fontweight="bold" if ends else "normal")


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
