"""MedHalu: the base sets, the bundled items and the released benchmark as frames (section 2).

An `item` is a question with the answer to be judged.
"""

import pandas as pd

from bedside import BedsideError, choose
from bedside.read import paths, sources
from bedside.read.checks import normal

TYPES = {
    "none": "None-conflict",
    "input": "Input-conflict",
    "context": "Context-conflict",
    "fact": "Fact-conflict",
}  # section 2.1
DATASETS = ["HealthQA", "LiveQA", "MedicationQA"]
LIVEQA = {"test": "liveqa", "training": "liveqa_train"}  # its sets, and their sources
TEMPERATURE = 0.7  # section 3.2, of generation and detection
PEOPLE = "people: "  # how the names of evaluators begin that are groups of people
COLUMNS = ["item", "dataset", "question", "expert_answer", "topic"]
JUDGED = [*COLUMNS, "answer", "type", "spans", "reason"]


def words(texts):
    """Numbers of words (n,), split at white space, as section 2.2 seems to count them."""
    return texts.str.split().str.len()


def units(items):
    """The unit of each item, {item: the least id with the same question}, since some repeat."""
    return items.groupby("question")["item"].transform("min").set_axis(items["item"])


def base(run, liveqa_set="test", unanswered=False):
    """Questions with expert answers, from the base sets at hand (section 2.2): COLUMNS.

    public: the first of several reference answers. liveqa_set: "test" or "training". unanswered:
    keep rows without an answer, whose expert answer is then empty.
    """
    choose(liveqa_set, LIVEQA, "LiveQA set")
    if run.profile == "sample":
        return run.load("medhalu_answers_sample")[COLUMNS]
    parts = [healthqa(run)] if sources.here("healthqa") else []
    parts += [liveqa(run, LIVEQA[liveqa_set]), medicationqa(run)]
    every = pd.concat(parts, ignore_index=True)
    answered = every["expert_answer"].fillna("").str.strip() != ""
    every["expert_answer"] = every["expert_answer"].where(answered, "")
    return every[unanswered | answered].reset_index(drop=True)


def healthqa(run):
    """HealthQA's right answers: COLUMNS."""
    rows = run.load("healthqa").query("label == '1'")
    return pd.DataFrame(
        {
            "item": numbered("healthqa", rows),
            "dataset": "HealthQA",
            "question": rows["question"],
            "expert_answer": rows["text"],
            "topic": rows["question"],
        }
    )


def liveqa(run, source):
    """A set of LiveQA, each question with its first reference answer: COLUMNS."""
    rows = run.load(source)
    return pd.DataFrame(
        {
            "item": "liveqa-" + rows["qid"] if source == "liveqa" else numbered(source, rows),
            "dataset": "LiveQA",
            "question": rows["message"],
            "expert_answer": rows["answers"].str[0],
            "topic": rows["focus"].str.join(", "),
        }
    )


def medicationqa(run):
    """MedicationQA as released: COLUMNS; one row has no answer."""
    rows = run.load("medicationqa")
    return pd.DataFrame(
        {
            "item": numbered("medicationqa", rows),
            "dataset": "MedicationQA",
            "question": rows["Question"],
            "expert_answer": rows["Answer"],
            "topic": rows["Focus (Drug)"],
        }
    )


def numbered(name, rows):
    """Ids for the items of a set that has none, counted from 1."""
    return [f"{name}-{i}" for i in range(1, len(rows) + 1)]


def printed_sets(run):
    """The questions nearest to those whose lengths section 2.2 prints: {dataset: (texts, source)}.

    public: all of MedicationQA, and LiveQA's second training set if it is there; else the base set.
    """
    base_sets = base(run).groupby("dataset", sort=False)
    if run.profile == "sample":
        return {name: (part["question"], "run") for name, part in base_sets}
    found = {name: (part["question"], "raw") for name, part in base_sets}
    found["MedicationQA"] = (run.load("medicationqa")["Question"], "raw")
    if (train := liveqa_train(run)) is not None:
        found["LiveQA"] = (train["message"], "raw")
    return found


def liveqa_train(run):
    """LiveQA's second training set, which the paper seems to use, or None where it isn't there."""
    there = run.profile == "public" and sources.here("liveqa_train")
    return run.load("liveqa_train") if there else None


def copy_of_medhalu(run):
    """All of MedHalu as `released`, or None where no copy of it is here."""
    there = run.profile == "public" and sources.here("medhalu_benchmark")
    return released(run, whole=True) if there else None


def bundled(run, whole=False):
    """The sample's items with their answers, labels, spans and reasons: JUDGED.

    whole: regardless of LIMIT, here and below.
    """
    return sources.first_items(run, run.load("medhalu_answers_sample")[JUDGED], whole)


def released(run, whole=False):
    """MedHalu itself, from your copy (its authors give it on request): JUDGED.

    Types are read as the paper spells them. Raises BedsideError for an unknown type or dataset.
    """
    frame = run.load("medhalu_benchmark")
    for column, default in (("expert_answer", ""), ("topic", frame["question"]), ("reason", "")):
        frame[column] = frame.get(column, default)
    frame["item"] = frame.get("item", "medhalu-" + (frame.index + 1).astype(str))
    frame["spans"] = [s if isinstance(s, str | list) else [] for s in frame["spans"]]  # or null
    frame["type"] = frame["type"].map(lambda t: (normal(t) or "none").split()[0])
    bad = frame[~frame["type"].isin(TYPES) | ~frame["dataset"].isin(DATASETS)]
    if len(bad):
        row, path = bad.iloc[0], paths.rel(sources.where("medhalu_benchmark")[1])
        raise BedsideError(
            f"{path}: item {row['item']!r} has type {row['type']!r} and dataset {row['dataset']!r};"
            f" types are {', '.join(TYPES)}, datasets {', '.join(DATASETS)}"
        )
    return sources.first_items(run, frame[JUDGED], whole)
