"""MedDialBench's judged items: consultations turn by turn with their diagnoses (section 3), and what was labelled (section 3.5)."""

import re

from bedside import baselines
from bedside.judges import LEXICAL
from bedside.papers.meddialbench import data as md
from bedside.papers.meddialbench import judging, rules
from bedside.papers.meddialbench.consultations import ENDS, OPENING
from bedside.rows import (
    dialogue,
    entries,
    human_label,
    other_verdict,
    pieces,
    row_id,
    text,
    verdicts_by_item,
)

TITLE = "MedDialBench"
YES_NO, SAYS = {v: v for v in judging.YES_NO}, {1.0: "yes", 0.0: "no"}


async def collect(document):
    """All judged items of the study into a `bedside.items.Document`."""
    run = document.run("meddialbench", "05_vulnerability")
    document.begin(run, TITLE)
    known = judging.Labelled(run)
    await consultations(document, run, known)
    await labelled(document, run, known)


async def consultations(document, run, known):
    """The consultations of all configurations, each beside the same case's baseline."""
    p, plan = run.settings, md.design(run)
    made, scripts = await md.cases(run, plan, p["size"])
    cases = made[made["key_items"].map(bool)].reset_index(drop=True)
    settings = {k: p[k] for k in ("patient", "turns", "turn_tokens", "temperature")}
    configurations = plan.configurations(p["combinations"])
    done, held = await rules.consultations(run, plan, cases, scripts, configurations, **settings)
    there = held["end"] != "failed"
    held, done = held[there].reset_index(drop=True), [c for c, ok in zip(done, there) if ok]
    by = {j: await judging.outcomes(run.judged_by(j), known, scripts, held) for j in run.judges}
    shown = (await judging.adherence(run.judged_by(LEXICAL), plan, known, scripts, held)).set_index(
        "item"
    )
    given = verdicts_by_item(
        {
            j: frame.assign(
                status=frame["verdict_status"],
                value=frame["correct"].map(SAYS),
                raw=frame["verdict"],
            )
            for j, frame in by.items()
        },
        YES_NO,
        {"yes"},
    )
    overlap = judging.Overlap(known.rows("coverage"))
    for r in cases.itertuples():
        document.share(
            f"meddialbench {r.item}",
            text("Patient", f"{r.patient}\n{r.complaint}"),
            text("What the patient knows", r.history),
            entries("Key items", r.key_items),
        )
        document.share(
            f"meddialbench {r.item} diagnosis",
            text("True diagnosis", "; ".join([r.diagnosis, *r.accepted])),
        )
    keyed = {j: frame.set_index("item") for j, frame in by.items()}
    for c, r in zip(done, held.to_dict("records"), strict=True):
        extra = []
        for j, frame in keyed.items():
            mine = frame.loc[r["item"]]
            extra += (
                [other_verdict(j, "misled", SAYS.get(mine["misled"], ""))]
                if mine["correct"] == 0
                else []
            )
            extra += (
                [
                    other_verdict(
                        j,
                        "coverage",
                        f"{mine['coverage'] * len(c.case.key_items):.0f} of {len(c.case.key_items)}"
                        " key items",
                    )
                ]
                if mine["coverage"] == mine["coverage"]
                else []
            )
        seen = [d for d, s in zip(plan.dimensions, shown.at[r["item"], "shown"]) if s == 1]
        extra.append(other_verdict(LEXICAL, "adherence", "; ".join(seen) or "none"))
        lies = judging.false_statements(scripts, c.case.item, c.levels)
        directions = scripts[(scripts["item"] == c.case.item) & scripts["level"].isin(c.levels)]
        blocks = [
            dialogue("Consultation", turns(c, lies, overlap)),
            text("How it ended", f"{ENDS[c.end]}{f' ({c.by})' if c.by else ''}"),
        ]
        blocks += (
            [
                entries(
                    "Behaviour script", [f"{x.level}: {x.script}" for x in directions.itertuples()]
                )
            ]
            if len(directions)
            else []
        )
        blocks += [entries("False statements of the script", lies)] if lies else []
        document.add(
            run,
            "4 consultations",
            c.case.item,
            c.doctor,
            c.configuration,
            category=" + ".join(c.levels) or "cooperative",
            title=f"{c.case.patient}: {c.case.complaint}",
            shared=[f"meddialbench {c.case.item}", f"meddialbench {c.case.item} diagnosis"],
            reply=c.diagnosis,
            status=r["reply_status"],
            truncated=c.truncated > 0,
            blocks=blocks,
            verdicts=given.get(r["item"], ()),
            more=extra,
            beside=row_id(run, c.case.item, c.doctor, md.BASELINE) if c.levels else "",
        )


def turns(c, lies, overlap):
    """A consultation's turns; notes say which key items a statement is the first to tell, by overlap of words, marks which sentences are the script's."""
    import pandas as pd

    left, made = (
        dict(enumerate(c.case.key_items, 1)),
        [("Doctor", pieces(OPENING), []), ("Patient", pieces(c.case.complaint), [])],
    )
    for question, answer in c.turns:
        alike = overlap.similarity(
            pd.DataFrame({"references": [[k] for k in left.values()], "text": answer})
        )
        told = [n for n, a in zip(left, alike) if a >= overlap.cut]
        notes = [f"discloses key item {n}: {left.pop(n)}" for n in told]
        made += [
            ("Doctor", pieces(question), []),
            ("Patient", pieces(answer, script=scripted(answer, lies)), notes),
        ]
    return [t for t in made if t[1]]


def scripted(statement, lies):
    """Places (start, end) of the sentences that say what the script has falsely stated: half of its telling words, or more."""
    return [
        m.span()
        for m in re.finditer(r"[^.!?]+[.!?]*", statement)
        for lie in lies
        if (words := judging.told(lie))
        and len(words & judging.told(m[0])) >= max(min(2, len(words)), len(words) / 2)
    ]


async def labelled(document, run, known):
    """The labelled pairs of diagnoses and consultations, with every judge's verdict."""
    run = document.run("meddialbench", "01_design_and_validation")
    measured = {j: await judging.measured(run, known, j) for j in run.judges}
    rows = baselines.learnt(known.diagnosis)
    found, misled = (
        verdicts_by_item({j: m[task][1] for j, m in measured.items()}, YES_NO, {"yes"})
        for task in ("", "misled")
    )
    for r in rows.itertuples():
        mine = known.dialogues[known.dialogues["answer_id"] == r.answer_id]
        blocks = [
            dialogue(
                "Consultation",
                [
                    t
                    for q, a in x.turns
                    for t in (("Doctor", pieces(q), []), ("Patient", pieces(a), []))
                ],
            )
            for x in mine.itertuples()
        ]
        told = [
            f"disclosed: {', '.join(map(str, x.disclosed))}; behaviour shown:"
            f" {', '.join(x.shown) or 'none'}; misled: {x.misled}"
            for x in mine.itertuples()
        ]
        document.add(
            run,
            "3.5 labelled diagnoses",
            r.answer_id,
            "written for the project",
            r.kind,
            category=r.truth,
            title=f"{r.diagnosis} | {r.truth}",
            shared=[
                document.share(
                    f"meddialbench {r.answer_id}", text("True diagnosis", "; ".join(r.references))
                )
            ],
            reply=r.diagnosis,
            blocks=blocks,
            verdicts=found.get(r.answer_id, ()),
            more=[
                other_verdict(v["judge"], "misled", v["value"], v["raw"])
                for v in misled.get(r.answer_id, ())
            ],
            human=[human_label("this project", r.label, reason="; ".join(told))],
        )
