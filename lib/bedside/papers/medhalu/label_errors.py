"""MedHalu: the fewest wrong labels that turn a lead; labels are the study's truth (2.3)."""

import numpy as np

from bedside import stats

ACCURACY, MACRO_F1 = 0, 3  # of `stats.macro`
FINE = 201  # steps of either kind of wrong label


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
