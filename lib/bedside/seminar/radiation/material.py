"""What sheet 2 shows: records in pairs, the illustrative reference, and written lists."""

import functools
from pathlib import Path

import pandas as pd

from bedside import seminar, stats
from bedside.papers.radiation import data as rad
from bedside.papers.radiation import matching, printed, scores
from bedside.read import paths
from bedside.read.checks import normal
from bedside.seminar import needs, shown
from bedside.write import plots

PATIENT = "rp-06"
MATCHER = (
    matching.SPELLED
)  # this project's own knows concepts, too, and errs too seldom to learn from
# 2.3: how many pairs, by label and by whether the matcher is right
PAIRS = {("same", True): 3, ("same", False): 2, ("different", True): 2, ("different", False): 3}
# 2.4, 2.6: wordings from labelled pairs
LIST = ("pm-012", "pm-106", "pm-018", "pm-013", "pm-027", "pm-007", "pm-029", "pm-030", "pm-094")
BASE = ("pm-050", "pm-027", "pm-005", "pm-062", "pm-051", "pm-106", "pm-102")
SPECIFIED = ("pm-071", "pm-027", "pm-070", "pm-062", "pm-085", "pm-009")
SIZED = "Gemma-2-9B", 25  # 2.5: a model of Tables 1 and 2, and the length of its list
MODEL = "GPT-5.3"  # the model of Table 1 that padded lists are compared with
PRINTED = ["Precision", "Recall", "F1"]


