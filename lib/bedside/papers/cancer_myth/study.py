"""Cancer-Myth's set-up for notebooks, explorer and seminar: grades, answers, verdicts."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bedside import stats
from bedside.asking import registry
from bedside.asking.models import answers_of
from bedside.judging.judges import (
    LEXICAL,
    grade_labelled,
    run_asking,
    verdicts_by_judge,
    whose,
)
from bedside.judging.trust_cards import trust_card
from bedside.read.checks import joined
from bedside.read.sources import random_rows

from .baselines import Categoriser, Echo
from .data import CATEGORIES, categorised, labelled, labelled_plain, shown

GRADES = [-1, 0, 1]  # section 3.2: unaware, aware but incomplete, corrected
PLAIN_GRADES = [-1, 1]  # of questions without a false presupposition: invents one, or doesn't
ANSWER = "answer to a question"  # kinds of text, for which a model's entry may have a limit
OWN_ANSWER = "answer to its own question"
NFP_TASK = "no false presupposition"  # a judge's second task, with a trust card of its own
TASKS = {"myth": "false presupposition", "plain": NFP_TASK}  # by kind of question
LABELLED = ["kind", "asked", "tone", "label"]  # columns of kept labelled answers
EXACT, BINARY = "exact match", "binary match (-1 and 0 against 1)"
MEASURES = {  # of a judge's trust card (appendix C), and their names
    "exact": EXACT,
    "binary": BINARY,
    "sensitivity": "sensitivity for 1",
    "specificity": "specificity for 1",
    "kappa": "kappa",
    "kappa_quadratic": "kappa, quadratic",
}
GRADING = {  # what is judged: answers to either kind of questions, and the category of one
    "myth": {"values": GRADES, "template": "judge"},
    "plain": {
        "values": PLAIN_GRADES,
        "template": "judge_nfp",
        "baseline": Echo,
        "fields": ("question", "rejected", "answer"),
    },
    "category": {
        "values": list(CATEGORIES),
        "template": "category",
        "baseline": Categoriser,
        "fields": ("question", "correction"),
        "key": "category",
        "kind": "category",  # of text, as ANSWER
    },
}


class Known(NamedTuple):
    """What a judge goes by: labelled rows, from which one without a model learns; for a model the
    graded examples of its prompt, and its temperature."""

    labelled: pd.DataFrame | None = None
    shown: list = []
    temperature: float = 0


def judges(run):
    """The judges that get trust cards: word overlap, the embedded model and the run's judge."""
    return list(dict.fromkeys([LEXICAL, "smollm2-135m", run.judge]))


def known(run, temperature=0):
    """What judges go by, {key of GRADING: Known}."""
    learnt = {"myth": labelled, "plain": labelled_plain, "category": categorised}
    return {k: Known(learn(run), shown(run, k), temperature) for k, learn in learnt.items()}


def grading(run, kind, known, judge=""):
    """How `Run.grade` judges by a judge (empty: the run's) what a key of GRADING names.

    A model whose entry allows fewer examples (`most_examples`) is shown fewer.
    """
    name = judge or run.judge
    most = None if name == LEXICAL else registry.model(name).most_examples
    examples, temperature = known.shown[:most], known.temperature
    return {**GRADING[kind], "shown": examples, "temperature": temperature}


async def carded(run, kind, labelled, judge, how):
    """A judge's verdicts on labelled items of a kind, and its trust card: (frame, dict).

    how: as of `grading`.
    """
    found = await grade_labelled(run, labelled, judge=judge, **how)
    positive = None if kind == "category" else 1
    card = trust_card(labelled["label"], found, how["values"], positive, labelled["item"])
    return found, card


async def measured(run, kind, labelled, known):
    """Each judge's verdicts on labelled answers, and its trust card: (frame, {judge: card}).

    The frame has the labelled rows for each judge, with judge, status and grade (NaN if unscored).
    """
    parts, cards, task = [], {}, "" if kind == "myth" else TASKS[kind]
    for judge in judges(run):
        how = grading(run, kind, known[kind], judge)
        found, card = await carded(run, kind, labelled, judge, how)
        cards[judge] = run.write_card(judge, card, whose(labelled), task=task)
        grade = found["value"].astype(float).to_numpy()
        parts.append(labelled.assign(judge=judge, status=found["status"].to_numpy(), grade=grade))
    return pd.concat(parts, ignore_index=True), cards


