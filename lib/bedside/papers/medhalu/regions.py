"""MedHalu: all pairs of rates that printed scores allow, be they of one rater or a mean of several.

Accuracy and macro recall are linear in both rates, macro precision and macro F1 aren't. A mean over
raters is a mean over points of the plane of both rates. Each point is replaced by the corners of
its cell in a grid, weighted so that rates, accuracy and macro recall stay as they are; the other
two scores move by no more than `_room`. So linear programs over the corners give the ends of a
region that holds all mean rates. It is an outer bound: part of it may be out of reach.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run

from .matrices import FITS
from .printed import (
    LLMS,
    PEOPLE,
    RATES,
    SIX,
    TEN,
    answers,
    by_row,
    hallucinated,
    rounded_rates,
    rounded_table,
    sample_share,
    share_errors,
)
from .scores import METRICS

STEPS = 40  # of the grid, along either rate
DIRECTIONS = 16  # in which a region's ends are sought
TOLD, ALL, NONE = " told", "flagging all", "flagging none"
RIVALS = {ALL: (1.0, 0.0), NONE: (0.0, 1.0)}  # they read nothing
SHARES = np.linspace(-1, 1, 5)  # of a sample: from two standard errors below Table 4's to two above


def every(run: Run) -> pd.DataFrame:
    """The corners of each row's region, of Tables 6 and 10.

    Columns: table, row, dataset, corner (from 0, counterclockwise), sensitivity and specificity;
    NaN and corner 0 where no mean prints so. Table 10 occurs twice, over Table 4's answers and,
    as "Table 10, sample", over a sample; people judged a sample. Some 15 s.
    """
    rows, share, errors = [], hallucinated(answers(run)), share_errors(run)
    for table, sampled in ((SIX, PEOPLE), (TEN, []), (f"{TEN}, sample", LLMS)):
        for (name, dataset), scores in by_row(run, table.partition(",")[0]).items():
            off = errors[dataset] * SHARES if name in sampled else np.zeros(1)
            found = corners(scores, share[dataset] + off)
            found = found if len(found) else np.full((1, 2), np.nan)
            rows += [(table, name, dataset, k, *at) for k, at in enumerate(found)]
    columns = ["table", "row", "dataset", "corner", "sensitivity", "specificity"]
    return pd.DataFrame(rows, columns=columns)


def corners(scores: dict[str, float], shares: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """The corners (k, 2) of a convex region with all mean rates whose mean scores print as these.

    scores: {metric as printed: value}; shares: of hallucinated answers, one for all raters. None
    if no mean prints so. Section 3.3.
    """
    found, ways = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]), []
    for share in shares:
        ways.append(_ends(scores, float(share), steps))
    if all(way is None for way in ways):
        return np.zeros((0, 2))
    most = np.max([way for way in ways if way is not None], axis=0)
    for direction, end in zip(_directions(), most):
        found = _clipped(found, direction, end)
    return found


def _clipped(corners: np.ndarray, direction: np.ndarray, end: float) -> np.ndarray:
    """The part of a convex polygon (k, 2) whose points have direction . point <= end."""
    over, made = corners @ direction - end, []
    for k, (here, there) in enumerate(zip(over, np.roll(over, -1))):
        a, b = corners[k], corners[(k + 1) % len(corners)]
        if here <= 0:
            made.append(a)
        if (here <= 0) != (there <= 0):
            made.append(a + (b - a) * here / (here - there))
    return np.array(made).reshape(-1, 2)


def _directions():
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _ends(scores, share, steps):
    """How far mean rates reach in each direction, (DIRECTIONS,); None if no mean prints so."""
    from scipy.optimize import linprog

    grid, made, room = _grid(share, steps)
    mine = [list(METRICS).index(m) for m in scores]
    made, room, printed = made[:, mine], room[:, mine], np.array([*scores.values()])
    least, most = (made - room).T, (made + room).T
    bounds = np.concatenate([least, -most]), np.concatenate([printed + FITS, FITS - printed])
    ends = []
    for direction in _directions():
        done = linprog(-grid @ direction, *bounds, np.ones((1, len(grid))), [1.0])
        if done.status:
            return None
        ends.append(-done.fun + 1e-9)
    return np.array(ends)


def _grid(share, steps):
    """Rates (k, 2), their four scores (k, 4), how far a cell's may be from its corners' mean."""
    rate = np.linspace(0, 1, steps + 1)
    s, c = np.meshgrid(rate, rate, indexing="ij")
    p, n = share, 1 - share
    made = stats.macro(np.stack([p * s, n * (1 - c), p * (1 - s), n * c], axis=-1))
    room = np.zeros_like(made)
    for k, base in ((1, (0, 0)), (3, (p, n))):  # macro precision and F1
        weight = 0.5 if k == 1 else 1
        cells = weight * (_room(p, n, base[0], rate) + _room(n, p, base[1], rate).T)
        wide = np.pad(cells, 1)
        room[..., k] = np.max([wide[:-1, :-1], wide[1:, :-1], wide[:-1, 1:], wide[1:, 1:]], axis=0)
    return np.column_stack([s.ravel(), c.ravel()]), made.reshape(-1, 4), room.reshape(-1, 4)


def _room(own, other, base, rate):
    """How far a / (a + b) may be from its interpolation in a cell (own rate by other rate).

    a = own x, b = base + other (1 - y): a class's precision, or half its F1. By the second
    derivatives, or by the ends in the cell if these are nearer; a class that is never predicted
    has 0.
    """
    a0, a1 = own * rate[:-1, None], own * rate[1:, None]
    b0, b1 = base + other * (1 - rate[None, 1:]), base + other * (1 - rate[None, :-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = (own**2 * 2 * b1 + other**2 * 2 * a1) / (a0 + b0) ** 3 * (rate[1] - rate[0]) ** 2 / 8
        reach = a1 / (a1 + b0) - a0 / (a0 + b1)
    return np.fmin(np.where(a0 + b0 > 0, bent, 1), np.where(a0 + b0 > 0, reach, 1))


class Evaluators(NamedTuple):
    """By (evaluator, base set): corners (k, 2), rates in the middle (2,), answers of each class.

    "GPT-4 told" has an expert's reason; "GPT-4 told (sample)" too, over a sample's answers. RIVALS
    flag every answer or none, so their rates have no error.
    """

    corners: dict
    middle: dict
    sizes: dict


def evaluators(run: Run, corners: pd.DataFrame) -> Evaluators:
    """Everyone of Tables 6 and 10 from the frame of `every`; the middle solves both linear scores.

    The middle of a region over a sample is that over Table 4's answers.
    """
    found, there = Evaluators({}, {}, {}), answers(run)
    part = (there * sample_share(run)).round().astype(int)
    middle = {t: rounded_rates(rounded_table(run, t), there).value for t in (SIX, TEN)}
    for (table, who, d), region in corners.groupby(["table", "row", "dataset"], sort=False):
        of, _, sample = table.partition(", ")
        name = who + TOLD * (of == TEN) + f" ({sample})" * bool(sample)
        few = sample or who in PEOPLE
        found.corners[name, d] = region[RATES].dropna().to_numpy()
        found.middle[name, d] = np.array([middle[of].at[who, (rate, d)] for rate in RATES])
        found.sizes[name, d] = (part if few else there).loc[d].to_numpy()
    for (rival, at), d in itertools.product(RIVALS.items(), there.index):
        found.corners[rival, d], found.middle[rival, d] = np.array([at]), np.array(at)
        found.sizes[rival, d] = np.array([np.inf, np.inf])
    return found
