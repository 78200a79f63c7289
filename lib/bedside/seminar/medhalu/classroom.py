"""A class's readings of MedHalu answers, a file a student, as data/sample/medhalu/annotations.csv.

`write` makes such a file, `read` takes a folder of them in, `table` scores the class.
"""

import tempfile
from pathlib import Path

import pandas as pd

from bedside import paths, seminar, stats
from bedside.papers.medhalu import labels as readings
from bedside.papers.medhalu import scores

FOLDER = seminar.LABELS / "medhalu"
COLUMNS = ["item", "rater", "group", "hallucinated", "type", "spans", "reason"]
SAID = {1.0: "yes", 0.0: "no"}


def _place(path):
    """A path for people: within the checkout, or only its name."""
    return paths.rel(path) if path.is_relative_to(paths.ROOT) else path.name


def _save(rows, path):
    """Write a reader's file."""
    rows[COLUMNS].to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def write(reading, name, folder=FOLDER):
    """Write a reading (item, yes, span, type) as <name>.csv; returns what was written, in words."""
    yes = reading["yes"] == 1
    rows = reading.assign(
        rater=name,
        group="class",
        hallucinated=reading["yes"].map(SAID),
        reason="",
        type=reading["type"].where(yes, ""),
        spans=reading["span"].where(yes, ""),
    )
    path = Path(folder) / f"{''.join(c for c in name if c.isalnum()) or 'reader'}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    _save(rows, path)
    return f"written: {_place(path)}, {len(rows)} answers"


def example(labels):
    """A new folder with a file for each rater of labels as `labels.annotations` has them."""
    folder = Path(tempfile.mkdtemp())
    for name, part in labels.groupby("repeat"):
        said, spans = part["yes"].map(SAID), part["spans"].str.join("\n")
        _save(part.assign(rater=name, hallucinated=said, spans=spans), folder / f"{name}.csv")
    return folder


def read(folder, items, run):
    """All labels of a folder's files: COLUMNS, repeat (the file), yes.

    A file with a fault is left out whole, and the fault printed.
    """
    answers, parts = items.set_index("item")["answer"], []
    for path in sorted(Path(folder).glob("*.csv")):
        try:
            rows = pd.read_csv(path, dtype=str, keep_default_na=False)[COLUMNS]
        except (KeyError, ValueError) as e:
            why = f"it can't be read as a table with {', '.join(COLUMNS)} ({str(e)[:80]})"
            print(f"{path.name} is left out: {why}")
            continue
        rows = readings.parsed(rows.drop_duplicates("item"))
        found = [
            (r.item, readings.fault(r, answers.get(r.item), run, set())) for r in rows.itertuples()
        ]
        if faults := [f"item {item}: {why}" for item, why in found if why]:
            print(f"{path.name} is left out: {faults[0]}")
            continue
        parts.append(rows.assign(repeat=path.stem, group="class"))
    if not parts:
        return pd.DataFrame(columns=[*COLUMNS, "repeat", "yes"])
    return pd.concat(parts, ignore_index=True)


def table(given, folder, items, run):
    """How single readers and the majority score (ties unscored), and how far they agree.

    A sentence if nobody handed in.
    """
    if given.empty:
        where = _place(Path(folder))
        return f"No files yet. Put the students' CSV files into {where} and run this cell again."
    votes = given.groupby("item")["yes"].mean().reset_index()
    clear = votes[votes["yes"] != 0.5].assign(yes=lambda f: f["yes"].round(), repeat="majority")
    rows = [
        ("readers", given["repeat"].nunique()),
        ("answers read", len(votes)),
        ("answers with a tie, not scored", len(votes) - len(clear)),
    ]
    single = [_scored(part, items)[3] for _, part in given.groupby("repeat")]
    single = [v for v in single if v == v]  # NaN: one class only
    if single:
        rows.append(("macro F1, mean of readers", sum(single) / len(single)))
    if len(clear):
        names = [f"{name}, majority" for name in scores.METRICS.values()]
        rows += zip(names, _scored(clear, items))
    for r in scores.agreement(given, items, run).itertuples():
        rows.append((r.coefficient, r.value, r.low, r.high))
    rows = [(*r, None, None)[:4] for r in rows]
    return seminar.shown(pd.DataFrame(rows, columns=["what", "value", "low", "high"], dtype=object))


def _scored(part, items):
    """Accuracy, macro precision, recall and F1 of one reader."""
    shares = scores.averaged(part.assign(evaluator="reader", source="run"), items)
    return stats.macro(scores.counts(shares).sum(0))
