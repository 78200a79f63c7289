"""MedDialBench: labelled dialogues and pairs of diagnoses, on which judges are measured."""

import numpy as np
import pandas as pd

from bedside.judging import baselines
from bedside.judging.judges import whose, with_raters_labels
from bedside.read.checks import joined
from bedside.run import Run

from . import design as designs
from .judging import YES_NO, behaviours, disclosures, expected, numbered_rows, wrong_diagnoses

OURS = "this project"  # who labelled them


class Labelled:
    """Frames with labels: `diagnosis`, `misled`; for `judging.which` `coverage` and `adherence`.

    They belong to the paper's design, whichever design a run has. `diagnosis` and `adherence` also
    hold the labels of the user's own raters (`rated`), from which no judge learns.
    """

    def __init__(self, run: Run):
        design = designs.read(run)
        self.texts, self.dimensions = run.load("meddialbench_scripts"), list(design.dimensions)
        cases = run.load("meddialbench_cases")
        self.dialogues = _dialogues(run, cases)
        self.diagnosis = self._diagnosis(run, cases)
        wrong = self.dialogues[self.dialogues["correct"] == "no"].reset_index(drop=True)
        self.misled = wrong_diagnoses(wrong.assign(label=wrong["misled"]), self.texts)
        self.coverage = disclosures(self.dialogues)
        self.adherence = self._adherence(run, cases, design)

    def _diagnosis(self, run, cases):
        """Pairs of diagnoses: those written as pairs, and those of the dialogues."""
        pairs = run.load("meddialbench_diagnoses")
        number = pairs["pair"].str.replace(r"p-(\d+)-.*", r"case-\1", regex=True)
        pairs = pairs.assign(answer_id=pairs["pair"], item=number)
        told = self.dialogues.assign(label=self.dialogues["correct"], kind="dialogue")
        both = pd.concat([pairs, told], ignore_index=True)
        names = {c.diagnosis: [c.diagnosis, *c.accepted] for c in cases.itertuples()}
        both["references"] = both["truth"].map(lambda t: names.get(t, [t]))
        every = with_raters_labels(run, both, "meddialbench_rated", OURS)
        answer = every["answer_id"].fillna(every["pair"])
        return every.assign(text=every["diagnosis"], reply_status="", answer_id=answer)

    def _adherence(self, run, cases, design):
        """Dialogues with the behaviours shown; raters' dialogues if their case has scripts."""
        source, known = "meddialbench_rated_adherence", cases["item"].tolist()
        every = with_raters_labels(run, self.dialogues, source, OURS, known)
        looked_for = expected(design, self.texts, zip(every["item"], every["levels"]))
        words = every.get("text", every["dialogue"]).where(every["rated"], every["dialogue"])
        return every.assign(
            answer_id=every["answer_id"].fillna(every["dialogue"]),
            dialogue=words,
            statements=[behaviours(design)] * len(every),
            references=looked_for,
        )

    def labelled_by(self, task: str = "") -> str:
        """Who labelled the examples of a task."""
        rated = {"": self.diagnosis, "adherence": self.adherence}
        return whose(rated.get(task, baselines.learnt(self.diagnosis)))

    def cases(self, task: str) -> np.ndarray:
        """The case of each example of a task, in the order of `judging.measured`: (n,)."""
        alone = {"": self.diagnosis, "misled": self.misled}
        return (alone[task] if task in alone else self.rows(task))["item"].to_numpy()

    def rows(self, task: str) -> pd.DataFrame:
        """A `which` task (coverage, adherence), a row a statement: what a judge learns from."""
        if task == "coverage":
            right = self.coverage["disclosed"]
        else:
            place = {d: n for n, d in enumerate(self.dimensions, 1)}
            right = self.adherence["shown"].map(lambda shown: [place[d] for d in shown])
        long = numbered_rows(getattr(self, task).assign(right=right))
        return long.assign(label=[YES_NO[r.number in r.right] for r in long.itertuples()])


def _dialogues(run, cases):
    """The labelled dialogues with their cases' truth and key items, as a judge reads them."""
    truths = cases[["item", "diagnosis", "key_items"]].rename(columns={"diagnosis": "truth"})
    dialogues = run.load("meddialbench_dialogues")
    dialogues = joined(dialogues, truths, validate="many_to_one", whole="left")
    lines = dialogues["turns"].map(lambda turns: [f"Doctor: {q}\nPatient: {a}" for q, a in turns])
    return dialogues.assign(
        answer_id=dialogues["dialogue"],
        reply_status="",
        said=["\n".join(answer for _, answer in turns) for turns in dialogues["turns"]],
        dialogue=lines.str.join("\n"),
    )
