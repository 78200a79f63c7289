"""Cancer-Myth: the quantities and functions that the tests in data/claims may use."""

import functools
from typing import Any

import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Comparison, Rounded, Verdict, comparison

from . import data, pipeline, printed, survey_claims, versions
from .printed import ANNOTATED, FAIR, QUESTIONS
from .tables import systems
from .v2 import claims as mitigations


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run doesn't have.

    Of the released answers that is all: `tables.systems.names` has it, in notebook 07.
    """
    mine = run.notebook == pipeline.NOTEBOOK  # others need not wait for it
    return {
        **of_figures(run),
        **of_sets(run),
        **of_judge(run),
        **versions.names(run),
        **(pipeline.names(run) if mine else dict.fromkeys(pipeline.RELEASED)),
        **dict.fromkeys((*systems.ANSWERS, *systems.GENERATED)),
        "questions": QUESTIONS,
        "annotated": ANNOTATED,
        "fair": FAIR,
        "text": functools.partial(published.value, run.paper),
        **survey_claims.names(run),
        **mitigations.names(run),
        **FUNCTIONS,
    }


def of_figures(run: Run) -> dict[str, Any]:
    """What follows from Figures 6 and 7, and from the summary's main results."""
    said = run.published("v1 Figure 6a").pivot(index="row", columns="column", values="value")
    newer = run.published("v2 Main results").pivot(index="row", columns="column", values="value")
    cells = printed.cross_model(run).pivot(index="row", columns="column", values="value")
    rated = run.published("v1 text 2.2").set_index("row")["value"].drop("Social workers")
    rate2, (least, most) = printed.rates(run, 2), printed.bar_sums(run)
    sums, sizes = Rounded(least, (least + most) / 2, most), printed.category_sizes(run)
    ways, read = printed.grades(run), (least == most).all()
    parts = {m: [*zip(*found)] or 3 * [(0, QUESTIONS)] for m, found in ways.items()}
    ones, _, unaware = (range_of({m: x[k] for m, x in parts.items()}) for k in range(3))
    fitting = pd.Series({m: len(found) for m, found in ways.items()})

    @functools.cache
    def count(of: Any) -> int:
    """How many there are."""
    return len(getattr(of, "value", of))


FUNCTIONS = {f.__name__: f for f in (prints_p, equals, whole_number, count)}
