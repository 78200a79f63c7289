"""Raters: labels of several people together, judges held against them, and rates corrected by what people said.

    given = labels("presupposition", rows)                 # all raters' files; rows of annotation.rows(document)
    agreement(given, "presupposition", rng)                # kappa and alpha with intervals
    settled = consensus(given)                             # whoever labels as ADJUDICATED decides where raters differ
    corrected(judged(rows, "presupposition"), settled, "1", rng)
    publish("presupposition", rows, given, settled)        # where the trust cards look for labels

Frames are long; a label of a task in which several choices hold counts as one yes or no for each choice.
"""

import csv
import itertools
import json
import os
import re
from pathlib import Path

from bedside import BedsideError, annotation, judges, paths, sources, stats
from bedside.annotation import JOINED, material
from bedside.rows import human_label as human, other_verdict as more, tasks
from bedside.store import digest

ADJUDICATED = "adjudicated"  # the rater whose labels settle what others disagree on
LABEL = [
    "id",
    "paper",
    "item",
    "part",
    "rater",
    "group",
    "value",
    "type",
    "spans",
    "reason",
    "seconds",
    "check",
]


def labels(task, rows, folder=None):
    """All raters' last labels of a task for rows whose text is still the one that was shown: a frame LABEL, one row a label.

    part: the choice, in a task in which several hold, else empty. check: a repetition (see `attention`). Files may be
    copies of each other: of a rater's labels for a row the latest counts. Labels for other texts are left out;
    `frame.attrs["left_out"]` counts them, `frame.attrs["damaged"]` names lines that can't be read.
    """
    import pandas as pd

    known, found, damaged = {row["id"]: row for row in rows}, [], {}
    for path in sorted(Path(folder or annotation.FOLDER).glob(f"{task}/*.jsonl")):
        records, faults = annotation.read(path)
        found, damaged = found + records, damaged | faults
    last = {
        (r["id"], r["rater"], r["check"]): r for r in sorted(found, key=lambda r: r["at"])
    }.values()
    current = [
        r
        for r in last
        if r["id"] in known and digest(material(known[r["id"]], tasks()[task])) == r["text_sha256"]
    ]
    made = [
        {**r, "part": part, "value": value}
        for r in current
        for part, value in _parts(task, r["value"])
    ]
    frame = pd.DataFrame(made, columns=LABEL).astype({"check": bool})
    frame.attrs = {"left_out": len(last) - len(current), "damaged": damaged}
    return frame


def _parts(task, value):
    """(part, value) of a label: itself, or a yes or no for each choice that may hold."""
    if not tasks()[task].several:
        return [("", value)]
    return [
        (choice, "yes" if choice in value.split(JOINED) else "no")
        for choice in tasks()[task].values
    ]


def values(task):
    """The values that a label of one part can have, in order."""
    return ["no", "yes"] if tasks()[task].several else sorted(tasks()[task].values)


def _share(hits, units, rng):
    """A share in percent as `tables.percent`; where units repeat (parts of one label), resampled by unit."""
    from bedside.tables import percent

    if len(set(units)) == len(hits):
        return percent(sum(hits), len(hits))
    i = stats.bootstrap([float(h) for h in hits], rng.spawn(1)[0], units=units)
    return 100 * i.value, 100 * i.low, 100 * i.high, i.n


def attention(given):
    """How each rater worked: table rows with labels, seconds an item (median), and repetitions answered as before, percent."""
    from bedside.tables import interval_rows, percent

    rows = []
    for rater, part in given.groupby("rater", sort=False):
        first = part[~part["check"]]
        items = first.drop_duplicates("id")
        both = part[part["check"]].merge(first, on=["id", "part"], suffixes=("", "_first"))
        same = (both["value"] == both["value_first"]).groupby(both["id"]).all()
        rows += [
            (rater, "labels", "run", len(items), None, None, None),
            (
                rater,
                "seconds an item, median",
                "run",
                items["seconds"].median(),
                None,
                None,
                len(items),
            ),
            (rater, "repetitions answered as before, %", "run", *percent(same.sum(), len(same))),
        ]
    return interval_rows(rows)


