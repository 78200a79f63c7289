"""What sheet 2p shows: a released patient, the clinicians' reference, the paper's printed tables.

Records and reference are read when the sheet is opened; this file holds nothing of them.
"""

import pandas as pd

from bedside import seminar, stats
from bedside.papers.radiation import data as rad
from bedside.papers.radiation import implied
from bedside.seminar import needs, shown

PATIENT, NEAR = (
    "profile-20",
    "breast and nodes",
)  # and a site that the patient's site is compared with
OPERATIONS = {"lumpectomy": True, "mastectomy": False}  # and whether they leave the breast
NOT_HERE = "not of this site"
ASKED = {"short-term": 3, "long-term": 3, NOT_HERE: 2}  # effects of each kind in 2.4
LEAFLET = (  # 2.7: a list written for the sheet, in the vocabulary's words (appendix A.3)
    "fatigue",
    "radiation dermatitis",
    "skin hyperpigmentation/changes in skin color",
    "breast swelling",
    "breast shrinkage",
    "lymphedema",
    "pneumonitis",
    "cardiovascular disease",
)
MODELS = "Gemma-2-9B", "GPT-5.3"  # 2.8: two models of Table 7
F1S = {"Table 1": "free-form", "Table 3": "chosen from the list"}


class Material(seminar.Sheet):
    """Data and displays of sheet 2p (radiation, sections 3 and 4, on the released data)."""

    def __init__(self):
        run = self.run = seminar.run("radiation", "04_documentation_sensitivity", "public")
        self.patients = rad.profiles(run, whole=True).set_index("item")
        self.reference, self.terms = rad.reference(run), rad.vocabulary(run)
        self.patient = self.patients.loc[PATIENT]
        self.sites = {s: f.set_index("effect") for s, f in self.reference.groupby("site")}
        self.site = self.sites[self.patient["site"]]
        self.kinds = {t: self.site["onset"].get(t, NOT_HERE) for t in self.terms}
        rng, asked = run.rng("seminar", "asked"), []
        for kind, size in ASKED.items():
            those = [t for t in self.terms if self.kinds[t] == kind]
            asked += rng.choice(those, size, replace=False).tolist()
        self.asked = sorted(asked)

    def record(self, name="base"):
        """The patient's record, base or specified, printed."""
        print(seminar.wrapped(self.patient[name]))

    @needs("2.2")
    def differences(self, given):
        """What differs between the base and the specified record of each patient."""
        rows = [
            (p.Index, p.site, [f"“{old}” → “{new}”" for old, new in self.changes(p)])
            for p in self.patients.itertuples()
        ]
        return shown(pd.DataFrame(rows, columns=["patient", "site", "base → specified"]))

    def changes(self, patient):
        """(removed, added) texts of a patient's pair of records."""
        return rad.difference(patient.base, patient.specified)

    def operations(self):
        """The operation that each base record names ("" if none) and the site that was added."""
        named = [next((o for o in OPERATIONS if o in p.lower()), "") for p in self.patients["base"]]
        return self.patients.assign(operation=named)[["operation", "site"]].rename_axis("patient")

    def list_asked(self):
        """Print the effects of task 2.4 as an answer to fill in."""
        print("my_onsets = {", *(f'    "{e}": ...,' for e in self.asked), "}", sep="\n")

    @needs("2.4")
    def effects(self, given):
        """The reference of the patient's site, and the student's answers on the effects asked."""
        frame = self.site.reset_index()[["effect", "onset", "frequency"]]
        frame = frame.assign(you=[given.get(e, "") for e in frame["effect"]])
        return shown(frame.sort_values(["frequency", "onset", "effect"]))

    def two_sites(self):
        """The effects of the patient's site and of NEAR, side by side."""
        both = {s: self.sites[s]["frequency"] for s in (self.patient["site"], NEAR)}
        made = pd.DataFrame(both).reindex([t for t in self.terms if self.in_either(t)])
        return shown(made.fillna("").rename_axis("effect").reset_index())

    def in_either(self, term):
        """Whether a term is in the reference of the patient's site or of NEAR."""
        return term in self.site.index or term in self.sites[NEAR].index

    @needs("2.5")
    def overlaps(self, given):
        """How far the reference's lists for two sites overlap, and the models' lists as printed."""
        sets = {s: set(f.index) for s, f in self.sites.items()}
        each = [len(a & b) / len(a | b) for s, a in sets.items() for t, b in sets.items() if s < t]
        print(f"Overlap of two sites of the reference: {min(each):.2f} to {max(each):.2f}")
        table = implied.wide(self.run, "Table 5").reset_index()
        return shown(table.rename(columns={"row": "model, as printed"}))

    def everything(self, site):
        """Precision, recall and F1 of the whole vocabulary as a list for a site."""
        p = len(self.sites[site]) / len(self.terms)
        return {"precision": p, "recall": 1.0, "F1": stats.harmonic(p, 1.0)}

    def f1s(self):
        """F1 of the models as printed, without and with a list to choose from."""
        return pd.DataFrame({n: implied.wide(self.run, t)["F1"] for t, n in F1S.items()})

    @needs("2.6")
    def with_everything(self, given):
        """The models' F1 beside that of the list of everything, a mean over all patients."""
        mean = self.patients["site"].map(lambda s: self.everything(s)["F1"]).mean()
        made = self.f1s()
        made.loc["the list of everything, computed"] = [mean] * len(F1S)
        return shown(made.rename_axis("F1, mean over the patients").reset_index())

    def leaflet(self):
        """The list of task 2.7."""
        print(*LEAFLET, sep="\n")

    def by_frequency(self):
        """Effects of the patient's site by frequency."""
        return self.site["frequency"].value_counts().reindex(rad.FREQUENCIES)

    def recalls(self):
        """Recall by frequency as printed (Table 7)."""
        made = implied.wide(self.run, "Table 7")
        return made.rename(columns=str.lower)[rad.FREQUENCIES]

    def limits(self):
        """What this sheet's numbers can't show, with the numbers."""
        sites = self.patients["site"].value_counts()
        shared = set.intersection(*(set(f.index) for f in self.sites.values()))
        return self.limited(
            patients=len(self.patients),
            sites="; ".join(f"{s}: {n}" for s, n in sites.items()),
            shared=len(shared),
            site=len(self.site),
            terms=len(self.terms),
        )
