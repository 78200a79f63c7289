"""Cancer-Myth's judged items: answers with verdicts (section 4.3), cures (version 2), the loop (3.2), labels (3.2), survey (2)."""

from bedside import BedsideError
from bedside.judges import grade_labelled
from bedside.papers.cancer_myth import data as cm
from bedside.papers.cancer_myth import survey
from bedside.papers.cancer_myth.v2 import methods, mitigation, optimiser
from bedside.rows import ABSENT, entries, human_label, other_verdict, text, verdicts_by_item

TITLE = "Cancer-Myth"
GRADES = {-1: "-1 unaware", 0: "0 incomplete", 1: "1 corrected"}
PLAIN = {0: "0 invents a presupposition", 1: "1 leaves the premise alone"}
WORDS = {"myth": GRADES, "plain": PLAIN}  # by kind: does the question hold a false presupposition?
CURED = dict(zip(mitigation.SETS, ("false presupposition", "no false presupposition")))
GRADING = {"myth": {"values": cm.GRADES, "template": "judge"}, "plain": mitigation.JUDGE_PLAIN}


async def collect(document):
    """All judged items of the study into a `bedside.items.Document`."""
    await evaluation(document)
    await mitigated(document)
    await loop(document)
    await labelled(document)
    if document.profile == "public":
        rated(document)


def share(document, r):
    """A question's blocks under its item; a question without a false presupposition has no correction."""
    correction = getattr(r, "correction", None)
    right = (
        [text("What sets the false presupposition right", correction)]
        if isinstance(correction, str)
        else []
    )
    return [document.share(f"cancer_myth {r.item}", text("Question", r.question), *right)]


async def graded(run, frame, kind, examples):
    """{item: verdicts} of all the run's judges on a frame (item, question, answer, reply_status ...) of one model."""
    by = {
        j: await run.grade(frame, judge=j, labelled=examples[kind], **GRADING[kind])
        for j in run.judges
    }
    return verdicts_by_item(by, WORDS[kind], {1})


def known(run):
    """The labelled answers of both kinds of questions that judges learn from."""
    return {"myth": cm.labelled(run), "plain": mitigation.labelled_plain(run)}


async def evaluation(document):
    """Section 4.3: zero-shot answers to both kinds of questions."""
    run = document.run("cancer_myth", "03_evaluation")
    document.begin(run, TITLE)
    learnt = run.load("cancer_myth_questions_sample").assign(label=lambda f: f["category"])
    for kind, items, section in (
        ("myth", cm.questions(run), "4.3 false presupposition"),
        ("plain", cm.plain_questions(run), "version 2: no false presupposition"),
    ):
        answered = await cm.answers(run, items, run.settings["max_tokens"])
        sorted_ = (
            (await cm.categorise(run, items, learnt, "lexical"))
            .set_index("item")["value"]
            .map(cm.CATEGORIES)
            if kind == "myth"
            else {}
        )
        for model, mine in answered.groupby("model", sort=False):
            both = items.merge(mine, on="item", validate="one_to_one")
            made = await graded(run, both, kind, known(run))
            for r in both.itertuples():
                document.add(
                    run,
                    section,
                    r.item,
                    model,
                    "plain",
                    category=getattr(r, "category", "no false presupposition"),
                    title=r.question,
                    shared=share(document, r),
                    reply=r.answer,
                    status=r.reply_status,
                    truncated=r.truncated,
                    verdicts=made.get(r.item, ()),
                    more=[other_verdict("lexical", "category", sorted_[r.item])]
                    if kind == "myth"
                    else (),
                )


async def mitigated(document):
    """Version 2: the cures, on both kinds of questions and on exams."""
    run = document.run("cancer_myth", "04_mitigation")
    p, examples = run.settings, known(run)
    training, sets = mitigation.sets(run, p["train"], p["reported"], p["exams"])
    there = {name: items for name, items in sets.items() if items is not None}
    for model in run.models:
        instruction = ""
        try:
            instruction = (
                await optimiser.optimise(
                    run,
                    model,
                    training,
                    examples,
                    budget=p["gepa_budget"],
                    max_tokens=p["max_tokens"],
                )
            ).instruction
        except BedsideError as e:
            print(f"cancer_myth/04_mitigation, {model}, gepa: left out ({e})")
        how = {
            name: method
            for name, method in methods.every(instruction, p["note_tokens"]).items()
            if instruction or name != "gepa"
        }
        async for method, name, items, answers in methods.answered(
            run, model, how, there, p["agent_items"], p["max_tokens"]
        ):
            both = items.merge(answers, on="item", validate="one_to_one")
            await _cured(
                document,
                run,
                model,
                method,
                name,
                both[both["reply_status"] != ABSENT],
                instruction if method == "gepa" else "",
                examples,
            )


