"""Tasks 4.8 and 4.9: two behaviours at once on two scales, and what more questions undo."""

from bedside.papers.meddialbench import implied
from bedside.papers.meddialbench.design import BASELINE
from bedside.seminar import Wrong, numbers, right, task
from bedside.seminar.meddialbench.material import MORE, TURNS, Material


def odds(accuracy):
    """Odds of failure of an accuracy in percent."""
    return (100 - accuracy) / accuracy


class Together(Material):
    """Observed over expected, on shares and on odds; behaviours under more turns."""

    @task(
        "4.8",
        "Write a dictionary with 'expected' (in percent), 'O/E', 'odds, observed' and 'odds,"
        " expected'.",
    )
    def ratio(self, answer):
        """Task 4.8: observed over expected on shares (equation 1) and on odds of failure."""
        base, a, b, both = self.cell().values()
        mean, low, high = self.printed_ratio()
        expected, failing = a * b / base, odds(a) * odds(b) / odds(base)
        truth = {
            "expected": expected,
            "O/E": both / expected,
            "odds, observed": odds(both),
            "odds, expected": failing,
        }
        mistakes = {
            "expected: you subtracted both losses. The paper multiplies, because each behaviour"
            " leaves a share of what is right.": {"expected": a + b - base},
            "expected: the baseline is forgotten. Divide the product by the baseline's accuracy,"
            " not by 100.": {"expected": a * b / 100},
            "O/E is upside down: it is observed over expected.": {"O/E": expected / both},
            "O/E: that is the mean of five models (Table 4). The task asks for this model's.": {
                "O/E": mean
            },
            "odds, observed: that is the share that fails, or the odds of a right diagnosis. The"
            " task asks for wrong over right.": (
                {"odds, observed": 1 / odds(both)},
                {"odds, observed": 1 - both / 100},
            ),
            "odds, expected: effects that are independent on this scale add up in log odds, so"
            " multiply odds: A × B / baseline.": {"odds, expected": odds(a) + odds(b) - odds(base)},
        }
        hint = (
            "Expected accuracy is A × B / baseline. Odds of failure are (100 − accuracy) /"
            " accuracy, for each of the four. Expected odds are A × B / baseline again."
        )
        right(answer, truth, mistakes, hint, by=0.03)
        return (
            f"on shares there is slightly more harm than expected (O/E {both / expected:.2f}), on"
            f" odds there is less ({odds(both):.2f} against {failing:.2f}). With {implied.N}"
            f" cases, the 95% confidence interval of O/E is {low:.2f} to {high:.2f}."
            " “Super-additive” is a statement about a scale, and about an interval."
        )

    @task(
        "4.9",
        f"Write a dictionary with {', '.join(MORE)}: how many turns bring all diagnoses back"
        f" ({', '.join(map(str, TURNS))}), or 0 if none of these does.",
    )
    def turns(self, answer):
        """Task 4.9: the number of turns that undoes a behaviour, for the rules."""
        got, made = numbers(answer, list(MORE)), self.with_turns["right"]
        if strange := [v for v in got if v not in (*TURNS, 0)]:
            raise Wrong(f"{strange[0]:g} isn't one of {', '.join(map(str, TURNS))} and 0.")
        for name, value in zip(MORE, got):
            back = [t for t in TURNS if made[name, t] == made[BASELINE, t]]
            if value == (back[0] if back else 0):
                continue
            if not back:
                raise Wrong(
                    f"{name}: not even {TURNS[-1]} bring all diagnoses back. What was said isn't"
                    " unsaid, and the facts that would set it right aren't told."
                )
            if value == 0 or value > back[0]:
                raise Wrong(
                    f"{name}: fewer are enough. The patient tells untouched facts when the doctor"
                    " goes on asking, and withheld facts when asked a third time."
                )
            raise Wrong(
                f"{name}: more are needed. This doctor stops when a fifth of the questions brought"
                " nothing, and asks everything once before asking anything again."
            )
        return (
            "more questions get round what is withheld, but not round what is invented, because"
            " this doctor stops at a story that fits. The paper, whose models stop after 9 to 18"
            " questions (section 4.1), concludes the same (section 6). Here it follows from how"
            " the doctor was written."
        )
