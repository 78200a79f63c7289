"""MedHalu: what its tables and figures show, as table rows: printed numbers beside computed ones."""

from bedside import plots, stats
from bedside.papers.medhalu.data import DATASETS, TYPES, words
from bedside.papers.medhalu.detection import NOTES
from bedside.papers.medhalu.printed import SHORT, answered, printed, sizes
from bedside.papers.medhalu.scores import (
    METRICS,
    averaged,
    blind,
    counts,
    locate,
    per_type,
    scores,
    span_rows,
    span_scores,
    whole,
)
from bedside.tables import (
    COLUMNS,
    differences,
    estimates,
    interval_rows,
    percent,
    table_rows,
    tested_rows,
    with_bounds,
)


def statistics_table(run, typed):
    """Table 4: answers by type and base set, printed, and counted in frames of typed answers, {source: frame}."""
    table, long = run.published("Table 4"), {v: k for k, v in SHORT.items()} | {"Total": "all"}
    rows = [(r.row, long[r.column], "published", r.value, None) for r in table.itertuples()]
    for source, items in typed.items():
        for t, name in [*TYPES.items(), (None, "Total")]:
            part = items if t is None else items[items["type"] == t]
            rows += [
                (name, d, source, (part["dataset"] == d).sum() if d != "all" else len(part), None)
                for d in [*DATASETS, "all"]
            ]
    return table_rows(rows)


LONGEST = dict(zip(DATASETS, [20, 200, 20]))  # words, of the histograms


def length_table(run, sets):
    """Words of the questions of each base set, {name: (texts, source)}: mean and standard deviation beside the printed ones, and shares by length.

    Table rows with left and right (the edges) for those of the histogram; longer questions are in its last bar.
    """
    import numpy as np
    import pandas as pd

    rows = []
    for r in run.published("text 2.2").itertuples():
        rows.append(
            {
                "row": r.row,
                "column": r.column.replace("words of a question", "words"),
                "source": "published",
                "value": r.value,
            }
        )
    for name, (texts, source) in sets.items():
        n = words(texts)
        found = {
            "pairs": len(n),
            "different questions": texts.nunique(),
            "words, mean": n.mean(),
            "words, standard deviation": n.std(),
        }
        rows += [
            {"row": name, "column": c, "source": source, "value": v, "n": len(n)}
            for c, v in found.items()
        ]
        edges = np.linspace(0, LONGEST[name], 21)
        share = np.histogram(n.clip(upper=edges[-1] - 1), edges)[0] / len(n)
        rows += [
            {
                "row": name,
                "column": f"from {a:g} words, %",
                "source": source,
                "value": 100 * v,
                "n": len(n),
                "left": a,
                "right": b,
            }
            for v, a, b in zip(share, edges, edges[1:])
        ]
    return pd.DataFrame(rows).reindex(columns=[*COLUMNS, "left", "right"])


def length_panels(frame):
    """Histograms of question lengths, with mean and standard deviation as printed (hollow) and computed (filled) above them."""
    figure, axes = plots.figure((9.4, 3.2), 1, len(DATASETS), sharey=True)
    for ax, dataset in zip(axes[0], DATASETS):
        part = frame[frame["row"] == dataset]
        plots.histogram(
            ax,
            part[part["left"].notna()],
            title=dataset,
            xlabel="words of a question",
            ylabel="share of questions, %",
        )
        wide = part.pivot_table(index="source", columns="column", values="value", sort=False)
        for k, (source, r) in enumerate(wide.iterrows()):
            plots.spread(ax, r["words, mean"], r["words, standard deviation"], 96 - 8 * k, source)
        ax.set_xlim(0, LONGEST[dataset])
    axes[0, 0].set_ylim(0, 102)
    plots.legend_below(figure)
    return figure


def built_table(built):
    """What a generator made of its requests, by type: unusable, cut off, near copies of the right answer, words; table rows in percent."""
    from rapidfuzz import fuzz

    rows, asked = [], built[built["type"] != "none"]
    for t, part in [("all", asked), *asked.groupby("type", sort=False)]:
        name, got = TYPES.get(t, t), part[part["status"] == "graded"]
        copied = [fuzz.ratio(a, e) >= 80 for a, e in zip(got["answer"], got["expert_answer"])]
        quoted = [
            fuzz.partial_ratio(a, e) >= 80 for a, e in zip(got["answer"], got["expert_answer"])
        ]
        rows += [
            (
                name,
                "gave no answer, %",
                "run",
                *percent((part["status"] != "graded").sum(), len(part)),
            ),
            (name, "cut off at the limit, %", "run", *percent(part["truncated"].sum(), len(part))),
            (name, "nearly the right answer, %", "run", *percent(sum(copied), len(got))),
            (name, "quotes the right answer, %", "run", *percent(sum(quoted), len(got))),
            (name, "words, mean", "run", words(got["answer"]).mean(), None, None, len(got)),
        ]
    plain = built[built["type"] == "none"]
    rows.append(
        (TYPES["none"], "words, mean", "run", words(plain["answer"]).mean(), None, None, len(plain))
    )
    return interval_rows(rows)


