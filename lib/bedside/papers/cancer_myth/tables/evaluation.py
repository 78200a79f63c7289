"""Rows on the evaluation (section 4): published numbers beside this run's."""

import pandas as pd

from bedside import stats
from bedside.judging.trust_cards import corrected
from bedside.read.checks import complete, groups, scored
from bedside.read.questions import FROM
from bedside.write.tables import (
    COLUMNS,
    Row,
    cut_note,
    frame,
    no_answer_rows,
    share,
    units_of,
    with_bounds,
)
from bedside.write.tables import published_rows as printed_rows

from .. import printed
from ..scores import counted, scores

FIXED = "corrected for the judge's errors"
CORRECTED = f"PCR {FIXED}"


def beside(said, values, source, n):
    """Printed numbers of one column and, in their order, this run's; rows of its own come last."""
    order = [*said["row"], *values.index.difference(said["row"])]
    column = said["column"].iloc[0]
    mine = [Row(row, column, source, values[row], n=n) for row in order if row in values]
    return frame([*printed_rows(said), *mine])


def answer_health(answered, sets, graded):
    """Length and faults of the answers by model and set of items, in words and percent.

    Also why answers are missing and, for items in `graded` (verdicts), the scores of the uncut
    answers if some were cut.
    """
    rows = []
    for model, mine in groups(answered, "model", ["item", "truncated"], ["reply_status"]):
        for name, items in sets.items():
            part = mine[mine["item"].isin(items)]
            if part.empty:  # MDAgents: asked questions of one kind alone
                continue
            came = complete(part[part["reply_status"] == ""], ["answer"])
            measures = {
                "mean words": (came["answer"].str.split().str.len().mean(), len(came)),
                "cut off at the limit, %": (100 * came["truncated"].mean(), len(came)),
                "no answer, %": (100 * (part["reply_status"] != "").mean(), len(part)),
            }
            if FROM.fullmatch(model):  # answers made elsewhere: not known here
                del measures["cut off at the limit, %"]
            row = f"{model}, {name}"
            rows += [Row(row, column, "run", v, n=n) for column, (v, n) in measures.items()]
            rows += no_answer_rows(row, part["reply_status"])
            judged = graded[(graded["model"] == model) & graded["item"].isin(items)]
            rows += _uncut_rows(row, judged)
    return frame(rows)


def _uncut_rows(row, graded):
    """PCR and PCS of one model's uncut answers, from its verdicts; none if no answer was cut."""
    cut = graded["truncated"].astype(bool)
    if cut.all() or not cut.any():
        return []
    got = scored(graded[~cut])
    grades = got["value"].astype(float)
    lost = (~cut).sum() - len(grades)
    right = share(grades == 1, units_of(got))
    mean = Row(row, "PCS of the uncut", "run", grades.mean(), n=len(grades), unscored=lost)
    return [Row(row, "PCR of the uncut", "run", *right, lost), mean]


def cut(graded, by="model"):
    """What captions say about cut replies: `tables.cut_note` with PCR and PCS. graded: verdicts."""
    return cut_note(counted(graded), {"PCR": "PCR", "PCS": "PCS"}, by=by)


def cut_by_judge(graded):
    """`cut` of the same answers under several judges. graded: {judge: verdicts}."""
    named = [
        complete(g, ["model"]).assign(row=g["model"] + f", judge {judge}")
        for judge, g in graded.items()
    ]
    return cut(pd.concat(named, ignore_index=True), "row")


def score_table(found, run):
    """Published PCR and PCS beside the run's `scores`, the best published PCR first.

    The run's PCR is also corrected for the judge's errors. Version 1 is the paper, version 2 what
    the summary gives of the second version.
    """
    said = printed.scores(run)
    best = said[said["column"] == "PCR"].groupby("row")["value"].max().sort_values(ascending=False)
    place = {model: i for i, model in enumerate(best.index)}
    said = said.assign(
        column=said["column"] + said["version"].map({1: "", 2: f", {printed.SUMMARY}"}),
        source="published",
        n=printed.QUESTIONS,
    ).sort_values("row", key=lambda row: row.map(place), kind="stable")
    mine = found.rename(columns={"model": "row", "metric": "column"}).assign(source="run")
    both = pd.concat([said, with_bounds(mine), _corrected_rows(found, run)], ignore_index=True)
    return both.reindex(columns=COLUMNS)


def series(table, metric=None):
    """Rows for `plots.dots`: one metric of a table.

    The summary's numbers and the corrected ones are series of their own.
    """
    table = table[(table["column"] != CORRECTED) | table["value"].notna()]
    column = table["column"].replace(CORRECTED, f"PCR, {FIXED}")
    apart = column.str.extract(f"(, (?:{printed.SUMMARY}|{FIXED}))")[0].fillna("")
    rows = table.assign(series=table["source"] + apart)
    return rows if metric is None else rows[column.str.split(",").str[0] == metric]


