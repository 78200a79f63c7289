"""MedDialBench: the judges (section 3.5): correct diagnosis, coverage of key items, adherence, misled; measured on labelled dialogues.

Frames to be judged have an `item` of their own a row, `references` (what the baseline without a model looks for) and
`text` (where). Verdicts are yes or no, or unscored with the reason.
"""

import functools
import re

from bedside import baselines, judges
from bedside.judges import LEXICAL, grade_labelled, whose, with_rated
from bedside.models import Request, response_format
from bedside.papers.meddialbench.data import content
from bedside.papers.meddialbench.data import design as papers_design
from bedside.prompts import numbered

YES_NO = ["no", "yes"]
TASKS = {
    "": "diagnosis",
    "coverage": "key items",
    "adherence": "behaviours",
    "misled": "misled",
}  # of the trust cards
LEARNT = ["item", "references", "text", "label"]


class Overlap:
    """The judge without a model: yes if enough of a reference's words stand in the text, of the reference that fits best.

    labelled: a frame with the columns LEARNT; the cut point is the one with the highest kappa on it. `out_of_fold`
    grades each item (a case) with a cut point from the others.
    """

    def __init__(self, labelled, values=YES_NO):
        self.labelled, self.values = labelled, values
        self.alike = self.similarity(labelled)
        self.cut = self._fit(self.alike, labelled["label"].to_numpy())

    def similarity(self, frame):
        """Share (n,) of words, 0..1."""
        import numpy as np

        made = [
            max(
                (len(words & told(text)) / len(words) for r in references if (words := told(r))),
                default=0.0,
            )
            for references, text in zip(frame["references"], frame["text"])
        ]
        return np.array(made)

    def _fit(self, alike, labels):
        import numpy as np

        from bedside import stats

        cuts = np.unique(alike)
        kappas = [
            stats.kappa(np.where(alike >= cut, *self.values[::-1]), labels, self.values).value
            for cut in cuts
        ]
        return cuts[int(np.argmax(kappas))]

    def grade(self, frame):
        """Verdicts for a frame with references and text."""
        import numpy as np

        return np.where(self.similarity(frame) >= self.cut, *self.values[::-1]).tolist()

    def out_of_fold(self):
        """Verdicts of the labelled rows, each case's from a cut point that never saw it."""
        import numpy as np

        labels, items = self.labelled["label"].to_numpy(), self.labelled["item"].to_numpy()
        cuts = {
            i: self._fit(self.alike[items != i], labels[items != i]) for i in dict.fromkeys(items)
        }
        return np.where(self.alike >= [cuts[i] for i in items], *self.values[::-1]).tolist()


@functools.lru_cache(maxsize=50_000)
def told(text):
    """The words that tell in a text, as a set."""
    return frozenset(content(text))


def names(cases):
    """{diagnosis: its names} of cases, for the baseline."""
    return {c.diagnosis: [c.diagnosis, *c.accepted] for c in cases.itertuples()}


def expected(design, texts, item, levels):
    """What the baseline looks for to see each dimension's adverse behaviour: script and false statements of the active level, else of all."""
    mine = texts[texts["item"] == item].set_index("level")
    active = design.severities(levels)
    return [
        [
            s
            for n in ([active[d]] if active[d] in levels else design.of(d)[1:])
            if n in mine.index
            for s in (mine.at[n, "script"], *mine.at[n, "false"])
            if s
        ]
        for d in design.dimensions
    ]


def false_statements(texts, item, levels):
    """What a patient with these levels says that isn't so, by the case's scripts."""
    mine = texts[(texts["item"] == item) & texts["level"].isin(levels)]
    return [s for statements in mine["false"] for s in statements]


def behaviours(design):
    """Each dimension's adverse behaviour in words, for a judge."""
    return [
        f"{x['title']}: " + " Or: ".join(design.levels[n]["instruction"] for n in design.of(d)[1:])
        for d, x in design.dimensions.items()
    ]


def parse_which(text, count):
    """The numbers (1 to count) in a judge's reply as a set, or None: a JSON object with a list of such numbers, and nothing else in it."""
    found = re.findall(r'"which"\s*:\s*\[([^\]]*)\]', text)
    if not found or not re.fullmatch(r"\s*(\d+\s*(,\s*\d+\s*)*)?", found[-1]):
        return None
    numbers = {int(n) for n in re.findall(r"\d+", found[-1])}
    return numbers if numbers <= set(range(1, count + 1)) else None