def sampling_table(run, drawn, source):
    """Pairs of each base set in the sample and its batches (section 2.3): table rows of counts, printed ones beside."""
    said = run.published("text 2.3").set_index("row")["value"]
    rows = [
        ("sample", "pairs", "published", said["sampled pairs"], None),
        ("batches", "number", "published", said["batches"], None),
        ("batches", "pairs of the smallest", "published", said["pairs of a batch"], None),
        ("batches", "pairs of the largest", "published", said["pairs of a batch"], None),
        ("sample", "pairs", source, len(drawn), None),
        ("batches", "number", source, drawn["batch"].nunique(), None),
    ]
    size, each = (
        drawn.groupby("batch").size(),
        drawn.groupby(["batch", "dataset"]).size().unstack(fill_value=0),
    )
    rows += [
        ("batches", f"pairs of the {what}", source, getattr(size, f)(), None)
        for what, f in (("smallest", "min"), ("largest", "max"))
    ]
    for d in each:
        rows += [
            ("sample", d, source, each[d].sum(), len(drawn)),
            ("batches", f"{d}, fewest", source, each[d].min(), None),
            ("batches", f"{d}, most", source, each[d].max(), None),
        ]
    return table_rows(rows)


def reply_table(judged, items):
    """What the replies were like, by evaluator, in percent: read, said yes, contradicted themselves, and where their spans were found."""
    answers, rows = items.set_index("item")["answer"], []
    for (name, source), part in judged.groupby(["evaluator", "source"], sort=False):
        read = part[part["status"] == "graded"]
        yes, some = read["yes"] == 1, read["spans"].map(len) > 0
        places = [locate(s, answers[r.item]) for r in read.itertuples() for s in r.spans]
        kinds = [p[2] if p else "not in the answer" for p in places]
        shares = {
            "can't be read, %": (len(part) - len(read), len(part)),
            "cut off at the limit, %": (part.get("truncated", yes * 0).sum(), len(part)),
            "yes, %": (yes.sum(), len(read)),
            "yes without a span, %": ((yes & ~some).sum(), yes.sum()),
            "no with spans, %": ((~yes & some).sum(), (~yes).sum()),
            **{
                f"spans: {k}, %": (kinds.count(k), len(kinds))
                for k in ("exact", "aligned", "not in the answer")
            },
        }
        rows += [(name, column, source, *percent(k, n)) for column, (k, n) in shares.items() if n]
    return interval_rows(rows)


def score_rows(shares, by, run, name="{dataset}: {evaluator}"):
    """`scores` as table rows with bounds; by has evaluator and source, name says how a row is called."""
    found = scores(shares, by, run)
    return with_bounds(
        found.assign(
            row=[name.format(**r) for r in found.to_dict("records")], column=found["metric"]
        )
    )[COLUMNS]


def subset_rows(shares, run):
    """`score_rows` of each subset and of all together."""
    import pandas as pd

    return pd.concat(
        [
            score_rows(part, ["dataset", "evaluator", "source"], run)
            for part in (shares, shares.assign(dataset="all"))
        ]
    )


def published_rows(run, table):
    """Table 6, 8 or 10 as printed: table rows `dataset: evaluator`; n as far as the text says it."""
    rows = printed(run, table)
    n = answered(run) if table == "Table 6" else {}
    return rows.assign(
        source="published",
        column=rows["metric"].map(METRICS),
        n=[n.get(k) for k in zip(rows["row"], rows["dataset"])],
        row=rows["dataset"] + ": " + rows["row"],
    )[["row", "column", "source", "value", "n"]]