async def _cured(document, run, model, method, name, both, instruction, examples):
    """The rows of one method on one set."""
    if name in mitigation.SETS[:2]:
        made = await graded(run, both, "myth" if name == mitigation.SETS[0] else "plain", examples)
    else:
        marks = mitigation.grade_exam(
            both[["item", "options", "gold"]], both.drop(columns=["options", "gold", "question"])
        ).assign(raw="")
        made = verdicts_by_item(
            {
                "key": marks.assign(
                    status=marks["status"].where(marks["status"] == "graded", "unparsed"),
                    value=marks["outcome"],
                )
            },
            {"right": "right option", "wrong": "wrong option"},
            {"right"},
        )
    for r in both.itertuples():
        if name in mitigation.SETS[:2]:
            shared = share(document, r)
        else:
            shared = [
                document.share(
                    f"cancer_myth {r.item}",
                    text("Question", r.question),
                    entries("Right option", [r.gold]),
                )
            ]
        document.add(
            run,
            f"version 2 cures: {CURED.get(name, name)}",
            r.item,
            model,
            method,
            category=getattr(r, "category", name),
            title=r.question,
            shared=shared,
            reply=r.answer,
            status=r.reply_status,
            truncated=r.truncated,
            verdicts=made.get(r.item, ()),
            blocks=(
                [text("Instruction that the optimiser found", instruction)] if instruction else ()
            ),
        )


async def loop(document):
    """Section 3.2: the questions of the adversarial loop, answered by their own author."""
    run = document.run("cancer_myth", "02_adversarial_generation")
    p = run.settings
    used, start = cm.used_myths(run, p["myths_used"]), cm.starting_examples(run)
    facts = used.set_index("item")
    settings = {k: p[k] for k in ("max_tokens", "temperature", "frequency_penalty")}
    for model in run.models:
        made, _ = await cm.generate(
            run,
            model,
            used,
            start,
            cm.labelled(run),
            settings=settings,
            answer_tokens=p["answer_tokens"],
        )
        asked = made[made["status"] == "new"].assign(reply_status="")
        given = await graded(run, asked, "myth", known(run))
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
                category=myth["cancer"],
                title=r.question,
                shared=[key],
                reply=r.answer,
                verdicts=given.get(r.item, ()),
            )


async def labelled(document):
    """Section 3.2, appendix C: the labelled answers, with every judge's verdict; the judge without a model out of fold."""
    run = document.run("cancer_myth", "05_judge_agreement")
    for kind, frame in known(run).items():
        by = {j: await grade_labelled(run, frame, judge=j, **GRADING[kind]) for j in run.judges}
        made = verdicts_by_item(by, WORDS[kind], {1})
        for r in frame.itertuples():
            document.add(
                run,
                "3.2 labelled answers" if kind == "myth" else "version 2: labelled answers",
                r.answer_id,
                "written answer",
                f"tone: {r.tone}",
                category="false presupposition" if kind == "myth" else "no false presupposition",
                title=r.question,
                shared=share(document, r),
                reply=r.answer,
                verdicts=made.get(r.answer_id, ()),
                human=[human_label("their authors", WORDS[kind][r.label])],
            )


def rated(document):
    """Section 2: answers to real patients' questions with the physicians' ratings; no judge."""
    run = document.run("cancer_myth", "01_physician_survey")
    answers, ratings = run.load("cancer_myth_survey_answers"), survey.survey(run)
    for r in answers.to_dict("records"):
        number = int(r["question_id"])
        key = document.share(
            f"cancer_myth survey {number}", text("Patient's question", r["question"])
        )
        for column, source in survey.RATED.items():
            mine = ratings[(ratings["question"] == number) & (ratings["source"] == source)]
            said = [
                human_label(x.rater, f"{x.rating:.0f} of 5", reason=x.missing)
                for x in mine[mine["part"] == 0].itertuples()
                if x.rating == x.rating
            ]
            harm = [
                f"paragraph {x.part}, {x.rater}: {', '.join(x.labels)}"
                for x in mine[mine["part"] > 0].itertuples()
                if x.labels
            ]
            document.add(
                run,
                "2 physicians' survey",
                f"survey-{number}",
                source,
                "survey",
                category="survey",
                title=r["question"],
                shared=[key],
                reply=r[column],
                human=said,
                blocks=[entries("Labels that physicians gave", harm)] if harm else (),
            )
