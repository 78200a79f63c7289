"""MedDialBench: the quantities and functions that the tests in data/claims may use."""

import functools
import itertools
import re
from typing import Any

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run
from bedside.stats.rounded import TIE, Rounded, Verdict, comparison

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
    released = run.profile == "public"
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
        **(of_released(run) if released else dict.fromkeys(RELEASED)),
    }


def exact(values: Any) -> Rounded:
    """Numbers without rounding."""
    return Rounded(values, values, values)


def table(run: Run, number: int, digits: Any) -> Rounded:
    """A printed table, rows by columns; digits: of all columns, or by column."""
    rows = run.published(f"Table {number}")
    found = rows.pivot(index="row", columns="column", values="value")
    found = found.loc[rows["row"].unique(), rows["column"].unique()]
    half = 0.5 * 10.0 ** -(pd.Series(digits) if isinstance(digits, dict) else digits)
    return Rounded(found - half, found, found + half)


def of_design(paper: designs.Design) -> dict[str, Any]:
    """What follows from the paper's design alone."""
    pairs = printed.combinations(paper)
    levels = {"extreme": paper.extreme, "all": paper.adverse}
    pathway = {
        f"{p}_{k}": printed.on_pathway(paper, p, v)
        for p in ("pollution", "deficit")
        for k, v in levels.items()
    }
    return {
        **pathway,
        "cases": N,
        "drawn": DRAWN,
        "models": len(MODELS),
        "configurations": len(paper.configurations()),
        "adverse": paper.adverse,
        "singles": [BASELINE, *paper.adverse],
        "lied": [c for c in pairs if c in LIED],
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
    at = {d: paper.of(d)[1:] for d in paper.dimensions}
    harms = {
        s: {c: printed.excess(s, c, v, share.T).mean() for c, v in pairs.items()} for s in SCALES
    }
    return {
        "right": exact(right),
        "acc": exact(100 * share),
        "lost": exact(lost),
        "moderate": exact(pd.DataFrame({d: lost[a] for d, (a, _) in at.items()})),
        "extreme": exact(pd.DataFrame({d: lost[b] for d, (_, b) in at.items()})),
        "oe": exact(printed.over_expected(right, pairs)),
        "harms": exact(pd.DataFrame(harms)),
        "no_interaction": lambda: _additive(right),
    }


def _additive(right):
    """Whether one effect a model and one a configuration account for all accuracies (logit).

    Deviance can show interaction, but not its absence.
    """
    import statsmodels.api as sm
    from scipy.special import chdtrc, chdtri

    k, (rows, columns) = right.stack().to_numpy(float), right.shape
    of_rows = np.repeat(np.eye(rows), columns, axis=0)
    effects = np.hstack([of_rows, np.tile(np.eye(columns)[:, 1:], (rows, 1))])
    fitted = sm.GLM(np.column_stack([k, N - k]), effects, family=sm.families.Binomial()).fit()
    deviance, free = fitted.deviance, fitted.df_resid
    p = float(chdtrc(free, deviance))
    # if a case's answers correlate by r, chance gives a deviance 1 - r times as large
    alike = max(0, 1 - deviance / chdtri(free, 0.05))
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
        half, found = 0.5 * 10.0**-digits, row(section, name)
        low, high = found["low"], found["high"]
        return Rounded(low - half, (low + high) / 2, high + half)

    def spans(values, section, name):
        low, high = (
            printed.span([end]).split("-")[0] for end in row(section, name)[["low", "high"]]
        )
        told = printed.span(np.ravel(values.value))
        return Verdict(told == f"{low}-{high}", told)

    return {
        "text": lambda section, name, column="value": row(section, name)[column],
        "rounded": lambda section, name, digits, column="value": Rounded.printed(
            row(section, name)[column], digits
        ),
        "said": said,
        "spans": spans,
    }


def of_released(run: Run) -> dict[str, Any]:
    """What only the released cases know."""
    cases = osce(run).set_index("item")
    young, out = int(cases["patient"].str.contains(YOUNG, case=False).sum()), DRAWN - N
    patient, history = cases.loc["osce-079", ["patient", "history"]]
    record = cases.at["osce-084", "history"]
    denials = " ".join(re.findall(r"[Dd]en(?:ies|ied) [^.]*", record))
    case = run.load("agentclinic")["OSCE_Examination"].iloc[78]  # osce-079
    tests = {k.replace("_", " "): plain(v) for k, v in case["Test_Results"].items()}
    return {
        "released_cases": len(cases),
        "too_young": Rounded(max(0, young - out), young, min(young, N)),
        "patient_079": [
            int(re.search(r"\d+", patient)[0]),
            int(re.search(r"(\d+) minutes", history)[1]),
            patient.split()[-1],
            *re.findall("going to bed", history),
        ],
        "told_079": "told" if MANOEUVRE in plain(case["Patient_Actor"]).lower() else "not told",
        "tested_079": [
            f"{k}, {v.split(',')[0].lower()}" for k, v in tests.items() if MANOEUVRE in k.lower()
        ],
        "denied_084": [x for x in INVENTED if x in denials],
        "named_084": [x for x in [DRUG] if x in record],
    }


RELEASED = ("released_cases too_young patient_079 told_079 tested_079 denied_084 named_084").split()


# ---- functions that tests call


def which(of: Any) -> list[str]:
    """Of which it is surely true."""
    sure = comparison(of).sure
    return [*sure.index[sure]]


def largest(x: Rounded) -> Any:
    """The label of the largest number, or of the largest of each row; of equal ones all."""
    if x.value.ndim > 1:
        return [largest(exact(row)) for _, row in x.value.iterrows()]
    return " or ".join(x.value.index[x.value > x.value.max() - TIE])


def lead(x: Rounded) -> Rounded:
    """By how much the largest number of each row is ahead of the next one."""
    return exact(
        x.value.apply(lambda row: row.nlargest(2).iloc[0] - row.nlargest(2).iloc[1], axis=1)
    )


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
    active = [len(levels) for levels in paper.configurations().values()]
    rooms = [times * active.count(k) for k in range(len(KINDS))]
    most = sum(min(n, room) for n, room in zip(drawn[[*KINDS]], rooms))
    return Rounded(len(KINDS), most, most)


def mean_ratio(turns: Rounded, coverage: Rounded, longest: float) -> Rounded:
    """Mean coverage per turn of dialogues that have these means, by model.

    A dialogue has 1 to `longest` turns. The ratio is linear in coverage, so dialogues that cover
    nothing or everything suffice for the extremes.
    """
    each = np.tile(np.arange(1, int(longest) + 1), 2)  # twice: covering all, and nothing
    all_of_it = np.repeat([1.0, 0.0], int(longest))
    ends = {}
    for m in turns.value.index:
        means = ([getattr(x, end)[m] for x in (turns, coverage)] for end in ("low", "high"))
        parts = [each, all_of_it], *means
        found = [stats.least_mean(side * all_of_it / each, *parts) for side in (1, -1)]
        if None in found:
            raise ValueError(f"no dialogues have the turns and the coverage of {m}")
        ends[m] = found[0], -found[1]
    low, high = (pd.Series({m: e[k] for m, e in ends.items()}) for k in (0, 1))
    return Rounded(low, coverage.value / turns.value, high)


def power(before: Rounded, after: Rounded, exact: bool = True) -> Rounded:
    """McNemar's power at a loss, from the least to the most that overlaps allow, by model."""
    x, y = before.value, after.value
    ends = {m: sorted(printed.power_ends(x[m], y[m], exact=exact)) for m in x.index}
    low, high = (pd.Series({m: e[k] for m, e in ends.items()}) for k in (0, 1))
    return Rounded(low, (low + high) / 2, high)


FUNCTIONS = {
    f.__name__: f for f in (which, largest, lead, spread, behind, whole_number, mean_ratio, power)
}
