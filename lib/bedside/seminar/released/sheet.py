"""Seminar sheet 2p, The record and the site: released patients and the clinicians' reference.

Like sheet 2, but on the released data, which it needs.

What the checks say is in words.toml beside this file.
"""

from bedside.papers.radiation import data as rad
from bedside.read.checks import normal
from bedside.seminar import choice, fields, nothing, number, task
from bedside.seminar.released.material import LEAFLET, MODELS, NEAR, NOT_HERE, OPERATIONS, Material

KEPT = [s for s in rad.SITES if "breast" in s]  # sites with a breast to treat
PEOPLE = "to the patient", "to the clinic"


class Sheet(Material):
    """The checks of sheet 2p; each knows the numbers that common mistakes lead to."""

    @task("2.1")
    def expected(self, given):
        """Task 2.1: the site that the base record suggests."""
        site, word = fields(given, ("site", "word"))
        named = choice(site, {s: [s.replace(" and ", " & ")] for s in rad.SITES})
        cases = {
            "sites": named is None,
            "no word": normal(word) not in normal(self.patient["base"]),
            "removed": named not in KEPT,
            "other word": not any(o in normal(word) for o in OPERATIONS),
        }
        self.refuse(cases, sites=", ".join(rad.SITES), word=word)
        return self.said()

    @task("2.2")
    def difference(self, given):
        """Task 2.2: the words by which the two records differ, and at how many places."""
        added, places = fields(given, ("added", "places"))
        changed = [new for _, new in self.changes(self.patient) if new.strip()]
        site, base = self.patient["site"], normal(self.patient["base"])
        mine = normal(str(added).replace("&", " and ")).removeprefix("radiation ")
        off = mine != site
        cases = {
            "both records": off and mine and mine in base,
            "more words": off and site in mine,
            "part": off and mine and mine in site,
            "other": off,
            "number": number(places) != len(changed),
        }
        self.refuse(cases)
        fits = self.said("fits" if site in KEPT else "though")
        return self.said(site=site, n=len(changed), fits=fits)

    @task("2.3")
    def contradicted(self, given):
        """Task 2.3: records whose operation and site contradict each other."""
        known = self.operations()
        known = known[known["operation"] != ""]
        kept, treated = known["operation"].map(OPERATIONS), known["site"].isin(KEPT)
        n, off = len(known), int((kept != treated).sum())
        mistakes = {
            "together": {"contradicted": n - off},
            "one direction": {"contradicted": int((kept & ~treated).sum())},
            "named": {"named": len(self.patients)},
        }
        self.numbers(given, {"named": n, "contradicted": off}, mistakes, by=0)
        return self.said(off=off, n=n)

    @task("2.4")
    def onsets(self, given):
        """Task 2.4: onset of effects, or that they don't belong to the site."""
        kinds = {**{o: [o.replace("-term", "")] for o in rad.ONSETS}, NOT_HERE: ["not", "no"]}
        mine = [choice(x, kinds) for x in fields(given, self.asked)]
        truth = [self.kinds[e] for e in self.asked]
        swapped = dict(zip(rad.ONSETS, rad.ONSETS[::-1]))
        turned = [swapped.get(a) for a in mine]
        same, other = (sum(a == b for a, b in zip(x, truth)) for x in (mine, turned))
        cases = {
            "no choice": None in mine,
            "same": len(set(mine)) == 1,
            "no breast": NOT_HERE not in mine,
            "swapped": other > same,
            "agree": 4 * same < 3 * len(truth),
        }
        self.refuse(cases, kinds=", ".join(kinds), same=same, n=len(truth))
        return self.said(same=same, n=len(truth))

    @task("2.5")
    def overlap(self, given):
        """Task 2.5: the overlap of the reference's lists for two sites (section 3.6)."""
        a, b = set(self.site.index), set(self.sites[NEAR].index)
        both, either, total = len(a & b), len(a | b), len(a) + len(b)
        mistakes = {
            "added": ({"either": total}, {"overlap": both / total}),
            "dice": {"overlap": 2 * both / total},
            "one list": ({"overlap": both / len(a)}, {"overlap": both / len(b)}),
        }
        truth = {"both": both, "either": either, "overlap": both / either}
        self.numbers(given, truth, mistakes)
        return self.said(overlap=both / either)

    @task("2.6")
    def padded(self, given):
        """Task 2.6: the list of everything for the patient, and models of Table 1 below it."""
        truth = self.everything(self.patient["site"])
        p, f1 = truth["precision"], truth["F1"]
        free = self.f1s()["free-form"]
        below = int((free < f1).sum())
        mistakes = {
            "swapped": {"precision": 1, "recall": p},
            "harmonic": {"F1": (p + 1) / 2},
            "above": {"models below": len(free) - below},
        }
        self.numbers(given, {**truth, "models below": below}, mistakes, by=0.004)
        return self.said(f1=f1, below=below, n=len(free))

    @task("2.7")
    def leaflet_recall(self, given):
        """Task 2.7: recall of a written list by frequency."""
        sizes = self.by_frequency()
        named = self.site[self.site.index.isin(LEAFLET)]["frequency"].value_counts()
        named = named.reindex(sizes.index, fill_value=0)
        truth, some = (named / sizes).to_dict(), [f for f in sizes.index if named[f]]
        mistakes = {
            "length": tuple({f: named[f] / len(LEAFLET)} for f in some),
            "all hits": tuple({f: named[f] / named.sum()} for f in some),
            "no hit": {"common": (named["common"] + 1) / sizes["common"]},
        }
        self.numbers(given, truth, mistakes)
        return self.said(told=", ".join(f"{f} {x:.2f}" for f, x in truth.items()))

    @task("2.8")
    def unsaid(self, given):
        """Task 2.8: effects that this patient isn't told of, if Table 7 holds for the patient."""
        sizes, recalls = self.by_frequency(), self.recalls()
        missed = {m: ((1 - recalls.loc[m]) * sizes) for m in MODELS}
        first, last, rare = *MODELS, f"rare, {MODELS[1]}"
        truth = {m: missed[m].sum() for m in MODELS}
        truth[rare] = missed[last][["rare", "extremely rare"]].sum()
        mistakes = {
            "said": {last: (recalls.loc[last] * sizes).sum()},
            "mean": {last: (1 - recalls.loc[last].mean()) * sizes.sum()},
            "rarest": {rare: missed[last]["rare"]},
        }
        self.numbers(given, truth, mistakes, by=0.11)
        both = {"unsaid": truth[last], "its": truth[first], "rare": truth[rare]}
        return self.said(n=sizes.sum(), first=first, last=last, **both)

    @task("2.9", free=True)
    def sentences(self, given):
        """Task 2.9: what to say about a record that contradicts itself; read, not judged."""
        for name, text in zip(PEOPLE, fields(given, PEOPLE)):
            self.refuse({"short": nothing(text, 5)}, name=name)
        return self.said()
