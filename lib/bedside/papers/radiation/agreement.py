"""Radiation: can the printed recalls of Tables 1 to 4, 6 and 7 come from the same lists?"""

from itertools import product

import numpy as np
import pandas as pd

from bedside.stats.rounded import Verdict

from .data import FREQUENCIES, ONSETS
from .printed import ROUNDED, all_scores, wide

WAYS = ("levels", "effects", "entries")  # the ways to average: what counts once in a mean recall
ENOUGH = 0.001  # a smaller misfit counts as none


def misfits(run, reference, sites):
    """`misfit` for all ways to average: frame six, seven, model, whole, alone.

    six, seven: the ways of Tables 6 and 7. alone: the misfit without Tables 1 to 4, whose matches
    may be from another run of the matcher.
    """
    parts = []
    for six, seven in product(WAYS, WAYS):
        found = {
            name: misfit(run, reference, sites, six, seven, name == "alone")
            for name in ("whole", "alone")
        }
        parts.append(pd.DataFrame(found).assign(six=six, seven=seven))
    return pd.concat(parts).rename_axis("model").reset_index()


def misfit(run, reference, sites, six, seven, alone=False):
    """The least amount beyond rounding by which some printed recall must be off, by model.

    The unknowns are the mean recalls of each site's cells of onset and frequency, between 0 and 1.
    The mean recall over the four regimes (Tables 1 to 4) and the recalls by onset and by frequency
    (Tables 6 and 7) are linear in them. A linear program finds the smallest amount by which some
    recall must be off, which is 0 if all can hold. six, seven: of WAYS. alone: Tables 6 and 7 only.
    sites: of the patients.
    """
    from scipy.optimize import linprog

    onset, frequency, scores = wide(run, "Table 6"), wide(run, "Table 7"), all_scores(run)
    parts = _means(reference, pd.Series(sites).value_counts(normalize=True), six, seven)
    allowed = [ROUNDED * 5 / 4, *[ROUNDED] * (len(parts) - 1)]  # one of four is a sum of two
    used = slice(int(alone), None)
    parts, allowed = parts[used], np.array(allowed[used])
    by_one = -np.ones((len(parts), 1))
    bounds = np.block([[parts, by_one], [-parts, by_one]])
    goal = [*np.zeros(parts.shape[1]), 1]
    found = {}
    for model in onset.index:
        overall = np.mean([s.loc[model, "Recall"] for s in scores.values()])
        said = np.array([overall, *onset.loc[model], *frequency.loc[model]][used])
        limits = [*said + allowed, *allowed - said]
        done = linprog(goal, A_ub=bounds, b_ub=limits, bounds=[(0, 1)] * len(goal))
        found[model] = round(done.fun, 6)
    return pd.Series(found)


def _means(reference, share, six, seven):
    """Weights of the cells in each mean recall over patients: of all, by onset, by frequency.

    share: of the patients, by site. Returns an array (means, cells).
    """
    count = reference.groupby(["site", "onset", "frequency"]).size()
    # a site without a patient weighs nothing
    whole = [share.get(s, 0) * n / count[s].sum() for (s, *_), n in count.items()]
    by_onset = [weights(count, share, level, six) for level in ONSETS]
    by_frequency = [weights(count, share, level, seven) for level in FREQUENCIES]
    return np.array([whole, *by_onset, *by_frequency])


def weights(count, share, level, way):
    """Weights of the cells in the mean recall within an onset or a frequency; their sum is 1.

    count: of effects, by site, onset and frequency (cells,). share: of the patients, by site. way:
    of WAYS; levels and effects count once in each patient's recall.
    """
    found, mine = np.zeros(len(count)), {}
    for place, (site, *levels) in enumerate(count.index):
        if site in share.index and level in levels:
            mine.setdefault(site, []).append(place)
    for site, places in mine.items():
        w = np.ones(len(places)) if way == "levels" else count.iloc[places].to_numpy(float)
        found[places] = share[site] * (w if way == "entries" else w / w.sum())
    return found / found.sum()


def fit(found: pd.DataFrame, way: str = "") -> Verdict:
    """Can all printed recalls hold, if both tables were averaged in a way, or each in its own?

    found: `misfits`. If Tables 6 and 7 fit together, another run of the matcher may explain the
    rest.
    """
    if way:
        part = found[(found["six"] == way) & (found["seven"] == way)]
    else:
        mixed = found[found["six"] != found["seven"]].groupby(["six", "seven"])
        part = mixed.get_group(mixed["alone"].sum().idxmin())
    part = part.set_index("model")
    alone, whole = _off(part["alone"]), _off(part["whole"])
    told = f"{alone}; {'the same' if alone == whole else whole} with Tables 1 to 4"
    apart = (part[["alone", "whole"]] > ENOUGH).any()
    return Verdict(False if apart["alone"] else None if apart["whole"] else True, told)


def _off(values):
    """The misfits of models in words, the largest first."""
    off = values[values > ENOUGH].sort_values(ascending=False)
    if off.empty:
        return "none off"
    more = f", {len(off) - 1} more by up to {off.iloc[1]:.3f}" if len(off) > 1 else ""
    return f"{off.index[0]} off by {off.iloc[0]:.3f}{more}"
