"""Raters: labels of several people together, judges and rates held against them.

    rows = annotation.rows(document)
    given = labels("my_task", rows)                 # all raters' files
    agreement(given, "my_task", rng)                # kappa and alpha with intervals
    settled = consensus(given)                      # ADJUDICATED decides where raters differ
    corrected(judged(rows, "my_task"), settled, "my_task", rng)
    publish("my_task", rows, given, settled)        # where the trust cards look for labels

Frames are long; a label of a task in which several choices hold counts as one yes or no for each
choice.

together: labels of all raters, and what they settle. reliability: how steady and alike they are.
rates: judges and models against them. publishing: labels at rows and as sources of the studies.
"""

from .publishing import publish, with_labels
from .rates import against, corrected, judged
from .reliability import agreement, attention
from .together import ADJUDICATED, LABEL, consensus, differing, labels, values

__all__ = [
    "ADJUDICATED",
    "LABEL",
    "against",
    "agreement",
    "attention",
    "consensus",
    "corrected",
    "differing",
    "judged",
    "labels",
    "publish",
    "values",
    "with_labels",
]
