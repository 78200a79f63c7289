"""MedDialBench: how far selection at baseline can lower accuracy when kept cases are run again."""

import numpy as np

STEPS = 1000  # of the grid of a case's chances


def expected_again(kept: float, accuracy: float, models: int = 5) -> tuple[float, float]:
    """Least and most accuracy to expect on kept cases in new baseline dialogues (shares).

    As `regression`, but a case's chance of a right diagnosis, which all models share, may have any
    distribution. kept: the share of cases that at least one of the models diagnosed; accuracy:
    their mean on the kept ones. A linear program over a grid of chances: of a case with chance t,
    (1 - t)^models are lost, and again t of the kept ones are right. ValueError if none fits.
    """
    from scipy.optimize import linprog

    t = np.linspace(0, 1, STEPS + 1)
    never = (1 - t) ** models
    given = np.vstack([np.ones_like(t), t, never])
    values = [1, kept * accuracy, 1 - kept]
    ends = []
    for side in (1, -1):
        found = linprog(side * t * (1 - never), A_eq=given, b_eq=values, bounds=(0, None))
        if not found.success:
            raise ValueError(f"no distribution keeps {kept} with an accuracy of {accuracy}")
        ends.append(side * found.fun / kept)
    return float(ends[0]), float(ends[1])
