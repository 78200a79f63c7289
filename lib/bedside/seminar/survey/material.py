"""What sheet 1p shows: real patients' questions, four answers to each, three physicians' ratings.

Everything is read from the released survey when the sheet is opened; this file holds none of it.
"""

import functools

import pandas as pd

from bedside import BedsideError, seminar, stats
from bedside.papers.cancer_myth import data, survey, systems
from bedside.seminar import needs, open_in, shown

KEYS = ["question", "source", "part"]
WORDS = 20, 60  # of a paragraph beside a marked one
TEN = 10  # paragraphs whose ratings are compared by hand in 1.4
FIRST, LAST = "GPT-4-Turbo", survey.HUMAN  # the sources of tasks 1.5 to 1.7
OLDEST = 1  # the question of task 1.8: the paper's own example 1 (appendix A.5)
NONE = "none"  # 1.2: no label
WRITTEN = "written for this project"
ELSEWHERE = (
    "The eight systems' answers aren't on this machine; `make data PROFILE=public` fetches them."
    " Here are three answers that were written for this project, to a question of this project."
)


class Material(seminar.Sheet):
    """Data and displays of sheet 1p (Cancer-Myth, section 2 and appendix A: the survey)."""

    also = (systems.FILE, "cancer_myth_released")  # sources that it shows where they are

    def __init__(self):
        run = self.run = seminar.run("cancer_myth", "01_physician_survey", "public")
        ratings = survey.survey(run)
        self.whole, self.rated = survey.whole_answers(ratings), survey.paragraphs(ratings)
        self.asked, self.replies, texts = self._texts(run.load("cancer_myth_survey_answers"))
        parts = ratings[ratings["part"] > 0]
        self.labels = parts.pivot(index=KEYS, columns="rater", values="labels")
        if set(texts.index) != set(self.labels.index):
            raise BedsideError("the survey's paragraphs are not those of the released answers")
        self.texts, self.marked = texts, self.labels.map(bool)  # marked: by each physician
        self.eight = self._eight()
        places = run.rng("seminar", "ten").choice(len(self.rated), TEN, replace=False)
        self.ten = self.rated.iloc[sorted(places)].astype(int).set_axis(list("abcdefghij"))

    def _texts(self, answers):
        """Questions, whole replies by question and source, and their paragraphs by KEYS.

        The survey counts the questions in the order of the file.
        """
        asked, replies, texts = {}, {}, {}
        for number, r in enumerate(answers.to_dict("records"), 1):
            asked[number] = r["question"].strip()
            for column, source in survey.RATED.items():
                replies[number, source] = survey.shown(r[column])
                for k, paragraph in enumerate(survey.cut(r[column]), 1):
                    texts[number, source, k] = paragraph
        return asked, replies, pd.Series(texts).rename_axis(KEYS)

    def _eight(self):
        """Four pairs of paragraphs on one question each, in an order that tells nothing.

        From each source the lowest rated paragraph that two physicians marked, and the best rated
        one of another source that nobody marked.
        """
        times, words = self.marked.sum(axis=1), self.texts.str.split().str.len()
        score = self.rated.mean(axis=1).sort_values(kind="stable")
        low = score.index[times[score.index] >= 2]
        fits = (times == 0) & words.between(*WORDS)
        good = score.index[fits[score.index]][::-1]
        chosen, rng = {}, self.run.rng("seminar", "eight")
        for source in survey.RATED.values():
            bad = next(k for k in low if k[1] == source and k[0] not in chosen)
            other = next(k for k in good if k[0] == bad[0] and k[1] != source)
            chosen[bad[0]] = [(bad, other)[k] for k in rng.permutation(2)]
        return dict(zip("abcdefgh", sum(chosen.values(), [])))

    # ---- paragraphs

    def paragraphs(self):
        """The eight paragraphs of tasks 1.1 and 1.2, without their sources."""
        rows = [(self.asked[key[0]], k, self.texts[key]) for k, key in self.eight.items()]
        made = pd.DataFrame(rows, columns=["question", "letter", "paragraph of a reply"])
        return shown(made.assign(question=made["question"].mask(made["question"].duplicated(), "")))

    @needs("1.1", "1.2")
    def reveal(self, ratings, labels):
        """Sources, the physicians' ratings and labels, and the student's."""
        rows = [
            {
                "letter": k,
                "source": key[1],
                **self.rated.loc[key].astype(int).to_dict(),
                "you": ratings[k],
                "their labels": [
                    f"{d}: {', '.join(given)}" for d, given in self.labels.loc[key].items() if given
                ],
                "your label": labels[k],
            }
            for k, key in self.eight.items()
        ]
        return shown(pd.DataFrame(rows))

    # ---- agreement

    def two(self):
        """Paragraphs that Doctor 1 and Doctor 3 marked or not, as a two by two table."""
        made = pd.crosstab(self.marked["Doctor 1"], self.marked["Doctor 3"])
        made = made.reindex(index=[True, False], columns=[True, False])
        made.index = ["Doctor 1 gives a label", "Doctor 1 gives none"]
        made.columns = ["Doctor 3 gives a label", "Doctor 3 gives none"]
        made["all"] = made.sum(axis=1)
        made.loc["all"] = made.sum()
        return made

    @needs("1.3")
    def coefficients(self, given):
        """Kappa and Gwet's AC of each pair of physicians: on labels, and weighted on ratings."""
        rows = []
        for a, b in (("Doctor 1", "Doctor 2"), ("Doctor 1", "Doctor 3"), ("Doctor 2", "Doctor 3")):
            x, y = self.marked[a].astype(int), self.marked[b].astype(int)
            p, q = self.rated[a].astype(int).tolist(), self.rated[b].astype(int).tolist()
            each = (
                stats.kappa(x.tolist(), y.tolist(), [0, 1]).value,
                stats.gwet([x, y], [0, 1]),
                stats.kappa(p, q, survey.SCALE, weights="quadratic").value,
                stats.gwet([p, q], survey.SCALE, weights="quadratic"),
            )
            rows.append((f"{a} and {b}", *each))
        return self.headed("1.3", rows)

    @needs("1.4")
    def spread(self, given):
        """MISD of all paragraphs, and what shuffled ratings reach."""
        found = survey.misd(self.rated)
        shuffled = survey.chance_spread(self.rated, self.run.rng("seminar", "shuffled"), times=500)
        within, chance = (found <= 2).mean(), shuffled.mean()
        print(self.said("spread", "1.4", within=within, n=len(found), chance=chance))
        return found.value_counts().sort_index().rename("paragraphs").to_frame()

    # ---- sources

    def points(self):
        """Mean points of the 25 whole answers of FIRST, over the physicians, by question."""
        return self.whole.xs(FIRST, level="source").mean(axis=1).round(3)

    @needs("1.5")
    def means(self, given):
        """Mean by source, as printed (section 2.2) and with an interval over questions."""
        printed = self.run.published("v1 text 2.2").set_index("row")["value"]
        rows = []
        for source in survey.RATED.values():
            mine = self.whole.xs(source, level="source").mean(axis=1).to_numpy()
            ends = survey.SCALE[0], survey.SCALE[-1]
            rows.append((source, printed[source], *stats.mean(mine, scale=ends)))
        return self.headed("1.5", rows)

    def by_physician(self):
        """Mean points of each source by physician, over 25 questions."""
        return self.whole.groupby("source").mean().loc[list(survey.RATED.values())].round(2)

    def counts(self):
        """Paragraphs by source: all, marked by one physician or more, marked by two or more."""
        times = self.marked.sum(axis=1)
        made = pd.DataFrame(
            {
                "paragraphs": times.groupby("source").size(),
                "marked by one or more": (times >= 1).groupby("source").sum(),
                "marked by two or more": (times >= 2).groupby("source").sum(),
            }
        )
        return made.loc[list(survey.RATED.values())]

    @needs("1.7")
    def by_label(self, given):
        """How often each physician gave each label."""
        long = self.labels.stack().explode().dropna()
        made = pd.crosstab(long, long.index.get_level_values("rater"))
        return made.reindex(survey.LABELS, fill_value=0).rename_axis(index=None, columns=None)

    # ---- one reply

    def best(self):
        """The best rated source of an answer to OLDEST, and its reply."""
        source = self.whole.loc[OLDEST].mean(axis=1).idxmax()
        return source, self.replies[OLDEST, source]

    def one(self):
        """The question OLDEST, its best rated reply and the physicians' points for it."""
        source, reply = self.best()
        points = self.whole.loc[(OLDEST, source)].astype(int).items()
        told = ", ".join(f"{d}: {p}" for d, p in points)
        rows = {"question": self.asked[OLDEST], "reply": reply, "points for the reply": told}
        return shown(pd.DataFrame(rows.items(), columns=["", "text"]))

    # ---- answers to a question of the benchmark

    @functools.cached_property
    def systems(self):
        """A question with graded answers, in an order that tells nothing.

        A released one with eight systems' answers, on which GPT-4o, as the study's judge, gave all
        three grades; without the file, one of ours with the answers that were written to it.
        """
        run = seminar.run("cancer_myth", "07_released_answers", "public")
        if (found := systems.file(run)) is not None:
            graded = systems.answers(run, found)
            graded = graded[graded["status"] == "graded"]
            fits = graded.groupby("item")["value"].agg(lambda v: v.nunique() == 3 and len(v) == 8)
        if found is None or not fits.any():
            ours = data.labelled(seminar.run("cancer_myth", "05_judge_agreement"))
            graded = ours.rename(columns={"label": "value"}).assign(model=WRITTEN)
            fits = graded.groupby("item")["value"].agg(lambda v: v.nunique() == 3)
        mine = graded[graded["item"] == run.rng("seminar").choice(sorted(fits.index[fits]))]
        mine = mine.iloc[run.rng("seminar", "order").permutation(len(mine))]
        return mine.assign(letter=list("abcdefgh"[: len(mine)]))

    def told(self):
        """The question and what was answered, without the systems' names."""
        if WRITTEN in set(self.systems["model"]):
            print(ELSEWHERE)
        rows = [("question", self.systems["question"].iloc[0])]
        rows += zip(self.systems["letter"], self.systems["answer"])
        return shown(pd.DataFrame(rows, columns=["", "text"]))

    def graded(self, mine):
        """The systems' names, their grades, and the student's, by letter; rates as printed."""
        printed = self.run.published("v1 Figure 6a").query("column == 'PCR'")
        rates = ", ".join(f"{r.row} {r.value:.1f}" for r in printed.itertuples())
        print(f"Questions corrected by each system, % of 585 (Figure 6): {rates}")
        rows = self.systems[["letter", "model", "value"]]
        yours = ["" if open_in(mine.get(k)) else mine[k] for k in rows["letter"]]
        about = pd.DataFrame([("what is wrong", "", self.systems["correction"].iloc[0], "")])
        rows = rows.assign(yours=yours)
        return shown(pd.concat([about.set_axis(rows.columns, axis=1), rows]))

    def limits(self):
        """What this sheet's numbers can't show, with the numbers."""
        times, lots = self.marked.sum(axis=1), self.marked.sum()
        return self.limited(
            raters=self.whole.shape[1],
            questions=len(self.asked),
            who=lots.idxmax(),
            most=lots.max(),
            all=lots.sum(),
            n=len(times),
            two=(times >= 2).sum(),
            one=(times >= 1).sum(),
            high=(self.rated >= 4).mean().mean(),
        )
