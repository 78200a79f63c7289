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
MEASURED = (
    "item unit model method set answer reply_status truncated status value raw call hit outcome"
    " complexity calls"
).split()


async def measure(run, sets, answered, examples):
    """All answers graded, a row each, with the columns MEASURED; outcome is for exam questions.

    sets: {name: items} by SETS' names; answered: {method: answers}; examples: `study.known`.
    """
    parts = []
    for method, answers in answered.items():
        for (model, name), mine in answers.groupby(["model", "set"], sort=False):
            if name in KINDS:
                frame = joined(sets[name], mine, whole="right")  # agents get the first few alone
                kind = KINDS[name]
                found = await study.grade(run, frame, kind, examples[kind])
                graded = joined(frame, found)
                graded = graded.assign(hit=graded["value"] == 1, outcome=None)
            else:
                graded = grade_exam(sets[name].drop(columns="question"), mine)
            graded = graded.assign(unit=units_of(graded))
            parts.append(graded.assign(method=method, model=model, set=name))
    return pd.concat([part.reindex(columns=MEASURED) for part in parts], ignore_index=True)


async def kept(run, sets, answered, known, graded, found):
    """The answers of `measure` for `Run.keep`: a row for each judge, the key for exams.

    graded: as `measure` returns it. found: the optimiser's result by model, whose instruction
    stands beside its answers.
    """
    parts, by = [], {key: mine for key, mine in graded.groupby(["method", "model", "set"])}
    for method, answers in answered.items():
        for (model, name), mine in answers.groupby(["model", "set"], sort=False):
            if name in KINDS:
                both = joined(sets[name], mine, whole="right")
                said = by[method, model, name]
                made = await study.by_each_judge(run, both, KINDS[name], known, said)
            else:
                made = grade_exam(sets[name], mine)
                read = made["status"].where(made["status"] == "graded", "unparsed")
                made = made.assign(judge="key", status=read, right=made["hit"], raw="")
                made["value"] = made["outcome"]
            told = found[model].instruction if method == "gepa" else ""
            parts.append(made.assign(configuration=method, set=name, instruction=told))
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
