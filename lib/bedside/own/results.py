"""Results of an own study: scores, paired tests, the judge's trust card, two runs compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bedside import BedsideError, stats
from bedside.build import settings
from bedside.judging import judges, trust_cards
from bedside.publish import comparison
from bedside.publish.judged_items import Display
from bedside.read import paths
from bedside.read.checks import complete, groups, joined, scored
from bedside.read.questions import ALL
from bedside.write import frames, tables
from bedside.write.frames import COLUMNS
from bedside.write.tables import Row, share

from .items import shaped
from .study import VALUES, Own, graded, labelled

if TYPE_CHECKING:
    import pandas as pd

TOTAL = f"{ALL}: right, %"  # the column of the scores over all questions
KEPT = ["item", "model", "group", "unit", "answer", "reply_status", "truncated"]
VERDICT, VERDICTS = ["status", "value", "raw"], "verdicts"


def scores(own, graded):
    """Right answers in percent by model, over all questions and by group, as table rows.

    Intervals are over units. `unscored` counts answers without a verdict; if there are any, rows
    with bounds follow.
    """
    import pandas as pd

    rows = []
    graded = complete(graded, ["model"], ["group"])
    parts = [(ALL, graded)] + [(g, part) for g, part in graded.groupby("group") if g]
    for name, every in parts if own.judge else []:
        for model, part in every.groupby("model", sort=False):
            right, judged, lost = _right(part)
            made = Row(model, f"{name}: right, %", "run", *judged, lost)
            bounds = {"least": right, "most": right + lost}
            rows.append(made._asdict() | {k: 100 * v / len(part) for k, v in bounds.items()})
    made = pd.DataFrame(rows, columns=[*tables.COLUMNS, "least", "most"])
    return tables.with_bounds(made)[tables.COLUMNS]


def _right(part):
    """Of answers to be judged: (how many are right, their share of the graded, unscored ones)."""
    came = complete(scored(part), ["unit"])
    right = came["value"] == 1
    return right.sum(), share(right.tolist(), came["unit"].tolist()), len(part) - len(came)


def pairs(own, graded):
    """Paired tests between the models on items that both answered: table rows.

    As `tables.paired`: the exact McNemar test if no unit repeats, else a paired permutation test
    that flips units; Holm's correction over all pairs; the difference with its interval; and the
    smallest difference that a test of this size detects with a power of 80%.
    """
    if not own.judge or graded["model"].nunique() < 2:
        return tables.frame([])
    found, rows = tables.paired(graded, own), []
    found["holm"] = stats.holm(found["p"].to_numpy(float))
    for r in found.to_dict("records"):
        named = {
            "difference, points": (r["difference"], r["low"], r["high"]),
            f"{r['test']} p": (r["p"], None, None),
            f"{r['test']} p, Holm": (r["holm"], None, None),
            "detectable difference, points": (r["detectable"], None, None),
        }
        rows += [Row(r["row"], label, "run", *value, r["n"]) for label, value in named.items()]
    rows = tables.frame(rows)  # without a common item a pair has n 0
    return rows[rows["value"].notna() | (rows["n"] == 0)].reset_index(drop=True)


# ---- the judge, compared with own labels


async def card(own):
    """Write the judge's trust card from the user's own labels; return it, None without labels."""
    known = labelled(own)
    if not own.judge or known.empty:
        return None
    found = await graded(own, known.assign(item=known["answer_id"], reply_status=""))
    rng, labels = own.rng("card"), known["label"].astype(int)
    made = trust_cards.trust_card(labels, found, VALUES, rng, units=known["unit"])
    return own.write_card(own.judge, made, judges.whose(known))


def corrected(own, graded, card):
    """The judge's rates, and the rates corrected for its errors on labelled answers: table rows.

    Rogan-Gladen, by the trust card's sensitivity and specificity. A judge that does no better than
    chance gets no corrected value; without a card there are no corrected rows.
    """
    rows = []
    for model, part in groups(graded, "model") if own.judge else []:
        _, judged, lost = _right(part)
        rows.append(Row(model, "judge says, %", "run", *judged, lost))
        if card:
            found = trust_cards.corrected(judged, card, own.rng("corrected", model))
            rows.append(Row(model, "corrected, %", "run", *found, lost))
    return tables.frame(rows)


# ---- saved, and compared with a later run


def keep(own, graded):
    """Write answers.csv and verdicts.csv, as `frames` has it, beside the study's outputs."""
    made = shaped(own, graded)
    for name, columns in (("answers", KEPT), (VERDICTS, [*COLUMNS, "group", "raw"])):
        text = tables.csv_text(columns, made[columns].itertuples(index=False))
        paths.write(own.folder / f"{name}.csv", text)
    frames.keep_texts(own.folder / f"{VERDICTS}.csv", made, f"{own.paper}/{own.name}")


