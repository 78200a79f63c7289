"""MedDialBench: the quantities and functions that the tests in data/claims may use."""

import functools
import itertools
import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run
from bedside.stats.rounded import TIE, Rounded, Verdict, exact

from . import design as designs
from . import printed
from .data import osce, plain
from .design import BASELINE
from .printed import DRAWN, EFFICIENT, EXHAUSTIVE, MODELS, SCALES, N

DIGITS = {"Acc": 1, "Turns": 1, "Coverage": 3, "Cov/Turn": 3}  # of Table 2
RATIOS = {"Mean Acc": 1, "Mean drop": 1, "O/E": 2}  # of Table 4
JUDGES = {"Correct Acc": 0, "Misled Acc": 0, "Reps": np.inf}  # of Table 6, which counts repetitions
LIED = ["C1", "C2", "C3"]  # the pairs with fabricating (section 4.3)
KINDS = ("Baseline", "Single-dimension", "Dual-dimension")  # of configurations, by active levels
# in descriptions of patients who are too young to be interviewed
YOUNG = r"newborn|infant|\b(?:day|week|month)-?s?-old|^[1-3]-year|g \("
MANOEUVRE = "dix-hallpike"  # in the dialogue of case 079 (appendix E)
INVENTED, DRUG = ("headache", "loose stool"), "haloperidol"  # of case 084 (section 5, appendix D)


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have."""
    paper = designs.read(run)  # the paper's design, whatever the run's
    return {
        **of_design(paper),
        **of_counts(printed.counts().T, paper),
        **of_marks(printed.marks(run)),
        "T2": table(run, 2, DIGITS).of(MODELS),
        **{f"T{n}": table(run, n, digits) for n, digits in ((4, RATIOS), (6, JUDGES), (9, 1))},
        **{f"T{n}": printed.wide(run, f"Table {n}") for n in (1, 5, 7)},
        "T3": table(run, 3, 1).map(lambda t: t.T.loc[MODELS]),
        "fitting": pd.Series({k: len(v) for k, v in printed.fits().items()}),
        "covered": functools.partial(covered, printed.wide(run, "Table 7").N, paper),
        **of_text(run),
        **FUNCTIONS,
        **(of_released(run) if run.profile == "public" else dict.fromkeys(RELEASED)),
    }


def table(run: Run, number: int, digits: Any) -> Rounded:
    """A printed table, rows by columns; digits: of all columns, or by column."""
    rows = run.published(f"Table {number}")
    found = rows.pivot(index="row", columns="column", values="value")
    found = found.loc[rows["row"].unique(), rows["column"].unique()]
    return Rounded.printed(found, pd.Series(digits) if isinstance(digits, dict) else digits)


def of_design(paper: designs.Design) -> dict[str, Any]:
    """What follows from the paper's design alone."""
    pairs = printed.combinations(paper)
    pathway = {
        f"{p}_{k}": [n for n in levels if paper.pathway(n) == p]
        for p in ("pollution", "deficit")
        for k, levels in {"extreme": paper.extreme, "all": paper.adverse}.items()
    }
    return {
        **pathway,
        "cases": N,
        "drawn": DRAWN,
        "models": len(MODELS),
        "configurations": len(paper.configurations()),
        "adverse": paper.adverse,
        "singles": [BASELINE, *paper.adverse],
        "lied": LIED,
        "other": [c for c in pairs if c not in LIED],
        "combined": [*pairs],
        "extreme_only": pd.Series({c: set(v) <= set(paper.extreme) for c, v in pairs.items()}),
        "efficient": EFFICIENT,
        "exhaustive": EXHAUSTIVE,
    }


