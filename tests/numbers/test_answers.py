"""What scores say of answers that are all right, all missing, shuffled, or another question's."""

import numpy as np
import pandas as pd
import pytest
from catalogue import call, run_of  # noqa: F401  (a fixture)
from catalogue_frames import (
    ITEMS,
    REFERENCE,
    TERMS,
    answers,
    consultations,
    detections,
    exams,
    lists,
    right_or_wrong,
)

from bedside.own import results
from bedside.papers.cancer_myth import scores as cm
from bedside.papers.cancer_myth.v2 import scores as v2
from bedside.papers.medhalu import scores as mh
from bedside.papers.radiation import scores as rad
from bedside.write.tables import estimated_means
from meddialbench_cells import accuracy

pytestmark = pytest.mark.usefixtures("call")
NONE = {"status": "unparsed", "value": None}


def of_cancer_myth(verdicts):
    frame = answers().assign(status="graded", value=verdicts)
    frame = frame.assign(**NONE) if verdicts is None else frame
    return cm.scores(frame, run_of("cancer_myth"))


def of_exams(verdicts):
    said = {None: "not answered", 1: "right", -1: "wrong"}[verdicts]
    lost = NONE if verdicts is None else {"status": "graded", "value": "A"}
    frame = exams().assign(outcome=said, hit=said == "right", **lost)
    return v2.rates(frame).rename(columns={"column": "metric"})


def of_medhalu(verdicts):
    judged, right = detections(), ITEMS.set_index("item")["hallucinated"].astype(float)
    yes = judged["item"].map(right)
    yes = {None: yes * np.nan, 1: yes, -1: 1 - yes}[verdicts]
    shares = mh.averaged(judged.assign(yes=yes), ITEMS)
    return mh.scores(shares, ["evaluator"], run_of("medhalu"))


def of_meddialbench(verdicts):
    correct = {None: np.nan, 1: 1.0, -1: 0.0}[verdicts]
    return accuracy(consultations().assign(correct=correct)).assign(metric="accuracy")


def of_radiation(verdicts):
    frame = lists()
    every = REFERENCE.groupby("site")["effect"].agg(list)
    frame["terms"] = [every[s] if verdicts == 1 else ["cystitis"] for s in frame["site"]]
    frame["pairs"] = [
        np.array([[t == u for u in TERMS] for t in ts], float) for ts in frame["terms"]
    ]
    frame["match"] = "graded"
    if verdicts is None:
        frame = frame.assign(match="unparsed", pairs=None)
    scored = rad.scored(frame, REFERENCE, TERMS)
    return estimated_means(scored, ["precision", "recall", "f1"], ["model"], run_of("radiation"))


def of_own(verdicts):
    frame = right_or_wrong().assign(status="graded", value=verdicts and max(verdicts, 0))
    frame = frame.assign(**NONE) if verdicts is None else frame
    rows = results.scores(run_of("own"), frame)
    return rows[rows["column"].str.endswith("%")].rename(columns={"column": "metric"})


STUDIES = {  # what is best and worst, by metric where they differ
    of_cancer_myth: {"PCS": (1, -1), "PCR": (100, 0)},
    of_exams: (100, 0),
    of_medhalu: (1, 0),
    of_meddialbench: (100, 0),
    of_radiation: (1, 0),
    of_own: (100, 0),
}


@pytest.mark.parametrize("study", STUDIES, ids=lambda s: s.__name__)
def test_all_right_is_the_best_score_and_all_wrong_the_worst(study):
    for verdict, place in ((1, 0), (-1, 1)):
        found = study(verdict)
        assert len(found) and (found["unscored"] == 0).all() and (found["n"] > 0).all()
        for r in found.itertuples():
            ends = STUDIES[study]
            ends = ends[r.metric] if isinstance(ends, dict) else ends
            assert r.value == pytest.approx(ends[place]), (r.metric, r.value)


@pytest.mark.parametrize("study", STUDIES, ids=lambda s: s.__name__)
def test_without_a_verdict_there_is_no_score_and_nobody_is_lost(study):
    found, there = study(None), study(1)
    assert len(found) == len(there)
    assert found["value"].isna().all() and found["low"].isna().all()
    assert (found["n"] == 0).all() and (found["unscored"] > 0).all()
    if "least" in found:  # the bounds are then the ends of the scale
        ends = STUDIES[study]
        for r in found.itertuples():
            best, worst = ends[r.metric] if isinstance(ends, dict) else ends
            assert (r.least, r.most) == pytest.approx((worst, best))


def test_shuffled_verdicts_score_at_chance():
    # Half of 4,000 answers are hallucinated and half of the verdicts are yes, in another order:
    # accuracy and macro scores are 0.5, within 4 standard errors of 0.5 / sqrt(4000) = 0.0079.
    k = np.arange(4000)
    items = pd.DataFrame({"item": k.astype(str), "question": k.astype(str), "dataset": "d"})
    items = items.assign(hallucinated=k % 2 == 0, type="fact")
    yes = np.random.default_rng(1).permutation(items["hallucinated"].astype(float))
    judged = pd.DataFrame({"item": items["item"], "evaluator": "e", "source": "run", "yes": yes})
    found = mh.scores(mh.averaged(judged, items), ["evaluator"], run_of("medhalu"))
    assert found["value"].between(0.5 - 0.032, 0.5 + 0.032).all()
