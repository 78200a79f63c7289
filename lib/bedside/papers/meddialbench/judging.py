"""MedDialBench: judges (section 3.5) of diagnosis, coverage of key items, adherence and misled.

Frames to be judged have a unique `item` in each row, `references` (what the word-overlap judge
looks for) and `text` (where it looks). Verdicts are yes or no, or unscored with the reason.
"""

import functools
import itertools
import re

import numpy as np
import pandas as pd

from bedside import stats
from bedside.asking import dry_run, registry
from bedside.asking.replies import VERDICT_TOKENS, Request, response_format
from bedside.judging import baselines, judges, parsing, trust_cards
from bedside.judging.judges import LEXICAL, grade_labelled
from bedside.read.checks import joined
from bedside.read.prompts import numbered

from .data import false_statements
from .words import telling_words

YES_NO = ["no", "yes"]
# of the trust cards
TASKS = {"": "diagnosis", "coverage": "key items", "adherence": "behaviours", "misled": "misled"}
KINDS = ("Baseline", "Single-dimension", "Dual-dimension")  # of configurations
LABELLED = {"": "diagnoses", "misled": "wrong diagnoses"}  # for the other tasks: statements
WHICH = response_format(
    "which", which={"type": "array", "items": {"type": "integer"}, "maxItems": 16}
)
SAME = {"key": "equivalent", "fields": ("truth", "diagnosis")}
MISLED = {"key": "misled", "fields": ("statements", "truth", "dialogue", "diagnosis")}


class Overlap(baselines.Baseline):
    """The word-overlap judge: yes if the text has enough words of the best-fitting reference.

    labelled: a frame with item, references, text and label, on which the cut point has the highest
    kappa.
    """

    def features(self, frame: pd.DataFrame) -> np.ndarray:
        """Share (n,) of the best-fitting reference's words that the text has, 0 to 1."""
        words = telling_words([*(r for mine in frame["references"] for r in mine), *frame["text"]])
        shares = [
            [len(words[r] & words[text]) / len(words[r]) for r in references if words[r]]
            for references, text in zip(frame["references"], frame["text"])
        ]
        return np.array([max(mine, default=0.0) for mine in shares])

    def fit(self, features: np.ndarray, labels: np.ndarray) -> float:
        """The cut point with the highest kappa; where all labels are alike, one that fits them."""
        cuts = np.unique(features)
        kappas = [
            stats.kappa(self.predict(cut, features), labels, self.values).value for cut in cuts
        ]
        return cuts[int(np.argmax(np.nan_to_num(kappas, nan=1.0)))]

    def predict(self, fitted: float, features: np.ndarray) -> list[str]:
        return np.where(features >= fitted, *self.values[::-1]).tolist()


# ---- what judges look for


def behaviours(design):
    """A description of each dimension's adverse behaviour, for a judge."""
    instruction = {n: x["instruction"] for n, x in design.levels.items()}
    return [
        f"{x['title']}: " + " Or: ".join(instruction[n] for n in design.of(d)[1:])
        for d, x in design.dimensions.items()
    ]


def expected(design, texts, consulted):
    """What the word-overlap judge looks for in each dimension, for each (case, levels).

    That is the script and the false statements of the active level, else of all adverse levels.
    """
    words = {(r.item, r.level): [s for s in (r.script, *r.false) if s] for r in texts.itertuples()}

    def of(item, levels, dimension):
        adverse = design.of(dimension)[1:]
        return [s for n in {*adverse} & {*levels} or adverse for s in words.get((item, n), ())]

    return [[of(item, levels, d) for d in design.dimensions] for item, levels in consulted]


def wrong_diagnoses(frame, texts, case="item"):
    """Wrong diagnoses, ready to be judged as misled or not; `case` names the column of cases."""
    cases = zip(frame[case], frame["levels"])
    return frame.assign(
        text=frame["said"],
        statements=frame["key_items"].map(numbered),
        references=[false_statements(texts, item, levels) for item, levels in cases],
    )


def disclosures(frame):
    """Dialogues, ready to be judged for which key items were disclosed."""
    references = frame["key_items"].map(lambda items: [[x] for x in items])
    return frame.assign(statements=frame["key_items"], references=references)


def numbered_rows(frame):
    """One row for each statement of a dialogue, with its `number` (from 1) and `references`."""
    number = frame["references"].map(lambda r: [*range(1, len(r) + 1)])
    rows = frame.assign(text=frame["said"], number=number)
    return rows.explode(["number", "references"], ignore_index=True)


# ---- verdicts


def parse_which(text, count):
    """The set of numbers (1 to count) in a judge's list; None if it holds anything else.

    None too where several lists differ, or where the object isn't the last thing said.
    """
    found = list(re.finditer(r'"which"\s*:\s*\[([^\]]*)\]', text))
    if not (found and parsing.ends_with(text, found)):
        return None
    listed = [m[1] for m in found]
    if not all(re.fullmatch(r"\s*(\d+\s*(,\s*\d+\s*)*)?", one) for one in listed):
        return None
    numbers = parsing.only(frozenset(map(int, re.findall(r"\d+", one))) for one in listed)
    return None if numbers is None or numbers - set(range(1, count + 1)) else numbers


