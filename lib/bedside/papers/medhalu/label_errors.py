"""MedHalu: what wrong labels do to scores, since the labels are the study's truth (section 2.3)."""

import numpy as np
import pandas as pd

from bedside import stats

from .printed import classes, text

ACCURACY, MACRO_F1 = 0, 3  # of `stats.macro`
FINE = 201  # steps of either kind of wrong label


def behind_labels(rates, share, sensitivity, specificity):
    """True counts (..., 4), as shares of answers, behind rates (2,) held against wrong labels.

    share: of answers that are labelled hallucinated. sensitivity, specificity: of the labels for
    the truth, at random given the truth. NaN where no truth gives these rates, give or take ROOM.
    """
    found, accepted = rates
    with np.errstate(divide="ignore", invalid="ignore"):
        true = stats.true_share(share, sensitivity, specificity)
        over = (1 - true) * (1 - specificity) / share  # of the labels "hallucinated", the wrong
        under = true * (1 - sensitivity) / (1 - share)  # of the others
        shrunk = 1 - over - under
        s = ((1 - under) * found - over * (1 - accepted)) / shrunk
        c = 1 - ((1 - over) * (1 - accepted) - under * found) / shrunk
    made = np.stack([true * s, (1 - true) * (1 - c), true * (1 - s), (1 - true) * c], axis=-1)
    possible = (true > 0) & (true < 1) & (np.minimum(s, c) > -ROOM) & (np.maximum(s, c) < 1 + ROOM)
    return np.where(possible[..., None], made, np.nan)


ROOM = 0.02  # of a rate, for the rounding of printed scores


def fewest_wrong(ours, theirs, score=MACRO_F1):
    """The least share of labels that must be wrong for a lead to turn, and NaN if none turns it.

    ours, theirs: counts (4,) as shares of all answers, ours with the higher score (of
    `stats.macro`). Wrong labels are those with which ours alone agrees; how many there are isn't
    known, so as many as both allow. Macro F1 within 1/200 of either kind's limit; accuracy exact,
    since each wrong label closes its gap by two answers, and enough of them are there.
    """
    if score == ACCURACY:
        return float(ours[0] + ours[3] - theirs[0] - theirs[3]) / 2
    kinds = min(ours[0], theirs[2]), min(ours[3], theirs[1])  # labelled hallucinated, and others
    h, o = np.meshgrid(*(np.linspace(0, most, FINE) for most in kinds))
    moved = np.stack([h, -h, -o, o], axis=-1)
    a = stats.macro(ours - moved)[..., score]
    b = stats.macro(theirs + moved[..., [3, 2, 1, 0]])[..., score]
    wrong = (h + o)[a <= b + 1e-12]
    return float(wrong.min()) if wrong.size else float("nan")


def turning(gaps, sensitivity):
    """The first of the labels' sensitivities (k,) at which a gap (k, m) is 0, by column; or NaN."""
    crossed = gaps[1:] * gaps[:-1] < 0
    at, here = crossed.argmax(axis=0), np.arange(gaps.shape[1])
    before, after = gaps[at, here], gaps[at + 1, here]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = before / (before - after)
    found = sensitivity[at] + part * (sensitivity[at + 1] - sensitivity[at])
    return np.where(crossed.any(axis=0), found, np.nan)


def known(run, middle):
    """Errors that labels would have: dataset, label, source, sensitivity, specificity, differ.

    First, labels that differ from experts' verdicts as often as the printed kappa says, with equal
    margins (section 2.3). Second, labels held against the experts' verdicts of Table 6; middle: of
    `regions.evaluators`. differ: the share of answers whose label isn't the experts' verdict.
    """
    rows, kappa = [], text(run, "text 2.3")["expert annotators"]
    for d, (p, n) in classes(run).items():
        q = p / (p + n)
        off = (1 - kappa) * q * (1 - q)  # of either kind, as a share of all answers
        near = 1 - off / q, 1 - off / (1 - q)
        rows.append((d, f"kappa {kappa:.2f}", "published", *near, 2 * off))
        s, c = middle["Experts", d]
        right = q * s / (q * s + (1 - q) * (1 - c)), (1 - q) * c / ((1 - q) * c + q * (1 - s))
        unlike = q * (1 - s) + (1 - q) * (1 - c)
        rows.append((d, "experts right", "recomputed", *right, unlike))
    columns = ["dataset", "label", "source", "sensitivity", "specificity", "differ"]
    return pd.DataFrame(rows, columns=columns)
