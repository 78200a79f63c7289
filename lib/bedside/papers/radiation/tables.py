"""Radiation: what its tables and figures show, as table rows: printed numbers beside computed ones."""

from bedside import plots, stats
from bedside.papers.radiation.data import CELLS, PROFILES
from bedside.papers.radiation.printed import all_scores, implied_lengths, printed, rows_of
from bedside.papers.radiation.scores import (
    METRICS,
    f1_of_means,
    health,
    levels,
    overlaps,
    prefixes,
    rates,
    scored,
)
from bedside.tables import (
    COLUMNS,
    differences,
    estimates,
    percent,
    table_rows,
    tested_rows,
    with_bounds,
)


def printed_rows(run, table):
    """A printed table's rows with their intervals over 21 patients."""
    return rows_of(run, table).assign(source="published", n=21).drop(columns=["table", "note"])


def reference_table(reference, source):
    """Side effects by site, onset and frequency, and all of a site: table rows."""
    rows = []
    for site, part in reference.groupby("site", sort=False):
        found = part.groupby(["onset", "frequency"]).size()
        rows += [
            (site, f"{o}, {f}", source, found[o, f], len(part))
            for o, f in CELLS
            if (o, f) in found.index
        ]
        rows.append((site, "all", source, len(part), len(part)))
    return table_rows(rows)


def repair_table(repairs):
    """Every repair of the released reference as table rows: which rows, what was found and how it is read; value counts rows."""
    groups = repairs.groupby(["kind", "found", "read"], sort=False)["row"]
    return table_rows(
        (
            f"{kind}: row{'s' * (len(rows) > 1)} {', '.join(map(str, rows))}",
            f"{found!r} read as {read!r}" if read else f"{found!r} left out",
            "raw",
            len(rows),
            None,
        )
        for (kind, found, read), rows in groups
    )


def strict_table(run, reference):
    """The released reference as a literal reader counts it, and as it is meant: table rows."""
    raw = run.load("radiation_reference")
    category, effect, *_ = raw.columns
    there = raw[raw[effect] != ""]
    counts = {
        "rows of the file": (
            len(raw),
            len(reference.drop_duplicates(["effect", "onset", "frequency"])),
        ),
        "side effects": (there[effect].nunique(), reference["effect"].nunique()),
        "onsets, before the hyphen": (
            there[category].str.split("-").str[0].nunique(),
            reference["onset"].nunique(),
        ),
        "frequencies, after the hyphen": (
            there[category].str.split("-").str[1].nunique(),
            reference["frequency"].nunique(),
        ),
    }
    return table_rows(
        (what, column, "raw", n, None)
        for what, pair in counts.items()
        for column, n in zip(("as it stands", "as it is meant"), pair)
    )


def pair_table(counts, shown, source):
    """What differs inside the pairs of profiles, in counts: all pairs together, then each difference of each pair."""
    names = {
        "mentions": "mentions of radiation",
        "specified": "followed by the site",
        "lost": "word replaced by the site",
        "capitals": "capital letter changed",
        "spaces": "spaces changed",
        "elsewhere": "words changed elsewhere",
    }
    rows = [
        ("all pairs", label, source, counts[name].sum(), len(counts))
        for name, label in names.items()
    ]
    return table_rows(
        rows
        + [
            (item, f"{old!r} became {new!r}", source, len(part), None)
            for (item, old, new), part in shown.groupby(["item", "removed", "added"], sort=False)
        ]
    )


def score_table(run, graded, regime, table):
    """Tables 1, 3 and 4: precision, recall and F1 as printed, and of this run's lists for specified and base profiles."""
    import pandas as pd

    mine = graded[graded["regime"] == regime]
    found = estimates(mine, list(METRICS), ["model", "profile"], run)
    rows = pd.concat([found, f1_of_means(found, ["model", "profile"])], ignore_index=True)
    rows["column"] = rows["metric"].map({**METRICS, "f1 of means": "F1 of the means"}) + rows[
        "profile"
    ].map({"specified": "", "base": ", base profile"})
    order = rows["profile"].map(PROFILES[::-1].index)
    rows = with_bounds(
        rows.assign(row=rows["model"], source="run").iloc[order.argsort(kind="stable")]
    )
    means = _printed_f1_of_means(run, table)
    return pd.concat([printed_rows(run, table), means, rows], ignore_index=True)


