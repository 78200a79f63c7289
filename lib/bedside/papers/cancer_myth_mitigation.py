"""Cancer-Myth, second version: what the methods are measured on and how.

Questions with a false presupposition (PCR), questions without one (share of answers that invent none), and exam
questions (accuracy).
"""

import re

from .. import BedsideError, judges, sources, stats
from . import cancer_myth as cm
from .cancer_myth_tables import corrected, table_rows, with_bounds

SETS = ("Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA")      # Table 1's columns
NFP_TASK = "no false presupposition"    # the second task of a judge, with a trust card of its own
PLAIN_GRADES = [0, 1]       # an answer to a question without a false presupposition: invents one, or doesn't


def exam_items(run, name, size=0):
    """Exam questions of a set, MedQA or PubMedQA: item, question (as asked), options, gold; `size` drawn with the seed.

    None for a set that is optional and not there.
    """
    source = {"MedQA": "medqa", "PubMedQA": "pubmedqa"}[name] + ("_sample" if run.profile == "sample" else "")
    if source == "pubmedqa":
        frame = run.load("pubmedqa_labelled").merge(run.load("pubmedqa_test").rename(columns={"value": "gold"}), on="key",
                                                    validate="one_to_one")
        frame = frame.assign(item="pubmedqa-" + frame["key"])
    elif not sources.here(source) and sources.entry(source).get("optional"):
        return None
    else:
        frame = run.load(source)
        if "item" not in frame:
            frame = frame.assign(item=[f"medqa-{i}" for i in range(len(frame))])
    if name == "PubMedQA":
        frame = frame.assign(gold=frame.get("gold", frame["final_decision"]), context=frame["CONTEXTS"].map("\n".join),
                             text=frame["QUESTION"], options=[{o: o for o in ("yes", "no", "maybe")}] * len(frame))
    else:
        frame = frame.assign(gold=frame["answer_idx"], context="", text=frame["question"])
    wrong = [r.item for r in frame.itertuples() if r.gold not in r.options]
    if wrong:
        raise BedsideError(f"source {source!r}: the answer of {wrong[0]!r} is none of its options")
    frame = cm.drawn(cm.limited(frame[["item", "gold", "context", "text", "options"]], run), size, run)
    asked = [run.prompt("exam", context=r.context, question=r.text, options=r.options)[-1]["content"] for r in frame.itertuples()]
    return frame.assign(question=asked)[["item", "question", "options", "gold"]]


def split(items, train, size, run):
    """(training, reported) questions, drawn with the seed: no item in both; `size` 0 reports all that aren't trained on."""
    order = run.rng("split").permutation(len(items))
    if train >= len(items):
        raise BedsideError(f"{train} of {len(items)} questions to train on leaves none to report: lower the training split")
    reported = order[train:train + size] if size else order[train:]
    return tuple(items.iloc[sorted(part)].reset_index(drop=True) for part in (order[:train], reported))


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

        words = HashingVectorizer(stop_words="english", alternate_sign=False)
        return np.array([(words.transform(re.split(r"(?<=[.!?;])\s+", a)) @ words.transform([q]).T).toarray().max()
                         for q, a in zip(frame["question"], frame["answer"])])

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
        return [self.values[int(s <= self._fit(self.similar[items != i], labels[items != i]))] for i, s in zip(items, self.similar)]


JUDGE_PLAIN = {"values": PLAIN_GRADES, "template": "judge_nfp", "baseline": Echo, "fields": ("question", "answer")}


def labelled_plain(run):
    """The labelled answers to questions without a false presupposition: answer_id, item, question, answer, label, tone."""
    return run.load("cancer_myth_labelled_nfp").merge(run.load("cancer_myth_nfp_sample")[["item", "question"]], on="item",
                                                      validate="many_to_one")


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
                graded = frame.merge(await grade(run, frame, labelled[kind]), on="item", validate="one_to_one").assign(outcome=None)
                graded["hit"] = graded["value"] == 1
            else:
                graded = grade_exam(sets[name].drop(columns="question"), mine)
            parts.append(graded.assign(method=method, model=model, set=name))
    columns = ["item", "model", "method", "set", "answer", "reply_status", "truncated", "status", "value", "hit", "outcome", "complexity", "calls"]
    return pd.concat([p.reindex(columns=columns) for p in parts], ignore_index=True)


