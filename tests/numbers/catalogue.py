"""The studies' functions of scores and tables, each on a small frame, for tests of shapes.

A new function needs a line in `CASES`, on one of the frames. These have two models, twelve units
with several rows each, and replies that were cut or have no verdict.
"""

import collections
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from catalogue_frames import (
    ITEMS,
    MODELS,
    NAN,
    PLAN,
    REFERENCE,
    RIGHT,
    TERMS,
    WORDS,
    adherence,
    answers,
    built,
    consultations,
    detections,
    drawn,
    exams,
    items,
    judged,
    labelled,
    lists,
    mitigated,
    noted,
    people,
    questions,
    ratings,
    right_or_wrong,
    rounds,
)

import medhalu_cells
import radiation_cells
from bedside.annotation import raters
from bedside.judging import trust_cards
from bedside.own import results
from bedside.papers.cancer_myth import scores as cm_scores
from bedside.papers.cancer_myth import survey
from bedside.papers.cancer_myth.tables import evaluation, generation, systems
from bedside.papers.cancer_myth.tables import survey as survey_tables
from bedside.papers.cancer_myth.v2 import scores as v2
from bedside.papers.cancer_myth.v2 import tables as v2_tables
from bedside.papers.meddialbench import scores as md
from bedside.papers.meddialbench import tables as md_captions
from bedside.papers.meddialbench.implied import combinations, ratios, share
from bedside.papers.meddialbench.tables import (
    baseline,
    described,
    interactions,
    single,
    validation,
    vulnerability,
)
from bedside.papers.medhalu import scores as mh
from bedside.papers.medhalu.tables import benchmark, cut, detection, spans
from bedside.papers.radiation import scores as rad
from bedside.papers.radiation import tables as rad_tables
from bedside.run import Run
from bedside.write import tables
from meddialbench_cells import accuracy

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
    return radiation_cells.strata(scored(run, frame), REFERENCE)


def by_onset(run, frame):
    return radiation_cells.recall_by(strata(run, frame), "onset")


