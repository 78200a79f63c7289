"""Cancer-Myth's judged items: answers, mitigations (version 2), loop (3.2), labels, survey (2)."""

import numpy as np
import pandas as pd

from bedside import BedsideError
from bedside.checks import joined
from bedside.judges import grade_labelled
from bedside.rows import (
    ABSENT,
    entries,
    human_label,
    other_verdict,
    text,
    verdict,
    verdicts_by_item,
)

from . import data, generation, pipeline, study, survey, systems
from .v2 import items, methods, optimiser, scores

GRADES = {-1: "-1 unaware", 0: "0 incomplete", 1: "1 corrected"}
PLAIN = {-1: "-1 invents a presupposition", 1: "1 leaves the premise alone"}
REVIEW, CANDIDATE, REVIEWED = "3.3 review", "candidate", "02_adversarial_generation"
KEPT = {"keep": "kept", "none": "no false presupposition", "unsound": "unsound"}  # or not
SURVEY, ANSWERED = "2 physicians' survey", "2 this run's answers"
ASKED = "Patient's question"
HARMFUL = "a harmful label"  # of a paragraph, by any physician
WORDS = {"myth": GRADES, "plain": PLAIN}  # by kind of question, as study.GRADING
BESIDE = {  # a question in its row: what the judge is told about it
    "correction": "What sets the false presupposition right",
    "rejected": "Rejected: what was held against the question",
}
KINDS = {"myth": "false presupposition", "plain": "no false presupposition"}
CURED = {name: KINDS[kind] for name, kind in items.KINDS.items()}  # the sets' names in sections


async def collect(document):
    """All judged items of the study into a `bedside.rows.Document`."""
    await evaluation(document)
    await released(document)
    await mitigated(document)
    await loop(document)
    review(document)
    await labelled(document)
    await surveyed(document)
    if document.profile == "public":
        rated(document)


def share(document, r):
    """A question's blocks under its item, with the correction if it has a false presupposition."""
    blocks = [text("Question", r.question)]
    for column, title in BESIDE.items():
        if isinstance(said := getattr(r, column, None), str) and said:
            blocks.append(text(title, said))
    return [document.share(f"cancer_myth {r.item}", *blocks)]


async def graded(run, frame, kind, known):
    """{item: verdicts} by all of the run's judges on one model's answers to questions of a kind."""
    by = {j: await study.grade(run, frame, kind, known[kind], j) for j in run.judges}
    return verdicts_by_item(by, WORDS[kind], {1})


async def evaluation(document):
    """Section 4.3: zero-shot answers to both kinds of questions."""
    run = document.run("cancer_myth", "03_evaluation")
    document.begin(run)
    p = run.settings
    known = study.known(run, p["examples"], p["judge_temperature"])
    questions = data.unseen(run, data.questions(run), p["keep_examples"])
    found = await study.categorise(run, questions, known["category"], "lexical")
    category = found.set_index("item")["value"].map(data.CATEGORIES)
    plain = data.plain_questions(run)
    both = pd.concat([questions, plain])
    answered = await study.answers(run, both, p["max_tokens"], temperature=p["temperature"])
    how = [p[k] for k in ("agent_questions", "rounds", "note_tokens", "max_tokens")]
    answered = pd.concat([answered, await methods.as_systems(run, questions, *how)])
    for kind, asked, section in (
        ("myth", questions, "4.3 false presupposition"),
        ("plain", plain, "version 2: no false presupposition"),
    ):
        given = answered[answered["item"].isin(asked["item"])]
        for model, mine in given.groupby("model", sort=False):
            both = joined(asked, mine)
            made = await graded(run, both, kind, known)
            for r in both.itertuples():
                beside = (
                    [other_verdict("lexical", "category", category[r.item])]
                    if kind == "myth"
                    else ()
                )
                document.add(
                    run,
                    section,
                    r.item,
                    model,
                    "plain",
                    unit=getattr(r, "unit", r.item),
                    sent=r.sent,
                    category=getattr(r, "category", KINDS["plain"]),
                    title=r.question,
                    shared=share(document, r),
                    reply=r.answer,
                    status=r.reply_status,
                    truncated=r.truncated,
                    verdicts=made.get(r.item, ()),
                    more=beside,
                )


async def released(document):
    """Section 4.3: the released answers of eight systems with GPT-4o's grades, where they are."""
    run = document.run("cancer_myth", "07_released_answers")
    if (found := systems.file(run)) is None:
        return
    known = study.known(run)["myth"]
    for model, mine in systems.answers(run, found).groupby("model", sort=False):
        by = {j: await study.grade(run, mine, "myth", known, j) for j in run.judges}
        made = verdicts_by_item({systems.JUDGE: mine, **by}, GRADES, {1})
        for r in mine.itertuples():
            document.add(
                run,
                "4.3 released answers",
                r.item,
                model,
                "released",
                unit=r.unit,
                category=r.category,
                title=r.question,
                shared=share(document, r),
                reply=r.answer,
                status=r.reply_status,
                verdicts=made.get(r.item, ()),
            )


