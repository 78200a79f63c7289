"""MedDialBench: readings of the claims on statistical power (limitations)."""

import functools

from bedside import stats
from bedside.read.claims import between, every, outcome

from . import powers, span

ENOUGH = 0.8  # the usual threshold; the paper's is missing from the text at hand


TESTS = {
    "exact": stats.mcnemar_power,
    "without correction": functools.partial(stats.mcnemar_power, exact=False),
}


def readings():
    """Readings of the claims on whether 85 cases suffice: {id: readings}."""
    enough, short = {}, {}
    for name, power in TESTS.items():
        lies, silence = (
            {
                model: sorted(ends)
                for model, _, *ends in powers(level, power=power).itertuples(index=False)
            }
            for level in ("fabricating", "withholding")
        )
        told = ", ".join(f"{m} {span(v, 2)}" for m, v in lies.items())
        holds = every(between(*v, least=ENOUGH) for v in lies.values())
        enough[f"McNemar's test, {name}"] = outcome(told, holds)
        most = ", ".join(f"{m} {v[1]:.2f}" for m, v in silence.items())
        short_of = silence["Qwen"][1] < ENOUGH
        short[f"McNemar's test, {name}"] = outcome(f"at most {most}", short_of)
    return {"md-power": enough, "md-power-deficit": short}
