"""Sheet 1, Three patients ask: questions and answers of the sample, the word-overlap judge."""

import pandas as pd

from bedside import stats
from bedside.judging import baselines
from bedside.papers.cancer_myth import data, study
from bedside.papers.cancer_myth.figures import in_plane
from bedside.papers.cancer_myth.v2.items import SETS
from bedside.papers.cancer_myth.v2.printed import rates
from bedside.read.checks import normal
from bedside.write import plots
from bedside.write.prose import prose

from . import sheets

FIRST = dict(zip("ABC", ("cm-only-1", "cm-risk-2", "cm-symptom-5")))  # what students answer in 1.1
DRAWN = {-1: 2, 0: 2, 1: 2}  # answers of each grade that students grade in 1.3
TEN = {-1: 5, 0: 2, 1: 3}  # verdicts of each kind in 1.6
JUDGED = 9, 100  # 1.7: answers called corrected, of how many
CURES = (
    "GPT-4o Plain",
    "GPT-4o GEPA",
    "Gemini-2.5-Pro Plain",
    "Gemini-2.5-Pro GEPA",
    "GPT-4o with MDAgents Monitor",
)
REFERS = r"\b(doctor|physician|oncolog|specialist|nurse|team|clinic|professional)"
JUDGES = "lexical", "smollm2-135m"
SIZES = 585, 150  # with and without a false presupposition, by the summary of version 2


