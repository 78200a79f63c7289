"""What MedHalu's notebooks compute, by their cells."""

from bedside.papers.medhalu import detection
from cells import computed

BENCHMARK = "medhalu/01_benchmark"
DETECTION, NOTED = "medhalu/02_detection", "medhalu/03_expert_in_the_loop"
CELLS = [(DETECTION, c) for c in "c09d c09a c09c c13 c15".split()]
CELLS += [(BENCHMARK, "c09b"), (BENCHMARK, "c09a")]
CELLS += [(NOTED, c) for c in "c10a c11a c11b c11c c12 c13".split()]
MEANS = "c09d c09a"  # of 02: mean verdicts with expected counts, and the four scores
NOTES = dict.fromkeys(list(detection.NOTES)[1:], {})


def four(run, items):
    """Notebook 01: rows of Table 4."""
    return computed(BENCHMARK, "c09b c09a", run=run, typed={"run": items})["four"]


def shares(run, judged, items):
    """Notebook 02: mean verdicts on each answer, with expected counts."""
    return computed(DETECTION, "c09d", detectors=judged, items=items)["shares"]


def six(run, judged, items):
    """Notebook 02: rows of Table 6."""
    given = dict(run=run, detectors=judged, items=items, where="")
    return computed(DETECTION, f"{MEANS} c09c", **given)["six"]


def eight(run, judged, items):
    """Notebook 02: rows of Table 8."""
    given = dict(run=run, detectors=judged, everyone=judged, items=items)
    return computed(DETECTION, f"{MEANS} c13 c15", **given)["eight"]


def plane(run, judged, items):
    """Notebook 02: sensitivity and specificity behind Table 6, and of the run."""
    given = dict(run=run, detectors=judged, everyone=judged, items=items)
    return computed(DETECTION, f"{MEANS} c13", **given)["plane"]


def both_planes(run, judged, items):
    """Notebook 03: the same behind Tables 6 and 10."""
    given = dict(run=run, everyone=judged, judged=judged, items=items, where="")
    return computed(NOTED, "c10a c13", **given)["plane"]


def changes(run, judged, items):
    """Notebook 03: what each note changes, as table rows."""
    given = dict(run=run, everyone=judged, items=items, notes=NOTES)
    return computed(NOTED, "c10a c11b c11c", **given)["changes"]


def ten(run, judged, items):
    """Notebook 03: rows of Table 10."""
    given = dict(run=run, everyone=judged, items=items, notes=NOTES)
    cells = "c10a c11a c11b c11c c12"
    return computed(NOTED, cells, **given)["shown"]
