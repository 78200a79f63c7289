"""A class's readings of MedHalu answers: students' files in a folder, in the format of data/sample/medhalu/annotations.csv."""

import tempfile
from pathlib import Path

from bedside import paths, seminar, stats
from bedside.papers.medhalu import detection, scores

FOLDER = seminar.LABELS / "medhalu"
COLUMNS = ["item", "rater", "group", "hallucinated", "type", "spans", "reason"]
SAID = {1.0: "yes", 0.0: "no"}


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
    rows[COLUMNS].to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
    return (
        f"written: {paths.rel(path) if path.is_relative_to(paths.ROOT) else path.name}, {len(rows)}"
        " answers"
    )


def example(labels):
    """A new folder with a file for each rater of labels as `detection.annotations` has them."""
    folder = Path(tempfile.mkdtemp())
    for name, part in labels.groupby("repeat"):
        rows = part.assign(
            rater=name, hallucinated=part["yes"].map(SAID), spans=part["spans"].str.join("\n")
        )
        rows[COLUMNS].to_csv(
            folder / f"{name}.csv", index=False, encoding="utf-8", lineterminator="\n"
        )
    return folder


def read(folder, items, run):
    """All labels of a folder's files: COLUMNS, repeat (the file), yes; a file with a fault is left out whole, and printed."""
    import pandas as pd

    answers, parts = items.set_index("item")["answer"], []
    for path in sorted(Path(folder).glob("*.csv")):
        try:
            rows = pd.read_csv(path, dtype=str, keep_default_na=False)[COLUMNS].drop_duplicates(
                "item"
            )
        except (KeyError, ValueError) as e:
            print(
                f"{path.name} is left out: it can't be read as a table with {', '.join(COLUMNS)}"
                f" ({str(e)[:80]})"
            )
            continue
        rows = detection.read_labels(rows)
        found = [
            (r.item, detection.fault(r, answers.get(r.item), run, set())) for r in rows.itertuples()
        ]
        if faults := [f"item {item}: {why}" for item, why in found if why]:
            print(f"{path.name} is left out: {faults[0]}")
            continue
        parts.append(rows.assign(repeat=path.stem, group="class"))
    return (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=[*COLUMNS, "repeat", "yes"])
    )


def table(given, folder, items, run):
    """Scores of single readers and of the majority (ties unscored), kappa and alpha; a sentence if nobody handed in."""
    import pandas as pd

    if given.empty:
        folder = paths.rel(folder) if Path(folder).is_relative_to(paths.ROOT) else Path(folder).name
        return f"No files yet. Put the students' CSV files into {folder} and run this cell again."
    votes = given.groupby("item")["yes"].mean().reset_index()
    clear = votes[votes["yes"] != 0.5].assign(yes=lambda f: f["yes"].round(), repeat="majority")
    rows = [
        ("readers", given["repeat"].nunique()),
        ("answers read", len(votes)),
        ("answers with a tie, not scored", len(votes) - len(clear)),
    ]
    single = [
        v for _, part in given.groupby("repeat") if (v := _scored(part, items)[3]) == v
    ]  # NaN: one class only
    rows += [("macro F1, mean of readers", sum(single) / len(single))] if single else []
    if len(clear):
        rows += [
            (f"{name}, majority", value)
            for name, value in zip(scores.METRICS.values(), _scored(clear, items))
        ]
    rows += [
        (r["column"], r["value"], r.get("low"), r.get("high"))
        for r in scores.agreement(given, items, run)
    ]
    rows = [(*r, None, None)[:4] for r in rows]
    return seminar.shown(pd.DataFrame(rows, columns=["what", "value", "low", "high"], dtype=object))


def _scored(part, items):
    """Accuracy, macro precision, recall and F1 of one reader."""
    return stats.macro(
        scores.counts(scores.averaged(part.assign(evaluator="reader", source="run"), items)).sum(0)
    )