def grade_exam(items, answered):
    """The option that each answer states: items and answers with status, value (the option), hit and outcome.

    outcome: right, wrong, not answered (no option stated, or several), refused, failed (no reply). Only right and wrong
    are graded.
    """
    frame = items.merge(answered, on="item", validate="one_to_many")
    value = [None if r.reply_status else judges.parse_option(r.answer, r.options) for r in frame.itertuples()]
    outcome = ["failed" if r.reply_status else "right" if v == r.gold else "wrong" if v else
               "refused" if judges.REFUSALS.match(r.answer) else "not answered" for r, v in zip(frame.itertuples(), value)]
    frame = frame.assign(value=value, outcome=outcome)
    return frame.assign(hit=frame["outcome"] == "right", status=["graded" if v else "unscored" for v in value])


def rates(graded):
    """Table 1's numbers, in percent with Wilson intervals: a row for each model, method and set, with bounds.

    graded: model, method, set, status, hit. hit: corrected (grade 1), nothing invented (1), or the right option.
    """
    import pandas as pd

    rows = []
    for (model, method, name), part in graded.groupby(["model", "method", "set"], sort=False):
        scored = part[part["status"] == "graded"]
        rows.append({"row": f"{model} {method}", "column": name,
                     **_share(int(scored["hit"].sum()), len(scored), len(part) - len(scored))})
    return pd.DataFrame(rows)


def _share(hits, n, lost=0):
    i, whole = stats.wilson(hits, n), n + lost
    return {"value": 100 * i.value, "low": 100 * i.low, "high": 100 * i.high, "n": n, "hits": hits, "unscored": lost,
            "least": 100 * hits / whole, "most": 100 * (hits + lost) / whole}


def pairs_as_one(found):
    """The pair as one number, which the paper lacks: balanced accuracy for each row of `rates`, in percent."""
    import pandas as pd

    rows = []
    for row, part in found.groupby("row", sort=False):
        (hits, n), (kept, m) = part.set_index("column").loc[list(SETS[:2]), ["hits", "n"]].to_numpy().tolist()
        i = stats.balanced_accuracy(hits, n, kept, m)
        rows.append((row, "balanced accuracy", 100 * i.value, 100 * i.low, 100 * i.high, i.n))
    return pd.DataFrame(rows, columns=["row", "column", "value", "low", "high", "n"])


def printed_rates(run):
    """Table 1 as printed, as `rates` rows: intervals of the counts out of 585 and 150 that print as its percentages."""
    import pandas as pd

    size = dict(zip(SETS[:2], (585, 150)))
    printed = run.published("v2 Table 1")
    return pd.DataFrame([{"row": r.row, "column": r.column, **_share(round(r.value * size[r.column] / 100), size[r.column])}
                         for r in printed.itertuples() if r.column in size])


def table1(found, run):
    """Table 1: printed and this run's rates, the pair as one number, and rates corrected for the judges' errors."""
    import pandas as pd

    printed = run.published("v2 Table 1").assign(source="published")
    again = printed_rates(run)
    parts = [printed[["row", "column", "source", "value"]], pairs_as_one(again).assign(source="recomputed"),
             with_bounds(found).assign(source="run"), pairs_as_one(found).assign(source="run")]
    better = []
    for r in found[found["column"].isin(SETS[:2])].itertuples():
        card = run.card(task="" if r.column == SETS[0] else NFP_TASK)
        if i := corrected(r.hits, r.n, card, run.rng("corrected", r.row, r.column)):
            better.append((r.row, f"{r.column} corrected for the judge's errors", "run", *i, r.unscored))
    parts.append(pd.DataFrame(better, columns=["row", "column", "source", "value", "low", "high", "n", "unscored"]))
    return pd.concat(parts, ignore_index=True)