def means(run, frame):
    """Mean scores of free-form lists by model and profile."""
    free = scored(run, frame).query("regime == 'free-form'")
    return tables.estimated_means(free, rad.METRICS, ["model", "profile"], run)


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
        test_table=lambda run, f: survey_tables.test_table(survey.source_tests(f, run)),
        label_counts=lambda run, f: survey.label_counts(f),
        paragraph_table=lambda run, f: survey_tables.paragraph_table(f, WORDS, run),
        misd_table=lambda run, f: survey_tables.misd_table(survey.misd(survey.paragraphs(f)), run),
        agreement_table=lambda run, f: survey_tables.agreement_table(f, run),
    ),
    **on(
        DETECTED,
        scores=lambda run, f: mh.scores(mh.averaged(f, ITEMS), ["evaluator"], run),
        repeat_table=lambda run, f: detection.repeat_table(f, ITEMS, run.models),
        reply_table=lambda run, f: detection.reply_table(f, ITEMS, run.models),
        detection_table=lambda run, f: medhalu_cells.six(run, f, ITEMS),
        type_table=lambda run, f: medhalu_cells.eight(run, f, ITEMS),
        rate_rows=lambda run, f: medhalu_cells.both_planes(run, f, ITEMS),
        span_table=lambda run, f: spans.span_table(run, f, ITEMS, RIGHT),
        cut_overall=lambda run, f: cut.note(f, ITEMS, cut.overall),
        cut_rates=lambda run, f: cut.note(f, ITEMS, cut.rates),
        cut_by_type=lambda run, f: cut.note(f, ITEMS, cut.by_type),
        cut_span_distance=lambda run, f: cut.note(f, ITEMS, cut.span_distance(RIGHT)),
    ),
    **on(NOTED, expert_table=lambda run, f: medhalu_cells.ten(run, f, ITEMS)),
    **on(PEOPLE, raters_table=lambda run, f: benchmark.raters_table(run, f, ITEMS)),
    **on(
        ASKED,
        detections_of=lambda run, f: medhalu_cells.six(run, detections(), f),
        types_of=lambda run, f: medhalu_cells.eight(run, detections(), f),
        spans_of=lambda run, f: spans.span_table(run, detections(), f, RIGHT),
    ),
    **on(
        BUILT,
        built_table=lambda run, f: benchmark.built_table(f),
        statistics_table=lambda run, f: medhalu_cells.four(run, f),
        length_table=lambda run, f: benchmark.length_table(
            run, {"HealthQA": (f["question"], "run")}
        ),
        sampling_table=lambda run, f: benchmark.sampling_table(run, f.assign(batch=1), "run"),
    ),
    **on(
        HELD,
        accuracy=lambda run, f: accuracy(f),
        change_table=lambda run, f: single.change_table(
            run, *(md.changes(f, run, c) for c in single.CHANGED)
        ),
        coverage_rows=lambda run, f: single.coverage_rows(
            run, f, md.changes(f, run), md.changes(f, run, "coverage")
        ),
        end_table=lambda run, f: baseline.end_table(run, f),
        interaction_table=lambda run, f: interactions.interaction_table(
            run,
            PLAN,
            ratios(run, combinations(PLAN)),
            md.interactions(f, PLAN.combinations, run),
            md.pooled(f, PLAN.combinations, run),
        ),
        case_table=lambda run, f: interactions.case_table(run, PLAN, f),
        mixed_table=lambda run, f: interactions.mixed_table(md.mixed(f, PLAN), f),
        complete_table=lambda run, f: vulnerability.complete_table(
            run, share(run), accuracy(f), md.changes(f, run)
        ),
        profile_rows=lambda run, f: vulnerability.profile_rows(run, md.changes(f, run)),
        worst_table=lambda run, f: vulnerability.worst_table(
            pd.DataFrame(), pd.DataFrame(), md.changes(f, run)
        ),
        misled_table=lambda run, f: vulnerability.misled_table(run, PLAN, f),
        described_table=lambda run, f: described.described_table(run, PLAN, f),
        second_table=lambda run, f: validation.second_table(
            run, None, {}, {"elm": f, "oak": f.assign(correct=f["misled"])}
        ),
        strategy_table=lambda run, f: vulnerability.strategy_table(run, f),
        lost=lambda run, f: md.lost(f),
        only_combined=lambda run, f: md.only_combined(f, PLAN.combinations),
        basis=lambda run, f: md_captions.basis(
            single.change_table(run, *(md.changes(f, run, c) for c in single.CHANGED)), f, "correct"
        ),
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
        score_table=lambda run, f: rad_tables.score_table(run, means(run, f), "Table 1"),
        model_table=lambda run, f: rad_tables.model_table(run, scored(run, f)),
        matcher_table=lambda run, f: rad_tables.matcher_table(run, {"x": scored(run, f)}),
        length_curves=lambda run, f: rad_tables.length_curves(run, f, REFERENCE, TERMS),
        overlap_table=lambda run, f: rad_tables.overlap_table(
            run, rad.overlaps(f, TERMS), compared(f)
        ),
        specificity_table=lambda run, f: rad_tables.specificity_table(f, REFERENCE, TERMS),
        level_table=lambda run, f: rad_tables.level_table(
            run, by_onset(run, f), "onset", "Table 6"
        ),
        crossing_table=lambda run, f: rad_tables.crossing_table(run, strata(run, f)),
        cut=lambda run, f: rad_tables.cut(scored(run, f)),
        cut_by_matcher=lambda run, f: rad_tables.cut_by_matcher({"x": scored(run, f)}),
        cut_pairs=lambda run, f: rad_tables.cut_pairs(f, rad.overlaps(f, TERMS)),
        cut_by_level=lambda run, f: rad_tables.cut_by_level(
            scored(run, f), by_onset(run, f), "onset"
        ),
    ),
    **on(
        OWN,
        scores=lambda run, f: results.scores(run, f),
        pairs=lambda run, f: results.pairs(run, f),
        corrected=lambda run, f: results.corrected(run, f, {"j": CARD}),
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
    if paper == "own":
        run.judge, run.judges, run.criteria, run.measure = "j", ["j"], {}, "right, %"
    return run


WHOLE = {}  # results on the frames as they are


@pytest.fixture
def call(tmp_path, monkeypatch):
    """A function that calls a function of `CASES` on a frame, or its own; the result is `told`."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))

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
