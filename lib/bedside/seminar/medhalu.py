"""Sheet 3, Can you see it?: answers to read, replayed detections, printed tables."""

import re

import pandas as pd

from bedside import checking, stats
from bedside.asking.models import waited
from bedside.papers.medhalu import detection, scores, study
from bedside.papers.medhalu import printed as paper
from bedside.papers.medhalu import spans as marking
from bedside.papers.medhalu.labels import COLUMNS, annotations
from bedside.read import paths
from bedside.read.checks import normal
from bedside.write.prose import prose

from . import sheets
from .answers import Wrong, choice, number

EACH = 3  # answers of each type that are read
# the row of Tables 6 and 10 to work out by hand: in both, some counts give the printed scores
ROW = ("GPT-4", "HealthQA")
COUNTS = ["true positives", "false positives", "false negatives", "true negatives"]
VERDICTS = {"yes": ("y", "hallucinated"), "no": ("n", "not hallucinated")}
SLIPS = paths.DATA / "sample" / "check" / "six_lines.csv"


class Sheet(sheets.Sheet):
    """The sample's answers, replayed detections, illustrative readings and the printed tables."""

    number, paper = "3", "medhalu"

    def __init__(self):
        run = self.run = sheets.run("medhalu", "03_expert_in_the_loop")
        self.items = waited(study.benchmark(run, "built", 0, ""))
        self.of = self.items.set_index("item")
        parts = [sheets.graded("medhalu", s, judge=study.AGAINST) for s in ("detection", "notes")]
        read = pd.concat(parts, ignore_index=True)
        self.judged = read.loc[read["by"] == "model", [*COLUMNS, "truncated"]]
        self.marks = detection.right_spans(self.items, annotations(run, self.items))
        rng, some = self.run.rng("seminar"), []
        for _, part in self.items.groupby("type", sort=False):
            some += list(rng.choice(part["item"], EACH, replace=False))
        self.twelve = [str(i) for i in rng.permutation(some)]
        self.model = self.run.models[0]

    def counts(self):
        labels = self.of.loc[self.twelve]
        hallucinated = int(self.items["hallucinated"].sum())
        p, n = paper.classes(self.run)[ROW[1]]
        rows = {t: paper.by_row(self.run, f"Table {t}")[ROW] for t in (6, 10)}
        rates = {t: scores.rates(r["Acc"], r["ma-R"], p / (p + n)) for t, r in rows.items()}
        marked, words = self._marked()
        return {
            "types": labels["type"].to_dict(),
            "hallucinated": hallucinated,
            "rest": len(self.items) - hallucinated,
            **dict(zip(("tp", "fp", "fn", "tn"), self.first().values())),
            "share": p / (p + n),
            "before": rates[6],
            "after": rates[10],
            "printed": dict(rows[6]),
            "marked": marked,
            "words": words,
            "read": self.read,
            "typed": self.typed,
            "tally": self.tally,
            "found_of": lambda c: c[COUNTS[0]] / max(1, c[COUNTS[0]] + c[COUNTS[2]]),
            "best": paper.wide(self.run, "Table 6", "Acc")["HealthQA"].loc[paper.LLMS].max(),
            "answers": len(self.items),
            "model": self.model,
            "mine": self._own(),
        }

    # ---- a reading

    def answers(self):
        """The twelve questions and answers, without labels."""
        return prose(self.of.loc[self.twelve, ["question", "answer"]].reset_index())

    def read(self, reading):
        """A reading {item: (verdict, sureness, span)}, read; Wrong if it is none."""
        if not isinstance(reading, dict) or set(reading) != set(self.twelve):
            raise Wrong(f"the reading needs exactly these items: {', '.join(self.twelve)}.")
        return {item: self._entry(item, entry) for item, entry in reading.items()}

    def _entry(self, item, entry):
        if not isinstance(entry, (tuple, list)) or len(entry) != 3:
            raise Wrong(f'{item}: write (verdict, sureness, span), such as ("no", 70, "-").')
        said, sure, span = choice(entry[0], VERDICTS), number(entry[1]), str(entry[2])
        if said is None:
            raise Wrong(
                f'{item}: the verdict is "yes" (a hallucination) or "no", not {entry[0]!r}.'
            )
        if sure is None or not 50 <= sure <= 100:
            raise Wrong(
                f"{item}: sureness is a number from 50 (a guess) to 100 (certain), in percent."
            )
        words = re.findall(r"\w+", span)
        text = " ".join(self.of.at[item, "answer"].split())
        if said == "yes" and not (len(words) > 1 and re.search(r"\W+".join(words), text, re.I)):
            raise Wrong(f"{item}: copy the clause at fault from the answer; {span!r} isn't there.")
        if said == "no" and normal(span) not in ("", "no", "none", "nothing", "n a"):
            raise Wrong(f'{item}: a "no" has no span; write "-".')
        return said, sure, span

    def _first(self):
        """The reading of task 3.1; Wrong if there is none yet."""
        if self.checked.get("3.1", {}).get("state") != "collected":
            raise Wrong("this needs your reading: check task 3.1 first.")
        return self.read(self.checked["3.1"]["answer"])

    def typed(self, types):
        """Of the items found: types that are off. Items where types and reading clash."""
        reading = self._first()
        found = {
            i: t for i, t in self.names["types"].items() if reading[i][0] == "yes" and t != "none"
        }
        apart = [i for i in self.twelve if (types[i] == "none") == (reading[i][0] == "yes")]
        off = [i for i, t in found.items() if types[i] != t]
        return {"n": len(found), "apart": apart, "off": off, "first": found[off[0]] if off else ""}

    def tally(self):
        """The four counts of the reading of 3.1, and its accuracy with its interval."""
        said = {i: entry[0] == "yes" for i, entry in self._first().items()}
        true = {i: t != "none" for i, t in self.names["types"].items()}
        pairs = [(said[i], true[i]) for i in self.twelve]
        four = [
            pairs.count(p) for p in ((True, True), (True, False), (False, True), (False, False))
        ]
        i = stats.share([a == b for a, b in pairs])
        return dict(zip(COUNTS, four)) | {"accuracy": i.value, "low": i.low, "high": i.high}

    def beside(self, types=None):
        """The reading beside the labels, item by item."""
        said, labelled = self._first(), self.of.loc[self.twelve]
        rows = labelled.assign(
            you=[said[i][0] for i in self.twelve],
            label=labelled["hallucinated"].map({True: "hallucinated", False: "right"}),
        )
        return prose(rows.reset_index()[["item", "you", "label", "type", "reason"]])

    def sureness(self, given):
        """How sure a reader was where right and where wrong: counts and mean sureness."""
        true = self.names["types"]
        ok = {i: (s == "yes") == (true[i] != "none") for i, (s, *_) in self._first().items()}
        for name, right in (("right verdicts", True), ("wrong verdicts", False)):
            sure = [e[1] for i, e in self._first().items() if ok[i] == right]
            print(
                f"{name}: {len(sure)}"
                + (f", {sum(sure) / len(sure):.0f}% sure on average" if sure else "")
            )

    # ---- scores

    def first(self):
        """The embedded model's detections with a note on the topic: counts by name."""
        return dict(zip(COUNTS, map(int, self._counted(detection.TOPIC).sum(0))))

    def _shares(self, note):
        """The embedded model's first detections with a note of `detection.NOTES`."""
        mine = self.judged["evaluator"] == self.model + note
        once = self.judged[mine & (self.judged["repeat"] == 0)].assign(
            evaluator=self.model, source="run"
        )
        return scores.averaged(once, self.items).dropna(subset="yes")

    def _counted(self, note):
        return scores.counts(self._shares(note))

    def _own(self):
        """Macro-F1 of the embedded model with its interval, and its kappa with the labels."""
        made = scores.scores(self._shares("")).set_index("column").loc["macro F1"]
        once = self.judged[(self.judged["evaluator"] == self.model) & (self.judged["repeat"] == 0)]
        both = once.dropna(subset="yes").set_index("item")["yes"].astype(float)
        k = stats.kappa(
            both.tolist(), self.of["hallucinated"].astype(float)[both.index].tolist(), [0.0, 1.0]
        )
        noted = scores.scores(self._shares(detection.TOPIC)).set_index("column").loc["macro F1"]
        return {"f1": dict(made), "noted": dict(noted), "k": k._asdict()}

    def notes(self, given):
        """The embedded model's yes verdicts with each note, and its macro-F1 with intervals."""
        rows = []
        for name, what in detection.NOTES.items():
            tp, fp, fn, tn = self._counted(name).sum(0)
            f1 = scores.scores(self._shares(name)).set_index("column").loc["macro F1"]
            yes = (f"{x:.0f} of {x + y:.0f}" for x, y in ((tp, fn), (fp, tn)))
            rows.append((what, *yes, f"{f1['value']:.2f} ({f1['low']:.2f} to {f1['high']:.2f})"))
        return self.table("3.8", rows)

    def larger(self, item):
        """What the 1.5B model said of an answer, asked whether it holds a hallucination."""
        frame = sheets.graded("medhalu", "detection", sheets.LARGER, study.AGAINST)
        mine = frame[(frame["item"] == item) & (frame["by"] == "model")].head(1)
        row = self.of.loc[item]
        return self.table("larger", [(row["question"], row["answer"], mine["reply"].iloc[0])])

    # ---- spans and slips

    @property
    def spanned(self):
        """The first fact-conflict of the twelve, for task 3.9."""
        return next(i for i in self.twelve if self.of.at[i, "type"] == "fact")

    def _marked(self):
        text, marks = self.of.at[self.spanned, "answer"], self.marks[self.spanned]
        size = len(marking.tokens(text, [(0, len(text))]))
        return round(marking.token_scores(text, marks, [text])["token precision"] * size), size

    def span_words(self):
        """The answer of task 3.9, and how many of its words are labelled."""
        text, marks = self.of.at[self.spanned, "answer"], self.marks[self.spanned]
        marked, size = self._marked()
        return self.table("3.9", [(self.spanned, text, "\n".join(marks), size, marked)])

    def six_lines(self):
        """Six printed numbers, made up, with two slips in them."""
        rows = pd.read_csv(SLIPS, dtype=str, keep_default_na=False).assign(letter=list("abcdef"))
        return prose(rows[["letter", "table", "row", "column", "value", "n"]])

    def slips(self):
        """What `bedside.check` finds in the six numbers."""
        return prose(checking.check(SLIPS)[["place", "kind", "verdict", "arithmetic"]])