def group_table(found, by, run):
    """PCS of `scores` by category (Figure 7) or generator (6b), a column for each system.

    The published ones come first.
    """
    pcs = found[found["metric"] == "PCS"]
    mine = with_bounds(pcs.assign(row=pcs[by], column=pcs["model"], source="run"))
    said = run.published("v1 Figure 7") if by == "category" else printed.cross_model(run)
    rows = pd.concat([frame(printed_rows(said)), mine], ignore_index=True)
    place = {row: i for i, row in enumerate(dict.fromkeys(rows["row"]))}
    return rows.sort_values("row", key=lambda r: r.map(place), kind="stable", ignore_index=True)


def _corrected_rows(found, run, judge=""):
    """PCR of `scores` corrected for the errors of the run's judge or another, as table rows."""
    rows = []
    for r in found[found["metric"] == "PCR"].itertuples():
        card, rng = run.card(judge), run.rng("corrected", "PCR")
        rate = corrected((r.value, r.low, r.high, r.n), card, rng)
        rows.append(Row(r.model, CORRECTED, "run", *rate, r.unscored))
    return frame(rows)


def judge_table(graded, run):
    """PCS and PCR of the same answers under several judges; PCR corrected for each judge's errors.

    graded: {judge: verdicts}. A model of the run without verdicts has rows without a value.
    """
    parts = []
    for judge, mine in graded.items():
        found = scores(mine)
        given = with_bounds(found.assign(row=found["model"], column=found["metric"], source="run"))
        lost = [m for m in run.models if m not in set(found["model"])]
        none = frame(Row(m, c, "run", None, n=0, unscored=0) for m in lost for c in ("PCS", "PCR"))
        rows = pd.concat([given, _corrected_rows(found, run, judge), none], ignore_index=True)
        parts.append(rows.assign(row=rows["row"] + f", judge {judge}"))
    return pd.concat(parts, ignore_index=True)


HOLM = {"": "", "_holm": ", Holm"}
PAIRS = (
    "p: exact McNemar test if no two questions rest on one myth, else a permutation test that flips"
    " the questions of a myth together, as for PCS; Holm over all p of the table. "
)


def pair_table(pairs, rate="PCR"):
    """Rows of `tables.paired`: differences of PCR (or another rate) in points, and p.

    Of PCR, which has grades behind it, also p of PCS. Holm corrects over all p of the table.
    """
    p = {"p": f"{rate} p", **({"permutation": "PCS p"} if rate == "PCR" else {})}
    corrected = stats.holm(pairs[list(p)].to_numpy(float).ravel()).reshape(-1, len(p))
    pairs = pairs.assign(**{f"{k}_holm": c for k, c in zip(p, corrected.T)})
    names = {"difference": f"{rate} difference, points"}
    names |= {k + part: label + words for k, label in p.items() for part, words in HOLM.items()}
    names["detectable"] = f"detectable {rate} difference, points"
    rows = frame(
        Row(r["row"], label, "run", r[name], n=r["n"])
        for r in pairs.to_dict("records")
        for name, label in names.items()
    )
    told = rows["value"].notna() | (rows["n"] == 0)  # no difference is detectable in a few items
    return rows[told].reset_index(drop=True)


# ---- what the printed numbers allow


def grim_table(run):
    """The counts of answers that print as each PCR: the smallest and the range, or None.

    Also those of grades 0 and -1 that the paper's figures allow together.
    """
    rows, n = [], printed.QUESTIONS
    for version, text in printed.TEXTS.items():
        for model, rate in printed.rates(run, version).items():
            found = stats.grim_counts(rate, n, printed.decimals(rate))
            counts = (found[0], found[0], found[-1]) if found else (None, None, None)
            rows.append(Row(model, f"count, {text}", "recomputed", *counts, n))
    for model, found in printed.grades(run).items():
        for name, counts in zip(("graded 0", "graded −1"), list(zip(*found))[1:]):
            value = counts[0] if len(counts) == 1 else None
            row = Row(model, f"{name}, {printed.TEXTS[1]}", "recomputed", value)
            rows.append(row._replace(low=min(counts), high=max(counts), n=n))
    return frame(rows)


def p_table(run):
    """The two printed p-values beside those that are possible, to two digits.

    The third pair is the likely repair of the second.
    """
    said = run.published("v1 text 4.3").query("column == 'p'").set_index("row")["value"]
    rows = []
    for a, b in printed.TESTED:
        row = f"{a} over {b}"
        rows += [Row(row, "p", "published", said[row])] if row in said else []
        for way, ends in printed.possible_ways(run, a, b).items():
            names = ("least", "most")[: len(set(ends))]
            rows += [
                Row(
                    row, f"{way}: {end}" if len(names) > 1 else way, "recomputed", float(f"{p:.2g}")
                )
                for end, p in zip(names, ends)
            ]
    return frame(rows)
