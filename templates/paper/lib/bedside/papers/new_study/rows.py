"""New study: its judged items, for the explorer, for raters and for seminars."""

from bedside.rows import human_label, text, verdicts_by_item

from . import data, study

WORDS = {0: "0 not right", 1: "1 right"}


async def collect(document):
    """Add all judged items of the study to a `bedside.rows.Document`."""
    run = document.run("new_study", "01_first_section")
    document.begin(run)
    questions, labelled = data.questions(run), data.labelled(run)
    for r in data.questions(run, whole=True).itertuples():
        question, reference = text("Question", r.question), text("Reference", r.reference)
        document.share(f"new_study {r.item}", question, reference)
    await answered(document, run, questions, labelled)
    await examples(document, run, labelled)


async def answered(document, run, questions, labelled):
    """Add the answers of this run, with all judges' verdicts."""
    answers = await study.answers(run, questions, run.settings["max_tokens"])
    for model, mine in answers.groupby("model", sort=False):
        by = {j: await study.judged(run, mine, labelled, j) for j in run.judges}
        found = verdicts_by_item(by, WORDS, {1})
        for r in mine.itertuples():
            document.add(
                run,
                "1 answers",
                r.item,
                model,
                "plain",
                by="model" if r.sent else "rules",
                sent=r.sent,
                title=r.question,
                shared=[f"new_study {r.item}"],
                reply=r.answer,
                status=r.reply_status,
                truncated=r.truncated,
                verdicts=found.get(r.item, ()),
            )


async def examples(document, run, labelled):
    """Add the labelled answers, with their labels beside the verdicts."""
    by = {j: await study.judged_labelled(run, labelled, j) for j in run.judges}
    found = verdicts_by_item(by, WORDS, {1})
    for r in labelled.itertuples():
        document.add(
            run,
            "1 labelled answers",
            r.answer_id,
            "written",
            "plain",
            unit=r.item,
            by="written",
            title=r.question,
            shared=[f"new_study {r.item}"],
            reply=r.answer,
            verdicts=found.get(r.answer_id, ()),
            human=[human_label(r.labelled_by, WORDS[r.label])],
        )
