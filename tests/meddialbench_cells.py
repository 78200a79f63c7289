"""What MedDialBench's notebooks compute, by the names of their variables."""

from bedside.write import tables
from cells import wanted

BASELINE, SINGLE = "meddialbench/02_baseline", "meddialbench/03_single_dimension"


def accuracy(done):
    """Notebook 03: accuracy by configuration and model."""
    return wanted(SINGLE, "accuracy", judged=done)


def baseline_rows(run, done):
    """Notebook 02: this run's rows of Table 2."""
    two = wanted(BASELINE, "two", judged=done, run=run)
    return two[two["source"] == "run"]


def selected(run, done):
    """Notebook 02: the table of selected cases."""
    return tables.frame(wanted(BASELINE, "selected", judged=done, run=run))


def dose(run, plan, done):
    """Notebook 03: the rows of Figure 3."""
    return wanted(SINGLE, "dose", judged=done, run=run, plan=plan)


def of_interactions(run, plan, done):
    """Notebook 04: the pairs, O/E and cases that fail only in combination, as its cell says."""
    given = {"judged": done, "run": run, "plan": plan, "combinations": "paper"}
    return wanted("meddialbench/04_interactions", "pairs", "mine", **given)
