"""Own studies: a user's own questions, several models, a judge, and tables of the results.

    from bedside import study
    found = study.compare("mine.csv", models="a b", judge="c")
    found.scores        # right answers by model and group, with intervals
    found.pairs         # paired tests between the models

A study has a name. Its outputs are in figures/own/<name>, its recordings in
data/recordings/own/<name>. Both stay on this machine, and texts go only to the endpoints that
`Own.told` names. `notebooks/own_study.ipynb` takes the same steps one by one.

own: the run, its answers, verdicts and labels. counted: scores, tests, the judge's trust card, and
two runs compared. judged: the items for explorer and raters. steps: the steps of `make study`.
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
