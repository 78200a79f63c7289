"""What the methods score: verdicts on their answers, rates, balanced accuracy, tests."""

import pandas as pd

from bedside import stats
from bedside.judging import parsing
from bedside.judging.parsing import REFUSALS
from bedside.read.checks import groups, joined, scored
from bedside.write.results import means, points
from bedside.write.tables import paired, units_of

from .. import study
from .items import KINDS, SETS

HITS = dict(zip(SETS, ("corrected", "left alone", "right", "right")))  # what a hit is
OUTCOMES = ("right", "wrong", "not answered", "refused", "failed")  # of an exam question


async def measure(run, sets, answered, examples):
    """All answers graded, a row each: their items' columns and the answers', method, set, unit.

    sets: {name: items} by SETS' names; answered: {method: answers}; examples: `study.known`. hit:
    whether it is what HITS says; outcome is for exam questions. Others have a verdict's columns.
    """
    parts = []
    for method, answers in answered.items():
        for (_, name), mine in answers.groupby(["model", "set"], sort=False):
            if kind := KINDS.get(name):
                frame = joined(sets[name], mine, whole="right")  # agents get the first few alone
                graded = joined(frame, await study.grade(run, frame, kind, examples[kind]))
                graded = graded.assign(hit=graded["value"] == 1, outcome=None)
            else:
                graded = grade_exam(sets[name], mine)
            parts.append(graded.assign(unit=units_of(graded), method=method))
    return pd.concat(parts, ignore_index=True)


async def kept(run, graded, known, found):
    """The answers of `measure` for `Run.keep`: a row for each judge, the key for exams.

    found: the optimiser's result by model, whose instruction stands beside its answers.
    """
    parts, keys = [], ["method", "model", "set"]
    for (method, model, name), part in graded.groupby(keys, sort=False):
        if name in KINDS:
            made = await study.by_each_judge(run, part, KINDS[name], known, part)
        else:
            read = part["status"].where(part["status"] == "graded", "unparsed")
            made = part.assign(judge="key", status=read, right=part["hit"], raw="")
            made["value"] = part["outcome"]
        told = found[model].instruction if method == "gepa" else ""
        parts.append(made.assign(configuration=method, instruction=told))
    return pd.concat(parts, ignore_index=True)


def grade_exam(items, answered):
    """The option that each answer states: adds status, value (the option), hit and outcome.

    outcome: right, wrong, not answered (no option stated, or several, or cut before the end),
    refused, failed (no answer came). Only right and wrong are graded.
    """
    frame = joined(items, answered, validate="one_to_many", whole="right")
    value = [_option(r) for r in frame.itertuples()]
    outcome = [_outcome(r, v) for r, v in zip(frame.itertuples(), value)]
    status = ["graded" if v else "unscored" for v in value]
    frame = frame.assign(value=value, outcome=outcome)
    return frame.assign(hit=frame["outcome"] == "right", status=status)


def _option(row):
    """The option that an answer states; None where it was cut, since the last one stated counts."""
    cut = getattr(row, "truncated", False) and not parsing.closed(row.answer)
    return None if row.reply_status or cut else parsing.parse_option(row.answer, row.options)


def _outcome(row, value):
    if row.reply_status:
        return "failed"
    if value:
        return "right" if value == row.gold else "wrong"
    return "refused" if REFUSALS.match(row.answer) else "not answered"


def rates(graded):
    """Table 1's numbers, in percent, by model, method and set: rows of `results.means`, over units.

    Units are myths, or exam questions. graded: model, method, set, status, hit, unit. hit:
    corrected (grade 1), nothing invented (grade 1), or the right option.
    """
    hit = scored(graded, "hit")["hit"].astype("boolean").reindex(graded.index)
    found = means(graded.assign(hit=hit), {"hit": ""}, "{model} {method}", "{set}")
    return found.fillna({"unscored": 0})


def balanced(rates):
    """Balanced accuracy by row, in percent: the mean of the rates on both kinds of questions."""
    numbers = rates.set_index(["row", "column"])[["value", "low", "high", "n"]]
    return points(
        {
            (row, "balanced accuracy"): stats.mean_of(
                *(stats.Interval(*numbers.loc[(row, kind)]) for kind in KINDS)
            )
            for row in rates["row"].unique()
        },
        "run",
    )


def against_plain(graded, run):
    """Each method against plain, on items that both answered: as `tables.paired`."""
    graded, rows = graded.assign(value=scored(graded, "hit")["hit"].astype(int)), []
    for (model, name), part in groups(graded, ["model", "set"], ["method"]):
        for method in part["method"].unique():
            if method == "plain":
                continue
            two = part[part["method"].isin([method, "plain"])]
            first = two["method"].map({method: "1", "plain": "2"})  # compared in this order
            found = paired(two.assign(model=first), run)
            rows.append(found.assign(row=f"{model} {method} against plain, {name}"))
    return pd.concat(rows, ignore_index=True)
