"""MedDialBench: the rows of tables and figures, from printed numbers and from consultations."""

from bedside import plots, stats
from bedside.papers.meddialbench import printed, scores
from bedside.papers.meddialbench.consultations import ENDS
from bedside.papers.meddialbench.data import BASELINE
from bedside.papers.meddialbench.rules import NAME as RULES
from bedside.tables import estimates, interval_rows, percent, printed_rows, with_bounds


def stack(*frames):
    """Table rows one below the other."""
    import pandas as pd

    return pd.concat([f for f in frames if len(f)], ignore_index=True)


# ---- baseline


def baseline_table(run, done):
    """Table 2: accuracy in percent, turns, coverage and coverage per turn; recomputed: coverage over turns."""
    table = run.published("Table 2")
    two = table.pivot(index="row", columns="column", values="value").loc[table["row"].unique()]
    rows = printed_rows(table) + [
        (m, "Cov/Turn", "recomputed", r["Coverage"] / r["Turns"], None, None, None)
        for m, r in two.iterrows()
    ]
    mine = done[done["configuration"] == BASELINE]
    found = scores.accuracy(mine).assign(row=lambda f: f["model"], column="Acc", source="run")
    other = (
        estimates(
            mine.assign(Turns=mine["turns"].astype(float), item=mine["case"]).rename(
                columns={"coverage": "Coverage", "per_turn": "Cov/Turn"}
            ),
            ["Turns", "Coverage", "Cov/Turn"],
            ["model"],
            run,
        )
        .rename(columns={"model": "row", "metric": "column"})
        .assign(source="run")
    )
    return stack(interval_rows(rows), with_bounds(found), other[other["n"] > 0])


def end_table(done):
    """How consultations ended, percent by doctor and end, with who broke off."""
    rows = []
    for model, mine in done.groupby("model", sort=False):
        for end, what in ENDS.items():
            for by in ("doctor", "patient") if end not in ("ended", "limit") else ("",):
                hits = ((mine["end"] == end) & (mine["by"] == by)).sum()
                if hits:
                    rows.append(
                        (
                            f"{by or 'both'}: {what}" if by else what,
                            model,
                            "run",
                            *percent(hits, len(mine)),
                        )
                    )
    return interval_rows(rows)


# ---- single dimensions


def single_table(run, done):
    """Table 3: accuracy by configuration and model, printed and of this run, with bounds for what is unscored."""
    mine = scores.accuracy(done).assign(
        row=lambda f: f["configuration"], column=lambda f: f["model"], source="run"
    )
    return stack(interval_rows(printed_rows(run.published("Table 3"))), with_bounds(mine))


def change_table(run, changed, coverage):
    """Changes against the baseline with exact McNemar, with and without Holm: of this run, and what the printed margins allow."""
    import pandas as pd

    rows = [
        (
            r.configuration,
            f"{r.model}: least and most p",
            "recomputed",
            None,
            r.low,
            r.high,
            printed.N,
        )
        for r in printed.marks(run).itertuples()
    ]
    rows += [
        (c, f"{m}: change, points", "recomputed", -v, None, None, printed.N)
        for c, r in printed.drops(run).iterrows()
        for m, v in r.items()
    ]
    for r in changed.itertuples():
        if r.n:
            rows += [
                (
                    r.configuration,
                    f"{r.model}: change, points",
                    "run",
                    100 * r.value,
                    100 * r.low,
                    100 * r.high,
                    r.n,
                )
            ]
            rows += [
                (r.configuration, f"{r.model}: {what}", "run", value, None, None, r.n)
                for what, value in (
                    ("p", r.p),
                    ("p, Holm", r.p_holm),
                    ("detectable change, points", 100 * r.detectable),
                )
                if not pd.isna(value)
            ]
    rows += [
        (r.configuration, f"{r.model}: change of coverage", "run", r.value, r.low, r.high, r.n)
        for r in coverage.itertuples()
        if r.n
    ]
    return interval_rows(rows)


