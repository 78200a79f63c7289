"""Results of an own study: scores, paired tests, the judge's trust card, two runs compared."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bedside import BedsideError, judges, paths, settings, stats, tables
from bedside.tables import Row, share

from .own import FIELDS, VALUES, Own, answers, graded, labelled, verdicts

if TYPE_CHECKING:
    import pandas as pd

KEPT = ["item", "model", "group", "unit", "answer", "reply_status", "truncated"]
VERDICT = ["status", "value", "raw"]


def scores(own, graded):
    """Right answers in percent by model, over all questions and by group, as table rows.

    Intervals are over units. `unscored` counts answers without a verdict; if there are any, rows
    with bounds follow.
    """
    import pandas as pd

    rows = []
    groups = [("all", graded)] + [(g, part) for g, part in graded.groupby("group") if g]
    for name, every in groups if own.judge else []:
        for model, part in every.groupby("model", sort=False):
            came = part[part["status"] == "graded"]
            right, lost = came["value"] == 1, len(part) - len(came)
            value = share(right.tolist(), came["unit"].tolist())
            made = Row(model, f"{name}: right, %", "run", *value, lost)
            bounds = {"least": right.sum(), "most": right.sum() + lost}
            rows.append(made._asdict() | {k: 100 * v / len(part) for k, v in bounds.items()})
    made = pd.DataFrame(rows, columns=[*tables.COLUMNS, "least", "most"])
    return tables.with_bounds(made)[tables.COLUMNS]


def pairs(own, graded):
    """Paired tests between the models on items that both answered: table rows.

    As `tables.paired`: the exact McNemar test if no unit repeats, else a paired permutation test
    that flips units; Holm's correction over all pairs; and the smallest difference that a test of
    this size detects with a power of 80%.
    """
    if not own.judge or graded["model"].nunique() < 2:
        return tables.frame([])
    found, rows = tables.paired(graded, own), []
    test = "permutation" if graded.drop_duplicates("item")["unit"].duplicated().any() else "mcnemar"
    name = {"permutation": "permutation of units", "mcnemar": "McNemar"}[test]
    named = {
        "difference": "difference, points",
        test: f"{name} p",
        f"{test}_holm": f"{name} p, Holm",
        "detectable": "detectable difference, points",
    }
    for r in found.to_dict("records"):
        rows += [Row(r["row"], label, "run", r[key], n=r["n"]) for key, label in named.items()]
    return tables.frame(rows).dropna(subset="value").reset_index(drop=True)


# ---- the judge, compared with own labels


async def card(own):
    """Write the judge's trust card from the user's own labels; return it, None without labels."""
    known = labelled(own)
    if not own.judge or known.empty:
        return None
    if own.judge == judges.LEXICAL:
        found = await judges.grade_labelled(own, known, VALUES, "", own.judge, fields=FIELDS)
    else:
        found = await graded(own, known.assign(item=known["answer_id"], reply_status=""))
    rng, labels = own.rng("card"), known["label"].astype(int)
    made = judges.trust_card(labels, found, VALUES, rng, units=known["unit"])
    return own.write_card(own.judge, made, judges.whose(known))


def corrected(own, graded, card):
    """The judge's rates, and the rates corrected for its errors on labelled answers: table rows.

    Rogan-Gladen, by the trust card's sensitivity and specificity. A judge that does no better than
    chance gets no corrected value; without a card there are no corrected rows.
    """
    rows = []
    for model, part in graded[graded["status"] == "graded"].groupby("model", sort=False):
        right = (part["value"] == 1).tolist()
        rows.append(Row(model, "judge says, %", "run", *share(right, part["unit"].tolist())))
        if card:
            rng = own.rng("corrected", model)
            found = judges.corrected(sum(right), len(right), card, rng)
            rows.append(Row(model, "corrected, %", "run", *found))
    return tables.frame(rows)


# ---- saved, and compared with a later run


def keep(own, graded):
    """Write answers.csv and verdicts.csv beside the study's outputs."""
    for name, columns in (("answers", KEPT), ("verdicts", ["item", "model", "unit", *VERDICT])):
        rows = graded[columns].astype(object).where(graded[columns].notna(), None)
        text = tables.csv_text(columns, rows.itertuples(index=False))
        (own.folder / f"{name}.csv").write_text(text, encoding="utf-8")


