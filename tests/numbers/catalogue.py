"""The studies' functions of scores and tables, each on a small frame, for tests of shapes.

A new function needs a line in `CASES`, on one of the frames. These have two models, twelve units
with several rows each, and replies that were cut or have no verdict.
"""

import collections
import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.annotation import raters
from bedside.judging import trust_cards
from bedside.own import results
from bedside.papers.cancer_myth import scores as cm_scores
from bedside.papers.cancer_myth import survey
from bedside.papers.cancer_myth.data import CATEGORIES
from bedside.papers.cancer_myth.tables import evaluation, generation, systems
from bedside.papers.cancer_myth.tables import survey as survey_tables
from bedside.papers.cancer_myth.v2 import scores as v2
from bedside.papers.cancer_myth.v2 import tables as v2_tables
from bedside.papers.meddialbench import design
from bedside.papers.meddialbench import scores as md
from bedside.papers.meddialbench import tables as md_captions
from bedside.papers.meddialbench.judging import KINDS
from bedside.papers.meddialbench.tables import (
    baseline,
    described,
    interactions,
    single,
    validation,
    vulnerability,
)
from bedside.papers.medhalu import scores as mh
from bedside.papers.medhalu.data import DATASETS, TYPES
from bedside.papers.medhalu.implied import rates as printed_rates
from bedside.papers.medhalu.tables import benchmark, cut, detection, notes, rates, spans
from bedside.papers.radiation import scores as rad
from bedside.papers.radiation import tables as rad_tables
from bedside.run import Run
from bedside.write import tables

NAN = float("nan")
MODELS = ["larch", "maple"]


def drawn(values, size, seed):
    return np.random.default_rng(seed).choice(np.array(values, dtype=object), size)


# ---- frames


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
    """As `answers`, of a judge with two grades."""
    frame = answers()
    return frame.assign(value=frame["value"].replace(-1, 0))


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
        for i, note in enumerate(notes.NOTES)
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


# ---- functions on them

CARD = trust_cards.trust_card(
    np.repeat([1, 0], 20),
    pd.DataFrame({"status": "graded", "value": [1] * 17 + [0] * 20 + [1] * 3}),
    [0, 1],
    np.random.default_rng(0),
)


class Frame(NamedTuple):
    """A frame of the catalogue. paper: whose Run its functions get.

    lost: what an unscored row has. read: columns of numbers that may be unscored by themselves.
    unit: what repeats.
    """

    paper: str
    make: Callable[[], pd.DataFrame]
    lost: dict = {}
    read: tuple = ()
    unit: str = "unit"


UNPARSED = {"status": "unparsed", "value": None}
MYTHS = Frame("cancer_myth", answers, UNPARSED)
MITIGATED = Frame("cancer_myth", mitigated, UNPARSED | {"hit": False})
EXAMS = Frame("cancer_myth", exams, UNPARSED | {"hit": False, "outcome": "not answered"})
LOOP = Frame("cancer_myth", questions, {"verdict": "unparsed", "value": None}, unit="myth")
SURVEY = Frame("cancer_myth", ratings, read=("rating",), unit="question")
NOTHING_READ = {"status": "unparsed", "yes": NAN, "spans": []}
DETECTED = Frame("medhalu", detections, NOTHING_READ, ("yes",), "item")
NOTED, PEOPLE = DETECTED._replace(make=noted), DETECTED._replace(make=people)
BUILT = Frame("medhalu", built, {"status": "unparsed", "answer": None}, unit="question")
ASKED = Frame("medhalu", items, unit="question")
MEASURES = ("correct", "coverage", "turns", "per_turn", "misled")
HELD = Frame("meddialbench", consultations, {}, MEASURES, "case")
SHOWN = HELD._replace(make=adherence, read=(*MEASURES, "activation", "isolation", "full"))
UNMATCHED = {"status": "unparsed", "match": "unparsed", "pairs": None}
LISTS = Frame("radiation", lists, UNMATCHED, unit="item")
OWN = Frame("own", right_or_wrong, UNPARSED)
LABELS = Frame("own", labelled, read=("seconds",))
JUDGED = Frame("own", judged, UNPARSED)


def on(frame, **functions):
    """{name: (frame, function of a run and the frame)}."""
    return {f"{frame.paper} {name}": (frame, call) for name, call in functions.items()}