def dose_rows(run, design, done):
    """Accuracy by severity of each dimension alone: mean, best and worst of the printed models, and this run's doctors; shares.

    row: dimension and severity, column: series; dimension, severity and label for the figure.
    """
    share, rows = printed.share(run) / 100, []
    mine = scores.accuracy(done).set_index(["configuration", "model"])
    for d in design.dimensions:
        for severity, level in enumerate(design.of(d)):
            name = level if severity else BASELINE
            if name in share.index:
                for what, value in (
                    ("mean of five models", share.loc[name].mean()),
                    ("best", share.loc[name].max()),
                    ("worst", share.loc[name].min()),
                ):
                    rows.append(
                        (
                            d,
                            severity,
                            f"published, {what}",
                            "recomputed",
                            value,
                            None,
                            None,
                            printed.N,
                        )
                    )
            for model in done["model"].unique():
                r = mine.loc[(name, model)]
                rows.append(
                    (
                        d,
                        severity,
                        model,
                        "run",
                        r["value"] / 100,
                        r["low"] / 100,
                        r["high"] / 100,
                        r["n"],
                    )
                )
    import pandas as pd

    found = pd.DataFrame(
        rows, columns=["dimension", "severity", "series", "source", "value", "low", "high", "n"]
    )
    return found.assign(
        row=found["dimension"] + " " + found["severity"].astype(str),
        column=found["series"],
        label="",
    )


def dose_figure(rows, design):
    """Figure 3: a panel for each dimension."""
    figure, axes = plots.figure((10, 3.6), columns=len(design.dimensions), sharey=True)
    for ax, (d, part) in zip(axes[0], rows.groupby("dimension", sort=False)):
        plots.curves(
            ax,
            part,
            "severity",
            title=design.dimensions[d]["title"],
            xlabel="severity",
            ylabel="accuracy" if ax is axes[0][0] else "",
        )
        ax.set_xticks(range(len(design.of(d))))
    plots.legend_below(figure)
    return figure


def coverage_rows(run, done, changed, coverage):
    """Coverage of this run by configuration and doctor (shares), and changes of coverage and accuracy, printed and of this run."""
    import pandas as pd

    made = estimates(
        done.assign(item=done["case"]), ["coverage"], ["configuration", "model"], run
    ).rename(columns={"configuration": "row", "model": "column"})
    both = changed.merge(coverage, on=["model", "configuration"], suffixes=("", "_coverage"))
    both = both[(both["n"] > 0) & (both["n_coverage"] > 0)]
    rows = [
        (f"{r.configuration}, {r.model}", x, "run", v, low, high, n)
        for r in both.itertuples()
        for x, v, low, high, n in (
            ("change of accuracy, points", 100 * r.value, 100 * r.low, 100 * r.high, r.n),
            ("change of coverage", r.value_coverage, r.low_coverage, r.high_coverage, r.n_coverage),
        )
    ]
    drops, said = (
        printed.drops(run).mean(axis=1),
        run.published("text 4.2").set_index(["row", "column"])["value"],
    )
    for name, words in (
        ("fabricating", "fabricating, mean"),
        ("withholding", "withholding and dominant,"),
        ("dominant", "withholding and dominant,"),
    ):
        rows += [
            (
                f"{name}, mean of five models",
                "change of coverage",
                "published",
                -said[f"{words} loss of coverage", "coverage"],
                None,
                None,
                None,
            ),
            (
                f"{name}, mean of five models",
                "change of accuracy, points",
                "recomputed",
                -drops[name],
                None,
                None,
                printed.N,
            ),
        ]
    return pd.concat(
        [
            made[["row", "column", "value", "low", "high", "n", "unscored"]].assign(source="run"),
            interval_rows(rows),
        ],
        ignore_index=True,
    )


def coverage_figure(rows, done):
    """Figure 2: coverage by configuration and doctor, and its change against that of accuracy."""
    import pandas as pd

    figure, axes = plots.figure((10, 4.6), columns=2)
    doctors = done["model"].unique()
    heat = rows[rows["column"].isin(doctors)]
    plots.heat(
        axes[0][0],
        heat.assign(column=heat["column"].str.replace("-", "-\n", n=1)),
        title="Coverage of key items, this run",
    )
    both = rows[rows["column"].str.startswith("change")]
    pairs = (
        both.pivot_table(index="row", columns="column", values="value", sort=False)
        .reset_index()
        .dropna()
    )
    paper = pairs["row"].str.endswith("five models")
    pairs = pd.concat([pairs[~paper].assign(source="run"), pairs[paper].assign(source="published")])
    pairs = pairs[pairs["source"].eq("published") | pairs["row"].str.endswith(RULES)]
    plots.points(
        axes[0][1],
        pairs.assign(label=pairs["row"].str.split(",").str[0]),
        "change of coverage",
        "change of accuracy, points",
        title="Changes: printed, and of the rules",
        xlabel="change of coverage",
        ylabel="change of accuracy, points",
    )
    plots.legend_below(figure)
    return figure


