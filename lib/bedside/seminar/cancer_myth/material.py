"""What seminar sheet 1 shows: the sample's questions and answers, the judge without a model, the embedded model's replies."""

from bedside import baselines, judges, plots, seminar, stats
from bedside.checks import normal
from bedside.judges import grade_labelled
from bedside.papers.cancer_myth import data as cm
from bedside.papers.cancer_myth import rows as cmi
from bedside.papers.cancer_myth.v2 import mitigation
from bedside.rows import Document
from bedside.seminar import needs, shown
from bedside.sources import drawn

FIRST = dict(zip("ABC", ("cm-only-1", "cm-risk-2", "cm-symptom-5")))  # what students answer in 1.1
DRAWN = {-1: 3, 0: 3, 1: 2}  # answers of each grade that students label in 1.3
TEN = {-1: 5, 0: 2, 1: 3}  # verdicts of each kind in 1.6
JUDGED = 9, 100  # 1.7: so many answers called corrected, of so many
CURES = (
    "GPT-4o Plain",
    "GPT-4o GEPA",
    "Gemini-2.5-Pro Plain",
    "Gemini-2.5-Pro GEPA",
    "GPT-4o with MDAgents Monitor",
)
SHAPES = {
    "plain": "no cure",
    "gepa": "GEPA",
    "multi_agent": "MDAgents",
    "multi_agent_monitor": "MDAgents with monitor",
}
ALWAYS = "*"  # 1.9: the word that is in every question


