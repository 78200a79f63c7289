"""What MedHalu's notebooks compute, by the names of their variables."""

import pandas as pd

from bedside.papers.medhalu import detection, scores
from bedside.papers.medhalu.replies import like
from bedside.write.results import means
from cells import wanted

BENCHMARK = "medhalu/01_benchmark"
DETECTION, NOTED = "medhalu/02_detection", "medhalu/03_expert_in_the_loop"
NOTEBOOKS = BENCHMARK, DETECTION, NOTED
NOTES = dict.fromkeys(list(detection.NOTES)[1:], {})


def four(run, items):
    """Notebook 01: rows of Table 4."""
    return wanted(BENCHMARK, "four", run=run, typed={"run": items})


def of_detection(variable, run, judged, items, **given):
    """Notebook 02: table rows."""
    given = dict(run=run, detectors=judged, everyone=judged, items=items, **given)
    return wanted(DETECTION, variable, **given)


def shares(run, judged, items):
    """Mean verdicts on each answer, with expected counts."""
    return of_detection("shares", run, judged, items)


def macro():
    """Notebook 02: the scores of counts."""
    return wanted(DETECTION, "macro")


def six(run, judged, items):
    """Rows of Table 6."""
    return of_detection("six", run, judged, items)


def eight(run, judged, items):
    """This run's rows of Table 8."""
    return of_detection("eight", run, judged, items)


def seven(run, judged, items, right):
    """This run's rows of Table 7; right: {item: labelled spans}."""
    found = of_detection("seven", run, judged, items, right=right)
    return found.reset_index(drop=True)


def plane(run, judged, items):
    """Sensitivity and specificity behind Table 6, and of the run."""
    return of_detection("plane", run, judged, items)


def replies(judged, items):
    """What replies are like."""
    return means(like(judged, items), {"hit": ""}, row="{evaluator}", column="{what}")


def both_planes(run, judged, items):
    """Notebook 03: sensitivity and specificity behind Tables 6 and 10, and of the run."""
    return wanted(NOTED, "plane", run=run, shares=scores.averaged(judged, items))


def changes(run, judged, items):
    """Notebook 03: what each note changes, as table rows."""
    return wanted(NOTED, "changes", run=run, everyone=judged, items=items, notes=NOTES)


def ten(run, judged, items):
    """Notebook 03: this run's scores in Table 10."""
    return wanted(NOTED, "ours", run=run, everyone=judged, items=items, notes=NOTES)
