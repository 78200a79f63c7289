"""Radiation: its judged items: lists with what matched, is missed or spurious, and pairs of terms.

Sections 3.6 and 3.5.
"""

import pandas as pd

from bedside.checks import normals
from bedside.rows import (
    ABSENT,
    aligned,
    entries,
    human_label,
    row_id,
    text,
    verdict,
    verdicts_by_item,
)

from . import data, matching, scores, study

DECISIONS, NOTHING = "What the matcher decided", "nothing"
RECALLED = ["nothing matched", "less than half matched", "half or more matched"]


async def collect(document):
    """Put all judged items of the study into a `bedside.rows.Document`."""
    lists = await listed(document)
    await pairs(document, lists)


async def listed(document):
    """Add the lists for both profiles of each patient in all regimes, and return them.

    A list fails if less than half of the site's reference matched.
    """
    run = document.run("radiation", "04_documentation_sensitivity")
    document.begin(run)
    patients, reference, terms = study.inputs(run)
    regimes, most = list(data.REGIMES), run.settings["max_tokens"]
    lists = await study.listed(run, patients, regimes, most)
    lists = lists[lists["reply_status"] != ABSENT].reset_index(drop=True)
    judges = [*run.judges, matching.EXACT]
    by = {j: await study.graded(run, lists, reference, terms, j) for j in judges}
    records(document, patients, reference)
    effects = {site: part["effect"].tolist() for site, part in reference.groupby("site")}
    verdicts = verdicts_of(by)
    first, both = by[run.judge], {}  # of a patient, model and regime: {profile: list}
    for r in first.itertuples():
        both.setdefault((r.item, r.model, r.regime), {})[r.profile] = r
    for r in first.itertuples():
        other = f"{r.regime}, {data.PROFILES[r.profile == 'base']}"
        document.add(
            run,
            "4 lists",
            r.item,
            r.model,
            f"{r.regime}, {r.profile}",
            sent=r.sent,
            category=r.site,
            title=f"{r.profile} record, {r.site}",
            shared=[f"radiation {r.item}"],
            reply=r.answer,
            status=r.reply_status,
            truncated=r.truncated,
            blocks=[
                sides(both[r.item, r.model, r.regime], effects[r.site], terms),
                text(DECISIONS, decisions(r, effects[r.site], terms)),
            ],
            verdicts=verdicts[r.item, r.model, r.regime, r.profile],
            beside=row_id(run, r.item, r.model, other),
        )
    return lists


def records(document, patients, reference):
    """Add what a patient's lists share: both records, their difference, the reference."""
    for r in patients.itertuples():
        changed = [
            f"{old.strip() or '(nothing)'} → {new.strip() or '(nothing)'}"
            for old, new in data.difference(r.base, r.specified)
            if (old + new).strip()
        ]
        mine = reference[reference["site"] == r.site]
        effects = [f"{e.effect} ({e.onset}, {e.frequency})" for e in mine.itertuples()]
        document.share(
            f"radiation {r.item}",
            text("Record, base", r.base),
            text("Record, specified", r.specified),
            entries("Differences between the two records", changed),
            entries("Reference of the site", effects),
        )


def sides(both, effects, terms):
    """A block of base and specified list side by side: marks by term, spurious items last."""
    marks = {e: ["", ""] for e in effects}
    of_site = [t in effects for t in terms]
    for k, profile in enumerate(data.PROFILES):
        r = both.get(profile)
        if r is None or r.match != "graded":
            continue
        for e in effects:
            marks[e][k] = "matched" if e in r.found else "missed"
        for predicted, place in zip(r.terms, matching.one_to_one(r.pairs * of_site)):
            if place < 0:
                # an item worded like a term that counts for none has a line of its own
                line = f"{predicted} (as listed)" if predicted in effects else predicted
                marks.setdefault(line, ["", ""])[k] = "spurious"
    return aligned("Reference and lists", data.PROFILES, marks)


def decisions(r, effects, terms):
    """What the matcher decided on each item of a list, a line each: "item → term", or NOTHING."""
    if r.match != "graded":
        return ""
    meant = matching.one_to_one(r.pairs * [t in effects for t in terms])
    lines = [f"{t} → {terms[i] if i >= 0 else NOTHING}" for t, i in zip(r.terms, meant)]
    return "\n".join(lines)


def verdicts_of(by_judge):
    """{keys of a list (KEYS): the matchers' verdicts on it}, from {matcher: scored lists}."""
    found = {}
    for judge, graded in by_judge.items():
        for r in graded.itertuples():
            key = tuple(getattr(r, k) for k in scores.KEYS)
            found.setdefault(key, []).extend(said(judge, r))
    return found


def said(judge, r):
    """A matcher's verdict on a list: how much of the site's reference was matched."""
    if r.reply_status or r.match == "error":
        return []
    if r.match != "graded":
        return [verdict(judge, r.match, raw=r.answer)]
    value = RECALLED[int(r.recall > 0) + int(r.recall >= 0.5)]
    reason = (
        f"matched {r.hits:.0f} of {r.size}, listed {len(r.terms)}: precision {r.precision:.2f},"
        f" recall {r.recall:.2f}, F1 {r.f1:.2f}"
    )
    return [verdict(judge, "graded", value, value == RECALLED[-1], reason=reason)]


async def pairs(document, lists):
    """Add labelled pairs of terms and pairs from this run's lists (section 3.5)."""
    run = document.run("radiation", "06_judge_agreement")
    known = run.load("radiation_pairs")
    every = pd.concat([known, nearest(lists, data.vocabulary(run))], ignore_index=True)
    judges = dict.fromkeys([*run.judges, matching.EXACT])
    by = {j: await matching.match_labelled(run, every, j) for j in judges}
    found = verdicts_by_item(by, {v: v for v in matching.LABELS}, {"same"})
    for r in every.itertuples():
        labelled = isinstance(r.label, str)
        key = document.share(f"radiation {r.pair}", text("Reference term", r.reference))
        document.add(
            run,
            "3.5 labelled pairs" if labelled else "3.5 pairs of this run",
            r.pair,
            "written pair" if labelled else "lists of the run",
            r.kind,
            unit=r.reference,
            by="written" if labelled else "rules",
            category=r.reference,
            title=f"{r.predicted} | {r.reference}",
            shared=[key],
            reply=r.predicted,
            verdicts=found.get(r.pair, ()),
            human=[human_label("its author", r.label, reason=r.why)] if labelled else (),
        )


def nearest(lists, terms):
    """Each predicted item of the lists, paired with the term that is nearest in letters."""
    from rapidfuzz import fuzz, process

    names = normals([t for mine in lists["terms"] for t in mine])
    said = {names[t]: t for mine in lists["terms"] for t in mine}  # of several spellings the last
    return pd.DataFrame(
        [
            (f"pair-{n:04}", t, process.extractOne(t, terms, scorer=fuzz.WRatio)[0])
            for n, t in enumerate(said.values(), 1)
        ],
        columns=["pair", "predicted", "reference"],
    ).assign(kind="this run's lists", why="")