def tradeoff(found, run):
    """fig_tradeoff: correction and over-correction in percent, printed and this run's: table rows."""
    import pandas as pd

    parts = []
    for source, rows in (("published", printed_rates(run)), ("run", found[found["column"].isin(SETS[:2])])):
        over = rows[rows["column"] == SETS[1]]
        over = over.assign(column="over-correction", value=100 - over["value"], low=100 - over["high"], high=100 - over["low"])
        parts += [rows[rows["column"] == SETS[0]].assign(column="correction", source=source), over.assign(source=source)]
    return pd.concat(parts, ignore_index=True)[["row", "column", "source", "value", "low", "high", "n", "unscored"]]


def against_plain(graded, run):
    """Each method against plain on the items that both have graded: `cm.compare`'s columns; Holm over all."""
    import pandas as pd

    rows = []
    graded = graded.assign(value=graded["hit"].astype(int))
    for (model, name), part in graded.groupby(["model", "set"], sort=False):
        for method in part["method"].unique():
            if method != "plain":
                two = part[part["method"].isin([method, "plain"])]
                two = two.assign(model=two["method"].map({"plain": "2", method: "1"}))     # in this order
                rows.append(cm.compare(two, run).assign(row=f"{model} {method} against plain, {name}"))
    frame = pd.concat(rows, ignore_index=True)
    return frame.assign(mcnemar_holm=cm.holm(frame["mcnemar"]))


def outcomes(graded):
    """What became of each method's answers: exam outcomes in percent, calls per answer, agents' complexity: table rows."""
    rows = []
    for (model, method, name), part in graded.groupby(["model", "method", "set"], sort=False):
        row = f"{model} {method}, {name}"
        if part["outcome"].notna().any():
            rows += [(row, o, "run", 100 * (part["outcome"] == o).mean(), len(part))
                     for o in ("right", "wrong", "not answered", "refused", "failed")]
        else:
            rows += [(row, "no answer", "run", 100 * (part["reply_status"] != "").mean(), len(part))]
        rows += [(row, "cut off at the limit", "run", 100 * part["truncated"].mean(), len(part))]
        if part["calls"].notna().any():
            rows += [(row, "calls for an answer", "run", part["calls"].mean(), len(part))]
            rows += [(row, f"complexity {level or 'not stated'}", "run", 100 * share, len(part))
                     for level, share in part["complexity"].value_counts(normalize=True).sort_index().items()]
    return table_rows(rows)


SHAPES = {"Plain": "plain", "GEPA": "gepa", "with MDAgents Plain": "multi_agent", "with MDAgents Monitor": "multi_agent_monitor"}


def marked(shown):
    """`tradeoff` rows with what `plots.plane` needs: label, shape (the method) and from_label (the row without a cure)."""
    printed = shown["source"] == "published"
    model = shown["row"].str.split(" ").str[0]
    method = shown["row"].str.split(" ", n=1).str[1]
    before = (model + " " + method.str.replace("GEPA", "Plain").str.replace("Monitor", "Plain")).where(printed, model + " plain")
    agents = method.str.startswith("with ") & printed
    return shown.assign(label=(model + agents.map({True: ", MDAgents", False: ""})).where(printed | (model.nunique() > 3), ""), shape=method.replace(SHAPES),
                        from_label=before.where(before != shown["row"], ""))


