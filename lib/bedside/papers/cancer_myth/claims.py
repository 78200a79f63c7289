"""Cancer-Myth: the quantities and functions that the tests in data/claims may use."""

import functools
from typing import Any

import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Rounded, Verdict

from . import data, pipeline, printed, released, survey_claims, versions
from .printed import ANNOTATED, FAIR, QUESTIONS
from .v2 import claims as mitigations


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run doesn't have.

    Of the released answers that is all: `released.names` has it, in notebook 07.
    """
    mine = run.notebook == pipeline.NOTEBOOK  # others need not wait for it
    return {
        **of_figures(run),
        **of_sets(run),
        **of_judge(run),
        **versions.names(run),
        **(pipeline.names(run) if mine else dict.fromkeys(pipeline.RELEASED)),
        **dict.fromkeys((*released.ANSWERS, *released.GENERATED)),
        "questions": QUESTIONS,
        "fair": FAIR,
        "text": functools.partial(published.value, run.paper),
        **survey_claims.names(run),
        **mitigations.names(run),
        **FUNCTIONS,
    }


def of_figures(run: Run) -> dict[str, Any]:
    """What follows from Figures 6 and 7, and from the summary's main results."""
    said = run.published("v1 Figure 6a").pivot(index="row", columns="column", values="value")
    newer = run.published("v2 Main results").pivot(index="row", columns="column", values="value")
    cells = printed.cross_model(run).pivot(index="row", columns="column", values="value")
    rated = run.published("v1 text 2.2").set_index("row")["value"].drop("Social workers")
    rate2, (least, most) = printed.rates(run, 2), printed.bar_sums(run)
    sums, sizes = Rounded(least, (least + most) / 2, most), printed.category_sizes(run)
    ways, read = printed.grades(run), (least == most).all()
    fitting = pd.Series({m: len(found) for m, found in ways.items()})

    @functools.cache
    def possible(a, b):
        return printed.possible_ways(run, a, b)

    def p(way, a, b):
        low, high = possible(a, b)[way]
        return Rounded(low, high, high)

    return {
        "pcr": Rounded.printed(said["PCR"], 1),
        "pcs": Rounded.printed(said["PCS"], 2),
        "pcr2": Rounded.printed(rate2, rate2.map(printed.decimals)),
        "newer_pcr": Rounded.printed(newer["PCR"], 1),
        "newer_pcs": Rounded.printed(newer["PCS"], 2),
        "cross": Rounded.printed(cells, 2),
        "rated": Rounded.printed(rated, 2),
        "counts": counts(said["PCR"]),
        "counts2": counts(rate2),
        # a bar that may be of several sums leaves open whether its model's grades fit
        "ways": Rounded(fitting.where(read, 0), fitting, fitting),
        "sums": sums,
        "by_category": sums.map(lambda s: s.div(sizes, axis=0)),
        "p": p,
    }


def range_of(found: dict[str, list]) -> Rounded:
    """The least to the most of several numbers, by name."""
    low, high = (pd.Series({k: end(v) for k, v in found.items()}) for end in (min, max))
    return Rounded(low, low, high)


def counts(rates: pd.Series) -> pd.Series:
    """How many counts out of QUESTIONS print as each rate, in percent."""
    return rates.map(lambda r: len(stats.grim_counts(r, QUESTIONS, printed.decimals(r))))


def of_sets(run: Run) -> dict[str, Any]:
    """How many questions there are, by set, generator and category."""
    shares = run.published("v1 Figure 5b").set_index("row")["value"]
    said = run.published("v1 text 4.1").set_index(["row", "column"])["value"]
    whole = run.profile == "public"
    return {
        "written": range_of({k: stats.grim_counts(v, QUESTIONS, 1) for k, v in shares.items()}),
        "sizes": printed.category_sizes(run),
        "candidates": said["candidates"].drop("all"),
        "released": len(data.questions(run, whole=True)) if whole else None,
        "plain": len(data.plain_questions(run, whole=True)) if whole else None,
    }


def of_judge(run: Run) -> dict[str, Any]:
    """What Table 1 and appendix C.1 allow: the judge's agreement with people."""
    shares = run.published("v1 Table 1").set_index(["row", "column"])["value"]
    categories = stats.grim_counts(shares["Categorisation", "label agreement"], ANNOTATED, 2)
    alike = {"grades": len(printed.judge_counts(run)), "categories": len(categories)}
    return {
        "agreeing": pd.Series(alike),  # how many counts print as the shares
        "matched": Rounded.printed(shares.loc["Presupposition correction"], 2),
        **printed.kappas(printed.possible_confusions(run)),
    }


# ---- functions that tests call


def prints_p(p: Rounded, as_printed: float) -> Verdict:
    """Whether p rounds to a printed one, of one digit."""
    told = f"p = {p.low:.1g}" if p.low == p.high else f"p from {p.low:.1g} to {p.high:.2g}"
    found = equals(p.map(lambda x: float(f"{x:.0e}")), as_printed)
    return Verdict(found.holds, told, p.low, p.high)


def equals(x: Rounded, number: float) -> Verdict:
    """Whether what may be anything between two ends is a number."""
    inside = x.low <= number <= x.high
    told = f"{x.low:g}" if x.low == x.high else f"{x.low:g} to {x.high:g}"
    return Verdict(
        None if inside and x.low < x.high else bool(inside), told, float(x.low), float(x.high)
    )


FUNCTIONS = {f.__name__: f for f in (prints_p, equals)}
