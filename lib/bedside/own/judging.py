"""The verdicts of an own study's judges: on whole answers, or on each criterion of a rubric."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bedside.judging import judges
from bedside.read import prompts
from bedside.read.checks import joined

if TYPE_CHECKING:
    import pandas as pd

VALUES = [0, 1]  # of a verdict: wrong, right; of a criterion: not met, met
FIELDS = ("question", "reference", "answer")  # the fields of a rubric
POINT = ["id", "group", "points", "levels"]  # what a verdict on a criterion has of it


async def judged(own: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """All judges' verdicts on answers, one judge's below the other's.

    frame: item (unique), asked (the question's item), reply_status and FIELDS. Columns: item,
    judge, status, value, raw, call, and with a rubric of several criteria `criterion` and POINT, a
    row for each criterion.
    """
    import pandas as pd

    parts, points = [], _points(own, frame) if own.criteria else frame
    each = points.assign(whole=points["item"], item=points.get("each", points["item"]))
    for judge in own.judges:
        verdicts = await _graded(own, each, judge)
        parts.append(joined(each, verdicts, "item").assign(judge=judge))
    kept = ["criterion", *POINT] if own.criteria else []
    made = pd.concat(parts, ignore_index=True).assign(item=lambda frame: frame["whole"])
    return made[["item", *kept, "judge", "status", "value", "raw", "call"]]


def example(own: Any, row: dict) -> prompts.Messages:
    """What a judge is told of an answer (with item and FIELDS), by the first criterion if any."""
    told = {k: row[k] for k in FIELDS}
    if not own.criteria:
        return prompts.render(*own.rubric, **told)
    first = own.criteria[row["item"]][0]
    return own.prompt("criterion", criterion=first.text, levels=first.levels, **told)


def _points(own, frame):
    """A row for each answer and criterion, named `each`."""
    import pandas as pd

    rows = [
        {**row, "each": f"{row['item']}, criterion {c.id}", "criterion": c.text}
        | {name: getattr(c, name) for name in POINT}
        for row in frame.to_dict("records")
        for c in own.criteria[row["asked"]]
        if row.get("only") in (None, "", c.id)
    ]
    return pd.DataFrame(rows)


async def _graded(own, frame, judge):
    """One judge's verdicts: item, status, value, raw."""
    import pandas as pd

    if not own.criteria:
        template, folder = own.rubric
        own.reads("rubric", prompts.source(template, folder))
        question = judges.Question(VALUES, template, FIELDS, folder=folder)
        return await judges.grade(frame, judge, question, own.ask)
    parts, fields = [], (*FIELDS, "criterion", "levels")
    for levels, part in frame.groupby("levels", sort=False):
        values = list(range(len(levels))) or VALUES
        parts.append(await own.grade(part, values, "criterion", judge=judge, fields=fields))
    return pd.concat(parts, ignore_index=True)


def summed(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on criteria as one of each answer: its score, points met over possible points.

    It is unscored if one of its criteria with points is. Columns: item, judge, status, value, raw,
    call (the keys of all), and `criteria`, a list of {id, group, points, levels, status, value}.
    """
    import pandas as pd

    rows = []
    for (item, judge), part in verdicts.groupby(["item", "judge"], sort=False):
        kept = part[[*POINT, "status", "value"]].astype(object)
        criteria = kept.where(kept.notna(), None).to_dict("records")
        told = "\n".join(f"{c.id} ({_weight(c)}): {_said(c)}" for c in part.itertuples())
        lost = [c["status"] for c in criteria if c["points"] and c["status"] != "graded"]
        value = None if lost else bounds(criteria)[0]
        calls, status = " ".join(filter(None, part["call"])), lost[0] if lost else "graded"
        rows.append((item, judge, status, value, told, calls, criteria))
    columns = ["item", "judge", "status", "value", "raw", "call", "criteria"]
    return pd.DataFrame(rows, columns=columns)


def _weight(criterion):
    return "scale" if criterion.levels else f"{criterion.points:+g}"


def _said(criterion):
    if criterion.status != "graded":
        return f"{criterion.status}: {criterion.raw}"
    named = criterion.levels or ("not met", "met")
    return named[int(criterion.value)]


def bounds(criteria: list[dict]) -> tuple[float, float]:
    """The least and the most that a score may be, whatever a lacking verdict would have been.

    Points are added as the decimals they are, so that half of them is exactly half.
    """
    weighed = [(Fraction(str(c["points"])), c) for c in criteria if c["points"]]
    known = sum(p * int(c["value"]) for p, c in weighed if c["status"] == "graded")
    open_ = [p for p, c in weighed if c["status"] != "graded"]
    possible = sum(max(p, 0) for p, _ in weighed)
    sums = (known + sum(bound(p, 0) for p in open_) for bound in (min, max))
    return tuple(float(total / possible) for total in sums)