def claims(run, absent):
    """What the second version says about the cures, held against its own Table 1, and what waits for other runs."""
    cell = run.published("v2 Table 1").set_index(["row", "column"])["value"]
    said = run.published("v2 text results").set_index(["row", "column"])["value"]
    pairs = [("GPT-4o", "GPT-4o GEPA", "GPT-4o Plain"), ("Gemini-2.5-Pro", "Gemini-2.5-Pro GEPA", "Gemini-2.5-Pro Plain"),
             ("MDAgents", "GPT-4o with MDAgents Monitor", "GPT-4o with MDAgents Plain")]
    change = {(name, s): cell[cure, s] - cell[before, s] for name, cure, before in pairs for s in SETS}
    one = pairs_as_one(printed_rates(run)).set_index("row")
    rise = {name: f"{one.loc[before, 'value']:.1f} to {one.loc[cure, 'value']:.1f}" for name, cure, before in pairs}
    over = 100 - cell["Gemini-2.5-Pro GEPA", SETS[1]]
    monitor = 100 - cell["GPT-4o with MDAgents Monitor", SETS[1]]
    drops = [-change[name, s] for name in ("GPT-4o", "Gemini-2.5-Pro") for s in SETS[2:]]
    relative = [100 * -change[n, s] / cell[f"{n} Plain", s] for n in ("GPT-4o", "Gemini-2.5-Pro") for s in SETS[2:]]
    agents = cell["GPT-4o with MDAgents Plain", SETS[0]]

    def points(s):
        return ", ".join(f"{name} {change[name, s]:+.0f}" for name, *_ in pairs)
    for id, claim, printed, computed, holds in (
            ("cm-cures-correct", "Each cure raises the correction rate", "up to 88%", points(SETS[0]), all(change[n, SETS[0]] > 0 for n, *_ in pairs)),
            ("cm-cures-over-correct", "Each cure makes the model over-correct more", "trade-off", points(SETS[1]), all(change[n, SETS[1]] < 0 for n, *_ in pairs)),
            ("cm-cures-exams", "Each cure costs accuracy on the exam questions", "drops", f"MedQA {points(SETS[2])}; PubMedQA {points(SETS[3])}",
             all(change[n, s] < 0 for n, *_ in pairs for s in SETS[2:])),
            ("cm-gepa-drop-range", "GEPA costs 5 to 15% on other benchmarks", f"{said['Drop on other benchmarks with GEPA', 'least']:.0f} to "
             f"{said['Drop on other benchmarks with GEPA', 'most']:.0f}%", f"{min(drops):.0f} to {max(drops):.0f} points, {min(relative):.1f} to "
             f"{max(relative):.1f}% of the plain accuracy", round(min(relative)) == 5 and round(max(relative)) == 15),
            ("cm-gepa-over-28", "Gemini-2.5-Pro with GEPA over-corrects 28% of the questions without a false presupposition",
             f"{said['Gemini-2.5-Pro with GEPA', 'over-correction']:.0f}%", f"{over:.0f}% by Table 1; 28 is the fall from 96 to 68", over == 28),
            ("cm-monitor-65", "With the monitor 65% of such questions are taken to hold a false presupposition",
             f"{said['Monitor misidentifies', 'percent']:.0f}%", f"{monitor:.0f}% by Table 1", monitor == said["Monitor misidentifies", "percent"]),
            ("cm-agents-exams", "MDAgents helps on exam questions and not on false presuppositions", "better on MedQA, 2% on Cancer-Myth",
             f"MedQA {cell['GPT-4o with MDAgents Plain', SETS[2]]:.0f} against {cell['GPT-4o Plain', SETS[2]]:.0f}; Cancer-Myth {agents:.0f} against "
             f"{cell['GPT-4o Plain', SETS[0]]:.0f}", cell["GPT-4o with MDAgents Plain", SETS[2]] > cell["GPT-4o Plain", SETS[2]] and agents < cell["GPT-4o Plain", SETS[0]]),
            ("cm-cures-lose-overall", "What the cures gain in correction they lose in over-correction (read as: balanced accuracy does not rise)",
             "no panacea", "; ".join(f"{name} {r}" for name, r in rise.items()), not any(
                 one.loc[cure, "low"] > one.loc[before, "high"] for _, cure, before in pairs)),
            ("cm-gpt4o-coin", "GPT-4o without a cure does better than an answerer that ignores the question (our reading)", "12% and 88%",
             "balanced accuracy {:.1f} [{:.1f}, {:.1f}]".format(*one.loc["GPT-4o Plain", ["value", "low", "high"]]), one.loc["GPT-4o Plain", "low"] > 50)):
        run.claim(id, "version 2, Table 1", claim, published=printed, computed=computed, basis="recomputed", holds=bool(holds))
    run.claim("cm-cures-rerun", "version 2, Table 1", "The cures do the same when run again", published="Table 1",
              needs="the paper's models: MODELS= with your keys and MODE=record")
    if absent:
        run.claim("cm-medqa", "version 2, Table 1", "Accuracy on MedQA falls with the cures", published="70 to 63, 92 to 85, 89 to 86",
                  needs="MedQA's test split (source medqa): `make data PROFILE=public` fetches it where there is a network")