# ---- interactions


def interaction_table(run, design, found):
    """Table 4: mean accuracy, mean drop and O/E of each combination, printed, recomputed (mean and each model), and of this run."""
    import numpy as np

    rows = printed_rows(run.published("Table 4"))
    paper = printed.combinations(design)
    ratios, draws = printed.ratios(run, paper), printed.ratio_draws(run, paper)
    means = np.quantile(draws.mean(-1), [0.025, 0.975], axis=0)
    each = np.quantile(draws, [0.025, 0.975], axis=0)
    share, drops = printed.share(run), printed.drops(run)
    for k, c in enumerate(paper):
        rows += [
            (c, "Mean Acc", "recomputed", share.loc[c].mean(), None, None, printed.N),
            (c, "Mean drop", "recomputed", drops.loc[c].mean(), None, None, printed.N),
            (c, "O/E", "recomputed", ratios.loc[c].mean(), *means[:, k], printed.N),
        ]
        rows += [
            (c, f"O/E, {m}", "recomputed", ratios.at[c, m], *each[:, k, j], printed.N)
            for j, m in enumerate(printed.MODELS)
        ]
    for r in found.itertuples():
        if r.n and r.value == r.value:
            rows.append((r.configuration, f"O/E, {r.model}", "run", r.value, r.low, r.high, r.n))
        if r.eligible and r.eligible > 0:
            rows.append(
                (
                    r.configuration,
                    f"fail only in combination, %, {r.model}",
                    "run",
                    *percent(r.failing, int(r.eligible)),
                )
            )
    return interval_rows(rows)


def interaction_figure(rows):
    """Figure 4: O/E of each combination: the mean, printed and recomputed; this run's; and each printed model."""
    figure, axes = plots.figure((10, 4.2), columns=2)
    mean = rows[(rows["column"] == "O/E")].assign(series=lambda f: f["source"])
    mine = rows[(rows["source"] == "run") & rows["column"].str.startswith("O/E")].assign(
        series="run, " + rows["column"].str.removeprefix("O/E, ")
    )
    shown = stack(mean, mine)
    plots.dots(
        axes[0][0],
        shown,
        title="Observed over expected accuracy",
        xlabel="O/E; 1: the two levels act independently",
        limits=(-0.1, max(2.2, 1.05 * shown["high"].max())),
    )
    axes[0][0].axvline(1, color="0.6", linewidth=0.8)
    each = rows[(rows["source"] == "recomputed") & rows["column"].str.startswith("O/E, ")]
    plots.heat(
        axes[0][1],
        each.assign(column=each["column"].str.removeprefix("O/E, ")),
        title="Recomputed from Table 9, each model",
    )
    plots.legend_below(figure)
    return figure


def mixed_table(fitted):
    """The mixed model's terms: odds of failure at baseline, odds ratios of the others, the standard deviation of cases' log odds."""
    import numpy as np

    shown = {scores.INTERCEPT: "odds of failure", scores.BETWEEN: "log odds"}
    return interval_rows(
        (
            r.term,
            shown.get(r.term, "odds ratio of failure"),
            "run",
            *np.exp([r.value, r.low, r.high]),
            r.n,
        )
        for r in fitted.itertuples()
    )


# ---- vulnerability


def profile_rows(run, changed):
    """Loss of accuracy (share) by configuration and model: recomputed from Table 9, and this run's."""
    rows = [
        (c, m, "recomputed", v / 100, None, None, printed.N)
        for c, r in printed.drops(run).iterrows()
        for m, v in r.items()
    ]
    rows += [
        (r.configuration, r.model, "run", 0 - r.value, 0 - r.high, 0 - r.low, r.n)
        for r in changed.itertuples()
    ]
    return interval_rows(rows).dropna(subset=["value"])


