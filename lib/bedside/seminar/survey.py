"""Sheet 1p, Whose advice is it?: real patients' questions, four answers each, three physicians.

Everything is read from the released survey when the sheet is opened; this file holds none of it.
"""

from math import sqrt

import pandas as pd

from bedside import BedsideError, stats
from bedside.papers.cancer_myth import survey
from bedside.write.prose import prose

from . import sheets
from .answers import Wrong, choice, number

KEYS = ["question", "source", "part"]
WORDS = 20, 60  # of a paragraph beside a marked one
TEN = 10  # paragraphs whose ratings are compared by hand in 1.4
FIRST, LAST = "GPT-4-Turbo", survey.HUMAN  # the sources of tasks 1.5 to 1.7
OLDEST = 1  # the question of task 1.8: the paper's own example 1 (appendix A.5)
NONE = "none"  # 1.2: no label
T24, T2 = 2.064, 4.303  # Student's t, 97.5%, for 25 questions and for 3 physicians


class Sheet(sheets.Sheet):
    """Cancer-Myth, section 2 and appendix A."""

    number, paper, public = "1", "survey", True

    def __init__(self):
        run = self.run = sheets.run("cancer_myth", "01_physician_survey", "public")
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
        for place, r in enumerate(answers.to_dict("records"), 1):
            asked[place] = r["question"].strip()
            for column, source in survey.RATED.items():
                replies[place, source] = survey.shown(r[column])
                for k, paragraph in enumerate(survey.cut(r[column]), 1):
                    texts[place, source, k] = paragraph
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

    def counts(self):
        x, y = (self.marked[d].to_numpy(int) for d in ("Doctor 1", "Doctor 3"))
        misd, lots, times = survey.misd(self.ten), self.marked.sum(), self.marked.sum(axis=1)
        ten, points = self.ten.to_numpy(float), self.points()
        gap = self.by_physician().loc[FIRST] - self.by_physician().loc[LAST]
        marks = self.marks().T.to_dict("list")
        return {
            **{
                "p": x.mean(),
                "q": y.mean(),
                "seen": (x == y).mean(),
                "off": self._off,
                "same": self._same,
            },
            **{
                "kappa": stats.kappa(x.tolist(), y.tolist(), [0, 1]).value,
                "ac": stats.gwet([x, y], [0, 1]),
            },
            **{"misd": misd.tolist(), "pairs": abs(ten - ten[:, [1, 2, 0]]).mean()},
            **{
                "mean": points.mean(),
                "half": T24 * points.std() / sqrt(len(points)),
                "asked": len(self.asked),
            },
            **{"gap": [gap.min(), gap.max(), gap.mean(), T2 * gap.std() / sqrt(3)], "marks": marks},
            **{"most": [lots.idxmax(), int(lots.max()), int(lots.sum())], "paragraphs": len(times)},
            **{"two": int((times >= 2).sum()), "one": int((times >= 1).sum())},
            **{"below": lambda values, limit: sum(v <= limit for v in values) / len(values)},
            **{
                "largest": max,
                "page": f"{self.asked[OLDEST]} {self.best()[1]}",
                "shuffled": self._shuffled,
            },
            **{"within": (survey.misd(self.rated) <= 2).mean(), "raters": self.whole.shape[1]},
            "numbers": lambda mine: {k: rating(v) for k, v in mine.items()},
            "labels": lambda mine: {k: label(v) for k, v in mine.items()},
            "varied": lambda mine: len(set(mine.values())),
            "turned": lambda mine: {k: 6 - v for k, v in mine.items()},
            "high": (self.rated >= 4).mean().mean(),
        }

    def solution(self, number):
        """The physicians' median ratings (1.1) or most frequent labels (1.2), written nowhere."""
        if number == "1.1":
            return {k: int(self.rated.loc[key].median()) for k, key in self.eight.items()}
        given = {k: sum(self.labels.loc[key], []) for k, key in self.eight.items()}
        return {k: max(survey.LABELS, key=v.count) if v else NONE for k, v in given.items()}

    def _off(self, ratings):
        """How far ratings are from the physicians' medians, on average."""
        return sum(abs(ratings[k] - m) for k, m in self.solution("1.1").items()) / len(ratings)

    def _same(self, labels):
        """How many marks agree with two or more physicians on whether to mark."""
        return sum((labels[k] == NONE) == (t == NONE) for k, t in self.solution("1.2").items())

    def _shuffled(self):
        """The share within 2 points if each physician's ratings were dealt out at random."""
        return survey.chance_spread(
            self.rated, self.run.rng("seminar", "shuffled"), times=500
        ).mean()

    # ---- displays

    def paragraphs(self):
        """The eight paragraphs of tasks 1.1 and 1.2, without their sources."""
        rows = [(self.asked[key[0]], k, self.texts[key]) for k, key in self.eight.items()]
        made = pd.DataFrame(rows, columns=["question", "letter", "paragraph of a reply"])
        return prose(made.assign(question=made["question"].mask(made["question"].duplicated(), "")))

    def reveal(self, labels):
        """Sources, the physicians' ratings and labels, and the student's label."""
        rows = [
            {
                "letter": k,
                "source": key[1],
                **self.rated.loc[key].astype(int).to_dict(),
                "their labels": [
                    f"{d}: {', '.join(given)}" for d, given in self.labels.loc[key].items() if given
                ],
                "your label": labels[k],
            }
            for k, key in self.eight.items()
        ]
        return prose(pd.DataFrame(rows))

    def doctors(self):
        """Paragraphs that Doctor 1 and Doctor 3 marked or not, as a two by two table."""
        made = pd.crosstab(self.marked["Doctor 1"], self.marked["Doctor 3"])
        made = made.reindex(index=[True, False], columns=[True, False])
        made.index = ["Doctor 1 gives a label", "Doctor 1 gives none"]
        made.columns = ["Doctor 3 gives a label", "Doctor 3 gives none"]
        made["all"] = made.sum(axis=1)
        made.loc["all"] = made.sum()
        return made.rename_axis(columns="paragraphs")

    def points(self):
        """Mean points of the 25 whole answers of FIRST, over the physicians, by question."""
        return self.whole.xs(FIRST, level="source").mean(axis=1).round(3)

    def means(self, given):
        """Mean by source, as printed (section 2.2) and with an interval over questions."""
        printed = self.run.published("v1 text 2.2").set_index("row")["value"]
        rows = []
        for source in survey.RATED.values():
            mine = self.whole.xs(source, level="source").mean(axis=1).to_numpy()
            rows.append(
                (
                    source,
                    printed[source],
                    *stats.mean(mine, scale=(survey.SCALE[0], survey.SCALE[-1])),
                )
            )
        return self.table("1.5", rows)

    def by_physician(self):
        """Mean points of each source by physician, over 25 questions."""
        return self.whole.groupby("source").mean().loc[list(survey.RATED.values())].round(2)

    def marks(self):
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
        return prose(pd.DataFrame(rows.items(), columns=["", "text"]))


def rating(value):
    """A rating of the survey's scale; Wrong if it is none."""
    if (made := number(value)) not in survey.SCALE:
        raise Wrong(
            f"the survey's ratings are whole points from 1 (poor) to 5 (good), not {value!r}."
        )
    return made


def label(value):
    """A label of the survey, or none; Wrong if it is neither."""
    known = dict.fromkeys((NONE, *survey.LABELS), ())
    if (made := choice(value, known)) is None:
        raise Wrong(f"{value!r} is none of the survey's labels: {', '.join(known)}.")
    return made
