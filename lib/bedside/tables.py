"""Tables: the rows that all papers share, and their forms for machines (CSV) and people (HTML, Markdown, LaTeX)."""

import contextlib
import html
import re
from typing import NamedTuple

from . import prompts, stats
from .published import SOURCES

COLUMNS = ["row", "column", "source", "value", "low", "high", "n", "unscored"]
BOUNDS = " if unscored were worst to best"


class Row(NamedTuple):
    """A number of a table, with its interval if it has one; `source` is one of SOURCES."""

    row: str
    column: str
    source: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unscored: int | None = None


def frame(rows):
    """A table's frame from `Row`s, or tuples that begin as they do."""
    import pandas as pd

    return pd.DataFrame([Row(*row) for row in rows], columns=COLUMNS)


def printed(rows):
    """`Row`s of a printed table's numbers."""
    return [Row(r.row, r.column, "published", r.value) for r in rows.itertuples()]


def table_rows(rows):
    """Table rows of numbers without interval, from tuples (row, column, source, value, n)."""
    import pandas as pd

    return pd.DataFrame(rows, columns=["row", "column", "source", "value", "n"])


def interval_rows(rows):
    """Table rows from tuples (row, column, source, value, low, high, n), as `percent` ends them."""
    import pandas as pd

    return pd.DataFrame(rows, columns=["row", "column", "source", "value", "low", "high", "n"])


def printed_rows(printed):
    """Tuples for `interval_rows` from the rows of a printed table."""
    return [(r.row, r.column, "published", r.value, None, None, None) for r in printed.itertuples()]


def estimates(frame, columns, by, run, *, worst=0.0, best=1.0):
    """Means of `columns` by the keys `by`, with bootstrap intervals over items: rows with value, low, high, n, unscored.

    n counts items with a value, unscored the rows without one; least and most are the means if those had been worst
    or best. A group without any value has none and n 0.
    """
    import pandas as pd

    rows = []
    for key, part in frame.groupby(by, sort=False):
        for name in columns:
            got = part[part[name].notna()]
            value, lost = got[name].to_numpy(float), len(part) - len(got)
            row = {
                **dict(zip(by, key)),
                "metric": name,
                "n": got["item"].nunique(),
                "unscored": lost,
                "least": (value.sum() + worst * lost) / len(part),
                "most": (value.sum() + best * lost) / len(part),
            }
            if len(value):
                i = stats.bootstrap(
                    value, run.rng("scores", name, *key), units=got["item"].to_numpy()
                )
                row |= {"value": i.value, "low": i.low, "high": i.high}
            rows.append(row)
    return pd.DataFrame(rows).reindex(
        columns=[*by, "metric", "value", "low", "high", "n", "unscored", "least", "most"]
    )


def differences(first, second, on, columns):
    """What `second` rows score more than `first` ones of the same `on` (items among them): `on` and a column for each of `columns`."""
    both = first.merge(second, on=on, suffixes=("", "_new"), validate="one_to_one")
    return both[on].assign(**{c: both[f"{c}_new"] - both[c] for c in columns})


def tested(changes, columns, by, run):
    """Differences by group: `estimates` rows, and p of paired permutation tests over items, Holm-corrected over all.

    Groups without a pair have no p.
    """
    import pandas as pd

    p = [
        (
            *key,
            c,
            stats.paired_permutation(
                got[c].to_numpy(),
                got[c].to_numpy() * 0,
                run.rng("p", *key, c),
                units=got["item"].to_numpy(),
            ),
            got["item"].nunique(),
        )
        for key, part in changes.groupby(by, sort=False)
        for c in columns
        if len(got := part.dropna(subset=[c]))
    ]
    p = pd.DataFrame(p, columns=[*by, "metric", "p", "n"])
    return estimates(changes, list(columns), by, run, worst=-1.0), p.assign(
        p=stats.holm(p["p"].to_numpy(float))
    )


def tested_rows(changes, names, run):
    """`tested` as table rows with bounds: differences of each `row`, and their p; names: {column: what is shown}."""
    import pandas as pd

    found, p = tested(changes, names, ["row"], run)
    return pd.concat(
        [
            with_bounds(found.assign(column="Δ " + found["metric"].map(names), source="run")),
            table_rows(
                (r.row, f"p of Δ {names[r.metric]}, Holm", "run", r.p, r.n) for r in p.itertuples()
            ),
        ],
        ignore_index=True,
    )


def percent(hits, n):
    """A share in percent with its Wilson interval: (value, low, high, n)."""
    i = stats.wilson(int(hits), n)
    return 100 * i.value, 100 * i.low, 100 * i.high, n


def with_bounds(rows):
    """Rows of scores, and for each with unscored answers what it is (least, most) if all of them were worst, or best."""
    import pandas as pd

    lost = rows[rows["unscored"] > 0]
    return pd.concat(
        [
            rows,
            lost.assign(
                value=float("nan"),
                low=lost["least"],
                high=lost["most"],
                column=lost["column"] + BOUNDS,
            ),
        ],
        ignore_index=True,
    )


def without_bounds(rows):
    """The rows without those that `with_bounds` added."""
    return rows[~rows["column"].str.endswith(BOUNDS)]


