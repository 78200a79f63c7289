"""Tables of MedHalu's detections: replies, Tables 6 and 8, repeats (sections 3 and 4)."""

import pandas as pd

from bedside.read.checks import complete, groups, scored
from bedside.write.tables import COLUMNS, Row, frame, no_answer_rows, percent, share, with_bounds

from ..data import PEOPLE, units
from ..printed import answered, classes, long
from ..scores import METRICS, blind, repeats_differ
from ..spans import locate

UNCUT = "right where not cut off, %"
KINDS = ("exact", "aligned", "not in the answer")  # of spans, by where they stand


def _by_evaluator(judged, models):
    """{(evaluator, source): its readings}, with the run's models that have none."""
    found = dict(list(groups(judged, ["evaluator", "source"], ["item"])))
    return {k: found.get(k, judged[:0]) for k in [*found, *((m, "run") for m in models)]}


def reply_table(judged, items, models=()):
    """Percent of replies, by evaluator: unreadable, cut, yes, contradictory, where spans are.

    Also why replies hold no text, and the percent right among the uncut. Intervals are over
    questions, to which repeats, raters and spans belong. models: listed even without any reply.
    """
    about, rows = items.set_index("item").assign(unit=units(items)), []
    for (name, source), part in _by_evaluator(judged, models).items():
        rows += no_answer_rows(name, part["why"].fillna(""))
        shares = _reply_shares(part, about)
        if name.startswith(PEOPLE):  # whose readings are never cut
            del shares[UNCUT]
        rows += [Row(name, c, source, *share(*each)) for c, each in shares.items()]
    return frame(rows)


def _reply_shares(part, about):
    """One evaluator's replies, {what: (booleans, their units)}; about: items with unit, by item.

    People's replies have no `truncated` and are never cut.
    """
    part = part.assign(unit=part["item"].map(about["unit"]))
    complete(part[~part["evaluator"].str.startswith(PEOPLE)], ["truncated"])
    read = scored(complete(part, ["spans"]), "yes")
    lost = (part["why"].fillna("") == "") & (part["status"] != "graded")
    yes, some = read["yes"] == 1, read["spans"].map(len) > 0
    whole = read[read["truncated"].eq(False)]
    right = (whole["yes"] == 1) == whole["item"].map(about["hallucinated"])
    spans = read.explode("spans").dropna(subset="spans")
    found = [locate(s, about.at[i, "answer"]) for i, s in zip(spans["item"], spans["spans"])]
    kinds = pd.Series([place[2] if place else KINDS[-1] for place in found], dtype=object)
    return {
        "can't be read, %": (lost, part["unit"]),
        "cut off at the limit, %": (part["truncated"].eq(True), part["unit"]),
        UNCUT: (right, whole["unit"]),
        "yes, %": (yes, read["unit"]),
        "yes without a span, %": (~some[yes], read["unit"][yes]),
        "no with spans, %": (some[~yes], read["unit"][~yes]),
        **{f"spans: {kind}, %": (kinds == kind, spans["unit"]) for kind in KINDS},
    }


def score_rows(found, name="{dataset}: {evaluator}"):
    """`scores` by evaluator, source and more as table rows with bounds; name formats a row."""
    names = [name.format(**r) for r in found.to_dict("records")]
    rows = with_bounds(found.assign(row=names, column=found["metric"]))
    return rows.sort_values("dataset", key=lambda d: d.eq("all"), kind="stable")[COLUMNS]


def published_rows(run, table):
    """Table 6, 8 or 10 as printed: rows `dataset: evaluator`; n where the text gives it."""
    n = answered(run) if table == "Table 6" else {}
    return frame(
        Row(
            f"{r.dataset}: {r.row}",
            METRICS[r.metric],
            "published",
            r.value,
            n=n.get((r.row, r.dataset)),
        )
        for r in long(run, table).itertuples()
    )


def _blind_rows(label, hallucinated, n, source):
    """Baselines that don't read, on n answers, `hallucinated` of them so: `label: baseline`."""
    return frame(
        Row(f"{label}: {name}", metric, source, value, n=n)
        for name, made in blind(hallucinated / n).items()
        for metric, value in zip(METRICS.values(), made)
    )


def detection_table(run, found, items):
    """Table 6 by subset: evaluators as printed and `scores` found, baselines that don't read."""
    mine = [
        _blind_rows(d, int(part["hallucinated"].sum()), len(part), "run")
        for d, part in items.groupby("dataset")
    ]
    theirs = [_blind_rows(d, p, p + n, "recomputed") for d, (p, n) in classes(run).items()]
    printed = published_rows(run, "Table 6")
    return pd.concat([printed, score_rows(found), *mine, *theirs], ignore_index=True)


def repeat_table(judged, items, models=()):
    """How far a model's repeats differ: macro-F1 of single repeats, items answered alike in all.

    models: listed even without any reply.
    """
    rows = []
    for r in repeats_differ(judged, items, models).itertuples():
        rows += [
            Row(r.evaluator, "macro F1, least of single repeats", "run", r.least, n=r.n),
            Row(r.evaluator, "macro F1, most of single repeats", "run", r.most, n=r.n),
            Row(
                r.evaluator,
                "items answered alike in all repeats, %",
                "run",
                *percent(r.alike, r.read),
            ),
        ]
    return frame(rows)


def type_table(run, found):
    """Table 8: accuracy and macro-F1 by type, as printed and of `scores` by `against`."""
    found = score_rows(found, "{dataset}: {evaluator}, {against}")
    found = found[found["column"].str.startswith((METRICS["Acc"], METRICS["ma-F1"]))]
    return pd.concat([published_rows(run, "Table 8"), found], ignore_index=True)
