"""Raters: the labels of several raters together, and judges and rates compared with them.

    rows = annotation.rows(document)
    given = labels("my_task", rows)                 # all raters' files
    progress("my_task")                             # how far everybody is
    agreement(given, "my_task")                # kappa and alpha with intervals
    opinions(given, differing(given, rows, "my_task"))    # what an adjudicator is shown
    settled = consensus(given)                      # ADJUDICATED decides the disagreements
    corrected(judged(rows, "my_task"), settled, "my_task", rng)
    publish("my_task", rows, given, settled)        # where the trust cards look for labels

Frames are long. In a task in which several choices may hold, a label counts as a yes or no for each
choice. A rater who can't decide, or calls an item faulty, is counted but gives no label.

together: all raters' labels and their consensus. reliability: how consistent raters are, and how
they agree with each other and with a study's own raters. rates: judges and models compared with
them. publishing: labels beside rows, and as sources of the studies.
"""

from ..log import ADJUDICATED, REFUSALS
from .publishing import publish, with_labels
from .rates import against, corrected, judged
from .reliability import agreement, attention, scores
from .together import (
    LABEL,
    asked,
    background,
    consensus,
    differing,
    faulty,
    labels,
    opinions,
    progress,
    reference,
    values,
)

__all__ = [
    "ADJUDICATED",
    "LABEL",
    "REFUSALS",
    "against",
    "agreement",
    "asked",
    "attention",
    "background",
    "consensus",
    "corrected",
    "differing",
    "faulty",
    "judged",
    "labels",
    "opinions",
    "progress",
    "publish",
    "reference",
    "scores",
    "values",
    "with_labels",
]
