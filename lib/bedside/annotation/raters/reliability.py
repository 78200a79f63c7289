"""How steadily raters worked, and how far they agree beyond chance."""

import itertools

import numpy as np

from bedside import stats
from bedside.rows import tasks
from bedside.tables import Row, frame, percent

from .rates import share
from .together import first_labels, own_labels, values

NONE = (np.nan, np.nan, np.nan, 0)


def attention(given):
    """How each rater worked: table rows.

    Labels, seconds an item (median), and repetitions answered as before, in percent.
    """
    rows = []
    for rater, mine in given.groupby("rater", sort=False):
        first = first_labels(mine)
        items = first.drop_duplicates("id")
        again = mine[mine["repetition"]].merge(first, on=["id", "part"], suffixes=("", "_first"))
        same = (again["value"] == again["value_first"]).groupby(again["id"]).all()
        seconds = items["seconds"].median()
        steady = percent(same.sum(), len(same))
        rows += [
            Row(rater, "labels", "run", len(items)),
            Row(rater, "seconds an item, median", "run", seconds, n=len(items)),
            Row(rater, "repetitions answered as before, %", "run", *steady),
        ]
    return frame(rows)


def agreement(given, task, rng):
    """Agreement of raters: table rows.

    Equal labels in percent and kappa of each pair, and Krippendorff's alpha of all.

    Intervals resample items. Without two raters, or a common item, there is no number and n is 0;
    kappa and alpha of labels without variation have no interval (alpha no value): equal labels of
    one kind are no evidence of agreement.
    """
    place = {value: at for at, value in enumerate(values(task))}
    ordered = tasks()[task].ordered
    labels = own_labels(given)
    wide = (
        labels.assign(value=labels["value"].map(place))
        .pivot(index=["id", "part"], columns="rater", values="value")
        .astype(float)
    )
    units = wide.index.get_level_values("id").to_numpy()
    rows = []
    for a, b in itertools.combinations(wide.columns, 2):
        both = wide[[a, b]].notna().all(axis=1).to_numpy()
        x, y = (wide.loc[both, rater].astype(int).tolist() for rater in (a, b))
        equal = share([i == j for i, j in zip(x, y)], units[both])
        how = {"weights": "quadratic" if ordered else None, "rng": rng, "units": units[both]}
        kappa = stats.kappa(x, y, list(place.values()), **how) if x else NONE
        rows.append(Row(f"{a} and {b}", "equal, %", "run", *equal))
        rows.append(Row(f"{a} and {b}", "kappa", "run", *kappa))
    twice, alpha = wide.notna().sum(axis=1) >= 2, NONE
    if twice.any():
        level, seen = "ordinal" if ordered else "nominal", wide[twice].to_numpy().T
        alpha = stats.krippendorff_alpha(seen, rng, level=level, units=units[twice])
    rows.append(Row(f"all {wide.shape[1]} raters", "Krippendorff's alpha", "run", *alpha))
    return frame(rows)
