"""Radiation: the rows of its tables and figures, with printed numbers beside computed ones.

Those about the released files are in `files`.
"""

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, groups, joined
from bedside.write.tables import (
    Row,
    cut_note,
    differences,
    estimated_means,
    frame,
    no_answer_rows,
    share,
    tested_rows,
    with_bounds,
)

from .. import agreement, printed, scores
from ..data import CELLS, FREQUENCIES, MOST, ONSETS, PROFILES
from ..matching import FLAGS, PAIR
from ..scores import KEYS, METRICS

PRINTED = 21  # patients behind the printed means

# ---- lists and their scores


def printed_rows(run, table):
    """A printed table's rows, with their intervals and the paper's number of patients."""
    rows = printed.rows_of(run, table).assign(source="published", n=PRINTED)
    return rows.drop(columns=["table", "note"])


HEALTH = {
    "items": "items",
    "repeated": "repeated entries",
    "sized": "of 20 to 30 items, %",
    "none": "no list, %",
    "truncated": "cut off at the limit, %",
    "elsewhere": "items of another part of the body, %",
    "off": "items that are not on the list, %",
}

OF_LISTS = ["sized", "none", "truncated"]  # yes or no for each list
PARTS = ["elsewhere", "off"]  # shares of a list's items


def health_table(run, graded, regimes):
    """What the lists of some regimes look like, by model, with intervals over patients.

    Where some lists were cut, the scores of the uncut ones are among the rows; the last rows say
    why there is no reply.
    """
    lists, by = graded[graded["regime"].isin(regimes)], ["model", "regime"]
    made = scores.health(lists, run)
    made[PARTS] = 100 * made[PARTS].astype(float)
    columns = [c for c in HEALTH if c != "off" or "selection" in regimes[0]]
    uncut = {metric: f"{name} of the uncut" for metric, name in METRICS.items()}
    made[list(uncut)] = lists[list(uncut)].astype(float)
    some = made.groupby(by)["truncated"].transform("any")
    whole = made[some & (made["truncated"] == 0)]
    rows = estimated_means(made, columns, by)
    rows = pd.concat([_of_lists(rows, made), estimated_means(whole, uncut, by)])
    names = rows["model"] + ", " + rows["regime"]
    rows = rows.assign(row=names, column=rows["metric"].map(HEALTH | uncut), source="run")
    asked = groups(lists, by, texts=["reply_status"])
    why = [no_answer_rows(", ".join(key), g["reply_status"]) for key, g in asked]
    rows, place = pd.concat([rows, frame(itertools.chain(*why))]), names.unique().tolist().index
    return rows.sort_values("row", key=lambda row: row.map(place), kind="stable")


def _of_lists(rows, made):
    """`estimated_means` rows in which OF_LISTS are shares of lists, over patients."""
    lists = made.groupby(["model", "regime"])
    rows = rows.astype({"value": float, "low": float, "high": float})
    for i, r in enumerate(rows.itertuples()):
        if r.metric in OF_LISTS:
            got = lists.get_group((r.model, r.regime)).dropna(subset=[r.metric])
            found = share(got[r.metric].astype(bool), got["item"])[:3]
            rows.iloc[i, rows.columns.get_indexer(["value", "low", "high"])] = found
    return rows


def cut(graded, metrics=METRICS):
    """What captions say of cut lists, by model and regime; see `tables.cut_note`.

    metrics: {column of the scored lists: name}.
    """
    graded = complete(graded, ["model", "regime"])
    return cut_note(graded.assign(row=graded["model"] + ", " + graded["regime"]), metrics, by="row")


def cut_by_matcher(graded):
    """`cut` for the same lists under several matchers. graded: {name: scored lists}."""
    named = [
        complete(g, ["model"]).assign(row=g["model"] + f", matcher {name}")
        for name, g in graded.items()
    ]
    return cut_note(pd.concat(named), METRICS, by="row")


