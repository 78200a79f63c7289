"""Counts of judged items for a notebook: which replies fail, and where two judges differ.

Frames are those of `bedside.publish.judged_items.frame`: a row for each reply and judge.
"""

import itertools

import pandas as pd

from bedside import stats


def failures(verdicts, by):
    """Failures in percent, with counts of scored and unscored replies, by the columns `by`.

    Intervals are those of `stats.share`, over units; NaN for a single unit.
    """
    lines = {}
    for key, part in verdicts.groupby(by, sort=False):
        scored = part.dropna(subset="right")
        units = (scored["paper"] + " " + scored["unit"]).to_numpy()
        share = stats.share(~scored["right"].astype(bool), units)
        lines[key] = {
            "failures, %": 100 * share.value,
            "low": 100 * share.low,
            "high": 100 * share.high,
            "scored": len(scored),
            "unscored": len(part) - len(scored),
        }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis(by)


def disagreements(verdicts):
    """Where two judges differ: {"a and b": (number of replies that both graded, frame)}.

    The frame has both values for the replies on which they differ. Pairs of judges without a common
    reply are left out.
    """
    graded = verdicts[verdicts["status"] == "graded"]
    wide = graded.pivot(index="id", columns="judge", values="value")
    found = {}
    for a, b in itertools.combinations(wide, 2):
        both = wide[[a, b]].dropna()
        if len(both):
            found[f"{a} and {b}"] = len(both), both[both[a] != both[b]]
    return found
