"""Cancer-Myth's judged items: answers with verdicts (section 4.3), cures (version 2), the loop (3.2), labels (3.2), survey (2)."""

import functools

from .. import BedsideError
from ..items import ABSENT, entries, human, text, verdicts
from . import cancer_myth as cm
from . import cancer_myth_methods as methods
from . import cancer_myth_mitigation as mitigation
from . import cancer_myth_optimiser as optimiser
from . import cancer_myth_survey as survey

TITLE = "Cancer-Myth"
GRADES = {-1: "-1 unaware", 0: "0 incomplete", 1: "1 corrected"}
PLAIN = {0: "0 invents a presupposition", 1: "1 leaves the premise alone"}
WORDS = {"false": GRADES, "none": PLAIN}      # by kind: does the question hold a false presupposition?
CURED = dict(zip(mitigation.SETS, ("false presupposition", "no false presupposition")))
GRADING = {"false": {"values": cm.GRADES, "template": "judge"}, "none": mitigation.JUDGE_PLAIN}


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
    more = [text("What sets the false presupposition right", correction)] if isinstance(correction, str) else []
    return [document.share(f"cancer_myth {r.item}", text("Question", r.question), *more)]


async def graded(run, frame, kind, examples):
    """{item: verdicts} of all the run's judges on a frame (item, question, answer, reply_status ...) of one model."""
    by = {j: await run.grade(frame, judge=j, labelled=examples[kind], **GRADING[kind]) for j in run.judges}
    return verdicts(by, WORDS[kind], {1})


def known(run):
    """The labelled answers of both kinds of questions that judges learn from."""
    return {"false": cm.labelled(run), "none": mitigation.labelled_plain(run)}


async def evaluation(document):
    """Section 4.3: zero-shot answers to both kinds of questions."""
    run = document.run("cancer_myth", "03_evaluation")
    document.begin(run, TITLE)
    learnt = run.load("cancer_myth_questions_sample").assign(label=lambda f: f["category"])
    for kind, items, section in (("false", cm.questions(run), "4.3 false presupposition"),
                                 ("none", cm.plain_questions(run), "version 2: no false presupposition")):
        answered = await cm.answers(run, items, run.settings["max_tokens"])
        sorted_ = (await cm.categorise(run, items, learnt, "lexical")).set_index("item")["value"].map(cm.CATEGORIES) if kind == "false" else {}
        for model, mine in answered.groupby("model", sort=False):
            both = items.merge(mine, on="item", validate="one_to_one")
            made = await graded(run, both, kind, known(run))
            for r in both.itertuples():
                document.add(run, section, r.item, model, "plain", category=getattr(r, "category", "no false presupposition"), title=r.question,
                             shared=share(document, r), reply=r.answer, status=r.reply_status, truncated=r.truncated, verdicts=made.get(r.item, ()),
                             more=[{"judge": "lexical", "task": "category", "status": "graded", "value": sorted_[r.item], "raw": ""}] if kind == "false" else ())


