"""Tasks 2.1 to 2.9: a record and its site, the site's reference, what lists leave out."""

from bedside.papers.radiation import data as rad
from bedside.read.checks import normal
from bedside.seminar import Wrong, fields, right, task
from bedside.seminar.answers import choice, nothing, number
from bedside.seminar.released.material import LEAFLET, MODELS, NEAR, NOT_HERE, OPERATIONS, Material

KEPT = [s for s in rad.SITES if "breast" in s]  # sites with a breast to treat
PEOPLE = "to the patient", "to the clinic"


class Checks(Material):
    """The checks of sheet 2p; each knows the numbers that common mistakes lead to."""

    @task("2.1", 'Write {"site": one of the five, "word": the word of the record that tells it}.')
    def expected(self, given):
        """Task 2.1: the site that the base record suggests."""
        site, word = fields(given, ("site", "word"))
        named = choice(site, {s: [s.replace(" and ", " & ")] for s in rad.SITES})
        if named is None:
            raise Wrong(f"the study's sites are: {', '.join(rad.SITES)}.")
        if normal(word) not in normal(self.patient["base"]):
            raise Wrong(f"{word!r} isn't in the record. Copy the word that tells the site.")
        if named not in KEPT:
            raise Wrong(
                "the chest wall is treated where the breast was taken off. Which operation did"
                " this patient have?"
            )
        if not any(o in normal(word) for o in OPERATIONS):
            raise Wrong(
                "the site fits, but another word tells it. What remains to be treated depends on"
                " the operation."
            )
        return (
            "the operation left the breast, so the breast is treated. The record says nothing of"
            " nodes, so a careful reader would ask."
        )

    @task("2.2", 'Write {"added": "the words that were added", "places": a number}.')
    def difference(self, given):
        """Task 2.2: the words by which the two records differ, and at how many places."""
        added, places = fields(given, ("added", "places"))
        changed = [new for _, new in self.changes(self.patient) if new.strip()]
        site, base = self.patient["site"], normal(self.patient["base"])
        mine = normal(str(added).replace("&", " and ")).removeprefix("radiation ")
        if mine != site:
            if mine and mine in base:
                raise Wrong("these words stand in both records. Compare line by line.")
            if site in mine:
                raise Wrong(
                    "these are more words than were added. Leave out what stands in both records."
                )
            if mine and mine in site:
                raise Wrong("this is only a part of it. Read on to the end of what was added.")
            raise Wrong("this is not what was added. Look at the word radiation in both records.")
        if number(places) != len(changed):
            raise Wrong("the words are right, the number isn't. Look at each line.")
        fits = "as the operation suggests" if site in KEPT else "though the breast was left"
        return (
            f"“{site}” in {len(changed)} places, {fits}. A list that follows the record will be"
            " compared with the effects of this site."
        )

    @task("2.3", 'Write {"named": a number, "contradicted": a number}.')
    def contradicted(self, given):
        """Task 2.3: records whose operation and site contradict each other."""
        known = self.operations()
        known = known[known["operation"] != ""]
        kept, treated = known["operation"].map(OPERATIONS), known["site"].isin(KEPT)
        n, off = len(known), int((kept != treated).sum())
        mistakes = {
            "these are the records in which operation and site go together.": {
                "contradicted": n - off
            },
            "you counted one direction only. A breast that was removed can't be treated either.": {
                "contradicted": int((kept & ~treated).sum())
            },
            "count only records that name an operation.": {"named": len(self.patients)},
        }
        hint = "A lumpectomy leaves the breast, a mastectomy takes it off."
        right(given, {"named": n, "contradicted": off}, mistakes, hint, by=0)
        return (
            f"{off} of {n}. The study added the sites, one per record. Where a site contradicts"
            " the record, a model that reads well is marked wrong for it. This may be a slip, or"
            " mean something that the record doesn't say: it is a question to the authors."
        )

    @task("2.4", f'Write {{"effect": "short-term", "long-term" or "{NOT_HERE}", ...}} for each.')
    def onsets(self, given):
        """Task 2.4: onset of effects, or that they don't belong to the site."""
        kinds = {**{o: [o.replace("-term", "")] for o in rad.ONSETS}, NOT_HERE: ["not", "no"]}
        mine = [choice(x, kinds) for x in fields(given, self.asked)]
        truth = [self.kinds[e] for e in self.asked]
        if None in mine:
            raise Wrong(f"each answer is one of: {', '.join(kinds)}.")
        if len(set(mine)) == 1:
            raise Wrong(
                "you gave the same for all. Some come early, some late, and some don't belong to"
                " this site."
            )
        if NOT_HERE not in mine:
            raise Wrong(
                "some of these aren't in the reference of this site. Which ones need a breast, or"
                " a part of it, that isn't treated at this site?"
            )
        same = sum(a == b for a, b in zip(mine, truth))
        swapped = dict(zip(rad.ONSETS, rad.ONSETS[::-1]))
        if sum(swapped.get(a) == b for a, b in zip(mine, truth)) > same:
            raise Wrong(
                "early and late seem swapped. Short-term means within weeks of the treatment."
            )
        if 4 * same < 3 * len(truth):
            raise Wrong(
                f"{same} of {len(truth)} agree with the reference. What heals within weeks is"
                " short-term. Scars, second cancers and effects on vessels and organs come late."
            )
        return f"{same} of {len(truth)} agree with the clinicians' reference for this site."

    @task("2.5", 'Write {"both": a number, "either": a number, "overlap": share}.')
    def overlap(self, given):
        """Task 2.5: the overlap of the reference's lists for two sites (section 3.6)."""
        a, b = set(self.site.index), set(self.sites[NEAR].index)
        both, either = len(a & b), len(a | b)
        mistakes = {
            "you added the two lists. That counts twice what is in both.": (
                {"either": len(a) + len(b)},
                {"overlap": both / (len(a) + len(b))},
            ),
            "this is Dice: twice the intersection over the sum. Divide the intersection by the"
            " union.": {"overlap": 2 * both / (len(a) + len(b))},
            "you divided by one list. The overlap divides by what is in either.": (
                {"overlap": both / len(a)},
                {"overlap": both / len(b)},
            ),
        }
        truth = {"both": both, "either": either, "overlap": both / either}
        right(given, truth, mistakes, "Count the lines with both, count all lines, and divide.")
        return (
            f"{both / either:.2f}. So far do two lists overlap that are both right, each for its"
            " own site. So 1 is not the aim. But what about a model whose lists overlap less than"
            " this?"
        )

    @task("2.6", 'Write {"precision": ..., "recall": ..., "F1": ..., "models below": a number}.')
    def padded(self, given):
        """Task 2.6: the list of everything for the patient, and models of Table 1 below it."""
        truth = self.everything(self.patient["site"])
        p, f1 = truth["precision"], truth["F1"]
        free = self.f1s()["free-form"]
        below = int((free < f1).sum())
        mistakes = {
            "precision and recall are swapped. The list of everything misses nothing.": {
                "precision": 1,
                "recall": p,
            },
            "F1 is the harmonic mean, not the arithmetic one.": {"F1": (p + 1) / 2},
            "you counted the models above it.": {"models below": len(free) - below},
        }
        hint = "The hits are all effects of the site, and the entries are the whole vocabulary."
        right(given, {**truth, "models below": below}, mistakes, hint, by=0.004)
        return (
            f"F1 is {f1:.2f}, and {below} of {len(free)} models lie below it, with the same"
            " reference. Nobody was helped by this list. Nearly everything belongs to every site,"
            " and F1 doesn't see that the list was made without looking at the patient."
        )

    @task("2.7", 'Write {"common": share, "uncommon": ..., "rare": ..., "extremely rare": ...}.')
    def leaflet_recall(self, given):
        """Task 2.7: recall of a written list by frequency."""
        sizes = self.by_frequency()
        named = self.site[self.site.index.isin(LEAFLET)]["frequency"].value_counts()
        named = named.reindex(sizes.index, fill_value=0)
        truth = (named / sizes).to_dict()
        hits = named.sum()
        mistakes = {
            "you divided by the length of the leaflet: that is no recall. Divide by the number of"
            " effects of that frequency at this site.": tuple(
                {f: named[f] / len(LEAFLET)} for f in sizes.index if named[f]
            ),
            "you divided by all hits. Each frequency has its own denominator.": tuple(
                {f: named[f] / hits} for f in sizes.index if named[f]
            ),
            "one entry isn't in the reference of this site, so it is no hit.": {
                "common": (named["common"] + 1) / sizes["common"]
            },
        }
        hint = (
            "Divide the named effects of a frequency by all effects of that frequency at this site."
        )
        right(given, truth, mistakes, hint)
        told = ", ".join(f"{f} {x:.2f}" for f, x in truth.items())
        return f"{told}. Look how few effects some of these shares rest on."

    @task("2.8", f'Write {{"{MODELS[0]}": ..., "{MODELS[1]}": ..., "rare, {MODELS[1]}": ...}}.')
    def unsaid(self, given):
        """Task 2.8: effects that this patient isn't told of, if Table 7 holds for the patient."""
        sizes, recalls = self.by_frequency(), self.recalls()
        missed = {m: ((1 - recalls.loc[m]) * sizes) for m in MODELS}
        last, rare = MODELS[1], f"rare, {MODELS[1]}"
        truth = {m: missed[m].sum() for m in MODELS}
        truth[rare] = missed[last][["rare", "extremely rare"]].sum()
        mistakes = {
            "these are the effects that are said. The task asks for the others: 1 − recall.": {
                last: (recalls.loc[last] * sizes).sum()
            },
            "you took the mean of the four recalls. The frequencies have different numbers of"
            " effects, so weigh them.": {last: (1 - recalls.loc[last].mean()) * sizes.sum()},
            "extremely rare effects count here, too.": {rare: missed[last]["rare"]},
        }
        hint = "For each frequency take number of effects × (1 − recall), then add."
        right(given, truth, mistakes, hint, by=0.11)
        return (
            f"about {truth[last]:.0f} of {sizes.sum()} effects stay unsaid with {last},"
            f" {truth[rare]:.0f} of them rare or extremely rare; with {MODELS[0]} it is"
            f" {truth[MODELS[0]]:.0f}. Printed recall is a mean over four ways of asking, and in"
            " two of them the model was shown the list."
        )

    @task(
        "2.9",
        f'Write {{"{PEOPLE[0]}": "...", "{PEOPLE[1]}": "..."}}, one or two sentences each.',
        free=True,
    )
    def said(self, given):
        """Task 2.9: what to say about a record that contradicts itself; read, not judged."""
        for name, text in zip(PEOPLE, fields(given, PEOPLE)):
            if nothing(text, 5):
                raise Wrong(f"{name!r}: write a sentence or two.")
        return (
            "your sentences are kept. Read them to your neighbour: would the patient know whom to"
            " ask, and what?"
        )
