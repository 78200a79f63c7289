"""Checks of the statistics' inputs: scored numbers, booleans, counts; a ValueError names faults."""

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 10_000  # of what is drawn: sign flips, posteriors


def require(*conditions: tuple[bool, str]) -> None:
    """Raise ValueError with the message of the first condition that is not met."""
    for met, message in conditions:
        if not met:
            raise ValueError(message)


def numbers(values: ArrayLike) -> np.ndarray:
    """Values as floats, all of them finite."""
    try:
        array = np.asarray(values, dtype=float)
    except TypeError as error:  # pandas.NA
        raise ValueError(f"pass scored values only: {error}") from None
    require((np.isfinite(array).all(), "pass scored values only: there are NaN or infinite ones"))
    return array


def booleans(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays (n,) of the same length as booleans; they may hold 0 and 1."""
    pair = [numbers(a), numbers(b)]
    shapes = {array.shape for array in pair}
    require((len(shapes) == 1 and pair[0].ndim == 1, f"need two arrays (n,), not {shapes}"))
    require((np.isin(pair, (0, 1)).all(), "need booleans: some values are neither 0 nor 1"))
    return pair[0] == 1, pair[1] == 1


def by_unit(rows: np.ndarray, units: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the rows of each unit (in the order of the labels), and the unit of each row (n,)."""
    if units is None:  # every row its own
        return rows, np.arange(len(rows))
    if not (isinstance(units, np.ndarray) and units.dtype.kind == "i"):  # which is fast as it is
        units = np.asarray(units, dtype=object)  # else NaN among strings becomes the label 'nan'
    labelled = units.shape == (len(rows),) and not (units != units).any()
    require((labelled, f"units: need {len(rows)} labels, no NaN"))
    names, unit = np.unique(units, return_inverse=True)
    sums = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(sums, unit, rows)
    return sums, unit
