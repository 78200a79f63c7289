"""What the released grades of eight systems say (Figures 6 and 7), beside the printed numbers."""

import functools
import itertools
from math import inf

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, normal, scored
from bedside.stats.rounded import Rounded, Verdict, exact
from bedside.write.results import means, points, published
from bedside.write.tables import COLUMNS, paired

from . import data, pipeline, scores
from .data import CATEGORIES
from .printed import ON, TESTED
from .systems import MOVED, SYSTEMS, checks, differing

PCS, RATES = {"PCS": "PCS"}, {"PCR": "PCR", "PCS": "PCS"}
SAID = {  # of the figures: the labels of their rows and columns, and what is measured
    "v1 Figure 6a": ("{model}", "{metric}", RATES),
    "v1 Figure 6b": (f"{{model}}{ON}{{generator}}", "{metric}", PCS),
    "v1 Figure 7": ("{category}", "{model}", PCS),
}
# of the printed p: its row in the text
PAIRS = {" vs ".join(sorted(pair)): " over ".join(pair) for pair in TESTED[:2]}


def beside(graded, run, figure):
    """A figure's printed rows and those of the released grades, over myths: a list of both."""
    row, column, measures = SAID[figure]
    ours = means(scores.counted(graded), measures, row, column, source="raw", scale=(-1, 1))
    return [published(run, figure), ours]


def own(graded):
    """PCS and PCR of systems that wrote questions, on their own and on other systems' questions."""
    wrote = graded[graded["model"].isin(graded["generator"])]
    whose = np.where(wrote["model"] == wrote["generator"], "own questions", "others' questions")
    wrote = scores.counted(wrote).assign(whose=whose)
    return means(wrote, RATES, "{model}, {whose}", source="raw", scale=(-1, 1))


def pairs(graded, run):
    """Tests between all pairs of systems, over questions and over myths, and the printed p.

    Over questions PCR has McNemar's exact test. Holm corrects over all p of one kind.
    """
    parts = []
    for unit, mine in {"questions": graded.assign(unit=graded["item"]), "myths": graded}.items():
        rows = scores.pairs(paired(mine, run), source="raw")
        is_p = rows["column"].str.contains(r" p\b")
        rows["column"] += np.where(is_p, f", over {unit}", "")
        parts.append(rows[is_p] if parts else rows)
    said = run.published("v1 text 4.3").set_index("row")["value"]
    printed = {(row, "p"): said[text] for row, text in PAIRS.items()}
    return pd.concat([*parts, points(printed, "published")], ignore_index=True)


def wide(graded):
    """The grades (questions, systems), NaN where there is none."""
    came = complete(scored(graded), ["item", "model"])
    return came.pivot(index="item", columns="model", values="value").astype(float)


def agreement(graded):
    """How far pairs of systems have the same grade on a question: share and quadratic kappa."""
    unit = complete(graded, ["unit"]).drop_duplicates("item").set_index("item")["unit"]
    grades, same, kappas = wide(graded), [graded.head(0).assign(pair="", same=True)], {}
    for a, b in itertools.combinations(grades, 2):
        both = grades[[a, b]].dropna()  # only a question with both grades says something
        if both.empty:
            continue
        (x, y), units, name = both.to_numpy().T, unit[both.index], f"{a} vs {b}"
        same.append(units.reset_index().assign(pair=name, same=x == y))
        kappa = stats.kappa(x, y, [-1, 0, 1], weights="quadratic", units=units.to_numpy())
        kappas[name, "quadratic kappa"] = kappa
    shares = means(pd.concat(same), {"same": "same grade, %"}, "{pair}", source="raw")
    return pd.concat([shares[COLUMNS], points(kappas, "raw")], ignore_index=True)


def failed(graded):
    """Questions that no system corrects, in percent of those that all have a grade for.

    By category, and beside them the share that would be expected if systems failed independently.
    """
    fails = wide(graded).dropna() < 1
    about = complete(graded, ["unit", "category"]).drop_duplicates("item").set_index("item")
    about = about.loc[fails.index, ["unit", "category"]].assign(none=fails.all(axis=1))
    groups = {"all": fails, **{k: fails[about["category"] == k] for k in CATEGORIES.values()}}
    alone = {
        (name, "if independent, %"): (100 * part.mean().prod(), None, None, len(part))
        for name, part in groups.items()
        if len(part)
    }
    none, name = about.reset_index(), {"none": "corrected by none, %"}
    shares = [means(none, name, row, source="raw") for row in ("all", "{category}")]
    return pd.concat([*shares, points(alone, "raw")], ignore_index=True)