def of_counts(right: pd.DataFrame, paper: designs.Design) -> dict[str, Any]:
    """What follows from the right diagnoses. right: of N, models by configurations."""
    share, pairs = right / N, printed.combinations(paper)
    lost = (100 * right.rsub(right[BASELINE], axis=0) / N).drop(columns=BASELINE)
    harms = {
        s: {c: printed.excess(s, c, v, share.T).mean() for c, v in pairs.items()} for s in SCALES
    }
    severity = {
        name: pd.DataFrame({d: lost[paper.of(d)[k]] for d in paper.dimensions})
        for k, name in ((1, "moderate"), (2, "extreme"))
    }
    numbers = {"right": right, "acc": 100 * share, "lost": lost, **severity}
    numbers |= {"oe": printed.over_expected(right, pairs), "harms": pd.DataFrame(harms)}
    return {k: exact(v) for k, v in numbers.items()} | {"no_interaction": lambda: _additive(right)}


def _additive(right):
    """Whether one effect a model and one a configuration account for all accuracies (logit).

    Deviance can show interaction, but not its absence.
    """
    from scipy.stats import chi2
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    cells = right.rename_axis("model").rename_axis("configuration", axis=1).stack()
    cells = cells.rename("right").reset_index().assign(wrong=lambda f: N - f["right"])
    terms = "right + wrong ~ model + configuration"
    fitted = GLM.from_formula(terms, cells, family=Binomial()).fit()
    deviance, free = fitted.deviance, fitted.df_resid
    p = float(chi2.sf(deviance, free))
    # if a case's answers correlate by r, chance gives a deviance 1 - r times as large
    alike = max(0, 1 - deviance / chi2.isf(0.05, free))
    told = f"deviance {deviance:.0f} on {free:.0f} degrees, p = {p:.2f}"
    told += f"; below 0.05 if a case's answers correlate by {alike:.2f}"
    return Verdict(False if p < 0.05 else None, told)


def of_marks(marks: pd.DataFrame) -> dict[str, Any]:
    """Which cells are marked, and the p that their counts allow: models by configurations."""
    starred, low, high = (
        marks.pivot(index="model", columns="configuration", values=v).loc[MODELS]
        for v in ("starred", "low", "high")
    )
    return {"starred": starred, "p": Rounded(low, low, high)}


def of_text(run: Run) -> dict[str, Any]:
    """Functions that read numbers in the text: as printed, with their rounding, a range as one."""

    @functools.cache
    def row(section, name):
        rows = run.published(f"text {section}")
        return rows[rows["row"] == name].iloc[0]

    def said(section, name, digits):
        low, high = (Rounded.printed(row(section, name)[end], digits) for end in ("low", "high"))
        return Rounded(low.low, (low.value + high.value) / 2, high.high)

    def spans(values, section, name):
        ends = [min(np.ravel(values.value)), max(np.ravel(values.value))]
        told, printed = (
            "-".join(f"{x:.1f}" for x in pair)
            for pair in (ends, row(section, name)[["low", "high"]])
        )
        return Verdict(told == printed, told)

    def text(section, name, column="value"):
        return row(section, name)[column]

    def rounded(section, name, digits, column="value"):
        return Rounded.printed(text(section, name, column), digits)

    return {"text": text, "rounded": rounded, "said": said, "spans": spans}


def of_released(run: Run) -> dict[str, Any]:
    """What only the released cases know."""
    cases = osce(run).set_index("item")
    young, out = int(cases["patient"].str.contains(YOUNG, case=False).sum()), DRAWN - N
    patient, history = cases.loc["osce-079", ["patient", "history"]]
    record = cases.at["osce-084", "history"]
    denials = " ".join(re.findall(r"[Dd]en(?:ies|ied) [^.]*", record))
    case = run.load("agentclinic")["OSCE_Examination"].iloc[78]  # osce-079
    tests = {k.replace("_", " "): plain(v) for k, v in case["Test_Results"].items()}
    age, minutes = re.search(r"\d+", patient)[0], re.search(r"(\d+) minutes", history)[1]
    place = re.findall("going to bed", history)
    return {
        "released_cases": len(cases),
        "too_young": Rounded(max(0, young - out), young, min(young, N)),
        "patient_079": [int(age), int(minutes), patient.split()[-1], *place],
        "told_079": "told" if MANOEUVRE in plain(case["Patient_Actor"]).lower() else "not told",
        "tested_079": [
            f"{k}, {v.split(',')[0].lower()}" for k, v in tests.items() if MANOEUVRE in k.lower()
        ],
        "denied_084": [x for x in INVENTED if x in denials],
        "named_084": [x for x in [DRUG] if x in record],
    }


