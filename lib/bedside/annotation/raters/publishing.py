"""Publishing labels: beside the rows of explorer and notebooks, and as sources of the studies."""

import json
from pathlib import Path

import pandas as pd

from bedside import BedsideError
from bedside.annotation.blind import rows as with_blocks
from bedside.annotation.labelling import JOINED, tasks
from bedside.annotation.log import REFUSALS
from bedside.publish.judged_items import human_label, other_verdict
from bedside.read import paths, prompts, sources

from .together import asked, first_labels, handled, labels, own_labels


def with_labels(content: dict, folder: Path | str | None = None) -> dict:
    """A document's content with all raters' labels beside its rows, in the words of the verdicts.

    Refusals, and labels on other than the main question, go with the verdicts on other questions,
    so that no judge counts as differing from them. content: from `judged_items.collect`; it is
    changed in place. folder: of the labels.
    """
    rows, by_id = with_blocks(content), {row["id"]: row for row in content["rows"]}
    for name, task in tasks().items():
        given = handled(labels(name, rows, folder))
        if given.empty:
            continue
        whose = {p["id"]: row["id"] for row in rows if task.takes(row) for p in task.asked(row)}
        for (id, rater), mine in given.groupby(["id", "rater"], sort=False):
            row, label = by_id[whose[id]], mine.iloc[0]
            if label["refused"] or task.several or task.split:
                piece = id.removeprefix(row["id"]).replace("#", ", part ")
                said = other_verdict(rater, f"{name}{piece}, label", _words(mine, task))
                row["more"].append({**said, "reason": prompts.clean(_reason(label))})
            # not from the source to which it was published
            elif all(h["by"].split(": ")[-1] != rater for h in row["human"]):
                value = _words(mine, task)
                row["human"].append(human_label(rater, value, label["type"], _reason(label)))
    return content


def _words(mine, task):
    """A rater's label of a row, in the words of the verdicts. mine: the label's parts."""
    label = mine.iloc[0]
    if label["refused"]:
        return REFUSALS[label["refused"]]
    if task.several:
        return JOINED.join(mine.loc[mine["value"] == "yes", "part"]) or "none"
    value = task.words.get(label["value"], label["value"])
    return f"{value}, {label['type']}" if task.labels and label["type"] else value


def _reason(label):
    """The reason and the source that a rater gave."""
    source = f"source: {label['source']}" if label["source"] else ""
    return "\n".join(filter(None, [label["reason"], source]))


def publish(task, rows, given, settled, folder=None, counted=None):
    """Write a task's labels to the source that its study reads; return (file, labels written).

    The task defines whether each reply gets one settled label, without disputed ones, or every
    rater's own. The whole file is replaced, and removed if there are no labels; so is the task's
    file of counts by `counted`, from `background`. Raises BedsideError if no study reads labels of
    the task, or if a file can't be written; the old one then stays.
    """
    how = tasks()[task]
    if not how.file:
        raise BedsideError(
            f"no study reads labels of the task {task!r}; they stay in data/external/annotations,"
            " and the cells above show their results"
        )
    if how.each_rater:
        records = [how.record(label) for label in own_labels(given).itertuples()]
    else:
        records = _settled_records(how, rows, given, settled)
    folder = Path(folder or paths.EXTERNAL)
    if how.counts and counted is not None:
        _write(folder / how.counts, counted.to_dict("records"))
    return _write(folder / how.file, records), len(records)


def _settled_records(task, rows, given, settled):
    """A record for each reply whose parts are all settled."""
    by_id, records = {row["id"]: row for row in asked(rows, task.name)}, []
    raters = first_labels(given).groupby("id")["rater"].unique()
    for id, mine in settled.groupby("id", sort=False):
        if mine["value"].notna().all():
            value = dict(zip(mine["part"], mine["value"]))
            by = ", ".join(sorted(raters[id]))
            records.append(task.record(by_id[id], value if task.several else value[""], by))
    return records


def _write(path, records):
    """Replace a file by these records; remove it if there are none: a source needs columns."""
    frame = pd.DataFrame(records)
    if path.suffix == ".csv":
        text = frame.to_csv(index=False, lineterminator="\n")
    else:
        text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    paths.write(path, text, durable=True) if records else path.unlink(missing_ok=True)
    sources.forget()
    return path