async def which(run, frame, template, learnt, judge=None):
    """Which of each dialogue's `statements` hold: long frame item, number (from 1), status, value (yes or no), raw.

    frame: item, dialogue, said (the patient's words), statements, references (a list for each statement).
    A model judges a dialogue in one call; a reply that can't be read leaves all its statements unscored.
    """
    import pandas as pd

    judge = judge or run.judge
    if judge == LEXICAL:
        rows = frame.assign(
            number=frame["references"].map(lambda r: list(range(1, len(r) + 1)))
        ).explode(["number", "references"], ignore_index=True)
        rows = rows.rename(columns={"said": "text"}).assign(status="graded", raw="")
        return rows.assign(value=Overlap(learnt).grade(rows))[
            ["item", "number", "status", "value", "raw"]
        ]
    form = response_format(
        "which", which={"type": "array", "items": {"type": "integer"}, "maxItems": 16}
    )
    requests = [
        Request(
            r.item,
            judge,
            run.prompt(template, dialogue=r.dialogue, statements=numbered(r.statements)),
            {"max_tokens": 96, "temperature": 0},
            form,
        )
        for r in frame.itertuples()
    ]
    made = []
    for r, reply in zip(
        frame.itertuples(), await run.ask(requests, f"{template} of {judge}"), strict=True
    ):
        v = judges.read(reply, lambda text: parse_which(text, len(r.statements)))
        made += [
            (r.item, n, v.status, None if v.value is None else YES_NO[n in v.value], v.raw)
            for n in range(1, len(r.statements) + 1)
        ]
    return pd.DataFrame(made, columns=["item", "number", "status", "value", "raw"])


class Labelled:
    """The labelled dialogues and pairs as frames: `diagnosis`, `misled`, and for `which` `coverage` and `adherence`, with their labels.

    They are of the paper's design, whichever design a run has. `diagnosis` and `adherence` hold what the user's own raters
    labelled too (`rated`), from which no judge learns.
    """

    def __init__(self, run):
        import pandas as pd

        design = papers_design(run)
        cases, self.texts = run.load("meddialbench_cases"), run.load("meddialbench_scripts")
        dialogues = run.load("meddialbench_dialogues").merge(
            cases[["item", "diagnosis", "key_items"]].rename(columns={"diagnosis": "truth"}),
            on="item",
            validate="many_to_one",
        )
        known = names(cases)
        dialogues = dialogues.assign(
            answer_id=dialogues["dialogue"],
            reply_status="",
            said=dialogues["turns"].map(lambda t: "\n".join(a for _, a in t)),
            dialogue=dialogues["turns"].map(
                lambda t: "\n".join(f"Doctor: {q}\nPatient: {a}" for q, a in t)
            ),
        )
        pairs = run.load("meddialbench_diagnoses")
        pairs = pairs.assign(
            answer_id=pairs["pair"],
            item=pairs["pair"].str.replace(r"p-(\d+)-.*", r"case-\1", regex=True),
            reply_status="",
        )
        both = pd.concat(
            [pairs, dialogues.assign(label=dialogues["correct"], kind="dialogue")],
            ignore_index=True,
        )
        self.dialogues = dialogues
        both = both.assign(references=both["truth"].map(lambda t: known.get(t, [t])))
        self.diagnosis = with_rated(run, both, "meddialbench_rated", "this project")
        self.diagnosis = self.diagnosis.assign(
            text=self.diagnosis["diagnosis"],
            reply_status="",
            answer_id=self.diagnosis["answer_id"].fillna(self.diagnosis["pair"]),
        )
        wrong = dialogues[dialogues["correct"] == "no"].reset_index(drop=True)
        self.misled = wrong.assign(
            label=wrong["misled"],
            text=wrong["said"],
            statements=wrong["key_items"].map(numbered),
            references=[false_statements(self.texts, r.item, r.levels) for r in wrong.itertuples()],
        )
        self.coverage = dialogues.assign(
            statements=dialogues["key_items"],
            references=dialogues["key_items"].map(lambda k: [[x] for x in k]),
        )
        # of the raters' consultations those of the bundled cases, whose scripts say what to look for
        shown = with_rated(run, dialogues, "meddialbench_rated_adherence", "this project")
        shown = shown[shown["item"].isin(cases["item"])].reset_index(drop=True)
        shown = shown.assign(
            answer_id=shown["answer_id"].fillna(shown["dialogue"]),
            dialogue=shown.get("text", shown["dialogue"]).where(shown["rated"], shown["dialogue"]),
        )
        self.adherence = shown.assign(
            statements=[behaviours(design)] * len(shown),
            references=[expected(design, self.texts, r.item, r.levels) for r in shown.itertuples()],
        )
        self.dimensions = list(design.dimensions)

    def labelled_by(self, task=""):
        """Who labelled the examples of a task."""
        return whose(
            {"": self.diagnosis, "adherence": self.adherence}.get(
                task, baselines.learnt(self.diagnosis)
            )
        )

    def rows(self, task):
        """A `which` task (coverage, adherence) a statement a row: answer_id, LEARNT."""
        frame = getattr(self, task)
        right = (
            frame["disclosed"]
            if task == "coverage"
            else frame["shown"].map(lambda s: [self.dimensions.index(d) + 1 for d in s])
        )
        long = frame.assign(
            text=frame["said"],
            number=frame["references"].map(lambda r: list(range(1, len(r) + 1))),
            right=right,
        )
        long = long.explode(["number", "references"], ignore_index=True)
        return long.assign(label=[YES_NO[r.number in r.right] for r in long.itertuples()])


