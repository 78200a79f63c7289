"""Small frames of each study: two models, twelve units with several rows each, unscored replies."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd

from bedside.annotation import raters
from bedside.papers.cancer_myth import survey
from bedside.papers.cancer_myth.data import CATEGORIES
from bedside.papers.meddialbench import design
from bedside.papers.meddialbench.judging import KINDS
from bedside.papers.medhalu import detection
from bedside.papers.medhalu.data import DATASETS, TYPES

NAN = float("nan")
MODELS = ["larch", "maple"]


def drawn(values, size, seed):
    return np.random.default_rng(seed).choice(np.array(values, dtype=object), size)


def answers(seed=1):
    """Cancer-Myth's and own studies' verdicts: 24 questions on 12 myths, two models."""
    rows = [(m, k) for m in MODELS for k in range(24)]
    model, k = (pd.Series(column) for column in zip(*rows))
    frame = pd.DataFrame({"item": "q" + k.astype(str), "model": model})
    frame = frame.assign(
        unit="myth " + (k // 2).astype(str),
        category=(k // 2 % 2).map(dict(enumerate(list(CATEGORIES.values())[:2]))),
        generator=(k // 2 % 3).map(dict(enumerate("xyz"))),
        group=(k % 2).map({0: "early", 1: "late"}),
        answer=[f"answer {i}" for i in range(48)],
        status="graded",
        value=drawn([-1, 0, 1], 48, seed),
        truncated=drawn([False, False, True], 48, seed + 1),
        reply_status="",
        raw="",
    )
    lost = k.isin([3, 10])
    frame.loc[lost, ["status", "value"]] = ["unparsed", None]
    frame.loc[k == 10, ["reply_status", "answer"]] = ["blank", ""]
    return frame


def right_or_wrong():
    """As `answers`, of a judge with two grades, as an own study has them."""
    frame = answers()
    named = {"judge": "j", "configuration": "plain"}
    return frame.assign(value=frame["value"].replace(-1, 0), **named)


def mitigated():
    """Graded answers of the second version: two methods and three sets."""
    parts = [
        answers(seed).assign(method=method, set=name, calls=np.nan, complexity=None)
        for seed, (method, name) in enumerate(
            itertools.product(["plain", "precautionary"], ["Cancer-Myth", "Cancer-Myth-NFP"]), 5
        )
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["hit"] = frame["value"] == 1
    return frame.assign(outcome=None)


def exams():
    """As `mitigated`, of exam questions, by agents."""
    frame = mitigated().assign(set="MedQA", calls=3.0, complexity="basic")
    frame = frame[frame["method"] == "plain"].drop_duplicates(["item", "model"])
    said = np.where(frame["hit"], "right", "wrong")
    return frame.assign(outcome=np.where(frame["status"] == "graded", said, "not answered"))


def questions():
    """Questions of the adversarial loop: three on each of 8 myths, by two generators."""
    rows = [(m, f"m{k // 3}", f"m{k // 3}-q{k}") for m in MODELS for k in range(24)]
    frame = pd.DataFrame(rows, columns=["generator", "myth", "item"])
    value = drawn([-1, 0, 1], 48, 3)
    frame = frame.assign(
        status="new",
        verdict="graded",
        value=value,
        truncated=drawn([False, True], 48, 4),
        category=drawn(list(CATEGORIES.values())[:2], 48, 5),
        question=[" ".join(drawn(list("abcdefghij"), 9, w)) for w in range(48)],
    )
    lost = frame.index % 8 == 0
    frame.loc[lost, ["status", "verdict", "value"]] = ["copied", "", None]
    return frame


def rounds(run):
    """How the sets of each generator grew in the loop's last round."""
    grown = {"myth": "m7", "valid": 9, "invalid": 5, "stopped": ""}
    return pd.DataFrame({"generator": run.models, **grown})


def ratings():
    """The survey's ratings of four sources' answers to 12 questions: whole, and two paragraphs."""
    keys = itertools.product(range(12), survey.RATED.values(), range(3), ["A", "B", "C"])
    frame = pd.DataFrame(keys, columns=["question", "source", "part", "rater"])
    frame["rating"] = drawn([1, 2, 3, 4, 5], len(frame), 6).astype(float)
    frame["labels"] = [["Overly generic"] if r == 1 else [] for r in frame["rating"]]
    return frame.assign(missing="")


