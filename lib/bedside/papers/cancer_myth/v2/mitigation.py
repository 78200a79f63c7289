"""Cancer-Myth, second version: what the methods are measured on and how.

Questions with a false presupposition (PCR), questions without one (share of answers that invent none), and exam
questions (accuracy).
"""

import re

from bedside import BedsideError, judges, sources, stats
from bedside.claims import reading
from bedside.judges import with_rated
from bedside.papers.cancer_myth import data as cm
from bedside.papers.cancer_myth.printed import derived
from bedside.papers.cancer_myth.tables import corrected
from bedside.sources import drawn, limited
from bedside.tables import percent, table_rows, with_bounds

SETS = ("Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA")  # Table 1's columns
NFP_TASK = "no false presupposition"  # the second task of a judge, with a trust card of its own
PLAIN_GRADES = [
    0,
    1,
]  # an answer to a question without a false presupposition: invents one, or doesn't


def exam_items(run, name, size=0):
    """Exam questions of a set, MedQA or PubMedQA: item, question (as asked), options, gold; `size` drawn with the seed.

    None for a set that is optional and not there.
    """
    source = name.lower() + ("_sample" if run.profile == "sample" else "")
    if source == "pubmedqa":
        frame = run.load("pubmedqa_labelled").merge(
            run.load("pubmedqa_test").rename(columns={"value": "gold"}),
            on="key",
            validate="one_to_one",
        )
        frame = frame.assign(item="pubmedqa-" + frame["key"])
    elif not sources.here(source) and sources.entry(source).get("optional"):
        return None
    else:
        frame = run.load(source)
        if "item" not in frame:
            frame = frame.assign(item=[f"medqa-{i}" for i in range(len(frame))])
    if name == "PubMedQA":
        frame = frame.assign(
            gold=frame.get("gold", frame["final_decision"]),
            context=frame["CONTEXTS"].map("\n".join),
            text=frame["QUESTION"],
            options=[{o: o for o in ("yes", "no", "maybe")}] * len(frame),
        )
    else:
        frame = frame.assign(gold=frame["answer_idx"], context="", text=frame["question"])
    wrong = [r.item for r in frame.itertuples() if r.gold not in r.options]
    if wrong:
        raise BedsideError(f"source {source!r}: the answer of {wrong[0]!r} is none of its options")
    frame = limited(run, drawn(run, frame[["item", "gold", "context", "text", "options"]], size))
    asked = [
        run.prompt("exam", context=r.context, question=r.text, options=r.options)[-1]["content"]
        for r in frame.itertuples()
    ]
    return frame.assign(question=asked)[["item", "question", "options", "gold"]]


