"""What the methods are measured on: both kinds of questions, and exams."""

import pandas as pd

from bedside import BedsideError
from bedside.read import sources
from bedside.read.checks import joined
from bedside.read.sources import first_items, random_rows

from ..data import plain_questions, questions, unseen

SETS = ("Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA")  # Table 1's columns
KINDS = dict(zip(SETS, ("myth", "plain")))  # of questions, as `study.GRADING`
REPORTED = {"sample": 12, "public": 30}  # questions of each kind by default


def sets(run, train, reported="", exams=0):
    """(training questions of an optimiser, {set of SETS that is in this run: reported items}).

    The first has item, question, correction, kind. train: how many with a false presupposition,
    to which half as many without are added. reported: text; empty for REPORTED, "0" for all others.
    exams: questions of each exam.
    """
    size = int(reported or REPORTED[run.profile])
    myth_train, myth = split(questions(run, whole=True), train, size, run)
    plain_train, plain = split(plain_questions(run, whole=True), train // 2, size, run)
    learnt = [myth_train.assign(kind="myth"), plain_train.assign(kind="plain", correction="")]
    asked = [myth, plain, *(_exam_items(run, name, exams) for name in SETS[2:])]
    there = {name: mine for name, mine in zip(SETS, asked) if mine is not None}
    return pd.concat(learnt, ignore_index=True), there


def split(items, train, size, run):
    """(training, reported) questions, drawn with the seed; none is in both.

    At most half are for training. size: how many are reported, 0 for all others; of these LIMIT.
    """
    order, left = run.rng("split").permutation(len(items)), unseen(run, items)["item"]
    order = order[items["item"].isin(left).to_numpy()[order]]
    train = min(train, len(order) // 2)
    end = train + size if size else len(order)
    parts = order[:train], order[train:end]
    learnt, reported = (items.iloc[sorted(part)].reset_index(drop=True) for part in parts)
    return learnt, first_items(run, reported)


def _exam_items(run, name, size=0):
    """Exam questions of MedQA or PubMedQA: item, question (as asked), options, gold.

    size: how many are drawn with the seed, 0 for all. None for an optional set that is missing.
    Raises BedsideError if an answer is none of the options.
    """
    source = name.lower() + ("_sample" if run.profile == "sample" else "")
    if source == "medqa" and not sources.here(source):
        return None
    frame = _pubmedqa(run, source) if name == "PubMedQA" else _medqa(run, source)
    wrong = [r.item for r in frame.itertuples() if r.gold not in r.options]
    if wrong:
        raise BedsideError(f"source {source!r}: answer {wrong[0]!r} isn't one of its options")
    frame = frame[["item", "gold", "context", "question", "options"]]
    frame = first_items(run, random_rows(run, frame, size))
    asked = run.prompts_for("exam", frame, ["context", "question", "options"])
    frame = frame.assign(question=frame["item"].map(lambda item: asked[item][-1]["content"]))
    return frame[["item", "question", "options", "gold"]]


def _medqa(run, source):
    frame = run.load(source)
    if "item" not in frame:
        frame = frame.assign(item=[f"medqa-{i}" for i in range(len(frame))])
    return frame.assign(gold=frame["answer_idx"], context="")


def _pubmedqa(run, source):
    if source == "pubmedqa":
        gold = run.load("pubmedqa_test").rename(columns={"value": "gold"})
        frame = joined(run.load("pubmedqa_labelled"), gold, "key", whole="right")  # its test half
        frame = frame.assign(item="pubmedqa-" + frame["key"])
    else:
        frame = run.load(source)
        frame = frame.assign(gold=frame["final_decision"])
    return frame.assign(
        context=frame["CONTEXTS"].map("\n".join),
        question=frame["QUESTION"],
        options=[{option: option for option in ("yes", "no", "maybe")}] * len(frame),
    )
