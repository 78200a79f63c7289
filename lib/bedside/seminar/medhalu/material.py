"""What MedHalu's seminar sheet shows: answers to be read, replayed detections, figures and tables, a class together."""

from bedside import plots, seminar, stats
from bedside.papers.medhalu import data as mh
from bedside.papers.medhalu import detection, printed, scores
from bedside.papers.medhalu.rows import replayed
from bedside.rows import Document
from bedside.seminar import Feedback, Wrong, needs, open_in
from bedside.seminar.medhalu import classroom as together
from bedside.sources import drawn

EACH = 3  # answers of each type that are read
ROW = (
    "GPT-4",
    "HealthQA",
)  # of Tables 6 and 10, worked out by hand: in both there are counts that print so
COUNTS = ["true positives", "false positives", "false negatives", "true negatives"]
RATES = ["sensitivity", "specificity"]


class Material(seminar.Sheet):
    """The sample's answers, replayed detections, illustrative readings and the printed tables."""

    def __init__(self):
        import pandas as pd

        document = Document("sample")
        self.run, self.plain = (
            document.run("medhalu", "03_expert_in_the_loop"),
            document.run("medhalu", "02_detection"),
        )
        self.items, self.labels, _, found = seminar.finished(replayed(self.plain, self.run))
        self.judged = pd.concat(found.values(), ignore_index=True)
        self.of = self.items.set_index("item")
        self.marks = detection.marked(self.items, self.labels)
        rng = self.run.rng("seminar")
        drawn = [
            i
            for _, part in self.items.groupby("type", sort=False)
            for i in rng.choice(part["item"], EACH, replace=False)
        ]
        self.twelve = [str(i) for i in rng.permutation(drawn)]
        self.model, self.folder = self.run.models[0], together.FOLDER

    def answers(self):
        """The twelve questions and answers, without labels."""
        return seminar.shown(self.of.loc[self.twelve, ["question", "answer"]].reset_index())

    def read(self, reading):
        """A reading {item: (verdict, sureness, span)} as a frame: item, yes (1 or 0), sure, span; Wrong for what is none."""
        import pandas as pd

        if not isinstance(reading, dict) or set(reading) != set(self.twelve):
            raise Wrong(f"The reading needs exactly these items: {', '.join(self.twelve)}.")
        rows = []
        for item, entry in reading.items():
            if not isinstance(entry, (tuple, list)) or len(entry) != 3:
                raise Wrong(f'{item}: write (verdict, sureness, span), such as ("no", 70, "-").')
            said, sure, span = (
                str(entry[0]).strip().lower(),
                entry[1],
                " ".join(str(entry[2]).split()),
            )
            if said not in ("yes", "no"):
                raise Wrong(
                    f'{item}: the verdict is "yes" (it holds a hallucination) or "no", not'
                    f" {said!r}."
                )
            if (
                isinstance(sure, bool)
                or not isinstance(sure, (int, float))
                or not 50 <= sure <= 100
            ):
                raise Wrong(
                    f"{item}: sureness is a number from 50 (a guess) to 100 (certain), in percent;"
                    " who is surer of the opposite gives the other verdict."
                )
            if said == "yes" and span not in " ".join(self.of.at[item, "answer"].split()):
                raise Wrong(
                    f"{item}: the span {span!r} isn't in the answer. Copy the words at fault from"
                    " there, letter by letter."
                )
            if said == "no" and span != "-":
                raise Wrong(f'{item}: a "no" has no span; write "-".')
            rows.append((item, float(said == "yes"), sure, span))
        return pd.DataFrame(rows, columns=["item", "yes", "sure", "span"])

    def judged_by(self, name, frame):
        """A frame with item and yes as one evaluator's shares, for scores."""
        return scores.averaged(frame.assign(evaluator=name, source="run"), self.items)

    def confusion(self, shares):
        """True and false positives, false and true negatives of shares, as whole numbers where all are yes or no."""
        return [round(float(c), 2) for c in scores.counts(shares).sum(0)]

    @needs("3.1")
    def beside(self, reading):
        """A reading beside the labels, item by item."""
        made = self.read(reading).set_index("item").loc[self.twelve]
        rows = self.of.loc[self.twelve].assign(
            you=made["yes"].map({1.0: "yes", 0.0: "no"}),
            label=lambda f: f["hallucinated"].map({True: "hallucinated", False: "right"}),
        )
        rows = rows.assign(type=rows["type"].map(mh.TYPES)).reset_index()
        return seminar.shown(rows[["item", "you", "label", "type", "reason"]])

    @needs("3.1")
    def sureness(self, reading):
        """How sure a reader was where right and where wrong: verdicts and mean sureness."""
        made = self.read(reading).merge(self.items[["item", "hallucinated"]], on="item")
        ok = made["yes"] == made["hallucinated"]
        for name, part in (("right verdicts", made[ok]), ("wrong verdicts", made[~ok])):
            print(
                f"{name}: {len(part)}"
                + (f", {part['sure'].mean():.0f}% sure on average" if len(part) else "")
            )

    def first(self):
        """The tiny model's detections, first of its repeats: counts by name."""
        return dict(zip(COUNTS, map(int, self.confusion(self.judged_by(self.model, self.once())))))

    def once(self, note=""):
        """The tiny model's detections, first repeat only, with a note of `detection.NOTES`."""
        return self.judged[
            (self.judged["evaluator"] == self.model + note) & (self.judged["repeat"] == 0)
        ]

    def compared(self, reading=...):
        """Macro-F1 of the reading, the tiny model, the readers, detectors that don't read, and the printed evaluators."""
        import pandas as pd

        parts = [
            self.judged_by(
                f"{self.model}, this run", self.judged[self.judged["evaluator"] == self.model]
            )
        ]
        parts += [
            self.judged_by(f"{group} readers, this run", part)
            for group, part in self.labels.groupby("group")
        ]
        if self.check("3.1", reading).ok:
            parts = [self.judged_by("your reading, twelve answers", self.read(reading)), *parts]
        made = pd.concat(
            [scores.scores(p, ["evaluator", "source"], self.run) for p in parts]
        ).query("metric == 'macro F1'")
        made = made.rename(columns={"evaluator": "row"})
        blind = scores.blind(
            int(self.items["hallucinated"].sum()), len(self.items), "this run", "run"
        )
        blind = blind[blind["column"] == "macro F1"].assign(
            row=lambda f: f["row"].str.removeprefix("this run: ")
        )
        paper = [
            (
                f"{n}, mean of three subsets",
                "published",
                printed.averages(self.run, "Table 6", n)["mean of the subsets"],
            )
            for n in printed.PEOPLE + printed.LLMS
        ]
        rows = pd.concat(
            [made, blind, pd.DataFrame(paper, columns=["row", "source", "value"])]
        ).reset_index(drop=True)
        figure, axes = plots.figure((7.6, 4.2))
        plots.dots(
            axes[0][0],
            rows,
            title="Who sees it?",
            xlabel="macro F1 (the paper's answers are others)",
            limits=(0, 1.04),
        )
        plots.legend_below(figure)
        return drawn(plots, figure)

    def row(self, table):
        """Sensitivity and specificity that accuracy and macro recall of a printed row give, as the answers stand in Table 4."""
        p, n = printed.classes(self.run)[ROW[1]]
        told = printed.by_row(self.run, table)[ROW]
        both, share = 2 * told["ma-R"], p / (p + n)
        found = (told["Acc"] - (1 - share) * both) / (2 * share - 1)
        return found, both - found

    def known(self):
        """What task 3.6 starts from: accuracy and macro recall of a row of Table 6, and the answers of Table 4 behind it."""
        p, n = printed.classes(self.run)[ROW[1]]
        made = printed.by_row(self.run, "Table 6")[ROW]
        print(
            f"{ROW[0]} on {ROW[1]}: accuracy {made['Acc']:.2f}, macro recall {made['ma-R']:.2f};"
            f" {p} hallucinated answers, {n} right ones"
        )

    def behind(self):
        """Rates behind the rows of Tables 6 and 10 that one set of counts explains."""
        import pandas as pd

        rows = pd.concat(
            [printed.implied(self.run, t).assign(table=t) for t in ("Table 6", "Table 10")]
        )
        names = {"row": "evaluator", "yes": "share of yes"}
        shown = rows[rows["fits"] > 0][["table", "dataset", "row", *RATES, "yes"]].rename(
            columns=names
        )
        print(
            f"{len(shown)} of {len(rows)} rows; for the others no counts over Table 4's answers"
            " print like this"
        )
        return seminar.shown(shown)

    def notes(self):
        """The tiny model's yes with each note, to hallucinated and to right answers, and its macro-F1 with intervals."""
        import pandas as pd

        rows = []
        for name, what in detection.NOTES.items():
            shares = self.judged_by(self.model, self.once(name))
            tp, fp, fn, tn = self.confusion(shares)
            f1 = (
                scores.scores(shares, ["evaluator", "source"], self.run)
                .query("metric == 'macro F1'")
                .iloc[0]
            )
            interval = f"{f1['value']:.2f} ({f1['low']:.2f} to {f1['high']:.2f})"
            rows.append(
                (what, f"{tp:.0f} of {tp + fn:.0f}", f"{fp:.0f} of {fp + tn:.0f}", interval)
            )
        columns = [
            "the prompt has",
            "yes to hallucinated answers",
            "yes to right answers",
            "macro F1 (95%)",
        ]
        return seminar.shown(pd.DataFrame(rows, columns=columns))

    @property
    def spanned(self):
        """The first fact-conflict of the twelve, for task 3.9."""
        return next(i for i in self.twelve if self.of.at[i, "type"] == "fact")

    def span_words(self):
        """The answer of task 3.9, and how many of its words are labelled."""
        import pandas as pd

        text, right = self.of.at[self.spanned, "answer"], self.marks[self.spanned]
        size, share = (
            len(scores.tokens(text, [(0, len(text))])),
            scores.token_scores(text, right, [text])["token precision"],
        )
        return seminar.shown(
            pd.DataFrame(
                [(self.spanned, text, "\n".join(right), size, round(share * size))],
                columns=["item", "answer", "labelled", "words", "of these labelled"],
            )
        )

    def spans(self, reading=...):
        """Mean token F1 over hallucinated answers of the whole answer marked, the tiny model, the readers, and your reading."""
        import pandas as pd

        parts = [
            scores.whole(self.items),
            self.judged[self.judged["evaluator"] == self.model],
            self.labels,
        ]
        if self.check("3.1", reading).ok:
            made = self.read(reading)
            spans = made["span"].map(lambda s: [s] if s != "-" else [])
            parts = [
                made.assign(
                    evaluator="your reading", repeat=0, source="run", status="graded", spans=spans
                ),
                *parts,
            ]
        rows = scores.span_rows(pd.concat(parts, ignore_index=True), self.items, self.marks)
        words = ["token precision", "token recall", "token F1"]
        found = (
            rows.groupby(["evaluator", "item"], sort=False)[words]
            .mean()
            .groupby("evaluator", sort=False)
        )
        return seminar.shown(found[words].mean().assign(n=found.size()).reset_index())

    @needs("3.1", "3.2")
    def hand_in(self, reading, types, name=..., folder=together.FOLDER):
        """Write a reading for the class as <name>.csv; says where."""
        if open_in(name):
            return Feedback(
                None,
                "Give yourself a short name (letters and digits, not your real one), then run this"
                " cell again.",
            )
        made = self.read(reading)
        return together.write(made.assign(type=made["item"].map(types)), str(name), folder)

    def example_class(self):
        """A folder with the illustrative readers' files on the twelve answers, as three students would hand them in."""
        return together.example(self.labels[self.labels["item"].isin(self.twelve)])

    def together(self, folder=together.FOLDER):
        """The files in a folder as one class: the majority against single readers, and how far they agree."""
        return together.table(
            together.read(folder, self.items, self.run), folder, self.items, self.run
        )

    def limits(self):
        """What this run's numbers rest on: the tiny model against the labels and itself, and a perfect reader, with intervals."""
        import pandas as pd

        mine = self.judged[self.judged["evaluator"] == self.model].pivot(
            index="item", columns="repeat", values="yes"
        )
        truth = self.of["hallucinated"].astype(float)[mine.index]
        pairs = {"the labels": truth, "its own second answer": mine[1]}
        found = {
            what: stats.kappa(mine[0].tolist(), other.tolist(), [0.0, 1.0], rng=self.run.rng(what))
            for what, other in pairs.items()
        }
        rows = [(f"kappa of {self.model} with {what}", *k) for what, k in found.items()]
        found = scores.scores(
            self.judged_by(self.model, self.once()), ["evaluator", "source"], self.run
        )
        rows += [
            (f"{r.metric} of {self.model}, one repeat", r.value, r.low, r.high, r.n)
            for r in found.itertuples()
            if r.metric in ("accuracy", "macro F1")
        ]
        rows.append(
            (
                "accuracy of a reader who gets all twelve right",
                *stats.wilson(len(self.twelve), len(self.twelve)),
            )
        )
        return seminar.shown(
            pd.DataFrame(rows, columns=["what", "value", "low", "high", "answers"])
        )
