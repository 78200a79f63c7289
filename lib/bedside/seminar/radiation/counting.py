"""Tasks 2.4 to 2.6: precision, recall and F1 of lists, padded lists, and how far two lists overlap.

Each check knows the numbers that common mistakes lead to.
"""

from bedside import stats
from bedside.read.checks import normal
from bedside.seminar import fields, right, task
from bedside.seminar.radiation.material import MODEL, SIZED, Material


class Counting(Material):
    """Scores of lists, by hand (sections 3.4 to 3.6)."""

    def _hits(self):
        """Hits of the list of ten: one to one, and counted with one or both common mistakes.

        One to one; if every wording counts; if the site doesn't matter; and with both mistakes.
        """
        meant = [t for t in self.ten.values() if t]
        mine = [t for t in meant if t in self.site.index]
        return len(set(mine)), len(mine), len(set(meant)), len(meant)

    @task(
        "2.4",
        'Write {"hits": a number, "precision": ..., "recall": ..., "F1": ...}, shares with two'
        " decimals.",
    )
    def counted(self, given):
        """Task 2.4: hits, precision, recall and F1 of the list of ten."""
        hits, loose, anywhere, both = self._hits()
        n, size = len(self.ten), len(self.site)
        p, r = hits / n, hits / size
        f1 = stats.harmonic(p, r)
        mistakes = {
            "two wordings of one effect count once: matching is one to one, so one entry stands"
            " for one effect.": {"hits": loose},
            "you counted near misses, or effects that aren't in the reference of this site. After"
            " a mastectomy the beam goes to the chest wall: look at the site's list.": {
                "hits": anywhere
            },
            "count again. Two wordings of one effect count once, and what isn't in the reference"
            " of this site doesn't count.": {"hits": both},
            "precision and recall are swapped. Precision is a share of what the list says, recall"
            " a share of what it should say.": {"precision": r, "recall": p},
            "F1 is the harmonic mean, 2PR / (P + R), not the arithmetic one. It stays near the"
            " smaller of the two.": {"F1": (p + r) / 2},
            "the denominator of recall is the reference of this site, not the whole vocabulary.": {
                "recall": hits / len(self.terms)
            },
        }
        hint = (
            f"Precision: hits / {n} entries. Recall: hits / effects in the reference of the site."
            " F1: 2PR / (P + R)."
        )
        right(given, {"hits": hits, "precision": p, "recall": r, "F1": f1}, mistakes, hint)
        return (
            f"precision {p:.2f}, recall {r:.2f}, F1 {f1:.2f}. For the patient the two kinds of"
            f" error differ: a false entry may frighten, and {size - hits} effects weren't"
            " mentioned."
        )

    @task("2.5", 'Write {"precision": ..., "recall": ..., "F1": ..., "wrong of 25": a number}.')
    def padded(self, given):
        """Task 2.5: the list of everything, and a size that is asked for."""
        model, length = SIZED
        rest = f"wrong of {length}"
        *first, wrong = fields(given, ["precision", "recall", "F1", rest])
        f1 = self._of_everything(first)
        wrong_of_sized = self._of_sized(rest, wrong)
        printed = self.printed("Table 1").loc[MODEL, "F1"]
        return (
            f"the list of everything, made without reading the record, has an F1 of {f1:.2f};"
            f" {MODEL} had {printed:.2f} with free-form lists (Table 1, another reference). And"
            f" {wrong_of_sized:.0f} of {model}'s {length} entries would be wrong: a model that is"
            " asked for a size fills its list."
        )

    def _of_everything(self, given):
        """Precision, recall and F1 of the whole vocabulary as a list; returns F1."""
        every, size = len(self.terms), len(self.site)
        p, f1 = size / every, 2 * size / (every + size)
        truth = {"precision": p, "recall": 1.0, "F1": f1}
        mistakes = {
            "precision and recall are swapped. The list of everything misses nothing, so its"
            " recall is 1.": {"precision": 1, "recall": p},
            "F1 is the harmonic mean, not the arithmetic one.": {"F1": (p + 1) / 2},
            "not every entry of the list of everything is right: some don't belong to this site.": {
                "precision": 1
            },
        }
        hint = (
            "In the list of everything, the hits are all effects of the site, and the entries are"
            " the whole vocabulary."
        )
        right(dict(zip(truth, given)), truth, mistakes, hint)
        return f1

    def _of_sized(self, name, given):
        """Wrong entries of a model's list if a size is asked for; returns their number."""
        model, length = SIZED
        before = self.printed("Table 1").loc[model, "Precision"]
        step = self.printed("Table 2").loc[model, "Δ Precision"]
        wrong = length * (1 - before - step)
        mistakes = {
            "these are the right ones, but the task asks for the wrong ones.": {
                name: length * (before + step)
            },
            "this is based on the precision of Table 1, without the list size. Table 2 says by how"
            " much it changes.": {name: length * (1 - before)},
            "this takes the change for the precision. Precision with a list size = precision"
            " without one + Δ.": {name: -length * step},
        }
        hint = "Wrong entries: length × (1 − precision)."
        right({name: given}, {name: wrong}, mistakes, hint, by=0.3)
        return wrong

    @task("2.6", 'Write {"by words": ..., "by meaning": ...} as shares.')
    def overlap(self, given):
        """Task 2.6: how far two lists overlap, by words and by meaning (section 3.6)."""
        a, b = ({normal(w) for w in words} for words in self.two)
        x, y = (set(words.values()) for words in self.two)
        same = len(a & b)
        words, meaning = (len(p & q) / len(p | q) for p, q in ((a, b), (x, y)))
        mistakes = {
            "the two are swapped. By words, only equal wordings count: that overlap is smaller.": {
                "by words": meaning,
                "by meaning": words,
            },
            "you divided by the base list. That gives the share of it that was kept. The overlap"
            " divides by the union: everything in either list.": {"by words": same / len(a)},
            "this is twice the intersection over the sum of the lengths (Dice, the same as F1)."
            " The overlap of section 3.6 divides the intersection by the union.": {
                "by words": 2 * same / (len(a) + len(b))
            },
            "you divided by the sum of the lengths. That counts twice what is in both lists. Take"
            " it off once.": {"by words": same / (len(a) + len(b))},
            "by meaning, entries that name the same effect in other words are one entry. They are"
            " one entry in the union, too.": {"by meaning": words},
        }
        hint = "Count what is in both lists and what is in either, and divide."
        right(given, {"by words": words, "by meaning": meaning}, mistakes, hint)
        return (
            f"{words:.2f} by words, {meaning:.2f} by meaning. Part of what looks like"
            " inconsistency is a synonym. Both are far below 1. The overlap can't say whether that"
            " is bad; the next task asks this."
        )
