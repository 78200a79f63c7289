"""What a study leaves in files: answers and verdicts, read again, and two runs compared."""

from __future__ import annotations

import json
from pathlib import Path

from bedside import BedsideError, stats
from bedside.build import settings
from bedside.publish import comparison
from bedside.publish.judged_items import Display
from bedside.read import paths
from bedside.read.checks import joined
from bedside.read.questions import ALL
from bedside.write import frames, tables
from bedside.write.frames import COLUMNS
from bedside.write.tables import Row

from .items import shaped
from .measures import ending, estimate, points_of
from .study import ANSWER, PAPER, apart

KEPT = ["item", "model", "group", "unit", "answer", "reply_status", "truncated"]
VERDICT, VERDICTS = ["status", "value", "raw"], "verdicts"


def keep(own, graded):
    """Write answers.csv and verdicts.csv, as `frames` has it, beside the study's outputs.

    criteria.csv has the verdicts on the criteria of a rubric.
    """
    import pandas as pd

    made = shaped(own, graded)
    again = ["configuration"] * bool(made["configuration"].nunique() > 1)
    files = {
        "answers": (made.drop_duplicates(ANSWER), KEPT + again),
        VERDICTS: (made, [*COLUMNS, "group", "raw"]),
    }
    if own.criteria:
        met = [points_of(own, graded[graded["judge"] != ""], scales) for scales in (False, True)]
        told = [*ANSWER, "judge", "id", "group", "points", "status", "value"]
        files["criteria"] = (pd.concat(met), told)
    for name, (frame, columns) in files.items():
        text = tables.csv_text(columns, frame[columns].itertuples(index=False))
        paths.write(own.folder / f"{name}.csv", text)
    frames.keep_texts(own.folder / f"{VERDICTS}.csv", made, f"{own.paper}/{own.name}")


def kept(name):
    """The saved results of a study: (its manifest, answers and verdicts as one frame).

    Of several judges the verdicts are the first one's.
    """
    folder = settings.figures() / "own" / name
    try:
        about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        about["parameters"], about["data"], about["prompts"]  # what every one has
        answered, judged = (_read(folder / f"{part}.csv") for part in ("answers", "verdicts"))
        first = about["parameters"]["judge"] or ""
        judged = judged[judged["judge"].isin([first.partition(" ")[0], ""])]
        on = ["item", "model", "unit", *["configuration"] * ("configuration" in answered)]
        parts = answered, judged[[*on, *VERDICT]]
    except (OSError, ValueError, KeyError) as e:
        there = sorted(p.parent.name for p in folder.parent.glob("*/verdicts.csv"))
        raise BedsideError(
            f"{paths.rel(folder.parent)} has no study {name!r} that ran to its end ({e}); there"
            f" are: {', '.join(there) or 'none'}"
        ) from None
    made = joined(*parts, on)
    return about, made if "configuration" in made else made.assign(configuration="plain")


def _read(path: Path):
    import pandas as pd

    return pd.read_csv(path, dtype=str, keep_default_na=False)


def models(own):
    """A study as `comparison` has it, from its files; None if nobody judged.

    Raises BedsideError if it didn't run to its end.
    """
    import pandas as pd

    if not own.judge:
        return None
    about, frame = kept(own.name)
    total = f"{ALL}: {own.measure}"  # over all questions
    rows = tables.read(own.folder / "table_scores.csv")
    rows = (r for r in rows if r["column"] == total + ending(own, own.judge))
    measures = tables.frame(r.values() for r in rows).rename(columns={"row": "model"})
    frame = frame.assign(
        truncated=frame["truncated"] == "1",
        right=frame["value"] == "1",
        group=frame["group"].replace("", None),
    ).merge(own.items[["item", "question"]], on="item", validate="many_to_one")
    how = Display(own.name, own.name, "", status="reply_status")
    replies = comparison.shown(frame, how, PAPER, own.folder).assign(item=apart(frame))
    if own.criteria:
        replies = replies.assign(score=pd.to_numeric(frame["value"]))
    card = about["judges"].get(own.judge)
    study = comparison.Study(
        own.name,
        measures.assign(measure=total),
        replies,
        ["group"] if frame["group"].notna().any() else [],
        ("own questions", own.judge),
        comparison.judge_told(own.judge, card, own.models)
        + ", which was never measured" * (not card),
        "",
        own.folder,
        "score" if own.criteria else comparison.RIGHT,
        own.fails_at,
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
    a, b = (frame.assign(item=apart(frame)) for frame in (a, b))
    hits = not any("criteria" in m["parameters"] for m in (about, later))
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
        rows += _differences(model, part, {old: "", new: "_new"}, hits)
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


def _differences(model, part, runs, hits):
    """The rows of one model. runs: {name: the ending of its columns}; hits: not scores."""
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
    x, y = (scored[f"value{end}"].astype(float).to_numpy() for end in runs.values())
    units, rng, lost = scored["unit"].to_numpy(), np.random.default_rng(0), len(part) - len(scored)
    for name, values in zip(runs, (x, y)):
        value = estimate(values, scored["unit"], hits)
        what = "right" if hits else "score"
        rows.append(Row(model, f"{what} in {name}, %", "run", *value, lost))
    if len(scored):
        change = stats.difference(100 * y, 100 * x, units, scale=(0, 100))
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
    for what in ("judge", "models", "limit", "seed", "repeats", "temperature", "criteria"):
        x, y = (_setting(m["parameters"].get(what), what) for m in (about, later))
        if x != y:
            told.append(f"{what}: {x} before, {y} now")
    for name, words in DATA.items():
        x, y = (
            [digest for n, digest in m["data"].items() if n.partition(" ")[0] == name]
            for m in (about, later)
        )
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