def detection_table(run, judged, items):
    """Table 6: printed evaluators, this run's models and people's labels, and detectors that don't read, by subset."""
    import pandas as pd

    guesses = [
        blind(int(part["hallucinated"].sum()), len(part), d, "run")
        for d, part in items.groupby("dataset")
    ]
    guesses += [
        blind(sum(n.values()) - n["none"], sum(n.values()), d, "recomputed")
        for d, n in sizes(run).items()
    ]
    return pd.concat(
        [published_rows(run, "Table 6"), subset_rows(averaged(judged, items), run), *guesses],
        ignore_index=True,
    )


def f1_panels(shown):
    """Macro-F1 of Table 6 by subset: one line an evaluator; printed hollow, computed filled, detectors that don't read grey."""
    f1 = shown[shown["column"] == "macro F1"]
    f1 = f1.assign(
        dataset=f1["row"].str.split(": ", n=1).str[0], row=f1["row"].str.split(": ", n=1).str[1]
    )
    order = list(dict.fromkeys(f1["row"]))
    figure, axes = plots.figure((10.2, 0.36 * len(order) + 1.5), 1, len(DATASETS), sharey=True)
    for ax, dataset in zip(axes[0], DATASETS):
        plots.dots(
            ax,
            f1[f1["dataset"] == dataset],
            title=dataset,
            xlabel="macro F1",
            order=order,
            limits=(0, 1.04),
        )
    plots.legend_below(figure)
    return figure


def with_right(shares):
    """The shares of yes with the share `right`."""
    return shares.assign(right=shares["yes"].where(shares["hallucinated"], 1 - shares["yes"]))


RATES = ["specificity, %", "sensitivity, %"]
OWN = "this run, all subsets"


def rate_rows(run, judged, items, rates):
    """Sensitivity and specificity in percent, printed and of this run: table rows with what `rate_planes` needs.

    rates: {table: rows of `implied`}, of which those count that one confusion matrix explains; low and high are its range.
    """
    import pandas as pd

    rows = [
        {
            "row": f"{r['dataset']}: {r['row']}, {table}",
            "column": column,
            "source": "published",
            "n": r["n"],
            "value": 100 * r[rate],
            "low": 100 * r[f"{rate} least"],
            "high": 100 * r[f"{rate} most"],
            "panel": r["dataset"],
            "label": r["row"],
            "shape": table,
        }
        for table, part in rates.items()
        for r in part[part["fits"] > 0].to_dict("records")
        for column in RATES
        for rate in [column.removesuffix(", %")]
    ]
    shares = with_right(averaged(judged, items))
    shares["rate"] = shares["hallucinated"].map({True: RATES[1], False: RATES[0]})
    found = estimates(
        shares.assign(right=100 * shares["right"]),
        ["right"],
        ["evaluator", "rate"],
        run,
        best=100.0,
    )
    rows += [
        {
            **r,
            "row": f"{OWN}: {r['evaluator']}",
            "column": r["rate"],
            "source": "run",
            "panel": OWN,
            "label": r["evaluator"],
            "shape": "people" if r["evaluator"].startswith("people: ") else "models",
        }
        for r in found.to_dict("records")
    ]
    made = pd.DataFrame(rows).reindex(columns=[*COLUMNS, "panel", "label", "shape"])
    made = made[made.groupby("row")["value"].transform("count") == len(RATES)].reset_index(
        drop=True
    )  # who judged one class only has no place
    before = made["row"].str.replace("Table 10", "Table 6").where(made["shape"] == "Table 10", "")
    for model in run.models:
        before = before.where(~made["label"].str.startswith(f"{model}, "), f"{OWN}: {model}")
    return made.assign(origin=before, label=made["label"].str.replace(r"^.*?, ", "", regex=True))


def rate_planes(frame):
    """`rate_rows` in the plane of specificity and sensitivity: one panel a subset for the printed tables, one for this run."""
    figure, axes = plots.figure((9.6, 9.4), 2, 2)
    for ax, panel in zip(axes.flat, [*DATASETS, OWN]):
        part = frame[frame["panel"] == panel]
        wide = part.pivot(index="row", columns="column", values="value").reindex(
            index=part["row"].unique(), columns=RATES
        )
        labels, places = part.drop_duplicates("row").set_index("row")["label"], {}
        for (
            row,
            (x, y),
        ) in (
            wide.iterrows()
        ):  # marks that touch share a label; one just above another's is a line higher
            at = next(
                (k for k, (a, b, _) in places.items() if abs(a - x) < 4 and abs(b - y) < 4), row
            )
            beside = at == row and any(
                abs(a - x) < 16 and -0.5 < y - b < 3 for a, b, _ in places.values()
            )
            places.setdefault(at, (x, y, []))[2].append(labels[row] + "\n" * beside)
        told = (
            part["row"]
            .map({k: "\n".join(dict.fromkeys(names)) for k, (*_, names) in places.items()})
            .fillna("")
        )
        plots.plane(
            ax,
            part.assign(label=told),
            *RATES,
            title=panel,
            xlabel="answers without a hallucination that are let pass, %",
            ylabel="hallucinated answers that are found, %",
        )
    plots.legend_below(figure)
    return figure