async def measured(run, known, judge):
    """A judge's verdicts on all that is labelled: {task: (labels, verdicts)}, in one order; the one without a model out of fold."""
    import pandas as pd

    found = {}
    for task, template, key, fields in (
        ("", "judge_diagnosis", "equivalent", ("truth", "diagnosis")),
        ("misled", "judge_misled", "misled", ("statements", "truth", "dialogue", "diagnosis")),
    ):
        rows = known.misled if task else known.diagnosis
        found[task] = (
            rows["label"].tolist(),
            await grade_labelled(
                run, rows, YES_NO, template, judge, Overlap, key=key, fields=fields
            ),
        )
    for task in ("coverage", "adherence"):
        rows = known.rows(task)
        if judge == LEXICAL:
            verdicts = pd.DataFrame(
                {
                    "item": rows["answer_id"],
                    "number": rows["number"],
                    "status": "graded",
                    "value": baselines.held_out(Overlap, rows, YES_NO),
                    "raw": "",
                }
            )
        else:
            frame = getattr(known, task)
            verdicts = await which(
                run, frame.assign(item=frame["answer_id"]), f"judge_{task}", None, judge
            )
        found[task] = rows["label"].tolist(), verdicts
    return found


async def outcomes(run, known, texts, held):
    """Consultations with the run's judge's verdicts (section 3.5): `held` plus correct, coverage, per_turn, misled, NaN where unscored; verdict (raw), verdict_status.

    A dialogue that broke off has no diagnosis to judge; its coverage is that of what was said. Only a wrong diagnosis can
    be misled: a right one is not, without a verdict.
    """
    text = {"references": held["names"], "text": held["diagnosis"]}
    same = await run.grade(
        held.assign(**text),
        YES_NO,
        "judge_diagnosis",
        baselines.learnt(known.diagnosis),
        baseline=Overlap,
        key="equivalent",
        fields=("truth", "diagnosis"),
    )
    done = held.merge(
        same.rename(columns={"raw": "verdict", "status": "verdict_status"}),
        on="item",
        validate="one_to_one",
    )
    done["correct"] = yes(done.pop("value"))

    facts = held.assign(
        statements=held["key_items"], references=held["key_items"].map(lambda k: [[x] for x in k])
    )
    marks = await which(run, facts, "judge_coverage", known.rows("coverage"))
    done = done.merge(
        yes(marks["value"]).groupby(marks["item"]).mean().rename("coverage"),
        left_on="item",
        right_index=True,
        validate="one_to_one",
    )
    done["per_turn"] = done["coverage"] / done["turns"].where(done["turns"] > 0)

    wrong = done[done["correct"] == 0].copy()
    done["misled"] = done["correct"].where(done["correct"] != 1, 0.0).where(done["correct"] != 0)
    if len(wrong):
        wrong = wrong.assign(
            text=wrong["said"],
            statements=wrong["key_items"].map(numbered),
            reply_status="",
            references=[false_statements(texts, r.case, r.levels) for r in wrong.itertuples()],
        )
        found = await run.grade(
            wrong,
            YES_NO,
            "judge_misled",
            known.misled,
            baseline=Overlap,
            key="misled",
            fields=("statements", "truth", "dialogue", "diagnosis"),
        )
        done["misled"] = done["misled"].fillna(
            done["item"].map(found.set_index("item")["value"].pipe(yes))
        )
    return done


def yes(values):
    """Verdicts as 1 and 0, NaN where there is none."""
    return values.map({"yes": 1.0, "no": 0.0}).astype(float)


async def adherence(run, design, known, texts, held):
    """Activation and isolation (appendix C) of each consultation: frame item, configuration, kind, shown, activation, isolation, full.

    activation: share of the active dimensions that show, NaN without any; isolation: whether no other does; full: both
    whole. NaN where the judge's reply could not be read.
    """
    import numpy as np
    import pandas as pd

    asked = held.assign(
        statements=[behaviours(design)] * len(held),
        references=[expected(design, texts, r.case, r.levels) for r in held.itertuples()],
    )
    marks = await which(run, asked, "judge_adherence", baselines.learnt(known.rows("adherence")))
    shown = yes(marks["value"]).groupby(marks["item"], sort=False).agg(list)
    rows = []
    for r in held.itertuples():
        active = np.isin(list(design.dimensions), [design.dimension(n) for n in r.levels])
        seen = np.array(shown[r.item])
        lost = np.isnan(seen).any()
        activation = float(seen[active].mean()) if active.any() and not lost else np.nan
        isolation = float(not seen[~active].any()) if not lost else np.nan
        full = isolation * (activation == 1 if active.any() else 1.0)
        kind = ("Baseline", "Single-dimension", "Dual-dimension")[min(len(r.levels), 2)]
        rows.append(
            (
                r.item,
                r.case,
                r.configuration,
                r.model,
                kind,
                seen.tolist(),
                activation,
                isolation,
                full,
            )
        )
    return pd.DataFrame(
        rows,
        columns=[
            "item",
            "case",
            "configuration",
            "model",
            "kind",
            "shown",
            "activation",
            "isolation",
            "full",
        ],
    )