def scored(run, frame):
    return rad.scored(frame, REFERENCE, TERMS)


def compared(frame):
    """Pairs of a patient's lists, as a model compares them."""
    pairs = frame[["item", "model", "regime"]].drop_duplicates()
    return pairs.assign(match="compared", by_model=0.5)


def strata(run, frame):
    return rad.strata(scored(run, frame), REFERENCE)


def settled():
    """One label for each row of `judged`."""
    frame = judged()[["id", "part"]].assign(value=drawn(["yes", "no"], 24, 19))
    return frame.drop(5)


CASES = {
    **on(
        MYTHS,
        scores=lambda run, f: cm_scores.scores(f, run),
        scores_by_category=lambda run, f: cm_scores.scores(f, run, ["category"]),
        score_table=lambda run, f: evaluation.score_table(cm_scores.scores(f, run), run),
        series=lambda run, f: evaluation.series(
            evaluation.score_table(cm_scores.scores(f, run), run), "PCR"
        ),
        group_table=lambda run, f: evaluation.group_table(
            cm_scores.scores(f, run, ["generator"]), "generator", run
        ),
        judge_table=lambda run, f: evaluation.judge_table({"j": f}, run),
        answer_health=lambda run, f: evaluation.answer_health(f, {"all": set(f["item"])}, f),
        cut=lambda run, f: evaluation.cut(f),
        cut_by_judge=lambda run, f: evaluation.cut_by_judge({"j": f}),
        counts=lambda run, f: evaluation.counts(f, "category", "run", run),
        pair_table=lambda run, f: evaluation.pair_table(tables.paired(f, run)),
        balance_table=lambda run, f: generation.balance_table({"s": (f, "run")}),
        overall=lambda run, f: systems.overall(f, run),
        by_generator=lambda run, f: systems.by_generator(f, run),
        by_category=lambda run, f: systems.by_category(f, run),
        rates_of_systems=lambda run, f: systems.rates(f, run),
        pairs=lambda run, f: systems.pairs(f, run),
        agreement=lambda run, f: systems.agreement(f, run),
        failed=lambda run, f: systems.failed(f),
        by_judge=lambda run, f: systems.by_judge({"j": f}, run),
    ),
    **on(
        MITIGATED,
        rates=lambda run, f: v2.rates(f),
        pairs_as_one=lambda run, f: v2.pairs_as_one(v2.rates(f)),
        against_plain=lambda run, f: v2.against_plain(f, run),
        table1=lambda run, f: v2_tables.table1(v2.rates(f), run),
        in_plane=lambda run, f: v2_tables.in_plane(v2_tables.tradeoff(v2.rates(f), run)),
        outcomes=lambda run, f: v2_tables.outcomes(f),
        cut_of_methods=lambda run, f: v2_tables.cut(f),
    ),
    **on(EXAMS, outcomes_of_exams=lambda run, f: v2_tables.outcomes(f)),
    **on(
        LOOP,
        yield_table=lambda run, f: generation.yield_table(f, rounds(run), run),
        cut_of_questions=lambda run, f: generation.cut(f),
        pipeline_table=lambda run, f: generation.pipeline_table(run, f, {}),
        review_table=lambda run, f: generation.review_table(
            f, f[f["question"] > "e"][["question"]]
        ),
    ),
    **on(
        SURVEY,
        source_scores=lambda run, f: survey.source_scores(f, run),
        test_table=lambda run, f: survey_tables.test_table(survey.source_tests(f, run)),
        label_counts=lambda run, f: survey.label_counts(f),
        paragraph_table=lambda run, f: survey_tables.paragraph_table(f, WORDS, run),
        misd_table=lambda run, f: survey_tables.misd_table(survey.paragraphs(f), run),
        agreement_table=lambda run, f: survey_tables.agreement_table(f, run),
    ),
    **on(
        DETECTED,
        scores=lambda run, f: mh.scores(mh.averaged(f, ITEMS), ["evaluator"], run),
        repeat_table=lambda run, f: detection.repeat_table(f, ITEMS, run.models),
        reply_table=lambda run, f: detection.reply_table(f, ITEMS, run.models),
        detection_table=lambda run, f: detection.detection_table(run, f, ITEMS),
        type_table=lambda run, f: detection.type_table(run, f, ITEMS),
        rate_rows=lambda run, f: rates.rate_rows(
            run, f, ITEMS, {t: printed_rates.behind(run, t) for t in ("Table 6", "Table 10")}
        ),
        span_table=lambda run, f: spans.span_table(run, f, ITEMS, RIGHT),
        cut_overall=lambda run, f: cut.note(f, ITEMS, cut.overall),
        cut_rates=lambda run, f: cut.note(f, ITEMS, cut.rates),
        cut_by_type=lambda run, f: cut.note(f, ITEMS, cut.by_type),
        cut_span_distance=lambda run, f: cut.note(f, ITEMS, cut.span_distance(RIGHT)),
    ),
    **on(NOTED, expert_table=lambda run, f: notes.expert_table(run, f, ITEMS)),
    **on(PEOPLE, raters_table=lambda run, f: benchmark.raters_table(run, f, ITEMS)),
    **on(
        ASKED,
        detections_of=lambda run, f: detection.detection_table(run, detections(), f),
        types_of=lambda run, f: detection.type_table(run, detections(), f),
        spans_of=lambda run, f: spans.span_table(run, detections(), f, RIGHT),
    ),
    **on(
        BUILT,
        built_table=lambda run, f: benchmark.built_table(f),
        statistics_table=lambda run, f: benchmark.statistics_table(run, {"run": f}),
        length_table=lambda run, f: benchmark.length_table(
            run, {"HealthQA": (f["question"], "run")}
        ),
        sampling_table=lambda run, f: benchmark.sampling_table(run, f.assign(batch=1), "run"),
    ),
    **on(
        HELD,
        single_table=lambda run, f: single.single_table(run, f),
        change_table=lambda run, f: single.change_table(
            run, *(md.changes(f, run, c) for c in single.CHANGED)
        ),
        dose_rows=lambda run, f: single.dose_rows(run, PLAN, f),
        coverage_rows=lambda run, f: single.coverage_rows(
            run, f, md.changes(f, run), md.changes(f, run, "coverage")
        ),
        baseline_table=lambda run, f: baseline.baseline_table(run, f),
        end_table=lambda run, f: baseline.end_table(run, f),
        selection_table=lambda run, f: baseline.selection_table(run, f),
        interaction_table=lambda run, f: interactions.interaction_table(
            run,
            PLAN,
            md.interactions(f, PLAN.combinations, run),
            md.pooled(f, PLAN.combinations, run),
        ),
        case_table=lambda run, f: interactions.case_table(run, PLAN, f),
        mixed_table=lambda run, f: interactions.mixed_table(md.mixed(f, PLAN), f),
        complete_table=lambda run, f: vulnerability.complete_table(run, f, md.changes(f, run)),
        profile_rows=lambda run, f: vulnerability.profile_rows(run, md.changes(f, run)),
        worst_table=lambda run, f: vulnerability.worst_table(run, md.changes(f, run)),
        misled_table=lambda run, f: vulnerability.misled_table(run, PLAN, f),
        described_table=lambda run, f: described.described_table(run, PLAN, f),
        second_table=lambda run, f: validation.second_table(
            run, None, {}, {"elm": f, "oak": f.assign(correct=f["misled"])}
        ),
        strategy_table=lambda run, f: vulnerability.strategy_table(run, f),
        lost=lambda run, f: md.lost(f),
        only_combined=lambda run, f: md.only_combined(f, PLAN.combinations),
        basis=lambda run, f: md_captions.basis(single.single_table(run, f), f, "correct"),
    ),
    **on(
        SHOWN,
        adherence_table=lambda run, f: validation.adherence_table(run, f),
        patient_table=lambda run, f: validation.patient_table(run, f),
        follow_up_table=lambda run, f: validation.follow_up_table(run, {"elm": f}),
    ),
    **on(
        LISTS,
        health_table=lambda run, f: rad_tables.health_table(run, scored(run, f), ["selection"]),
        score_table=lambda run, f: rad_tables.score_table(
            run, scored(run, f), "free-form", "Table 1"
        ),
        change_table=lambda run, f: rad_tables.change_table(
            run, scored(run, f), "free-form", "free-form, 20-30", "Table 2"
        ),
        model_table=lambda run, f: rad_tables.model_table(run, scored(run, f)),
        matcher_table=lambda run, f: rad_tables.matcher_table(run, {"x": scored(run, f)}),
        length_curves=lambda run, f: rad_tables.length_curves(run, f, REFERENCE, TERMS),
        overlap_table=lambda run, f: rad_tables.overlap_table(run, f, TERMS, compared(f)),
        specificity_table=lambda run, f: rad_tables.specificity_table(f, REFERENCE, TERMS),
        level_table=lambda run, f: rad_tables.level_table(run, strata(run, f), "onset", "Table 6"),
        crossing_table=lambda run, f: rad_tables.crossing_table(run, strata(run, f)),
        cut=lambda run, f: rad_tables.cut(scored(run, f)),
        cut_by_matcher=lambda run, f: rad_tables.cut_by_matcher({"x": scored(run, f)}),
        cut_pairs=lambda run, f: rad_tables.cut_pairs(f, TERMS),
        cut_by_level=lambda run, f: rad_tables.cut_by_level(
            scored(run, f), strata(run, f), "onset"
        ),
    ),
    **on(
        OWN,
        scores=lambda run, f: results.scores(run, f),
        pairs=lambda run, f: results.pairs(run, f),
        corrected=lambda run, f: results.corrected(run, f, CARD),
    ),
    **on(
        LABELS,
        attention=lambda run, f: raters.attention(f),
        agreement=lambda run, f: raters.agreement(f, "diagnosis", run.rng("a")),
        consensus=lambda run, f: raters.consensus(f),
    ),
    **on(
        JUDGED,
        against=lambda run, f: raters.against(f, settled(), "diagnosis", run.rng("a")),
        corrected_by_raters=lambda run, f: raters.corrected(
            f, settled(), "diagnosis", run.rng("a")
        ),
    ),
}


