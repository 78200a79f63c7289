"""How consistent raters are, and how they agree with each other and with a study's own raters."""

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.annotation.labelling import JOINED, tasks
from bedside.annotation.log import REFUSALS
from bedside.read.checks import groups, numbers
from bedside.write.tables import Row, frame, percent, share

from .together import asked, first_labels, handled, own_labels, said, values

NONE = (np.nan, np.nan, np.nan, 0)
ALPHA = "Krippendorff's alpha"
ANY = "any label"


def attention(given):
    """Each rater's work as table rows.

    Labels, refusals by kind, seconds per item (median), and repetitions answered as before, in
    percent.
    """
    rows = []
    for rater, mine in groups(numbers(given, ["seconds"]), "rater", ["id"], ["part"]):
        items = handled(mine).drop_duplicates("id")
        labelled = first_labels(items)
        # a repetition whose first label is gone, as of a text that has changed, can't be compared
        again = (
            mine[mine["repetition"]]
            .assign(said=said)
            .merge(
                handled(mine).assign(said=said),
                on=["id", "part"],
                suffixes=("", "_first"),
                validate="one_to_one",
            )
        )
        same = (again["said"] == again["said_first"]).groupby(again["id"]).all()
        refused = [
            Row(rater, words, "run", (items["refused"] == why).sum())
            for why, words in REFUSALS.items()
        ]
        rows += [
            Row(rater, "labels", "run", len(labelled)),
            *refused,
            Row(rater, "seconds an item, median", "run", items["seconds"].median(), n=len(items)),
            Row(rater, "repetitions answered as before, %", "run", *percent(same.sum(), len(same))),
        ]
    return frame(rows)


def agreement(given, task, reference=None):
    """Agreement of raters: table rows.

    Equal labels in percent and kappa for each pair, and Krippendorff's alpha for all. On a scale
    kappa has quadratic weights and alpha is ordinal; values that are no numbers are not steps of
    the scale. If a task has further labels, kappa and alpha are also given for whether any of them
    holds, and kappa for each label that a pair gave to at least stats.LEAST rows.

    reference: from `together.reference`. Each own rater is then also paired with each of the
    study's raters, and these with each other on everything they labelled, as a yardstick. Alpha is
    also given for the study's raters, on everything and on the rows labelled here, and for all
    raters together.

    Intervals are over units. Two raters without a common row have no row of their own; if nobody
    has one, alpha has no number and n is 0.
    Kappa and alpha of labels without variation have no interval (alpha no value), since equal
    labels of one kind are no evidence of agreement.
    """
    own = own_labels(given)
    theirs = own[:0] if reference is None else reference
    mine, rows = list(dict.fromkeys(sorted(own["rater"]))), []
    theirs = theirs.assign(rater=[f"{r} of the study" * (r in mine) or r for r in theirs["rater"]])
    others = sorted({*theirs["rater"]})
    every = pd.concat([own, theirs]) if others else own
    for name, wide, steps in _measures(every, tasks()[task]):
        for a, b in itertools.combinations(wide.columns, 2):
            rows += _pair(wide[[a, b]].dropna(), name, steps)
        alphas = {f"all {len(mine)} raters": wide[mine]}
        if others:
            whose = f"all {len(others)} {theirs['group'].iloc[0]}"
            here = wide[wide[mine].notna().any(axis=1)]
            alphas |= {whose: wide[others], f"{whose}, on what is labelled here": here[others]}
            alphas[f"all {len(wide.columns)} together"] = here
        if name in ("", ANY):
            rows += [_alpha(who, part, name, steps) for who, part in alphas.items()]
    return frame(rows)


def _measures(labels, task):
    """Yield (name, frame of rows by raters with value indices, indices on the scale) of a task."""

    def wide(said):
        keys = ["unit", "id", "part"]
        made = labels.assign(said=said).pivot(index=keys, columns="rater", values="said")
        return made.astype(float)

    places = {value: at for at, value in enumerate(values(task.name))}
    steps = [at for value, at in places.items() if value.lstrip("-").isdigit()]
    yield "", wide(labels["value"].map(places)), steps if task.ordered else []
    held = labels["type"].str.split(JOINED)
    if task.labels:
        yield ANY, wide(labels["type"] != ""), []
    for _, label, _ in task.labels:
        yield label, wide([label in types for types in held]), []


def _pair(both, name, steps):
    """The table rows of two raters on one measure. both: the rows that both labelled."""
    rare = name not in ("", ANY) and both.any(axis=1).sum() < stats.LEAST
    if both.empty or rare:  # of two batches
        return []
    a, b = both.columns
    who, units = f"{a} and {b}", both.index.get_level_values("unit").to_numpy()
    equal = share((both[a] == both[b]).tolist(), units)
    if steps:
        both = both[both.isin(steps).all(axis=1)]
        units = both.index.get_level_values("unit").to_numpy()
    x, y = (both[rater].astype(int).tolist() for rater in (a, b))
    how = {"weights": "quadratic" if steps else None, "units": units}
    kappa = stats.kappa(x, y, steps or sorted({*x, *y}), **how) if x else NONE
    if min(len({*x}), len({*y})) == 1:  # a rater who always says the same
        kappa = (*kappa[:1], np.nan, np.nan, *kappa[3:])
    if name:
        return [Row(who, f"{name}: kappa", "run", *kappa)]
    return [Row(who, "equal, %", "run", *equal), Row(who, "kappa", "run", *kappa)]


def _alpha(who, wide, name, steps):
    """Krippendorff's alpha of several raters on one measure, as a table row."""
    seen = wide.where(wide.isin(steps)) if steps else wide
    seen, alpha = seen[seen.notna().sum(axis=1) >= 2], NONE
    if len(seen):
        level, units = "ordinal" if steps else "nominal", seen.index.get_level_values("unit")
        alpha = stats.krippendorff_alpha(seen.to_numpy().T, level=level, units=units.to_numpy())
    return Row(who, f"{name}: {ALPHA}" if name else ALPHA, "run", *alpha)


def scores(given, task, rows, reference):
    """Mean score of each model's replies: table rows, a column for each own rater.

    Further columns have the study's raters, on the rows labelled here and on all rows. Intervals
    are over units.
    """
    models = {row["id"]: row["model"] for row in asked(rows, task)}
    own = own_labels(given)
    here, whose = reference[reference["id"].isin(own["id"])], "".join(reference["group"][:1])
    parts = {rater: mine for rater, mine in own.groupby("rater")}
    parts |= {f"{whose}, on the same": here, f"{whose}, all": reference}
    made = []
    for column, labels in parts.items():
        scored = labels[labels["value"].str.isdigit().astype(bool)]
        for model, mine in scored.groupby(scored["id"].map(models)):
            mean = stats.mean(mine["value"].astype(float), mine["unit"])
            made.append(Row(model, column, "run", *mean))
    return frame(made)
