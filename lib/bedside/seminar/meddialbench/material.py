"""What MedDialBench's seminar sheet shows: labelled consultations, live ones of the rules (no model), printed tables."""

from bedside import judges, plots, seminar, stats
from bedside.judges import LEXICAL
from bedside.papers.meddialbench import consultations as held
from bedside.papers.meddialbench import data as md
from bedside.papers.meddialbench import judging, printed, rules, scores
from bedside.rows import Document
from bedside.seminar import needs
from bedside.sources import drawn

READ = "d-2-1"  # the labelled consultation that is read: a cooperative patient
CELL = ("DeepSeek", "C3")  # of Table 9, worked out by hand: shares and odds disagree there
MORE = ("fabricating", "withholding", "C1")  # behaviours under which the doctor gets more turns
TURNS = (20, 40, 80)
ITEM = ["item", "dimension", "level", "script", "facts", "false", "toward"]


class Material(seminar.Sheet):
    """Cases, scripts, labelled dialogues, and consultations of the rules held on the spot; run and design as in the notebooks."""

    def __init__(self):
        self.document = Document("sample")
        self.run = self.document.run("meddialbench", "04_interactions")
        self.design = md.design(self.run)
        self.cases, self.texts = seminar.finished(md.cases(self.run, self.design, 0))
        self.known = judging.Labelled(self.run)
        self.of = self.cases.set_index("item")
        self.dialogue = self.known.dialogues.set_index("answer_id").loc[READ]
        self.configurations = self.design.configurations()
        self.plain = self.consult(self.configurations)

    def consult(self, configurations, texts=None, item=None, turns=20):
        """Consultations of the rules for {name: levels}, each case or one, held now: no model, no recording."""
        texts = self.texts if texts is None else texts
        cases = self.cases if item is None else self.cases[self.cases["item"] == item]
        made = held.planned(cases, configurations, [rules.NAME], rules.NAME, turns)
        return seminar.finished(held.hold(made, *rules.speakers(self.design, self.cases, texts)))

    def outcomes(self, consultations):
        """A row each: case, configuration, model, correct, coverage (share of key items said word for word), turns."""
        import pandas as pd

        rows = []
        for c in consultations:
            said = held.normal(" ".join(c.statements()))
            share = sum(held.normal(k) in said for k in c.case.key_items) / len(c.case.key_items)
            rows.append(
                (
                    c.case.item,
                    c.configuration,
                    c.doctor,
                    float(c.diagnosis == c.case.diagnosis),
                    share,
                    len(c.turns),
                )
            )
        return pd.DataFrame(
            rows, columns=["case", "configuration", "model", "correct", "coverage", "turns"]
        )

    # ---- a consultation

    def items_of(self, item=None):
        """A case's key items, numbered; by default of the consultation that is read."""
        import pandas as pd

        items = self.of.at[item or self.dialogue["item"], "key_items"]
        return seminar.shown(pd.DataFrame({"number": range(1, len(items) + 1), "key item": items}))

    def read(self):
        """The labelled consultation, turn by turn."""
        import pandas as pd

        return seminar.shown(
            pd.DataFrame(
                [(n, q, a) for n, (q, a) in enumerate(self.dialogue["turns"], 1)],
                columns=["turn", "doctor", "patient"],
            )
        )

    @needs("4.1")
    def by_words(self, told):
        """What the judge that compares words finds in the same consultation, and how well it agrees with the labels on all 30."""
        rows = self.known.rows("coverage")
        found = judging.Overlap(rows).out_of_fold()
        k = stats.kappa(
            found,
            rows["label"].tolist(),
            judging.YES_NO,
            rng=self.run.rng("coverage"),
            units=rows["answer_id"],
        )
        mine = [
            int(r.number)
            for r, v in zip(rows.itertuples(), found)
            if r.answer_id == READ and v == "yes"
        ]
        print(f"by words: items {mine}; the label has {list(self.dialogue['disclosed'])}")
        print(
            f"all {len(self.known.dialogues)} labelled consultations: kappa {k.value:.2f}"
            f" ({k.low:.2f} to {k.high:.2f}), {k.n} decisions"
        )

    def hear(self, item, configuration=md.BASELINE):
        """Print a consultation of the rules, held now."""
        self._print(self.consult({configuration: self.configurations[configuration]}, item=item)[0])

    def _print(self, c):
        print(
            f"{held.transcript(c)}\n\nDiagnosis after {len(c.turns)} questions: {c.diagnosis} (the"
            f" case: {c.case.diagnosis})"
        )

    # ---- single behaviours

    @needs("4.3, your guess")
    def costs(self, guess):
        """Loss of accuracy by single behaviour: of the rules on the six cases, and printed as mean of five models; points."""
        import pandas as pd

        rules_lose = (
            scores.changes(self.outcomes(self.plain), self.run).set_index("configuration")["value"]
            * -100
        )
        both = {
            "run": rules_lose[self.design.adverse],
            "published": printed.drops(self.run).mean(axis=1)[self.design.adverse],
        }
        rows = [
            (n, source, lost[n] + 0.0) for n in self.design.adverse for source, lost in both.items()
        ]
        worst = {
            source: " and ".join(lost[lost == lost.max()].index) for source, lost in both.items()
        }
        print(
            f"You guessed {guess}. Most costly: {worst['published']} (the paper's five models),"
            f" {worst['run']} (the rules)."
        )
        figure, axes = plots.figure((7.4, 4.4))
        plots.bars(
            axes[0][0],
            pd.DataFrame(rows, columns=["row", "source", "value"]),
            xlabel="accuracy lost against the cooperative patient, points",
            title="Rules: 6 cases. Published: 85 cases, mean of five models",
        )
        plots.legend_below(figure)
        return drawn(plots, figure)

    def table3(self, *configurations):
        """Rows of Table 3 as printed: accuracy in percent."""
        rows = self.run.published("Table 3").pivot(index="row", columns="column", values="value")
        return seminar.shown(
            rows.loc[list(configurations), printed.MODELS].reset_index(names="configuration"),
            digits=1,
        )

    def doses(self):
        """Accuracy by severity: the mean of Table 3's five models in percent, and the rules' right diagnoses of six."""
        import pandas as pd

        paper = self.run.published("Table 3").groupby("row")["value"].mean()
        right = self.outcomes(self.plain).groupby("configuration")["correct"].sum()
        rows = []
        for d in self.design.dimensions:
            levels = [md.BASELINE, *self.design.of(d)[1:]]
            rows.append(
                (
                    d,
                    *(f"{paper[n]:.1f}" for n in levels),
                    *(f"{right[n]:.0f} of {len(self.cases)}" for n in levels),
                )
            )
        names = [f"{who}, severity {k}" for who in ("published %", "rules") for k in range(3)]
        return seminar.shown(pd.DataFrame(rows, columns=["dimension", *names]))

    def pairs(self, level):
        """Cases that are right at the baseline and wrong under a level, and the reverse: (lost, won)."""
        r = (
            scores.changes(self.outcomes(self.plain), self.run)
            .set_index("configuration")
            .loc[level]
        )
        return int(r["lost"]), int(r["won"])

    def widths(self):
        """95% Wilson intervals of half right, by number of cases."""
        import pandas as pd

        return seminar.shown(
            pd.DataFrame(
                [(n, *stats.wilson(n // 2, n)[:3]) for n in (len(self.cases), printed.N, 1000)],
                columns=["cases", "share right", "low", "high"],
            )
        )

    # ---- a script of one's own

    def with_script(self, script):
        """All scripts, a student's in the place of the bundled one for its case and level."""
        import pandas as pd

        mine = pd.DataFrame(
            [
                {
                    **{k: script[k] for k in md.SCRIPT},
                    "toward": script["toward"].strip(" -"),
                    "status": "graded",
                }
            ]
        )
        others = self.texts[
            (self.texts["item"] != script["item"]) | (self.texts["level"] != script["level"])
        ]
        return pd.concat([others, mine], ignore_index=True)

    def tried(self, script):
        """The consultation of the rules under a student's script."""
        return self.consult(
            {script["level"]: (script["level"],)}, self.with_script(script), script["item"]
        )[0]

    @needs("4.4", "4.4, your prediction")
    def try_out(self, script, guess):
        """Hold the consultation under a script and compare with the guess (right or wrong)."""
        if (checked := self.check("4.4", script)).ok is not True:
            return checked
        c = self.tried(script)
        self._print(c)
        came = "right" if c.diagnosis == c.case.diagnosis else "wrong"
        print(f"\nYou guessed that the diagnosis would be {guess}; it is {came}.")

    # ---- two behaviours, more turns

    def cell(self):
        """Printed accuracies of task 4.8: baseline, each behaviour alone, both."""
        model, name = CELL
        table = self.run.published("Table 9").query("row == @model").set_index("column")["value"]
        return {c: float(table[c]) for c in (md.BASELINE, *self.design.combinations[name], name)}

    def ratios(self):
        """O/E of each printed combination: the models' mean with the interval that 85 cases give, least and most; odds; rules."""
        import numpy as np
        import pandas as pd

        paper = printed.combinations(self.design)
        each, draws = printed.ratios(self.run, paper), printed.ratio_draws(self.run, paper).mean(-1)
        mine = scores.interactions(self.outcomes(self.plain), paper, self.run).set_index(
            "configuration"
        )
        rows = []
        for k, (c, levels) in enumerate(paper.items()):
            low, high = np.quantile(draws[:, k], [0.025, 0.975])
            odds = np.exp(printed.odds_interaction(self.run, c, levels))
            r = mine.loc[c]
            rows.append(
                (
                    c,
                    " + ".join(levels),
                    f"{each.loc[c].mean():.2f} ({low:.2f} to {high:.2f})",
                    f"{each.loc[c].min():.2f} to {each.loc[c].max():.2f}",
                    f"{odds:.2f}",
                    f"{r['value']:.2f} ({r['low']:.2f} to {r['high']:.2f}), n = {r['n']}",
                )
            )
        columns = [
            "",
            "behaviours",
            "published: O/E, mean",
            "by model",
            "published: odds ratio",
            "rules: O/E",
        ]
        return seminar.shown(pd.DataFrame(rows, columns=columns))

    def printed_ratio(self):
        """O/E of CELL's combination: mean of the five models, and the interval of CELL's own that 85 cases give."""
        import numpy as np

        paper = printed.combinations(self.design)
        draws = printed.ratio_draws(self.run, paper)[
            :, list(paper).index(CELL[1]), printed.MODELS.index(CELL[0])
        ]
        return (
            float(printed.ratios(self.run, paper).loc[CELL[1]].mean()),
            *np.quantile(draws, [0.025, 0.975]).tolist(),
        )

    def with_turns(self):
        """Right diagnoses and coverage of the rules by configuration and most turns."""
        import pandas as pd

        if not hasattr(self, "_more"):
            wanted = {n: self.configurations[n] for n in (md.BASELINE, *MORE)}
            self._more = pd.concat(
                [self.outcomes(self.consult(wanted, turns=t)).assign(most=t) for t in TURNS]
            )
        by = self._more.groupby(["configuration", "most"], sort=False)
        return by.agg(right=("correct", "sum"), coverage=("coverage", "mean"))

    @needs("4.9")
    def more(self, guess):
        """What more turns do, as a table."""
        found = self.with_turns().reset_index()
        found = found.sort_values(
            "configuration", key=lambda c: c.map([md.BASELINE, *MORE].index), kind="stable"
        )
        found["right"] = found["right"].map(lambda v: f"{v:.0f} of {len(self.cases)}")
        return seminar.shown(found.rename(columns={"most": "turns at most"}))

    # ---- limits

    def limits(self):
        """Print what the numbers rest on: the judges against labels, and how the tiny model fares as a doctor."""
        for judge in self.run.judges:
            print("judge of diagnoses:", judges.describe(self.run.card(judge)))
        p = self.run.settings
        settings = {k: p[k] for k in ("patient", "turns", "turn_tokens", "temperature")}
        baseline = {md.BASELINE: ()}
        _, found = seminar.finished(
            rules.consultations(self.run, self.design, self.cases, self.texts, baseline, **settings)
        )
        models = found[found["model"] != rules.NAME]
        done = seminar.finished(
            judging.outcomes(self.run.judged_by(LEXICAL), self.known, self.texts, models)
        )
        for model, part in done.groupby("model"):
            scored = part["correct"].dropna()
            i = stats.wilson(scored.sum(), len(scored))
            print(
                f"{model} as doctor and patient, cooperative: {scored.sum():.0f} of {len(scored)}"
                f" diagnoses right ({i.low:.2f} to {i.high:.2f}), {len(part) - len(scored)}"
                f" consultations without one, {part['coverage'].mean():.2f} of the key items told"
                f" in {part['turns'].mean():.0f} turns"
            )
