"""Tasks 2.7 to 2.9: which changes are right, which effects are forgotten, which errors count."""

from bedside.seminar import Wrong, choice, fields, right, task
from bedside.seminar.radiation.material import Material

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


class Weighing(Material):
    """What scores don't tell: directions of change, effects by onset and frequency, costs."""

    @task(
        "2.7",
        'Write "right" or "wrong" for each effect gained or lost, as {"breast pain": ..., ...}.',
    )
    def changed(self, given):
        """Task 2.7: whether a change follows from the site."""
        changes = self.changes()
        mine = {c: choice(v, VERDICTS) for c, v in zip(changes, fields(given, changes))}
        if not set(mine.values()) <= {"right", "wrong"}:
            raise Wrong('each answer is "right" or "wrong".')
        fits = {t: (t in self.site.index) == (how == "gained") for t, how in changes.items()}
        off = [t for t in changes if (mine[t] == "right") != fits[t]]
        if set(mine.values()) == {"wrong"}:
            raise Wrong(
                "every change counted as an error. That is how the overlap sees it. But the site"
                " is new information, and some changes follow from it."
            )
        if set(mine.values()) == {"right"}:
            raise Wrong(
                "every change counted as right. But naming a site adds and removes only certain"
                " effects. Look up each of them in the reference."
            )
        if len(off) == len(changes):
            raise Wrong(
                "all are the other way round. Gaining what belongs to the site is right, losing it"
                " is wrong."
            )
        if lost := [t for t in off if changes[t] == "lost"]:
            raise Wrong(
                f"look again at what was lost ({', '.join(lost)}). Is it in the reference of the"
                " site? Rare effects belong to it, too."
            )
        if off:
            raise Wrong(
                f"look again at what was gained ({', '.join(off)}). Does the reference have it for"
                " this site? The breast was removed."
            )
        return (
            f"{sum(fits.values())} of {len(fits)} changes are what the site calls for. The paper"
            " calls a low overlap a risk, and its limitations say that the overlap can't tell"
            " right changes from chance ones. Counting directions can."
        )

    @task(
        "2.8",
        'Write {"short above long": n, "common above extremely rare": n, "extremely rare above'
        ' rare": n}, n models.',
    )
    def forgotten(self, given):
        """Task 2.8: models that do better on one kind of effects (Tables 6 and 7)."""
        six, seven = self.printed("Table 6"), self.printed("Table 7")
        n, rarest = len(six), seven["Extremely Rare"]
        late, common, rare = (
            "short above long",
            "common above extremely rare",
            "extremely rare above rare",
        )
        truth = {
            late: int((six["Short-term"] > six["Long-term"]).sum()),
            common: int((seven["Common"] > rarest).sum()),
            rare: int((rarest > seven["Rare"]).sum()),
        }
        mistakes = {
            "all seven? The abstract says that models systematically miss late effects. But read"
            " Table 6 line by line: which models do better on long-term effects?": {late: n},
            "you counted the models that do better on long-term effects.": {late: n - truth[late]},
            "all seven? One model has a higher recall for extremely rare effects than for common"
            " ones, by a hundredth.": {common: n},
            "you counted the other direction: rare above extremely rare.": {rare: n - truth[rare]},
        }
        hint = "Go through the seven lines of the table and count."
        right(given, truth, mistakes, hint, by=0)
        other = six.index[six["Long-term"] > six["Short-term"]]
        return (
            f"{truth[late]} of {n}. {' and '.join(other)} are the other way round, as section 4.7"
            " says; they are the two of the seven that were called through OpenAI's interface. So"
            " “models forget late effects” holds for most models, not for all. This recall is a"
            " mean over four ways of asking, two of which show the model the list."
        )

    @task(
        "2.9",
        "Write a function of four numbers: lambda hits, wrong, missed, rejected: ...",
        code=True,
    )
    def metric(self, given):
        """Task 2.9: a measure under which the careful list is first."""
        value, better = self._valued(given)
        name, careful = self._known(value), value["careful"]
        said = f"This is {name}. " if name else ""
        if value["everything"] >= careful:
            n, every = len(self.site), len(self.terms)
            why = {
                "recall": "It never asks what is wrong. ",
                "F1": f"Where {n} of {every} terms belong to the site, naming all is a good bet. ",
                "accuracy": "Most terms belong to the site, so saying yes to all is often right. ",
            }
            raise Wrong(
                f"{said}{why.get(name, '')}The list of everything still wins"
                f" ({value['everything']:.2f} against {careful:.2f})."
            )
        for n in ("one sure item", "empty"):
            if value[n] >= careful:
                raise Wrong(
                    f"{said}Now saying nothing pays: the list “{n}” gets {value[n]:.2f}, the"
                    f" careful one {careful:.2f}. What was missed must count, too."
                )
        if min(better) <= careful:
            raise Wrong(
                f"{said}A list must score higher if it has one more hit, or one wrong entry fewer."
            )
        return (
            "the careful list is ahead of everything, one sure item and nothing. Every measure"
            " that adds recall to specificity does this (balanced accuracy, Youden's index):"
            " naming everything then scores as much as naming nothing. Now think of what it costs:"
            " it treats a missed pericarditis like a missed itch."
        )

    def _valued(self, metric):
        """A measure of each list, and of the careful one with a hit more or a wrong entry fewer."""
        cases = self.cases()
        h, w, m, r = cases["careful"]
        try:
            value = {n: float(metric(*c)) for n, c in cases.items()}
            return value, [float(metric(h + 1, w, m - 1, r)), float(metric(h, w - 1, m, r + 1))]
        except ZeroDivisionError:
            raise Wrong(
                "your measure divides by zero for one of the lists. An empty list has no"
                " precision: which denominators are never zero?"
            ) from None

    def _known(self, value):
        """The name of the measure that gives each list the same value, or ""."""
        cases = self.cases().items()
        for name, f in KNOWN.items():
            if all(abs(f(*c) - value[k]) < 1e-9 for k, c in cases):
                return name
        return ""
