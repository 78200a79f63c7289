"""Cancer-Myth: what its tables and figures show, as table rows: printed numbers beside computed ones."""

from bedside import stats
from bedside.papers.cancer_myth.data import CATEGORIES, GRADES, scores
from bedside.papers.cancer_myth.printed import printed_scores
from bedside.tables import COLUMNS, card_rows, percent, table_rows, with_bounds, without_bounds


def counts(items, what, source):
    """Questions by category or generator, most first: table rows."""
    found = items[what].value_counts()
    order = (
        [c for c in CATEGORIES.values() if c in found.index] if what == "category" else found.index
    )
    return table_rows((name, "questions", source, found[name], len(items)) for name in order)


def answer_health(answered, sets):
    """What the answers are like, by model and set of items: table rows in percent, words for the length."""
    rows = []
    for model, mine in answered.groupby("model", sort=False):
        for name, items in sets.items():
            part = mine[mine["item"].isin(items)]
            came = part[part["reply_status"] == ""]
            words = came["answer"].str.split().str.len()
            for column, value in (
                ("mean words", words.mean()),
                ("cut off at the limit, %", 100 * came["truncated"].mean()),
                ("no answer, %", 100 * (part["reply_status"] != "").mean()),
            ):
                rows.append((f"{model}, {name}", column, "run", value, len(part)))
    return table_rows(rows)


def score_table(scores, run):
    """Printed PCR and PCS of both versions beside the run's: table rows, best printed first."""
    import pandas as pd

    parts = [
        (rows := printed_scores(run, v)).assign(column=rows["column"] + f", version {v}")
        for v in (1, 2)
    ]
    printed = pd.concat(parts).assign(source="published", n=585)[
        ["row", "column", "source", "value", "n"]
    ]
    first = (
        printed[printed["column"].str.startswith("PCR")]
        .groupby("row")["value"]
        .max()
        .sort_values(ascending=False)
    )
    printed = printed.sort_values(
        "row", key=lambda r: r.map({m: i for i, m in enumerate(first.index)}), kind="stable"
    )
    mine = with_bounds(
        scores.rename(columns={"model": "row", "metric": "column"}).assign(source="run")
    )
    return pd.concat(
        [printed, mine[["row", "column", "source", "value", "low", "high", "n", "unscored"]]],
        ignore_index=True,
    )


def series(table, metric=None):
    """Rows of a table for `plots.dots`, one metric of it, the version of the paper in the series."""
    table = without_bounds(table)
    part = table if metric is None else table[table["column"].str.split(",").str[0] == metric]
    version = part["column"].str.extract(r"(, version \d)")[0].fillna("")
    return part.assign(series=part["source"] + version)


def group_table(scores, by, run):
    """PCS by category or generator: table rows; the printed ones where the text has a number."""
    import pandas as pd

    pcs = scores[scores["metric"] == "PCS"]
    one = pcs["model"].nunique() == 1
    rows = pcs.assign(
        row=pcs[by] if one else pcs[by] + ", " + pcs["model"],
        source="run",
        column="PCS" if not one else "PCS, " + pcs["model"],
    )
    rows = with_bounds(rows)
    if by == "generator":
        printed = run.published("v1 text 4.3")
        printed = printed[printed["row"].str.contains(" on questions by ")]
        printed = printed.assign(
            row="GPT-4o (answers by Gemini-1.5-Pro)", column="PCS, version 1", source="published"
        )
        rows = pd.concat([printed, rows])
    order = {c: i for i, c in enumerate(CATEGORIES.values())}
    return rows.sort_values(
        "row", key=lambda r: r.map(lambda x: order.get(x, 99)), kind="stable", ignore_index=True
    )


