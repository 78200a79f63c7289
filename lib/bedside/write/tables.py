"""Tables: the rows that all studies share, and their forms for machines (CSV) and readers.

rows = [Row("a model", "PCR", "run", *percent(12, 40)), *published_rows(run.published("Table 1"))]
run.table("table1_scores", frame(rows), "Table 1: scores")
"""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsInt

from bedside import BedsideError, choose, stats
from bedside.judging import trust_cards
from bedside.read import paths, prompts
from bedside.read.checks import complete, scored
from bedside.read.published import SOURCES

from .layouts import Grid, Layout, grid

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike


COLUMNS = "row column source value low high n unscored worst best".split()


class Row(NamedTuple):
    """A number of a table, with its interval if it has one; `source` is one of SOURCES.

    worst, best: the number if all that is unscored had been that.
    """

    row: str
    column: str
    source: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unscored: int | None = None
    worst: float | None = None
    best: float | None = None


def frame(rows: Iterable[tuple]) -> "pd.DataFrame":
    """A table's frame from `Row`s, or from tuples that begin with the same fields."""
    import pandas as pd

    return pd.DataFrame([Row(*row) for row in rows], columns=COLUMNS)


# ---- statistics as rows


def percent(hits: SupportsInt, n: int) -> tuple[float, float, float, int]:
    """A share in percent, each row its own unit, as `stats.share`: (value, low, high, n)."""
    return share([k < int(hits) for k in range(n)])


def share(hits: "ArrayLike", units: "ArrayLike | None" = None) -> tuple[float, float, float, int]:
    """A share of booleans in percent where units repeat, as `stats.share`: value, low, high, n."""
    i = stats.share(hits, units)
    return 100 * i.value, 100 * i.low, 100 * i.high, i.n


def units_of(graded: "pd.DataFrame") -> "pd.Series":
    """The unit of each answer, such as the myth behind its question: `unit`, or else the item."""
    column = unit_column(graded)
    return complete(graded, [column])[column]


def unit_column(frame: "pd.DataFrame") -> str:
    """The column that names units: `unit`, or else `item`."""
    return "unit" if "unit" in frame else "item"


def paired(
    graded: "pd.DataFrame", run: Any, hits: bool = True, lowest: float = 0
) -> "pd.DataFrame":
    """Paired tests between models on shared items: on the share of grade 1, and on the mean grade.

    graded: item, model, status, value, and unit if several items share one. The test of the share
    is McNemar's exact one if no unit repeats, else a permutation test, as that of the mean grade
    always is; it flips the items of a unit together. hits: False for scores up to 1, whose mean
    takes the place of the share; lowest: the least that they may be.

    Columns: row, test (of the share), difference (in percentage points) with limits low and high
    (over units, as `stats.difference`), means (difference of the mean grades), p, permutation (p of
    the mean grade), n, detectable (minimum detectable difference, in points). p isn't corrected. A
    pair of models without a shared item has n 0 and no numbers.
    """
    import itertools

    import pandas as pd

    known = scored(complete(graded, ["item", "model"]))
    unit = known.assign(unit=units_of(known)).drop_duplicates("item").set_index("item")["unit"]
    repeated = unit.duplicated().any()
    test = "permutation of units" if repeated else "McNemar" if hits else "permutation"
    wide = known.pivot(index="item", columns="model", values="value").astype(float)
    rows = []
    for a, b in itertools.combinations(sorted(graded["model"].unique()), 2):
        both = wide.reindex(columns=[a, b]).dropna()
        row = {"row": f"{a} vs {b}", "test": test, "n": len(both)}
        if len(both):
            (x, y), units = both.to_numpy().T, unit[both.index].to_numpy()
            a, b = ((x == 1).astype(float), (y == 1).astype(float)) if hits else (x, y)

            def permuted(a, b, units=units):
                return stats.paired_permutation(a, b, run.rng("pairs"), units=units)

            i = stats.difference(100 * a, 100 * b, units, scale=(100 * lowest, 100))
            row |= {
                "difference": 100 * (a.mean() - b.mean()),
                "low": i.low,
                "high": i.high,
                "means": x.mean() - y.mean(),
                "p": stats.mcnemar(a, b) if hits and not repeated else permuted(a, b),
                "permutation": permuted(x, y),
                "detectable": 100 * stats.detectable(a - b, units),
            }
        rows.append(row)
    columns = "row test difference low high means p permutation n detectable".split()
    return pd.DataFrame(rows, columns=columns)


# ---- notes, and replies without an answer