RELEASED = ("released_cases too_young patient_079 told_079 tested_079 denied_084 named_084").split()


# ---- functions that tests call


def largest(x: Rounded) -> Any:
    """The label of the largest number, or of the largest of each row; of equal ones all."""
    if x.value.ndim > 1:
        return [largest(exact(row)) for _, row in x.value.iterrows()]
    return " or ".join(x.value.index[x.value > x.value.max() - TIE])


def lead(x: Rounded) -> Rounded:
    """By how much the largest number of each row is ahead of the next one."""
    first, second = np.sort(x.value, axis=1)[:, :-3:-1].T
    return exact(pd.Series(first - second, x.value.index))


def spread(x: Rounded) -> Rounded:
    """From the lowest to the highest of the models, in each column."""
    return exact(x.value.max() - x.value.min())


def behind(before: Rounded, after: Rounded) -> list[str]:
    """Who falls behind whom."""
    a, b = before.value, after.value
    pairs = itertools.permutations(a.index, 2)
    return [f"{m} behind {n}" for m, n in pairs if a[m] > a[n] and b[m] < b[n]]


def whole_number(percent: float, n: float) -> Verdict:
    """Can a whole number of n be a share that is printed with one decimal (GRIM)?"""
    fits = stats.grim_counts(percent, int(n), 1)
    return Verdict(bool(fits), ", ".join(f"{k} of {n:.0f}" for k in fits) or "none")


def covered(drawn: pd.Series, paper: designs.Design, times: int) -> Rounded:
    """How many configurations, each taken so many times, a sample by kind can cover."""
    kinds = Counter(len(levels) for levels in paper.configurations().values())
    most = sum(min(drawn[name], times * kinds[k]) for k, name in enumerate(KINDS))
    return Rounded(len(KINDS), most, most)


def mean_ratio(turns: Rounded, coverage: Rounded, longest: float) -> Rounded:
    """Mean coverage per turn of dialogues that have these means, by model.

    A dialogue has 1 to `longest` turns. The ratio is linear in coverage, so dialogues that cover
    nothing or everything suffice for the extremes.
    """
    turn = np.tile(np.arange(1, int(longest) + 1), 2)  # twice: covering all, and nothing
    covered = np.repeat([1.0, 0.0], int(longest))

    def mean(side, *means):
        found = stats.least_mean(side * covered / turn, [turn, covered], *means)
        if found is None:
            raise ValueError("no dialogues have these turns and this coverage")
        return side * found

    at = {
        m: ([turns.low[m], coverage.low[m]], [turns.high[m], coverage.high[m]])
        for m in turns.value.index
    }
    low, high = (pd.Series({m: mean(side, *means) for m, means in at.items()}) for side in (1, -1))
    return Rounded(low, coverage.value / turns.value, high)


def power(before: Rounded, after: Rounded, exact: bool = True) -> Rounded:
    """McNemar's power at a loss, from the least to the most that overlaps allow, by model."""
    ends = [
        sorted(printed.power_ends(x, y, exact=exact)) for x, y in zip(before.value, after.value)
    ]
    low, high = (pd.Series(end, before.value.index) for end in zip(*ends))
    return Rounded(low, (low + high) / 2, high)


FUNCTIONS = {
    f.__name__: f for f in (largest, lead, spread, behind, whole_number, mean_ratio, power)
}