async def example_cards(run, labelled, kind, few, temperature=0):
    """Trust cards of the judges that are models, with and without graded examples: {how: card}.

    labelled: answers to questions of a kind. A model whose entry allows fewer examples than there
    are is shown this project's, which are short, on the answers to the first `few` questions (0:
    all).
    """
    cards = {}
    for judge in (name for name in judges(run) if name != LEXICAL):
        ours, frame = registry.model(judge).most_examples is not None, labelled
        if ours:
            frame = frame[frame["item"].isin(frame["item"].unique()[: few or None])]
        for name, examples in (("without", []), ("with", shown(run, kind, ours))):
            how = {**GRADING[kind], "shown": examples, "temperature": temperature}
            _, cards[f"{judge}, {name} examples"] = await carded(run, kind, frame, judge, how)
    return cards


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


async def grade(run, frame, kind, known, judge=None):
    """Verdicts on one model's answers to questions of a kind (a key of GRADING), as `Run.grade`.

    known: a `Known`.
    """
    how = grading(run, kind, known, judge)
    return await run_asking(run, judge).grade(frame, labelled=known.labelled, judge=judge, **how)


async def verdicts(run, items, answered, known, judge=None):
    """Verdicts on all answers to questions with a false presupposition, a row for each answer.

    Columns: those of `items` and `answered`, and status, value, raw by the run's judge or another.
    """
    if answered.empty:
        return items.merge(answered, on="item").assign(status="", value=None, raw="")  # no rows
    parts = []
    for _, mine in answered.groupby("model", sort=False):
        frame = joined(items, mine, whole="right")  # MDAgents may answer some questions alone
        found = await grade(run, frame, "myth", known, judge)
        parts.append(joined(frame, found))
    return pd.concat(parts, ignore_index=True)


VERDICT = ["status", "value", "raw", "call"]


async def by_each_judge(run, frame, kind, known, said=None):
    """Answers to questions of a kind with their verdicts, for `Run.keep`: a row for each judge.

    frame: the questions' columns, model, answer, reply_status. said: item, model and the verdicts
    (VERDICT) of the run's judge, if it has graded them.
    """
    frame = frame.drop(columns=VERDICT, errors="ignore")
    parts = [frame.head(0).assign(**dict.fromkeys(["judge", *VERDICT]))]
    if said is not None:
        said = joined(frame, said[["item", "model", *VERDICT]], ["item", "model"])
    for model, mine in frame.groupby("model", sort=False):

        async def graded(asking, judge, mine=mine):
            return joined(mine, await grade(asking, mine, kind, known[kind], judge))

        own = None if said is None else said[said["model"] == model]
        parts.append(await verdicts_by_judge(run, graded, own))
    made = pd.concat(parts, ignore_index=True).assign(kind=kind)
    return made.assign(right=made["value"] == 1 if len(made) else None)


async def labelled_by_each_judge(run, known):
    """The labelled answers to both kinds of questions, for `Run.keep`: a row for each judge.

    item: the answer's id; asked: its question's. A judge without a model grades out of fold.
    """
    parts = []
    for kind in ("myth", "plain"):
        frame = known[kind].labelled
        every = frame.assign(asked=frame["item"], unit=frame["item"], item=frame["answer_id"])

        async def graded(asking, judge, kind=kind, frame=frame, every=every):
            how = grading(run, kind, known[kind], judge)
            return joined(every, await grade_labelled(asking, frame, judge=judge, **how))

        parts.append((await verdicts_by_judge(run, graded)).assign(kind=kind))
    made = pd.concat(parts, ignore_index=True)
    made = made.assign(right=made["value"] == 1, configuration="tone: " + made["tone"])
    return made.assign(model="written answer", by="written")


async def categoriser_cards(run, known):
    """Trust cards of the judges as categorisers (appendix C.2), which are written: {judge: card}.

    known: a `Known`. The embedded model is measured on half of the questions. overlap: the share of
    categories that fit, of which any counts.
    """
    cards = {}
    for judge in judges(run):
        some = known.labelled
        some = random_rows(run, some, 21) if judge == "smollm2-135m" else some
        how = grading(run, "category", known, judge)
        found, card = await carded(run, "category", some, judge, how)
        came = found["status"].eq("graded").to_numpy()
        fits = np.array([v in fit for v, fit in zip(found["value"], some["fits"])])
        card["overlap"] = stats.share(fits[came], some["item"].to_numpy()[came])._asdict()
        about = {"task": "categories", "of": "questions"}
        cards[judge] = run.write_card(judge, card, "their authors", **about)
    return cards


async def card_on_released(run, items, known):
    """The run's categoriser against GPT-4o's categories of released questions: a trust card."""
    some = random_rows(run, items, 0 if run.judge == LEXICAL else 100)
    found = await categorise(run, some, known)
    labels = some["category"].map({name: key for key, name in CATEGORIES.items()})
    return trust_card(labels, found, [*CATEGORIES], positive=None, units=some["unit"])


async def categorise(run, items, known, judge=None):
    """Categories of questions (section 3.3), keys of CATEGORIES, in the order of `items`."""
    return await grade(run, items.assign(reply_status=""), "category", known, judge)