class Material(seminar.Sheet):
    """Data and displays of sheet 2 (radiation, sections 3.2 to 3.6, 4.3, 4.4, 4.6 and 4.7)."""

    def __init__(self):
        run = self.run = seminar.run("radiation", "04_documentation_sensitivity")
        self.patients, self.terms = rad.profiles(run), rad.vocabulary(run)
        self.reference = rad.reference(run)
        self.patient = self.patients.set_index("item").loc[PATIENT]
        mine = self.reference["site"] == self.patient["site"]
        self.site = self.reference[mine].set_index("effect")
        pairs = run.load("radiation_pairs").query("batch == 'first'")
        verdicts = seminar.finished(matching.match_labelled(run, pairs, MATCHER))
        self.pairs = pairs.assign(judged=verdicts["value"].to_numpy())
        self.matcher = matching.matcher(run, MATCHER)
        elsewhere = run.load("radiation_elsewhere")
        self.parts = {
            normal(w): (r.term, r.part) for r in elsewhere.itertuples() for w in [r.term, *r.words]
        }
        # what a wording means if its pair is labelled the same, else nothing
        known = self.pairs.set_index("pair")
        ten = known.loc[list(LIST)].itertuples()
        self.ten = {r.predicted: r.reference if r.label == "same" else "" for r in ten}
        self.ten[elsewhere["term"].iloc[0].capitalize()] = ""
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

    # ---- records, effects, wordings

    def records(self):
        """Both records of the patient, printed one after the other."""
        for name in rad.PROFILES:
            print(f"{name.upper()} RECORD", seminar.wrapped(self.patient[name]), sep="\n")

    def effects(self):
        """The illustrative reference of the patient's site: effect, onset, frequency."""
        frame = self.site.reset_index()[["effect", "onset", "frequency"]]
        return shown(frame.sort_values(["onset", "effect"], ascending=[False, True]))

    def understood(self, entries):
        """What the word matcher takes entries for, one to one.

        {entry: term of the vocabulary, or ""}.
        """
        found = matching.one_to_one(self.matcher.pairs(list(entries)))
        return {e: self.terms[i] if i >= 0 else "" for e, i in zip(entries, found)}

    @needs("2.2")
    def own_list(self, entries):
        """The student's list as the matcher reads it, and how much of the reference it names."""
        taken = self.understood(entries)
        onset, frequency = self.site["onset"], self.site["frequency"]
        named = onset[self.site.index.isin(taken.values())]
        counts = [f"{o}: {(named == o).sum()} of {(onset == o).sum()}" for o in rad.ONSETS]
        print(*counts, sep="; ")
        elsewhere = {t: "not of this site" for t in taken.values() if t}
        often = elsewhere | frequency.to_dict()
        rows = [(e, t, onset.get(t, ""), often.get(t, "")) for e, t in taken.items()]
        return self.headed("2.2", rows)

    def to_match(self):
        """The ten pairs of task 2.3."""
        return shown(self.asked[["letter", "predicted", "reference"]])

    @needs("2.3")
    def judged(self, given):
        """The ten pairs with labels, reasons and verdicts; how good the matcher is on all pairs."""
        truth, said = self.pairs["label"] == "same", self.pairs["judged"] == "same"
        sens, spec = stats.sens_spec(truth, said)
        k = self.kappa()
        print(self.said("judged", "2.3", k=k, sens=sens, spec=spec))
        frame = self.asked.assign(yours=[given[k] for k in self.asked["letter"]])
        frame = frame.rename(columns={"judged": "matcher"})
        pair = ["letter", "predicted", "reference"]
        return shown(frame[[*pair, "yours", "label", "matcher", "kind", "why"]])

    def kappa(self):
        """Kappa of the word matcher on the labelled pairs, an Interval."""
        a, b = self.pairs["label"].tolist(), self.pairs["judged"].tolist()
        terms = self.pairs["reference"].to_numpy()
        return stats.kappa(a, b, matching.LABELS, units=terms)

    # ---- lists and their scores

    def list_of_ten(self):
        """The list of task 2.4."""
        print(*(f"{n:2}. {e}" for n, e in enumerate(self.ten, 1)), sep="\n")

    @functools.cached_property
    def written(self):
        """The entries of the answer that was written for the sheet."""
        path = Path(__file__).with_name("answer.toml")
        return pd.DataFrame(paths.toml(path)["entries"]).fillna("")

    def plausible(self):
        """The written answer, numbered."""
        rows = self.written.assign(number=range(1, len(self.written) + 1))
        return shown(rows[["number", "name", "says"]])

    @needs("“which sentences”")
    def harmful(self, given):
        """The written answer's scores by the matcher, and what is wrong with its sentences."""
        taken = self.understood(self.written["name"])
        hits = sum(t in self.site.index for t in taken.values())
        scored = scores.rates(hits, len(taken), len(self.site)).items()
        rows = self.written.assign(number=range(1, len(self.written) + 1))
        rows = rows[rows["harm"] != ""]
        mine = {seminar.number(g) for g in given} & set(rows["number"])
        print(*(f"{name.replace('f1', 'F1')} {value:.2f}" for name, value in scored), sep=", ")
        print(f"You named {len(mine)} of the {len(rows)} sentences that can harm this patient.")
        return shown(rows[["number", "says", "harm", "sources"]])

    def printed(self, table):
        """A printed table of the paper: models by columns."""
        return printed.wide(self.run, table)

    @needs("2.4")
    def growing(self, given):
        """Scores of the list of ten as all other terms are added to it, one by one."""
        rest = [t for t in self.terms if t not in self.ten.values()]
        means = [*self.ten.values(), *rest]
        rows = []
        for k in range(len(self.ten), len(means) + 1):
            hits = len({m for m in means[:k] if m in self.site.index})
            for name, v in scores.rates(hits, k, len(self.site)).items():
                rows.append({"series": name, "items": k, "value": v})
        figure, ((ax,),) = plots.figure((6, 3.2))
        pd.DataFrame(rows).pivot(index="items", columns="series", values="value").plot(ax=ax)
        along = "entries in the list: ten, then all other terms of the vocabulary"
        plots.titled(ax, "Scores of a list that gets longer and longer", along)
        ax.legend()
        return plots.picture(figure)

    @needs("2.5")
    def sized(self, given):
        """What asking for 20 to 30 entries did, as printed."""
        free, step = self.printed("Table 1"), self.printed("Table 2")
        made = free.assign(**{f"{m}, 20 to 30": free[m] + step[m] for m in PRINTED})
        return shown(made.reset_index().rename(columns={"row": "model, as printed"}))

    # ---- two lists

    def two_lists(self):
        """The two written lists of task 2.6 side by side."""
        size = max(map(len, self.two))
        filled = [[*words, *[""] * (size - len(words))] for words in self.two]
        return shown(pd.DataFrame(dict(zip(rad.PROFILES, filled))))

    @needs("2.6")
    def overlaps(self, given):
        """Overlap as printed in Table 5."""
        table = self.printed("Table 5").reset_index()
        return shown(table.rename(columns={"row": "model, as printed"}))

    def changes(self):
        """What changes by meaning between the two written lists: {term: gained or lost}."""
        base, then = (set(words.values()) for words in self.two)
        return {t: "lost" if t in base else "gained" for t in self.terms if t in base ^ then}

    # ---- which errors count

    @needs("2.8")
    def recalls(self, given):
        """A figure of recall by onset and frequency, as printed (Tables 6 and 7)."""
        rows = pd.concat([self.run.published(t) for t in ("Table 6", "Table 7")])
        figure, ((ax,),) = plots.figure((7, 3))
        plots.heat(ax, rows, title="Recall as printed (Tables 6 and 7)")
        return plots.picture(figure)

    def cases(self):
        """Lists from the vocabulary that a measure has to rank.

        {name: (hits, wrong, missed, rejected)}.
        """
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

    def inputs(self):
        """What a measure is called with: the lists, and the careful one made a little better."""
        hits, wrong, missed, rejected = self.cases()["careful"]
        return self.cases() | {
            "one more hit": (hits + 1, wrong, missed - 1, rejected),
            "one wrong entry fewer": (hits, wrong - 1, missed, rejected + 1),
        }

    @needs("2.9")
    def ranking(self, metric):
        """Each list under F1 and under the student's measure."""
        columns = ["list", "hits", "wrong", "missed", "rejected"]
        made = pd.DataFrame([(n, *c) for n, c in self.cases().items()], columns=columns)
        own = [float(metric(*c)) for c in self.cases().values()]
        f1 = 2 * made["hits"] / (2 * made["hits"] + made["wrong"] + made["missed"])
        return shown(made.assign(**{"F1": f1, "your measure": own}))

    def limits(self):
        """What this sheet's numbers can't show, with the numbers."""
        different = self.pairs[self.pairs["label"] == "different"]
        return self.limited(
            k=self.kappa(),
            taken=(different["judged"] == "same").sum(),
            different=len(different),
            site=len(self.site),
            terms=len(self.terms),
            patients=len(self.patients),
            ten=len(self.ten),
            written=len(self.written),
        )