def cut_pairs(graded, found):
    """`cut` for pairs of base and specified lists; a pair with a cut list counts as cut.

    found: item, model, regime, overlap, by_meaning.
    """
    either = groups(graded, PAIR, ["truncated"])["truncated"].any().reset_index()
    found = joined(found[[*PAIR, "overlap", "by_meaning"]], either, PAIR)
    note = cut(found, {"overlap": "overlap", "by_meaning": "overlap by meaning"})
    return f"{note} The counts are of pairs of lists."


def cut_by_level(graded, recalls, by):
    """`cut` for the lists behind Tables 6 and 7, by model. recalls: KEYS, `by` and recall."""
    wide = recalls.pivot(index=KEYS, columns=by, values="recall")
    wide = wide[[level for level in recalls[by].unique()]].reset_index()
    wide = joined(wide, graded[[*KEYS, "truncated"]], KEYS)
    return cut_note(wide, {level: level for level in recalls[by].unique()})


def score_table(run, means, table):
    """Tables 1, 3 and 4: precision, recall and F1, as printed and of this run's lists.

    means: `estimated_means` of METRICS by model and profile. Specified profiles have the paper's
    columns, and base profiles columns beside them. Rows with the harmonic mean of the means have no
    interval; it is 0 where both means are 0.
    """
    wide = means.pivot(index=["model", "profile"], columns="metric", values="value")
    wide = wide.reindex(columns=["precision", "recall"])
    value = stats.harmonic(wide["precision"], wide["recall"])
    value = value.fillna(0).where(wide.notna().all(axis=1))
    of_means = pd.DataFrame({"metric": "f1 of means", "value": value}).reset_index()
    rows = pd.concat([means, of_means], ignore_index=True)
    metric = rows["metric"].map({**METRICS, "f1 of means": "F1 of the means"})
    profile = rows["profile"].map({"specified": "", "base": ", base profile"})
    rows = rows.assign(row=rows["model"], column=metric + profile, source="run")
    order = rows["profile"].map(PROFILES[::-1].index).argsort(kind="stable")
    theirs = printed.wide(run, table)
    f1 = stats.harmonic(theirs["Precision"], theirs["Recall"])
    recomputed = [Row(m, "F1 of the means", "recomputed", v, n=PRINTED) for m, v in f1.items()]
    parts = [printed_rows(run, table), frame(recomputed), with_bounds(rows.iloc[order])]
    return pd.concat(parts, ignore_index=True)


def model_table(run, graded):
    """Differences between the run's models, paired by patient and regime; none for one model."""
    mine = graded[graded["profile"] == "specified"]
    by_model = {model: mine[mine["model"] == model] for model in run.models}
    changes = [
        differences(by_model[b], by_model[a], ["item", "regime"], METRICS).assign(
            row=f"{a} minus {b}"
        )
        for a, b in itertools.combinations(run.models, 2)
    ]
    return tested_rows(pd.concat(changes), METRICS, run, "models") if changes else pd.DataFrame()


def matcher_table(by_matcher):
    """The same lists under several matchers ({name: scored lists}), one to one and not."""
    names, parts = {**METRICS, **scores.LOOSE}, []
    for matcher, graded in by_matcher.items():
        found = estimated_means(graded, list(names), ["model"])
        row, column = found["model"] + f", matcher {matcher}", found["metric"].map(names)
        parts.append(with_bounds(found.assign(row=row, column=column, source="run")))
    return pd.concat(parts, ignore_index=True)


def by_kind(labelled, verdicts, kind="kind"):
    """Share of correct decisions by kind of pair and matcher, in percent.

    Wilson intervals over reference terms, which several pairs may share. verdicts: {matcher: frame
    in the order of the labelled pairs}. kind: the column with the kind; pairs without one are left
    out.
    """
    rows, units = [], labelled["reference"].to_numpy()
    for matcher, verdict in verdicts.items():
        got = (verdict["status"] == "graded").to_numpy()
        right = (verdict["value"] == labelled["label"].to_numpy()).to_numpy()
        for (label, name), where in labelled.groupby(["label", kind]).indices.items():
            there = where[got[where]]
            found, lost = share(right[there], units[there]), len(where) - len(there)
            rows.append(Row(f"{label}: {name}", matcher, "run", *found, lost))
    return frame(rows)


