"""What MedDialBench's notebooks compute, by the names of their variables."""

import pandas as pd

from cells import wanted

VALIDATION = "meddialbench/01_design_and_validation"
BASELINE, SINGLE = "meddialbench/02_baseline", "meddialbench/03_single_dimension"


def accuracy(done):
    """Notebook 03: accuracy by configuration and model."""
    return wanted(SINGLE, "accuracy", judged=done)


def baseline_rows(run, done):
    """Notebook 02: this run's rows of Table 2."""
    return wanted(BASELINE, "two", judged=done, run=run)


def selected(run, done):
    """Notebook 02: the table of selected cases."""
    return pd.concat(wanted(BASELINE, "selected", judged=done, run=run))


def adherence(seen):
    """Notebook 01: this run's rows of Tables 5 and 7."""
    return wanted(VALIDATION, "extremes", seen=seen), wanted(VALIDATION, "adherence", shown=seen)


def alone(pilots):
    """Notebook 01: adherence of patients with single behaviours."""
    return wanted(VALIDATION, "alone", pilots=pilots)


def agreement(pairs):
    """Notebook 01: how often two judges say the same, and kappas."""
    return wanted(VALIDATION, "same", "kappas", pairs=pairs)


def moved(run, done):
    """Notebook 03: changes, of Figure 2 as well, and what both rest on."""
    names = "changed", "covered", "turned", "moved", "parts"
    *found, rows, parts = wanted(SINGLE, *names, judged=done, run=run)
    return *found, pd.concat(rows), pd.concat(parts)


def dose(run, plan, done):
    """Notebook 03: the rows of Figure 3."""
    return wanted(SINGLE, "dose", judged=done, run=run, plan=plan)


def of_interactions(run, plan, done):
    """Notebook 04: the pairs, O/E and cases that fail only in combination, as its cell says."""
    given = {"judged": done, "run": run, "plan": plan, "combinations": "paper"}
    return wanted("meddialbench/04_interactions", "pairs", "mine", **given)


def vulnerable(run, plan, done, *names):
    """Notebook 05: rows of its tables, by the names of its variables."""
    return wanted("meddialbench/05_vulnerability", *names, judged=done, run=run, plan=plan)