def kept(name):
    """The saved results of a study: (its manifest, answers and verdicts as one frame)."""
    folder = settings.figures() / "own" / name
    try:
        about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        about["parameters"], about["data"], about["prompts"]  # what every one has
        answered, judged = (_read(folder / f"{part}.csv") for part in ("answers", "verdicts"))
        parts = answered, judged[["item", "model", "unit", *VERDICT]]
    except (OSError, ValueError, KeyError) as e:
        there = sorted(p.parent.name for p in folder.parent.glob("*/verdicts.csv"))
        raise BedsideError(
            f"{paths.rel(folder.parent)} has no study {name!r} that ran to its end ({e}); there"
            f" are: {', '.join(there) or 'none'}"
        ) from None
    return about, joined(*parts, ["item", "model", "unit"])


def _read(path: Path):
    import pandas as pd

    return pd.read_csv(path, dtype=str, keep_default_na=False)


def models(own):
    """A study as `comparison` has it, from its files; None if nobody judged.

    Raises BedsideError if it didn't run to its end.
    """
    if not own.judge:
        return None
    about, frame = kept(own.name)
    rows = (r for r in tables.read(own.folder / "table_scores.csv") if r["column"] == TOTAL)
    measures = tables.frame(r.values() for r in rows).rename(columns={"row": "model"})
    frame = frame.assign(
        configuration="plain",
        truncated=frame["truncated"] == "1",
        right=frame["value"] == "1",
        group=frame["group"].replace("", None),
    ).merge(own.items[["item", "question"]], on="item", validate="many_to_one")
    how = Display(own.name, own.name, "", status="reply_status")
    card = about["judges"].get(own.judge)
    study = comparison.Study(
        own.name,
        measures.assign(measure=TOTAL),
        comparison.shown(frame, how, "own"),
        ["group"] if frame["group"].notna().any() else [],
        ("own questions", own.judge),
        comparison.judge_told(own.judge, card, own.models)
        + ", which was never measured" * (not card),
        "",
        own.folder,
        own.folder,
    )
    return comparison.Compared(own.name, [study])


def changed(old, new):
    """The changes from one run of a study to another: (table rows, changed verdicts, notes).

    Answers are paired by item and model; if each run has one model, these two are compared. Rows:
    the share of answers that differ, among the pairs of which both came; what each run lacks, by
    reason; and, of the pairs with a verdict in both, the share right in each and the difference
    with an interval and a paired permutation test over units, with Holm's correction over all
    models, and the smallest change that it detects. unscored: pairs that lack an answer or a
    verdict. notes: sentences on what else differs between the runs, such as the judge.
    """
    (about, a), (later, b) = kept(old), kept(new)
    notes = _unlike(about, later)
    if a["model"].nunique() == b["model"].nunique() == 1 and set(a["model"]) != set(b["model"]):
        label = f"{a['model'].iloc[0]} → {b['model'].iloc[0]}"
        a, b = a.assign(model=label), b.assign(model=label)
    both = a.merge(b, on=["item", "model"], suffixes=("", "_new"), validate="one_to_one")
    for frame, name in ((a, old), (b, new)):
        if alone := len(frame) - len(both):
            notes.append(f"{alone} answers of {name} have no counterpart with this item and model")
    if both.empty:
        raise BedsideError(f"{old} and {new} have no item and model in common")
    rows = []
    for model, part in both.groupby("model", sort=False):
        rows += _differences(model, part, {old: "", new: "_new"})
    tests = [row for row in rows if row.column == P]
    corrected = stats.holm([row.value for row in tests])
    rows += [row._replace(column=f"{P}, Holm", value=p) for row, p in zip(tests, corrected)]
    scored = both[_graded(both)]
    columns = ["item", "model", "value", "value_new", "answer", "answer_new"]
    flips = scored.loc[scored["value"] != scored["value_new"], columns]
    return tables.frame(rows), flips.reset_index(drop=True), notes


