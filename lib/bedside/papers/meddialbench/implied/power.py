"""MedDialBench: readings of the claims on statistical power (limitations)."""

import functools

from bedside import stats
from bedside.read.claims import between, every, reading

from . import joined, powers, span

ENOUGH = 0.8  # the usual threshold; the paper's is missing from the text at hand


TESTS = {
    "exact": stats.mcnemar_power,
    "without correction": functools.partial(stats.mcnemar_power, exact=False),
}


def readings(run):
    """Readings of the claims on whether 85 cases suffice: {id: readings}."""
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