class Printed(Run):
    """A run that asks nobody, has the catalogue's models and a card, and draws alike everywhere."""

    def rng(self, *name):
        return np.random.default_rng(20)

    def card(self, judge="", task=""):
        return CARD


def run_of(paper, models=MODELS):
    run = Printed("cancer_myth" if paper == "own" else paper, "00_shapes", profile="sample")
    run.models = list(models)
    return run


WHOLE = {}  # results on the frames as they are


@pytest.fixture
def call(tmp_path, monkeypatch):
    """A function that calls a function of `CASES` on a frame, or its own; the result is `told`."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    monkeypatch.setitem(stats.bootstrap.__kwdefaults__, "resamples", 50)

    def called(name, frame=None, models=MODELS):
        of, function = CASES[name]
        if frame is None:
            if name not in WHOLE:
                WHOLE[name] = called(name, of.make())
            return WHOLE[name]
        return told(function(run_of(of.paper, models), frame))

    return called


def told(made, *name):
    """What a function returned as {labels: [numbers]}, whatever the order of its rows."""
    found = collections.defaultdict(list)
    if isinstance(made, pd.DataFrame):
        for row in made.to_dict("records"):
            numbers = {k: NAN if v is None else v for k, v in row.items() if v is None or number(v)}
            labels = [str(v) for k, v in row.items() if k not in numbers]
            found[(*name, *labels)].append(numbers)
    elif isinstance(made, dict | tuple | list):
        for key, part in made.items() if isinstance(made, dict) else enumerate(made):
            for labels, rows in told(part, *name, str(key)).items():
                found[labels] += rows
    elif isinstance(made, str):
        for part in filter(None, re.split(r"[;:,.)]+\s", f"{made} ")):
            found[(*name, part)].append({})
    else:
        found[name].append(
            {"": NAN if made is None else made} if made is None or number(made) else {}
        )
    return dict(found)


def number(x):
    return isinstance(x, int | float | np.number | bool | np.bool_)


def same(found, expected):
    """Assert that two results of `told` have the same rows and, but for rounding, numbers."""
    assert found.keys() == expected.keys()
    for labels, rows in expected.items():
        assert len(found[labels]) == len(rows), labels
        for mine, theirs in zip(found[labels], rows):
            assert mine == pytest.approx(theirs, nan_ok=True, rel=1e-6, abs=1e-9), labels
