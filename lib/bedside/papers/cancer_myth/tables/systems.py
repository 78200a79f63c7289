"""Rows on the released answers of eight systems (Figures 6 and 7), beside the published numbers."""

import functools
import itertools
from math import inf

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, normal, scored
from bedside.stats.rounded import Rounded, Verdict, exact
from bedside.write.tables import COLUMNS, Row, card_rows, frame, guesser, paired, share, with_bounds

from .. import data, pipeline
from .. import scores as counting
from ..data import CATEGORIES
from ..printed import ON, TESTED
from ..scores import scores
from ..study import MEASURES
from ..systems import JUDGE, SYSTEMS, checks, differing

# of the printed p: its row in the text
PAIRS = {" vs ".join(sorted(pair)): " over ".join(pair) for pair in TESTED[:2]}


def _rows(found, run, table, metric=None):
    """`scores` as rows from raw data, after the printed ones; those of one metric, if named."""
    mine = found if metric is None else found[found["metric"] == metric]
    mine = with_bounds(mine.assign(source="raw"))
    theirs = run.published(table).assign(source="published")
    return pd.concat([theirs, mine], ignore_index=True).reindex(columns=COLUMNS)


def overall(graded, run):
    """Figure 6a: PCR and PCS by system."""
    found = scores(graded)
    return _rows(found.assign(column=found["metric"]), run, "v1 Figure 6a")


def by_generator(graded, run):
    """Figure 6b: PCS by system and the model that wrote the question."""
    found = scores(graded, ["generator"])
    names = found["model"] + ON + found["generator"]
    return _rows(found.assign(row=names, column=found["metric"]), run, "v1 Figure 6b", "PCS")


def by_category(graded, run):
    """Figure 7: PCS by category and system, categories in the paper's order."""
    found = scores(graded, ["category"])
    found = found.assign(row=found["category"], column=found["model"])
    rows = _rows(found, run, "v1 Figure 7", "PCS")
    place = {name: i for i, name in enumerate(CATEGORIES.values())}
    return rows.sort_values("row", key=lambda r: r.map(place), kind="stable", ignore_index=True)


def rates(graded):
    """PCR by system and, in turn, category and generator."""
    found = [scores(graded, [k]).assign(row=lambda f, k=k: f[k]) for k in ("category", "generator")]
    rows = pd.concat(found, ignore_index=True)
    rows = rows[rows["metric"] == "PCR"].assign(source="raw")
    return with_bounds(rows.assign(column=rows["model"])).reindex(columns=COLUMNS)


def own(graded):
    """PCS and PCR of systems that wrote questions, on their own and on other systems' questions."""
    wrote = graded[graded["model"].isin(graded["generator"])]
    whose = np.where(wrote["model"] == wrote["generator"], "own questions", "others' questions")
    wrote = wrote.assign(whose=whose).sort_values(["model", "whose"], kind="stable")
    found = scores(wrote, ["whose"])
    rows = found.assign(row=found["model"] + ", " + found["whose"], column=found["metric"])
    return with_bounds(rows.assign(source="raw")).reindex(columns=COLUMNS)


def pairs(graded, run):
    """Tests between all pairs of systems, over questions and over myths, and the printed p.

    Over questions PCR has McNemar's exact test. Holm corrects over all p of one kind.
    """
    each = {"questions": graded.assign(unit=graded["item"]), "myths": graded}
    parts = []
    for unit, mine in each.items():
        rows = counting.pairs(paired(mine, run), source="raw")
        is_p = rows["column"].str.contains(r" p\b")
        rows["column"] += np.where(is_p, f", over {unit}", "")
        parts.append(rows[is_p] if parts else rows)
    theirs = run.published("v1 text 4.3").set_index("row")["value"].reindex(list(PAIRS.values()))
    parts.append(frame(Row(r, "p", "published", p) for r, p in zip(PAIRS, theirs)))
    return pd.concat(parts, ignore_index=True)


def wide(graded):
    """The grades (questions, systems), NaN where there is none."""
    came = complete(scored(graded), ["item", "model"])
    return came.pivot(index="item", columns="model", values="value").astype(float)


def agreement(graded):
    """How far pairs of systems have the same grade on a question: share and quadratic kappa."""
    about = complete(graded, ["unit"]).drop_duplicates("item").set_index("item")
    grades, unit, rows = wide(graded), about["unit"], []
    for a, b in itertools.combinations(grades, 2):
        both = grades[[a, b]].dropna()  # only a question with both grades says something
        if both.empty:
            continue
        x, y = both.to_numpy().T
        units, name = unit[both.index].to_numpy(), f"{a} vs {b}"
        rows.append(Row(name, "same grade, %", "raw", *share(x == y, units)))
        found = stats.kappa(x, y, [-1, 0, 1], weights="quadratic", units=units)
        rows.append(Row(name, "quadratic kappa", "raw", *found))
    return frame(rows)


def failed(graded):
    """Questions that no system corrects, in percent of those that all have a grade for.

    By category, and beside them the share that would be expected if systems failed independently.
    """
    grades = wide(graded).dropna()
    about = complete(graded, ["unit", "category"]).drop_duplicates("item").set_index("item")
    about = about.loc[grades.index]
    none = (grades < 1).all(axis=1)
    rows = []
    for name in ("all", *CATEGORIES.values()):
        mine = (about["category"] == name) | (name == "all")
        if mine.any() or name == "all":
            rows.append(
                Row(name, "corrected by none, %", "raw", *share(none[mine], about["unit"][mine]))
            )
            alone = 100 * (grades[mine] < 1).mean().prod()
            rows.append(Row(name, "if independent, %", "raw", alone, n=int(mine.sum())))
    return frame(rows)


