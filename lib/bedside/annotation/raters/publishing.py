"""Labels where others see them: at the rows of explorer and notebooks, in the studies' sources."""

import csv
import json
import os
from pathlib import Path

from bedside import BedsideError, paths, sources
from bedside.annotation.blind import rows as with_blocks
from bedside.rows import human_label, other_verdict, tasks

from .together import first_labels, labels, own_labels


def with_labels(content, folder=None):
    """A document's content with all raters' labels at its rows, in the words of the verdicts.

    content: as of `rows.collect`; it is changed in place. folder: where labels are.
    """
    rows, by_id = with_blocks(content), {row["id"]: row for row in content["rows"]}
    for name, task in tasks().items():
        first = first_labels(labels(name, rows, folder))
        for (id, rater), mine in first.groupby(["id", "rater"], sort=False):
            row = by_id[id]
            if task.several:  # not the main question, so nothing that a verdict could differ from
                held = "; ".join(mine.loc[mine["value"] == "yes", "part"]) or "none"
                row["more"].append(other_verdict(rater, f"{name}, label", held))
            elif not _published(row, rater):
                label = mine.iloc[0]
                value = task.words.get(label["value"], label["value"])
                row["human"].append(human_label(rater, value, label["type"], label["reason"]))
    return content


def _published(row, rater):
    """Whether a row has a rater's label already, from the source that it was published to."""
    return any(h["by"].split(": ")[-1] == rater for h in row["human"])


def publish(task, rows, given, settled, folder=None):
    """Write a task's labels to the source that its study reads; returns (file, labels written).

    One settled label a reply, disputed ones left out, or every rater's own, as the task says. The
    file is replaced whole, and removed if there are none. BedsideError if it can't be written; the
    old one stays then.
    """
    how = tasks()[task]
    if how.each_rater:
        records = [how.record(label) for label in own_labels(given).itertuples()]
    else:
        records = _settled_records(how, rows, given, settled)
    return _write(Path(folder or paths.EXTERNAL) / how.file, records), len(records)


def _settled_records(task, rows, given, settled):
    """A record for each reply of which all parts are settled."""
    by_id, records = {row["id"]: row for row in rows}, []
    raters = first_labels(given).groupby("id")["rater"].unique()
    for id, mine in settled.groupby("id", sort=False):
        if mine["value"].notna().all():
            value = dict(zip(mine["part"], mine["value"]))
            by = ", ".join(sorted(raters[id]))
            records.append(task.record(by_id[id], value if task.several else value[""], by))
    return records


def _write(path, records):
    """Replace a file by these records in one step; without records there is none."""
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "w", newline="", encoding="utf-8") as f:
            if path.suffix == ".csv":
                out = csv.DictWriter(f, list(records[0]) if records else [], lineterminator="\n")
                out.writeheader()
                out.writerows(records)
            else:
                f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
        part.replace(path)
        if not records:  # an empty file would be a source without columns
            path.unlink()
    except OSError as e:
        raise BedsideError(
            f"{paths.rel(path)}: labels can't be written ({e.strerror}); free the disk or fix its"
            " permissions, then publish again"
        ) from e
    finally:
        part.unlink(missing_ok=True)
        sources.forget()
    return path
