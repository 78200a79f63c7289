"""Rows on how the questions were made (section 3)."""

import pandas as pd

from bedside.read import checks
from bedside.read.checks import complete, groups, scored
from bedside.read.sources import here
from bedside.write.tables import Row, cut_note, frame, published_rows, share

from ..data import CATEGORIES
from ..generation import MISSING, tried
from ..pipeline import kept

HARD = "hard (joins the valid set)"
FOOLED = "questions that fooled a model"
SENT = "given to the physicians"
BEFORE = "taken out in the review before"  # of the questions generated at first
RELEASED = "released"
PLAIN = "without a false presupposition"
MYTHS = {"new": "different texts", "copied": "texts told before"}  # what is listed, by status
STAGES = {"candidates": FOOLED, "balanced": SENT, "released": RELEASED}  # of v1 text 4.1


def yield_table(questions, rounds, run):
    """What became of the questions that the loop asked for, in percent, and how the two sets grew.

    Intervals are over myths, which have three questions each. The paper's share is out of three
    questions on each of 994 myths, although its run of GPT-4o was a partial one.
    """
    questions = complete(questions, ["generator", "myth", "status"])
    value = scored(questions, status="verdict")["value"].reindex(questions.index)
    answered = questions["status"] == "new"
    kinds = {
        HARD: value == -1,
        "partly corrected (apart)": value == 0,
        "easy (joins the invalid set)": value == 1,
        "answered, no grade (apart)": answered & (questions["verdict"] != "graded"),
    }
    reasons = sorted(s for s in questions["status"].unique() if ": " in s)
    for status in ("copied", MISSING, "truncated", "unparsed", "refused", *reasons):
        kinds[f"question {status}"] = questions["status"] == status
    rows = []
    for name in run.models:  # even one whose first call failed
        mine = questions[questions["generator"] == name]
        for kind, hit in kinds.items():
            rows.append(Row(name, kind, "run", *share(hit[mine.index], mine["myth"])))
    rows += _printed_yield(run)
    for r in rounds[rounds["stopped"] == ""].itertuples():
        row = f"{r.generator} after {r.myth}"
        rows += [Row(row, "valid set", "run", r.valid), Row(row, "invalid set", "run", r.invalid)]
    return frame(rows)


def cut(questions):
    """What captions say about the generators' answers that were cut: `tables.cut_note`."""
    answered = complete(questions, ["status"]).query("status == 'new'")
    hard = 100.0 * (scored(answered, status="verdict")["value"] == -1).reindex(answered.index)
    return cut_note(answered.assign(hard=hard), {"hard": "percent hard"}, by="generator", digits=1)


def _printed_yield(run):
    """The paper's hard questions as shares of what each generator was asked for."""
    per = run.published("v1 text 3").set_index("row")["value"]
    asked = per["myths"] * per["questions per myth"]
    said = run.published("v1 text 4.1").set_index(["row", "column"])["value"]["candidates"]
    return [
        Row(generator, HARD, "recomputed", 100 * n / asked, n=asked)
        for generator, n in said.drop(["all", "manual"]).items()
    ]


def balance_table(stages):
    """Questions in each category at several stages, {name: (frame, source)}, in percent.

    Intervals are over myths: the column myth, or unit.
    """
    rows = []
    for name, (questions, source) in stages.items():
        unit = "myth" if "myth" in questions else "unit"
        myth = complete(questions, ["category", unit])[unit]
        for category in CATEGORIES.values():
            rows.append(
                Row(category, name, source, *share(questions["category"] == category, myth))
            )
    return frame(rows)


def pipeline_table(run, questions, raw):
    """Counts along the pipeline: published, this run's, of the released data and of the review.

    raw: `data.released`, {} if it is not in this run.
    """
    rows, questions = _printed_counts(run), complete(questions, ["generator", "status"])
    graded = scored(questions, status="verdict")
    fooled = graded[graded["value"] == -1]
    for name in run.models:
        mine = questions[questions["generator"] == name]
        rows += [
            Row("questions asked for", name, "run", len(mine)),
            Row("questions usable", name, "run", len(tried(mine))),
            Row(FOOLED, name, "run", (fooled["generator"] == name).sum()),
        ]
    if here("cancer_myth_reviewed"):
        rows += _reviewed(run.load("cancer_myth_reviewed"))
    if not raw:
        return frame(rows)
    myths = raw["myths"]
    rows += [
        Row("myths", "all", "raw", len(myths)),
        Row("myths", "different texts", "raw", myths["myth"].map(checks.normal).nunique()),
        Row("cancer types", "all", "raw", myths["cancer"].nunique()),
        Row("cancer types", "spellings merged", "raw", checks.merged(myths["cancer"])),
    ]
    for stage, name in ((SENT, "candidates"), (RELEASED, "released"), (PLAIN, "nfp")):
        rows.append(Row(stage, "all", "raw", len(raw[name])))
        for what in ("generator", "category"):
            if what in raw[name]:
                counts = raw[name][what].value_counts()
                rows += [Row(stage, label, "raw", n) for label, n in counts.items()]
    review = review_table(raw["candidates"], raw["released"])
    return pd.concat([frame(rows), review], ignore_index=True)


def _reviewed(labels):
    """Percent of the candidates that the user's raters kept: of all, by category."""
    hit = labels["label"] == "keep"
    parts = [("all", labels), *groups(labels, "category")]
    return [
        Row(name, "kept by your raters, %", "run", *share(hit[part.index], part["item"]))
        for name, part in parts
    ]


def _printed_counts(run):
    """The paper's counts, and one that the summary of the second version gives."""
    collected = run.published("v1 text 3").set_index("row")["value"]
    plain = run.published("v2 text method").set_index("row")["value"]["NFP"]
    said = run.published("v1 text 4.1")
    first = run.published("v1 text B.4").set_index("row")["value"]
    return [
        Row("myths", "all", "published", collected["myths"]),
        Row("cancer types", "all", "published", collected["cancer types"]),
        *published_rows(said[said["row"].isin(STAGES)].replace({"row": STAGES})),
        Row(SENT, BEFORE, "recomputed", first["generated at first"] - first["valid at first"]),
        Row(PLAIN, "all", "published", plain),
    ]


def review_table(candidates, released):
    """Percent of the candidates that the physicians kept: of all, by generator and by category.

    Intervals are over myths.
    """
    hit = kept(candidates, released)
    parts = [
        ("all", candidates),
        *groups(candidates, "generator", ["question", "myth"]),
        *groups(candidates, "category"),
    ]
    column = "kept by the physicians, %"
    return frame(
        Row(name, column, "raw", *share(hit[part.index], part["myth"])) for name, part in parts
    )


def collected_table(listed, compared):
    """What models listed, and how many judges of pairs call told before or found again (3.1).

    compared: {judge: `collecting.compared`}.
    """
    rows = []
    for model, mine in listed.groupby("model", sort=False):
        counts = mine["status"].value_counts()
        rows.append(Row(model, "asked for", "run", len(mine)))
        rows += [Row(model, MYTHS.get(status, status), "run", n) for status, n in counts.items()]
        with_source = (mine["status"].eq("new") & mine["source"].ne("")).sum()
        rows.append(Row(model, "with a source", "run", with_source))
    for judge, found in compared.items():
        for (model, kind), mine in found.groupby(["model", "kind"], sort=False):
            value = scored(mine)["value"]
            about = share(value == 1, mine.loc[value.index, "item"])
            rows.append(
                Row(f"{model}, {judge}", f"{kind}, %", "run", *about, len(mine) - len(value))
            )
    return frame(rows)