async def which(run, frame, template, learnt, judge=None):
    """Verdicts on which of each dialogue's `statements` hold, one row for each statement.

    Columns: item, number (from 1), status, value (yes or no), raw. frame: item, dialogue, said (the
    patient's words), statements, references (a list for each statement). A model judges a dialogue
    in one call; if its reply can't be read, all statements of the dialogue are unscored.
    """
    judge, columns = judge or run.judge, ["item", "number", "status", "value", "raw"]
    if judge == LEXICAL:
        rows = numbered_rows(frame)
        value = Overlap(learnt, YES_NO).grade(rows)
        return rows.assign(status="graded", value=value, raw="")[columns]
    listed = frame.assign(statements=frame["statements"].map(numbered))
    asked = run.prompts_for(template, listed, ["dialogue", "statements"])
    most = registry.most(judge, VERDICT_TOKENS, "verdicts")
    settings = {"max_tokens": most, "temperature": 0}
    requests = [Request(item, judge, prompt, settings, WHICH) for item, prompt in asked.items()]
    replies, rows = await judges.run_asking(run, judge).ask(requests, f"{template} of {judge}"), []
    for count, reply in zip(frame["statements"].map(len), replies, strict=True):
        v = parsing.read(reply, functools.partial(parse_which, count=count))
        for n in range(1, count + 1):
            value = None if v.value is None else YES_NO[n in v.value]
            rows.append((reply.item, n, v.status, value, v.raw))
    return pd.DataFrame(rows, columns=columns)


async def measured(run, known, judge):
    """A judge's verdicts on all labelled examples: {task: (labels, verdicts)}, in the same order.

    known: `examples.Labelled`. The word-overlap judge is fitted on other examples than it grades.
    """
    found = await on_diagnoses(run, known.diagnosis, known.misled, judge)
    for task in ("coverage", "adherence"):
        rows, frame = known.rows(task), getattr(known, task)
        if judge == LEXICAL:
            value = baselines.held_out(Overlap, rows, YES_NO)
            verdicts = rows[["number"]].assign(item=rows["answer_id"], value=value, raw="")
            verdicts["status"] = "graded"
        else:
            frame = frame.assign(item=frame["answer_id"])
            verdicts = await which(run, frame, f"judge_{task}", None, judge)
        found[task] = rows["label"].tolist(), verdicts
    return found


async def on_diagnoses(run, diagnosis, misled, judge, repeat=0):
    """`measured` for the first two tasks, on labelled diagnoses and on wrong ones."""
    tasks = {"": (diagnosis, "judge_diagnosis", SAME), "misled": (misled, "judge_misled", MISLED)}
    found = {}
    for task, (rows, template, how) in tasks.items():
        more = {"baseline": Overlap, "repeat": repeat, **how}
        verdicts = await grade_labelled(run, rows, YES_NO, template, judge, **more)
        found[task] = rows["label"].tolist(), verdicts
    return found


async def repeated(run, known, names, times):
    """Further verdicts on the labelled dialogues (appendix B): {judge: [of `on_diagnoses`]}.

    times: of assessments, the first one included. The word-overlap judge always says the same.
    """
    heard = known.diagnosis[known.diagnosis["kind"] == "dialogue"]
    return {
        name: [await on_diagnoses(run, heard, known.misled, name, k) for k in range(1, times)]
        for name in names
        if name != LEXICAL
    }


def cards(run, known, found):
    """Write and return the trust cards {judge: {task: card}} of {judge: `measured`}, by case."""
    made = {name: {} for name in found}
    for name, task in itertools.product(found, TASKS):
        labels, verdicts = found[name][task]
        about = {"positive": "yes", "units": known.cases(task)}
        card = made[name][task] = trust_cards.trust_card(labels, verdicts, YES_NO, **about)
        of = LABELLED.get(task, "statements")
        run.write_card(name, card, known.labelled_by(task), task, of)
    return made


async def diagnosed(run, known, texts, held):
    """Consultations with the run's judge's verdicts on their diagnoses (section 3.5).

    `held` (`consultations.frame`) with correct and misled, NaN if unscored; verdict (raw) and
    verdict_status. A dialogue that broke off has no diagnosis to judge. Only a wrong diagnosis can
    be misled; a right one is not, and needs no verdict.
    """
    asked = held.assign(references=held["names"], text=held["diagnosis"])
    learnt = baselines.learnt(known.diagnosis)
    same = await run.grade(asked, YES_NO, "judge_diagnosis", learnt, baseline=Overlap, **SAME)
    same = same.rename(columns={"raw": "verdict", "status": "verdict_status"})
    done = joined(held, same)
    done["correct"] = yes(done.pop("value"))

    wrong = done[(done["correct"] == 0) | done["verdict"].map(dry_run.stands_in)]
    done["misled"] = done["correct"].map({1.0: 0.0})
    if len(wrong):
        asked = wrong_diagnoses(wrong, texts, "case").assign(reply_status="")
        found = await run.grade(
            asked, YES_NO, "judge_misled", known.misled, baseline=Overlap, **MISLED
        )
        misled = yes(found.set_index("item")["value"])
        done["misled"] = done["misled"].fillna(done["item"].map(misled))
    return done


