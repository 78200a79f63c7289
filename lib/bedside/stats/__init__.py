"""Pure, seeded statistics: arrays in, numbers out; chance comes only from the `rng` passed.

    stats.share(correct, patient)                    # Interval(value, low, high, n)
    stats.mean(recall, patient, scale=(0, 1))        # over patients
    stats.mcnemar(correct_a, correct_b)              # exact two-sided p
    stats.kappa(judge, physician, ["no", "partly", "yes"], weights="quadratic")

Nothing here knows a file, a study or a table's columns: rows are made in `write.tables` and in the
studies, and a judge is held against labels in `judging.trust_cards`.

Values are scored values: NaN is a ValueError except where a docstring says otherwise. Shares lie
between 0 and 1. `units` labels what repeats (patient, question, case); the rows of a unit are drawn
together. "As ..." in a docstring names the function with which tests compare ours.
"""
# ruff: noqa: F401

from .agreement import gwet, kappa, krippendorff_alpha
from .classification import harmonic, macro, ratio
from .implied import grim, grim_counts, mcnemar_range, most_kappa, permutation_range
from .intervals import (
    LEAST,
    SEVERAL,
    Interval,
    balanced_accuracy,
    corrected_rate,
    difference,
    mean,
    mean_of,
    median,
    prediction_powered,
    sens_spec,
    share,
    wilson,
)
from .judge_errors import true_share, turning_sensitivity
from .matrices import (
    LARGEST,
    SCORES,
    SECONDS,
    Ends,
    Fits,
    kappa_range,
    matrices,
    meet,
    score,
)
from .printed import drop_noise, least_mean, span, wholes
from .reported import paired_p, share_intervals
from .resampling import ordered_band, paired_permutation, two_sided_p
from .spread import components
from .tests import (
    detectable,
    holm,
    mcnemar,
    mcnemar_counts,
    mcnemar_power,
    mde_paired,
    two_proportions,
)