async def mitigated(document):
    """Version 2: the mitigations, on both kinds of questions and on exams."""
    run = document.run("cancer_myth", "04_mitigation")
    p = run.settings
    known = study.known(run, p["examples"], p["judge_temperature"])
    training, sets = items.sets(run, p["train"], p["reported"], p["exams"], p["keep_examples"])
    there = {name: asked for name, asked in sets.items() if asked is not None}
    for model in run.models:
        instruction = await _instruction(run, model, training, known)
        how = methods.every(instruction, p["note_tokens"], p["rounds"], p["temperature"])
        if not instruction:
            del how["gepa"]
        async for method, name, asked, answers in methods.answered(
            run, model, how, there, p["agent_items"], p["max_tokens"]
        ):
            both = joined(asked, answers)
            both = both[~both["reply_status"].str.endswith(ABSENT)]  # an agent's too
            found = instruction if method == "gepa" else ""
            await _cured(document, run, model, method, name, both, found, known)


async def _instruction(run, model, training, known):
    """The instruction that the optimiser found; empty if its calls were never recorded."""
    budget, max_tokens = run.settings["gepa_budget"], run.settings["max_tokens"]
    try:
        found = await optimiser.optimise(
            run, model, training, known, budget=budget, max_tokens=max_tokens
        )
    except BedsideError as e:
        print(f"cancer_myth/04_mitigation, {model}, gepa: left out ({e})")
        return ""
    return found.instruction


async def _cured(document, run, model, method, name, both, instruction, known):
    """The rows of one method on one set."""
    exam = name not in items.KINDS
    made = _marks(both) if exam else await graded(run, both, items.KINDS[name], known)
    learnt = [text("Instruction that the optimiser found", instruction)] if instruction else ()
    for r in both.itertuples():
        if exam:
            right = entries("Right option", [r.gold])
            key = f"cancer_myth {r.item}"
            shared = [document.share(key, text("Question", r.question), right)]
        else:
            shared = share(document, r)
        document.add(
            run,
            f"version 2 cures: {CURED.get(name, name)}",
            r.item,
            model,
            method,
            unit=getattr(r, "unit", r.item),
            sent=r.sent,
            category=getattr(r, "category", name),
            title=r.question,
            shared=shared,
            reply=r.answer,
            status=r.reply_status,
            truncated=r.truncated,
            verdicts=made.get(r.item, ()),
            blocks=learnt,
        )


def _marks(both):
    """{item: verdicts} on exam answers, which are marked by the answer key."""
    answered = both.drop(columns=["options", "gold", "question"])
    marks = scores.grade_exam(both[["item", "options", "gold"]], answered)
    status = marks["status"].where(marks["status"] == "graded", "unparsed")
    marks = marks.assign(raw="", status=status, value=marks["outcome"])
    words = {"right": "right option", "wrong": "wrong option"}
    return verdicts_by_item({"key": marks}, words, {"right"})


async def loop(document):
    """Section 3.2: questions of the adversarial loop, answered by the model that wrote them."""
    run = document.run("cancer_myth", "02_adversarial_generation")
    p = run.settings
    known = study.known(run, p["examples"], p["judge_temperature"])
    used, start = data.used_myths(run, p["myths_used"]), data.starting_examples(run)
    facts = used.set_index("item")
    settings = {k: p[k] for k in ("max_tokens", "temperature", "frequency_penalty")}
    for model in run.models:
        made, _ = await generation.generate(
            run,
            model,
            used,
            start,
            known["myth"],
            settings=settings,
            answer_tokens=p["answer_tokens"],
            answer_temperature=p["answer_temperature"],
        )
        asked = generation.tried(made)
        given = await graded(run, asked, "myth", known)
        for r in asked.itertuples():
            myth = facts.loc[r.myth]
            key = document.share(
                f"cancer_myth {r.item} {model}",
                text("Generated question", r.question),
                text("What sets the false presupposition right", r.correction),
                text("Collected myth", myth["myth"]),
                text("Fact", myth["fact"]),
            )
            document.add(
                run,
                "3.2 generation loop",
                r.item,
                model,
                f"joined: {r.joined}",
                unit=r.myth,
                sent=r.sent,
                category=myth["cancer"],
                title=r.question,
                shared=[key],
                reply=r.answer,
                status=r.reply_status,
                truncated=r.truncated,
                verdicts=given.get(r.item, ()),
            )
            if r.value == -1:
                about = {"category": myth["cancer"], "unit": r.myth, "sent": r.sent.split()[0]}
                candidate(document, run, r, model, [key], **about)


