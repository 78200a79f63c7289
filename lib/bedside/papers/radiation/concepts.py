"""Radiation: what a wording names: organs, processes and directions, read off words that are data.

The words stand in data/sample/radiation/concepts.jsonl, in rows such as

    {"concept": "lung", "kind": "organ", "part_of": "", "words": ["lung", "pulmon*"]}

An entry stands for itself and its plural, with * for any beginning or ending; one of several words
for these in a row. Where several could be read in one place, the longest is. An entry of two rows
names both. Kinds are read one by one: "dermatitis" names an organ and a process.
"""

import re

import numpy as np

from bedside.checks import normals

SMALL = set("a an the of in on at to and or by your this that with is are it s".split())
# "if the nodes are treated", but not "as if" and "for a while"
CONDITION = re.compile(r"\b(?:(?<!as )if|(?<!a )while|unlike)\b[^)]*", re.I)
FOREIGN = {"organ elsewhere", "other cause"}  # kinds in which an item says no more than its term
SILENT = FOREIGN | {"organ", "process"}  # kinds that may go without saying; the others: directions


class Concepts:
    """Which concepts wordings name, and which of them are at odds or say the same.

    rows: dicts of concept, kind, part_of and words. Where a part and its whole are both named, the
    part is meant: the nipple of the breast.
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
        """What texts (n,) name: (n, concepts) of bool."""
        found, words = np.zeros((len(texts), self.size), dtype=bool), _spoken(texts)
        for row, text in zip(found, texts):
            for reader, concepts in self.readers:
                for m in reader.finditer(words[text]):
                    row[concepts[m.lastindex - 1]] = True
        for part, whole in self.parts:
            found[:, whole] &= ~found[:, part]
        return found

    def compared(self, said, known, owner):
        """(at odds, says the same), each (n, w): items against wordings, by what they name.

        said: (n, concepts) of items, known: (w, concepts) of wordings, owner: (w,) whose they are.

        An item is at odds with a wording if, of one kind, it names something and leaves out some of
        what the wording names. Where the wording names nothing of that kind, the other wordings of
        its owner speak for it, and one of what they name is enough; of a foreign kind an item names
        nothing that they don't. A direction that the wording names can't be left unnamed: hair loss
        is not permanent hair loss. An item says the same if it is not at odds, names all that the
        wording names, a process among it, and no organ if its owner names none.
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
    """{text: it without case, punctuation, small words, and conditions with what they name}."""
    said = {t: CONDITION.sub(" ", t) for t in texts}
    words = normals(said.values())
    return {t: _large(words[s]) for t, s in said.items()}


def _large(text):
    """Text without small words."""
    return " ".join(w for w in text.split() if w not in SMALL)


def _reader(rows, places):
    """(expression, which rows each of its groups names) for the rows at these places."""
    named = {}
    for i in places:
        for entry in rows[i]["words"]:
            named.setdefault(_large(entry), []).append(i)
    longest = sorted(named, key=len, reverse=True)
    ends = [re.escape(e).replace(r"\*", r"\w*") + "(?:e?s)?" * (e[-1] != "*") for e in longest]
    # the empty group says which entry it was; at the end it lets the search begin with a letter
    words = "|".join(rf"{end}\b()" for end in ends)
    return re.compile(rf"\b(?:{words})"), [named[e] for e in longest]
