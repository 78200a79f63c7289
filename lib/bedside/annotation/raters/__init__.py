"""Raters: labels of several people together, judges and rates held against them.

    rows = annotation.rows(document)
    given = labels("my_task", rows)                 # all raters' files
    progress("my_task")                             # how far everybody is
    agreement(given, "my_task", rng)                # kappa and alpha with intervals
    adjudication(given, rows, "my_task")            # a session on what raters differ on
    settled = consensus(given)                      # what ADJUDICATED says decides there
    corrected(judged(rows, "my_task"), settled, "my_task", rng)
    publish("my_task", rows, given, settled)        # where the trust cards look for labels

Frames are long; a label of a task in which several choices hold counts as one yes or no for each
choice. Who can't decide, or calls an item faulty, is counted, but gives no label.

together: labels of all raters, and what they settle. reliability: how steady and alike they are,
and how like a study's own raters. rates: judges and models against them. publishing: labels at
rows and as sources of the studies.
"""

from .publishing import publish, with_labels
from .rates import against, corrected, judged
from .reliability import agreement, attention, scores
from .together import (
    ADJUDICATED,
    LABEL,
    REFUSALS,
    adjudication,
    asked,
    consensus,
    differing,
    faulty,
    labels,
    progress,
    reference,
    values,
)

__all__ = [
    "ADJUDICATED",
    "LABEL",
    "REFUSALS",
    "adjudication",
    "against",
    "agreement",
    "asked",
    "attention",
    "consensus",
    "corrected",
    "differing",
    "faulty",
    "judged",
    "labels",
    "progress",
    "publish",
    "reference",
    "scores",
    "values",
    "with_labels",
]