class Material(seminar.Sheet):
    """Data and displays of sheet 1 (Cancer-Myth, both versions); labelled answers are judged out of fold."""

    def __init__(self):
        import pandas as pd

        document = Document("sample")
        run = self.run = document.run("cancer_myth", "05_judge_agreement")
        self.questions = run.load("cancer_myth_questions_sample").set_index("item")
        self.plain = run.load("cancer_myth_nfp_sample").set_index("item")
        self.labelled = cm.labelled(run)
        self.evaluation = document.run("cancer_myth", "03_evaluation")
        made, self.answered, self.kept = seminar.finished(self._load())
        self.labelled["judged"] = made["value"].to_numpy(int)
        truth, judged = self.labelled["label"] == 1, self.labelled["judged"] == 1
        self.counts = pd.crosstab(truth, judged).reindex(
            index=[True, False], columns=[True, False], fill_value=0
        )
        self.sensitivity, self.specificity = stats.sens_spec(truth, judged)
        rest = self._draw(
            self.labelled[~self.labelled["item"].isin(FIRST.values())], "label", DRAWN, "eight"
        )
        self.eight = rest.assign(letter=list("abcdefgh"))
        self.ten = self._draw(
            self.labelled[~self.labelled["item"].isin(rest["item"])], "judged", TEN, "ten"
        )
        self.lexical = baselines.Lexical(cm.labelled(run), cm.GRADES)

    async def _load(self):
        """The judge's grades of the labelled answers, and the model's graded answers to both kinds of questions."""
        made = await grade_labelled(
            self.run, self.labelled, judge=judges.LEXICAL, **cmi.GRADING["myth"]
        )
        run, known = self.evaluation, cmi.known(self.run)
        items, plain = cm.questions(run), cm.plain_questions(run)
        answered = await cm.answers(run, items, run.settings["max_tokens"])
        kept = plain.merge(
            await cm.answers(run, plain, run.settings["max_tokens"]),
            on="item",
            validate="one_to_many",
        )
        graded = await cm.verdicts(run, items, answered, known["myth"], judges.LEXICAL)
        verdicts = await mitigation.grade_plain(run, kept, known["plain"], judges.LEXICAL)
        return made, graded, kept.merge(verdicts, on="item", validate="one_to_one")

    def _draw(self, frame, column, sizes, name):
        """So many answers of each grade, no question twice, in an order that doesn't tell."""
        order = frame.iloc[self.run.rng("seminar", name).permutation(len(frame))]
        parts, taken = [], set()
        for grade, size in sizes.items():
            part = (
                order[(order[column] == grade) & ~order["item"].isin(taken)]
                .drop_duplicates("item")
                .head(size)
            )
            taken |= set(part["item"])
            parts += part.index.tolist()
        return frame.loc[sorted(parts)].reset_index(drop=True)

    def patients(self):
        """The three questions of task 1.1."""
        return shown(
            self.questions.loc[list(FIRST.values()), ["question"]].assign(patient=list(FIRST))[
                ["patient", "question"]
            ]
        )

    def blind(self):
        """The eight answers of task 1.3, without grades."""
        return shown(self.eight[["letter", "question", "correction", "answer"]])

    @needs("1.3")
    def compare(self, given):
        """The student's grades beside the authors' and the judge's, and both kappas."""

        frame = self.eight.assign(yours=[given[k] for k in self.eight["letter"]])
        frame = frame.rename(columns={"label": "authors", "judged": "judge"})
        for who, a in (("you", "yours"), ("the judge", "judge")):
            k = stats.kappa(
                frame[a].tolist(),
                frame["authors"].tolist(),
                cm.GRADES,
                rng=self.run.rng("seminar", who),
            )
            print(
                f"{who} and the authors: equal in {sum(frame[a] == frame['authors'])} of {k.n}, "
                f"kappa {k.value:.2f} [{k.low:.2f}, {k.high:.2f}]"
            )
        return shown(frame[["letter", "tone", "yours", "authors", "judge"]])

    def of_class(self, folder=seminar.LABELS):
        """What the class handed in for task 1.3: kappa with the authors and mean kappa with each other, by name."""
        import pandas as pd

        letters, truth = self.eight["letter"], self.eight["label"].tolist()
        found = {
            n: [g.get(k) for k in letters]
            for n, g in seminar.handed_in("1.3", folder).items()
            if isinstance(g, dict)
        }
        rated = {n: g for n, g in found.items() if all(x in cm.GRADES for x in g)}
        if not rated:
            return print("Nobody has handed in grades yet.")

        def kappa(a, b):
            return stats.kappa(a, b, cm.GRADES).value

        rows = [
            {
                "rater": n,
                f"equal to the authors, of {len(g)}": sum(a == b for a, b in zip(g, truth)),
                "kappa with the authors": kappa(g, truth),
                "mean kappa with the others": (
                    pd.Series([kappa(g, h) for m, h in rated.items() if m != n], dtype=float).mean()
                ),
            }
            for n, g in rated.items()
        ]
        return shown(pd.DataFrame(rows))

    def table(self):
        """The judge against the labels, corrected or not, as two by two counts."""
        made = self.counts.copy()
        made.index, made.columns = (
            ["labelled 1", "labelled −1 or 0"],
            ["judge says 1", "judge says −1 or 0"],
        )
        made["all"] = made.sum(axis=1)
        made.loc["all"] = made.sum()
        return made

    @needs("1.4")
    def kappas(self, given):
        """The same by function, on two and on three grades."""
        import pandas as pd

        a, b = self.labelled["label"].tolist(), self.labelled["judged"].tolist()
        two = [[x == 1 for x in v] for v in (a, b)]
        rng = self.run.rng("seminar", "kappas")
        far = "three grades, far errors weigh more (quadratic)"
        found = {
            "corrected or not": stats.kappa(*two, [False, True], rng=rng),
            "three grades": stats.kappa(a, b, cm.GRADES, rng=rng),
            far: stats.kappa(a, b, cm.GRADES, weights="quadratic", rng=rng),
        }
        return shown(
            pd.DataFrame(
                [(n, *i) for n, i in found.items()],
                columns=["kappa of", "value", "low", "high", "n"],
            )
        )

    @needs("1.5")
    def confusion(self, given):
        """The judge's three grades as confusion matrix, and what it does with the answers labelled 0."""
        import pandas as pd

        counts = pd.crosstab(self.labelled["label"], self.labelled["judged"])
        counts = counts.reindex(index=cm.GRADES, columns=cm.GRADES, fill_value=0)
        printed = self.run.published("v1 text C.1").set_index("column")["value"]
        print(
            f"Answers labelled 0: the judge gives {counts.loc[0, 0]} of {counts.loc[0].sum()} a 0."
            f" The paper's judge GPT-4o: {printed['exact match']}% of those that physicians graded"
            " 0 (version 1, appendix C.1)."
        )
        figure, ((ax,),) = plots.figure((3.6, 3.2))
        plots.confusion(ax, counts, cm.GRADES)
        return drawn(plots, figure)

    def replies(self, size=3):
        """What the embedded model said to some of the questions, with the judge's grade; all replies are cut off at 96 tokens."""
        names = {"answer": "the model's reply", "value": "judge"}
        return shown(self.answered.head(size)[["question", *names]].rename(columns=names))

    def verdicts(self):
        """The judge's grades of ten written answers, as one model's might look."""
        return self.ten["judged"].tolist()

    @needs("1.6")
    def both_scores(self, given):
        """PCR and PCS of the embedded model by function, beside the printed ones of version 2."""
        import pandas as pd

        mine = cm.scores(self.answered, self.run).rename(
            columns={"model": "row", "metric": "column"}
        )
        printed = self.run.published("v2 Main results")
        printed = printed[printed["column"].isin(["PCR", "PCS"])]
        both = pd.concat(
            [
                mine.assign(source="this run, lexical judge"),
                printed.assign(source="printed, GPT-4o as judge", n=585),
            ]
        )
        both = both[["row", "column", "value", "low", "high", "n", "unscored", "source"]].astype(
            {"unscored": "Int64"}
        )
        return shown(both.rename(columns={"row": "model", "column": "score"}))

    @needs("1.7")
    def corrected(self, given):
        """Corrected rates with intervals: JUDGED, and the embedded model's."""
        import pandas as pd

        own = int((self.answered["value"] == 1).sum()), len(self.answered)
        rows = []
        for name, (hits, n) in {"the model of task 1.7": JUDGED, "the embedded model": own}.items():
            i = stats.corrected_rate(
                hits, n, self.sensitivity, self.specificity, self.run.rng("seminar", name)
            )
            rows.append(
                {
                    "answers of": name,
                    "judged corrected, %": 100 * hits / n,
                    "corrected for the judge, %": 100 * i.value,
                    "low": 100 * i.low,
                    "high": 100 * i.high,
                    "n": n,
                }
            )
        return shown(pd.DataFrame(rows), 1)

    def printed(self):
        """Version 2, Table 1: the two columns of the trade-off."""
        wide = self.run.published("v2 Table 1").pivot(index="row", columns="column", values="value")
        return wide.loc[list(CURES), list(mitigation.SETS[:2])]

    @needs("1.8")
    def tradeoff(self, given):
        """The printed pairs in the plane of correction and of questions left alone."""
        rows = mitigation.printed_rates(self.run).assign(source="published")
        figure, ((ax,),) = plots.figure((5.6, 5))
        marked = mitigation.marked(rows).replace({"shape": SHAPES})
        marked.loc[marked["shape"] == "MDAgents", "label"] = (
            ""  # its mark is told by the legend, its place is taken
        )
        plots.plane(
            ax,
            marked,
            *mitigation.SETS[:2],
            xlabel="false presuppositions corrected, %",
            ylabel="true ones left alone, %",
            title="Version 2, Table 1; dashed: the same balanced accuracy",
        )
        plots.legend_below(figure)
        return drawn(plots, figure)

    def rule(self, words):
        """A rule on both sets, objecting to questions with one of the words (ALWAYS: in all): hits, n, left alone, m."""

        def objects(frame):
            return sum(
                any(w == ALWAYS or f" {normal(w)} " in f" {normal(q)} " for w in words)
                for q in frame["question"]
            )

        return (
            objects(self.questions),
            len(self.questions),
            len(self.plain) - objects(self.plain),
            len(self.plain),
        )

    def limits(self):
        """What this sheet's numbers can't carry, with the numbers."""
        import pandas as pd

        labels, judged = self.labelled["label"].tolist(), self.labelled["judged"].tolist()
        k, spec = (
            stats.kappa(labels, judged, cm.GRADES, rng=self.run.rng("seminar", "limits")),
            self.specificity,
        )
        pcr = cm.scores(self.answered, self.run).set_index("metric").loc["PCR"]
        alone = int((self.kept["value"] == 1).sum())
        rows = [
            (
                "The judge is weak: it counts words",
                f"kappa on three grades {k.value:.2f} [{k.low:.2f}, {k.high:.2f}], n = {k.n}",
            ),
            (
                "The labels are their authors', not physicians'",
                f"{len(labels)} written answers to {self.labelled['item'].nunique()} questions",
            ),
            (
                "False alarms are uncertain",
                f"specificity {spec.value:.3f} [{spec.low:.3f}, {spec.high:.3f}], n = {spec.n}",
            ),
            (
                "The model has 135 million parameters",
                (
                    f"PCR {pcr['value']:.0f}% [{pcr['low']:.0f}, {pcr['high']:.1f}] on {pcr['n']}"
                    f" questions, {self.answered['truncated'].mean():.0%} of its replies cut off"
                ),
            ),
            (
                "Few questions without a false presupposition",
                (
                    f"the judge finds no objection in {alone} of {len(self.kept)} replies; no cure"
                    " can be ranked on so few"
                ),
            ),
        ]
        return shown(pd.DataFrame(rows, columns=["What to keep in mind", "Number of this run"]))
