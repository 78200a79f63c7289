"""Sheet 4, The difficult patient: labelled and written consultations, and printed tables."""

import numpy as np
import pandas as pd

from bedside import stats
from bedside.asking.models import waited
from bedside.papers.meddialbench import consultations as held
from bedside.papers.meddialbench import examples, judging, printed, rules, study
from bedside.papers.meddialbench.design import BASELINE
from bedside.write import plots
from bedside.write.prose import prose

from . import sheets
from .answers import number

READ = "d-2-1"  # the labelled consultation that is read: a cooperative patient
CELL = ("DeepSeek", "C3")  # of Table 9, to work out by hand: shares and odds disagree there
RULED = "fabricating"  # 4.7: the behaviour that the rules are tried on
HALF = 5  # 4.9: the turn after which the doctor first concludes


class Sheet(sheets.Sheet):
    """Labelled dialogues, consultations written for the sheet, and the paper's printed tables."""

    number, paper = "4", "meddialbench"

    def __init__(self):
        self.run = sheets.run("meddialbench", "04_interactions")
        self.design, self.cases, self.texts, *_ = waited(study.set_up(self.run))
        self.known = examples.Labelled(self.run)
        self.dialogue = self.known.dialogues.set_index("answer_id").loc[READ]
        self.items = self.cases.set_index("item").at[self.dialogue["item"], "key_items"]
        self.misled, self.true, self.longer = (self.words[k] for k in ("misled", "true", "longer"))

    def counts(self):
        mean = self.run.published("Table 3").groupby("row")["value"].mean().to_dict()
        each = printed.drops(self.run)
        ratios = each.loc["fabricating"] / each.loc["withholding"]
        base, first, second, both = self.cell().values()
        ends = printed.mean_over_expected(CELL[1], self._combinations()[CELL[1]], [CELL[0]])
        two = self.run.published("Table 2").query("column == 'Coverage'")["value"]
        turns = {}
        for k, c in self.misled.items():
            turns |= {f"{k}, rests on": c["rests"], f"{k}, left over": c["left"]}
        partners = {k: f"{k[0]}, {'left over' if 'rests' in k else 'rests on'}" for k in turns}
        told = {k: [len(t) for t in c["told"]] for k, c in self.longer.items()}
        return {
            "disclosed": list(self.dialogue["disclosed"]),
            "items": list(self.items),
            "asked": len(self.dialogue["turns"]),
            "mean": mean,
            "turns": turns,
            "other": {k: turns[p] for k, p in partners.items()},
            "ratios": [ratios.min(), ratios.max()],
            "coverages": [two.min(), two.max()],
            "cell": [base, first, second, both],
            "ends": [ends[1], ends[2]],
            "cases": printed.N,
            "told": told,
            "of": {k: len(c["key_items"]) for k, c in self.longer.items()},
            "p": stats.mcnemar_counts,
            "odds": lambda accuracy: (100 - accuracy) / accuracy,
            "first": lambda told: sum(told[:HALF]),
            "half": lambda told: sum(told[HALF:]),
            "rests": lambda key: "rests" in key,
            "partner": lambda key: partners[key],
            "beyond": lambda mine: [n for n in mine if n not in range(1, len(self.items) + 1)],
            "severity": {
                d: [mean[n] for n in (BASELINE, *self.design.of(d)[1:])]
                for d in self.design.dimensions
            },
            "adverse": list(self.design.adverse),
            "lost": printed.drops(self.run).mean(axis=1).to_dict(),
            "true_turns": len(self.true["turns"]),
            "groups": self.words["groups"],
            "by_words": self.by_words(),
        }

    # ---- a labelled consultation

    def items_of(self):
        """The key items of the consultation that is read, numbered."""
        return _numbered(self.items)

    def read(self):
        """The labelled consultation, turn by turn."""
        return _turns(self.dialogue)

    def by_words(self):
        """What the word-overlap judge finds in the consultation, and its kappa on all of them."""
        rows = self.known.rows("coverage")
        found, labels = judging.Overlap(rows, judging.YES_NO).out_of_fold(), rows["label"].tolist()
        yes = rows[(rows["answer_id"] == READ) & (np.array(found) == "yes")]
        k = stats.kappa(found, labels, judging.YES_NO)
        return {
            "found": yes["number"].astype(int).tolist(),
            "k": k.value,
            "n": len(self.known.dialogues),
        }

    # ---- consultations written for the sheet

    def written(self, letter):
        """A written consultation of task 4.4, turn by turn, and what the doctor concludes."""
        return _turns(self.misled[letter], self.misled[letter]["concludes"])

    def to_paste(self, letter, without=()):
        """Print a consultation of task 4.4 up to the conclusion, without some of its turns."""
        turns = enumerate(self.misled[letter]["turns"], 1)
        said = [f"Doctor: {q}\nPatient: {a}" for n, (q, a) in turns if n not in without]
        print(self.misled[letter]["about"], *said, self.words["asked"], sep="\n")

    def missed(self, given):
        """What was invented in each consultation, and what the doctor missed."""
        rows = [
            (k, *(c["turns"][c[w] - 1][1] for w in ("rests", "left")), c["missed"], c["sources"])
            for k, c in self.misled.items()
        ]
        return self.table("4.4", rows)

    def all_true(self):
        """The consultation of task 4.5, in which everything is so."""
        return _turns(self.true, self.true["concludes"])

    def with_detail(self, detail):
        """The consultation of task 4.5 with a student's detail, to be handed to a neighbour."""
        turns, at = [list(turn) for turn in self.true["turns"]], number(detail["turn"])
        if at in range(1, len(turns) + 1):
            turns[int(at) - 1][1] = detail["instead"]
        return _turns(self.true | {"turns": turns}, "...")

    def items_in(self, letter):
        """The key items of a longer consultation, numbered."""
        return _numbered(self.longer[letter]["key_items"])

    def longer_one(self, letter):
        """A longer consultation; what the doctor concludes halfway and at the end."""
        made, (first, last) = self.longer[letter], self.longer[letter]["after"]
        return _turns(made, last, halfway=first)

    # ---- patients who differ in one word

    def groups(self):
        """What the 1.5B model said to patients with the same signs, who differ in one phrase."""
        rows = [(k, sheets.replies()[f"group/{k}"]["reply"]) for k in self.words["groups"]]
        return self.table("4.10", rows)

    # ---- printed tables

    def costs(self, guess):
        """Points of accuracy lost by single behaviours, as printed: the mean of five models."""
        lost = self.names["lost"]
        rows = pd.DataFrame([(n, lost[n]) for n in self.design.adverse], columns=["row", "value"])
        figure, ((ax,),) = plots.figure((7.4, 3.6))
        plots.dots(
            ax,
            rows.assign(source="published", low=None, high=None),
            xlabel="accuracy lost against the cooperative patient, percentage points",
            title="Published (Table 3): 85 cases, mean of five models",
        )
        return plots.picture(figure)

    def table3(self, *configurations):
        """Rows of Table 3 as printed: accuracy in percent."""
        rows = self.run.published("Table 3").pivot(index="row", columns="column", values="value")
        rows = rows.loc[list(configurations), printed.MODELS]
        return prose(rows.reset_index(names="configuration"), digits=1)

    def doses(self):
        """Accuracy by severity, Table 3's mean in percent."""
        return self.table("4.6", [(d, *v) for d, v in self.names["severity"].items()], digits=1)

    def ruled(self):
        """Cases that the rules get right from a cooperative patient, lose and win.

        The consultations are held now, without a model.
        """
        every = self.design.configurations()
        made = held.planned(
            self.cases, {n: every[n] for n in (BASELINE, RULED)}, [rules.NAME], rules.NAME, 20
        )
        made = rules.hold(made, rules.Knowledge(self.design, self.cases, self.texts))
        right = pd.Series(
            {(c.configuration, c.case.item): c.diagnosis == c.case.diagnosis for c in made}
        )
        before, then = right[BASELINE], right[RULED]
        lost, won = int((before & ~then).sum()), int((then & ~before).sum())
        return {"right at the baseline": int(before.sum()), "lost": lost, "won": won}

    def cell(self):
        """Printed accuracies of task 4.8: baseline, each behaviour alone, both."""
        model, name = CELL
        table = self.run.published("Table 9").query("row == @model").set_index("column")["value"]
        return {c: float(table[c]) for c in (BASELINE, *self.design.combinations[name], name)}

    def _combinations(self):
        return printed.combinations(self.design)

    def ratios(self, given):
        """O/E of each combination, printed: the models' mean, and the widest interval."""
        each, rows = printed.ratios(self.run, self._combinations()), []
        for c, levels in self._combinations().items():
            _, low, high, _ = printed.mean_over_expected(c, levels, printed.MODELS)
            models = each.loc[c]
            mean = f"{models.mean():.2f} ({low:.2f} to {high:.2f})"
            rows.append((c, " + ".join(levels), mean, f"{models.min():.2f} to {models.max():.2f}"))
        return self.table("4.8", rows)


def _numbered(items):
    return prose(pd.DataFrame({"number": range(1, len(items) + 1), "key item": items}))


def _turns(consultation, concludes="", halfway=""):
    """A consultation as a table, with what the doctor concludes after HALF turns and at the end."""
    rows = [(n, q, a) for n, (q, a) in enumerate(consultation["turns"], 1)]
    rows[HALF:HALF] = [("", f"(thinks: {halfway})", "")] if halfway else []
    rows += [("", f"(concludes: {concludes})", "")] if concludes else []
    made = prose(pd.DataFrame(rows, columns=["turn", "doctor", "patient"]))
    made = made.set_properties(subset=["doctor", "patient"], width="46%")
    return made.set_caption(consultation.get("about", ""))
