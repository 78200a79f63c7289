"""Cancer-Myth's set-up for notebooks, explorer and seminar: grades, answers, verdicts."""

import pandas as pd

from bedside.checks import joined
from bedside.judges import LEXICAL, beside
from bedside.models import answers_of

from .baselines import Categoriser, Echo
from .data import CATEGORIES, labelled, labelled_plain

GRADES = [-1, 0, 1]  # section 3.2: unaware, aware but incomplete, corrected
PLAIN_GRADES = [0, 1]  # of questions without a false presupposition: invents one, or doesn't
ANSWER = "answer to a question"  # kinds of text, for which a model's entry may have a limit
OWN_ANSWER = "answer to its own question"
NFP_TASK = "no false presupposition"  # a judge's second task, with a trust card of its own
GRADING = {  # of answers by kind of question: with a false presupposition, or without
    "myth": {"values": GRADES, "template": "judge"},
    "plain": {
        "values": PLAIN_GRADES,
        "template": "judge_nfp",
        "baseline": Echo,
        "fields": ("question", "answer"),
    },
}
CATEGORISING = {
    "values": list(CATEGORIES),
    "template": "category",
    "baseline": Categoriser,
    "fields": ("question", "correction"),
    "key": "category",
    "kind": "category",  # of text, as ANSWER
}


def judges(run):
    """The judges that get trust cards: word overlap, the embedded model and the run's judge."""
    return list(dict.fromkeys([LEXICAL, "smollm2-135m", run.judge]))


def known(run):
    """The labelled answers that judges learn from, by kind of question (the keys of GRADING)."""
    return {"myth": labelled(run), "plain": labelled_plain(run)}


async def answers(
    run, items, max_tokens, models=None, template="answer", *, kind=ANSWER, temperature=0, **fixed
):
    """Zero-shot answers to questions (section 4.2), with the columns of `models.answers_of`.

    items: item, question. Another template gets the `fixed` fields as well. A refusal in words is
    an answer, which corrects nothing. Unless models are named, answers of ANSWERS= are added.
    """
    brought = [run.elsewhere(items["item"])] if run.answers and models is None else []
    prompts = run.prompts_for(template, items, ["question"], **fixed)
    made = [await answers_of(run, prompts, max_tokens, models, kind, temperature), *brought]
    return pd.concat(made, ignore_index=True)


async def grade(run, frame, kind, examples, judge=None):
    """Verdicts on one model's answers to questions of a kind (a key of GRADING), as `Run.grade`."""
    run = beside(run, judge)
    return await run.grade(frame, labelled=examples, judge=judge, **GRADING[kind])


async def verdicts(run, items, answered, examples, judge=None):
    """Verdicts on all answers to questions with a false presupposition, a row for each answer.

    Columns: those of `items` and `answered`, and status, value, raw by the run's judge or another.
    """
    if answered.empty:
        return items.merge(answered, on="item").assign(status="", value=None, raw="")  # no rows
    parts = []
    for _, mine in answered.groupby("model", sort=False):
        frame = joined(items, mine)
        found = await grade(run, frame, "myth", examples, judge)
        parts.append(joined(frame, found))
    return pd.concat(parts, ignore_index=True)


async def categorise(run, items, learnt, judge=None):
    """Categories of questions (section 3.3): verdicts in the order of `items`.

    Values are keys of CATEGORIES. learnt: what the baseline categoriser learns from (item,
    correction, label).
    """
    asked, run = items.assign(reply_status=""), beside(run, judge)
    return await run.grade(asked, labelled=learnt, judge=judge, **CATEGORISING)
