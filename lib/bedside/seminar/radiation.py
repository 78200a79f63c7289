"""Sheet 2, The list that changed: records in pairs, the illustrative reference, and lists."""

import functools

import pandas as pd

from bedside import stats
from bedside.asking.models import waited
from bedside.papers.radiation import data as rad
from bedside.papers.radiation import matching, printed, scores
from bedside.read import expressions
from bedside.read.checks import normal
from bedside.write import plots
from bedside.write.prose import prose

from . import sheets

PATIENT = "rp-06"
# this project's own matcher knows concepts, too, and errs too seldom to learn from
MATCHER = matching.SPELLED
# 2.3: how many pairs, by label and by whether the matcher is right
PAIRS = {("same", True): 3, ("same", False): 2, ("different", True): 2, ("different", False): 3}
# 2.4, 2.6: wordings from labelled pairs
LIST = ("pm-012", "pm-106", "pm-018", "pm-013", "pm-027", "pm-007", "pm-029", "pm-030", "pm-094")
BASE = ("pm-050", "pm-027", "pm-005", "pm-062", "pm-051", "pm-106", "pm-102")
SPECIFIED = ("pm-071", "pm-027", "pm-070", "pm-062", "pm-085", "pm-009")
MODEL = "GPT-5.3"  # the model of Table 1 that padded lists are compared with


