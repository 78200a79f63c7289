"""What MedHalu's seminar sheet shows: answers to be read, replayed detections, figures and tables, a class together."""

import tempfile
from pathlib import Path

from .. import paths, plots, seminar, stats
from ..items import Document
from ..seminar import Feedback, Wrong, needs, open_in
from . import medhalu as mh
from . import medhalu_detection as detection
from . import medhalu_printed as printed
from . import medhalu_scores as scores

EACH = 3                        # answers of each type that are read
ROW = ("GPT-4", "HealthQA")     # of Tables 6 and 10, worked out by hand: in both there are counts that print so
CLASS = paths.EXTERNAL / "medhalu_class"
COLUMNS = ["item", "rater", "group", "hallucinated", "type", "spans", "reason"]
COUNTS = ["true positives", "false positives", "false negatives", "true negatives"]
RATES = ["sensitivity", "specificity"]


class Material(seminar.Sheet):
    """The sample's answers, replayed detections, illustrative readings and the printed tables."""

    def __init__(self):
        document = Document("sample")
        self.run, self.plain = document.run("medhalu", "03_expert_in_the_loop"), document.run("medhalu", "02_detection")
        self.items, self.labels, self.judged = seminar.finished(self._recorded())
        self.of = self.items.set_index("item")
        self.marks = detection.marked(self.items, self.labels)
        rng = self.run.rng("seminar")
        drawn = [i for _, part in self.items.groupby("type", sort=False) for i in rng.choice(part["item"], EACH, replace=False)]
        self.twelve = [str(i) for i in rng.permutation(drawn)]
        self.model = self.run.models[0]

    async def _recorded(self):
        import pandas as pd

        p = self.run.settings
        items = await mh.benchmark(self.run, p["benchmark"], p["size"], p["generator"], p["generated_tokens"])
        labels = detection.annotations(self.run, items)
        parts = [await detection.detect(self.plain, items, p["max_tokens"], self.plain.settings["repeats"])]
        parts += [await detection.detect(self.run, items, p["max_tokens"], p["repeats"], texts, name)
                  for name, texts in detection.notes(items, labels).items()]
        return items, labels, pd.concat(parts, ignore_index=True)

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
            said, sure, span = str(entry[0]).strip().lower(), entry[1], " ".join(str(entry[2]).split())
            if said not in ("yes", "no"):
                raise Wrong(f'{item}: the verdict is "yes" (it holds a hallucination) or "no", not {said!r}.')
            if isinstance(sure, bool) or not isinstance(sure, (int, float)) or not 50 <= sure <= 100:
                raise Wrong(f"{item}: sureness is a number from 50 (a guess) to 100 (certain), in percent; who is surer of the "
                            "opposite gives the other verdict.")
            if said == "yes" and span not in " ".join(self.of.at[item, "answer"].split()):
                raise Wrong(f"{item}: the span {span!r} isn't in the answer. Copy the words at fault from there, letter by "
                            "letter.")
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
        rows = self.of.loc[self.twelve].assign(you=made["yes"].map({1.0: "yes", 0.0: "no"}),
                                               label=lambda f: f["hallucinated"].map({True: "hallucinated", False: "right"}))
        rows = rows.assign(type=rows["type"].map(mh.TYPES)).reset_index()
        return seminar.shown(rows[["item", "you", "label", "type", "reason"]])

    @needs("3.1")
    def sureness(self, reading):
        """How sure a reader was where right and where wrong: verdicts and mean sureness."""
        made = self.read(reading).merge(self.items[["item", "hallucinated"]], on="item")
        ok = made["yes"] == made["hallucinated"]
        for name, part in (("right verdicts", made[ok]), ("wrong verdicts", made[~ok])):
            print(f"{name}: {len(part)}" + (f", {part['sure'].mean():.0f}% sure on average" if len(part) else ""))

    def first(self):
        """The tiny model's detections, first of its repeats: counts by name."""
        return dict(zip(COUNTS, map(int, self.confusion(self.judged_by(self.model, self.once())))))

    def once(self, note=""):
        """The tiny model's detections, first repeat only, with a note of `detection.NOTES`."""
        return self.judged[(self.judged["evaluator"] == self.model + note) & (self.judged["repeat"] == 0)]

    def compared(self, reading=...):
        """Macro-F1 of the reading, the tiny model, the readers, detectors that don't read, and the printed evaluators."""
        import pandas as pd

        parts = [self.judged_by(f"{self.model}, this run", self.judged[self.judged["evaluator"] == self.model])]
        parts += [self.judged_by(f"{group} readers, this run", part) for group, part in self.labels.groupby("group")]
        if not open_in(reading):
            parts = [self.judged_by("your reading, twelve answers", self.read(reading)), *parts]
        made = pd.concat([scores.scores(p, ["evaluator", "source"], self.run) for p in parts]).query("metric == 'macro F1'")
        made = made.rename(columns={"evaluator": "row"})
        blind = scores.blind(int(self.items["hallucinated"].sum()), len(self.items), "this run", "run")
        blind = blind[blind["column"] == "macro F1"].assign(row=lambda f: f["row"].str.removeprefix("this run: "))
        paper = [(f"{n}, mean of three subsets", "published", printed.averages(self.run, "Table 6", n)["mean of the subsets"])
                 for n in printed.PEOPLE + printed.LLMS]
        rows = pd.concat([made, blind, pd.DataFrame(paper, columns=["row", "source", "value"])]).reset_index(drop=True)
        figure, axes = plots.figure((7.6, 4.2))
        plots.dots(axes[0][0], rows, title="Who sees it?", xlabel="macro F1 (the paper's answers are others)", limits=(0, 1.04))
        plots.legend_below(figure)
        return seminar.Drawn(figure)

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
        print(f"{ROW[0]} on {ROW[1]}: accuracy {made['Acc']:.2f}, macro recall {made['ma-R']:.2f}; {p} hallucinated answers, "
              f"{n} right ones")

    def behind(self):
        """Rates behind the rows of Tables 6 and 10 that one set of counts explains."""
        import pandas as pd

        rows = pd.concat([printed.implied(self.run, t).assign(table=t) for t in ("Table 6", "Table 10")])
        names = {"row": "evaluator", "yes": "share of yes"}
        shown = rows[rows["fits"] > 0][["table", "dataset", "row", *RATES, "yes"]].rename(columns=names)
        print(f"{len(shown)} of {len(rows)} rows; for the others no counts over Table 4's answers print like this")
        return seminar.shown(shown)

    def notes(self):
        """The tiny model's yes with each note, to hallucinated and to right answers, and its macro-F1 with intervals."""
        import pandas as pd

        rows = []
        for name, what in detection.NOTES.items():
            shares = self.judged_by(self.model, self.once(name))
            tp, fp, fn, tn = self.confusion(shares)
            f1 = scores.scores(shares, ["evaluator", "source"], self.run).query("metric == 'macro F1'").iloc[0]
            interval = f"{f1['value']:.2f} ({f1['low']:.2f} to {f1['high']:.2f})"
            rows.append((what, f"{tp:.0f} of {tp + fn:.0f}", f"{fp:.0f} of {fp + tn:.0f}", interval))
        columns = ["the prompt has", "yes to hallucinated answers", "yes to right answers", "macro F1 (95%)"]
        return seminar.shown(pd.DataFrame(rows, columns=columns))

    @property
    def spanned(self):
        """The first fact-conflict of the twelve, for task 3.9."""
        return next(i for i in self.twelve if self.of.at[i, "type"] == "fact")

    def span_words(self):
        """The answer of task 3.9, and how many of its words are labelled."""
        words = scores.token_scores(self.of.at[self.spanned, "answer"], self.marks[self.spanned], [self.of.at[self.spanned,
                                                                      "answer"]])
        size = len(scores.tokens(self.of.at[self.spanned, "answer"], [(0, 10**6)]))
        print(f"{self.spanned}: {self.of.at[self.spanned, 'answer']}\n\nlabelled: {' / '.join(self.marks[self.spanned])}\n\n"
              f"{size} words, {words['token precision'] * size:.0f} of them labelled")

    def spans(self, reading=...):
        """Mean token F1 over hallucinated answers of the whole answer marked, the tiny model, the readers, and your reading."""
        import pandas as pd

        parts = [scores.whole(self.items), self.judged[self.judged["evaluator"] == self.model], self.labels]
        if not open_in(reading):
            made = self.read(reading)
            spans = made["span"].map(lambda s: [s] if s != "-" else [])
            parts = [made.assign(evaluator="your reading", repeat=0, source="run", status="graded", spans=spans), *parts]
        rows = scores.span_rows(pd.concat(parts, ignore_index=True), self.items, self.marks)
        words = ["token precision", "token recall", "token F1"]
        found = rows.groupby(["evaluator", "item"], sort=False)[words].mean().groupby("evaluator", sort=False)
        return seminar.shown(found[words].mean().assign(n=found.size()).reset_index())

    @needs("3.1", "3.2")
    def hand_in(self, reading, types, name=..., folder=CLASS):
        """Write a reading as <name>.csv in the format of data/sample/medhalu/annotations.csv; says where."""
        import pandas as pd

        if open_in(name):
            return Feedback(None, "Give yourself a short name (letters and digits; not your real one), then run this cell again.")
        made = self.read(reading).set_index("item")
        rows = [(i, name, "class", "yes" if r.yes else "no", types[i] if r.yes else "", r.span if r.yes else "", "") for i,
                r in made.iterrows()]
        path = Path(folder) / f"{''.join(c for c in str(name) if c.isalnum()) or 'reader'}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows, columns=COLUMNS).to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
        return f"written: {paths.rel(path) if Path(folder) == CLASS else path.name}, {len(rows)} answers"

    def example_class(self):
        """A folder with the illustrative readers' files, as three students would hand them in."""
        folder = Path(tempfile.mkdtemp())
        mine = self.labels[self.labels["item"].isin(self.twelve)]
        for name, part in mine.groupby("repeat"):
            rows = part.assign(rater=name, hallucinated=part["yes"].map({1.0: "yes", 0.0: "no"}),
                               spans=part["spans"].str.join("\n"))
            rows[COLUMNS].to_csv(folder / f"{name}.csv", index=False, encoding="utf-8", lineterminator="\n")
        return folder

    def handed_in(self, folder=CLASS):
        """All labels of the files in a folder, as `detection.annotations` has them; prints what can't be used and why."""
        import pandas as pd

        answers, parts = self.items.set_index("item")["answer"], []
        for path in sorted(Path(folder).glob("*.csv")):
            try:
                rows = pd.read_csv(path, dtype=str, keep_default_na=False)[COLUMNS].drop_duplicates("item")
            except (KeyError, ValueError, UnicodeDecodeError) as e:
                print(f"{path.name} is left out: it can't be read as a table with {', '.join(COLUMNS)} ({str(e)[:80]})")
                continue
            rows["spans"] = rows["spans"].map(lambda s: [x.strip() for x in s.splitlines() if x.strip()])
            if why := next((f"item {r.item}: {w}" for r in rows.itertuples() if (w := detection.fault(r, answers.get(r.item),
                                                                      self.run, set()))), ""):
                print(f"{path.name} is left out: {why}")
                continue
            parts.append(rows.assign(repeat=path.stem, yes=(rows["hallucinated"] == "yes").astype(float)))
        return pd.concat(parts, ignore_index=True) if parts else None

    def together(self, folder=CLASS):
        """The class: macro-F1 of the majority and of single readers, kappa of pairs, Krippendorff's alpha; a sentence if "
          "there are no files."""
        import pandas as pd

        given = self.handed_in(folder)
        if given is None:
            return f"No files yet. Put the students' CSV files into {paths.rel(folder)} and run this cell again."
        votes = given.groupby("item")["yes"].mean().reset_index()
        clear = votes[votes["yes"] != 0.5].assign(yes=lambda f: f["yes"].round())
        single = [stats.macro(self.confusion(self.judged_by(n, part)))[3] for n, part in given.groupby("repeat")]
        rows = [("readers", given["repeat"].nunique()), ("answers judged", len(votes)), ("answers with a tie, not scored",
                                                                      len(votes) - len(clear)),
                ("macro F1, mean of readers", sum(single) / len(single))]
        if len(clear):
            of_all = scores.scores(self.judged_by("class", clear), ["evaluator", "source"], self.run)
            rows += [(f"{r.metric}, majority", r.value, r.low, r.high) for r in of_all.itertuples() if r.metric in ("accuracy",
                                                                      "macro F1")]
        rows += [(r["column"], r["value"], r.get("low"), r.get("high")) for r in scores.agreement(given, self.items, self.run)]
        return seminar.shown(pd.DataFrame(rows, columns=["what", "value", "low", "high"]))

    def limits(self):
        """What this run's numbers rest on: answers, the tiny model's kappa with the labels and agreement with itself, with "
          "intervals."""
        import pandas as pd

        mine = self.judged[self.judged["evaluator"] == self.model].pivot(index="item", columns="repeat", values="yes")
        truth = self.of["hallucinated"].astype(float)[mine.index]
        k = stats.kappa(mine[0].tolist(), truth.tolist(), [0.0, 1.0], rng=self.run.rng("kappa"))
        itself = stats.kappa(mine[0].tolist(), mine[1].tolist(), [0.0, 1.0], rng=self.run.rng("itself"))
        f1 = scores.scores(self.judged_by(self.model, mine[0].rename("yes").reset_index()), ["evaluator", "source"], self.run)
        found = [(f"kappa of {self.model} with the labels", *k), (f"kappa of {self.model}'s first and second answer", *itself)]
        found += [(f"{r.metric} of {self.model}, one repeat", r.value, r.low, r.high,
                   r.n) for r in f1.itertuples() if r.metric in ("accuracy", "macro F1")]
        least = stats.wilson(len(self.twelve), len(self.twelve))
        found.append(("accuracy of a reader who gets all twelve right", *least))
        return seminar.shown(pd.DataFrame(found, columns=["what", "value", "low", "high", "answers"]))
