"""Tasks 1.8 and 1.9: what a cure costs patients whose questions need no correction."""

from bedside import stats
from bedside.papers.cancer_myth.v2.items import SETS
from bedside.seminar import Wrong, right, task
from bedside.seminar.cancer_myth.material import SIZES, Material


class Cures(Material):
    """Balanced accuracy of printed cures, and of a student's own rule."""

    @task("1.8", 'Write {"always object": percent, "GPT-4o Plain": percent, ...} for all six.')
    def balanced(self, given):
        """Task 1.8: balanced accuracy of six systems (summary of version 2, Table 1)."""
        x, y = (self.printed()[s] for s in SETS[:2])
        truth = {"always object": 50.0, **((x + y) / 2).to_dict()}
        n, m = SIZES
        pooled = ((n * x + m * y) / (n + m)).to_dict()
        pooled |= {"always object": 100 * n / (n + m)}
        mistakes = {
            f"you weighted by the number of questions ({n} and {m}). Then “always object” does"
            " well because one set is larger: the mix of a benchmark decides who is best. Balanced"
            " accuracy weighs both sets alike.": pooled,
            "this is the harmonic mean, as in F1. Balanced accuracy is the arithmetic mean.": {
                "GPT-4o Plain": stats.harmonic(x, y)["GPT-4o Plain"]
            },
            "a system that always objects is right on every question with a false presupposition"
            " and wrong on every other one. Its two percentages are 100 and 0.": (
                {"always object": 100},
                {"always object": 0},
            ),
        }
        hint = "Balanced accuracy is the mean of the two percentages of a row."
        right(given, truth, mistakes, hint, by=0.6)
        best = (x + y).idxmax()
        return (
            f"GPT-4o without a cure has {truth['GPT-4o Plain']:.0f}, as much as a system that"
            f" ignores the question. {best} is best. But one number hides a choice: is a missed"
            " misconception as bad as an invented one? Statistics can't answer that."
        )

    @task(
        "1.9",
        'Write a list of words, such as ["so", "since"]. Your rule objects to every question that'
        " has one of them.",
    )
    def own_rule(self, given):
        """Task 1.9: a rule by words that beats ignoring the question."""
        given = given.split(",") if isinstance(given, str) else given
        if not isinstance(given, (list, tuple, set)) or not all(isinstance(w, str) for w in given):
            raise TypeError
        hits, n, kept, m = self.rule(given)
        i = stats.balanced_accuracy(hits, n, kept, m)
        said = (
            f"your rule objects to {hits} of {n} questions with a false presupposition and leaves"
            f" alone {kept} of {m} questions without one: balanced accuracy {100 * i.value:.0f}%"
        )
        if hits == n and kept == 0:
            raise Wrong(
                f"{said}. This is “always object”: every patient is told that something is wrong."
            )
        if hits == 0 and kept == m:
            raise Wrong(f"{said}. This is “never object”: nobody is corrected.")
        if i.value <= 0.5:
            turned = "; turned around it would be better" if i.value < 0.5 else ""
            raise Wrong(
                f"{said}. This is no better than ignoring the question{turned}. Which words come"
                " before something that a patient concludes?"
            )
        return (
            f"{said}, 95% confidence interval {100 * i.low:.0f} to {100 * i.high:.0f}. Did you"
            " look at these questions while you chose the words? Then the rule is fitted to them,"
            " as a cure is to its training questions. Only new questions can tell how good it is."
        )
