"""A class's readings of MedHalu answers (task 3.1 of its hand-ins) as one group of readers.

`read` takes them in, `table` scores the class, `example` makes a class of illustrative readers.
"""

import tempfile

import pandas as pd

from bedside import seminar, stats
from bedside.papers.medhalu import scores
from bedside.seminar import classroom

TASK = "3.1"
SAID = {1.0: "yes", 0.0: "no"}


def example(labels):
    """A new folder with a hand-in for each rater of labels as `labels.annotations` has them."""
    folder = tempfile.mkdtemp()
    for name, part in labels.groupby("repeat"):
        reading = {
            r.item: (SAID[r.yes], 50, r.spans[0] if r.yes else "-") for r in part.itertuples()
        }
        entry = {"state": "collected", "said": "", "answer": reading}
        classroom.write("medhalu", "3", {TASK: entry}, name, folder)
    return folder


def read(folder, parsed):
    """All readings of a folder: item, yes, repeat (who), group.

    parsed: makes a frame of a reading, or raises Wrong; such a reading is named and left out.
    """
    parts = [pd.DataFrame(columns=["item", "yes", "repeat", "group"])]
    for name, reading in seminar.handed_in("medhalu", TASK, folder).items():
        try:
            parts.append(parsed(reading)[["item", "yes"]].assign(repeat=name, group="class"))
        except seminar.Wrong as e:
            print(f"{name} is left out: {e}")
    return pd.concat(parts[1:] or parts, ignore_index=True)


def table(given, items, run):
    """How single readers and the majority score (ties unscored), and how far they agree.

    A sentence if nobody has handed in.
    """
    if given.empty:
        return "Nobody has handed in a reading yet."
    votes = given.groupby("item")["yes"].mean().reset_index()
    clear = votes[votes["yes"] != 0.5].assign(yes=lambda f: f["yes"].round(), repeat="majority")
    rows = [
        ("readers", str(given["repeat"].nunique())),  # counts have no decimals
        ("answers read", str(len(votes))),
        ("answers with a tie, not scored", str(len(votes) - len(clear))),
    ]
    single = [_scored(part, items)[3] for _, part in given.groupby("repeat")]
    single = [v for v in single if v == v]  # NaN: one class only
    if single:
        rows.append(("macro F1, mean of readers", sum(single) / len(single)))
    if len(clear):
        names = [f"{name}, majority" for name in scores.METRICS.values()]
        rows += zip(names, _scored(clear, items))
    for r in scores.agreement(given, items).itertuples():
        rows.append((r.column, r.value, r.low, r.high))
    rows = [(*r, None, None)[:4] for r in rows]
    return seminar.shown(pd.DataFrame(rows, columns=["what", "value", "low", "high"], dtype=object))


def _scored(part, items):
    """Accuracy, macro precision, recall and F1 of one reader."""
    shares = scores.averaged(part.assign(evaluator="reader", source="run"), items)
    return stats.macro(scores.counts(shares).sum(0))
