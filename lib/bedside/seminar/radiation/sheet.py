"""Seminar sheet 2, The list that changed: records, wordings, lists and what their scores hide.

Every right answer is computed from the sample and the printed tables.

What the checks say is in words.toml beside this file.
"""

from bedside import stats
from bedside.papers.radiation import data as rad
from bedside.papers.radiation import matching
from bedside.read.checks import normal
from bedside.seminar import choice, fields, number, task
from bedside.seminar.radiation.material import MODEL, SIZED, Material

SAME = {
    "same": ("the same", "equal", "equivalent", "identical", "a match", "s"),
    "different": ("differ", "differs", "not the same", "not same", "no match", "another", "d"),
}
TIMES = {"one": 1, "once": 1, "two": 2, "twice": 2, "both": 2, "three": 3, "thrice": 3, "four": 4}
ASIDE = set("and the a an in of with lymph words word bracket brackets site added".split())
KNOWN = {
    "recall": lambda h, w, m, r: h / (h + m),
    "precision": lambda h, w, m, r: h / (h + w) if h + w else 0,
    "F1": lambda h, w, m, r: 2 * h / (2 * h + w + m),
    "accuracy": lambda h, w, m, r: (h + r) / (h + w + m + r),
}  # measures of hits, wrong, missed and rejected that task 2.9 knows by name
VERDICTS = {
    "right": ("correct", "true", "ok", "justified"),
    "wrong": ("incorrect", "false", "not right", "not correct", "an error"),
}


def bare(text):
    """The words of a text that name a site, in the singular, without words beside them."""
    said = normal(text).replace("chestwall", "chest wall").split()
    return {w.removesuffix("s") for w in said if w not in ASIDE}


def times(value):
    """A count as a number or in words, such as "twice" and "2 places"; None if it is neither."""
    first = (normal(value).split() or [""])[0] if isinstance(value, str) else value
    return TIMES.get(first, number(first.rstrip("x") if isinstance(first, str) else first))


