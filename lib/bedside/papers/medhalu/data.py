"""MedHalu: the base sets, the bundled items and the released benchmark as frames (section 2).

An `item` is a question with the answer to be judged.
"""

import pandas as pd

from bedside import BedsideError
from bedside.read import paths, sources
from bedside.read.checks import normal

TYPES = {
    "none": "None-conflict",
    "input": "Input-conflict",
    "context": "Context-conflict",
    "fact": "Fact-conflict",
}  # section 2.1
DATASETS = ["HealthQA", "LiveQA", "MedicationQA"]
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


def base(run, every=False):
    """Questions with expert answers, from the base sets at hand (section 2.2): COLUMNS.

    public: the first of several reference answers. every: as many as the paper counts, with
    LiveQA's second training set in place of its test set, and the question of MedicationQA without
    an answer, whose expert answer is empty.
    """
    if run.profile == "sample":
        return run.load("medhalu_answers_sample")[COLUMNS]
    parts, live = [], run.load("liveqa_train" if every else "liveqa")
    if sources.here("healthqa"):
        right = run.load("healthqa").query("label == '1'")
        parts.append(_of_set("HealthQA", right["question"], right["text"], right["question"]))
    answers, focus = live["answers"].str[0], live["focus"].str.join(", ")
    parts.append(_of_set("LiveQA", live["message"], answers, focus))
    parts[-1]["item"] = (
        parts[-1]["item"].str.replace("-", "_train-") if every else live["qid"].radd("liveqa-")
    )
    drugs = run.load("medicationqa")
    columns = (drugs[name] for name in ("Question", "Answer", "Focus (Drug)"))
    parts.append(_of_set("MedicationQA", *columns))
    found = pd.concat(parts, ignore_index=True)
    found["expert_answer"] = found["expert_answer"].fillna("")
    answered = found["expert_answer"].str.strip() != ""
    return found[every | answered].reset_index(drop=True)


def _of_set(dataset, question, answer, topic):
    """A base set as released, its items counted from 1: COLUMNS."""
    found = {"question": question, "expert_answer": answer, "topic": topic}
    found = pd.DataFrame(found).reset_index(drop=True).assign(dataset=dataset)
    found["item"] = dataset.lower() + "-" + (found.index + 1).astype(str)
    return found[COLUMNS]


def at_hand(run, source):
    """Whether a file is here that only `public` reads, and not every user has."""
    return run.profile == "public" and sources.here(source)


def printed_sets(run):
    """The questions nearest to those whose lengths section 2.2 prints: {dataset: (texts, source)}.

    public: all of MedicationQA, and LiveQA's second training set, which the paper seems to use, if
    it is there; else the base set.
    """
    parts = {name: part["question"] for name, part in base(run).groupby("dataset", sort=False)}
    if run.profile == "public":
        parts["MedicationQA"] = run.load("medicationqa")["Question"]
    if at_hand(run, "liveqa_train"):
        parts["LiveQA"] = run.load("liveqa_train")["message"]
    return {
        name: (texts, "run" if run.profile == "sample" else "raw") for name, texts in parts.items()
    }


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
