"""What users bring: their own questions to several models, with a judge; a first try of a model.

    found = bedside.study("mine.csv", models=["a", "b"], judge="c")
    found.scores        # right answers by model and group, with intervals
    found.pairs         # paired tests between the models

A study has a name. Its outputs are in figures/own/<name>, its recordings in
data/recordings/own/<name>. Both stay on this machine, and texts go only to the endpoints that
`Own.texts_sent` names. `notebooks/own_study.ipynb` takes the same steps one by one.

Faults of users' files are told by `read.questions` and `read.user_files`; the page of a study is
`publish.pages.executed`. What is about the papers' studies is in `papers`.

study: the run, its answers, verdicts and labels. judging: the judges' verdicts, on whole answers or
by the criteria of a rubric (`rubrics`). made_labels: labels made elsewhere. results: scores, tests,
and the judges' trust cards. measures: repeats, criteria, judges that disagree. saved: a study's
files, by which studies are compared. items: the items for explorer and raters. steps: the steps of
`make study`, also at once, as `bedside.study`.
try_out: the first calls to a model, `make try`.
"""

from .items import TASK, document
from .judging import example
from .measures import criteria, disagreement, elsewhere, length_figure, lengths, repeats
from .results import Study, cards, corrected, pairs, scores
from .saved import compared, keep
from .study import Own, answers, rated, verdicts

__all__ = [
    "TASK",
    "Own",
    "Study",
    "answers",
    "cards",
    "compared",
    "corrected",
    "criteria",
    "disagreement",
    "document",
    "elsewhere",
    "example",
    "keep",
    "length_figure",
    "lengths",
    "pairs",
    "rated",
    "repeats",
    "scores",
    "verdicts",
]