WORDS = pd.DataFrame({name: [10, 20, 30] for name in survey.RATED.values()})


def items():
    """MedHalu's items: 24 answers to 12 questions."""
    k = pd.Series(range(24))
    frame = pd.DataFrame({"item": "i" + k.astype(str), "question": "Why " + (k // 2).astype(str)})
    frame = frame.assign(
        dataset=[DATASETS[i // 8] for i in k],
        type=[list(TYPES)[i % 4] for i in k],
        answer="Cold air causes it. Milk does not help at all.",
        expert_answer="Because of this reason.",
        topic=frame["question"],
        reason="",
    )
    frame["spans"] = [["Cold air"] if t != "none" else [] for t in frame["type"]]
    return frame.assign(hallucinated=frame["type"] != "none")


ITEMS = items()
RIGHT = {r.item: r.spans for r in ITEMS.itertuples() if r.spans}


def detections(names=MODELS, source="run"):
    """Detections of two evaluators, twice each."""
    rows = itertools.product(names, range(2), ITEMS["item"])
    frame = pd.DataFrame(rows, columns=["evaluator", "repeat", "item"])
    yes = drawn([0.0, 1.0], len(frame), 7).astype(float)
    frame = frame.assign(source=source, status="graded", yes=yes, why="", truncated=False)
    frame["spans"] = [["Cold air", "nothing there"] if y else [] for y in yes]
    frame["truncated"] = drawn([False, True], len(frame), 8).astype(bool)
    lost = frame["item"].isin(["i5", "i6"]) & (frame["repeat"] == 1)
    frame["status"] = frame["status"].mask(lost, "unparsed")
    frame["yes"] = frame["yes"].mask(lost)
    frame["spans"] = frame["spans"].mask(lost, frame["spans"].map(lambda s: []))
    return frame


def noted():
    """Detections without a note and with each kind of note."""
    parts = [
        detections([m + note for m in MODELS]).query("repeat == 0").sample(frac=1, random_state=i)
        for i, note in enumerate(detection.NOTES)
    ]
    return pd.concat(parts, ignore_index=True)


def people():
    """Labels of three raters in a group."""
    frame = detections(["people: expert"]).assign(group="expert", reason="")
    frame = pd.concat([frame, frame[frame["repeat"] == 0].assign(repeat=2)], ignore_index=True)
    return frame.assign(truncated=None)


def built():
    """What a generator wrote for MedHalu's items."""
    frame = ITEMS.assign(status="graded", truncated=ITEMS.index % 3 == 0, why="")
    frame.loc[4, ["status", "answer", "why"]] = ["unparsed", None, "blank"]
    frame.loc[frame["type"] == "none", "truncated"] = False
    return frame


def plan():
    """The paper's design without expression, middle levels and half of the combinations."""
    paper = design.read(SimpleNamespace(reads=lambda name, path: None))
    levels = {
        name: x
        for name, x in paper.levels.items()
        if x["severity"] != 1 and x["dimension"] != "expression"
    }
    pairs = {name: paper.combinations[name] for name in ("C1", "C3", "C4")}
    dimensions = {d: x for d, x in paper.dimensions.items() if d != "expression"}
    return replace(paper, dimensions=dimensions, levels=levels, combinations=pairs)


PLAN = plan()


def consultations():
    """MedDialBench's consultations: 10 cases, eight configurations, two doctors."""
    plan = PLAN.configurations()
    rows = itertools.product(MODELS, plan, [f"case-{k}" for k in range(10)])
    frame = pd.DataFrame(rows, columns=["model", "configuration", "case"])
    n = len(frame)
    frame = frame.assign(
        item=frame["case"] + " " + frame["configuration"] + " " + frame["model"],
        levels=frame["configuration"].map(plan),
        correct=drawn([0.0, 1.0, 1.0], n, 9).astype(float),
        coverage=drawn([0.25, 0.5, 1.0], n, 10).astype(float),
        turns=drawn([2, 4, 8], n, 11).astype(float),
        truncated=drawn([0, 0, 1], n, 12).astype(int),
        end=drawn(["ended", "limit"], n, 13),
        by="",
        why="",
        reply_status="",
        dialogue="Doctor: Do you take any medicines?",
    )
    frame["misled"] = frame["correct"].map({1.0: 0.0}).fillna(1.0)
    frame["per_turn"] = frame["coverage"] / frame["turns"]
    lost = frame["case"].isin(["case-3"]) & frame["configuration"].isin(["C1", "fabricating"])
    frame.loc[lost, ["correct", "misled"]] = NAN
    frame.loc[lost, "reply_status"] = "unparsed"
    return frame


def adherence():
    """How patients kept to their behaviours, by consultation."""
    frame = consultations()
    kind = frame["levels"].map(lambda v: KINDS[min(len(v), 2)])
    shown = drawn([0.0, 1.0], 5 * len(frame), 14).astype(float).reshape(-1, 5).tolist()
    frame = frame.assign(kind=kind, shown=shown, activation=frame["coverage"])
    frame["activation"] = frame["activation"].mask(kind == KINDS[0])
    return frame.assign(isolation=frame["correct"], full=frame["misled"])


TERMS = ["fatigue", "nausea", "rib fracture", "mastitis"]
REFERENCE = pd.DataFrame(
    [
        ("fatigue", "chest wall", "short-term", "common"),
        ("nausea", "chest wall", "short-term", "rare"),
        ("rib fracture", "chest wall", "long-term", "rare"),
        ("fatigue", "breast only", "short-term", "common"),
        ("mastitis", "breast only", "long-term", "rare"),
    ],
    columns=["effect", "site", "onset", "frequency"],
)


def lists():
    """Radiation's matched lists: 12 patients, two profiles, three regimes, two models."""
    regimes = ["free-form", "free-form, 20-30", "selection"]
    patients = [f"p{k:02}" for k in range(12)]
    rows = itertools.product(MODELS, regimes, ["base", "specified"], patients)
    frame = pd.DataFrame(rows, columns=["model", "regime", "profile", "item"])
    rng = np.random.default_rng(15)
    said = [
        rng.permutation([*TERMS, "cystitis"])[: rng.integers(1, 5)].tolist() for _ in frame.index
    ]
    frame = frame.assign(
        site=frame["item"].map(lambda p: "chest wall" if int(p[1:]) % 2 else "breast only"),
        terms=said,
        status="listed",
        match="graded",
        reply_status="",
        repeated=0,
        truncated=drawn([False, False, True], len(frame), 16).astype(bool),
    )
    frame["pairs"] = [np.array([[float(t == u) for u in TERMS] for t in ts]) for ts in said]
    for i in frame.index[frame["item"] == "p04"][::3]:
        frame.at[i, "terms"], frame.at[i, "pairs"] = [], None
        frame.loc[i, ["status", "match"]] = "unparsed"
    return frame


def labelled():
    """Three raters' labels of 24 rows in 12 units, and repetitions."""
    rows = itertools.product(["Ann", "Bo", "Cy"], range(24))
    frame = pd.DataFrame(rows, columns=["rater", "k"])
    frame["id"], frame["unit"] = "r" + frame["k"].astype(str), "u" + (frame["k"] // 2).astype(str)
    frame = frame.assign(
        **dict.fromkeys(sorted(set(raters.LABEL) - set(frame)), ""),
    ).assign(value=drawn(["yes", "no"], len(frame), 17), seconds=3.0, repetition=False)
    frame.loc[frame["k"] == 7, ["value", "refused"]] = [None, "undecided"]
    again = frame[frame["k"] < 3].assign(repetition=True)
    return pd.concat([frame, again], ignore_index=True)[raters.LABEL].astype({"repetition": bool})


def judged():
    """A judge's verdicts on the rows that `labelled` has."""
    frame = pd.DataFrame({"id": [f"r{k}" for k in range(24)]})
    frame = frame.assign(unit=[f"u{k // 2}" for k in range(24)], part="", section="s")
    frame = frame.assign(model=np.repeat(MODELS, 12), configuration="plain", judge="j")
    frame = frame.assign(status="graded", value=drawn(["yes", "no"], 24, 18))
    frame.loc[9, ["status", "value"]] = ["unparsed", None]
    return frame[raters.rates.SAID]
