"""Prose: frames of texts, as a notebook shows them.

    prose.prose(answers[["item", "question", "answer"]])    # a line for each row
    prose.record(patients.head(1))                          # a line for each field

Texts are shown in full, wrapped, left-aligned and escaped, since data and models may say anything.
Colours and sizes are those of the surrounding page.
"""

from numbers import Number
from typing import TYPE_CHECKING

import pandas as pd

from bedside.asking import store
from bedside.read.claims import word

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

WRAPPED = "text-align: left; vertical-align: top; white-space: pre-wrap; min-width: 3.5em"
CELLS = [{"selector": "th", "props": "text-align: left; vertical-align: top"}]
CELLS += [
    {"selector": "td", "props": WRAPPED},
    {"selector": "caption", "props": "text-align: left"},
]


def prose(rows: pd.DataFrame, digits: int = 2) -> "Styler":
    """A frame as a table to read, without its index; list entries are lines of a cell."""
    return _read(rows, digits).hide(axis="index")


def record(rows: pd.DataFrame, digits: int = 2) -> "Styler":
    """A few rows as a table to read: a line for each field, a column for each row."""
    return _read(rows.reset_index(drop=True).T, digits, drop=False).hide(axis="columns")


def _read(rows, digits, drop=True):
    rows = rows.reset_index(drop=True) if drop else rows
    texts = rows.map(lambda value: _text(value, digits))
    name = store.digest(repr(texts.astype(str).to_dict("split")))[:8]  # one HTML for equal rows
    made = texts.style.set_uuid(name).format(escape="html", precision=digits, na_rep="")
    made = made.format_index(escape="html").format_index(escape="html", axis="columns")
    return made.set_table_styles(CELLS)


def _text(value, digits):
    """A cell's value: numbers and texts as they are, everything else as text to be escaped.

    What rounds to 0 is 0, without a sign.
    """
    if isinstance(value, float) and round(value, digits) == 0:
        return abs(round(value, digits))
    if value is None or isinstance(value, str | Number):
        return value
    if isinstance(value, list | tuple | set):
        value = sorted(value) if isinstance(value, set) else value
        return "\n".join(f"• {entry}" for entry in value)
    return str(value)


class Claims(pd.DataFrame):
    """Claims as a frame; a notebook shows their verdicts first and counts them in the caption."""

    def _repr_html_(self):
        counts = self["verdict"].map(word).value_counts()
        told = ", ".join(f"{word} {n}" for word, n in counts.items())
        first = ["verdict", "claim", "published", "computed", "basis"]
        made = prose(self[[*first, *self.columns.drop(first)]])
        made = made.set_properties(subset=["verdict"], **{"font-weight": "bold"})
        for column, width in {"verdict": "17%", "claim": "27%", "computed": "20%"}.items():
            wide = {"width": width, "overflow-wrap": "anywhere"}  # a path is one long word
            made = made.set_properties(subset=[column], **wide)
        return made.set_caption(f"{len(self)} claims: {told}").to_html()