def card_rows(name, card, labels):
    """A trust card's measures ({key: label}) as table rows: percent, kappas as they are; a tuple each."""
    return [
        (
            name,
            label,
            "run",
            *((1 if "kappa" in key else 100) * card[key][x] for x in ("value", "low", "high")),
            card[key]["n"],
            card["unscored"],
        )
        for key, label in labels.items()
        if key in card
    ]


def card_table(cards, positive):
    """Trust cards of two grades ({judge: card}) as table rows, a constant guesser at the end; `positive` is a grade's name."""
    import pandas as pd

    labels = {
        "exact": "exact match",
        "sensitivity": f"sensitivity for {positive}",
        "specificity": f"specificity for {positive}",
        "kappa": "kappa",
    }
    rows = [r for name, card in cards.items() for r in card_rows(name, card, labels)]
    guess = next(iter(cards.values()))
    rows += [
        (
            "constant guesser",
            "exact match",
            "run",
            100 * guess["guesser_exact"],
            None,
            None,
            guess["n"],
            0,
        )
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def confusion_table(cards):
    """The judges' confusion matrices ({judge: card}) as table rows: label and grade against counts."""
    return table_rows(
        (
            f"{name}: label {x}",
            f"graded {y}",
            "run",
            card["confusion"][i][j],
            sum(card["confusion"][i]),
        )
        for name, card in cards.items()
        for i, x in enumerate(card["values"])
        for j, y in enumerate(card["values"])
    )


def number(value, digits):
    """A number for people: fixed decimals, nothing for a missing one."""
    return "" if value is None or value != value else f"{value:.{digits}f}"


def layout(rows, digits):
    """A long table for people: one line for each row and column, the sources side by side, intervals in brackets.

    rows: dicts with the keys of COLUMNS; None or NaN where there is no number.
    """
    used = [s for s in SOURCES if any(r["source"] == s for r in rows)]
    lines = [["", "", *(SOURCES[s] for s in used), "n", "unscored"]]
    cells = {}
    for r in rows:
        cells.setdefault((r["row"], r["column"]), {})[r["source"]] = r
    for (row, column), by in cells.items():
        line = [str(row), str(column)]
        for s in used:
            r = by.get(s)
            between = bool(r) and number(r["low"], 0)
            whole = (
                bool(r)
                and not between
                and number(r["value"], 0)
                and r["value"] >= 10
                and r["value"] % 1 == 0
            )  # a count
            line.append(
                ""
                if r is None
                else number(r["value"], 0 if whole else digits)
                + (f" [{number(r['low'], digits)}, {number(r['high'], digits)}]" if between else "")
            )
        for what in ("n", "unscored"):
            line.append(
                " / ".join(
                    dict.fromkeys(t for s in used if s in by and (t := number(by[s][what], 0)))
                )
            )
        lines.append(line)
    keep = [i for i in range(len(lines[0])) if i < 1 or any(line[i] for line in lines[1:])]
    return [[line[i] for i in keep] for line in lines]


class People(list):
    """People's table as lines of cells; a notebook shows it as an HTML table."""

    def _repr_html_(self):
        rows = [
            "".join(f"<{t}>{html.escape(c)}</{t}>" for c in line)
            for t, line in zip(["th"] + ["td"] * len(self), self)
        ]
        return "<table><tr>" + "</tr><tr>".join(rows) + "</tr></table>"


def for_people(frame, digits=2):
    """Table rows as people's table, or a word that there are none."""
    return (
        People(layout(frame.reindex(columns=COLUMNS).to_dict("records"), digits))
        if len(frame)
        else "nothing yet"
    )


def markdown(lines, title, caption):
    """People's table as Markdown."""

    def cell(text):
        return re.sub(r"([|\\`*_<>\[\]])", r"\\\1", text).replace("\n", " ")

    body = [f"| {' | '.join(map(cell, line))} |" for line in lines]
    return "\n".join(
        [f"**{title}**", "", body[0], "|---" * len(lines[0]) + "|", *body[1:], "", caption, ""]
    )


def latex(lines, title, caption):
    """People's table as a LaTeX table environment (booktabs)."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{c: "\\" + c for c in "&%$#_{}"},
    }

    def cell(text):
        return "".join(special.get(c, c) for c in text).replace("\n", " ")

    body = [" & ".join(map(cell, line)) + r" \\" for line in lines]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{cell(title)}. {cell(caption)}}}",
            rf"\begin{{tabular}}{{{'ll' + 'r' * (len(lines[0]) - 2)}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def read(row):
    """A row of a table's CSV as `layout` takes it: numbers as floats, None where there is none."""
    numbers = COLUMNS[3:]
    return {k: (float(v) if v else None) if k in numbers else v for k, v in row.items()}


def cell_text(value):
    """Text for a CSV cell: without lone surrogates, and never a spreadsheet formula."""
    text = prompts.clean(value)
    if text[:1] in ("=", "+", "-", "@", "\t", "\r"):
        with contextlib.suppress(ValueError):
            float(text)
            return text
        return "'" + text
    return text


def csv_cell(value):
    """One CSV cell: numbers with ten significant digits, text safe and quoted where it must be."""
    if value is None or value != value:
        return ""
    if isinstance(value, (int, float)) or hasattr(value, "dtype"):
        return f"{float(value):.10g}" if value else "0"
    text = cell_text(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text