def score_panels(shown, baseline=None):
    """A figure of precision, recall and F1 from a `score_table`; `baseline` rows (as `copier_rows`) become dashed lines."""
    figure, (axes,) = plots.figure((9, 0.9 + 0.34 * shown["row"].nunique()), 1, 3, sharey=True)
    for ax, metric in zip(axes, METRICS.values()):
        if baseline is not None:
            ax.axvline(
                baseline.set_index("column").loc[metric, "value"],
                color="0.35",
                linestyle="--",
                label=baseline["row"].iloc[0],
            )
        plots.dots(
            ax,
            shown[(shown["column"] == metric) & shown["value"].notna()],
            title=metric,
            limits=(-0.02, 1.02),
            order=dict.fromkeys(shown["row"]),
        )
    plots.legend_below(figure)
    return figure


def _printed_f1_of_means(run, table):
    wide = printed(run, table)
    return table_rows(
        (m, "F1 of the means", "recomputed", stats.harmonic(r["Precision"], r["Recall"]), 21)
        for m, r in wide.iterrows()
    )


def change_table(run, graded, first, second, table=None):
    """What regime `second` changes against `first`, paired by patient; for Table 2 also as printed, and the scores that follow."""
    import pandas as pd

    mine = graded[graded["profile"] == "specified"]
    changes = differences(
        *(mine[mine["regime"] == regime] for regime in (first, second)), ["item", "model"], METRICS
    )
    rows = tested_rows(changes.rename(columns={"model": "row"}), METRICS, run)
    if table:
        after = all_scores(run)[second]
        rows = pd.concat(
            [
                printed_rows(run, table),
                table_rows(
                    (m, f"{c}, 20-30", "recomputed", after.loc[m, c], 21)
                    for m in after.index
                    for c in after
                ),
                rows,
            ],
            ignore_index=True,
        )
    return rows


def model_table(run, graded):
    """Differences between the run's models, paired by patient and regime: table rows, none for a single model."""
    import itertools

    import pandas as pd

    mine = graded[graded["profile"] == "specified"]
    changes = [
        differences(
            mine[mine["model"] == b], mine[mine["model"] == a], ["item", "regime"], METRICS
        ).assign(row=f"{a} minus {b}")
        for a, b in itertools.combinations(run.models, 2)
    ]
    return tested_rows(pd.concat(changes), METRICS, run) if changes else pd.DataFrame()


HEALTH = {
    "items": "items",
    "repeated": "repeated entries",
    "sized": "of 20 to 30 items, %",
    "none": "no list, %",
    "truncated": "cut off at the limit, %",
    "elsewhere": "items of another part of the body, %",
    "off": "items that are not on the list, %",
}


def health_table(run, lists, regimes):
    """What the lists of some regimes are like, by model: means with intervals over patients, as table rows."""
    mine = health(lists[lists["regime"].isin(regimes)], run)
    shares = [c for c in HEALTH if HEALTH[c].endswith("%")]
    mine[shares] = 100 * mine[shares].astype(float)
    columns = [c for c in HEALTH if c != "off" or "selection" in regimes[0]]
    rows = estimates(mine, columns, ["model", "regime"], run)
    return rows.assign(
        row=rows["model"] + ", " + rows["regime"], column=rows["metric"].map(HEALTH), source="run"
    )


def matcher_table(run, by_matcher, reference, terms):
    """The same lists under several matchers, one to one and not: table rows. by_matcher: {name: matched lists}."""
    import pandas as pd

    names = {
        **METRICS,
        "loose_precision": "Precision, several to one",
        "loose_recall": "Recall, several to one",
    }
    parts = []
    for matcher, matches in by_matcher.items():
        found = estimates(scored(matches, reference, terms), list(names), ["model"], run)
        parts.append(
            with_bounds(
                found.assign(
                    row=found["model"] + ", matcher " + matcher,
                    column=found["metric"].map(names),
                    source="run",
                )
            )
        )
    return pd.concat(parts, ignore_index=True)


def length_curves(run, matches, reference, terms, most):
    """Precision and recall of the first k items, by model and kind of regime: frame model, metric, k, value, low, high, n.

    Free-form and chosen lists apart, both sizes and both profiles of a patient together; a curve ends with the longest list.
    """
    found = prefixes(matches, reference, terms, most)
    found["kind"] = found["regime"].str.split(",").str[0]
    longest = found.groupby(["model", "kind"])["listed"].transform("max")
    rows = estimates(
        found[found["k"] <= longest], ["precision", "recall"], ["model", "kind", "k"], run
    )
    return rows.assign(
        row=rows["model"] + ", " + rows["kind"] + ", first " + rows["k"].astype(str),
        series=rows["model"] + ", " + rows["kind"],
        column=rows["metric"].map(METRICS),
        source="run",
    )


