"""Radiation: rows about the released files and the numbers of the text (sections 1 to 3.5)."""

import pandas as pd

from bedside.read import published
from bedside.write.tables import Row, frame

from ..checks import COUNTS
from ..data import LEAST, MOST


def text_table(run):
    """The numbers of the paper's abstract and text, by section: table rows.

    Scores that the text repeats from Tables 1 and 2 are left out.
    """
    every = published.load(run.paper)["table"].unique()
    rows = run.published(*(t for t in every if t == "abstract" or t.startswith("text ")))
    made = []
    for r in rows[rows["value"] >= 1].itertuples():
        name = f"{r.table.replace('text', 'section')}: {r.row}{f' ({r.note})' * bool(r.note)}"
        people = r.column == "millions of people"
        value, column = (1e6 * r.value, "people") if people else (r.value, r.column)
        made.append(Row(name, column, "published", value))
    return frame(made)


def length_rows(cells):
    """The lengths of the references beside the list size asked for.

    cells: rows by site and cell of onset and frequency, with the column `all`.
    """
    lengths = cells[cells["column"] == "all"]
    asked = [Row(site, "all", "published", None, LEAST, MOST) for site in lengths["row"]]
    return pd.concat([frame(asked), lengths])


def repair_table(repairs):
    """Each repair of the released reference: which rows, what was found, how it is read.

    The value is the number of rows.
    """
    rows = []
    groups = repairs.groupby(["kind", "found", "read"], sort=False)["row"]
    for (kind, found, read), numbers in groups:
        where = f"{kind}: row{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
        how = f"{found!r} read as {read!r}" if read else f"{found!r} left out"
        rows.append(Row(where, how, "raw", len(numbers)))
    return frame(rows)


def strict_table(run, reference):
    """The released reference counted literally, and as it is meant: table rows."""
    raw = run.load("radiation_reference")
    category, effect, *_ = raw.columns
    there = raw[raw[effect] != ""]
    parts = there[category].str.split("-")
    meant = reference.drop_duplicates(["effect", "onset", "frequency"])
    counts = {
        "rows of the file": (len(raw), len(meant)),
        "side effects": (there[effect].nunique(), meant["effect"].nunique()),
        "onsets, before the hyphen": (parts.str[0].nunique(), meant["onset"].nunique()),
        "frequencies, after the hyphen": (parts.str[1].nunique(), meant["frequency"].nunique()),
    }
    columns = "as it stands", "as it is meant"
    return frame(
        Row(what, column, "raw", n)
        for what, pair in counts.items()
        for column, n in zip(columns, pair)
    )


def pair_table(counts, changed, source):
    """Counts of the differences within pairs of profiles: of all pairs, then each difference."""
    size = len(counts)
    rows = [Row("all pairs", COUNTS[c], source, counts[c].sum(), n=size) for c in COUNTS]
    for (item, old, new), part in changed.groupby(["item", "removed", "added"], sort=False):
        rows.append(Row(item, f"{old!r} became {new!r}", source, len(part)))
    return frame(rows)