def split(items, train, size, run):
    """(training, reported) questions, drawn with the seed: no item in both, at most half for training.

    size: how many are reported, 0 for all others; of these the first LIMIT.
    """
    order, train = run.rng("split").permutation(len(items)), min(train, len(items) // 2)
    parts = order[:train], order[train : train + size] if size else order[train:]
    learnt, reported = (items.iloc[sorted(part)].reset_index(drop=True) for part in parts)
    return learnt, limited(run, reported)


REPORTED = {
    "sample": 12,
    "public": 30,
}  # questions of each kind that methods are reported on, unless said otherwise


def sets(run, train, reported="", exams=0):
    """(what the optimiser learns from: item, question, correction, kind; what is reported: {set of SETS: items, None if not here}).

    train: questions with a false presupposition to learn from, and half as many without; reported: as text, empty for
    REPORTED, "0" for all others; exams: questions of each exam.
    """
    import pandas as pd

    size = int(reported or REPORTED[run.profile])
    (myth_train, myth), (plain_train, plain) = (
        split(items, n, size, run)
        for items, n in (
            (cm.questions(run, whole=True), train),
            (cm.plain_questions(run, whole=True), train // 2),
        )
    )
    training = pd.concat(
        [myth_train.assign(kind="myth"), plain_train.assign(kind="plain", correction="")],
        ignore_index=True,
    )
    return training, {
        **dict(zip(SETS, (myth, plain))),
        **{name: exam_items(run, name, exams) for name in SETS[2:]},
    }


class Echo:
    """The judge without a model for questions without a false presupposition: does the answer take one up?

    Who disputes a premise has to name it: the largest cosine of a sentence of the answer with the question, against a
    cut point that gets most of `labelled` (item, question, answer, label) right. An answer that only repeats the
    question is graded 0 too.
    """

    def __init__(self, labelled, values=PLAIN_GRADES):
        self.labelled, self.values = labelled, sorted(values)
        self.similar = self.similarity(labelled)
        self.cut = self._fit(self.similar, labelled["label"].to_numpy())

    @staticmethod
    def similarity(frame):
        """Largest cosine (n,) of a sentence of each answer with its question, in 0..1."""
        import numpy as np
        from sklearn.feature_extraction.text import HashingVectorizer

        if frame.empty:
            return np.zeros(0)
        words = HashingVectorizer(stop_words="english", alternate_sign=False)
        sentences = [re.split(r"(?<=[.!?;])\s+", a) for a in frame["answer"]]
        count = [len(s) for s in sentences]
        questions = words.transform(frame["question"])[np.repeat(np.arange(len(frame)), count)]
        cosine = np.asarray(
            words.transform([s for part in sentences for s in part]).multiply(questions).sum(1)
        ).ravel()
        return np.maximum.reduceat(cosine, np.cumsum([0, *count[:-1]]))

    @staticmethod
    def _fit(similar, labels):
        import numpy as np

        cuts = np.unique(similar)
        return cuts[np.argmax(((similar > cuts[:, None]) == (labels == 0)).mean(1))]

    def grade(self, frame):
        """Grades for `frame` (question, answer)."""
        return [self.values[int(s <= self.cut)] for s in self.similarity(frame)]

    def out_of_fold(self):
        """Grades of the labelled answers, each question's by a cut point that never saw it."""
        items, labels = self.labelled["item"].to_numpy(), self.labelled["label"].to_numpy()
        return [
            self.values[int(s <= self._fit(self.similar[items != i], labels[items != i]))]
            for i, s in zip(items, self.similar)
        ]


JUDGE_PLAIN = {
    "values": PLAIN_GRADES,
    "template": "judge_nfp",
    "baseline": Echo,
    "fields": ("question", "answer"),
}


def labelled_plain(run):
    """The labelled answers to questions without a false presupposition: answer_id, item, question, answer, label, tone."""
    return run.load("cancer_myth_labelled_nfp").merge(
        run.load("cancer_myth_nfp_sample")[["item", "question"]], on="item", validate="many_to_one"
    )


def rated_plain(run):
    """`labelled_plain` and what the user's own raters labelled, for the trust cards."""
    return with_rated(run, labelled_plain(run), "cancer_myth_rated_nfp")


async def grade_myth(run, frame, labelled, judge=None):
    """Verdicts with cm.GRADES on answers to questions with a false presupposition."""
    return await run.grade(frame, cm.GRADES, "judge", labelled, judge)


async def grade_plain(run, frame, labelled, judge=None):
    """Verdicts with PLAIN_GRADES on answers to questions without one."""
    return await run.grade(frame, labelled=labelled, judge=judge, **JUDGE_PLAIN)


async def measure(run, sets, answered, labelled):
    """All answers graded: a row an answer, with set, status, value, hit and outcome (of exam questions).

    sets: {name: items} by SETS' names; answered: {method: answers}; labelled: {"myth": ..., "plain": ...}.
    """
    import pandas as pd

    parts = []
    for method, answers in answered.items():
        for (model, name), mine in answers.groupby(["model", "set"], sort=False):
            if name in SETS[:2]:
                frame = sets[name].merge(mine, on="item", validate="one_to_one")
                grade, kind = (grade_myth, "myth") if name == SETS[0] else (grade_plain, "plain")
                graded = frame.merge(
                    await grade(run, frame, labelled[kind]), on="item", validate="one_to_one"
                )
                graded = graded.assign(hit=graded["value"] == 1, outcome=None)
            else:
                graded = grade_exam(sets[name].drop(columns="question"), mine)
            parts.append(graded.assign(method=method, model=model, set=name))
    columns = [
        "item",
        "model",
        "method",
        "set",
        "answer",
        "reply_status",
        "truncated",
        "status",
        "value",
        "hit",
        "outcome",
        "complexity",
        "calls",
    ]
    return pd.concat([p.reindex(columns=columns) for p in parts], ignore_index=True)


def grade_exam(items, answered):
    """The option that each answer states: items and answers with status, value (the option), hit and outcome.

    outcome: right, wrong, not answered (no option stated, or several), refused, failed (no reply). Only right and wrong
    are graded.
    """
    frame = items.merge(answered, on="item", validate="one_to_many")
    value = [
        None if r.reply_status else judges.parse_option(r.answer, r.options)
        for r in frame.itertuples()
    ]
    outcome = [
        (
            "failed"
            if r.reply_status
            else (
                "right"
                if v == r.gold
                else (
                    "wrong"
                    if v
                    else "refused"
                    if judges.REFUSALS.match(r.answer)
                    else "not answered"
                )
            )
        )
        for r, v in zip(frame.itertuples(), value)
    ]
    frame = frame.assign(value=value, outcome=outcome)
    return frame.assign(
        hit=frame["outcome"] == "right", status=["graded" if v else "unscored" for v in value]
    )


def rates(graded):
    """Table 1's numbers, in percent with Wilson intervals: a row for each model, method and set, with bounds.

    graded: model, method, set, status, hit. hit: corrected (grade 1), nothing invented (1), or the right option.
    """
    import pandas as pd

    rows = []
    for (model, method, name), part in graded.groupby(["model", "method", "set"], sort=False):
        scored = part[part["status"] == "graded"]
        rows.append(
            {
                "row": f"{model} {method}",
                "column": name,
                **_share(int(scored["hit"].sum()), len(scored), len(part) - len(scored)),
            }
        )
    return pd.DataFrame(rows)


def _share(hits, n, lost=0):
    return {
        **dict(zip(("value", "low", "high", "n"), percent(hits, n))),
        "hits": hits,
        "unscored": lost,
        "least": 100 * hits / (n + lost),
        "most": 100 * (hits + lost) / (n + lost),
    }


def pairs_as_one(found):
    """The pair as one number, which the paper lacks: balanced accuracy for each row of `rates`, in percent."""
    import pandas as pd

    rows = []
    for row, part in found.groupby("row", sort=False):
        (hits, n), (kept, m) = (
            part.set_index("column").loc[list(SETS[:2]), ["hits", "n"]].to_numpy().tolist()
        )
        i = stats.balanced_accuracy(hits, n, kept, m)
        rows.append((row, "balanced accuracy", 100 * i.value, 100 * i.low, 100 * i.high, i.n))
    return pd.DataFrame(rows, columns=["row", "column", "value", "low", "high", "n"])


def printed_rates(run):
    """Table 1 as printed, as `rates` rows: intervals of the counts out of 585 and 150 that print as its percentages."""
    import pandas as pd

    size = dict(zip(SETS[:2], (585, 150)))
    printed = run.published("v2 Table 1")
    return pd.DataFrame(
        [
            {
                "row": r.row,
                "column": r.column,
                **_share(round(r.value * size[r.column] / 100), size[r.column]),
            }
            for r in printed.itertuples()
            if r.column in size
        ]
    )


def table1(found, run):
    """Table 1: printed and this run's rates, the pair as one number, and rates corrected for the judges' errors."""
    import pandas as pd

    printed = run.published("v2 Table 1").assign(source="published")
    again = printed_rates(run)
    parts = [
        printed[["row", "column", "source", "value"]],
        pairs_as_one(again).assign(source="recomputed"),
        with_bounds(found).assign(source="run"),
        pairs_as_one(found).assign(source="run"),
    ]
    better = []
    for r in found[found["column"].isin(SETS[:2])].itertuples():
        card = run.card(task="" if r.column == SETS[0] else NFP_TASK)
        if i := corrected(r.hits, r.n, card, run.rng("corrected", r.row, r.column)):
            better.append(
                (r.row, f"{r.column} corrected for the judge's errors", "run", *i, r.unscored)
            )
    parts.append(
        pd.DataFrame(
            better, columns=["row", "column", "source", "value", "low", "high", "n", "unscored"]
        )
    )
    return pd.concat(parts, ignore_index=True)


def tradeoff(found, run):
    """fig_tradeoff: correction (Cancer-Myth) and its price (Cancer-Myth-NFP), printed and this run's: table rows."""
    import pandas as pd

    printed = run.published("v2 Table 1")
    parts = {
        "published": printed[["row", "column", "value"]],
        "recomputed": printed_rates(run),
        "run": found,
    }
    frame = pd.concat(
        [rows.assign(source=source) for source, rows in parts.items()], ignore_index=True
    )
    return frame[frame["column"].isin(SETS[:2])][
        ["row", "column", "source", "value", "low", "high", "n", "unscored"]
    ]


def against_plain(graded, run):
    """Each method against plain on the items that both have graded: `cm.compare`'s columns; Holm over all."""
    import pandas as pd

    rows = []
    graded = graded.assign(value=graded["hit"].astype(int))
    for (model, name), part in graded.groupby(["model", "set"], sort=False):
        for method in part["method"].unique():
            if method != "plain":
                two = part[part["method"].isin([method, "plain"])]
                two = two.assign(
                    model=two["method"].map({"plain": "2", method: "1"})
                )  # in this order
                rows.append(
                    cm.compare(two, run).assign(row=f"{model} {method} against plain, {name}")
                )
    frame = pd.concat(rows, ignore_index=True)
    return frame.assign(mcnemar_holm=stats.holm(frame["mcnemar"].to_numpy(float)))


def outcomes(graded):
    """What became of each method's answers: exam outcomes in percent, calls per answer, agents' complexity: table rows."""
    rows = []
    for (model, method, name), part in graded.groupby(["model", "method", "set"], sort=False):
        row = f"{model} {method}, {name}"
        if part["outcome"].notna().any():
            rows += [
                (row, o, "run", 100 * (part["outcome"] == o).mean(), len(part))
                for o in ("right", "wrong", "not answered", "refused", "failed")
            ]
        else:
            rows += [
                (row, "no answer", "run", 100 * (part["reply_status"] != "").mean(), len(part))
            ]
        rows += [(row, "cut off at the limit", "run", 100 * part["truncated"].mean(), len(part))]
        if part["calls"].notna().any():
            rows += [(row, "calls for an answer", "run", part["calls"].mean(), len(part))]
            rows += [
                (row, f"complexity {level or 'not stated'}", "run", 100 * share, len(part))
                for level, share in (
                    part["complexity"].value_counts(normalize=True).sort_index().items()
                )
            ]
    return table_rows(rows)


SHAPES = {
    "Plain": "plain",
    "GEPA": "gepa",
    "with MDAgents Plain": "multi_agent",
    "with MDAgents Monitor": "multi_agent_monitor",
}


def marked(shown):
    """`tradeoff`'s printed and run rows with what `plots.plane` needs: label, shape (the method), origin (before the cure)."""
    shown = shown[shown["source"] != "recomputed"]
    printed = shown["source"] == "published"
    model, method = shown["row"].str.split(" ").str[0], shown["row"].str.split(" ", n=1).str[1]
    before = (
        shown["row"]
        .str.replace("GEPA|Monitor", "Plain", regex=True)
        .where(
            printed,
            model
            + " "
            + method.map(
                {"multi_agent": "multi_agent", "multi_agent_monitor": "multi_agent"}
            ).fillna("plain"),
        )
    )
    names = model + method.str.startswith("with ").map({True: ", MDAgents", False: ""})
    return shown.assign(
        label=names.where(printed | (model[~printed].nunique() > 1), ""),
        shape=method.replace(SHAPES),
        origin=before.where(before != shown["row"], ""),
    )


def claims(run, absent):
    """What the second version says about the cures, held against its own Table 1, and what waits for other runs."""
    cell = run.published("v2 Table 1").set_index(["row", "column"])["value"]
    pair = {
        q: part["value"].tolist() for q, part in derived(run).groupby("quantity")
    }  # said, recomputed
    cures = {
        "GPT-4o": ("GPT-4o Plain", "GPT-4o GEPA"),
        "Gemini-2.5-Pro": ("Gemini-2.5-Pro Plain", "Gemini-2.5-Pro GEPA"),
        "MDAgents": ("GPT-4o with MDAgents Plain", "GPT-4o with MDAgents Monitor"),
    }
    change = {
        s: {name: cell[after, s] - cell[before, s] for name, (before, after) in cures.items()}
        for s in SETS
    }
    shown = {s: ", ".join(f"{name} {c:+.0f}" for name, c in by.items()) for s, by in change.items()}
    one = pairs_as_one(printed_rates(run)).set_index("row")
    points = [-change[s][name] for name in ("GPT-4o", "Gemini-2.5-Pro") for s in SETS[2:]]
    over_said, over = pair["Gemini-2.5-Pro with GEPA, over-correction, %"]
    monitor_said, monitor = pair["GPT-4o with MDAgents and monitor, over-correction, %"]
    (least, lowest), (most, highest) = (
        pair[f"{k} drop on other benchmarks with GEPA, %"] for k in ("least", "largest")
    )
    alone, team = (
        [cell[row, s] for s in (SETS[2], SETS[0])]
        for row in ("GPT-4o Plain", "GPT-4o with MDAgents Plain")
    )
    for id, claim, printed, computed, holds in (
        (
            "cm-cures-correct",
            "Each cure raises the correction rate",
            "up to 88%",
            shown[SETS[0]],
            min(change[SETS[0]].values()) > 0,
        ),
        (
            "cm-cures-over-correct",
            "Each cure makes the model over-correct more",
            "trade-off",
            shown[SETS[1]],
            max(change[SETS[1]].values()) < 0,
        ),
        (
            "cm-cures-exams",
            "Each cure costs accuracy on the exam questions",
            "drops",
            f"MedQA {shown[SETS[2]]}; PubMedQA {shown[SETS[3]]}",
            max([*change[SETS[2]].values(), *change[SETS[3]].values()]) < 0,
        ),
        (
            "cm-gepa-drop-range",
            "GEPA costs 5 to 15% on other benchmarks",
            f"{least:.0f} to {most:.0f}%",
            (
                f"{min(points):.0f} to {max(points):.0f} points, {lowest:.1f} to {highest:.1f}% of"
                " the plain accuracy"
            ),
            (round(lowest), round(highest)) == (least, most),
        ),
        (
            "cm-gepa-over-28",
            (
                "Gemini-2.5-Pro with GEPA over-corrects 28% of the questions without a false"
                " presupposition"
            ),
            f"{over_said:.0f}%",
            f"{over:.0f}% by Table 1; 28 is the fall from 96 to 68",
            over == over_said,
        ),
        (
            "cm-monitor-65",
            "With the monitor 65% of such questions are taken to hold a false presupposition",
            f"{monitor_said:.0f}%",
            f"{monitor:.0f}% by Table 1",
            monitor == monitor_said,
        ),
        (
            "cm-agents-exams",
            "MDAgents helps on exam questions and not on false presuppositions",
            "better on MedQA, 2% on Cancer-Myth",
            (
                f"MedQA {team[0]:.0f} against {alone[0]:.0f}; Cancer-Myth {team[1]:.0f} against"
                f" {alone[1]:.0f}"
            ),
            team[0] > alone[0] and team[1] < alone[1],
        ),
        (
            "cm-cures-lose-overall",
            (
                "What the cures gain in correction is lost in over-correction (read as: balanced"
                " accuracy does not rise)"
            ),
            "no panacea",
            "; ".join(
                f"{name} {one.loc[before, 'value']:.1f} to {one.loc[after, 'value']:.1f}"
                for name, (before, after) in cures.items()
            ),
            not any(
                one.loc[after, "low"] > one.loc[before, "high"] for before, after in cures.values()
            ),
        ),
        (
            "cm-gpt4o-coin",
            (
                "GPT-4o without a cure does better than an answerer that ignores the question (our"
                " reading)"
            ),
            "12% and 88%",
            "balanced accuracy {:.1f} [{:.1f}, {:.1f}]".format(
                *one.loc["GPT-4o Plain", ["value", "low", "high"]]
            ),
            one.loc["GPT-4o Plain", "low"] > 50,
        ),
    ):
        run.claim(id, reading(computed, bool(holds)), basis="recomputed")
    run.claim("cm-cures-rerun")
    if absent:
        run.claim("cm-medqa")
