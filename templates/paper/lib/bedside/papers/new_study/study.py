"""New study: the steps from question to verdict, for notebooks and explorer."""

import pandas as pd

from bedside.asking.models import answers_of, requests_to
from bedside.judging.judges import grade_labelled, verdicts_by_judge
from bedside.read.checks import joined

from .scores import FIELDS, VALUES, Overlap

ADVICE = "Please ask a doctor or a pharmacist."


async def answers(run, questions, max_tokens):
    """Answers to the questions: item, model, answer, reply_status, truncated, question, reference.

    Two answerers without a model come first: the reference itself, as an upper bound, and the same
    advice for everybody, as a lower bound. The run's models follow if they were named, or once
    replies of one are recorded.
    """
    bounds = {"reference": questions["reference"], "one advice": ADVICE}
    parts = [questions[["item"]].assign(model=m, answer=a) for m, a in bounds.items()]
    made = pd.concat(parts, ignore_index=True).assign(reply_status="", truncated=False, sent="")
    prompts = run.prompts_for("answer", questions, ("question",))
    recorded = any(r.key in run.recordings for r in requests_to(run, prompts, max_tokens))
    if run.mode != "replay" or recorded or run.models_named:
        models = await answers_of(run, prompts, max_tokens)
        made = pd.concat([made, models], ignore_index=True)
    return joined(made, questions, validate="many_to_one")


async def judged(run, answers, labelled, judge=None):
    """Answers with verdicts of the run's judge or another: `answers` plus status, value, raw."""
    parts = []
    for _, mine in answers.groupby("model", sort=False):
        grading = {"fields": FIELDS, "baseline": Overlap, "judge": judge}
        found = await run.grade(mine, VALUES, "judge", labelled, **grading)
        parts.append(joined(mine, found))
    return pd.concat(parts, ignore_index=True)


async def judged_labelled(run, labelled, judge=None):
    """Verdicts on the labelled answers, in their order, by a judge that never saw their labels."""
    judge = judge or run.judge
    return await grade_labelled(run, labelled, VALUES, "judge", judge, Overlap, fields=FIELDS)


async def by_each_judge(run, graded, labelled):
    """The answers for `Run.keep`: a row for each judge, this run's (`graded`) and recorded ones."""
    answers = graded.drop(columns=["status", "value", "raw"])

    async def by(asking, judge):
        return await judged(asking, answers, labelled, judge)

    made = await verdicts_by_judge(run, by, graded)
    by = made["sent"].map(lambda sent: "model" if sent else "rules")
    return made.assign(configuration="plain", by=by, right=made["value"] == 1)


async def labelled_by_each_judge(run, labelled):
    """The labelled answers for `Run.keep`, as `by_each_judge`; item is the answer's id."""
    every = labelled.assign(asked=labelled["item"], unit=labelled["item"], model="written")
    every = every.assign(item=labelled["answer_id"], configuration="plain", by="written")

    async def graded(asking, judge):
        return joined(every, await judged_labelled(asking, labelled, judge))

    made = await verdicts_by_judge(run, graded)
    return made.assign(right=made["value"] == 1)
