"""Rubrics of several criteria that a user brings: points for what an answer does.

    criteria("rubric.csv", items)
    criteria("rubric.md", items)

CSV and JSON Lines have COLUMNS. In Markdown each criterion is a line of a list below a heading that
names its group: `- 5: says when to call for help`, `- -3: names a dose`, and for a scale, from the
least to the most, `- none | some | severe: harm to who follows it`. Other text is for people.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bedside import BedsideError

from . import paths, user_files

COLUMNS = ("criterion", "points", "levels", "id", "group", "item")
KINDS = (*user_files.KINDS, ".md")
LINE = re.compile(r"\s*[-*+]\s+(?P<head>[^:]*):\s*(?P<text>.*)")
HEADING = re.compile(r"#+\s+(.*?)[\s#]*")


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
    marked = Path(path).suffix.lower() == ".md"
    of_file = _of_markdown if marked else user_files.of_file
    table = of_file(path, COLUMNS, COLUMNS[:1])
    asked, seen, made = list(dict.fromkeys(items)), {}, []
    for number, (place, row) in enumerate(table.rows, 1):
        table.filled(place, row, ["criterion"])
        if row["item"] and row["item"] not in asked:
            table.fault(place, "item", f"{row['item']!r} is none of the questions")
        named = row["criterion"].replace(",", ";") if row["levels"] else str(number)
        id = row["id"].strip() or named  # a comma parts labels
        table.once(seen, place, id, f"id {id!r}", "id")
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
        table.fault(place, "points", f"{row['points']!r} is no number other than 0")
        points = 0.0
    return points, ()


def _of_markdown(path, *columns):
    """The list lines of a Markdown file as a Table; indented lines go on with the one before."""
    found, group, last = paths.found(path), "", None
    table = user_files.Table(paths.rel(found), *columns)
    for number, line in enumerate(user_files.text_of(found, table, KINDS).splitlines(), 1):
        place = f"line {number}"
        if heading := HEADING.fullmatch(line):
            group, last = heading[1], None
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
    return table
