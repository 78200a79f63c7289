"""What sheet 4 shows: labelled consultations, consultations of the rules, printed tables."""

import functools

import numpy as np
import pandas as pd

from bedside import seminar, stats
from bedside.judging import judges, trust_cards
from bedside.papers.meddialbench import consultations as held
from bedside.papers.meddialbench import data, examples, implied, judging, rules, scores, study
from bedside.papers.meddialbench.design import BASELINE
from bedside.read.checks import normal
from bedside.seminar import needs, shown
from bedside.write import plots

READ = "d-2-1"  # the labelled consultation that is read: a cooperative patient
CELL = ("DeepSeek", "C3")  # of Table 9, to work out by hand: shares and odds disagree there
MORE = ("fabricating", "withholding", "C1")  # behaviours under which the doctor gets more turns
TURNS = (20, 40, 80)
ITEM = ["item", "dimension", "level", "script", "facts", "false", "toward"]
OUTCOME = ["case", "configuration", "model", "correct", "coverage", "turns"]
LIMITS = [0.025, 0.975]  # of a 95% interval


class Material(seminar.Sheet):
    """Cases, scripts, labelled dialogues, and consultations of the rules, held on the spot.

    Run and design are those of the study's notebooks.
    """

    def __init__(self):
        self.run = seminar.run("meddialbench", "04_interactions")
        self.here = seminar.finished(study.set_up(self.run))
        self.design, self.cases, self.texts, *_ = self.here
        self.known = examples.Labelled(self.run)
        self.of = self.cases.set_index("item")
        self.dialogue = self.known.dialogues.set_index("answer_id").loc[READ]
        self.configurations = self.design.configurations()
        self.plain = self.consult(self.configurations)

    def consult(self, configurations, texts=None, item=None, turns=20):
        """Consultations of the rules for {name: levels}, with all cases or one, held now.

        They need no model and no recording.
        """
        texts = self.texts if texts is None else texts
        cases = self.cases if item is None else self.cases[self.cases["item"] == item]
        made = held.planned(cases, configurations, [rules.NAME], rules.NAME, turns)
        return rules.hold(made, rules.Knowledge(self.design, self.cases, texts))

    def outcomes(self, consultations):
        """One row each, as OUTCOME; coverage is the share of key items said word for word."""
        rows = []
        for c in consultations:
            said, items = normal(" ".join(c.statements())), c.case.key_items
            share = sum(normal(k) in said for k in items) / len(items)
            correct = float(c.diagnosis == c.case.diagnosis)
            rows.append((c.case.item, c.configuration, c.doctor, correct, share, len(c.turns)))
        return pd.DataFrame(rows, columns=OUTCOME)

    # ---- a consultation

    def items_of(self, item=None):
        """A case's key items, numbered; by default those of the consultation that is read."""
        items = self.of.at[item or self.dialogue["item"], "key_items"]
        return shown(pd.DataFrame({"number": range(1, len(items) + 1), "key item": items}))

    def read(self):
        """The labelled consultation, turn by turn."""
        turns = [(n, q, a) for n, (q, a) in enumerate(self.dialogue["turns"], 1)]
        return shown(pd.DataFrame(turns, columns=["turn", "doctor", "patient"]))

    @needs("4.1")
    def by_words(self, told):
        """What the word-overlap judge finds in the consultation, and its kappa on all of them."""
        rows = self.known.rows("coverage")
        found, labels = judging.Overlap(rows, judging.YES_NO).out_of_fold(), rows["label"].tolist()
        k = stats.kappa(found, labels, judging.YES_NO)
        yes = rows[(rows["answer_id"] == READ) & (np.array(found) == "yes")]
        mine = yes["number"].astype(int).tolist()
        print(
            f"The word-overlap judge finds items {mine}; the label has"
            f" {list(self.dialogue['disclosed'])}."
        )
        print(
            f"On all {len(self.known.dialogues)} labelled consultations: kappa {k.value:.2f},"
            f" {k.n} decisions on {rows['item'].nunique()} cases."
        )

    def hear(self, item, configuration=BASELINE):
        """Print a consultation of the rules, held now."""
        levels = {configuration: self.configurations[configuration]}
        self._print(self.consult(levels, item=item)[0])

    def _print(self, c):
        """A consultation, turn by turn, and what came of it."""
        print(
            f"{seminar.wrapped(held.transcript(c))}\n\n"
            f"Diagnosis after {len(c.turns)} questions: {c.diagnosis}"
            f" (right: {c.case.diagnosis})"
        )

    # ---- single behaviours

    def changes(self):
        """What each configuration changes in the rules' diagnoses, by configuration."""
        return scores.changes(self.outcomes(self.plain), self.run).set_index("configuration")

    @needs("4.3, your guess")
    def costs(self, guess):
        """Points of accuracy lost by single behaviours: the rules' on six cases, and printed.

        Printed: the mean of five models.
        """
        adverse = self.design.adverse
        guess = normal(guess).replace(" ", "_")
        if guess not in adverse:
            raise ValueError(f"a guess is one of {', '.join(adverse)}")
        both = {
            "run": -100 * self.changes()["value"][adverse],
            "published": implied.drops(self.run).mean(axis=1)[adverse],
        }
        rows = [(n, source, lost[n] + 0.0) for n in adverse for source, lost in both.items()]
        most = {s: " and ".join(lost[lost == lost.max()].index) for s, lost in both.items()}
        print(
            f"You guessed {guess}. Most costly: {most['published']} (the paper's five models),"
            f" {most['run']} (the rules)."
        )
        figure, ((ax,),) = plots.figure((7.4, 4.4))
        plots.bars(
            ax,
            pd.DataFrame(rows, columns=["row", "source", "value"]),
            xlabel="accuracy lost against the cooperative patient, percentage points",
            title="Rules: 6 cases. Published: 85 cases, mean of five models",
        )
        plots.legend_below(figure)
        return plots.picture(figure)

    def table3(self, *configurations):
        """Rows of Table 3 as printed: accuracy in percent."""
        rows = self.run.published("Table 3").pivot(index="row", columns="column", values="value")
        rows = rows.loc[list(configurations), implied.MODELS]
        return shown(rows.reset_index(names="configuration"), digits=1)

    def means(self):
        """Mean accuracy of the paper's five models by configuration (Table 3), in percent."""
        return self.run.published("Table 3").groupby("row")["value"].mean()

    def doses(self):
        """Accuracy by severity: Table 3's mean in percent, and the rules' right diagnoses."""
        paper, n = self.means(), len(self.cases)
        ours = self.outcomes(self.plain).groupby("configuration")["correct"].sum()
        rows = []
        for d in self.design.dimensions:
            levels = [BASELINE, *self.design.of(d)[1:]]
            theirs = [f"{paper[level]:.1f}" for level in levels]
            rows.append((d, *theirs, *(f"{ours[level]:.0f} of {n}" for level in levels)))
        names = [f"{who}, severity {k}" for who in ("published %", "rules") for k in range(3)]
        return shown(pd.DataFrame(rows, columns=["dimension", *names]))

    def pairs(self, level):
        """Cases right at the baseline and wrong under a level, and the reverse: (lost, won)."""
        r = self.changes().loc[level]
        return int(r["lost"]), int(r["won"])

    @needs("4.7")
    def widths(self, given):
        """95% Wilson intervals of half right, by number of cases."""
        sizes = (len(self.cases), implied.N, 1000)
        rows = [(n, *stats.wilson(n // 2, n)[:3]) for n in sizes]
        return shown(pd.DataFrame(rows, columns=["cases", "share right", "low", "high"]))

    # ---- a student's script

    def plain_script(self, script):
        """A student's script with names and numbers in the form of scripts ("Case 5": "case-5")."""
        made = dict(script)
        for field in ("item", "dimension", "level"):
            said = normal(made[field]).replace("_", " ")
            made[field] = said.replace(" ", "-" if field == "item" else "_")
        if isinstance(made["facts"], list):
            numbers = [seminar.number(f) for f in made["facts"]]
            made["facts"] = [
                f if n is None or n % 1 else int(n) for n, f in zip(numbers, made["facts"])
            ]
        if isinstance(made["false"], str):
            made["false"] = [made["false"]] if normal(made["false"]) not in ("", "none") else []
        return made

    def with_script(self, script):
        """All scripts, with a student's in place of the bundled one for its case and level."""
        script = self.plain_script(script)
        mine = {k: script[k] for k in data.SCRIPT}
        mine |= {"toward": script["toward"].strip(" -"), "status": "graded"}
        place = self.texts["item"].eq(script["item"]) & self.texts["level"].eq(script["level"])
        return pd.concat([self.texts[~place], pd.DataFrame([mine])], ignore_index=True)

    def tried(self, script):
        """The consultation of the rules under a student's script."""
        script = self.plain_script(script)
        level = script["level"]
        return self.consult({level: (level,)}, self.with_script(script), script["item"])[0]

    @needs("4.4", "4.4, your prediction")
    def try_out(self, script, guess):
        """Hold the consultation under a script and compare it with the guess (right or wrong)."""
        if (checked := self.feedback("4.4", script)).ok is not True:
            return checked
        if normal(guess) not in ("right", "wrong"):
            raise ValueError('a prediction is "right" or "wrong"')
        c = self.tried(script)
        self._print(c)
        came = "right" if c.diagnosis == c.case.diagnosis else "wrong"
        print(f"\nYou predicted that the diagnosis would be {guess}; it is {came}.")

    # ---- two behaviours, more turns

    def cell(self):
        """Printed accuracies of task 4.8: baseline, each behaviour alone, both."""
        model, name = CELL
        table = self.run.published("Table 9").query("row == @model").set_index("column")["value"]
        return {c: float(table[c]) for c in (BASELINE, *self.design.combinations[name], name)}

    @needs("4.8")
    def ratios(self, given):
        """O/E and odds ratio of each combination, printed, and O/E of the rules.

        Printed: the models' mean with the interval that 85 cases give, and their range. Six cases
        give no interval.
        """
        paper = implied.combinations(self.design)
        each, draws = implied.ratios(self.run, paper), implied.ratio_draws(self.run, paper).mean(-1)
        ours = scores.interactions(self.outcomes(self.plain), paper, self.run)
        ours, rows = ours.set_index("configuration"), []
        for k, (c, levels) in enumerate(paper.items()):
            low, high = np.quantile(draws[:, k], LIMITS)
            odds = np.exp(implied.interaction("odds of failure multiplied", c, levels))
            mine, models = ours.loc[c], each.loc[c]
            rows.append(
                {
                    "": c,
                    "behaviours": " + ".join(levels),
                    "published: O/E, mean": f"{models.mean():.2f} ({low:.2f} to {high:.2f})",
                    "by model": f"{models.min():.2f} to {models.max():.2f}",
                    "published: odds ratio": f"{odds:.2f}",
                    "rules: O/E": f"{mine['value']:.2f}, n = {mine['n']}",
                }
            )
        return shown(pd.DataFrame(rows))

    def printed_ratio(self):
        """O/E of CELL's combination: the five models' mean, and the interval for CELL's model.

        The interval is the one that 85 cases give.
        """
        paper, (model, name) = implied.combinations(self.design), CELL
        draws = implied.ratio_draws(self.run, paper)
        own = draws[:, list(paper).index(name), implied.MODELS.index(model)]
        mean = float(implied.ratios(self.run, paper).loc[name].mean())
        return mean, *np.quantile(own, LIMITS).tolist()

    @functools.cached_property
    def with_turns(self):
        """Right diagnoses and coverage of the rules by configuration and most turns."""
        wanted = {n: self.configurations[n] for n in (BASELINE, *MORE)}
        made = [self.outcomes(self.consult(wanted, turns=t)).assign(most=t) for t in TURNS]
        by = pd.concat(made).groupby(["configuration", "most"], sort=False)
        return by.agg(right=("correct", "sum"), coverage=("coverage", "mean"))

    @needs("4.9")
    def more(self, guess):
        """What more turns do, as a table."""
        found, order = self.with_turns.reset_index(), [BASELINE, *MORE]
        found = found.sort_values("configuration", key=lambda c: c.map(order.index), kind="stable")
        found["right"] = found["right"].map(lambda v: f"{v:.0f} of {len(self.cases)}")
        return shown(found.rename(columns={"most": "turns at most"}))

    # ---- limits

    def limits(self):
        """Print what the numbers rest on: the judges, and the embedded model as a doctor."""
        for judge in (judges.LEXICAL, *self.run.models):
            print(trust_cards.describe(self.run.card(judge)))
        done = seminar.graded("meddialbench", "consultations", judges.LEXICAL)
        done = done[(done["configuration"] == BASELINE) & (done["by"] == "model")]
        for model, part in done.groupby("model"):
            graded = part["correct"].dropna()
            i = stats.wilson(graded.sum(), len(graded))
            print(
                f"{model} as doctor and as cooperative patient: {graded.sum():.0f} of"
                f" {len(graded)} diagnoses right (95% interval {i.low:.2f} to {i.high:.2f}),"
                f" {len(part) - len(graded)} consultations without a diagnosis,"
                f" {part['coverage'].mean():.2f} of the key items told in"
                f" {part['turns'].mean():.0f} turns"
            )
