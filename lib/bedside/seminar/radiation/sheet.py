"""Seminar sheet 2, The list that changed: side effects of breast radiotherapy, matched, counted, compared between records."""

from bedside import seminar, stats
from bedside.checks import normal
from bedside.papers.radiation import data as rad
from bedside.papers.radiation import matching
from bedside.seminar import Wrong, right, task
from bedside.seminar.radiation.material import MODEL, SIZED, Material


class Sheet(Material):
    """The checks of sheet 2."""

    @task("2.1", 'Write {"added": "the words that were added", "places": a number}.')
    def difference(self, given):
        added, places = seminar.fields(given, ("added", "places"))
        changed = [
            new
            for _, new in rad.difference(self.patient["base"], self.patient["specified"])
            if new.strip()
        ]
        site = normal(changed[0])
        mine = normal(added)
        if mine != site:
            if site in mine:
                raise Wrong("more words than were added. Take away what stands in both records.")
            if other := [s for s in rad.SITES if normal(s) == mine]:
                sizes = self.reference.groupby("site").size()
                raise Wrong(
                    f"“{other[0]}” is another site: the reference has {sizes[other[0]]} effects for"
                    f" it and {sizes[self.patient['site']]} for this patient's. Read to the end of"
                    " the bracket."
                )
            if mine and mine in normal(self.patient["base"]):
                raise Wrong(
                    "these words stand in both records. Compare the sentences on radiation word by"
                    " word."
                )
            raise Wrong("not what was added. Look for a bracket after the word radiation.")
        if float(places) != len(changed):
            raise Wrong(
                "the words are right, the number isn't. The word radiation stands"
                f" {len(rad.MENTION.findall(self.patient['base']))} times in the base record: look"
                " at each of them."
            )
        return (
            f"“{site}” at {len(changed)} places, and nothing else. The cancer, the surgery and the"
            " person are the same. A clinician reads the site out of the surgery and the nodes; so"
            " a good answer to the base record need not differ much from one to the other."
        )

    @task("2.2", 'Write a list of texts, such as ["tiredness", "..."], at least six.')
    def own(self, given):
        if not isinstance(given, (list, tuple)) or not all(isinstance(e, str) for e in given):
            raise TypeError
        if len(given) < 6:
            raise Wrong(
                "at least six entries. Think of the skin, the arm, the lungs, the heart, and of"
                " years as well as weeks."
            )
        for e in given:
            if found := self.parts.get(normal(e)):
                raise Wrong(
                    f"{e!r} belongs to radiation of another part of the body ({found[1]}). The beam"
                    " harms where it goes."
                )
        each = [self.understood([e])[e] for e in given]
        for k, t in enumerate(each):
            if t and t in each[:k]:
                raise Wrong(
                    f"{given[each.index(t)]!r} and {given[k]!r} are one effect in two wordings (so"
                    f" the matcher thinks: {t}). A list gets no better by it. If the matcher errs,"
                    " reword one."
                )
        named = self.site[self.site.index.isin(each)]
        if len(named) < 3:
            raise Wrong(
                f"the matcher finds {len(named)} of the reference's effects. It counts words, so"
                " use the usual names; one effect in each entry."
            )
        if set(named["onset"]) == {"short-term"}:
            raise Wrong(
                "all that the matcher recognises is short-term. This patient asks years after"
                " treatment: what can come late?"
            )
        return (
            f"the matcher finds {len(named)} of {len(self.site)} effects of the reference: "
            + ", ".join(
                f"{(named['onset'] == o).sum()} of {(self.site['onset'] == o).sum()} {o}"
                for o in rad.ONSETS
            )
            + ". What it doesn't know is not wrong for that: look at the table below."
        )

    @task("2.3", 'Write {"a": "same", "b": "different", ...} for a to j.')
    def matches(self, given):
        mine = seminar.fields(given, self.asked["letter"])
        truth, words = self.asked["label"].tolist(), self.asked["judged"].tolist()
        if not set(mine) <= set(matching.LABELS):
            raise Wrong('each answer is "same" or "different".')
        same = sum(a == b for a, b in zip(mine, truth))
        if set(mine) == {"different"}:
            raise Wrong(
                "all different: that is the strict reading (the same words or nothing). “Tiredness”"
                " and “fatigue” would be a mistake of the model."
            )
        if set(mine) == {"same"}:
            raise Wrong(
                "all the same: that is the generous reading. Every near miss would count as found,"
                " and each list would look good."
            )
        if mine == words:
            raise Wrong(
                "these are exactly the word matcher's verdicts. It is led by shared letters: check"
                " organ, side of the scale, and early against late."
            )
        if same <= 2:
            raise Wrong("nearly all the other way round: did you turn same and different?")
        if same < 8:
            off = [
                f"{k} ({kind})"
                for k, a, b, kind in zip(self.asked["letter"], mine, truth, self.asked["kind"])
                if a != b
            ]
            raise Wrong(
                f"{same} of 10 as labelled. Look again at {', '.join(off)}: broader and narrower"
                " terms, another organ or another onset are different."
            )
        return (
            f"{same} of 10 as labelled; the word matcher has"
            f" {sum(a == b for a, b in zip(words, truth))} (these ten were chosen to be hard for"
            " it). Where you differ, whose reading would a patient be served by?"
        )

    def _hits(self):
        """Hits of the list of ten: one to one; if each wording counts; if the site doesn't matter; and both."""
        meant = [t for t in self.ten.values() if t]
        mine = [t for t in meant if t in self.site.index]
        return len(set(mine)), len(mine), len(set(meant)), len(meant)

    @task(
        "2.4",
        'Write {"hits": a number, "precision": ..., "recall": ..., "F1": ...}, shares with two'
        " decimals.",
    )
    def counted(self, given):
        hits, loose, anywhere, both = self._hits()
        n, size, every = len(self.ten), len(self.site), len(self.terms)
        p, r = hits / n, hits / size
        right(
            given,
            {"hits": hits, "precision": p, "recall": r, "F1": stats.harmonic(p, r)},
            (
                (
                    (
                        "two wordings of one effect count once: one predicted entry for one effect"
                        " (one-to-one matching)."
                    ),
                    {"hits": loose},
                ),
                (
                    (
                        "effects that aren't in the reference of this site, or near misses, were"
                        " counted. After a mastectomy the beam meets the chest wall: look at the"
                        " site's list."
                    ),
                    {"hits": anywhere},
                ),
                (
                    (
                        "count again: two wordings of one effect count once, and what isn't in the"
                        " reference of this site doesn't count."
                    ),
                    {"hits": both},
                ),
                (
                    (
                        "precision and recall are swapped. Precision: of what the list says."
                        " Recall: of what it should say."
                    ),
                    {"precision": r, "recall": p},
                ),
                (
                    (
                        "F1 is the harmonic mean, 2PR / (P + R), not the arithmetic one. It stays"
                        " near the smaller of the two."
                    ),
                    {"F1": (p + r) / 2},
                ),
                (
                    (
                        "the denominator of recall is the reference of this site, not the whole"
                        " vocabulary."
                    ),
                    {"recall": hits / every},
                ),
            ),
            f"Precision: hits / {n} entries. Recall: hits / effects in the reference of the site."
            " F1: 2PR / (P + R).",
        )
        return (
            f"precision {p:.2f}, recall {r:.2f}, F1 {stats.harmonic(p, r):.2f}. For the patient the"
            f" two errors differ: a false entry may frighten, and of {size - hits} effects nothing"
            " was said."
        )

    @task("2.5", 'Write {"precision": ..., "recall": ..., "F1": ..., "wrong of 25": a number}.')
    def padded(self, given):
        every, size = len(self.terms), len(self.site)
        p = size / every
        model, length = SIZED
        before, step = (
            self.printed("Table 1").loc[model, "Precision"],
            self.printed("Table 2").loc[model, "Δ Precision"],
        )
        truth, rest = (
            {"precision": p, "recall": 1.0, "F1": 2 * size / (every + size)},
            f"wrong of {length}",
        )
        *first, wrong = seminar.fields(given, [*truth, rest])
        right(
            dict(zip(truth, first)),
            truth,
            (
                (
                    (
                        "precision and recall are swapped: the list of everything misses nothing,"
                        " so recall is 1."
                    ),
                    {"precision": 1, "recall": p},
                ),
                ("F1 is the harmonic mean, not the arithmetic one.", {"F1": (p + 1) / 2}),
                (
                    (
                        "the list of everything is not all right: some of its entries don't belong"
                        " to this site."
                    ),
                    {"precision": 1},
                ),
            ),
            "The list of everything: hits are all effects of the site, entries the whole"
            " vocabulary.",
        )
        right(
            {rest: wrong},
            {rest: length * (1 - before - step)},
            (
                (
                    "these are the right ones; asked are the wrong ones.",
                    {rest: length * (before + step)},
                ),
                (
                    (
                        "this takes the precision of Table 1, without the list size. Table 2 says"
                        " by how much it changes."
                    ),
                    {rest: length * (1 - before)},
                ),
                (
                    (
                        "this takes the change for the precision. Precision with a list size ="
                        " precision without it + Δ."
                    ),
                    {rest: -length * step},
                ),
            ),
            "Wrong entries: length × (1 − precision).",
            by=0.3,
        )
        printed = self.printed("Table 1").loc[MODEL, "F1"]
        return (
            f"the list that names everything, without reading the record, has F1 {truth['F1']:.2f};"
            f" {MODEL} had {printed:.2f} with free-form lists (Table 1, another reference). And"
            f" {length * (1 - before - step):.0f} of {length} entries of {model} would be wrong: a"
            " size that is asked for is filled."
        )

    @task("2.6", 'Write {"by words": ..., "by meaning": ...} as shares.')
    def overlap(self, given):
        a, b = ({normal(w) for w in words} for words in self.two)
        x, y = (set(words.values()) for words in self.two)
        words, meaning = (len(p & q) / len(p | q) for p, q in ((a, b), (x, y)))
        right(
            given,
            {"by words": words, "by meaning": meaning},
            (
                (
                    (
                        "the two are swapped: by words only equal wordings count, so there the"
                        " overlap is smaller."
                    ),
                    {"by words": meaning, "by meaning": words},
                ),
                (
                    (
                        "you divided by the base list: that is the share of it that was kept. The"
                        " overlap divides by the union, all that stands in either list."
                    ),
                    {"by words": len(a & b) / len(a)},
                ),
                (
                    (
                        "this is twice the intersection over the sum of lengths (Dice, the same as"
                        " F1). The overlap of section 3.6 divides by the union."
                    ),
                    {"by words": 2 * len(a & b) / (len(a) + len(b))},
                ),
                (
                    (
                        "you divided by the sum of the lengths: what stands in both is then counted"
                        " twice. Take it off once."
                    ),
                    {"by words": len(a & b) / (len(a) + len(b))},
                ),
                (
                    (
                        "by meaning, entries that name the same effect in other words are one"
                        " entry, in the union, too."
                    ),
                    {"by meaning": words},
                ),
            ),
            "Count what stands in both lists, and what stands in either; divide.",
        )
        return (
            f"{words:.2f} by words, {meaning:.2f} by meaning: part of what looks like inconsistency"
            " is a synonym. Both are far below 1. Whether that is bad, the overlap can't say: that"
            " is the next task."
        )

    @task(
        "2.7",
        'Write {"breast pain": "right" or "wrong", ...} for each effect that was gained or lost.',
    )
    def changed(self, given):
        changes = self.changes()
        mine = dict(zip(changes, seminar.fields(given, changes)))
        if not set(mine.values()) <= {"right", "wrong"}:
            raise Wrong('each answer is "right" or "wrong".')
        truth = {
            t: "right" if (t in self.site.index) == (how == "gained") else "wrong"
            for t, how in changes.items()
        }
        off = [t for t in changes if mine[t] != truth[t]]
        if set(mine.values()) == {"wrong"}:
            raise Wrong(
                "every change counted as an error: that is how the overlap sees it. But the site is"
                " new information, and some changes follow from it."
            )
        if set(mine.values()) == {"right"}:
            raise Wrong(
                "every change counted as right. But a site that is named adds and removes certain"
                " effects only; look each up in the reference."
            )
        if len(off) == len(changes):
            raise Wrong(
                "all the other way round: gaining what belongs to the site is right, losing it is"
                " wrong."
            )
        if lost := [t for t in off if changes[t] == "lost"]:
            raise Wrong(
                f"look again at what was lost ({', '.join(lost)}): is it in the reference of the"
                " site? Rare effects belong to it, too."
            )
        if off:
            raise Wrong(
                f"look again at what was gained ({', '.join(off)}): does the reference have it for"
                " this site? The breast was removed."
            )
        good = sum(v == "right" for v in truth.values())
        return (
            f"{good} of {len(truth)} changes are what the site asks for. The paper calls low"
            " overlap a risk and says in its limitations that it can't tell right changes from"
            " chance ones. Counting directions can."
        )

    @task(
        "2.8",
        'Write {"short above long": n, "common above extremely rare": n, "extremely rare above'
        ' rare": n}, n models.',
    )
    def forgotten(self, given):
        six, seven = self.printed("Table 6"), self.printed("Table 7")
        pairs = {
            "short above long": (six["Short-term"], six["Long-term"]),
            "common above extremely rare": (seven["Common"], seven["Extremely Rare"]),
            "extremely rare above rare": (seven["Extremely Rare"], seven["Rare"]),
        }
        truth = {k: int((a > b).sum()) for k, (a, b) in pairs.items()}
        right(
            given,
            truth,
            (
                (
                    (
                        "all seven? The abstract says that late effects are forgotten"
                        " systematically. Read Table 6 line by line: which models do better on"
                        " long-term effects?"
                    ),
                    {"short above long": len(six)},
                ),
                (
                    "you counted the models that do better on long-term effects.",
                    {"short above long": len(six) - truth["short above long"]},
                ),
                (
                    (
                        "all seven? One model has a higher recall for extremely rare effects than"
                        " for common ones, by a hundredth."
                    ),
                    {"common above extremely rare": len(seven)},
                ),
                (
                    "you counted the other direction: rare above extremely rare.",
                    {"extremely rare above rare": len(seven) - truth["extremely rare above rare"]},
                ),
            ),
            "Go through the seven lines of the table and count.",
            by=0,
        )
        other = six.index[six["Long-term"] > six["Short-term"]]
        return (
            f"{truth['short above long']} of {len(six)}; {' and '.join(other)} are the other way"
            " round, the two of the seven that were reached over OpenAI's interface. So “models"
            " forget late effects” holds for some models. Recall there is a mean over four ways of"
            " asking, two of which show the model the list."
        )

    @task("2.9", "Write a function of four numbers: lambda hits, wrong, missed, rejected: ...")
    def metric(self, given):
        cases = self.cases()
        try:
            value = {n: float(given(*c)) for n, c in cases.items()}
            h, w, m, r = cases["careful"]
            better = [float(given(h + 1, w, m - 1, r)), float(given(h, w - 1, m, r + 1))]
        except ZeroDivisionError:
            raise Wrong(
                "your metric divides by zero for some list. An empty list has no precision: which"
                " denominators are never zero?"
            ) from None
        known = {
            "recall": lambda h, w, m, r: h / (h + m),
            "precision": lambda h, w, m, r: h / (h + w) if h + w else 0,
            "F1": lambda h, w, m, r: 2 * h / (2 * h + w + m),
            "accuracy": lambda h, w, m, r: (h + r) / (h + w + m + r),
        }
        name = next(
            (
                n
                for n, f in known.items()
                if all(abs(f(*c) - value[k]) < 1e-9 for k, c in cases.items())
            ),
            "",
        )
        said = f"This is {name}. " if name else ""
        if value["everything"] >= value["careful"]:
            why = {
                "recall": "It never asks what is wrong. ",
                "F1": (
                    f"Where {len(self.site)} of {len(self.terms)} terms belong, naming all is a"
                    " good bet. "
                ),
                "accuracy": "Most terms belong here, so saying yes to all is often right. ",
            }.get(name, "")
            raise Wrong(
                f"{said}{why}The list of everything still wins ({value['everything']:.2f} against "
                f"{value['careful']:.2f})."
            )
        for n in ("one sure item", "empty"):
            if value[n] >= value["careful"]:
                raise Wrong(
                    f"{said}Now saying nothing pays: the list “{n}” gets {value[n]:.2f}, the"
                    f" careful one {value['careful']:.2f}. What was missed must count."
                )
        if min(better) <= value["careful"]:
            raise Wrong(
                f"{said}A list with one more hit, or one wrong entry less, must score higher than"
                " the same list without."
            )
        return (
            "the careful list is before everything, one sure item and nothing. Anything that adds"
            " recall to specificity does this (balanced accuracy, Youden's index): a list that"
            " doesn't depend on the record then gets the same as no list. Now think of what it"
            " costs: it treats a missed pericarditis like a missed itch."
        )