def profile_figure(rows):
    """Figure 5: losses of the printed models and of this run's doctors."""
    order = list(dict.fromkeys(rows["row"]))
    figure, axes = plots.figure(
        (10, 5),
        columns=2,
        width_ratios=(5, max(2, rows.loc[rows["source"] == "run", "column"].nunique())),
    )
    for ax, source, title in zip(
        axes[0], ("recomputed", "run"), ("Published models: loss of accuracy", "This run")
    ):
        part = rows[rows["source"] == source].sort_values(
            "row", key=lambda r: r.map(order.index), kind="stable"
        )
        plots.heat(
            ax,
            part.assign(
                column=(
                    part["column"].str.replace("-", "-\n", n=1)
                    if source == "run"
                    else part["column"]
                )
            ),
            title=title,
        )
    return figure


def worst_table(run, changed, misled):
    """Worst case of each model, its loss in points; drops by pathway; share misled among all and among wrong diagnoses."""
    drops = printed.drops(run)
    rows = []
    for m in drops:
        rows += [
            (m, f"worst: {drops[m].idxmax()}", "recomputed", drops[m].max(), None, None, printed.N),
            (
                m,
                "fabricating over withholding",
                "recomputed",
                drops.at["fabricating", m] / drops.at["withholding", m],
                None,
                None,
                printed.N,
            ),
            (
                m,
                "extreme pollution over extreme deficit",
                "recomputed",
                drops.loc[["fabricating", "complete_denial"], m].mean()
                / drops.loc[["withholding", "dominant"], m].mean(),
                None,
                None,
                printed.N,
            ),
        ]
    for model, part in changed[changed["n"] > 0].groupby("model", sort=False):
        r = part.sort_values("value", kind="stable").iloc[0]
        rows.append(
            (
                model,
                f"worst: {r['configuration']}",
                "run",
                *(0 - 100 * r[x] for x in ("value", "high", "low")),
                r["n"],
            )
        )
    rows += [
        (
            model,
            f"misled, % of {what}",
            "run",
            *percent(part["misled"].sum(), part["misled"].notna().sum()),
        )
        for model, mine in misled.groupby("model", sort=False)
        for what, part in (
            ("diagnoses under fabricating", mine),
            ("the wrong ones", mine[mine["correct"] == 0]),
        )
        if part["misled"].notna().any()
    ]
    return interval_rows(rows)


def strategy_table(run, done):
    """Inquiry against deficit and pollution: turns, loss of coverage and of accuracy under C4 and C3, by doctor; printed turns."""
    rows = printed_rows(
        run.published("Table 2").query("column == 'Turns'").assign(column="turns, baseline")
    )
    rows += [
        (m, f"loss of accuracy, {c}, points", "recomputed", v, None, None, printed.N)
        for c in ("C4", "C3")
        for m, v in printed.drops(run).loc[c].items()
    ]
    for model, mine in done.groupby("model", sort=False):
        base = mine[mine["configuration"] == BASELINE].set_index("case")
        rows.append((model, "turns, baseline", "run", base["turns"].mean(), None, None, len(base)))
        for c in ("C4", "C3"):
            other = mine[mine["configuration"] == c].set_index("case")
            for column, what, k in (
                ("coverage", "loss of coverage", 1),
                ("correct", "loss of accuracy", 100),
            ):
                gap = (base[column] - other[column]).dropna()
                if len(gap):
                    i = stats.bootstrap(k * gap.to_numpy(), run.rng("strategy", model, c, column))
                    rows.append((model, f"{what}, {c}" + ", points" * (k > 1), "run", *i))
    return interval_rows(rows)


def power_table(run, sizes):
    """Power of exact McNemar at the printed drops for several numbers of cases, between the fewest and the most discordant pairs."""
    rows = []
    for c in ("fabricating", "withholding"):
        found = printed.powers(run, c, sizes)
        rows += [
            (
                f"{c}, {r.model}",
                f"{r.n} cases",
                "recomputed",
                None,
                min(r.fewest, r.most),
                max(r.fewest, r.most),
                r.n,
            )
            for r in found.itertuples()
        ]
    least = {n: [100 * stats.mde_paired(n, d) for d in (0.15, 0.4)] for n in sizes}
    rows += [
        ("smallest detectable change, points", f"{n} cases", "recomputed", None, *v, n)
        for n, v in least.items()
        if v[0] == v[0]
    ]
    return interval_rows(rows)
