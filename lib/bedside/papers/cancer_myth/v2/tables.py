"""Rows on the second version's mitigations: its summary's numbers beside this run's."""

import pandas as pd

from bedside.judging.trust_cards import corrected
from bedside.read.checks import complete, groups, scored
from bedside.write.tables import (
    COLUMNS,
    Row,
    cut_note,
    frame,
    no_answer_rows,
    share,
    units_of,
    with_bounds,
)

from ..study import NFP_TASK
from . import printed
from .items import KINDS, SETS
from .scores import pairs_as_one

HITS = dict(zip(SETS, ("corrected", "left alone", "right", "right")))  # what a hit is
EXAM_OUTCOMES = ("right", "wrong", "not answered", "refused", "failed")


def of_agents(rounds):
    """A caption's sentence on what this run's `multi_agent` is beside the summary's MDAgents."""
    if rounds:
        return f"Method multi_agent: MDAgents as rebuilt here, with up to {rounds} rounds."
    return (
        "Method multi_agent isn't MDAgents: its roles are fixed, it has one round and no moderator."
    )


def table1(found, run):
    """Table 1: published and this run's rates, balanced accuracy, rates corrected for judges."""
    said = run.published("v2 Table 1")[["row", "column", "value"]]
    parts = [
        said.assign(source="published"),
        printed.pairs_as_one(run).assign(source="recomputed"),
        with_bounds(found).assign(source="run"),
        pairs_as_one(found).assign(source="run"),
    ]
    better = []
    for r in found[found["column"].isin(KINDS)].itertuples():
        card = run.card(task=NFP_TASK if KINDS[r.column] == "plain" else "")
        rate = r.value, r.low, r.high, r.n
        i = corrected(rate, card, run.rng("v2 Table 1", "corrected"))
        column = f"{r.column} corrected for the judge's errors"
        better.append(Row(r.row, column, "run", *i, r.unscored))
    return pd.concat([*parts, frame(better)], ignore_index=True)


def tradeoff(found, run):
    """Rates on Cancer-Myth (corrected) and -NFP (left alone), published and this run's."""
    parts = {
        "published": run.published("v2 Table 1")[["row", "column", "value"]],
        "recomputed": printed.rates(run),
        "run": found,
    }
    rows = pd.concat([rows.assign(source=s) for s, rows in parts.items()], ignore_index=True)
    return rows.loc[rows["column"].isin(KINDS), COLUMNS]


def in_plane(rows: pd.DataFrame) -> pd.DataFrame:
    """`tradeoff`'s rows for `plots.plane`: label (method), shape, origin (without mitigation)."""
    rows = rows[rows["source"] != "recomputed"]
    said = rows["source"] == "published"
    model, method = rows["row"].str.split(" ").str[0], rows["row"].str.split(" ", n=1).str[1]
    agents = method.isin(["multi_agent", "multi_agent_monitor"])
    uncured = model + " " + agents.map({True: "multi_agent", False: "plain"})
    before = rows["row"].str.replace("GEPA|Monitor", "Plain", regex=True).where(said, uncured)
    several, cure = model[~said].nunique() > 1, rows["row"].str.rsplit(" ", n=1).str[-1]
    named = rows["row"].str.removesuffix(" Plain").where(cure == "Plain", "with " + cure)
    return rows.assign(
        label=named.where(said, rows["row"] if several else method),
        shape="",
        origin=before.where(before != rows["row"], ""),
    )


def outcomes(graded):
    """What became of each method's answers: outcomes in percent, calls, complexity."""
    rows = []
    by, texts = ["model", "method", "set"], ["reply_status"]
    for (model, method, name), part in groups(graded, by, ["truncated"], texts):
        if part["outcome"].notna().any():
            said = complete(part, ["outcome"])["outcome"]
            found = {o: 100 * (said == o).mean() for o in EXAM_OUTCOMES}
        else:
            found = {"no answer": 100 * (part["reply_status"] != "").mean()}
        found["cut off at the limit"] = 100 * part["truncated"].mean()
        row = f"{model} {method}, {name}"
        rows += [Row(row, column, "run", value, n=len(part)) for column, value in found.items()]
        rows += _uncut(row, f"{HITS[name]}, of the uncut", part)
        rows += no_answer_rows(row, part["reply_status"])
        if part["calls"].notna().any():
            rows += _calls(row, part)
    return frame(rows)


def _uncut(row, column, graded):
    """The rate of the uncut answers, in percent; none if no answer was cut."""
    cut = graded["truncated"].astype(bool)
    if cut.all() or not cut.any():
        return []
    got = scored(graded[~cut], "hit")
    rate = share(got["hit"].astype(bool), units_of(got))
    return [Row(row, column, "run", *rate, (~cut).sum() - len(got))]


def _calls(row, graded):
    """Calls for an answer, and the agents' complexity levels in percent."""
    graded = complete(graded, ["calls"], ["complexity"])
    levels = graded["complexity"].value_counts(normalize=True).sort_index()
    shares = {f"complexity {level or 'not stated'}": 100 * v for level, v in levels.items()}
    found = {"calls for an answer": graded["calls"].mean(), **shares}
    return [Row(row, column, "run", value, n=len(graded)) for column, value in found.items()]


def cut(graded):
    """What captions say about cut replies, by model and method: `tables.cut_note`, rates by set."""
    graded = complete(graded, ["model", "method", "set"])
    hit = 100.0 * scored(graded, "hit")["hit"].astype(float).reindex(graded.index)
    sets = {name: hit.where(graded["set"] == name) for name in graded["set"].unique()}
    rows = graded.assign(**sets, row=graded["model"] + " " + graded["method"])
    return cut_note(rows, dict(zip(sets, sets)), by="row", digits=0)


def found_table(found):
    """What the optimiser found, {model: Found}; scores in percent of the highest possible."""
    rows = []
    for model, f in found.items():
        measures = {
            "score of the first instruction": 100 * f.start,
            "score of the best instruction": 100 * f.best,
            "answers graded": f.calls,
            "proposals": f.proposals,
            "unusable proposals": f.unusable,
            "answers without a verdict": f.unscored,
            "answers cut off at the limit": f.cut,
        }
        rows += [Row(model, label, "run", value) for label, value in measures.items()]
    return frame(rows)
