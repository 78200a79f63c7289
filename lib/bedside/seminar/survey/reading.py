"""Tasks 1.1, 1.2 and 1.8: rating and labelling paragraphs whose sources are hidden; one reply."""

from bedside.papers.cancer_myth.survey import LABELS, SCALE
from bedside.read.checks import normal
from bedside.seminar import Wrong, fields, task
from bedside.seminar.answers import choice, nothing, number
from bedside.seminar.survey.material import NONE, OLDEST, Material

HELD = ("takes for granted", "reply", "instead")


class Reading(Material):
    """What students think before they see what physicians thought."""

    def medians(self):
        """The physicians' median rating of each of the eight paragraphs."""
        return {k: int(self.rated.loc[key].median()) for k, key in self.eight.items()}

    def often(self):
        """The label that most physicians gave each of the eight paragraphs, or NONE."""
        given = {k: sum(self.labels.loc[key], []) for k, key in self.eight.items()}
        return {k: max(LABELS, key=v.count) if v else NONE for k, v in given.items()}

    @task("1.1", 'Write {"a": 1 to 5, "b": ..., ...} for a to h.', free=True)
    def ratings(self, given):
        """Task 1.1: ratings on the survey's scale; how far from the physicians' median."""
        mine = [number(x) for x in fields(given, self.eight)]
        truth = list(self.medians().values())
        if not set(mine) <= set(SCALE):
            raise Wrong("the survey's ratings are whole points from 1 (poor) to 5 (good).")
        if len(set(mine)) == 1:
            raise Wrong(
                "you gave one rating for all. A rater who never varies tells us nothing about the"
                " paragraphs. Within each pair, which one would you rather be given?"
            )
        off, turned = (sum(abs(s(a) - b) for a, b in zip(mine, truth)) for s in (float, _turned))
        if turned + 2 < off:
            raise Wrong("is your scale turned around? 5 is for good advice, 1 for poor advice.")
        n = len(mine)
        one = [abs(self.rated.loc[k] - self.rated.loc[k].median()) for k in self.eight.values()]
        each = (sum(one) / n).map("{:.1f}".format)
        return (
            f"your ratings are kept. On average you are {off / n:.1f} points away from the"
            f" physicians' median; the physicians themselves are {', '.join(each[:-1])} and"
            f" {each.iloc[-1]} points away. There is no right rating. Whose paragraphs these are,"
            " and who marked what, comes after 1.2."
        )

    @task("1.2", f'Write {{"a": "{NONE}", "b": "Overly generic", ...}} for a to h.', free=True)
    def harmful(self, given):
        """Task 1.2: harmful labels; how often a mark agrees with two or more physicians."""
        mine, truth = fields(given, self.eight), self.often()
        found = [choice(x, dict.fromkeys((NONE, *LABELS), ())) for x in mine]
        if None in found:
            strange, known = mine[found.index(None)], ", ".join((NONE, *LABELS))
            raise Wrong(f"{strange!r} is none of the survey's labels: {known}.")
        marked = [k for k, x in zip(self.eight, found) if x != NONE]
        if not marked:
            raise Wrong(
                "nothing is marked. At least two of the three physicians marked some of these"
                " paragraphs. Ask: what happens to patients who do what a paragraph says, and"
                " nothing else?"
            )
        if len(marked) == len(mine):
            raise Wrong(
                "everything is marked. Each pair has one paragraph that no physician marked."
            )
        same = sum((k in marked) == (truth[k] != NONE) for k in self.eight)
        return (
            f"your labels are kept. On {same} of {len(mine)} paragraphs you agree with at least"
            " two physicians on whether to mark. The physicians agree less with each other than"
            " one would think: see task 1.3."
        )

    @task(
        "1.8",
        'Write {"takes for granted": "that ...", "reply": "...", "instead": "..."}, one sentence'
        " each.",
        free=True,
    )
    def noticed(self, given):
        """Task 1.8: sentences on what a question takes for granted; they are read, not judged."""
        asked, reply = normal(self.asked[OLDEST]), normal(self.best()[1])
        for name, text in zip(HELD, fields(given, HELD)):
            if nothing(text, 4):
                raise Wrong(f"{name!r}: write a sentence.")
            if normal(text) in asked or normal(text) in reply:
                raise Wrong(f"{name!r}: these are the words on the page. Use your own.")
        return (
            "your sentences are kept; no program can say whether they are right. Compare with your"
            " neighbour: would the patient still believe it after this reply, and what did the"
            " points reward?"
        )


def _turned(rating):
    return 6 - rating