def agreement(given, task, rng):
    """Agreement of raters: table rows with the share of equal labels and kappa of each pair, and Krippendorff's alpha of all.

    Intervals resample items. Without two raters, or a common item, there is no number and n is 0; kappa and alpha of labels
    without variation have no interval (alpha no value): equal labels of one kind are no evidence of agreement.
    """
    import numpy as np

    from bedside.tables import interval_rows

    own = given[~given["check"] & (given["rater"] != ADJUDICATED)]
    place = {v: at for at, v in enumerate(values(task))}
    wide = (
        own.assign(value=own["value"].map(place))
        .pivot(index=["id", "part"], columns="rater", values="value")
        .astype(float)
    )
    units = wide.index.get_level_values("id").to_numpy()
    rows = []
    for a, b in itertools.combinations(wide.columns, 2):
        both = wide[[a, b]].notna().all(axis=1).to_numpy()
        x, y = (wide.loc[both, r].astype(int).tolist() for r in (a, b))
        rows.append(
            (
                f"{a} and {b}",
                "equal, %",
                "run",
                *_share([i == j for i, j in zip(x, y)], units[both], rng),
            )
        )
        i = (
            stats.kappa(
                x,
                y,
                list(place.values()),
                weights="quadratic" if tasks()[task].ordered else None,
                rng=rng,
                units=units[both],
            )
            if len(x)
            else None
        )
        rows.append((f"{a} and {b}", "kappa", "run", *(i or (np.nan, np.nan, np.nan, 0))))
    twice = wide.notna().sum(axis=1) >= 2
    level = "ordinal" if tasks()[task].ordered else "nominal"
    i = (
        stats.krippendorff_alpha(wide[twice].to_numpy().T, rng, level=level, units=units[twice])
        if twice.any()
        else None
    )
    rows.append(
        (
            f"all {wide.shape[1]} raters",
            "Krippendorff's alpha",
            "run",
            *(i or (np.nan, np.nan, np.nan, 0)),
        )
    )
    return interval_rows(rows)


def consensus(given):
    """One label for each row and part: id, part, value, by (adjudicated, all, majority), raters; disputed ones have value None and by "disputed".

    A majority is more than half of the raters of that row. A single rater's label counts as `all`.
    """
    import pandas as pd

    rows = []
    for (id, part), mine in given[~given["check"]].groupby(["id", "part"], sort=False):
        final, others = mine[mine["rater"] == ADJUDICATED], mine[mine["rater"] != ADJUDICATED]
        count = others["value"].value_counts()
        if len(final):
            value, by = final["value"].iloc[0], ADJUDICATED
        elif count.iloc[0] == len(others):
            value, by = count.index[0], "all"
        else:
            value, by = (
                (count.index[0], "majority")
                if 2 * count.iloc[0] > len(others)
                else (None, "disputed")
            )
        rows.append((id, part, value, by, len(others)))
    return pd.DataFrame(rows, columns=["id", "part", "value", "by", "raters"])


def differing(given, rows):
    """The rows on which raters differ and nobody has adjudicated yet, for a session of the rater ADJUDICATED."""
    own = given[~given["check"]]
    spread = own[own["rater"] != ADJUDICATED].groupby(["id", "part"])["value"].nunique()
    open_ = {id for id, _ in spread.index[spread > 1]} - set(
        own.loc[own["rater"] == ADJUDICATED, "id"]
    )
    return [row for row in rows if row["id"] in open_]


def judged(rows, task):
    """The judges' verdicts on a task's rows in the values of its labels: id, part, section, model, configuration, judge, status, value."""
    import pandas as pd

    made = []
    for row in (r for r in rows if tasks()[task].takes(r) and r["reply_status"] == ""):
        found = (
            row["verdicts"]
            if not tasks()[task].several
            else [v for v in row["more"] if v["task"] == tasks()[task].name]
        )
        for v in found:
            plain = v["value"] if tasks()[task].several else re.match(r"[\w-]*", v["value"])[0]
            for part, value in (
                _parts(task, plain)
                if v["status"] == "graded"
                else [(p, None) for p, _ in _parts(task, "")]
            ):
                made.append(
                    (
                        row["id"],
                        part,
                        row["section"],
                        row["model"],
                        row["configuration"],
                        v["judge"],
                        v["status"],
                        value,
                    )
                )
    return pd.DataFrame(
        made,
        columns=["id", "part", "section", "model", "configuration", "judge", "status", "value"],
    )


def against(judged, settled, task, rng):
    """Trust cards of the judges held against the raters' consensus, {judge: card}; a judge without a common row has none."""
    both = judged.merge(
        settled.dropna(subset=["value"]), on=["id", "part"], suffixes=("", "_label")
    )
    made = {
        name: judges.trust_card(
            part["value_label"],
            part.reset_index(drop=True),
            values(task),
            rng,
            tasks()[task].positive,
        )
        for name, part in both.groupby("judge", sort=False)
    }
    return {
        name: {"judge": name, "of": "replies", "labelled_by": "raters", **card}
        for name, card in made.items()
    }