def few_note(rows: "pd.DataFrame") -> str:
    """A caption's note on measured numbers with fewer units than their interval needs.

    Empty for a table of counts.
    """
    rows = rows.reindex(columns=COLUMNS)
    counts = rows["low"].isna().all() and (rows["value"].dropna() % 1 == 0).all()
    bare = rows[rows["source"].isin(["raw", "run"]) & rows["value"].notna() & rows["low"].isna()]
    if bare["n"].between(1, stats.LEAST - 1).any() and not counts:
        return "Numbers without an interval have fewer than ten units."
    bare = bare[bare["n"].between(stats.LEAST, stats.SEVERAL - 1)]
    several = bare["column"].astype(str).str.contains("kappa|alpha|F1").any()
    return "Kappa, alpha and F1 need twenty units for an interval." if several else ""


def no_answer_rows(row: str, why: "pd.Series", what: str = "no answer") -> list[Row]:
    """`Row`s, in percent, for each reason why replies hold no answer; none if all hold one.

    why: a reply_status for each reply, empty for an answer. Failed calls count by kind. what: the
    words before the reason.
    """
    kinds = why.astype(str).str.split(":").str[0]
    counts = kinds[kinds != ""].value_counts().sort_index()
    n = len(why)
    return [Row(row, f"{what}: {k}, %", "run", 100 * c / n, n=n) for k, c in counts.items()]


# ---- judges' trust cards as rows


def card_rows(name: str, card: dict, labels: dict[str, str]) -> list[Row]:
    """A trust card's measures ({key: label}) as `Row`s, in percent except for kappas.

    The key `scale` stands for the kappa that fits the card's values, under its own name. For a
    judge that gave no verdict measures have no value and n is 0.
    """
    rows = []
    for key, label in labels.items():
        key, label = trust_cards.scale(card) if key == "scale" else (key, label)
        measure, most = card.get(key, {"n": 0}), 1 if "kappa" in key else 100
        numbers = (measure.get(x) for x in ("value", "low", "high"))
        numbers = (None if x is None else most * x for x in numbers)
        rows.append(Row(name, label, "run", *numbers, measure["n"], card["unscored"]))
    return rows


# ---- forms


def write(
    path: Path,
    rows: "pd.DataFrame",
    title: str,
    caption: str,
    layout: Layout | None = None,
) -> Grid:
    """Write path.csv and .md from rows with COLUMNS; return the table for readers.

    The CSV has ten significant digits, so that every processor writes the same bytes. Raises
    BedsideError if there are no rows, for a number without row, column or source, for an unknown
    source, and for two numbers of one source in one place.
    """
    rows = rows.reindex(columns=COLUMNS)
    if rows.empty or rows[["row", "column", "source"]].isna().any(axis=None):
        raise BedsideError(f"{path.name}: a table needs rows, each with row, column and source")
    for s in rows["source"].unique():
        choose(s, SOURCES, "source of a number")
    if (same := rows.duplicated(["row", "column", "source"])).any():
        raise BedsideError(f"{path.name}: {rows[same].iloc[0, :3].tolist()} occurs twice")
    people = grid(rows.to_dict("records"), layout)
    csv = csv_text(COLUMNS, rows.itertuples(index=False))
    paths.write(path.with_name(f"{path.name}.csv"), csv)
    paths.write(path.with_name(f"{path.name}.md"), people.markdown(title, caption))
    return people


def for_people(rows: "pd.DataFrame", digits: int = 2) -> Grid | str:
    """Table rows as a table for readers, or a note that there are none."""
    if not len(rows):
        return "no rows yet"
    return grid(rows.reindex(columns=COLUMNS).to_dict("records"), Layout(digits=digits))


def cell_text(value: object) -> str:
    """Text for a CSV cell: without orders to a terminal, and never a spreadsheet formula."""
    text = prompts.plain(value)
    formula = text[:1] in ("=", "+", "-", "@", "\t", "\r") and not NUMBER.fullmatch(text)
    return "'" * formula + text


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.I)


def csv_text(columns: Iterable[str], rows: Iterable[Iterable]) -> str:
    """A CSV of rows that may hold any text."""
    return "\n".join([",".join(columns), *(",".join(map(_csv_cell, row)) for row in rows), ""])


def _csv_cell(value: object) -> str:
    """One CSV cell: numbers with ten significant digits, text made safe and quoted if needed."""
    if value is None or value != value:
        return ""
    if isinstance(value, (int, float)) or hasattr(value, "dtype"):
        return f"{float(value):.10g}" if value else "0"
    text = cell_text(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def read(path: Path) -> list[dict[str, str | float | None]]:
    """The rows of a table's CSV as `layout` takes them: numbers as floats, None for empty cells."""
    numbers = COLUMNS[3:]
    with open(path, newline="", encoding="utf-8") as f:
        return [
            {k: (float(v) if v else None) if k in numbers else v for k, v in row.items()}
            for row in csv.DictReader(f)
        ]