class Sheet(sheets.Sheet):
    """Cancer-Myth, and a third party's summary of its second version.

    Labelled answers are judged out of fold.
    """

    number, paper = "1", "cancer_myth"

    def __init__(self):
        run = self.run = sheets.run("cancer_myth", "05_judge_agreement")
        self.questions = run.load("cancer_myth_questions_sample").set_index("item")
        self.plain = run.load("cancer_myth_nfp_sample").set_index("item")
        self.labelled = data.labelled(run)
        self.lexical = baselines.Lexical(self.labelled, study.GRADES)
        said = sheets.graded("cancer_myth", "labelled").set_index("item")["value"]
        self.labelled["judged"] = self.labelled["answer_id"].map(said).to_numpy(int)
        truth, judged = self.labelled["label"] == 1, self.labelled["judged"] == 1
        both = [True, False]
        counts = pd.crosstab(truth, judged).reindex(index=both, columns=both, fill_value=0)
        self.cells = counts.to_numpy(int).ravel().tolist()
        self.sensitivity, self.specificity = stats.sens_spec(truth, judged, self.labelled["item"])
        others = self.labelled[~self.labelled["item"].isin(FIRST.values())]
        few = self._draw(others, "label", DRAWN, "eight")
        self.few = few.assign(letter=list("abcdef"))
        rest = self.labelled[~self.labelled["item"].isin(few["item"])]
        self.ten = self._draw(rest, "judged", TEN, "ten")

    def _draw(self, frame, column, sizes, name):
        """Answers by `sizes` of each grade, no question twice, in an order that tells nothing."""
        order = frame.iloc[self.run.rng("seminar", name).permutation(len(frame))]
        parts, taken = [], set()
        for grade, size in sizes.items():
            part = order[(order[column] == grade) & ~order["item"].isin(taken)]
            part = part.drop_duplicates("item").head(size)
            taken |= set(part["item"])
            parts += part.index.tolist()
        return frame.loc[sorted(parts)].reset_index(drop=True)

    def counts(self):
        hit, missed, alarm, quiet = self.cells
        grades = dict(zip(self.few["letter"], self.few["label"].tolist()))
        printed = {k: dict(zip("xy", row)) for k, row in zip(CURES, self.printed().to_numpy())}
        k = stats.kappa(*(self.labelled[c].tolist() for c in ("label", "judged")), study.GRADES)
        tones = dict(zip(self.few["letter"], (self.few["tone"] == "warm").tolist()))
        return {
            "hit": hit,
            "missed": missed,
            "alarm": alarm,
            "quiet": quiet,
            "all": len(self.labelled),
            "grades": grades,
            "printed": printed,
            "sizes": SIZES,
            "said": 100 * JUDGED[0] / JUDGED[1],
            "warm": {n: 1 if t else -1 for n, t in tones.items()},
            "ten": self.verdicts(),
            "k": k._asdict(),
            "judged": self.judged,
            "alike": self.alike,
            "rule": self.rule,
            "refers": REFERS,
            "ones": self.verdicts().count(1),
            "none": self.verdicts().count(0),
            "balanced": lambda name: sum(printed[name].values()) / 2,
            "pooled": lambda name: (
                sum(n * v for n, v in zip(SIZES, printed[name].values())) / sum(SIZES)
            ),
            "strange": lambda mine: bool(set(mine.values()) - set(study.GRADES)),
            "varied": lambda mine: len(set(mine.values())),
            "zeros": lambda mine: list(mine.values()).count(0),
            "far_from": lambda mine: [n for n, g in mine.items() if abs(g - grades[n]) == 2],
            "turned": lambda mine: _same(mine, grades, -1) > _same(mine, grades) and len(mine) > 1,
            "questions": self.labelled["item"].nunique(),
        }

    # ---- patients and grades

    def patients(self):
        """The three questions of task 1.1."""
        first = self.questions.loc[list(FIRST.values())].assign(patient=list(FIRST))
        return prose(first[["patient", "question"]])

    def judged(self, texts):
        """The judge's grade of each text as an answer to the patient's question."""
        frame = self.questions.loc[[FIRST[k] for k in texts], ["question", "correction"]]
        frame = frame.assign(answer=[str(t) for t in texts.values()])
        return dict(zip(texts, map(int, self.lexical.grade(frame))))

    def larger(self, letters="ABC"):
        """What the 1.5B model answered to these patients, and two judges' grades of it."""
        said = [sheets.graded("cancer_myth", "evaluation", sheets.LARGER, j) for j in JUDGES]
        first, second = (frame.set_index("item") for frame in said)
        rows = [
            (
                k,
                first.at[FIRST[k], "reply"],
                *(int(f.at[FIRST[k], "value"]) for f in (first, second)),
            )
            for k in letters
        ]
        return self.table("larger", rows)

    def reveal(self, presuppositions):
        """What was meant, beside the student's texts and the judge's grade."""
        frame = self.questions.loc[list(FIRST.values())].assign(
            patient=list(FIRST),
            yours=[presuppositions[k] for k in FIRST],
            source=lambda f: [f"{s['organisation']}: {s['title']}" for s in f["source"]],
        )
        columns = ["patient", "presupposition", "yours", "correction", "source"]
        if self.checked.get("1.1", {}).get("state") == "collected":
            answers = self.checked["1.1"]["answer"]
            frame["your answer"], grades = [answers[k] for k in FIRST], self.judged(answers)
            frame["judge"] = [grades[k] for k in FIRST]
            columns += ["your answer", "judge"]
        return prose(frame[columns])

    def blind(self):
        """The six answers of task 1.3, without grades."""
        return prose(self.few[["letter", "question", "correction", "answer"]])

    def alike(self, grades):
        """Kappa of grades by letter with the authors'."""
        return stats.kappa(
            [grades[k] for k in self.few["letter"]], self.few["label"].tolist(), study.GRADES
        ).value

    def compare(self, given):
        """The student's grades beside the authors' and the judge's."""
        frame = self.few.assign(yours=[given[k] for k in self.few["letter"]])
        frame = frame.rename(columns={"label": "authors", "judged": "judge"})
        return prose(frame[["letter", "tone", "yours", "authors", "judge"]])

    # ---- the judge

    def judge_table(self):
        """The judge against the labels, corrected or not, as a two by two table of counts."""
        made = pd.DataFrame(
            [self.cells[:2], self.cells[2:]],
            index=["labelled 1", "labelled −1 or 0"],
            columns=["judge says 1", "judge says −1 or 0"],
        )
        made["all"] = made.sum(axis=1)
        made.loc["all"] = made.sum()
        return made.rename_axis(columns="answers")

    def kappas(self, given):
        """Kappa computed by the library, on two and on three grades."""
        a, b = self.labelled["label"].tolist(), self.labelled["judged"].tolist()
        two = [[x == 1 for x in v] for v in (a, b)]
        found = stats.kappa(*two, [False, True]), stats.kappa(a, b, study.GRADES)
        return self.table("1.4", [(n, *i) for n, i in zip(self.words["kappa of"], found)])

    def corrected(self, given):
        """The rate of 1.7, corrected for the judge's errors, with its interval."""
        hits, n = JUDGED
        rate = stats.share([True] * hits + [False] * (n - hits))
        i = stats.corrected_rate(
            rate, self.sensitivity, self.specificity, self.run.rng("seminar", "1.7")
        )
        return self.table(
            "1.7", [(100 * rate.value, 100 * i.value, 100 * i.low, 100 * i.high, n)], 1
        )

    # ---- cures, and extra tasks

    def printed(self):
        """Table 1 of the summary of version 2: the two columns of the trade-off."""
        wide = self.run.published("v2 Table 1").pivot(index="row", columns="column", values="value")
        return wide.loc[list(CURES), list(SETS[:2])].rename_axis(index=None, columns="system")

    def tradeoff(self, given):
        """The printed pairs in the plane of questions left alone and of correction."""
        figure, ((ax,),) = plots.figure((5.6, 5))
        plots.plane(
            ax,
            in_plane(rates(self.run).assign(source="published")),
            *SETS[1::-1],
            xlabel="questions without a false presupposition left alone, %",
            ylabel="false presuppositions corrected, %",
            title="Summary of version 2, Table 1; dashed: equal balanced accuracy",
        )
        plots.legend_below(figure)
        return plots.picture(figure)

    def verdicts(self):
        """The judge's grades of ten written answers, as if one model had given them."""
        return self.ten["judged"].tolist()

    def rule(self, words):
        """A rule that objects to questions with one of the words ("*": to all), on both sets.

        Questions with a false presupposition that it objects to, of how many, and others that it
        leaves alone, of how many; balanced accuracy with its interval, in percent.
        """

        def objects(frame):
            texts = [f" {normal(q)} " for q in frame["question"]]
            return sum(any(w == "*" or f" {normal(w)} " in t for w in words) for t in texts)

        hits, n, m = objects(self.questions), len(self.questions), len(self.plain)
        kept = m - objects(self.plain)
        i = stats.balanced_accuracy(hits, n, kept, m)
        sizes = {"hits": hits, "n": n, "kept": kept, "m": m}
        return sizes | {"value": 100 * i.value, "low": 100 * i.low, "high": 100 * i.high}


def _same(mine, grades, sign=1):
    """How many grades are the same, or the opposite."""
    return sum(sign * mine[n] == g for n, g in grades.items())
