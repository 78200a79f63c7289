"""MedHalu: its figures, drawn from rows of `tables`.

Printed marks are hollow, computed ones filled. Messages are made from printed and recomputed
numbers, and hold only beyond rounding.
"""

from bedside.write import plots

from .data import DATASETS
from .tables.benchmark import LONGEST
from .tables.rates import OWN, RATES

ROUNDED = 0.005 + 1e-9  # how far a printed score may be from what was rounded, as floats go
ACCEPTED, FOUND = RATES
LOOKS = {  # of the shares flagged of both kinds of answer: name, mark, colour, line
    FOUND: ("hallucinated", "o", plots.BLUE, "-"),
    ACCEPTED: ("others", "s", plots.RED, "--"),
}


def _and(names):
    """Names in a sentence."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


# ---- questions


def lengths(rows):
    """Histograms of `length_table` below the mean and standard deviation of each source.

    A base set without questions has no panel.
    """
    counted = [d for d in DATASETS if rows.loc[rows["row"] == d, "left"].notna().any()]
    size = 3 * len(counted), 4
    figure, axes = plots.figure(size, 2, len(counted), sharey="row", height_ratios=[1, 3])
    for (upper, lower), dataset in zip(axes.T, counted):
        part = rows[rows["row"] == dataset]
        plots.dots(upper, _mean_and_deviation(part), title=dataset, limits=(0, LONGEST[dataset]))
        bins = plots.floats(part[part["left"].notna()])
        look = {"color": plots.tint(plots.BLUE, 0.4), "edgecolor": plots.INK, "linewidth": 0.5}
        lower.bar(bins["left"], bins["value"], bins["right"] - bins["left"], align="edge", **look)
        plots.titled(lower, xlabel="words of a question")
        lower.set_title("% of questions", loc="left", fontsize=plots.SMALL, fontweight="normal")
        lower.set_xlim(upper.get_xlim())
    if lacking := [d for d in DATASETS if d not in counted]:
        plots.remark(figure, f"No questions at hand: {', '.join(lacking)}")
    alike = _as_printed(rows[rows["row"].isin(rows.loc[rows["source"] == "raw", "row"])])
    same, other = ([d for d in alike.index if alike[d] == is_] for is_ in (True, False))
    text = f"The questions of {_and(same)} are as long as printed" if same else ""
    text += f"; those at hand of {_and(other)} are not" if other else ""
    return plots.message(figure, text, bool(same), "Marks: mean and one standard deviation.")


def _mean_and_deviation(part):
    """Mean words of a base set by source, -+ one standard deviation: rows for `plots.dots`."""
    wide = part.pivot_table(index="source", columns="column", values="value", sort=False)
    mean, deviation = wide["words, mean"], wide["words, standard deviation"]
    made = wide.assign(value=mean, low=mean - deviation, high=mean + deviation).reset_index()
    return made.assign(row=made["source"].map(plots.label))


def _as_printed(rows):
    """Whether a base set's released questions have the printed mean and deviation (Series)."""
    words = rows[rows["column"].str.startswith("words,")].astype({"value": float})
    wide = words.pivot(index=["row", "column"], columns="source", values="value")
    wide = wide.reindex(columns=["raw", "published"])  # `sample` has no released questions
    return wide.eval("abs(raw - published) <= @ROUNDED").groupby("row").all()


# ---- scores


def f1(rows):
    """`macro_f1` by subset, one line for each evaluator, the printed ones on top."""
    names = rows["row"].str.split(": ", n=1)
    rows = rows.assign(dataset=names.str[0], row=names.str[1]).astype({"value": float})
    printed = rows[rows["source"] == "published"]
    wide = printed.pivot(index="row", columns="dataset", values="value")
    best = wide.mean(axis=1).sort_values(ascending=False, kind="stable").index
    order = list(dict.fromkeys([*best, *rows["row"]]))
    figure, (axes,) = plots.figure((plots.WIDE, 0.32 * len(order) + 1), 1, 3, sharey=True)
    for ax, dataset in zip(axes, DATASETS):
        part = rows[rows["dataset"] == dataset]
        plots.dots(ax, part, title=dataset, xlabel="macro-F1", order=order, limits=(0, 1.04))
        for name, value in wide[dataset].items():
            ink = plots.BLUE if name == EXPERTS else plots.SOFT
            look = {"va": "center", "fontsize": plots.SMALL, "color": ink}
            ax.text(value + 0.04, len(order) - 1 - order.index(name), f"{value:.2f}", **look)
    if (rows["source"] == "run").any():
        plots.legend_below(figure)
    lead = wide.loc[EXPERTS] - wide.drop(EXPERTS).max()
    seen = printed[printed["row"] == EXPERTS].set_index("dataset")["n"]
    by = _and(f"{v:.2f} on {d}" for d, v in lead.sort_values(ascending=False).items())
    on = _and(f"{seen[d]:.0f} answers of {d}" for d in DATASETS)
    return plots.message(
        figure,
        f"By macro-F1, experts lead all others by {by}",
        holds=lead.min() > 2 * ROUNDED,
        about=f"Hollow: as printed. Filled: baselines that read no answer. People judged {on}.",
    )


