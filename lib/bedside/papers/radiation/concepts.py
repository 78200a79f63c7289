"""Radiation: which organs, processes and directions a wording names.

The words are data: rows of data/sample/radiation/concepts.jsonl such as

    {"concept": "lung", "kind": "organ", "part_of": "", "words": ["lung", "pulmon*"]}

An entry stands for itself and its plural; * is any beginning or ending. An entry of several words
stands for these words in a row. Where several entries fit in one place, the longest is read. An
entry that is in two rows names both concepts. Each kind is read by itself: "dermatitis" names an
organ and a process.
"""

import re

import numpy as np

from bedside.read.checks import normals

SMALL = set("a an the of in on at to and or by your this that with is are it s".split())
# "if the nodes are treated", but not "as if" and "for a while"
CONDITION = re.compile(r"\b(?:(?<!as )if|(?<!a )while|unlike)\b[^)]*", re.I)
FOREIGN = {"organ elsewhere", "other cause"}  # kinds in which an item names no more than its term
SILENT = FOREIGN | {"organ", "process"}  # kinds that may be left unnamed; the others are directions


class Concepts:
    """Which concepts wordings name, and which wordings are at odds or say the same.

    rows: dicts with concept, kind, part_of and words. Where a part and its whole are both named,
    the part is meant: the nipple of the breast.
    """

    def __init__(self, rows):
        place = {(r["kind"], r["concept"]): i for i, r in enumerate(rows)}
        self.size = len(rows)
        self.parts = [
            (i, place[r["kind"], r["part_of"]]) for i, r in enumerate(rows) if r["part_of"]
        ]
        kinds = np.array([r["kind"] for r in rows])
        self.kinds = {k: kinds == k for k in dict.fromkeys(kinds.tolist())}
        self.readers = [_reader(rows, np.flatnonzero(mine)) for mine in self.kinds.values()]

    def named(self, texts):
        """Which concepts texts (n,) name: booleans (n, concepts)."""
        found, words = np.zeros((len(texts), self.size), dtype=bool), _spoken(texts)
        for row, text in zip(found, texts):
            for reader, concepts in self.readers:
                for m in reader.finditer(words[text]):
                    row[concepts[m.lastindex - 1]] = True
        for part, whole in self.parts:
            found[:, whole] &= ~found[:, part]
        return found

    def compared(self, said, known, owner):
        """Items against wordings by what they name: (at odds, says the same), booleans (n, w) each.

        said: (n, concepts), of items. known: (w, concepts), of wordings. owner: (w,), their terms.

        An item is at odds with a wording if it names something of a kind but leaves out some of
        what the wording names of that kind. Where the wording names nothing of a kind, the other
        wordings of its term count instead, and one of the things that they name is enough; of a
        foreign kind an item may name only what they name. A direction that the wording names must
        be named: hair loss is not permanent hair loss. An item says the same if it is not at odds,
        if it names all that the wording names, a process among it, and if it names no organ where
        the term names none.
        """
        shape = len(said), len(known)
        odds, same = np.zeros(shape, dtype=bool), np.full(shape, "process" in self.kinds)
        terms = np.zeros((max(owner) + 1, self.size), dtype=bool)
        np.logical_or.at(terms, owner, known)
        for kind, mine in self.kinds.items():
            # floats: a product of integers takes ten times as long
            item, word, term = (m[:, mine].astype("float32") for m in (said, known, terms[owner]))
            names, words, terms_do = item.any(1)[:, None], word.any(1), term.any(1)
            lacking = item @ word.T < word.sum(1)
            strange = names & ~words & (terms_do | (kind in FOREIGN)) & (item @ term.T == 0)
            odds |= strange | (lacking & (names | (kind not in SILENT)))
            same &= (
                ~lacking & (words | (kind != "process")) & (terms_do | ~names | (kind != "organ"))
            )
        return odds, same & ~odds


def _spoken(texts):
    """{text: the text without case, punctuation, small words and conditional clauses}."""
    said = {t: CONDITION.sub(" ", t) for t in texts}
    words = normals(said.values())
    return {t: _large(words[s]) for t, s in said.items()}


def _large(text):
    """Text without small words."""
    return " ".join(w for w in text.split() if w not in SMALL)


def _reader(rows, places):
    """For the rows at these places: (expression, which rows each of its groups names)."""
    named = {}
    for i in places:
        for entry in rows[i]["words"]:
            named.setdefault(_large(entry), []).append(i)
    longest = sorted(named, key=len, reverse=True)
    ends = [re.escape(e).replace(r"\*", r"\w*") + "(?:e?s)?" * (e[-1] != "*") for e in longest]
    # the empty group tells the entry; being last, it lets the search begin with a letter
    words = "|".join(rf"{end}\b()" for end in ends)
    return re.compile(rf"\b(?:{words})"), [named[e] for e in longest]
