"""What sheet 3 shows: answers to read, replayed detections, printed tables, a whole class."""

import re

import pandas as pd

from bedside import seminar, stats
from bedside.papers.medhalu import data as mh
from bedside.papers.medhalu import detection, matrices, scores, study
from bedside.papers.medhalu import printed as paper
from bedside.papers.medhalu import spans as marking
from bedside.papers.medhalu.labels import COLUMNS, annotations
from bedside.read.checks import joined, normal
from bedside.seminar import Wrong, choice, needs, number
from bedside.seminar.medhalu import classroom
from bedside.write import plots

EACH = 3  # answers of each type that are read
# the row of Tables 6 and 10 to work out by hand: in both, some counts give the printed scores
ROW = ("GPT-4", "HealthQA")
COUNTS = ["true positives", "false positives", "false negatives", "true negatives"]
RATES = ["sensitivity", "specificity"]
VERDICTS = {"yes": ("y", "hallucinated"), "no": ("n", "not hallucinated")}


class Material(seminar.Sheet):
    """The sample's answers, replayed detections, illustrative readings and the printed tables."""

    def __init__(self):
        run = self.run = seminar.run("medhalu", "03_expert_in_the_loop")
        self.items = seminar.finished(study.benchmark(run, "built", 0, ""))
        self.labels = annotations(run, self.items)
        parts = [seminar.graded("medhalu", s, study.AGAINST) for s in ("detection", "notes")]
        read = pd.concat(parts, ignore_index=True)
        self.judged = read.loc[read["by"] == "model", [*COLUMNS, "truncated"]]
        self.of = self.items.set_index("item")
        self.marks = detection.right_spans(self.items, self.labels)
        rng, some = self.run.rng("seminar"), []
        for _, part in self.items.groupby("type", sort=False):
            some += list(rng.choice(part["item"], EACH, replace=False))
        self.twelve = [str(i) for i in rng.permutation(some)]
        self.model = self.run.models[0]

    # ---- a reading

    def answers(self):
        """The twelve questions and answers, without labels."""
        return seminar.shown(self.of.loc[self.twelve, ["question", "answer"]].reset_index())

    def read(self, reading):
        """A reading {item: (verdict, sureness, span)} as a frame; Wrong if it is none.

        Columns: item, yes (1 or 0), sure, span.
        """
        if not isinstance(reading, dict) or set(reading) != set(self.twelve):
            raise self._odd("items", items=", ".join(self.twelve))
        rows = [self._entry(item, entry) for item, entry in reading.items()]
        return pd.DataFrame(rows, columns=["item", "yes", "sure", "span"])

    def _entry(self, item, entry):
        """A row of a reading; Wrong if it is none."""
        if not isinstance(entry, (tuple, list)) or len(entry) != 3:
            raise self._odd("three", item=item)
        said, sure, span = choice(entry[0], VERDICTS), number(entry[1]), str(entry[2])
        if said is None:
            raise self._odd("verdict", item=item, said=entry[0])
        if sure is None or not 50 <= sure <= 100:
            raise self._odd("sureness", item=item)
        words = re.findall(r"\w+", span)
        if said == "no":
            if normal(span) not in ("", "no", "none", "nothing", "n a"):
                raise self._odd("no span", item=item)
            return item, 0.0, sure, "-"
        if len(words) < 2:
            raise self._odd("clause", item=item, span=span)
        text = " ".join(self.of.at[item, "answer"].split())
        found = re.search(r"\W+".join(map(re.escape, words)), text, re.I)
        if not found:
            raise self._odd("elsewhere", item=item, span=span)
        return item, 1.0, sure, found.group()

    def _odd(self, key, **fields):
        """What to raise for a reading that is none."""
        return Wrong(self.said(key, "3.1", **fields))

    @needs("3.1", "3.2")
    def beside(self, reading, types):
        """A reading beside the labels, item by item."""
        made, labelled = self.read(reading).set_index("item"), self.of.loc[self.twelve]
        rows = labelled.assign(
            you=made.loc[self.twelve, "yes"].map({1.0: "yes", 0.0: "no"}),
            label=labelled["hallucinated"].map({True: "hallucinated", False: "right"}),
            type=labelled["type"].map(mh.TYPES | {"none": "none"}),
        )
        return seminar.shown(rows.reset_index()[["item", "you", "label", "type", "reason"]])

    @needs("3.1")
    def sureness(self, reading):
        """How sure a reader was where right and where wrong: counts and mean sureness."""
        made = joined(self.read(reading), self.items[["item", "hallucinated"]], whole="left")
        ok = made["yes"] == made["hallucinated"]
        for name, part in (("right verdicts", made[ok]), ("wrong verdicts", made[~ok])):
            sure = f", {part['sure'].mean():.0f}% sure on average" if len(part) else ""
            print(f"{name}: {len(part)}{sure}")

    # ---- scores

    def classes(self):
        """How many of the answers are hallucinated, and how many are right."""
        hallucinated = int(self.items["hallucinated"].sum())
        return hallucinated, len(self.items) - hallucinated

    def shares_of(self, name, frame):
        """A frame with item and yes as one evaluator's shares, for scores."""
        return scores.averaged(frame.assign(evaluator=name, source="run"), self.items)

    def confusion(self, shares):
        """True and false positives, false and true negatives of shares, as far as they were read.

        Whole numbers where all are yes or no.
        """
        return [round(float(c), 2) for c in scores.counts(shares.dropna(subset="yes")).sum(0)]

    def first(self):
        """The embedded model's detections with a note on the topic: counts by name.

        Without a note, precision and recall are equal, and all kinds of mean would be the same.
        """
        return dict(zip(COUNTS, map(int, self.confusion(self.noted()))))

    def noted(self):
        """The shares behind `first`: of the replies that could be read."""
        return self.shares_of(self.model, self.once(detection.TOPIC)).dropna(subset="yes")

    def once(self, note=""):
        """The embedded model's detections, first repeat only, with a note of `detection.NOTES`."""
        mine = self.judged["evaluator"] == self.model + note
        return self.judged[mine & (self.judged["repeat"] == 0)]

    def every(self):
        """The embedded model's detections without a note, all repeats."""
        return self.judged[self.judged["evaluator"] == self.model]

    def scores_of(self, shares):
        """Scores of evaluators' shares, with confidence intervals."""
        return scores.scores(shares)

    @needs("3.5")
    def by_library(self, given):
        """The scores of task 3.5, computed by the library."""
        made = stats.macro(list(self.first().values())).round(3).tolist()
        return dict(zip(["accuracy", "macro precision", "macro recall", "macro F1"], made))

    @needs("3.5")
    def compared(self, given, reading=...):
        """Macro-F1 of the reading, embedded model, readers, detectors that don't read; printed."""
        parts = [self.shares_of(f"{self.model}, this run", self.every())]
        for group, part in self.labels.groupby("group"):
            parts.append(self.shares_of(f"{group} readers, this run", part))
        if self.feedback("3.1", reading).ok:
            mine = self.shares_of("your reading, twelve answers", self.read(reading))
            parts = [mine, *parts]
        made = pd.concat([self.scores_of(p) for p in parts]).query("column == 'macro F1'")
        hallucinated = self.classes()[0] / len(self.items)
        blind = {name: f1 for name, (*_, f1) in scores.blind(hallucinated).items()}
        means = paper.wide(self.run, "Table 6", "ma-F1").mean(axis=1)
        others = [(n, f1, "run") for n, f1 in blind.items()]
        others += [(f"{n}, 3 subsets", means[n], "published") for n in paper.PEOPLE + paper.LLMS]
        others = pd.DataFrame(others, columns=["row", "value", "source"])
        figure, ((ax,),) = plots.figure((7.6, 5.2))  # labels of two lines must not touch
        plots.dots(
            ax,
            pd.concat([made, others], ignore_index=True),
            title="Who sees it?",
            xlabel="macro-F1 (printed: for other answers, mean of three subsets)",
            limits=(0, 1.04),
        )
        plots.legend_below(figure)
        return plots.picture(figure)

    # ---- printed rows and notes

    def row(self, table):
        """Sensitivity and specificity behind a printed row.

        As its accuracy and macro recall give them, with the answers of Table 4.
        """
        p, n = paper.classes(self.run)[ROW[1]]
        told = paper.by_row(self.run, table)[ROW]
        return scores.rates(told["Acc"], told["ma-R"], p / (p + n))

    def known(self):
        """What task 3.6 starts from: scores of a row of Table 6, and the answers behind it."""
        p, n = paper.classes(self.run)[ROW[1]]
        made = paper.by_row(self.run, "Table 6")[ROW]
        print(self.said("known", "3.6", row=" on ".join(ROW), made=made, p=p, n=n))

    @needs("3.6")
    def behind(self, given):
        """Rates behind the rows of Table 6 that one set of counts explains."""
        return self._behind("Table 6")

    @needs("3.8")
    def behind_noted(self, given):
        """The same for Table 10, with a note."""
        return self._behind("Table 10")

    def _behind(self, table):
        """Rates behind the rows of a table that one set of counts explains."""
        said = paper.rounded_table(self.run, table).value
        rows = matrices.implied(said, paper.answers(self.run)).reset_index().assign(table=table)
        fit = rows[rows["fits"] > 0]
        print(self.said("behind", "3.6", fit=len(fit), n=len(rows)))
        fit = fit[["table", "dataset", "row", *RATES, "yes"]]
        return seminar.shown(fit.rename(columns={"row": "evaluator", "yes": "share of yes"}))

    @needs("3.8")
    def notes(self, given):
        """The embedded model's yes verdicts with each note, and its macro-F1 with intervals."""
        rows = []
        for name, what in detection.NOTES.items():
            shares = self.shares_of(self.model, self.once(name))
            tp, fp, fn, tn = self.confusion(shares)
            f1 = self.scores_of(shares).set_index("column").loc["macro F1"]
            yes = (f"{x:.0f} of {x + y:.0f}" for x, y in ((tp, fn), (fp, tn)))
            rows.append((what, *yes, self.said("interval", "3.8", f1=f1)))
        return self.headed("3.8", rows)

    # ---- spans

    @property
    def spanned(self):
        """The first fact-conflict of the twelve, for task 3.9."""
        return next(i for i in self.twelve if self.of.at[i, "type"] == "fact")

    def span_words(self):
        """The answer of task 3.9, and how many of its words are labelled."""
        text, marks = self.of.at[self.spanned, "answer"], self.marks[self.spanned]
        size = len(marking.tokens(text, [(0, len(text))]))
        share = marking.token_scores(text, marks, [text])["token precision"]
        row = (self.spanned, text, "\n".join(marks), size, round(share * size))
        return self.headed("3.9", [row])

    @needs("3.9")
    def spans(self, given, reading=...):
        """Mean token scores over hallucinated answers.

        Of marking the whole answer, the embedded model, the readers, and the student's reading.
        """
        parts = [marking.whole(self.items), self.every(), self.labels]
        if self.feedback("3.1", reading).ok:
            made = self.read(reading)
            made = made.assign(
                evaluator="your reading",
                repeat=0,
                source="run",
                status="graded",
                spans=made["span"].map(lambda s: [s] if s != "-" else []),
            )
            parts = [made, *parts]
        rows = marking.compared(pd.concat(parts, ignore_index=True), self.items, self.marks)
        by_item = rows.groupby(["evaluator", "item"], sort=False)[marking.TOKEN_SCORES].mean()
        found = by_item.groupby("evaluator", sort=False)
        return seminar.shown(
            found[marking.TOKEN_SCORES].mean().assign(n=found.size()).reset_index()
        )

    # ---- a class

    def example_class(self):
        """A folder with the hand-ins of the illustrative readers."""
        return classroom.example(self.labels[self.labels["item"].isin(self.twelve)])

    def of_class(self, folder=None):
        """The hand-ins as one class: the majority, single readers, how far they agree."""
        return classroom.table(classroom.read(folder, self.read), self.items, self.run)

    def limits(self):
        """What this run's numbers rest on, with confidence intervals.

        The embedded model against the labels and against itself, and a perfect reader.
        """
        mine = self.every().pivot(index="item", columns="repeat", values="yes")
        truth = self.of["hallucinated"].astype(float)[mine.index]
        rows = []
        for what, other in {"the labels": truth, "its own second answer": mine[1]}.items():
            both = pd.DataFrame({"x": mine[0], "y": other}).dropna()
            k = stats.kappa(both["x"].tolist(), both["y"].tolist(), [0.0, 1.0])
            rows.append((f"kappa of {self.model} with {what}", *k))
        for r in self.scores_of(self.shares_of(self.model, self.once())).itertuples():
            if r.column in ("accuracy", "macro F1"):
                what = f"{r.column} of {self.model}, one repeat"
                rows.append((what, r.value, r.low, r.high, r.n))
        n = len(self.twelve)
        rows.append(("accuracy of a reader who gets all twelve right", *stats.share([True] * n)))
        return self.headed("3.3", rows)