EXPERTS = "Experts"


# ---- what is flagged


def rates(rows):
    """`rate_rows` behind Table 6, and of this run: the shares flagged of both kinds of answer."""
    rows = _flagged(rows)
    printed = rows[rows["panel"] != OWN]
    apart = printed["value"].where(printed["column"] == FOUND, -printed["value"])
    best = apart.groupby(printed["name"]).sum().sort_values(ascending=False).index
    figure, panels = _panels(rows, 0.6 + 0.33 * len(best))
    for panel, ax in panels.items():
        part = rows[rows["panel"] == panel]
        _own(ax, part) if panel == OWN else _pairs(ax, part, best, told=panel == DATASETS[0])
        ax.tick_params(labelleft=panel == DATASETS[0])
    least, most = _ends(rows, "Table 6")
    misses, alarms = _named(most[FOUND] < 50), _named(least[ACCEPTED] > 50)
    where = [d for d in misses if d in alarms]
    said = {
        f"over half of the hallucinated answers escape {misses[d]}, and over half of the others"
        f" are flagged by {alarms[d]}"
        for d in where
    }
    text = f"On {_and(where)}, {min(said)}" if said else ""
    about = "Flagged, % of the answers; recomputed from accuracy and macro recall as printed."
    return plots.message(figure, text, len(said) == 1, f"{about} Lines: what rounding allows.")


def notes(rows, width=plots.WIDE):
    """`rate_rows` behind Tables 6 and 10 as slopes, and of this run: the shares flagged."""
    rows = _flagged(rows)
    figure, panels = _panels(rows, 2.4, width)
    least, _ = _ends(rows, "Table 10")
    both = _named((least[FOUND] > 90) & (least[ACCEPTED] > 50))
    for panel, ax in panels.items():
        part = rows[rows["panel"] == panel]
        _own(ax, part) if panel == OWN else _slopes(ax, part, told=panel == DATASETS[0])
        ax.tick_params(labelleft=ax.get_subplotspec().is_first_col())
    said = [f"nearly all hallucinated answers of {d} are flagged by {both[d]}" for d in both]
    return plots.message(
        figure,
        f"Given an expert's reason, {said[0]}, and most of the others too" if said else "",
        holds=len(said) == 1,
        about="Flagged, % of the answers, by the model alone and told an expert's reason;"
        " recomputed from accuracy and macro recall as printed in Tables 6 and 10, at Table 4's"
        " shares. Table 10 may be about fewer answers.",
    )


def _flagged(rows):
    """`rate_rows` as shares flagged: of the other answers, those that were not accepted.

    name: the evaluator; of this run, with its note if there are several.
    """
    numbers = rows[["value", "low", "high"]].astype(float)
    turned = (100 - numbers).rename(columns={"low": "high", "high": "low"})
    own = rows["panel"] == OWN
    once = rows[own].groupby("label")["row"].nunique().eq(1).all()
    full = rows["row"].str.removeprefix(f"{OWN}: ")
    shares = numbers.where(rows["column"] == FOUND, turned)
    return rows.assign(**shares, name=rows["label"].where(~own | once, full))


def _ends(rows, table):
    """The least and the most that rounding allows of a table's shares: by base set and name."""
    part = rows[rows["shape"] == table]
    return [
        part.pivot(index=["panel", "name"], columns="column", values=v) for v in ("low", "high")
    ]


def _named(which):
    """Names for which a Series (base set, name) is true: {base set: a phrase}."""
    found = which[which].reset_index().groupby("panel")["name"]
    return {d: _and(found.get_group(d)) for d in DATASETS if d in found.groups}


