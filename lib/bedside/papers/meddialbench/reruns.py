"""MedDialBench: how far selection at baseline can lower accuracy when kept cases are run again."""

import numpy as np

from bedside import stats

from .printed import MODELS

STEPS = 1000  # of the grid of a case's mean chance


def expected_again(kept: float, accuracy: float) -> tuple[float, float]:
    """Least and most mean accuracy to expect on kept cases in new baseline dialogues (shares).

    As `regression`, but the chances of a right diagnosis may differ among cases and models in any
    way; given them, dialogues are independent. kept: the share of cases that at least one model
    diagnosed; accuracy: the models' mean on them. A linear program: in a case whose chances have
    the mean t, no model is right with a probability of at most (1 - t)^models, if all are equal,
    and of at least 1 - models t or 0, if one takes as much as it can; all that is sought is linear
    in both. ValueError if nothing fits.
    """

    chance = np.linspace(0, 1, STEPS + 1)
    alike, apart = (1 - chance) ** len(MODELS), np.maximum(0, 1 - len(MODELS) * chance)
    t, never = np.tile(chance, 2), np.concatenate([alike, apart])
    parts, means = [t, never], [kept * accuracy, 1 - kept]
    ends = [stats.least_mean(side * t * (1 - never), parts, means, means) for side in (1, -1)]
    if None in ends:
        raise ValueError(f"no distribution keeps {kept} with an accuracy of {accuracy}")
    return ends[0] / kept, -ends[1] / kept


def regression(kept, accuracy):
    """Accuracy to expect on the kept cases in new baseline dialogues (share).

    Assumes that the dialogues which selected the cases are the reported ones, and that the cases'
    chances of a right diagnosis follow one beta distribution for all models, fitted to both
    arguments. kept: the share of cases that at least one model diagnosed (section 3.3); accuracy:
    mean accuracy on them. The difference from `accuracy` is regression to the mean: a drop of that
    size would occur without any adverse behaviour.
    """
    from scipy.optimize import brentq
    from scipy.special import betaln

    mean = kept * accuracy  # over all cases: in excluded ones no model is right

    def never(total):  # the share of cases that no model diagnoses
        a, b = mean * total, (1 - mean) * total
        return np.exp(betaln(a, b + len(MODELS)) - betaln(a, b))

    total = brentq(lambda t: never(t) - (1 - kept), 1e-3, 1e3)
    a, b = mean * total, (1 - mean) * total
    return float((mean - np.exp(betaln(a + 1, b + len(MODELS)) - betaln(a, b))) / kept)
