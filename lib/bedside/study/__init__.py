"""Own studies: own questions, several models, a judge, and tables that say what they rest on.

    from bedside import study
    found = study.compare("mine.csv", models="a b", judge="c")
    found.scores        # right answers by model and group, with intervals
    found.pairs         # paired tests between the models

A study has a name; its outputs stand in figures/own/<name>, its recordings in
data/recordings/own/<name>. Both stay on this machine, and texts go to the endpoints alone that
`Own.told` names. `notebooks/own_study.ipynb` takes the same steps one by one.

own: the run, its answers, verdicts and labels. counted: scores, tests, the judge's trust card, two
runs compared. judged: its items for explorer and raters. steps: of `make study`.
"""

from .counted import card, changed, compare, corrected, keep, pairs, scores
from .judged import TASK, document
from .own import Own, answers, rated, verdicts

__all__ = [
    "TASK",
    "Own",
    "answers",
    "card",
    "changed",
    "compare",
    "corrected",
    "document",
    "keep",
    "pairs",
    "rated",
    "scores",
    "verdicts",
]