class Sheet(Material):
    """The checks of sheet 2; each knows what common mistakes lead to."""

    @task("2.1")
    def difference(self, given):
        """Task 2.1: the words by which the two records differ, and at how many places."""
        added, places = fields(given, ("added", "places"))
        base = self.patient["base"]
        changed = [new for _, new in rad.difference(base, self.patient["specified"]) if new.strip()]
        site, mine = normal(changed[0]), normal(added)
        if not isinstance(added, str) or bare(added) != bare(site):
            sizes, named = self.reference.groupby("site").size(), self.patient["site"]
            other = next((s for s in rad.SITES if normal(s) == mine), "")
            cases = {
                "more words": site in mine,
                "another site": other,
                "both records": mine and f" {mine} " in f" {normal(base)} ",
                "other": True,
            }
            self.refuse(cases, site=other, theirs=sizes.get(other), ours=sizes[named])
        self.refuse({"number": times(places) != len(changed)}, n=len(rad.MENTION.findall(base)))
        return self.said(site=site, n=len(changed))

    @task("2.2", free=True)
    def own(self, given):
        """Task 2.2: a list of side effects that the matcher understands."""
        if not isinstance(given, (list, tuple)) or not all(isinstance(e, str) for e in given):
            raise TypeError
        self.refuse({"six": len(given) < 6})
        for e in given:
            _, part = self.parts.get(normal(e), ("", ""))
            self.refuse({"elsewhere": part}, entry=e, part=part)
        each = [self.understood([e])[e] for e in given]
        for k, t in enumerate(each):
            if t and t in each[:k]:
                raise self.wrong("twice", first=given[each.index(t)], second=given[k], term=t)
        named = self.site[self.site.index.isin(each)]
        cases = {"few": len(named) < 3, "early": set(named["onset"]) == {"short-term"}}
        self.refuse(cases, n=len(named))
        found, of = (f["onset"].value_counts() for f in (named, self.site))
        told = ", ".join(f"{found.get(o, 0)} of {of[o]} {o}" for o in rad.ONSETS)
        return self.said(n=len(named), of=len(self.site), told=told)

    @task("2.3")
    def matches(self, given):
        """Task 2.3: whether two wordings mean the same effect, as labelled."""
        letters, kinds = self.asked["letter"], self.asked["kind"]
        truth, by_words = self.asked["label"].tolist(), self.asked["judged"].tolist()
        mine = [choice(v, SAME) for v in fields(given, letters)]
        same, matcher = (sum(a == b for a, b in zip(v, truth)) for v in (mine, by_words))
        rows = zip(letters, mine, truth, kinds)
        off = ", ".join(f"{k} ({kind})" for k, a, b, kind in rows if a != b)
        cases = {
            "no choice": not set(mine) <= set(matching.LABELS),
            "strict": set(mine) == {"different"},
            "generous": set(mine) == {"same"},
            "matcher": mine == by_words,
            "turned": same <= 2,
            "labels": same < 8,
        }
        self.refuse(cases, same=same, off=off)
        return self.said(same=same, matcher=matcher)

    def _hits(self):
        """Hits of the list of ten: one to one, and counted with one or both common mistakes.

        One to one; if every wording counts; if the site doesn't matter; and with both mistakes.
        """
        meant = [t for t in self.ten.values() if t]
        mine = [t for t in meant if t in self.site.index]
        return len(set(mine)), len(mine), len(set(meant)), len(meant)

    @task("2.4")
    def counted(self, given):
        """Task 2.4: hits, precision, recall and F1 of the list of ten (section 3.4)."""
        hits, loose, anywhere, both = self._hits()
        n, size = len(self.ten), len(self.site)
        p, r = hits / n, hits / size
        f1 = stats.harmonic(p, r)
        mistakes = {
            "wordings": {"hits": loose},
            "near misses": {"hits": anywhere},
            "both": {"hits": both},
            "swapped": {"precision": r, "recall": p},
            "harmonic": {"F1": (p + r) / 2},
            "vocabulary": {"recall": hits / len(self.terms)},
        }
        truth = {"hits": hits, "precision": p, "recall": r, "F1": f1}
        self.numbers(given, truth, mistakes, n=n)
        return self.said(p=p, r=r, f1=f1, rest=size - hits)

    @task("2.5")
    def padded(self, given):
        """Task 2.5: the list of everything, and a size that is asked for (section 4.4)."""
        model, length = SIZED
        rest, every, size = f"wrong of {length}", len(self.terms), len(self.site)
        *first, last = fields(given, ["precision", "recall", "F1", rest])
        p, f1 = size / every, 2 * size / (every + size)
        truth = {"precision": p, "recall": 1.0, "F1": f1}
        mistakes = {
            "swapped": {"precision": 1, "recall": p},
            "harmonic": {"F1": (p + 1) / 2},
            "all right": {"precision": 1},
        }
        self.numbers(dict(zip(truth, first)), truth, mistakes)
        before = self.printed("Table 1").loc[model, "Precision"]
        step = self.printed("Table 2").loc[model, "Precision"]
        wrong = length * (1 - before - step)
        mistakes = {
            "right ones": {rest: length * (before + step)},
            "table 1": {rest: length * (1 - before)},
            "change": {rest: -length * step},
        }
        self.numbers({rest: last}, {rest: wrong}, mistakes, by=0.3, hint="wrong")
        printed = self.printed("Table 1").loc[MODEL, "F1"]
        return self.said(
            f1=f1, system=MODEL, printed=printed, wrong=wrong, model=model, length=length
        )

    @task("2.6")
    def overlap(self, given):
        """Task 2.6: how far two lists overlap, by words and by meaning (section 3.6)."""
        a, b = ({normal(w) for w in words} for words in self.two)
        x, y = (set(words.values()) for words in self.two)
        same = len(a & b)
        words, meaning = (len(p & q) / len(p | q) for p, q in ((a, b), (x, y)))
        mistakes = {
            "swapped": {"by words": meaning, "by meaning": words},
            "base list": {"by words": same / len(a)},
            "dice": {"by words": 2 * same / (len(a) + len(b))},
            "sum": {"by words": same / (len(a) + len(b))},
            "synonyms": {"by meaning": words},
        }
        self.numbers(given, {"by words": words, "by meaning": meaning}, mistakes)
        return self.said(words=words, meaning=meaning)

    @task("2.7")
    def changed(self, given):
        """Task 2.7: whether a change follows from the site."""
        changes = self.changes()
        mine = {c: choice(v, VERDICTS) for c, v in zip(changes, fields(given, changes))}
        fits = {t: (t in self.site.index) == (how == "gained") for t, how in changes.items()}
        off = [t for t in changes if (mine[t] == "right") != fits[t]]
        lost, said = [t for t in off if changes[t] == "lost"], set(mine.values())
        cases = {
            "no choice": not said <= {"right", "wrong"},
            "all wrong": said == {"wrong"},
            "all right": said == {"right"},
            "turned": len(off) == len(changes),
            "lost": lost,
            "gained": off,
        }
        self.refuse(cases, names=", ".join(lost or off))
        return self.said(n=sum(fits.values()), of=len(fits))

    @task("2.8")
    def forgotten(self, given):
        """Task 2.8: models that do better on one kind of effects (Tables 6 and 7)."""
        six, seven = self.printed("Table 6"), self.printed("Table 7")
        n, rarest = len(six), seven["Extremely Rare"]
        late, common = "short above long", "common above extremely rare"
        rare = "extremely rare above rare"
        truth = {
            late: int((six["Short-term"] > six["Long-term"]).sum()),
            common: int((seven["Common"] > rarest).sum()),
            rare: int((rarest > seven["Rare"]).sum()),
        }
        mistakes = {
            "all late": {late: n},
            "other onset": {late: n - truth[late]},
            "all common": {common: n},
            "direction": {rare: n - truth[rare]},
        }
        self.numbers(given, truth, mistakes, by=0)
        other = six.index[six["Long-term"] > six["Short-term"]]
        return self.said(late=truth[late], n=n, others=" and ".join(other))

    @task("2.9", code=True)
    def metric(self, given):
        """Task 2.9: a measure, as a function, under which the careful list is first."""
        try:
            value = {n: float(given(*c)) for n, c in self.inputs().items()}
        except ZeroDivisionError:
            raise self.wrong("zero") from None
        careful, every = value["careful"], len(self.terms)
        name = self._known(value)
        why = self.said(name, n=len(self.site), every=every) if name in ("recall", "F1") else ""
        why = self.said(name) if name == "accuracy" else why
        said = f"This is {name}. " if name else ""
        everything = value["everything"]
        cases = {"everything": everything >= careful}
        self.refuse(cases, said=said, why=why, value=everything, careful=careful)
        for n in ("one sure item", "empty"):
            cases = {"nothing": value[n] >= careful}
            self.refuse(cases, said=said, n=n, value=value[n], careful=careful)
        least = min(value["one more hit"], value["one wrong entry fewer"])
        self.refuse({"better": least <= careful}, said=said)
        return self.said()

    def _known(self, value):
        """The name of the measure that gives each list the same value, or ""."""
        cases = self.cases().items()
        for name, f in KNOWN.items():
            if all(abs(f(*c) - value[k]) < 1e-9 for k, c in cases):
                return name
        return ""
