"""MedDialBench: readings of the claims on inquiry, coverage and misled doctors (4.4 and 6)."""

import itertools

from bedside import stats
from bedside.read.claims import between, every, outcome, reading

from . import EFFICIENT, EXHAUSTIVE, drops, on_pathway, share, span, wide

LOST = "C4, loss of coverage, {} models"  # in section 4.4, with three decimals
FABRICATED = ("C1", "C2", "C3")
EXTREME, FOUR = "the extreme levels", "all four levels"  # of a pathway's two dimensions


def of_strategies(run, paper):
    """Readings of the claims on inquiry against deficit and pollution: {id: readings}."""
    lost = drops(run)
    pools = {
        (pathway, name): on_pathway(paper, pathway, levels)
        for pathway in ("deficit", "pollution")
        for name, levels in ((EXTREME, paper.extreme), (FOUR, paper.adverse))
    }
    text = run.published("text 4.4").set_index("row")[["low", "high"]]
    slow, fast = (text.loc[LOST.format(x)].tolist() for x in ("exhaustive", "efficient"))
    told = "{}-{} against {}-{}".format(*slow, *fast)
    return {
        "md-strategy-deficit": {
            "coverage lost under C4, as printed": outcome(told, slow[1] < fast[0]),
            **_losses(lost, pools, "deficit", ("C4", "withholding", "dominant")),
        },
        "md-strategy-pollution": _losses(
            lost, pools, "pollution", ("fabricating", *FABRICATED, "complete_denial")
        ),
        "md-strategy-contrast": _contrast(lost, pools),
        "md-misled": _misled(run, paper),
        "md-coverage-c4": {},
        "md-gemini-impatient": _impatient(run, fast),
    }


def _losses(lost, pools, pathway, configurations):
    """Whether exhaustive models lose less accuracy on average than efficient ones under deficit.

    Under pollution: whether they don't. By configuration, and by mean of the pathway's levels.
    """
    made = {}
    ways = {c.removeprefix("complete_"): [c] for c in configurations}
    ways |= {name: pools[pathway, name] for name in (EXTREME, FOUR)}
    for name, levels in ways.items():
        slow, fast = (lost.loc[levels, models].mean() for models in (EXHAUSTIVE, EFFICIENT))
        told = " against ".join(", ".join(f"{v:.1f}" for v in x) for x in (slow, fast))
        less = stats.drop_noise(fast.mean() - slow.mean()) > 0
        made[f"accuracy lost under {name}"] = outcome(
            f"{told} points", less == (pathway == "deficit")
        )
    return made


def _contrast(lost, pools):
    """Whether exhaustive models are ahead under deficit, and by more than under pollution."""

    def gap(*configurations):  # how much less the exhaustive models lose
        mean = lost.loc[list(configurations)].mean()
        return stats.drop_noise(mean[EFFICIENT].mean() - mean[EXHAUSTIVE].mean())

    compared = {
        "accuracy, withholding and fabricating": (("withholding",), ("fabricating",)),
        "accuracy, C4 and C3": (("C4",), ("C3",)),
        "accuracy, C4 and the mean of C1 to C3": (("C4",), FABRICATED),
    } | {
        f"accuracy, {name} of both": (pools["deficit", name], pools["pollution", name])
        for name in (EXTREME, FOUR)
    }
    gaps = {name: [gap(*c) for c in both] for name, both in compared.items()}
    return {
        name: outcome(f"{a:+.1f} under deficit, {b:+.1f} points under pollution", a > 0 and a > b)
        for name, (a, b) in gaps.items()
    }


def _misled(run, paper):
    """Whether so many can be misled, given that only wrong diagnoses can be."""
    wrong = 100 - share(run)
    said = run.published("text 6").set_index("row").loc["misled rate under pollution"]
    least, most = said["low"] - 0.5, said["high"] + 0.5
    pools = {
        "fabricating": ["fabricating"],
        EXTREME: on_pathway(paper, "pollution", paper.extreme),
        FOUR: on_pathway(paper, "pollution", paper.adverse),
        "denial": ["complete_denial"],
    }
    shares = {name: wrong.loc[levels].mean() for name, levels in pools.items()}
    return {
        f"share of all dialogues, {name}": outcome(
            f"{span(v)}% are wrong", every(between(0, x, least, most) for x in v)
        )
        for name, v in shares.items()
    }


def _impatient(run, losses):
    """Whether Gemini's coverage can be the lowest, given the efficient models' coverage in C4."""
    said = run.published("text 4.4").set_index("row").at["Gemini, impatient", "value"]
    covered = wide(run, "Table 2").loc[EFFICIENT, "Coverage"]
    left = [min(covered - list(x)) for x in itertools.permutations(losses)]
    low, high = min(left) - 0.001, max(left) + 0.001  # both terms have three decimals
    told = f"{said} beside {max(left):.3f} or {min(left):.3f} under C4"
    holds = between(low, high, least=said - 0.0005)
    return reading(
        told, holds, low, high, "lower than what C4 leaves of the efficient models' coverage"
    )
