"""The verdicts of an own study's judges: on whole answers, or on each criterion of a rubric."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bedside.asking import registry
from bedside.asking.replies import VERDICT_TOKENS, Request, response_format
from bedside.judging import judges, parsing
from bedside.judging.parsing import Verdict
from bedside.read import prompts
from bedside.read.checks import joined

if TYPE_CHECKING:
    import pandas as pd

VALUES = [0, 1]  # of a verdict: wrong, right; of a criterion: not met, met
FIELDS = ("question", "reference", "answer")  # the fields of a rubric
POINT = ["id", "group", "points", "levels"]  # what a verdict on a criterion has of it
TOGETHER, EACH = "together", "each"  # all criteria in one call, or a call for each
TOKENS_EACH = 16  # of a criterion's member in a reply on all of them


async def judged(own: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """All judges' verdicts on answers, one judge's below the other's.

    frame: item (unique), asked (the question's item), reply_status and FIELDS. Columns: item,
    judge, status, value, raw, call, and with a rubric of several criteria `criterion` and POINT, a
    row for each criterion.
    """
    import pandas as pd

    rows = _points(own, frame) if own.criteria else frame.assign(whole=frame["item"])
    graded = _by_criterion if own.criteria else _by_template
    graded = _at_once if own.criteria and own.together else graded
    parts = []
    for judge in own.judges:
        parts.append(joined(rows, await graded(own, rows, judge), "item").assign(judge=judge))
    columns = ["criterion", *POINT] if own.criteria else []
    made = pd.concat(parts, ignore_index=True).assign(item=lambda frame: frame["whole"])
    return made[["item", *columns, "judge", "status", "value", "raw", "call"]]


def example(own: Any, row: dict) -> prompts.Messages:
    """What a judge is told of an answer (with item and FIELDS), by the first criterion if any."""
    told = {k: row[k] for k in FIELDS}
    if not own.criteria:
        return prompts.render(*own.rubric, **told)
    criteria = own.criteria[row["item"]]
    if own.together:
        scales = any(c.levels for c in criteria)
        return own.prompt("criteria", criteria=criteria, scales=scales, **told)
    return own.prompt("criterion", criterion=criteria[0].text, levels=criteria[0].levels, **told)


def _points(own, frame):
    """A row for each answer and criterion, with `whole` for the answer and the criterion's key."""
    import pandas as pd

    rows = [
        {**row, "whole": row["item"], "item": f"{row['item']}, criterion {c.id}"}
        | {"criterion": c.text, "key": f"criterion_{n}"}
        | {name: getattr(c, name) for name in POINT}
        for row in frame.to_dict("records")
        for n, c in enumerate(own.criteria[row["asked"]], 1)
        if row.get("only") in (None, "", c.id)
    ]
    return pd.DataFrame(rows)


async def _by_template(own, frame, judge):
    """One judge's verdicts on whole answers: item, status, value, raw, call."""
    template, folder = own.rubric
    own.reads("rubric", prompts.source(template, folder))
    question = judges.Question(VALUES, template, FIELDS, folder=folder)
    return await judges.grade(frame, judge, question, own.ask)


async def _by_criterion(own, points, judge):
    """The same on criteria, each of which is a call."""
    import pandas as pd

    parts, fields = [], (*FIELDS, "criterion", "levels")
    for levels, part in points.groupby("levels", sort=False):
        values = _values(levels)
        parts.append(await own.grade(part, values, "criterion", judge=judge, fields=fields))
    return pd.concat(parts, ignore_index=True)


async def _at_once(own, points, judge):
    """The same by one call for each answer, which states a verdict for each criterion's key."""
    import pandas as pd

    requests = []
    came = points[points["reply_status"] == ""].drop_duplicates("whole")
    for row in came.to_dict("records"):
        criteria = own.criteria[row["asked"]]
        schema = {
            f"criterion_{n}": {"type": "integer", "enum": _values(c.levels)}
            for n, c in enumerate(criteria, 1)
        }
        room = VERDICT_TOKENS + TOKENS_EACH * len(criteria)
        settings = {"max_tokens": registry.most(judge, room, "verdicts"), "temperature": 0}
        told = example(own, {**row, "item": row["asked"]})
        form = response_format("verdicts", **schema)
        requests.append(Request(row["whole"], judge, told, settings, form))
    replies = {r.item: r for r in await own.ask(requests, f"verdicts of {judge}")}
    made = []
    for row in points.itertuples():
        lost = Verdict("", "error", raw=f"no answer to judge: {row.reply_status}")
        reply = replies.get(row.whole)
        stated = parsing.verdict(reply, _values(row.levels), row.key) if reply else lost
        made.append(vars(stated) | {"item": row.item})
    return pd.DataFrame(made, columns=["item", "status", "value", "raw", "call"])


def _values(levels):
    return list(range(len(levels))) or VALUES


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
        told = "\n".join(
            f"{c['id']} ({_weight(c)}): {said_of(c)}" + f": {c['raw']}" * (c["status"] != "graded")
            for c in part.to_dict("records")
        )
        lost = [c["status"] for c in criteria if c["points"] and c["status"] != "graded"]
        value = None if lost else bounds(criteria)[0]
        calls = " ".join(filter(None, dict.fromkeys(part["call"])))  # one for all, or one each
        status = lost[0] if lost else "graded"
        rows.append((item, judge, status, value, told, calls, criteria))
    columns = ["item", "judge", "status", "value", "raw", "call", "criteria"]
    return pd.DataFrame(rows, columns=columns)


def _weight(criterion):
    return "scale" if criterion["levels"] else f"{criterion['points']:+g}"


def said_of(criterion: dict) -> str:
    """What a verdict (levels, status, value) says of its criterion."""
    if criterion["status"] != "graded":
        return criterion["status"]
    return (criterion["levels"] or ("not met", "met"))[int(criterion["value"])]


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