class Sheet(sheets.Sheet):
    """The radiation study, sections 3.2 to 3.6, 4.3, 4.4, 4.6 and 4.7."""

    number, paper = "2", "radiation"

    def __init__(self):
        run = self.run = sheets.run("radiation", "04_documentation_sensitivity")
        self.patients, self.terms = rad.profiles(run), rad.vocabulary(run)
        reference = rad.reference(run)
        self.patient = self.patients.set_index("item").loc[PATIENT]
        self.site = reference[reference["site"] == self.patient["site"]].set_index("effect")
        pairs = run.load("radiation_pairs").query("batch == 'first'")
        verdicts = waited(matching.match_labelled(run, pairs, MATCHER))
        self.pairs = pairs.assign(judged=verdicts["value"].to_numpy())
        self.matcher = matching.matcher(run, MATCHER)
        known = self.pairs.set_index(
            "pair"
        )  # a wording means its pair, if that is labelled the same
        ten = known.loc[list(LIST)].itertuples()
        self.ten = {r.predicted: r.reference if r.label == "same" else "" for r in ten}
        self.ten[run.load("radiation_elsewhere")["term"].iloc[0].capitalize()] = ""
        both = [known.loc[list(ids)].set_index("predicted") for ids in (BASE, SPECIFIED)]
        self.two = [wordings["reference"].to_dict() for wordings in both]
        self.asked = self._asked().assign(letter=list("abcdefghij"))

    def _asked(self):
        """The ten pairs of task 2.3, as many of each kind as PAIRS says."""
        rng, asked = self.run.rng("seminar", "pairs"), []
        label, judged = self.pairs["label"], self.pairs["judged"]
        for (kind, fits), size in PAIRS.items():
            part = self.pairs.index[(label == kind) & ((judged == kind) == fits)]
            asked += sorted(rng.choice(part, size, replace=False))
        return self.pairs.loc[sorted(asked)].reset_index(drop=True)

    def counts(self):
        base, specified = ({normal(w) for w in words} for words in self.two)
        first, second = (set(words.values()) for words in self.two)
        meant = [t for t in self.ten.values() if t]
        mine = [t for t in meant if t in self.site.index]
        records = [self.patient[name] for name in rad.PROFILES]
        added = [new for _, new in rad.difference(*records) if new.strip()]
        tables = {f"T{n}": self._printed(f"Table {n}") for n in (1, 2, 6, 7)}
        asked, different = self.asked.set_index("letter"), self.pairs["label"] == "different"
        changes = self.changes()
        right = {t: (t in self.site.index) == (how == "gained") for t, how in changes.items()}
        harmful = [n for n, e in enumerate(self.words["entries"], 1) if "harm" in e]
        return tables | {
            "added": normal(added[0]),
            "places": len(added),
            "base": normal(records[0]),
            "of_site": len(self.site),
            "terms": len(self.terms),
            "length": len(self.ten),
            "hits": len(set(mine)),
            "wordings": len(mine),
            "anywhere": len(set(meant)),
            "both_errors": len(meant),
            "labels": asked["label"].to_dict(),
            "matcher": asked["judged"].to_dict(),
            "common": len(base & specified),
            "either": len(base | specified),
            "sizes": [len(base), len(specified)],
            "by_meaning": len(first & second),
            "changes": {t: "right" if r else "wrong" for t, r in right.items()},
            "harmful": harmful,
            "named": self.named,
            "rank": self.rank,
            "k": self.kappa()._asdict(),
            "pairs": len(self.pairs),
            "patients": len(self.patients),
            "different": int(different.sum()),
            "written": len(self.words["entries"]),
            "inside": lambda part, text: (
                bool(normal(part)) and f" {normal(part)} " in f" {normal(text)} "
            ),
            "agree": lambda one, other: sum(one[n] == other[n] for n in other),
            "all_are": lambda mine, value: set(mine.values()) == {value},
            "kinds_of": lambda letters: ", ".join(f"{n} ({asked.at[n, 'kind']})" for n in letters),
            "count_of": lambda mine, value: list(mine.values()).count(value),
            "of_kind": lambda effects, how: [e for e in effects if changes[e] == how],
            "above": lambda one, other: sum(one[n] > other[n] for n in one),
            "is_measure": lambda values, formula: values == self.rank(formula),
            "taken": int((different & (self.pairs["judged"] == "same")).sum()),
        }

    def _printed(self, table):
        """A printed table as {column: {model: number}}, for formulas."""
        return {c: v.to_dict() for c, v in self.printed(table).items()}

    # ---- records, effects, wordings

    def records(self):
        """Both records of the patient, printed one after the other."""
        for name in rad.PROFILES:
            print(f"{name.upper()} RECORD", sheets.wrapped(self.patient[name]), sep="\n")

    def effects(self, *_):
        """The illustrative reference of the patient's site: effect, onset, frequency."""
        frame = self.site.reset_index()[["effect", "onset", "frequency"]]
        return prose(frame.sort_values(["onset", "effect"], ascending=[False, True]))

    def understood(self, entries):
        """What the word matcher takes entries for, each by itself: {entry: effect, or ""}."""
        found = {e: matching.one_to_one(self.matcher.pairs([e]))[0] for e in entries}
        return {e: self.terms[i] if i >= 0 else "" for e, i in found.items()}

    def named(self, entries):
        """How many effects of the site a list names by the matcher, by onset, and which twice."""
        taken = [t for t in self.understood(entries).values() if t]
        onset = self.site["onset"][self.site.index.isin(taken)].tolist()
        twice = sorted({t for t in taken if taken.count(t) > 1})
        late, early = (onset.count(o) for o in ("long-term", "short-term"))
        return {"n": len(onset), "late": late, "early": early, "twice": twice}

    def own_list(self, entries):
        """A list as the matcher reads it: each entry's effect, onset and frequency."""
        onset, frequency = self.site["onset"], self.site["frequency"]
        taken = self.understood(entries)
        elsewhere = {t: "not of this site" for t in taken.values() if t}
        often = elsewhere | frequency.to_dict()
        return self.table(
            "2.2", [(e, t, onset.get(t, ""), often.get(t, "")) for e, t in taken.items()]
        )

    def to_match(self):
        """The ten pairs of task 2.3."""
        return prose(self.asked[["letter", "predicted", "reference"]])

    def judged(self, given):
        """The ten pairs with labels, reasons and the matcher's verdicts."""
        frame = self.asked.assign(yours=[given[k] for k in self.asked["letter"]])
        frame = frame.rename(columns={"judged": "matcher"})
        pair = ["letter", "predicted", "reference"]
        return prose(frame[[*pair, "yours", "label", "matcher", "why"]])

    def kappa(self):
        """Kappa of the word matcher on the labelled pairs, an Interval."""
        a, b = self.pairs["label"].tolist(), self.pairs["judged"].tolist()
        return stats.kappa(a, b, matching.LABELS, units=self.pairs["reference"].to_numpy())

    # ---- lists and their scores

    def list_of_ten(self):
        """The list of task 2.4."""
        print(*(f"{n:2}. {e}" for n, e in enumerate(self.ten, 1)), sep="\n")

    def plausible(self):
        """The written answer, numbered."""
        rows = pd.DataFrame(self.words["entries"])[["name", "says"]]
        return prose(rows.assign(number=range(1, len(rows) + 1))[["number", "name", "says"]])

    def harms(self, given):
        """What is wrong with the written answer's sentences, and its scores by the matcher."""
        rows = [
            (n, e["says"], e["harm"], e["sources"])
            for n, e in enumerate(self.words["entries"], 1)
            if "harm" in e
        ]
        taken = self.understood([e["name"] for e in self.words["entries"]]).values()
        scored = scores.rates(sum(t in self.site.index for t in taken), len(taken), len(self.site))
        print(*(f"{name.replace('f1', 'F1')} {v:.2f}" for name, v in scored.items()), sep=", ")
        return self.table("2.10", rows)

    def larger(self):
        """The lists that the 1.5B model gave for this patient, without and with a size."""
        frame = sheets.graded("radiation", "free_form", sheets.LARGER, "exact").set_index(
            "configuration"
        )
        mine = frame[frame["item"] == PATIENT]["reply"]
        return self.table("larger", [[mine[f"free-form{size}, base"] for size in ("", ", 20-30")]])

    def printed(self, table):
        """A printed table of the paper: models by columns."""
        return printed.wide(self.run, table)

    def growing(self, given):
        """Scores of the list of ten as all other terms are added to it, one by one."""
        means = [*self.ten.values(), *(t for t in self.terms if t not in self.ten.values())]
        rows = []
        for k in range(len(self.ten), len(means) + 1):
            hits = len({m for m in means[:k] if m in self.site.index})
            rows.append({"items": k, **scores.rates(hits, k, len(self.site))})
        figure, ((ax,),) = plots.figure((6, 3.2))
        pd.DataFrame(rows).set_index("items").plot(ax=ax)
        along = "entries in the list: ten, then all other terms of the vocabulary"
        plots.titled(ax, "Scores of a list that gets longer and longer", along)
        return plots.picture(figure)

    # ---- two lists, and measures

    def two_lists(self):
        """The two written lists side by side."""
        size = max(map(len, self.two))
        filled = [[*words, *[""] * (size - len(words))] for words in self.two]
        return prose(pd.DataFrame(dict(zip(rad.PROFILES, filled))))

    def changed(self):
        """What changes by meaning between the two written lists, as students see it."""
        return self.table("2.7", self.changes().items())

    def changes(self):
        """What changes by meaning between the two written lists: {effect: gained or lost}."""
        base, then = (set(words.values()) for words in self.two)
        return {t: "lost" if t in base else "gained" for t in self.terms if t in base ^ then}

    @functools.cached_property
    def cases(self):
        """Lists that a measure has to rank: {name: its hits, wrong, missed, rejected}."""
        n, rest = len(self.site), len(self.terms) - len(self.site)
        model = self.printed("Table 1").loc[MODEL]
        hits = round(model["Recall"] * n)
        wrong = round(hits / model["Precision"]) - hits
        return {
            "careful": (hits, wrong, n - hits, rest - wrong),
            "everything": (n, rest, 0, 0),
            "one sure item": (1, 0, n - 1, rest),
            "empty": (0, 0, n, rest),
        }

    def lists(self):
        """The four lists of task 2.9, by hits, wrong, missed and rejected."""
        return self.table("2.9 lists", [(name, *counts) for name, counts in self.cases.items()])

    def rank(self, formula):
        """A measure's value of each list, and of the careful one with one hit more or error fewer.

        formula: of hits, wrong, missed and rejected, as text; it is parsed, never run.
        """
        formula = formula.rpartition(":")[2]  # of a lambda, as students wrote it once
        hits, wrong, missed, rejected = self.cases["careful"]
        more = {
            "hit": (hits + 1, wrong, missed - 1, rejected),
            "fewer": (hits, wrong - 1, missed, rejected + 1),
        }
        keys = "hits", "wrong", "missed", "rejected"
        return {
            name.split()[0]: float(expressions.evaluated(formula, dict(zip(keys, case))))
            for name, case in (self.cases | more).items()
        }

    def ranking(self, formula):
        """Each list under F1 and under the student's measure."""
        mine, f1 = (self.rank(f) for f in (formula, "2 * hits / (2 * hits + wrong + missed)"))
        rows = [(n, *c, f1[n.split()[0]], mine[n.split()[0]]) for n, c in self.cases.items()]
        return self.table("2.9", rows)
