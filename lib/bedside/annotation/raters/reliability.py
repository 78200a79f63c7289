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


def agreement(given, task, rng, reference=None):
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
    theirs = _apart(own, own[:0] if reference is None else reference)
    every = pd.concat([own, theirs]) if len(theirs) else own
    rows = []
    for name, wide, steps in _measures(every, tasks()[task]):
        raters, label = wide.columns, name not in ("", ANY)
        for a, b in itertools.combinations(raters, 2):
            rows += _pair(a, b, wide, name, steps, rng)
        if label:
            continue
        mine = [r for r in raters if r not in set(theirs["rater"])]
        rows.append(_all(f"all {len(mine)} raters", wide[mine], name, steps, rng))
        if len(theirs):
            others, whose = raters.difference(mine), theirs["group"].iloc[0]
            here = wide[wide[mine].notna().any(axis=1)]
            alone = f"all {len(others)} {whose}"
            rows += [
                _all(alone, wide[others], name, steps, rng),
                _all(f"{alone}, on what is labelled here", here[others], name, steps, rng),
                _all(f"all {len(raters)} together", here, name, steps, rng),
            ]
    return frame(rows)


def _apart(own, theirs):
    """A study's labels, with raters renamed if an own rater has the same name."""
    taken = set(own["rater"])
    return theirs.assign(rater=[f"{r} of the study" if r in taken else r for r in theirs["rater"]])


def _measures(labels, task):
    """Yield (name, frame of rows by raters with value indices, indices on the scale) of a task."""
    keys = ["unit", "id", "part"]

    def wide(said):
        made = labels.assign(said=said).pivot(index=keys, columns="rater", values="said")
        return made.astype(float)

    places = {value: at for at, value in enumerate(values(task.name))}
    steps = [at for value, at in places.items() if value.lstrip("-").isdigit()]
    yield "", wide(labels["value"].map(places)), steps if task.ordered else []
    if task.labels:
        yield ANY, wide(labels["type"] != ""), []
    for _, label, _ in task.labels:
        yield label, wide(labels["type"].map(lambda t, label=label: label in t.split(JOINED))), []


def _pair(a, b, wide, name, steps, rng):
    """The table rows of two raters on one measure."""
    both = wide[[a, b]].dropna()
    if both.empty:  # of two batches
        return []
    if name not in ("", ANY) and both.any(axis=1).sum() < stats.LEAST:
        return []
    who, equal = f"{a} and {b}", share((both[a] == both[b]).tolist(), _units(both))
    if steps:
        both = both[both.isin(steps).all(axis=1)]
    x, y = (both[rater].astype(int).tolist() for rater in (a, b))
    scale = steps or sorted({*x, *y})
    how = {"weights": "quadratic" if steps else None, "units": _units(both)}
    kappa = stats.kappa(x, y, scale, **how) if x else NONE
    if min(len({*x}), len({*y})) == 1:  # a rater who always says the same
        kappa = (*kappa[:1], np.nan, np.nan, *kappa[3:])
    if name:
        return [Row(who, f"{name}: kappa", "run", *kappa)]
    return [Row(who, "equal, %", "run", *equal), Row(who, "kappa", "run", *kappa)]


def _all(who, wide, name, steps, rng):
    """Krippendorff's alpha of several raters on one measure."""
    seen = wide.where(wide.isin(steps)) if steps else wide
    seen, alpha = seen[seen.notna().sum(axis=1) >= 2], NONE
    if len(seen):
        level = "ordinal" if steps else "nominal"
        alpha = stats.krippendorff_alpha(seen.to_numpy().T, level=level, units=_units(seen))
    return Row(who, f"{name}: {ALPHA}" if name else ALPHA, "run", *alpha)


def _units(wide):
    return wide.index.get_level_values("unit").to_numpy()


def scores(given, task, rows, rng, reference):
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