P = "permutation p"


def _graded(both):
    return (both["status"] == "graded") & (both["status_new"] == "graded")


def _differences(model, part, runs):
    """The rows of one model. runs: {name: the ending of its columns}."""
    import numpy as np

    came = part[(part["reply_status"] == "") & (part["reply_status_new"] == "")]
    differ = 100 * (came["answer"] != came["answer_new"]).mean() if len(came) else None
    lost = len(part) - len(came)
    rows = [Row(model, "answers that differ, %", "run", differ, n=len(came), unscored=lost)]
    for name, end in runs.items():
        rows += _lacking(model, name, part[f"reply_status{end}"], part[f"status{end}"])
    if any((part[f"status{end}"] == "").all() for end in runs.values()):
        return rows  # a run without a judge
    scored = part[_graded(part)]
    x, y = ((scored[f"value{end}"] == "1").to_numpy(float) for end in runs.values())
    units, rng, lost = scored["unit"].to_numpy(), np.random.default_rng(0), len(part) - len(scored)
    for name, hits in zip(runs, (x, y)):
        value = share((hits == 1).tolist(), units.tolist())
        rows.append(Row(model, f"right in {name}, %", "run", *value, lost))
    if len(scored):
        change = stats.bootstrap(100 * (y - x), rng, units=units)
        rows.append(Row(model, "change, points", "run", *change))
        p = stats.paired_permutation(x, y, rng, units=units)
        rows.append(Row(model, P, "run", p, n=len(scored)))
        least = 100 * stats.detectable(y - x, units)
        if least == least:
            rows.append(Row(model, "detectable change, points", "run", least, n=len(scored)))
    return rows


def _lacking(model, name, why, status):
    """Rows on what one run lacks, in percent of its answers: answers, and verdicts on the others.

    why: a reply_status for each answer; status: of its verdict.
    """
    unread = status.where((why == "") & (status != "graded"), "")
    rows = tables.no_answer_rows(model, why, f"no answer in {name}")
    return rows + tables.no_answer_rows(model, unread, f"no verdict in {name}")


def _unlike(about, later):
    """Sentences on how two runs differ besides their answers."""
    told = []
    for what in ("judge", "models", "limit", "seed"):
        x, y = (_setting(m["parameters"].get(what), what) for m in (about, later))
        if x != y:
            told.append(f"{what}: {x} before, {y} now")
    for name, words in DATA.items():
        x, y = (m["data"].get(name) for m in (about, later))
        if x != y and ((x and y) or name == "answers"):  # a rubric is there only with a judge
            told.append(words)
    if about["prompts"] != later["prompts"]:
        told.append("the prompts differ")
    replies, new = (m.get("recordings", {}) for m in (about, later))
    for model in replies.keys() & new.keys():
        x, y = (", ".join(m[model]["returned"]) for m in (replies, new))
        if x != y and x and y:
            told.append(f"{model} answered as {x} before, as {y} now")
    return told


DATA = {  # what a manifest has hashes of
    "questions": "the questions differ",
    "rubric": "the rubric differs",
    "answers": "the answers made elsewhere differ",
    "labels": "the labels differ",
}


def _setting(value, what):
    """A run's setting in words; of a limit 0 is none."""
    if isinstance(value, list):
        value = " ".join(value)
    return "none" if value in (None, "") or (what == "limit" and not value) else str(value)


# ---- all of it at once


class Study(NamedTuple):
    """The results of a study.

    graded: each reply, a row for each judge, with the columns of docs/graded.md and all texts.
    scores, pairs: as the functions of these names. cards: trust cards, {judge: card}, empty without
    labels. page: where the study's page is.
    """

    graded: pd.DataFrame
    scores: pd.DataFrame
    pairs: pd.DataFrame
    cards: dict[str, dict]
    page: Path


def opened(own: Own) -> Study:
    """The results that a study's notebook has left. Nothing is asked."""
    made = frames.with_texts(own.folder / f"{VERDICTS}.csv")
    cards = {own.judge: own.card()} if own.judge and len(labelled(own)) else {}
    return Study(made, scores(own, made), pairs(own, made), cards, own.folder / "index.html")