def _panels(rows, height, width=plots.WIDE):
    """A figure and its axes: one for each base set, and one for this run below, if it has rows."""
    own = rows.loc[rows["panel"] == OWN, "name"].nunique()
    across = len(DATASETS) if width > plots.NARROW else 1
    heights = [height] * (len(DATASETS) // across) + [0.7 + 0.45 * own] * bool(own)
    figure, axes = plots.figure((width, sum(heights)), len(heights), across, height_ratios=heights)
    panels = dict(zip(DATASETS, axes.flat))
    if own:
        below = axes[-1, 0].get_gridspec()[-1, :]
        for ax in axes[-1]:
            ax.remove()
        panels[OWN] = figure.add_subplot(below)
    for panel, ax in panels.items():
        ax.set_title(panel, loc="left")
        ax.grid(visible=False)
    return figure, panels


def _pairs(ax, rows, names, told=False):
    """A line for each name, with the shares flagged of both kinds of answer; told: say of which."""
    for y, name in enumerate(reversed(names)):
        part = rows[rows["name"] == name].dropna(subset="value").sort_values("value")
        ax.plot(part["value"], [y] * len(part), color=plots.CONTEXT, zorder=1)
        edges = (
            part[["value", "low", "high"]].min().min(),
            part[["value", "low", "high"]].max().max(),
        )
        for side, edge, r in zip((-1, 1), edges, part.to_dict("records")):
            what, marker, ink, _ = LOOKS[r["column"]]
            reach = [[r["value"] - r["low"]], [r["high"] - r["value"]]]
            ax.errorbar(r["value"], y, xerr=reach, fmt=marker, color=ink, markersize=5.5)
            _label(ax, f"{r['value']:.0f}", (edge, y), (7 * side, 0), ink)
            if told and y == len(names) - 1:
                _label(ax, what, (r["value"], y), (0, 12), ink)
        if part.empty:
            _label(ax, "no value", (0, y), (1, 0), plots.SOFT)
    ax.set_yticks(range(len(names)), reversed(names))
    ax.set_ylim(-0.5, len(names) - 0.1)
    ax.set_xlim(-14, 114)
    ax.set_xticks(range(0, 101, 25))
    ax.spines["bottom"].set_bounds(0, 100)
    ax.spines["left"].set_visible(False)
    ax.tick_params(left=False)
    ax.set_xlabel("flagged, %")


def _own(ax, rows):
    """The pairs of this run, with long names above their lines."""
    names = dict.fromkeys(rows["name"])
    _pairs(ax, rows, list(names))
    for y, name in enumerate(reversed(names)):
        _label(ax, name, (0, y + 0.42), (1, 0), plots.INK)
    ax.set_yticks([])


def _slopes(ax, rows, told=False):
    """For each name slopes from Table 6 (alone) to Table 10 (with a reason); told: name them."""
    names = list(dict.fromkeys(rows["name"]))[::-1]
    for k, name in enumerate(names):
        x, part = (STEP * k, STEP * k + 1), rows[rows["name"] == name]
        for column, two in part.groupby("column"):
            what, marker, ink, dash = LOOKS[column]
            reach = two["value"] - two["low"], two["high"] - two["value"]
            look = {"marker": marker, "color": ink, "linestyle": dash, "markersize": 5}
            ax.errorbar(x, two["value"], yerr=reach, **look)
            if told and k == len(names) - 1:
                up = 1 if two["value"].max() == part["value"].max() else -1
                edge = two["value"].max() if up > 0 else two["value"].min()
                _label(ax, what, (sum(x) / 2, edge), (0, 15 * up), ink)
        for at, side, (_, two) in zip(x, (-1, 1), part.groupby("shape", sort=False)):
            two = two.sort_values("value")
            push = max(0, CLOSE - two["value"].diff().iloc[-1]) / 2
            for up, r in zip((-push, push), two.to_dict("records")):
                ink = LOOKS[r["column"]][2]
                _label(ax, f"{r['value']:.0f}", (at, r["value"]), (6 * side, up), ink)
        _label(ax, name, (sum(x) / 2, 112), (0, 0), plots.INK)
    ends = [STEP * k + end for k in range(len(names)) for end in (0, 1)]
    ax.set_xticks(ends, ["alone", "told"] * len(names), fontsize=plots.SMALL)
    ax.set_xlim(-0.75, ends[-1] + 0.75)
    ax.set_yticks([0, 50, 100], ["0", "50", "100%"])
    ax.set_ylim(0, 118)
    ax.spines["left"].set_bounds(0, 100)


STEP = 2.7  # from the slopes of one name to those of the next
CLOSE = 10  # percentage points: nearer values are written apart


def _label(ax, text, at, away, ink):
    """A text so many points away from a place, beside it if it is away sideways."""
    across = {0: "center", -1: "right", 1: "left"}[(away[0] > 0) - (away[0] < 0)]
    look = {"color": ink, "fontsize": plots.SMALL, "ha": across, "va": "center"}
    ax.annotate(text, at, away, textcoords="offset points", **look)