def corrected(judged, settled, task, rng):
    """What a judge says and what it means, by judge, model and section: table rows in percent of the task's positive value.

    judge says: its share; Rogan-Gladen: corrected for the sensitivity and specificity that the raters' labels of all
    models show; prediction-powered: from this model's labels and verdicts together (`stats.prediction_powered`); raters:
    the labels alone. No value where there are no labels, or the judge does no better than chance. The two corrections
    take the parts of a label for independent.
    """
    from bedside.tables import interval_rows

    positive, rows = tasks()[task].positive, []
    every = judged[judged["status"] == "graded"].merge(
        settled[["id", "part", "value"]].rename(columns={"value": "label"}),
        on=["id", "part"],
        how="left",
    )
    every = every.assign(
        said=every["value"] == positive,
        true=every["label"] == positive,
        known=every["label"].notna(),
    )
    for name, mine in every.groupby("judge", sort=False):
        known = mine[mine["known"]]
        sens, spec = stats.sens_spec(known["true"], known["said"])
        for (section, model), part in mine.groupby(["section", "model"], sort=False):
            row, seen = f"{model}, {section}: {name}", part["known"]
            fixed = stats.corrected_rate(int(part["said"].sum()), len(part), sens, spec, rng)
            powered = stats.prediction_powered(
                part.loc[seen, "true"], part.loc[seen, "said"], part.loc[~seen, "said"]
            )
            rows.append(
                (row, "judge says", "run", *_share(part["said"].tolist(), part["id"].tolist(), rng))
            )
            rows += [
                (row, column, "run", *(100 * x for x in i[:3]), i.n)
                for column, i in (("Rogan-Gladen", fixed), ("prediction-powered", powered))
            ]
            rows.append(
                (
                    row,
                    "raters",
                    "run",
                    *_share(part.loc[seen, "true"].tolist(), part.loc[seen, "id"].tolist(), rng),
                )
            )
    return interval_rows(rows)


# ---- for trust cards and pages


def with_labels(content, folder=None):
    """A document's content (`rows.collect`) with all raters' labels at its rows, in the words of the verdicts."""
    rows, by_id = annotation.rows(content), {row["id"]: row for row in content["rows"]}
    for name, task in tasks().items():
        given = labels(name, rows, folder)
        for (id, rater), mine in given[~given["check"]].groupby(["id", "rater"], sort=False):
            row, first = by_id[id], mine.iloc[0]
            if task.several:  # not the main question, so nothing that a verdict could differ from
                shown = "; ".join(mine.loc[mine["value"] == "yes", "part"]) or "none"
                row["more"].append(more(rater, f"{name}, label", shown))
            elif all(h["by"].split(": ")[-1] != rater for h in row["human"]):  # else published
                value = task.words.get(first["value"], first["value"])
                row["human"].append(human(rater, value, first["type"], first["reason"]))
    return content


def publish(task, rows, given, settled, folder=None):
    """Write a task's labels to the source that its study reads them from; returns (file, labels written).

    One settled label a reply, disputed ones left out, or every rater's own, as the task says. The file is replaced whole,
    and removed if there are none. BedsideError if it can't be written; the old one stays then.
    """
    how, of = tasks()[task], {row["id"]: row for row in rows}
    first = given[~given["check"]]
    if how.each_rater:
        lines = [how.record(r) for r in first[first["rater"] != ADJUDICATED].itertuples()]
    else:
        who = first.groupby("id")["rater"].unique().map(lambda r: ", ".join(sorted(r)))
        lines = []
        for id, mine in settled.groupby("id", sort=False):
            if mine["value"].notna().all():
                value = dict(zip(mine["part"], mine["value"]))
                lines.append(how.record(of[id], value if how.several else value[""], who[id]))
    return _write(Path(folder or paths.EXTERNAL) / how.file, lines), len(lines)


def _write(path, lines):
    """Replace a file by these records in one step."""
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "w", newline="", encoding="utf-8") as f:
            if path.suffix == ".csv":
                names = list(lines[0]) if lines else []
                out = csv.DictWriter(f, names, lineterminator="\n")
                out.writeheader()
                out.writerows(lines)
            else:
                f.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        part.replace(path)
        if not lines:  # an empty file would be a source without columns
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