async def mitigated(document):
    """Version 2: the cures, on both kinds of questions and on exams."""
    import pandas as pd

    run = document.run("cancer_myth", "04_mitigation")
    p = run.settings
    size = int(p["reported"] or {"sample": 12, "public": 30}[run.profile])
    myth_train, myth = mitigation.split(cm.questions(run, whole=True), p["train"], size, run)
    plain_train, plain = mitigation.split(cm.plain_questions(run, whole=True), p["train"] // 2, size, run)
    sets = {"Cancer-Myth": myth, "Cancer-Myth-NFP": plain, **{n: mitigation.exam_items(run, n, p["exams"]) for n in ("MedQA", "PubMedQA")}}
    examples = known(run)
    learnt = {"myth": examples["false"], "plain": examples["none"]}
    training = pd.concat([myth_train.assign(kind="myth"), plain_train.assign(kind="plain", correction="")], ignore_index=True)
    agents = functools.partial(methods.multi_agent, note_tokens=p["note_tokens"])
    for model in run.models:
        how = {"plain": methods.plain, "precautionary": methods.precautionary, "multi_agent": agents,
               "multi_agent_monitor": functools.partial(agents, monitor=True)}
        told = {}
        try:
            found = await optimiser.optimise(run, model, training, learnt, budget=p["gepa_budget"], max_tokens=p["max_tokens"])
            how["gepa"], told["gepa"] = functools.partial(methods.instructed, instruction=found.instruction), found.instruction
        except BedsideError as e:
            print(f"cancer_myth/04_mitigation, {model}, gepa: left out ({e})")
        for method, answer in how.items():
            for name, items in sets.items():
                if items is None:
                    continue
                use = items.head(p["agent_items"] or len(items)) if method.startswith("multi_agent") else items
                both = use.merge(await answer(run, model, use, p["max_tokens"]), on="item", validate="one_to_one")
                await _cured(document, run, model, method, name, both[both["reply_status"] != ABSENT], told.get(method), examples)


async def _cured(document, run, model, method, name, both, instruction, examples):
    """The rows of one method on one set."""
    if name in mitigation.SETS[:2]:
        made = await graded(run, both, "false" if name == mitigation.SETS[0] else "none", examples)
    else:
        marks = mitigation.grade_exam(both[["item", "options", "gold"]], both.drop(columns=["options", "gold", "question"])).assign(raw="")
        made = verdicts({"key": marks.assign(status=marks["status"].where(marks["status"] == "graded", "unparsed"), value=marks["outcome"])},
                        {"right": "right option", "wrong": "wrong option"}, {"right"})
    for r in both.itertuples():
        if name in mitigation.SETS[:2]:
            shared = share(document, r)
        else:
            shared = [document.share(f"cancer_myth {r.item}", text("Question", r.question), entries("Right option", [r.gold]))]
        document.add(run, f"version 2 cures: {CURED.get(name, name)}", r.item, model, method, category=getattr(r, "category", name), title=r.question, shared=shared,
                     reply=r.answer, status=r.reply_status, truncated=r.truncated, verdicts=made.get(r.item, ()),
                     blocks=[text("Instruction that the optimiser found", instruction)] if instruction else ())


async def loop(document):
    """Section 3.2: the questions of the adversarial loop, answered by their own author."""
    run = document.run("cancer_myth", "02_adversarial_generation")
    p = run.settings
    count = int(p["myths_used"] or {"sample": 10, "public": 16}[run.profile])
    collected = cm.myths(run)
    used, start = run.limited(cm.in_seeded_order(collected, count, run)), cm.starting_examples(run)
    facts = collected.set_index("item")
    settings = {k: p[k] for k in ("max_tokens", "temperature", "frequency_penalty")}
    for model in run.models:
        made, _ = await cm.generate(run, model, used, start, cm.labelled(run), settings=settings, answer_tokens=p["answer_tokens"])
        asked = made[made["status"] == "new"].assign(reply_status="")
        given = await graded(run, asked, "false", known(run))
        for r in asked.itertuples():
            myth = facts.loc[r.myth]
            key = document.share(f"cancer_myth {r.item} {model}", text("Generated question", r.question),
                                 text("What sets the false presupposition right", r.correction), text("Collected myth", myth["myth"]), text("Fact", myth["fact"]))
            document.add(run, "3.2 generation loop", r.item, model, f"joined: {r.joined}", category=myth["cancer"], title=r.question, shared=[key],
                         reply=r.answer, verdicts=given.get(r.item, ()))


async def labelled(document):
    """Section 3.2, appendix C: the labelled answers, with every judge's verdict; the judge without a model out of fold."""
    run = document.run("cancer_myth", "05_judge_agreement")
    for kind, frame in known(run).items():
        by = {j: await run.grade_labelled(frame, judge=j, **GRADING[kind]) for j in run.judges}
        made = verdicts(by, WORDS[kind], {1})
        for r in frame.itertuples():
            document.add(run, "3.2 labelled answers" if kind == "false" else "version 2: labelled answers", r.answer_id, "written answer", f"tone: {r.tone}",
                         category="false presupposition" if kind == "false" else "no false presupposition", title=r.question, shared=share(document, r),
                         reply=r.answer, verdicts=made.get(r.answer_id, ()), human=[human("their authors", WORDS[kind][r.label])])


def rated(document):
    """Section 2: answers to real patients' questions with the physicians' ratings; no judge."""
    run = document.run("cancer_myth", "01_physician_survey")
    answers, ratings = run.load("cancer_myth_survey_answers"), survey.survey(run)
    for r in answers.to_dict("records"):
        number = int(r["question_id"])
        key = document.share(f"cancer_myth survey {number}", text("Patient's question", r["question"]))
        for column, source in survey.RATED.items():
            mine = ratings[(ratings["question"] == number) & (ratings["source"] == source)]
            said = [human(x.rater, f"{x.rating:.0f} of 5", reason=x.missing) for x in mine[mine["part"] == 0].itertuples() if x.rating == x.rating]
            harm = [f"paragraph {x.part}, {x.rater}: {', '.join(x.labels)}" for x in mine[mine["part"] > 0].itertuples() if x.labels]
            document.add(run, "2 physicians' survey", f"survey-{number}", source, "survey", category="survey", title=r["question"], shared=[key], reply=r[column],
                         human=said, blocks=[entries("Labels that physicians gave", harm)] if harm else ())
