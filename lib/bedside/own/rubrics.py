"""Rubrics of several criteria that a user brings: points for what an answer does.

    criteria("rubric.csv", items)
    criteria("rubric.md", items)
    criteria("healthbench.jsonl", items)  # as that benchmark has its questions
    fails_at("rubric.md")

CSV and JSON Lines have COLUMNS. In Markdown each criterion is a line of a list below a heading that
names its group: `- 5: says when to call for help`, `- -3: names a dose`, and for a scale, from the
least to the most, `- none | some | severe: harm to who follows it`. A line `Fails at: 60 %` says
which score still is a failure. Other text is for people.
"""

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from bedside import BedsideError
from bedside.publish.comparison import FAILS_AT
from bedside.read import paths, user_files
from bedside.read.questions import as_criteria

COLUMNS = ("criterion", "points", "levels", "id", "group", "item", "fails_at")
KINDS = (*user_files.KINDS, ".md")
LINE = re.compile(r"\s*[-*+]\s+(?P<head>[^:]*):\s*(?P<text>.*)")
HEADING = re.compile(r"#+\s+(.*?)[\s#]*")
LIMIT = re.compile(r"fails at\s*:(.*)", re.I)


class Criterion(NamedTuple):
    """A criterion: points (0 for a scale) if it is met, or the levels of a scale.

    item: the question that it is for; empty for all.
    """

    id: str
    text: str
    points: float
    levels: tuple[str, ...]
    group: str
    item: str


def criteria(path: str | Path, items: Iterable[str]) -> dict[str, list[Criterion]]:
    """{item: its criteria} of a file, for each of `items`.

    Raises BedsideError naming lines and columns for a faulty file, and for an item without a
    criterion of positive points, which no answer could score by.
    """
    table = _table(path)
    asked, seen, made = list(dict.fromkeys(items)), {}, []
    for number, (place, row) in enumerate(table.rows, 1):
        table.filled(place, row, ["criterion"])
        if row["item"] and row["item"] not in asked:
            table.fault(place, "item", f"{row['item']!r} is none of the questions")
        named = row["criterion"].replace(",", ";") if row["levels"] else str(number)
        id = row["id"].strip() or named  # a comma parts labels
        keys = [(item, id) for item in ([row["item"]] if row["item"] else asked)]
        table.once(seen, place, next((k for k in keys if k in seen), keys[0]), f"id {id!r}", "id")
        seen |= dict.fromkeys(keys, place)
        points, levels = _weighed(table, place, row)
        made.append(Criterion(id, row["criterion"], points, levels, row["group"], row["item"]))
    table.close("criterion")
    by = {item: [c for c in made if c.item in ("", item)] for item in asked}
    if lost := [item for item, mine in by.items() if not any(c.points > 0 for c in mine)]:
        raise BedsideError(
            f"{table.name} has no criterion with points above 0 for the question {lost[0]!r}, so no"
            " answer to it can have a score; add one"
        )
    return by


def fails_at(path: str | Path) -> float:
    """The highest score that is a failure, of 1 at most: a rubric's own, or FAILS_AT.

    Raises BedsideError naming the line of what is no percentage, or of a second one.
    """
    table, limits = _table(path), {}
    for place, row in table.rows:
        if text := row["fails_at"].strip().removesuffix("%").strip():
            try:
                limits[Fraction(text) / 100] = place
                if max(limits) >= 1 or len(limits) > 1:
                    raise ValueError
            except (ValueError, ZeroDivisionError):
                told = "give one percentage of the points, below 100, for the whole rubric"
                table.fault(place, "fails_at", f"{row['fails_at']!r}: {told}")
    table.close("criterion")
    return float(next(iter(limits), FAILS_AT))


def _table(path):
    marked = Path(path).suffix.lower() == ".md"
    if marked:
        return _of_markdown(path, COLUMNS, COLUMNS[:1])
    return user_files.of_file(path, COLUMNS, COLUMNS[:1], rows_of=as_criteria)


def _weighed(table, place, row):
    """(points, levels) of a row; one of the two is given."""
    levels = tuple(filter(None, (level.strip() for level in row["levels"].split("|"))))
    if levels:
        if row["points"].strip():
            table.fault(place, "points", "a scale has levels and no points; leave one empty")
        if not 2 <= len(levels) <= 10 or len(set(levels)) < len(levels):
            table.fault(place, "levels", "give two to ten different ones: none | some | severe")
        return 0.0, levels
    try:
        points = float(row["points"])
        if not points or not math.isfinite(points):
            raise ValueError
    except ValueError:
        table.fault(place, "points", f"{row['points']!r} isn't a number other than 0")
        points = 0.0
    return points, ()


def _of_markdown(path, *columns):
    """The list lines of a Markdown file as a Table; indented lines go on with the one before."""
    found, group, last, limit = paths.found(path), "", None, ""
    table = user_files.Table(paths.rel(found), *columns)
    for number, line in enumerate(user_files.text_of(found, table, KINDS).splitlines(), 1):
        place = f"line {number}"
        if heading := HEADING.fullmatch(line):
            group, last = heading[1], None
        elif limited := LIMIT.fullmatch(line):
            limit, last = f"{limit} {limited[1]}".strip(), None
        elif criterion := LINE.fullmatch(line):
            head = criterion["head"].strip()
            weight = {"levels" if "|" in head else "points": head}
            last = {"criterion": criterion["text"], "group": group, **weight}
            table.add(place, last)
        elif re.match(r"\s*[-*+]\s", line):
            table.fault(place, "", "begins with neither points nor levels, as `- 5: text` does")
        elif last is not None and line[:1].isspace() and line.strip():
            table.rows[-1][1]["criterion"] += f" {line.strip()}"
        else:
            last = None
    for _, row in table.rows:
        row["fails_at"] = limit
    return table