def implied_rows(run, sizes, far=40):
    """The printed models' precision and recall at the list length that they imply: rows with series, k and label (of long ones)."""
    found = implied_lengths(run, sizes).melt(
        ["model", "regime", "items"], ["Precision", "Recall"], "column", "value"
    )
    named = (found["items"] > far) & (found["column"] == "Recall")
    return found.assign(
        row=found["model"] + ", " + found["regime"],
        source="published",
        k=found["items"],
        n=21,
        series="published, " + found["regime"].str.split(",").str[0],
        label=found["model"].where(named, ""),
    )


def overlap_table(run, graded, terms):
    """Table 5: overlap of base and specified lists, as printed and of this run, by texts and by meaning."""
    import pandas as pd

    names = {"free-form": "Overlap (FF)", "free-form, 20-30": "Overlap (LSC)"}
    found = estimates(
        overlaps(graded[graded["regime"].isin(names)], terms),
        ["overlap", "by_meaning"],
        ["model", "regime"],
        run,
    )
    found["column"] = found["regime"].map(names) + found["metric"].map(
        {"overlap": "", "by_meaning": ", by meaning"}
    )
    return pd.concat(
        [printed_rows(run, "Table 5"), with_bounds(found.assign(row=found["model"], source="run"))],
        ignore_index=True,
    )


def level_table(run, found, by, table):
    """Tables 6 and 7: recall by onset or frequency, as printed and of this run, averaged over levels, and over effects."""
    import pandas as pd

    rows = levels(found, by, run)
    rows["column"] = rows[by].str.title().str.replace("-T", "-t") + rows["metric"].map(
        {"recall": "", "pooled": ", over effects"}
    )
    rows = rows.iloc[rows["metric"].eq("pooled").argsort(kind="stable")]
    return pd.concat(
        [printed_rows(run, table), with_bounds(rows.assign(row=rows["model"], source="run"))],
        ignore_index=True,
    )


def crossing_table(run, found):
    """Recall in each cell of onset and frequency, which the paper lacks: table rows, by model."""
    rows = estimates(found, ["recall"], ["model", "onset", "frequency"], run)
    rows = rows.assign(
        row=rows["model"], column=rows["onset"] + ", " + rows["frequency"], source="run"
    )
    order = {
        v: i for i, v in enumerate([*found["model"].unique(), *(f"{o}, {f}" for o, f in CELLS)])
    }
    return with_bounds(rows.sort_values(["row", "column"], key=lambda s: s.map(order)))


def by_kind(labelled, verdicts):
    """Share of right decisions by kind of pair and matcher, in percent: table rows. verdicts: {matcher: frame in order}."""
    import pandas as pd

    rows = []
    for matcher, frame in verdicts.items():
        got = (frame["status"] == "graded").to_numpy()
        right = (frame["value"] == labelled["label"].to_numpy()).to_numpy()
        for (label, kind), where in labelled.groupby(["label", "kind"]).indices.items():
            rows.append(
                (
                    f"{label}: {kind}",
                    matcher,
                    "run",
                    *percent(right[where][got[where]].sum(), int(got[where].sum())),
                    int((~got[where]).sum()),
                )
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def copier_rows(run, patients, reference, terms):
    """What a guesser scores who copies the whole vocabulary: table rows, with intervals over patients."""
    size = patients["site"].map(reference.groupby("site").size()).to_numpy()
    mine = patients[["item"]].assign(
        model="copier of the whole list", **rates(size, len(terms), size)
    )
    found = estimates(mine, list(METRICS), ["model"], run)
    return found.assign(
        row=found["model"],
        column=found["metric"].map(METRICS),
        source="raw" if run.profile == "public" else "run",
    )


def misfit_table(misfit):
    """`agreement` of the printed tables by model and way of averaging: table rows."""
    names = {"levels": "if each level counts once", "effects": "if each effect counts once"}
    return table_rows(
        (m, names[how], "recomputed", v, None)
        for how, found in misfit.items()
        for m, v in found.items()
    )