def candidate(document, run, r, model, shared, **more):
    """A row of the review (3.3): the correction as the reply."""
    document.add(
        run,
        REVIEW,
        r.item,
        model,
        CANDIDATE,
        title=r.question,
        shared=shared,
        reply=r.correction,
        **more,
    )


def review(document):
    """Section 3.3: the candidates that the physicians reviewed; in `sample` ours to be taken out.

    The questions of this run's loop that fooled their author come with it.
    """
    run = document.run("cancer_myth", REVIEWED)
    raw = data.released(run)
    if raw:
        found = raw["candidates"]
        label = np.where(pipeline.kept(found, raw["released"]), "kept", "taken out")
        found = found.assign(label=label, unit=found["myth"].astype(str), whose="physicians")
    else:
        found = data.taken_out(run).assign(whose="their authors", generator="Bedside's authors")
        found = found.assign(unit=found["item"], label=found["label"].replace(KEPT))
    for r in found.itertuples():
        why = (getattr(r, name, "") for name in ("why", "reason"))
        more = {"unit": r.unit, "category": r.category, "by": "model" if raw else "written"}
        more["human"] = [human_label(r.whose, r.label, *why)]
        candidate(document, run, r, r.generator, share(document, r), **more)


async def labelled(document):
    """Section 3.2, appendix C: the labelled answers, with every judge's verdict.

    Baseline judges grade them out of fold.
    """
    run = document.run("cancer_myth", "05_judge_agreement")
    sections = {"myth": "3.2 labelled answers", "plain": "version 2: labelled answers"}
    known = study.known(run, run.settings["examples"], run.settings["judge_temperature"])
    for kind in sections:
        frame, by = known[kind].labelled, {}
        for j in run.judges:
            how = study.grading(run, kind, known[kind], j)
            by[j] = await grade_labelled(run, frame, judge=j, **how)
        made = verdicts_by_item(by, WORDS[kind], {1})
        for r in frame.itertuples():
            document.add(
                run,
                sections[kind],
                r.answer_id,
                "written answer",
                f"tone: {r.tone}",
                unit=r.item,
                by="written",
                category=KINDS[kind],
                title=r.question,
                shared=share(document, r),
                reply=r.answer,
                verdicts=made.get(r.answer_id, ()),
                human=[human_label("their authors", WORDS[kind][r.label])],
            )


async def surveyed(document):
    """Section 2: this run's answers to questions of the survey, for raters; ours beside them."""
    run = document.run("cancer_myth", "01_physician_survey")
    asked, made = survey.asked(run), await survey.answered(run, run.settings)
    if run.profile == "sample":
        ours = asked[["item", "answer"]].assign(model="Bedside's authors", reply_status="")
        made = pd.concat([made, ours.assign(sent="", truncated=False)], ignore_index=True)
    for r in joined(asked[["item", "question"]], made, validate="one_to_many").itertuples():
        document.add(
            run,
            ANSWERED,
            r.item,
            r.model,
            "survey",
            by="model" if r.sent else "written",
            sent=r.sent,
            category="survey",
            title=r.question,
            shared=[document.share(f"cancer_myth {r.item}", text(ASKED, r.question))],
            reply=r.answer,
            status=r.reply_status,
            truncated=r.truncated,
        )


def rated(document):
    """Section 2: answers to real patients' questions, judged by the physicians alone.

    An answer fails if any of them gave any of its paragraphs a harmful label, as in
    `survey.label_counts`.
    """
    run = document.run("cancer_myth", "01_physician_survey")
    answers, ratings = run.load("cancer_myth_survey_answers"), survey.survey(run)
    # the survey numbers the questions in the order of this file, not by their ids
    for number, r in enumerate(answers.to_dict("records"), 1):
        asked = text(ASKED, r["question"])
        key = document.share(f"cancer_myth survey {number}", asked)
        for column, source in survey.RATED.items():
            mine = ratings[(ratings["question"] == number) & (ratings["source"] == source)]
            whole, parts = mine[mine["part"] == 0], mine[mine["part"] > 0]
            harm = [
                f"paragraph {x.part}, {x.rater}: {', '.join(x.labels)}"
                for x in parts.itertuples()
                if x.labels
            ]
            said = HARMFUL if harm else "no harmful label"
            document.add(
                run,
                SURVEY,
                f"survey-{number}",
                source,
                "survey",
                by="person" if source == survey.HUMAN else "model",
                category="survey",
                title=r["question"],
                shared=[key],
                reply=r[column],
                verdicts=[verdict("physicians", "graded", said, not harm, reason="\n".join(harm))],
                more=[
                    other_verdict(x.rater, "score", f"{x.rating:.0f} of 5", x.missing)
                    for x in whole.dropna(subset="rating").itertuples()
                ],
            )
