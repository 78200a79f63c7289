"""What sheet 4 shows: labelled and written consultations, and printed tables."""

from pathlib import Path

import numpy as np
import pandas as pd

from bedside import seminar, stats
from bedside.judging import judges, trust_cards
from bedside.papers.meddialbench import consultations as held
from bedside.papers.meddialbench import examples, judging, printed, rules, study
from bedside.papers.meddialbench.design import BASELINE
from bedside.read import paths
from bedside.read.checks import normal
from bedside.seminar import needs, shown
from bedside.write import plots

READ = "d-2-1"  # the labelled consultation that is read: a cooperative patient
CELL = ("DeepSeek", "C3")  # of Table 9, to work out by hand: shares and odds disagree there
RULED = "fabricating"  # 4.7: the behaviour that the rules are tried on
HALF = 5  # 4.9: the turn after which the doctor first concludes


class Material(seminar.Sheet):
    """Labelled dialogues, consultations written for the sheet, and the paper's printed tables.

    Run and design are those of the study's notebooks.
    """

    def __init__(self):
        self.run = seminar.run("meddialbench", "04_interactions")
        self.design, self.cases, self.texts, *_ = seminar.finished(study.set_up(self.run))
        self.known = examples.Labelled(self.run)
        self.dialogue = self.known.dialogues.set_index("answer_id").loc[READ]
        self.items = self.cases.set_index("item").at[self.dialogue["item"], "key_items"]
        path = Path(__file__).with_name("consultations.toml")
        written = paths.toml(path)
        self.misled, self.true, self.longer = (written[k] for k in ("misled", "true", "longer"))

    # ---- a labelled consultation

    def items_of(self):
        """The key items of the consultation that is read, numbered."""
        return _numbered(self.items)

    def read(self):
        """The labelled consultation, turn by turn."""
        return _turns(self.dialogue)

    @needs("4.1")
    def by_words(self, told):
        """What the word-overlap judge finds in the consultation, and its kappa on all of them."""
        rows = self.known.rows("coverage")
        found, labels = judging.Overlap(rows, judging.YES_NO).out_of_fold(), rows["label"].tolist()
        k = stats.kappa(found, labels, judging.YES_NO)
        yes = rows[(rows["answer_id"] == READ) & (np.array(found) == "yes")]
        mine, label = yes["number"].astype(int).tolist(), list(self.dialogue["disclosed"])
        n, cases = len(self.known.dialogues), rows["item"].nunique()
        print(self.said("judge", "4.1", mine=mine, label=label, n=n, k=k, cases=cases))

    # ---- consultations written for the sheet

    def written(self, letter):
        """A written consultation of task 4.4, turn by turn, and what the doctor concludes."""
        return _turns(self.misled[letter], self.misled[letter]["concludes"])

    def to_paste(self, letter, without=()):
        """Print a consultation of task 4.4 up to the conclusion, without some of its turns."""
        turns = enumerate(self.misled[letter]["turns"], 1)
        said = [f"Doctor: {q}\nPatient: {a}" for n, (q, a) in turns if n not in without]
        print(self.misled[letter]["about"], *said, self.said("asked", "4.4"), sep="\n")

    @needs("4.4")
    def missed(self, given):
        """What was invented in each consultation, and what the doctor missed."""
        rows = [
            (k, c["turns"][c["rests"] - 1][1], c["turns"][c["left"] - 1][1], c["missed"])
            + ("\n".join(c["sources"]),)
            for k, c in self.misled.items()
        ]
        return self.headed("4.4", rows)

    def all_true(self):
        """The consultation of task 4.5, in which everything is so."""
        return _turns(self.true, self.true["concludes"])

    @needs("4.5")
    def with_detail(self, detail):
        """The consultation of task 4.5 with a student's detail, to be handed to a neighbour."""
        if (checked := self.feedback("4.5", detail)).ok is not True:
            return checked
        turns = [list(turn) for turn in self.true["turns"]]
        turns[int(seminar.number(detail["turn"])) - 1][1] = detail["instead"]
        return _turns(self.true | {"turns": turns}, "...")

    def items_in(self, letter):
        """The key items of a longer consultation, numbered."""
        return _numbered(self.longer[letter]["key_items"])

    def longer_one(self, letter):
        """A longer consultation; what the doctor concludes halfway and at the end."""
        made, (first, last) = self.longer[letter], self.longer[letter]["after"]
        return _turns(made, last, halfway=first)

    # ---- single behaviours

    @needs("4.3, your guess")
    def costs(self, guess):
        """Points of accuracy lost by single behaviours, as printed: the mean of five models."""
        adverse = self.design.adverse
        guess = normal(guess).replace(" ", "_")
        if guess not in adverse:
            raise ValueError(f"a guess is one of {', '.join(adverse)}")
        lost = printed.drops(self.run).mean(axis=1)[adverse]
        print(f"You guessed {guess}: {lost[guess]:z.1f} points. Most costly: {lost.idxmax()}.")
        rows = (
            lost.rename_axis("row")
            .reset_index(name="value")
            .assign(source="published", low=None, high=None)
        )
        figure, ((ax,),) = plots.figure((7.4, 3.6))
        plots.dots(
            ax,
            rows,
            xlabel="accuracy lost against the cooperative patient, percentage points",
            title="Published (Table 3): 85 cases, mean of five models",
        )
        return plots.picture(figure)

    def table3(self, *configurations):
        """Rows of Table 3 as printed: accuracy in percent."""
        rows = self.run.published("Table 3").pivot(index="row", columns="column", values="value")
        rows = rows.loc[list(configurations), printed.MODELS]
        return shown(rows.reset_index(names="configuration"), digits=1)

    def means(self):
        """Mean accuracy of the paper's five models by configuration (Table 3), in percent."""
        return self.run.published("Table 3").groupby("row")["value"].mean()

    def doses(self):
        """Accuracy by severity, Table 3's mean in percent."""
        mean, dimensions = self.means(), self.design.dimensions
        rows = [(d, *(mean[n] for n in (BASELINE, *self.design.of(d)[1:]))) for d in dimensions]
        return self.headed("4.6", rows, digits=1)

    # ---- six cases

    def ruled(self):
        """Cases that the rules get right from a cooperative patient, lose and win: the task 4.7.

        The consultations are held now, without a model.
        """
        every = self.design.configurations()
        wanted = {n: every[n] for n in (BASELINE, RULED)}
        made = held.planned(self.cases, wanted, [rules.NAME], rules.NAME, 20)
        made = rules.hold(made, rules.Knowledge(self.design, self.cases, self.texts))
        right = pd.Series(
            {(c.configuration, c.case.item): c.diagnosis == c.case.diagnosis for c in made}
        )
        before, then = right[BASELINE], right[RULED]
        lost, won = int((before & ~then).sum()), int((then & ~before).sum())
        return {"right at the baseline": int(before.sum()), "lost": lost, "won": won}

    @needs("4.7")
    def widths(self, given):
        """95% Wilson intervals of half right, by number of cases."""
        sizes = (len(self.cases), printed.N, 1000)
        rows = [(n, *stats.wilson(n // 2, n)[:3]) for n in sizes]
        return self.headed("4.7", rows)

    # ---- two behaviours

    def cell(self):
        """Printed accuracies of task 4.8: baseline, each behaviour alone, both."""
        model, name = CELL
        table = self.run.published("Table 9").query("row == @model").set_index("column")["value"]
        return {c: float(table[c]) for c in (BASELINE, *self.design.combinations[name], name)}

    @needs("4.8")
    def ratios(self, given):
        """O/E and odds ratio of each combination, printed.

        The models' mean with the widest interval that 85 cases allow, and their range.
        """
        paper = printed.combinations(self.design)
        each, rows = printed.ratios(self.run, paper), []
        for c, levels in paper.items():
            _, low, high, _ = printed.mean_over_expected(c, levels, printed.MODELS)
            odds = np.exp(printed.beyond("odds of failure multiplied", c, levels)[0])
            mean, models = each.loc[c].mean(), each.loc[c]
            between = f"{models.min():.2f} to {models.max():.2f}"
            rows.append(
                (c, " + ".join(levels), f"{mean:.2f} ({low:.2f} to {high:.2f})", between)
                + (f"{odds:.2f}",)
            )
        return self.headed("4.8", rows)

    def printed_ratio(self):
        """O/E of CELL's combination: the five models' mean, and the interval for CELL's model.

        The interval is the widest that 85 cases allow, whichever of them are right where.
        """
        paper, (model, name) = printed.combinations(self.design), CELL
        mean = printed.mean_over_expected(name, paper[name], printed.MODELS).value
        _, low, high, _ = printed.mean_over_expected(name, paper[name], [model])
        return mean, low, high

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
            right, n, rest = graded.sum(), len(graded), len(part) - len(graded)
            told = {"coverage": part["coverage"].mean(), "turns": part["turns"].mean()}
            print(self.said("doctor", "4.9", model=model, right=right, n=n, i=i, rest=rest, **told))


def _numbered(items):
    return shown(pd.DataFrame({"number": range(1, len(items) + 1), "key item": items}))


def _turns(consultation, concludes="", halfway=""):
    """A consultation as a table, with what the doctor concludes after HALF turns and at the end."""
    rows = [(n, q, a) for n, (q, a) in enumerate(consultation["turns"], 1)]
    rows[HALF:HALF] = [("", f"(thinks: {halfway})", "")] if halfway else []
    rows += [("", f"(concludes: {concludes})", "")] if concludes else []
    made = shown(pd.DataFrame(rows, columns=["turn", "doctor", "patient"]))
    made = made.set_properties(subset=["doctor", "patient"], width="46%")
    return made.set_caption(consultation.get("about", ""))