def kept(name):
    """The saved results of a study: (its manifest, answers and verdicts as one frame)."""
    import pandas as pd

    folder = settings.figures() / "own" / name
    try:
        about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        parts = [_read(folder / f"{part}.csv") for part in ("answers", "verdicts")]
    except (OSError, ValueError) as e:
        there = sorted(p.parent.name for p in folder.parent.glob("*/verdicts.csv"))
        raise BedsideError(
            f"{paths.rel(folder.parent)} has no study {name!r} that ran to its end ({e}); there"
            f" are: {', '.join(there) or 'none'}"
        ) from None
    return about, pd.merge(*parts, on=["item", "model", "unit"], validate="one_to_one")


def _read(path: Path):
    import pandas as pd

    return pd.read_csv(path, dtype=str, keep_default_na=False)


def changed(old, new):
    """The changes from one run of a study to another: (table rows, changed verdicts, notes).

    Answers are paired by item and model; if each run has one model, these two are compared. Rows:
    the share right in both, the difference with an interval and a paired permutation test over
    units, and the share of answers that differ. notes: sentences on other differences between the
    runs, such as the judge.
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
    scored = both[(both["status"] == "graded") & (both["status_new"] == "graded")]
    rows = []
    for model, part in both.groupby("model", sort=False):
        mine = scored[scored["model"] == model]
        rows += _differences(model, part, mine, (old, new))
    columns = ["item", "model", "value", "value_new", "answer", "answer_new"]
    flips = scored.loc[scored["value"] != scored["value_new"], columns]
    return tables.frame(rows), flips.reset_index(drop=True), notes


def _differences(model, part, scored, names):
    """The rows of one model."""
    import numpy as np

    differ = 100 * (part["answer"] != part["answer_new"]).mean()
    rows = [Row(model, "answers that differ, %", "run", differ, n=len(part))]
    x, y = ((scored[k] == "1").to_numpy(float) for k in ("value", "value_new"))
    if len(scored):
        units, rng = scored["unit"].to_numpy(), np.random.default_rng(0)
        for name, hits in zip(names, (x, y)):
            value = share((hits == 1).tolist(), units.tolist())
            rows.append(Row(model, f"right in {name}, %", "run", *value))
        change = stats.bootstrap(100 * (y - x), rng, units=units)
        rows.append(Row(model, "change, points", "run", *change))
        p = stats.paired_permutation(x, y, rng, units=units)
        rows.append(Row(model, "permutation p", "run", p, n=len(scored)))
    return rows


def _unlike(about, later):
    """Sentences on how two runs differ besides their answers."""
    told = []
    for what in ("judge", "limit", "seed"):
        x, y = (m["parameters"].get(what) for m in (about, later))
        if x != y:
            told.append(f"{what}: {x or 'none'} before, {y or 'none'} now")
    for what in ("data", "prompts"):
        if about[what] != later[what]:
            told.append(f"the {'questions' if what == 'data' else what} differ")
    return told


# ---- all of it at once


class Compared(NamedTuple):
    """The results of a study; the frames are those of the functions of these names."""

    answers: pd.DataFrame
    verdicts: pd.DataFrame
    scores: pd.DataFrame
    pairs: pd.DataFrame


def compare(questions: str, models: str = "", judge: str = "", **more: Any) -> Compared:
    """Ask, judge and count a whole study at once. Arguments: those of `Own`."""
    own = Own(questions, models=models, judge=judge, **more)
    print(own.told(), flush=True)

    async def all_of_it():
        answered = await answers(own)
        return answered, await verdicts(own, answered)

    with ThreadPoolExecutor(1) as pool:  # a notebook's own loop is running already
        answered, judged = pool.submit(asyncio.run, all_of_it()).result()
    keep(own, judged)
    own.close()
    return Compared(answered, judged, scores(own, judged), pairs(own, judged))