PLACES = {
    "own": "likeness to the own question",
    "answers": "answers",
    "gaps": "gaps before the last",
    "end": "gaps at the end",
    "blocks": "blocks",
    "moved": "blocks nearer to other questions",
}
COUNTS = tuple(PLACES.values())[1:]


def positions(where):
    """`systems.places` as table rows."""
    return frame(
        Row(r["model"], label, "raw", r[key])
        for r in where.to_dict("records")
        for key, label in PLACES.items()
    )


def cards(made):
    """Agreement of judges with the released grades, {judge: card}, and a constant guesser."""
    rows = [r for name, card in made.items() for r in card_rows(name, card, MEASURES)]
    return frame([*rows, guesser(next(iter(made.values())))])


def by_judge(graded):
    """PCR by system under the released grades and under each judge, {judge: verdicts}."""
    parts = []
    for judge, mine in graded.items():
        found = scores(mine).query("metric == 'PCR'")
        source = "raw" if judge == JUDGE else "run"
        parts.append(with_bounds(found.assign(column=f"PCR, {judge}", source=source)))
    return pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)


def balanced(generated, run):
    """Questions by category and generator: generated, before the review, and released.

    Beside the candidates what Algorithm 1 selects here, with the first set, which it leaves alone.
    """
    after = data.released(run)
    offered = after["candidates"]
    _, chosen = pipeline.selected(generated, offered, run.rng("Algorithm 1"))
    stages = {
        "generated": generated,
        "Algorithm 1, here": pd.concat([offered[offered["first"]], chosen]),
        "candidates": offered,
        "released": after["released"],
    }
    return frame(
        Row(f"{what}: {name}", stage, "raw", int((items[what] == name).sum()), n=len(items))
        for what, names in (("category", CATEGORIES), ("generator", data.GENERATORS))
        for name in dict.fromkeys(names.values())
        for stage, items in stages.items()
    )


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
        made["lacking"] = where.loc[where["answers"] < len(found), "model"].tolist()
        made["moved"] = where.loc[where["moved"] > 0, "model"].tolist()
    if not (graded["status"] == "graded").any():
        return made
    rate = scores(graded).query("metric == 'PCR'").set_index("model").reindex(SYSTEMS.values())
    return {
        **made,
        "raw_6a": _as_printed(overall(graded, run)),
        "raw_6b": _as_printed(by_generator(graded, run)),
        "raw_7": _as_printed(by_category(graded, run)),
        "raw_pcr": _known(rate["value"]),
        "raw_pcr_high": _known(rate["high"]),
        "raw_cross": _known(_wide(graded, "generator", "PCS").reindex(WRITERS)),
        "raw_gap": _known(_gap(graded)),
        "raw_p": functools.partial(_p, wide(graded)),
        "failed_together": _together(graded),
    }


WRITERS = [name for name in dict.fromkeys(data.GENERATORS.values()) if name != "Manual"]


def _known(x):
    """Numbers as they are; one that lacks may be any."""
    return Rounded(x.fillna(-inf), x.fillna(0), x.fillna(inf))


def _wide(graded, by, metric):
    """A mean of all systems by category or generator."""
    found = scores(graded, [by]).query("metric == @metric")
    return found.pivot(index=by, columns="model", values="value").reindex(columns=SYSTEMS.values())


def _gap(graded):
    """By how much PCS on others' questions is above that on a system's own."""
    mine = own(graded).query("column == 'PCS'").set_index("row")["value"]
    others, alone = (
        mine.reindex([f"{m}, {whose}" for m in WRITERS]).to_numpy()
        for whose in ("others' questions", "own questions")
    )
    return pd.Series(others - alone, WRITERS)


def _as_printed(rows):
    """Whether raw numbers are the printed ones, within rounding or what bars tell.

    None if there is no raw number. A printed number without one is not as printed. PCR is printed
    with one decimal, all else with two.
    """
    theirs, ours = (rows[rows["source"] == source] for source in ("published", "raw"))
    if theirs.empty or ours.empty:
        return None
    both = theirs.merge(ours, "left", on=["row", "column"], suffixes=("", "_raw"))
    rounding = np.where(both["column"] == "PCR", 0.05, 0.005)
    # what is not read from a bar has no interval but its rounding
    slack = (both["high"] - both["value"]).fillna(pd.Series(rounding)) + 1e-9
    far = (both["value_raw"] - both["value"]).abs()
    off = both[far.isna() | (far > slack)]
    few = [
        f"{r.row}, {r.column}: {r.value_raw:.4g}, printed {r.value:.4g}"
        for r in off.head(3).itertuples()
    ]
    told = "; ".join([f"{len(both) - len(off)} of {len(both)} as printed", *few])
    return Verdict(off.empty, told)


def _together(graded):
    """Are more questions corrected by none than if systems failed independently?"""
    none = failed(graded).query("row == 'all'").set_index("column")
    share, alone = none.loc["corrected by none, %"], none.loc["if independent, %", "value"]
    if not share["n"]:
        return None
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