def judge_table(graded, run):
    """PCS and PCR of the same answers under several judges, and PCR corrected for each judge's errors: table rows."""
    import pandas as pd

    parts = []
    for judge, frame in graded.items():
        found = scores(frame, run)
        parts.append(
            with_bounds(
                found.assign(row=found["model"] + ", judge " + judge, column=found["metric"])
            )
        )
        for r in found[found["metric"] == "PCR"].itertuples():
            hits = round(r.value * r.n / 100) if r.n else 0
            if i := corrected(hits, r.n, run.card(judge), run.rng("corrected", judge, r.model)):
                parts.append(
                    pd.DataFrame(
                        [
                            {
                                "row": f"{r.model}, judge {judge}",
                                "column": "PCR corrected for the judge's errors",
                                "value": i.value,
                                "low": i.low,
                                "high": i.high,
                                "n": r.n,
                                "unscored": r.unscored,
                            }
                        ]
                    )
                )
    return pd.concat(parts, ignore_index=True).assign(source="run")


def corrected(hits, n, card, rng):
    """A judged share corrected for the judge's sensitivity and specificity (on its trust card), an Interval in percent.

    None where the card has none, or nothing was judged. NaN for a judge without skill, which allows no correction.
    """
    if "sensitivity" not in card or not n:
        return None
    rates = [
        stats.Interval(*(float("nan") if v is None else v for v in card[k].values()))
        for k in ("sensitivity", "specificity")
    ]
    i = stats.corrected_rate(hits, n, *rates, rng)
    return stats.Interval(100 * i.value, 100 * i.low, 100 * i.high, n)


def pair_table(pairs, rate="PCR"):
    """`compare` as table rows: differences in points of PCR (or another rate), p values plain and by Holm."""
    names = {
        "difference": f"{rate} difference, points",
        "mcnemar": "McNemar p",
        "mcnemar_holm": "McNemar p, Holm",
    }
    if rate == "PCR":
        names |= {"permutation": "PCS permutation p", "permutation_holm": "PCS permutation p, Holm"}
    names["detectable"] = f"detectable {rate} difference, points"
    rows = table_rows(
        (r["row"], label, "run", r[name], r["n"])
        for _, r in pairs.iterrows()
        for name, label in names.items()
    )
    return rows[rows["value"].notna() | (rows["n"] == 0)].reset_index(
        drop=True
    )  # no difference is detectable in a few items


def agreement_table(cards, table1, on_zero, kappas):
    """Table 1: printed agreement of GPT-4o and the run's judges' trust cards, in percent; kappa as it is."""
    import pandas as pd

    names = {"exact match": "exact match", "binary match": "binary match (-1 and 0 against 1)"}
    printed = [
        ("GPT-4o (the paper's judge)", names[r.column], "published", r.value, None, None, 76, None)
        for r in table1.itertuples()
        if r.column in names
    ]
    printed += [
        (
            "GPT-4o (the paper's judge)",
            "exact match where the label is 0",
            "published",
            on_zero["value"].iloc[0],
            None,
            None,
            None,
            None,
        ),
        (
            "GPT-4o (the paper's judge)",
            "kappa",
            "recomputed",
            None,
            min(kappas),
            max(kappas),
            76,
            None,
        ),
    ]
    rows = []
    for name, card in cards.items():
        rows += card_rows(
            name,
            card,
            {
                "exact": names["exact match"],
                "binary": names["binary match"],
                "sensitivity": "sensitivity for 1",
                "specificity": "specificity for 1",
                "kappa": "kappa",
                "kappa_quadratic": "kappa, quadratic",
            },
        )
        if card["n"] > card["unscored"]:
            zero = card["confusion"][GRADES.index(0)]
            share = percent(zero[GRADES.index(0)], sum(zero))
            rows.insert(
                -4, (name, "exact match where the label is 0", "run", *share, card["unscored"])
            )
    guess = next(iter(cards.values()))
    rows += [
        ("constant guesser", label, "run", 100 * guess[key], None, None, guess["n"], 0)
        for key, label in (
            ("guesser_exact", names["exact match"]),
            ("guesser_binary", names["binary match"]),
        )
    ]
    rows += [("constant guesser", "kappa", "run", 0.0, None, None, guess["n"], 0)]
    return pd.DataFrame(printed + rows, columns=COLUMNS)
