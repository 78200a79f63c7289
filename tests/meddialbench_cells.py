"""What MedDialBench's notebooks compute, by their cells."""

import pandas as pd

from bedside.write import tables
from cells import computed

BASELINE, SINGLE = "meddialbench/02_baseline", "meddialbench/03_single_dimension"


def accuracy(done):
    """Notebook 03: accuracy by configuration and model."""
    return computed(SINGLE, "c08", judged=done)["accuracy"]


def baseline_rows(run, done):
    """Notebook 02: this run's rows of Table 2."""
    return pd.concat(computed(BASELINE, "c11", judged=done, run=run)["mine"])


def selected(run, done):
    """Notebook 02: the table of selected cases."""
    return tables.frame(computed(BASELINE, "c14", judged=done, run=run)["selected"])


def dose(run, plan, done):
    """Notebook 03: the rows of Figure 3."""
    return computed(SINGLE, "c08 c14", judged=done, run=run, plan=plan)["dose"]