def flag_table(run, flagged):
    """Agreement of matchers with raters who flagged their decisions on lists, in percent (3.5).

    flagged: rows of the source radiation_flagged, or None. Wilson intervals over lists. Printed is
    one agreement, of decisions or of lists.
    """
    said = run.published("text 3.5").set_index("row")["value"]
    number = int(said["validated examples"])
    rows = [Row("O4-Mini", "agreement", "published", said["matcher agreement"], n=number)]
    for matcher, part in () if flagged is None else flagged.groupby("matcher", sort=False):
        lists, labels = part["list"].to_numpy(), part["label"]
        for label, column in {"right": "agreement", **{k: f"{k}s" for k in FLAGS[1:]}}.items():
            rows.append(Row(matcher, column, "run", *share(labels.eq(label).to_numpy(), lists)))
        whole = labels.eq("right").groupby(lists).all()
        found = share(whole.to_numpy(), whole.index.to_numpy())
        rows.append(Row(matcher, "lists without a flag", "run", *found))
    return frame(rows)


def length_curves(matches, reference, terms):
    """Precision and recall of the first k items, by model and kind of regime.

    Rows with model, metric, k and series. Free-form and chosen lists are apart; lists with and
    without a size, and both profiles of a patient, are together. A curve ends at the longest list.
    A model without a usable list has a row that says so, also in the legend.
    """
    found = scores.prefixes(matches, reference, terms, MOST)
    found["kind"] = found["regime"].str.split(",").str[0]
    longest = found.groupby(["model", "kind"])["listed"].transform("max")
    found, by = found[found["k"] <= longest], ["model", "kind", "k"]
    rows = estimated_means(found, ["precision", "recall"], by)
    of = matches.assign(kind=matches["regime"].str.split(",").str[0]).groupby(by[:2], sort=False)
    none = [
        {**dict(zip(by, (*key, 1))), "metric": metric, "n": 0, "unscored": len(lists)}
        for key, lists in of
        if not (lists["match"] == "graded").any()
        for metric in ("precision", "recall")
    ]
    rows = pd.concat([rows, pd.DataFrame(none)]) if none else rows
    series = [f"{r.model}, {r.kind}{': no list' * (not r.n)}" for r in rows.itertuples()]
    return rows.assign(
        row=[f"{name}, first {k}" for name, k in zip(series, rows["k"])],
        series=series,
        column=rows["metric"].map(METRICS),
        source="run",
    )


def implied_rows(run, sizes):
    """The printed precision and recall of each model, at the list length that they imply.

    Rows with series, k and label (the model's name, for lists of more than 40 items). The scores
    of free-form lists of 20 to 30 are sums of two tables.
    """
    keys, metrics = ["model", "regime", "items"], ["Precision", "Recall"]
    found = printed.implied_lengths(run, sizes).melt(keys, metrics, "column", "value")
    named = (found["items"] > 40) & (found["column"] == "Recall")
    return found.assign(
        row=found["model"] + ", " + found["regime"],
        source=np.where(found["regime"] == "free-form, 20-30", "recomputed", "published"),
        k=found["items"],
        n=PRINTED,
        series="published, " + found["regime"].str.split(",").str[0],
        label=found["model"].where(named, ""),
    )


def implied_table(run, sizes):
    """The number of entries in the printed models' lists if an entry counts for one term.

    sizes: of the patients' references.
    """
    return frame(
        Row(r.model, r.regime, "recomputed", r.items, n=PRINTED)
        for r in printed.implied_lengths(run, sizes).itertuples()
    )


# ---- what the site changes


def overlap_table(run, found, compared):
    """Table 5: overlap of base and specified lists, as printed and of this run.

    found: item, model, regime, overlap (by words) and by_meaning. compared: the overlap by a model,
    of `matching.compared`.
    """
    names = {"free-form": "Overlap (FF)", "free-form, 20-30": "Overlap (LSC)"}
    kinds = {"overlap": "", "by_meaning": ", by meaning", "by_model": ", by a model"}
    parts = [(complete(found, ["regime"]), list(kinds)[:2]), (compared, ["by_model"])]
    parts = [(part[part["regime"].isin(names)], kind) for part, kind in parts]
    found = pd.concat([estimated_means(part, kind, PAIR[1:]) for part, kind in parts])
    column = found["regime"].map(names) + found["metric"].map(kinds)
    rows = with_bounds(found.assign(row=found["model"], column=column, source="run"))
    return pd.concat([printed_rows(run, "Table 5"), rows], ignore_index=True)


