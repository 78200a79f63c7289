"""A run's main results under other reasonable choices: a specification curve for each study.

    made = choices.of(studies)     # of `comparison.Study`, the runs' for one study
    made.rows, made.null           # one result under each combination; what chance would give

The result is the lead of one model over another on the items that both answered, or the score of a
single model. The null swaps both models' replies within a unit (patient, question, case), for all
combinations alike.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from bedside import stats
from bedside.keep import store

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from .comparison import Study

RIGHT = "right, %"  # of a study's scores: 1 and 0, in percent
CHOICES = {  # the first of each is how scores are counted elsewhere
    "without a verdict": ("left out", "a failure"),
    "cut": ("as it stands", "left out"),
    "each counts alike": ("item", "unit", "part"),
}
COLUMNS = ["result", "study", "measure", *CHOICES, "value", "p", "n"]
SWAPS = 999


class Curve(NamedTuple):
    """One result: its rows, one a combination; the null's limits by place; p of their median.

    rows: COLUMNS. null: low and high between which 95% of the swaps lie, in order of size; None for
    a single model. joint: the share of swaps whose median is as far from 0.
    """

    rows: pd.DataFrame
    null: pd.DataFrame | None
    joint: float


def of(same: list[Study]) -> list[Curve]:
    """The results of a study's runs: of each pair of models judged alike, or of each model alone.

    Shares of right replies are told in percent, as elsewhere.
    """
    import pandas as pd

    made = []
    by: dict[tuple, list] = {}
    for s in same:
        by.setdefault(s.of, []).append(s)
    for those in by.values():
        replies = pd.concat([s.replies[s.replies["main"]] for s in those], ignore_index=True)
        means = {
            way: _means(replies, *way) for way in itertools.product(*list(CHOICES.values())[:2])
        }
        models = list(replies["model"].unique())
        results = list(itertools.combinations(models, 2)) or [(m,) for m in models]
        made += [_curve(those[0], replies, means, result) for result in results]
    return made


def _means(replies, lost, cut):
    """The mean score of each item's replies by model, with these choices: items x models."""
    if cut == "left out":
        replies = replies[~replies["truncated"].astype(bool)]
    score = replies["score"].fillna(0) if lost == "a failure" else replies["score"]
    return score.groupby([replies["item"], replies["model"]]).mean().unstack()


def _curve(study, replies, means, models):
    import numpy as np
    import pandas as pd

    mine = replies[replies["model"].isin(models)]
    about = mine.groupby("item", sort=False).agg(dict.fromkeys(["unit", *study.by[:1]], "first"))
    units = pd.factorize(about["unit"], use_na_sentinel=False)[0]
    ways, weighed = list(itertools.product(*CHOICES.values())), []
    ways = [way for way in ways if study.by or way[2] != "part"]  # questions may have no groups
    for *counted, alike in ways:
        each = means[tuple(counted)].reindex(index=about.index, columns=list(models))
        values = each.to_numpy(float)
        values = values[:, 0] if len(models) == 1 else values[:, 0] - values[:, 1]
        weighed.append(
            _weighed(values, {"item": None, "unit": units}.get(alike, about.iloc[:, -1]))
        )
    each = np.array([np.bincount(units, w, units.max() + 1) for w, _ in weighed])  # ways x units
    scale, value = 100 if study.score == RIGHT else 1, each.sum(axis=1)
    rows = pd.DataFrame(ways, columns=list(CHOICES)).assign(
        result=" minus ".join(models),
        study=study.name,
        measure=study.score,
        value=[scale * v if n else None for v, (_, n) in zip(value, weighed)],
        n=[n for _, n in weighed],
        p=None,
    )
    if len(models) == 1 or not len(units):
        return Curve(rows[COLUMNS], None, float("nan"))
    return _tested(rows, each, scale)


def _weighed(values: np.ndarray, groups) -> tuple[np.ndarray, int]:
    """What each item adds to the mean in which groups count alike, and the number of items."""
    import numpy as np
    import pandas as pd

    known = ~np.isnan(values)
    place = (
        np.arange(len(values)) if groups is None else pd.factorize(groups, use_na_sentinel=False)[0]
    )
    size = np.bincount(place[known], minlength=place.max(initial=-1) + 1)
    weight = known / np.maximum(size[place], 1) / max((size > 0).sum(), 1)
    return np.where(known, values, 0) * weight, int(known.sum())


def _tested(rows, each, scale):
    import numpy as np
    import pandas as pd

    seed = store.digest([rows.at[0, "study"], rows.at[0, "result"]])
    signs = np.random.default_rng(int(seed[:8], 16)).choice([-1, 1], (SWAPS, each.shape[1]))
    value, swapped = each.sum(axis=1), signs @ each.T  # ways; swaps x ways
    p = stats.two_sided_p(value, swapped)
    rows["p"] = [x if n else None for x, n in zip(p, rows["n"])]
    low, high = scale * stats.ordered_band(swapped)
    joint = float(stats.two_sided_p(np.median(value), np.median(swapped, axis=1)))
    return Curve(rows[COLUMNS], pd.DataFrame({"low": low, "high": high}), joint)