def repeat_table(judged, items):
    """How far a model's repeats differ: least and most macro-F1 of single repeats, and items that all repeats answer alike; table rows."""
    rows = []
    for name, part in judged.groupby("evaluator", sort=False):
        wide = part.pivot(index="item", columns="repeat", values="yes")
        read = wide.dropna()
        f1 = [
            stats.macro(counts(averaged(mine, items).dropna(subset=["yes"])).sum(0))[3]
            for _, mine in part.groupby("repeat")
        ]
        rows += [
            (name, "macro F1, least of single repeats", "run", min(f1), None, None, len(wide)),
            (name, "macro F1, most of single repeats", "run", max(f1), None, None, len(wide)),
            (
                name,
                "items answered alike in all repeats, %",
                "run",
                *percent((read.nunique(axis=1) == 1).sum(), len(read)),
            ),
        ]
    return interval_rows(rows)


def type_table(run, judged, items):
    """Table 8: accuracy and macro-F1 of each type against the answers without a hallucination."""
    import pandas as pd

    found = score_rows(
        per_type(averaged(judged, items)),
        ["dataset", "against", "evaluator", "source"],
        run,
        "{dataset}: {evaluator}, {against}",
    )
    return pd.concat(
        [
            published_rows(run, "Table 8"),
            found[found["column"].str.startswith(("accuracy", "macro F1"))],
        ],
        ignore_index=True,
    )


def span_table(run, judged, items, right):
    """Table 7: edit distances as printed and of this run and people, and token scores; right: {item: labelled spans}.

    Where experts' own marks are what counts as right, experts are left out.
    """
    import pandas as pd

    names = {"Mean": "mean edit distance", "Med": "median edit distance"}
    rows = printed(run, "Table 7")
    shown = rows.assign(
        row=rows["dataset"] + ": " + rows["row"],
        column=rows["metric"].map(names),
        source="published",
    )
    known, own = (
        items[items["item"].isin(right)],
        items.loc[items["spans"].map(lambda s: isinstance(s, list)), "item"],
    )
    judged = judged[(judged["evaluator"] != "people: expert") | judged["item"].isin(own)]
    return pd.concat(
        [shown, span_scores(span_rows(pd.concat([judged, whole(known)]), items, right), run)],
        ignore_index=True,
    ).reindex(columns=COLUMNS)


def expert_table(run, judged, items):
    """Table 10: printed scores with an expert's reason, the gains on Table 6, this run with each note, and what a note changes by item."""
    import pandas as pd

    before, after = (published_rows(run, t) for t in ("Table 6", "Table 10"))
    gains = after.merge(
        before, on=["row", "column"], suffixes=("", "_before"), validate="one_to_one"
    )
    gains = gains.assign(
        value=gains["value"] - gains["value_before"],
        column="Δ " + gains["column"],
        source="recomputed",
    )
    shares = averaged(judged, items)
    return pd.concat(
        [after, gains, subset_rows(shares, run), changes(run, shares)], ignore_index=True
    ).reindex(columns=COLUMNS)


def changes(run, shares):
    """What a note changes against no note, paired by item: share right of all, yes to hallucinated answers, yes to the others; table rows.

    Differences of shares with intervals and p of paired permutation tests over items, Holm-corrected over all of them.
    """
    import pandas as pd

    shares = with_right(shares)
    parts = {
        "right, all answers": (shares, "right"),
        "yes, hallucinated answers": (shares[shares["hallucinated"]], "yes"),
        "yes, the other answers": (shares[~shares["hallucinated"]], "yes"),
    }
    made = []
    for model in run.models:
        for condition, text in list(NOTES.items())[1:]:
            for name, (part, column) in parts.items():
                plain, noted = (
                    part[part["evaluator"] == e][["item", column]]
                    for e in (model, model + condition)
                )
                made.append(
                    differences(plain, noted, ["item"], [column])
                    .rename(columns={column: "share"})
                    .assign(row=f"{model}, {text}: {name}")
                )
    return tested_rows(pd.concat(made, ignore_index=True), {"share": "share"}, run)
