"""Tasks 2.1 to 2.3: the words added to a record, a list of one's own, the same or not."""

from bedside.papers.radiation import data as rad
from bedside.papers.radiation import matching
from bedside.read.checks import normal
from bedside.seminar import Wrong, choice, fields, nothing, number, task
from bedside.seminar.radiation.material import Material

SAME = {
    "same": ("the same", "equal", "equivalent", "identical", "a match", "s"),
    "different": ("differ", "differs", "not the same", "not same", "no match", "another", "d"),
}
TIMES = {"one": 1, "once": 1, "two": 2, "twice": 2, "both": 2, "three": 3, "thrice": 3, "four": 4}
ASIDE = set("and the a an in of with lymph words word bracket brackets site added".split())


def bare(text):
    """The words of a text that name a site, in the singular, without words beside them."""
    said = normal(text).replace("chestwall", "chest wall").split()
    return {w.removesuffix("s") for w in said if w not in ASIDE}


def times(value):
    """A count as a number or in words, such as "twice" and "2 places"; None if it is neither."""
    first = (normal(value).split() or [""])[0] if isinstance(value, str) else value
    return TIMES.get(first, number(first.rstrip("x") if isinstance(first, str) else first))


class Wordings(Material):
    """Records in pairs, entries of a list, and what two wordings mean."""

    @task("2.1", 'Write {"added": "the words that were added", "places": a number}.')
    def difference(self, given):
        """Task 2.1: the words by which the two records differ, and at how many places."""
        added, places = fields(given, ("added", "places"))
        base = self.patient["base"]
        changes = rad.difference(base, self.patient["specified"])
        changed = [new for _, new in changes if new.strip()]
        site, mine = normal(changed[0]), normal(added)
        if not isinstance(added, str) or bare(added) != bare(site):
            if site in mine:
                raise Wrong(
                    "these are more words than were added. Leave out what stands in both records."
                )
            if other := [s for s in rad.SITES if normal(s) == mine]:
                sizes = self.reference.groupby("site").size()
                raise Wrong(
                    f"“{other[0]}” is another site. The reference has {sizes[other[0]]} effects"
                    f" for it, and {sizes[self.patient['site']]} for this patient's site. Read to"
                    " the end of the bracket."
                )
            if mine and f" {mine} " in f" {normal(base)} ":
                raise Wrong(
                    "these words stand in both records. Compare the sentences on radiation word by"
                    " word."
                )
            raise Wrong("this is not what was added. Look for a bracket after the word radiation.")
        if times(places) != len(changed):
            raise Wrong(
                "the words are right, the number isn't. The word radiation appears"
                f" {len(rad.MENTION.findall(base))} times in the base record: look at each place."
            )
        return (
            f"“{site}” was added in {len(changed)} places, and nothing else. The cancer, the"
            " surgery and the person are the same. A clinician can tell the site from the surgery"
            " and the nodes. So good answers to the two records need not differ much."
        )

    @task("2.2", 'Write a list of texts, such as ["tiredness", "..."], at least six.', free=True)
    def own(self, given):
        """Task 2.2: a list of side effects that the matcher understands."""
        if not isinstance(given, (list, tuple)) or not all(isinstance(e, str) for e in given):
            raise TypeError
        if len(given) < 6:
            raise Wrong(
                "write at least six entries. Think of the skin, the arm, the lungs and the heart,"
                " and of years as well as weeks."
            )
        for e in given:
            if nothing(e):
                raise Wrong(f"{e!r} names no effect. Write one effect per entry, in a few words.")
            if found := self.parts.get(normal(e)):
                raise Wrong(
                    f"{e!r} belongs to radiation of another part of the body ({found[1]}). The"
                    " beam harms only where it goes."
                )
        each = [self.understood([e])[e] for e in given]
        for k, t in enumerate(each):
            if t and t in each[:k]:
                raise Wrong(
                    f"{given[each.index(t)]!r} and {given[k]!r} are one effect in two wordings, by"
                    f" the matcher ({t}). This doesn't make a list better. If the matcher is"
                    " wrong, reword one of them."
                )
        named = self.site[self.site.index.isin(each)]
        if len(named) < 3:
            raise Wrong(
                f"the matcher finds {len(named)} of the reference's effects in your list. It"
                " compares words, so use the usual names, and write one effect per entry."
            )
        if set(named["onset"]) == {"short-term"}:
            raise Wrong(
                "everything that the matcher recognises is short-term. This patient asks years"
                " after treatment: what can come late?"
            )
        found, of = (f["onset"].value_counts() for f in (named, self.site))
        told = ", ".join(f"{found.get(o, 0)} of {of[o]} {o}" for o in rad.ONSETS)
        return (
            f"the matcher finds {len(named)} of the reference's {len(self.site)} effects in your"
            f" list: {told}. An entry that it doesn't know isn't wrong for that reason. Look at"
            " the table below."
        )

    @task("2.3", 'Write "same" or "different" for each of a to j, as {"a": ..., "b": ...}.')
    def matches(self, given):
        """Task 2.3: whether two wordings mean the same effect, as labelled."""
        letters, kinds = self.asked["letter"], self.asked["kind"]
        truth, by_words = self.asked["label"].tolist(), self.asked["judged"].tolist()
        mine = [choice(v, SAME) for v in fields(given, letters)]
        if not set(mine) <= set(matching.LABELS):
            raise Wrong('each answer is "same" or "different".')
        if set(mine) == {"different"}:
            raise Wrong(
                "you called all pairs different. That is the strict reading: the same words or"
                " nothing. Then “tiredness” for “fatigue” would be a mistake of the model."
            )
        if set(mine) == {"same"}:
            raise Wrong(
                "you called all pairs the same. That is the generous reading. Then every near miss"
                " would count as found, and every list would look good."
            )
        if mine == by_words:
            raise Wrong(
                "these are exactly the word matcher's verdicts. It goes by shared letters. Check"
                " the organ, too much against too little, and early against late."
            )
        same, matcher = (sum(a == b for a, b in zip(v, truth)) for v in (mine, by_words))
        if same <= 2:
            raise Wrong("nearly all are the other way round: did you swap same and different?")
        if same < 8:
            rows = zip(letters, mine, truth, kinds)
            off = ", ".join(f"{k} ({kind})" for k, a, b, kind in rows if a != b)
            raise Wrong(
                f"{same} of 10 agree with the labels. Look again at {off}. Broader and narrower"
                " terms are different, and so are terms for another organ or another onset."
            )
        return (
            f"{same} of 10 agree with the labels. The word matcher has {matcher} (these ten were"
            " chosen to be hard for it). Where you differ from the labels, whose reading would"
            " serve a patient better?"
        )
