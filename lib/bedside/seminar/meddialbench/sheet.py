"""MedDialBench's seminar sheet: what a patient tells, what behaviours cost, a script of one's own, two behaviours at once.

Sheet().check("4.2", {"coverage": 0.5, ...}); every truth is computed from sample data, printed tables or consultations held now.
"""

from bedside import stats
from bedside.checks import normal
from bedside.papers.meddialbench import data as md
from bedside.papers.meddialbench import judging, printed
from bedside.seminar import Wrong, fields, near, numbers, right, task
from bedside.seminar.meddialbench.material import ITEM, MORE, TURNS, Material

LEAST = 0.05  # p below which a difference counts in task 4.7, as in the paper
DEEDS = (
    "who withholds or interrupts says nothing untrue. Leave false empty, or take a level of logic"
    " or cognition."
)


class Sheet(Material):
    """Sheet 4, "The difficult patient": the checks of its tasks."""

    @task(
        "4.1",
        "For each of the turns the list of key items (numbers) that the patient tells there for the"
        " first time; [] for none.",
    )
    def told(self, answer):
        """Task 4.1: key items told, turn by turn."""
        turns, label = self.dialogue["turns"], list(self.dialogue["disclosed"])
        if set(answer) != set(range(1, len(turns) + 1)) or not all(
            isinstance(v, (list, tuple, set)) for v in answer.values()
        ):
            raise Wrong(f"Write a list for each of the turns 1 to {len(turns)}.")
        mine, items = [n for told in answer.values() for n in told], self.dialogue["key_items"]
        if strange := [n for n in mine if n not in range(1, len(items) + 1)]:
            raise Wrong(f"there is no key item {strange[0]!r}; they count from 1 to {len(items)}.")
        if twice := [n for n in set(mine) if mine.count(n) > 1]:
            raise Wrong(f"item {twice[0]} stands in two turns: only the first time counts.")
        if extra := sorted(set(mine) - set(label)):
            raise Wrong(
                f"item {extra[0]} ({items[extra[0] - 1]!r}) isn't told. Something near it isn't"
                " enough: the fact itself must be said, or be confirmed when asked for."
            )
        if missing := [n for n in label if n not in mine]:
            words = judging.told(items[missing[0] - 1])
            alike = [2 * len(words & judging.told(" ".join(t))) >= len(words) for t in turns]
            where = (
                f"read turn {alike.index(True) + 1} again"
                if any(alike)
                else "it comes in other words, read all again"
            )
            raise Wrong(
                f"{len(missing)} more to find, for instance item {missing[0]}: {where}, the"
                " questions, too. Other words for the same fact count, and so does a no that"
                " answers a question about it."
            )
        return (
            f"{len(label)} of {len(items)}, as the label has it. A doctor who had asked about the"
            f" other {len(items) - len(label)} would have heard them."
        )

    @task("4.2", "A dictionary with 'coverage' and 'coverage per turn'.")
    def coverage(self, answer):
        """Task 4.2: coverage, and coverage per turn (section 3.5)."""
        told, of, turns = (len(self.dialogue[k]) for k in ("disclosed", "key_items", "turns"))
        share = told / of
        right(
            answer,
            {"coverage": share, "coverage per turn": share / turns},
            [
                (
                    (
                        "coverage per turn: that is key items a turn. Divide the share, not the"
                        " number, by the turns."
                    ),
                    {"coverage per turn": told / turns},
                ),
                (
                    "coverage per turn: upside down. Divide coverage by the turns.",
                    {"coverage per turn": turns / share},
                ),
                (
                    "coverage: that is the share of key items that were not told.",
                    {"coverage": 1 - share},
                ),
            ],
            "Coverage: key items told over all key items of the case. Per turn: that share over the"
            " doctor's questions.",
        )
        two = self.run.published("Table 2").query("column == 'Coverage'")["value"]
        return (
            f"Table 2 has {two.min():.2f} to {two.max():.2f} for the paper's five models, in up to"
            " 18 turns. A high coverage per turn can mean good questions, or that the doctor"
            " stopped early."
        )

    @task("4.3", "A dictionary with 'fabricating' and 'withholding' (points lost) and 'ratio'.")
    def loss(self, answer):
        """Task 4.3: mean losses of Table 3, and their ratio."""
        names, mean = (
            ["fabricating", "withholding"],
            self.run.published("Table 3").groupby("row")["value"].mean(),
        )
        base, accuracy = mean[md.BASELINE], [mean[n] for n in names]
        lost = [base - a for a in accuracy]
        truth = dict(zip([*names, "ratio"], [*lost, lost[0] / lost[1]]))
        right(
            answer,
            truth,
            [
                (
                    "that is the accuracy that is left. Loss: the baseline's mean minus it.",
                    dict(zip(names, accuracy)),
                ),
                (
                    "points lost are positive here: baseline minus the behaviour's accuracy.",
                    dict(zip(names, [-v for v in lost])),
                ),
                (
                    (
                        "that is the loss relative to the baseline. Points: the plain difference of"
                        " two percentages."
                    ),
                    dict(zip(names, [100 * v / base for v in lost])),
                ),
                (
                    "ratio: upside down. How many times larger is the loss by fabricating?",
                    {"ratio": lost[1] / lost[0]},
                ),
            ],
            "Take the mean over the five models in each row, then the difference to the baseline's"
            " mean.",
            by=0.06,
        )
        each = printed.drops(self.run)
        ratios = each.loc["fabricating"] / each.loc["withholding"]
        return (
            "information that is wrong costs more than information that is missing. From model to"
            f" model the ratio goes from {ratios.min():.1f} to {ratios.max():.1f}; the paper prints"
            " 1.7 to 3.4 (section 4.4)."
        )

    @task(
        "4.4",
        f"A dictionary with {', '.join(ITEM)}, as in data/sample/meddialbench/scripts.jsonl; toward"
        " is '-' if no diagnosis is pointed at.",
    )
    def script(self, answer):
        """Task 4.4: a behaviour script that fits its case and level."""
        item, dimension, level, script, facts, false, toward = fields(answer, ITEM)
        if item not in self.of.index:
            raise Wrong(f"there is no case {item!r}; cases are {', '.join(self.of.index)}.")
        if level not in self.design.adverse:
            raise Wrong(
                f"level {level!r} is none of the adverse ones: {', '.join(self.design.adverse)}."
            )
        if dimension != self.design.dimension(level):
            raise Wrong(
                f"{level!r} is a level of the dimension {self.design.dimension(level)!r}, not of"
                f" {dimension!r}."
            )
        items, known = (
            self.of.at[item, "key_items"],
            [self.of.at[item, "diagnosis"], *self.of.at[item, "accepted"]],
        )
        if (
            not isinstance(facts, list)
            or not isinstance(false, list)
            or not all(isinstance(f, str) for f in false)
        ):
            raise Wrong(
                "facts is a list of numbers, such as [3, 4]; false a list of sentences, or []."
            )
        if 0 in facts:
            raise Wrong("facts: key items are numbered from 1, not from 0.")
        if strange := [f for f in facts if f not in range(1, len(items) + 1)]:
            raise Wrong(
                f"facts: {item} has no key item {strange[0]!r}; numbers go from 1 to {len(items)}."
            )
        if not facts:
            raise Wrong(
                "facts: name at least one key item that the behaviour touches. A script that"
                " touches nothing changes nothing."
            )
        if len(str(script).split()) < 8:
            raise Wrong(
                "script: tell the patient in a sentence or two (eight words at least) what to do,"
                " and why he or she does it."
            )
        path = self.design.pathway(level)
        if path == "pollution" and not false:
            raise Wrong(
                f"{level} is information pollution: it needs at least one false statement, as the"
                " patient would say it."
            )
        if path != "pollution" and false:
            raise Wrong(f"{level} is no information pollution: {DEEDS}")
        if true := [f for f in false if normal(f) in map(normal, items)]:
            raise Wrong(f"false: {true[0]!r} is true: it is a key item of this case.")
        if normal(toward) in map(normal, known):
            raise Wrong(
                "toward is the wrong diagnosis that the false statements point at; this one is"
                " right."
            )
        if toward.strip(" -") and not false:
            raise Wrong(
                "toward: without false statements nothing points at a wrong diagnosis; write '-'."
            )
        mine = self.with_script(answer)
        mine = mine[(mine["item"] == item) & (mine["level"] == level)]
        if faults := md.script_faults(self.cases[self.cases["item"] == item], mine):
            raise Wrong(
                f"script and facts don't fit: {faults[0]}. The text has to name every fact in its"
                " facts by a telling word."
            )
        return (
            f"it fits. {len(facts)} of {len(items)} key items are touched, {len(false)} false"
            f" statements made ({path}). Guess what comes of it, then try it."
        )

    @task("4.5", "[my_script, my_second]: two scripts in the form of task 4.4.")
    def changed(self, answer):
        """Task 4.5: two scripts for one case and level, of which one leads the doctor astray and the other doesn't."""
        first, second = answer
        self.script(first), self.script(second)
        if (first["item"], first["level"]) != (second["item"], second["level"]):
            raise Wrong(
                "keep case and level and change the rest: with two changes nobody knows which one"
                " mattered."
            )
        if all(first[k] == second[k] for k in ("facts", "false", "toward")):
            raise Wrong(
                "only the text differs, or nothing. The patient of the rules doesn't read the text,"
                " only facts, false and toward; a model as patient does it the other way round."
            )
        made = [self.tried(s) for s in (first, second)]
        came = [c.diagnosis == c.case.diagnosis for c in made]
        if came[0] == came[1]:
            raise Wrong(
                f"both diagnoses are {'right' if came[0] else 'wrong'}. Read the consultation: the"
                f" doctor stops at five findings of one disease and after {made[0].most} questions,"
                " and goes through a disease's findings in their order. "
                + (
                    "Touch more facts, or ones that are asked for early."
                    if came[0]
                    else "Touch fewer facts, or ones that are asked for late."
                )
            )
        return (
            f"{' and '.join('right' if x else 'wrong' for x in came)}, with"
            f" {' and '.join(str(len(c.turns)) for c in made)} questions. Compare the two lists of"
            " facts: was it their medical weight that decided, or the order in which this doctor"
            " asks?"
        )

    @task(
        "4.6",
        "A dictionary with the points lost at each step, and 'threshold': the dimension that has"
        " one.",
    )
    def dose(self, answer):
        """Task 4.6: steps from severity 0 to 1 to 2 in Table 3 (section 4.2)."""
        mean = self.run.published("Table 3").groupby("row")["value"].mean()
        truth, whole = {}, {}
        for d in ("cognition", "logic"):
            accuracy = [mean[n] for n in (md.BASELINE, *self.design.of(d)[1:])]
            truth |= {
                f"{d}, first step": accuracy[0] - accuracy[1],
                f"{d}, second step": accuracy[1] - accuracy[2],
            }
            whole[f"{d}, second step"] = accuracy[0] - accuracy[2]
        *steps, threshold = fields(answer, [*truth, "threshold"])
        right(
            dict(zip(truth, steps)),
            truth,
            [
                ("second step: from severity 1 to 2, not from 0 to 2.", whole),
                ("points lost are positive here.", {k: -v for k, v in truth.items()}),
            ],
            "A step is the difference of the mean accuracies at two neighbouring severities.",
            by=0.11,
        )
        jump = max(
            ("cognition", "logic"),
            key=lambda d: truth[f"{d}, second step"] / truth[f"{d}, first step"],
        )
        if str(threshold).strip().lower() != jump:
            raise Wrong(
                "threshold: where does little happen at first and then much? Compare the second"
                " step with the first in each dimension."
            )
        return (
            f"in {jump} the second step costs"
            f" {truth[jump + ', second step'] / truth[jump + ', first step']:.1f} times the first."
            " Three doses, one set of cases: a threshold is one reading. The two levels of logic"
            " also differ in kind: who contradicts himself gives the doctor a chance to notice."
        )

    @task("4.7", "A dictionary with 'p' and 'least' (a number of cases).")
    def six(self, answer):
        """Task 4.7: exact McNemar on six cases."""
        p, least = numbers(answer, ["p", "least"], share=["p"])
        lost, won = self.pairs("fabricating")
        true, n = stats.mcnemar_counts(lost, won), len(self.cases)
        if not near(p, true, 0.006):
            if near(p, true / 2, 0.006):
                raise Wrong(
                    "p: that is one-sided. Two-sided: the behaviour could also have helped, so"
                    " twice as much."
                )
            if near(p, stats.mcnemar_counts(n, 0), 0.006) or near(p, 0.5**n, 0.006):
                raise Wrong(
                    "p: only discordant cases count, those that are right in one condition and"
                    " wrong in the other. The other cases say nothing."
                )
            raise Wrong(
                "p: how likely is it that all discordant cases fall on the same side, if each falls"
                " like a fair coin? Either side counts."
            )
        needed = next(k for k in range(1, 100) if stats.mcnemar_counts(k, 0) < LEAST)
        if least != needed:
            if least == needed - 1:
                raise Wrong(
                    f"least: with {needed - 1} of {needed - 1} the two-sided p is "
                    f"{stats.mcnemar_counts(needed - 1, 0):.3f}."
                )
            raise Wrong("least: compute 2 x 0.5^k for k = 1, 2, 3, ... until it is below 0.05.")
        return (
            f"p = {true:.2f}. Half of the right diagnoses are gone, and it may be chance. With {n}"
            f" cases only {needed} of {needed} lost would do. With {printed.N} cases the paper can"
            f" see a loss of {100 * stats.mde_paired(printed.N, 0.2):.0f} points (if a fifth of the"
            " cases are discordant)."
        )

    @task(
        "4.8",
        "A dictionary with 'expected' (percent), 'O/E', 'odds, observed' and 'odds, expected'.",
    )
    def ratio(self, answer):
        """Task 4.8: observed over expected on shares (equation 1) and on odds of failure."""
        base, a, b, both = self.cell().values()
        mean, low, high = self.printed_ratio()

        def odds(accuracy):
            return (100 - accuracy) / accuracy

        expected, failing = a * b / base, odds(a) * odds(b) / odds(base)
        truth = {
            "expected": expected,
            "O/E": both / expected,
            "odds, observed": odds(both),
            "odds, expected": failing,
        }
        right(
            answer,
            truth,
            [
                (
                    (
                        "expected: you subtracted both losses. The paper multiplies: each behaviour"
                        " leaves a share of what is right."
                    ),
                    {"expected": a + b - base},
                ),
                (
                    (
                        "expected: the baseline is forgotten. Divide the product by the baseline's"
                        " accuracy, not by 100."
                    ),
                    {"expected": a * b / 100},
                ),
                ("O/E is upside down: observed over expected.", {"O/E": expected / both}),
                (
                    "O/E: that is the mean of five models (Table 4). Asked is this model's.",
                    {"O/E": mean},
                ),
                *(
                    (
                        (
                            "odds, observed: that is the share that fails, or the odds of a right"
                            " diagnosis. Asked: wrong over right."
                        ),
                        {"odds, observed": x},
                    )
                    for x in (1 / odds(both), 1 - both / 100)
                ),
                (
                    (
                        "odds, expected: additive on the scale of log odds means to multiply odds:"
                        " A x B / baseline."
                    ),
                    {"odds, expected": odds(a) + odds(b) - odds(base)},
                ),
            ],
            "Expected accuracy: A x B / baseline. Odds of failure: (100 - accuracy) / accuracy, for"
            " each of the four; expected: A x B / baseline again.",
            by=0.03,
        )
        return (
            f"on shares slightly more harm than expected (O/E {both / expected:.2f}), on odds less"
            f" ({odds(both):.2f} against {failing:.2f}). With {printed.N} cases O/E could be"
            f" {low:.2f} to {high:.2f}. 'Super-additive' is a statement about a scale, and about an"
            " interval."
        )

    @task(
        "4.9",
        f"A dictionary with {', '.join(MORE)}: how many turns bring all diagnoses back"
        f" ({', '.join(map(str, TURNS))}), or 0 for none of these.",
    )
    def turns(self, answer):
        """Task 4.9: the number of turns that undoes a behaviour, for the rules."""
        got, made = numbers(answer, list(MORE)), self.with_turns()["right"]
        truth = {n: next((t for t in TURNS if made[n, t] == made[md.BASELINE, t]), 0) for n in MORE}
        if strange := [v for v in got if v not in (*TURNS, 0)]:
            raise Wrong(f"{strange[0]:g} isn't one of {', '.join(map(str, TURNS))} and 0.")
        for name, value in zip(MORE, got):
            if value != truth[name]:
                why = (
                    "fewer are enough. The true facts that aren't touched are still told, and this"
                    " doctor counts them."
                    if value == 0 or value > truth[name]
                    else "more are needed. Everything is asked once before anything is asked again."
                )
                if not truth[name]:
                    why = (
                        "not even the most bring all back. What is said isn't unsaid, and what"
                        " would set it right isn't told."
                    )
                raise Wrong(f"{name}: {why}")
        return (
            "more questions get round what is withheld and, for this doctor who counts findings,"
            " even what is invented. Both together leave nothing to get round with. The paper's"
            " models stop after 9 to 18 questions (section 4.1); it concludes that questions help"
            " against deficit and not against pollution (section 6)."
        )
