"""MedDialBench: what its claims on power come to (limitations)."""

import numpy as np

from bedside import stats
from bedside.claims import between, every, reading

from . import joined, powers, span

CRITICAL = 3.841458820694124  # of chi squared with one degree, at 5%
ENOUGH = 0.8  # the usual bound; the paper's is lost from the text at hand


def chi_squared_power(n, lost, won):
    """Power of McNemar's test without correction, as `stats.mcnemar_power` of the exact one."""
    from scipy.special import gammaln, xlogy

    b, both = np.triu_indices(n + 1)  # all b, c with b + c <= n
    c, rest = both - b, n - both
    ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(rest + 1)
    same = max(0.0, 1 - lost - won)
    chance = np.exp(ways + xlogy(b, lost) + xlogy(c, won) + xlogy(rest, same))
    return float(chance[(b - c) ** 2 > CRITICAL * both].sum())


TESTS = {"exact": stats.mcnemar_power, "without correction": chi_squared_power}


def readings(run):
    """Readings of the claims that 85 cases suffice: {id: readings}."""
    enough, short = [], []
    for name, power in TESTS.items():
        lies, silence = (
            {
                r.model: sorted([r.fewest, r.most])
                for r in powers(run, level, power=power).itertuples()
            }
            for level in ("fabricating", "withholding")
        )
        told = ", ".join(f"{m} {span(v, 2)}" for m, v in lies.items())
        holds = every(between(*v, least=ENOUGH) for v in lies.values())
        enough.append(reading(told, holds, name=f"McNemar's test, {name}"))
        most = ", ".join(f"{m} {v[1]:.2f}" for m, v in silence.items())
        short.append(
            reading(f"at most {most}", silence["Qwen"][1] < ENOUGH, name=f"McNemar's test, {name}")
        )
    return {"md-power": joined(enough), "md-power-deficit": joined(short)}
