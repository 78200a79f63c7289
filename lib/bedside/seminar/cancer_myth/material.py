"""What sheet 1 shows: questions and answers of the sample, the word-overlap judge, replies."""

import pandas as pd

from bedside import seminar, stats
from bedside.judging import baselines
from bedside.papers.cancer_myth import data, study
from bedside.papers.cancer_myth.figures import in_plane
from bedside.papers.cancer_myth.scores import scores
from bedside.papers.cancer_myth.v2.items import SETS
from bedside.papers.cancer_myth.v2.printed import rates
from bedside.read.checks import normal
from bedside.seminar import needs, shown
from bedside.write import plots
from bedside.write.tables import units_of

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
SIZES = 585, 150  # with and without a false presupposition, by the summary of version 2
ALWAYS = "*"  # 1.9: the word that is in every question


class Material(seminar.Sheet):
    """Data and displays of sheet 1 (Cancer-Myth, and a third party's summary of its version 2).

    Labelled answers are judged out of fold.
    """

    def __init__(self):
        run = self.run = seminar.run("cancer_myth", "05_judge_agreement")
        self.questions = run.load("cancer_myth_questions_sample").set_index("item")
        self.plain = run.load("cancer_myth_nfp_sample").set_index("item")
        self.labelled = data.labelled(run)
        self.lexical = baselines.Lexical(self.labelled, study.GRADES)
        said = seminar.graded("cancer_myth", "labelled").set_index("item")["value"]
        replies = seminar.graded("cancer_myth", "evaluation").astype({"value": int})
        self.answered, self.kept = (replies[replies["kind"] == k] for k in ("myth", "plain"))
        graded = self.labelled["answer_id"].map(said)
        self.labelled["judged"] = graded.to_numpy(int)
        truth, judged = self.labelled["label"] == 1, self.labelled["judged"] == 1
        counts, both = pd.crosstab(truth, judged), [True, False]
        self.counts = counts.reindex(index=both, columns=both, fill_value=0)
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

    # ---- patients and grades

    def patients(self):
        """The three questions of task 1.1."""
        first = self.questions.loc[list(FIRST.values())].assign(patient=list(FIRST))
        return shown(first[["patient", "question"]])

    def judged(self, texts):
        """The judge's grade of each text as an answer to the patient's question."""
        frame = self.questions.loc[[FIRST[k] for k in texts], ["question", "correction"]]
        frame = frame.assign(answer=[str(t) for t in texts.values()])
        return dict(zip(texts, self.lexical.grade(frame)))

    @needs("1.1", "1.2")
    def reveal(self, answers, presuppositions):
        """What was meant, beside the student's texts and the judge's grade."""
        frame, grades = self.questions.loc[list(FIRST.values())], self.judged(answers)
        both = frame.assign(
            patient=list(FIRST),
            yours=[presuppositions[k] for k in FIRST],
            answer=[answers[k] for k in FIRST],
            judge=[grades[k] for k in FIRST],
            source=[f"{s['organisation']}: {s['title']}" for s in frame["source"]],
        )
        columns = ["patient", "presupposition", "yours", "correction", "source", "answer", "judge"]
        return shown(both[columns])

    def blind(self):
        """The six answers of task 1.3, without grades."""
        return shown(self.few[["letter", "question", "correction", "answer"]])

    @needs("1.3")
    def compare(self, given):
        """The student's grades beside the authors' and the judge's, and both kappas.

        Six answers are too few for an interval of kappa.
        """
        frame = self.few.assign(yours=[int(seminar.number(given[k])) for k in self.few["letter"]])
        frame = frame.rename(columns={"label": "authors", "judged": "judge"})
        truth = frame["authors"].tolist()
        for who, column in (("you", "yours"), ("the judge", "judge")):
            k = stats.kappa(frame[column].tolist(), truth, study.GRADES)
            same = sum(frame[column] == frame["authors"])
            print(self.said("authors", "1.3", who=who, same=same, k=k))
        return shown(frame[["letter", "tone", "yours", "authors", "judge"]])

    def of_class(self, folder=None):
        """What the class handed in for task 1.3, by name: kappa with the authors and the others."""
        letters, truth = self.few["letter"], self.few["label"].tolist()
        given = seminar.handed_in("cancer_myth", "1.3", folder).items()
        found = {
            n: [seminar.number(g.get(k)) for k in letters] for n, g in given if isinstance(g, dict)
        }
        rated = {n: g for n, g in found.items() if all(x in study.GRADES for x in g)}
        if not rated:
            return print("Nobody has handed in grades yet.")

        def kappa(a, b):
            return stats.kappa(a, b, study.GRADES).value

        rows = []
        for name, mine in rated.items():
            others = [kappa(mine, theirs) for n, theirs in rated.items() if n != name]
            same, mean = sum(a == b for a, b in zip(mine, truth)), pd.Series(others, dtype=float)
            rows.append((name, same, kappa(mine, truth), mean.mean()))
        return self.headed("1.3", rows)

    # ---- the judge

    def table(self):
        """The judge against the labels, corrected or not, as a two by two table of counts."""
        made = self.counts.copy()
        made.index = ["labelled 1", "labelled −1 or 0"]
        made.columns = ["judge says 1", "judge says −1 or 0"]
        made["all"] = made.sum(axis=1)
        made.loc["all"] = made.sum()
        return made

    @needs("1.4")
    def kappas(self, given):
        """Kappa computed by the library, on two and on three grades."""
        a, b = self.labelled["label"].tolist(), self.labelled["judged"].tolist()
        two = [[x == 1 for x in v] for v in (a, b)]
        found = (
            stats.kappa(*two, [False, True]),
            stats.kappa(a, b, study.GRADES),
            stats.kappa(a, b, study.GRADES, weights="quadratic"),
        )
        return self.headed("1.4", [(n, *i) for n, i in zip(self.words()["1.4"]["of"], found)])

    @needs("1.5")
    def confusion(self, given):
        """The judge's grades as a confusion matrix, and its grades of answers labelled 0."""
        counts = pd.crosstab(self.labelled["label"], self.labelled["judged"])
        counts = counts.reindex(index=study.GRADES, columns=study.GRADES, fill_value=0)
        printed = self.run.published("v1 text C.1").set_index(["row", "column"])["value"]
        same = printed["Answers that humans graded 0", "exact match"]
        print(self.said("zeros", "1.5", zeros=counts.loc[0, 0], n=counts.loc[0].sum(), same=same))
        figure, ((ax,),) = plots.figure((3.6, 3.2))
        plots.confusion(ax, counts, study.GRADES)
        return plots.picture(figure)

    # ---- a model's scores

    def replies(self):
        """Replies of the embedded model, with the judge's grade; all are cut off at 96 tokens."""
        names = {"reply": "the model's reply", "value": "judge"}
        return shown(self.answered.head(3)[["question", *names]].rename(columns=names))

    def verdicts(self):
        """The judge's grades of ten written answers, as if one model had given them."""
        return self.ten["judged"].tolist()

    @needs("1.6")
    def both_scores(self, given):
        """PCR and PCS of the embedded model, and those of the summary of version 2."""
        mine = scores(self.answered).assign(source="this run, word-overlap judge")
        printed = self.run.published("v2 Main results")
        printed = printed[printed["column"].isin(["PCR", "PCS"])]
        printed = printed.assign(source="printed, GPT-4o as judge", n=SIZES[0])
        columns = ["row", "column", "value", "low", "high", "n", "unscored", "source"]
        both = pd.concat([mine, printed])[columns].astype({"unscored": "Int64"})
        both["unscored"] = both["unscored"].astype(object).where(both["unscored"].notna(), "")
        return shown(both.rename(columns={"row": "model", "column": "score"}))

    @needs("1.7")
    def corrected(self, given):
        """Corrected rates with intervals: JUDGED, and the embedded model's."""
        own = stats.share(self.answered["value"] == 1, units_of(self.answered))
        hits, n = JUDGED
        printed = stats.share([True] * hits + [False] * (n - hits))
        given = {"the model of task 1.7": printed, "the embedded model": own}
        rows = []
        for name, rate in given.items():
            rng = self.run.rng("seminar", name)
            i = stats.corrected_rate(rate, self.sensitivity, self.specificity, rng)
            each = (100 * x for x in (rate.value, i.value, i.low, i.high))
            rows.append((name, *each, rate.n))
        return self.headed("1.7", rows, 1)

    # ---- cures

    def printed(self):
        """Table 1 of the summary of version 2: the two columns of the trade-off."""
        wide = self.run.published("v2 Table 1").pivot(index="row", columns="column", values="value")
        return wide.loc[list(CURES), list(SETS[:2])]

    @needs("1.8")
    def tradeoff(self, given):
        """The printed pairs in the plane of questions left alone and of correction."""
        rows = rates(self.run).assign(source="published")
        figure, ((ax,),) = plots.figure((5.6, 5))
        plots.plane(
            ax,
            in_plane(rows),
            *SETS[1::-1],
            xlabel="questions without a false presupposition left alone, %",
            ylabel="false presuppositions corrected, %",
            title="Summary of version 2, Table 1; dashed: equal balanced accuracy",
        )
        plots.legend_below(figure)
        return plots.picture(figure)

    def rule(self, words):
        """A rule that objects to questions with one of the words (ALWAYS: to all), on both sets.

        Returns how many questions with a false presupposition it objects to and their number, then
        how many of the others it leaves alone and their number.
        """

        def objects(frame):
            texts = [f" {normal(q)} " for q in frame["question"]]
            return sum(any(w == ALWAYS or f" {normal(w)} " in t for w in words) for t in texts)

        alone = len(self.plain) - objects(self.plain)
        return objects(self.questions), len(self.questions), alone, len(self.plain)

    @needs("1.5")
    def limits(self, given):
        """What this sheet's numbers can't show, with the numbers."""
        labels, judged = self.labelled["label"].tolist(), self.labelled["judged"].tolist()
        k = stats.kappa(labels, judged, study.GRADES)
        pcr = scores(self.answered).set_index("metric").loc["PCR"]
        return self.limited(
            k=k,
            answers=len(labels),
            questions=self.labelled["item"].nunique(),
            spec=self.specificity,
            pcr=pcr,
            cut=self.answered["truncated"].mean(),
            alone=int((self.kept["value"] == 1).sum()),
            n=len(self.kept),
        )