# ---- what tests of claims use (`claims.names`)


ANSWERS = """
file_off lacking moved raw_6a raw_6b raw_7 raw_pcr raw_pcr_high raw_cross raw_gap raw_p
failed_together
""".split()  # of the released answers
GENERATED = "candidates_generated taken_first".split()  # of the generated questions


def generated(made, run):
    """Quantities of the generated questions."""
    offered = data.candidates(run)
    asked = offered.query("generator != 'Manual'")["question"]
    run_on, _ = pipeline.selected(made, offered, run.rng("Algorithm 1"))
    return {
        "candidates_generated": asked.map(normal).isin(set(made["question"].map(normal))),
        "taken_first": pipeline.by_algorithm(run_on, offered),
    }


def names(graded, found, where, run):
    """Quantities of the released answers; none of grades if the file has none.

    found: `systems.file`. where: `systems.places`.
    """
    off = differing(checks(run, found)).items()
    made = {"file_off": [f"{what} {n}, expected {m}" for what, (m, n) in off][:5]}
    if len(where):
        made["lacking"] = where.index[where["answers"] < len(found)].tolist()
        made["moved"] = where.index[where[MOVED] > 0].tolist()
    if not (graded["status"] == "graded").any():
        return made
    figures = {name: beside(graded, run, f"v1 Figure {name}") for name in ("6a", "6b", "7")}
    rate = figures["6a"][1].query("column == 'PCR'").set_index("row").reindex(SYSTEMS.values())
    cross = figures["6b"][1].pivot(index="generator", columns="model", values="value")
    return {
        **made,
        **{f"raw_{name}": _as_printed(*rows) for name, rows in figures.items()},
        "raw_pcr": _known(rate["value"]),
        "raw_pcr_high": _known(rate["high"]),
        "raw_cross": _known(cross.reindex(index=WRITERS, columns=SYSTEMS.values())),
        "raw_gap": _known(_gap(graded)),
        "raw_p": functools.partial(_p, wide(graded)),
        "failed_together": _together(graded),
    }


WRITERS = [name for name in dict.fromkeys(data.GENERATORS.values()) if name != "Manual"]


def _known(x):
    """Numbers as they are; one that lacks may be any."""
    return Rounded(x.fillna(-inf), x.fillna(0), x.fillna(inf))


def _gap(graded):
    """By how much PCS on others' questions is above that on a system's own."""
    mine = own(graded).query("column == 'PCS'").set_index("row")["value"]
    others, alone = (
        mine.reindex([f"{m}, {whose}" for m in WRITERS]).to_numpy()
        for whose in ("others' questions", "own questions")
    )
    return pd.Series(others - alone, WRITERS)


def _as_printed(theirs, ours):
    """Whether raw numbers are the printed ones, within rounding or what bars tell.

    None if there is no raw number. A printed number without one is not as printed. PCR is printed
    with one decimal, all else with two.
    """
    if theirs.empty or ours.empty:
        return None
    both = theirs.merge(ours, "left", on=["row", "column"], suffixes=("", "_raw"))
    rounding = np.where(both["column"] == "PCR", 0.05, 0.005)
    # what is not read from a bar has no interval but its rounding
    slack = (both["high"] - both["value"]).fillna(pd.Series(rounding)) + 1e-9
    far = (both["value_raw"] - both["value"]).abs()
    fits = far <= slack  # a lacking number doesn't
    return Verdict(bool(fits.all()), f"{fits.sum()} of {len(both)} as printed")


def _together(graded):
    """Are more questions corrected by none than if systems failed independently?"""
    none = failed(graded).query("row == 'all'").set_index("column")
    share = none.loc["corrected by none, %"]
    if not share["n"]:
        return None
    alone = none.loc["if independent, %", "value"]
    told = f"{share['value']:.1f}%, if independent {alone:.1f}%"
    return Verdict(bool(share["low"] > alone), told, share["low"], share["high"])


def _p(grades, way, a, b):
    """p of a test between two systems on the released grades (`wide`); any, if one lacks."""
    if not {a, b} <= set(grades):
        return Rounded(0.0, 0.5, 1.0)
    x, y = grades[[a, b]].dropna().to_numpy(int).T  # questions with both grades
    tests = {
        "PCR, paired": lambda: stats.mcnemar(x == 1, y == 1),
        "PCR, unpaired": lambda: stats.two_proportions(
            int((x == 1).sum()), len(x), int((y == 1).sum()), len(y)
        ),
        "PCS, paired": lambda: stats.permutation_range(x - y, 0 * x)[0],  # exact
    }
    p = tests[way]()
    return exact(p)
