"""Radiation: the lists of side effects with what matched, was missed and was spurious (section 3.6), and pairs of terms (3.5)."""

from bedside.papers.radiation import data as rad
from bedside.papers.radiation import matching, scores
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

TITLE = "Radiation side effects"
RECALLED = ["nothing matched", "less than half matched", "half or more matched"]


async def collect(document):
    """All judged items of the study into a `bedside.items.Document`."""
    lists = await listed(document)
    await pairs(document, lists)


async def listed(document):
    """The lists of both profiles of each patient in all regimes; a list fails that has less than half of the site's reference."""
    run = document.run("radiation", "04_documentation_sensitivity")
    document.begin(run, TITLE)
    patients, reference, terms = rad.profiles(run), rad.reference(run), rad.vocabulary(run)
    lists = await rad.lists(run, patients, list(rad.REGIMES), run.settings["max_tokens"])
    lists = lists[lists["reply_status"] != ABSENT].reset_index(drop=True)
    by = {
        j: scores.scored(await matching.matched(run, lists, j), reference, terms)
        for j in [*run.judges, matching.EXACT]
    }
    for r in patients.itertuples():
        changed = [
            f"{old.strip() or '(nothing)'} → {new.strip() or '(nothing)'}"
            for old, new in rad.difference(r.base, r.specified)
            if (old + new).strip()
        ]
        mine = reference[reference["site"] == r.site]
        document.share(
            f"radiation {r.item}",
            text("Record, base", r.base),
            text("Record, specified", r.specified),
            entries("What the two records differ in", changed),
            entries(
                "Reference of the site",
                [f"{e.effect} ({e.onset}, {e.frequency})" for e in mine.itertuples()],
            ),
        )
    first, keyed = by[run.judge], {j: frame.set_index(scores.KEYS) for j, frame in by.items()}
    effects = {site: part["effect"].tolist() for site, part in reference.groupby("site")}
    pair = {}  # of a patient, model and regime: {profile: list}
    for r in first.itertuples():
        pair.setdefault((r.item, r.model, r.regime), {})[r.profile] = r
    for r in first.itertuples():
        other = f"{r.regime}, {rad.PROFILES[r.profile == 'base']}"
        document.add(
            run,
            "4 lists",
            r.item,
            r.model,
            f"{r.regime}, {r.profile}",
            category=r.site,
            title=f"{r.profile} record, {r.site}",
            shared=[f"radiation {r.item}"],
            reply=r.answer,
            status=r.reply_status,
            truncated=r.truncated,
            blocks=[sides(pair[r.item, r.model, r.regime], effects[r.site], terms)],
            verdicts=[
                v
                for j, frame in keyed.items()
                for v in said(j, frame.loc[tuple(getattr(r, k) for k in scores.KEYS)])
            ],
            beside=row_id(run, r.item, r.model, other),
        )
    return lists


def sides(both, effects, terms):
    """Base and specified list beside each other: {term: marks}; what either has too much stands below the reference."""
    marks = {e: ["", ""] for e in effects}
    for k, profile in enumerate(rad.PROFILES):
        r = both.get(profile)
        if r is None or r.match != "graded":
            continue
        for e in effects:
            marks[e][k] = "matched" if e in r.found else "missed"
        of_site = r.pairs * [t in effects for t in terms]
        for predicted, place in zip(r.terms, matching.one_to_one(of_site)):
            if (
                place < 0
            ):  # one that is worded like a term but counts for none has a line of its own
                marks.setdefault(
                    f"{predicted} (as listed)" if predicted in effects else predicted, ["", ""]
                )[k] = "spurious"
    return aligned("Reference and lists", rad.PROFILES, marks)


def said(judge, r):
    """A matcher's verdict on a list: how much of the site's reference it matched."""
    if r["reply_status"] or r["match"] == "error":
        return []
    if r["match"] != "graded":
        return [verdict(judge, r["match"], raw=r["answer"])]
    value = RECALLED[int(r["recall"] > 0) + int(r["recall"] >= 0.5)]
    return [
        verdict(
            judge,
            "graded",
            value,
            value == RECALLED[-1],
            reason=(
                f"matched {r['hits']:.0f} of {r['size']}, listed {len(r['terms'])}: precision"
                f" {r['precision']:.2f}, recall {r['recall']:.2f}, F1 {r['f1']:.2f}"
            ),
        )
    ]


async def pairs(document, lists):
    """Section 3.5: labelled pairs of terms, and pairs out of this run's lists, each predicted item with the term that is nearest in letters."""
    import pandas as pd
    from rapidfuzz import fuzz, process

    run = document.run("radiation", "06_judge_agreement")
    known, terms = run.load("radiation_pairs"), rad.vocabulary(run)
    said = {rad.normal(t): t for mine in lists["terms"] for t in mine}
    made = [
        (
            f"pair-{n:04}",
            t,
            process.extractOne(t, terms, scorer=fuzz.WRatio)[0],
            "this run's lists",
            "",
        )
        for n, t in enumerate(said.values(), 1)
    ]
    every = pd.concat(
        [known, pd.DataFrame(made, columns=["pair", "predicted", "reference", "kind", "why"])],
        ignore_index=True,
    )
    by = {
        j: await matching.match_labelled(run, every, j)
        for j in dict.fromkeys([*run.judges, matching.EXACT])
    }
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
            category=r.reference,
            title=f"{r.predicted} | {r.reference}",
            shared=[key],
            reply=r.predicted,
            verdicts=found.get(r.pair, ()),
            human=[human_label("its author", r.label, reason=r.why)] if labelled else (),
        )
