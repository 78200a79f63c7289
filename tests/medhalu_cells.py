"""What MedHalu's notebooks compute, by the names of their variables."""

from bedside.papers.medhalu import detection
from cells import wanted

BENCHMARK = "medhalu/01_benchmark"
DETECTION, NOTED = "medhalu/02_detection", "medhalu/03_expert_in_the_loop"
NOTEBOOKS = BENCHMARK, DETECTION, NOTED
NOTES = dict.fromkeys(list(detection.NOTES)[1:], {})


def four(run, items):
    """Notebook 01: rows of Table 4."""
    return wanted(BENCHMARK, "four", run=run, typed={"run": items})


def shares(run, judged, items):
    """Notebook 02: mean verdicts on each answer, with expected counts."""
    return wanted(DETECTION, "shares", detectors=judged, items=items)


def six(run, judged, items):
    """Notebook 02: rows of Table 6."""
    return wanted(DETECTION, "six", run=run, detectors=judged, items=items)


def eight(run, judged, items):
    """Notebook 02: rows of Table 8."""
    given = dict(run=run, detectors=judged, everyone=judged, items=items)
    return wanted(DETECTION, "eight", **given)


def plane(run, judged, items):
    """Notebook 02: sensitivity and specificity behind Table 6, and of the run."""
    given = dict(run=run, detectors=judged, everyone=judged, items=items)
    return wanted(DETECTION, "plane", **given)


def both_planes(run, judged, items):
    """Notebook 03: the same behind Tables 6 and 10."""
    return wanted(NOTED, "plane", run=run, everyone=judged, items=items)


def changes(run, judged, items):
    """Notebook 03: what each note changes, as table rows."""
    return wanted(NOTED, "changes", run=run, everyone=judged, items=items, notes=NOTES)


def ten(run, judged, items):
    """Notebook 03: rows of Table 10."""
    return wanted(NOTED, "shown", run=run, everyone=judged, items=items, notes=NOTES)