CHANGES = {  # belongs to the site, on the base list, on the specified one
    "gained, of those it should gain, %": (True, False, True),
    "gained, of those it should not, %": (False, False, True),
    "lost, of those it should lose, %": (False, True, False),
    "lost, of those it should keep, %": (True, True, False),
}


def specificity_table(graded, reference, terms):
    """Does naming the site change the list in the right direction? Shares by model and regime.

    For each effect of the vocabulary: does it belong to the patient's site, was it on the base
    list, is it on the specified one? Effects that belong and are missing should be gained, and
    effects that are listed and don't belong should be lost; beside these are the shares of wrong
    changes. Percent, with Wilson intervals over patients; n counts effects.
    """
    every, lost = scores.changes(graded, reference, terms)
    rows = []
    for (model, regime), unscored in lost.items():
        part = every[(every["model"] == model) & (every["regime"] == regime)]
        for name, (belongs, base, then) in CHANGES.items():
            cases = part[(part["belongs"] == belongs) & (part["base"] == base)]
            found = share((cases["specified"] == then).to_numpy(), cases["item"].to_numpy())
            rows.append(Row(f"{model}, {regime}", name, "run", *found, unscored))
    return frame(rows)


# ---- what is forgotten


def level_table(run, recalls, by, table):
    """Tables 6 and 7: recall by onset or frequency, as printed and of this run.

    recalls: of each list by level, KEYS, `by`, recall (each level of the other kind counts once)
    and pooled (each effect counts once).
    """
    rows = estimated_means(recalls, ["recall", "pooled"], ["model", by])
    kind = rows["metric"].eq("pooled")
    place = rows[by].map((ONSETS if by == "onset" else FREQUENCIES).index)
    level = rows[by].str.title().str.replace("-T", "-t")
    column = level + kind.map({False: "", True: ", over effects"})
    rows = rows.assign(row=rows["model"], column=column, source="run", kind=kind, place=place)
    rows = with_bounds(rows.sort_values(["kind", "place"], kind="stable"))
    return pd.concat([printed_rows(run, table), rows], ignore_index=True)


def crossing_table(found):
    """Recall in each cell of onset and frequency, by model; the paper has no such table."""
    rows = estimated_means(found, ["recall"], ["model", "onset", "frequency"])
    column = rows["onset"] + ", " + rows["frequency"]
    rows = rows.assign(row=rows["model"], column=column, source="run")
    names = [*found["model"].unique(), *(f"{o}, {f}" for o, f in CELLS)]
    return with_bounds(rows.sort_values(["row", "column"], key=lambda s: s.map(names.index)))


def misfit_table(found):
    """How far Tables 6 and 7 are from fitting together, and with Tables 1 to 4, by model.

    found: `agreement.misfits`, of which those rows count in which both tables average alike.
    """
    named = {"alone": "Tables 6 and 7 alone", "whole": "with Tables 1 to 4"}
    same = found[found["six"] == found["seven"]]
    return frame(
        Row(r["model"], f"{name}, by {r['six']}", "recomputed", r[kind])
        for r in same.to_dict("records")
        for kind, name in named.items()
    )


def identity_table(run):
    """The two sums of `agreement.identity`, and their difference, by model."""
    sums = agreement.identity(run)
    shown = {
        "by Table 6": sums["onset"],
        "by Table 7": sums["frequency"],
        "difference": sums["onset"] - sums["frequency"],
        "difference with the middles of Table 7's intervals": sums["onset"] - sums["middles"],
    }
    return frame(
        Row(model, name, "recomputed", values[model])
        for model in sums.index
        for name, values in shown.items()
    )