async def outcomes(run, known, texts, held):
    """`diagnosed` with coverage and per_turn, NaN if unscored; the unit is the case.

    A dialogue that broke off has the coverage of what was said; one in which a speaker's reply held
    no text has neither coverage nor turns.
    """
    done = await diagnosed(run, known, texts, held)
    heard = answered(held)
    marks = await which(run, disclosures(heard), "judge_coverage", known.rows("coverage"))
    told = yes(marks["value"]).groupby(marks["item"]).mean()
    done["unit"], done["coverage"] = done["case"], done["item"].map(told)
    done["turns"] = done["turns"].where(done["item"].isin(heard["item"]))
    done["per_turn"] = done["coverage"] / done["turns"].where(done["turns"] > 0)
    return done


def answered(held):
    """The consultations in which every reply held text."""
    return held[held["why"] == ""]


def yes(values):
    """Verdicts as 1 (yes) and 0 (no), NaN if unscored."""
    return values.map({"yes": 1.0, "no": 0.0}).astype(float)


async def adherence(run, design, known, texts, held):
    """Activation and isolation (appendix C) of each consultation, NaN if unscored.

    Frame: item, unit (the case), configuration, model, truncated, kind, shown (by dimension),
    activation (share of the active dimensions that are shown, NaN without any), isolation (1 if no
    other one is shown), full (1 if both are complete).
    """
    asked = held.assign(
        statements=[behaviours(design)] * len(held),
        references=expected(design, texts, zip(held["case"], held["levels"])),
    )
    heard = answered(asked)
    marks = await which(run, heard, "judge_adherence", baselines.learnt(known.rows("adherence")))
    seen = yes(marks["value"]).groupby(marks["item"], sort=False).agg(list)
    unseen = [np.nan] * len(design.dimensions)
    shown = [seen.get(item, unseen) for item in held["item"]]
    active = [
        [{*design.of(d)[1:]} & {*levels} for d in design.dimensions] for levels in held["levels"]
    ]
    scored = [_adherence(np.array(s), np.array(a, bool)) for s, a in zip(shown, active)]
    columns = ["item", "case", "configuration", "model", "truncated"]
    made = held[columns].rename(columns={"case": "unit"}).reset_index(drop=True)
    made["kind"] = [KINDS[min(len(levels), 2)] for levels in held["levels"]]
    made["shown"] = shown
    return made.join(pd.DataFrame(scored, columns=["activation", "isolation", "full"]))


def _adherence(shown, active):
    """Activation, isolation and whether both are complete, from arrays (dimensions,)."""
    if np.isnan(shown).any():
        return np.nan, np.nan, np.nan
    activation = float(shown[active].mean()) if active.any() else np.nan
    isolation = float(not shown[~active].any())
    return activation, isolation, isolation * (activation == 1 or not active.any())


# ---- two judges


WRONG = "misled, of wrong diagnoses"


def compared(known, found):
    """Verdicts (1, 0, NaN) of each two judges on the labelled examples: pair, what, first, second.

    found: {judge: `measured`}. Also item, and unit (the case).
    """
    parts = []
    for a, b in itertools.combinations(found, 2):
        for task, what in (("", "diagnosis"), ("misled", WRONG)):
            one, other = found[a][task][1], found[b][task][1]
            verdicts = {"first": yes(one["value"]), "second": yes(other["value"])}
            about = {"pair": f"{a} and {b}, labelled examples", "what": what}
            parts.append(one[["item"]].assign(**about, unit=known.cases(task), **verdicts))
    return pd.concat(parts)


def compared_on(judges, one, other):
    """`compared`, of two judges' `diagnosed` consultations: also whether any one was misled."""
    columns = ["item", "case", "correct", "misled"]
    both = joined(one[columns], other[columns].drop(columns="case"))  # with _x and _y
    wrong = both[(both["correct_x"] == 0) & (both["correct_y"] == 0)]
    of = ("correct", "diagnosis", both), ("misled", "misled or not", both), ("misled", WRONG, wrong)
    return pd.concat(
        part[["item"]].assign(
            pair=f"{judges}, this run",
            what=what,
            unit=part["case"],
            first=part[f"{column}_x"],
            second=part[f"{column}_y"],
        )
        for column, what, part in of
    )
