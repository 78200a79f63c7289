"""Grids: tables for readers, as HTML, Markdown and LaTeX; `layouts` makes them."""

import dataclasses
import html
import re
from itertools import groupby

from bedside.read import prompts

ASIDE = r"( ?\[.*\])?( ?\(.*\bto\b.*\))?"  # what may follow a number: interval, bounds
# what a page calls a table of more columns: its intervals stand below their numbers; it is printed
# across the sheet
COLUMNS = {"wide": 5, "wider": 14}
LABEL = ' class="label"'


@dataclasses.dataclass
class Grid:
    """A table for readers: heading lines, lines, and notes on its signs and numbers of units.

    head: lines of headings over the columns that aren't of the stub. stub: headings of the columns
    of labels. lines: (labels, cells) each. places: for each line "row|column" of its cells, from
    which `address` makes their addresses. A notebook shows it as an HTML table.
    """

    stub: list[str]
    head: list[list[str]]
    lines: list[tuple[list[str], list[str]]]
    notes: list[str]
    places: list[list[str | None]]

    def _repr_html_(self):
        return self.html()

    def html(self, name: str = "", taken: set[str] | None = None) -> str:
        """The table and its notes as HTML; everything escaped.

        name: of the output, so that cells have addresses. taken: the addresses given already.
        """
        rows, taken = [], set() if taken is None else taken
        for level in range(len(self.head)):
            stub = ""
            if not level:
                tall = f' rowspan="{len(self.head)}"' if len(self.head) > 1 else ""
                stub = "".join(_html("th" if s else "td", s, LABEL + tall) for s in self.stub)
            heads = (_html("th" if t else "td", t, _wide(n)) for t, n in self._spans(level))
            rows.append(stub + "".join(heads))
        head = "".join(f"<tr>{row}</tr>" for row in rows)
        tall = [_tall([labels[: k + 1] for labels, _ in self.lines]) for k in range(len(self.stub))]
        body = ""
        for i, (labels, cells) in enumerate(self.lines):
            row = ""
            for k, label in enumerate(labels):
                if tall[k][i]:
                    more = f' rowspan="{tall[k][i]}"' if tall[k][i] > 1 else ""
                    row += _html("th" if label else "td", label, more)
            places = [*(self.places[i] if name else ()), *[None] * len(cells)]
            for c, place in zip(cells, places):
                more = ' class="off"' if c.startswith("≠") else ""
                if place and (to := address(name, place)) not in taken:
                    taken.add(to)
                    more += f' id="{html.escape(to)}"'
                row += _html("td", c, more)
            body += f"<tr>{row}</tr>"
        notes = f"<p>{html.escape(self.note)}</p>" if self.notes else ""
        kind = " ".join(["numbers", *(k for k, n in COLUMNS.items() if len(self.head[0]) > n)])
        return f'<table class="{kind}"><thead>{head}</thead><tbody>{body}</tbody></table>{notes}'

    @property
    def note(self) -> str:
        return " ".join(self.notes)

    def _spans(self, level):
        """Neighbours of one heading, under one heading, as (text, how many)."""
        above = [column[: level + 1] for column in zip(*self.head)]
        return [(way[-1], len(list(same))) for way, same in groupby(above)]

    def markdown(self, title: str, caption: str) -> str:
        """The table as Markdown."""
        lines = [f"**{_markdown(title)}**", "", *self._pipes()]
        lines += [line for text in (caption, self.note) if text for line in (_markdown(text), "")]
        return "\n".join(lines)

    def _pipes(self):
        """The lines of a Markdown table."""
        heads = [*self.stub, *(": ".join(filter(None, column)) for column in zip(*self.head))]
        lines = [[_markdown(cell) for cell in line] for line in [heads, *self._lines()]]
        head, *body = (f"| {' | '.join(line)} |" for line in lines)
        rule = "|" + "---|" * len(self.stub) + "--:|" * len(self.head[0])
        return [head, rule, *body, ""]

    def latex(self, title: str, caption: str) -> str:
        """The table as pandas writes LaTeX."""
        import pandas as pd

        text = " ".join(filter(None, [f"{title}.", caption, self.note]))
        stub = [self.stub if line is self.head[-1] else [""] * len(self.stub) for line in self.head]
        heads = [[*map(prompts.plain, [*a, *b])] for a, b in zip(stub, self.head)]
        columns = pd.MultiIndex.from_arrays(heads) if len(heads) > 1 else heads[0]
        frame = pd.DataFrame([[*labels, *cells] for labels, cells in self.lines], columns=columns)
        caption = re.sub(r"([\\&%$#_{}])", r"\\\1", prompts.plain(text))
        return frame.map(prompts.plain).to_latex(index=False, escape=True, caption=caption)

    def _lines(self):
        """Lines of text without repeated labels."""
        before = [None, *(labels for labels, _ in self.lines)]
        return [[*_new(labels, last), *cells] for (labels, cells), last in zip(self.lines, before)]


def address(output: str, place: str) -> str:
    """The address of an output's cell on its study's page: place is "row|column" of its CSV."""
    return re.sub(r"\s+", "_", f"{output}|{place}")


def _html(tag, text, attributes=""):
    """An element; names break at their parts, cells before a small interval only."""
    text = html.escape(text)
    if tag == "th":
        text = text.replace("_", "_<wbr>")
    else:
        text = re.sub(r"(?<!/) (?![\[(])", "\N{NO-BREAK SPACE}", text)
        text = re.sub(ASIDE + "$", lambda m: f"<small>{m[0]}</small>" if m[0] else "", text)
    return f"<{tag}{attributes}>{text}</{tag}>"


def _markdown(text):
    return re.sub(r"([|\\`*_<>\[\]])", r"\\\1", prompts.plain(text)).replace("\n", " ")


def _wide(n):
    return f' colspan="{n}"' if n > 1 else ""


def _tall(labels):
    """For each line over how many lines its label reaches; 0 where the one above does."""
    found = []
    for _, same in groupby(labels):
        n = len(list(same))
        found += [n] + [0] * (n - 1)
    return found


def _new(labels, before):
    """A line's labels, empty as far as they are those of the line before."""
    same = True
    told = []
    for k, label in enumerate(labels):
        same = same and before is not None and before[k] == label
        told.append("" if same else label)
    return told
