"""Cancer-Myth: questions, the loop that generates them (section 3), answers, verdicts, PCS and PCR (section 4.2).

Frames are long, with `item` and `model` columns, joined by id.
"""

import json

from bedside import checks, stats
from bedside.judges import with_rated
from bedside.models import Request, answers_of, json_object, response_format
from bedside.sources import limited

GRADES = [-1, 0, 1]  # section 3.2: unaware, aware but incomplete, corrected
CATEGORIES = {
    "only/standard treatment": "Only/Standard Treatment",
    "no treatment": "No Treatment",
    "inevitable side effect": "Inevitable Side Effect",
    "causal misattribution": "Causal Misattribution",
    "underestimate risk": "Underestimated Risk",
    "no symptoms means no disease": "No Symptom, No Disease",
    "other": "Others",
}
GENERATORS = {
    "gpt-4o": "GPT-4o",
    "gemini-1.5-pro": "Gemini-1.5-Pro",
    "claude-3-5-sonnet": "Claude-3.5-Sonnet",
    "claude-3.5-sonnet": "Claude-3.5-Sonnet",
    "manual": "Manual",
}  # the released files spell one in two ways
HARD, EASY, PER_MYTH = (
    6,
    2,
    3,
)  # section 3.2: at most K_h and K_e examples, M questions for each myth


def questions(run, whole=False):
    """Questions with a false presupposition: item, question, correction, category, cancer, generator; LIMIT or the whole set."""
    if run.profile == "sample":
        frame = run.load("cancer_myth_questions_sample").assign(generator="Bedside's authors")
    else:
        frame = run.load("cancer_myth_released").rename(
            columns={"presupposition_correction": "correction"}
        )
        frame = frame.assign(
            item="cm-" + frame["QID"].astype(str), generator=frame["from_model"].map(GENERATORS)
        )
    frame = frame.assign(category=frame["category"].map(CATEGORIES))
    return limited(
        run, frame[["item", "question", "correction", "category", "cancer", "generator"]], whole
    )


def plain_questions(run, whole=False):
    """Questions without a false presupposition (Cancer-Myth-NFP, second version): item, question; LIMIT or the whole set."""
    if run.profile == "sample":
        frame = run.load("cancer_myth_nfp_sample")
    else:
        frame = run.load("cancer_myth_nfp").rename(columns={"example_question": "question"})
        frame = frame.assign(item="nfp-" + frame["QID"].astype(str))
    return limited(run, frame[["item", "question"]], whole)


def labelled(run):
    """The labelled answers with their questions: answer_id, item, question, correction, answer, label, tone."""
    return run.load("cancer_myth_labelled").merge(
        run.load("cancer_myth_questions_sample")[["item", "question", "correction"]],
        on="item",
        validate="many_to_one",
    )


def rated(run):
    """`labelled` and what the user's own raters labelled, for the trust cards; judges learn from `labelled` alone."""
    return with_rated(run, labelled(run), "cancer_myth_rated")


async def answers(run, items, max_tokens, models=None, template="answer", **fields):
    """`Run.answers` to questions, zero-shot (section 4.2); another `template` gets the `fields`. A refusal corrects nothing."""
    prompts = {
        r.item: run.prompt(template, question=r.question, **fields) for r in items.itertuples()
    }
    return await answers_of(run, prompts, max_tokens, models)


async def verdicts(run, items, answered, example, judge=None):
    """Grades of all answers by the run's judge or another: `items`, `answered`, status and value, one row an answer."""
    import pandas as pd

    parts = []
    for _, mine in answered.groupby("model", sort=False):
        frame = items.merge(mine, on="item", validate="one_to_one")
        parts.append(
            frame.merge(
                await run.grade(frame, GRADES, "judge", example, judge),
                on="item",
                validate="one_to_one",
            )
        )
    return pd.concat(parts, ignore_index=True)


def scores(graded, run, by=()):
    """PCS and PCR (section 4.2) by model and `by`: rows with value, low, high, n, unscored and their bounds.

    PCS in -1..1 is the mean grade, with a bootstrap interval over questions (of no width where all grades are equal,
    which is no certainty); PCR the percentage of grade 1, with a Wilson interval. least and most are the scores if all
    unscored answers had been worst or best.
    """
    import pandas as pd

    rows = []
    for key, part in graded.groupby(["model", *by], sort=False):
        value = part.loc[part["status"] == "graded", "value"].to_numpy(dtype=float)
        lost = len(part) - len(value)
        for metric, v, worst in (("PCS", value, -1.0), ("PCR", 100.0 * (value == 1), 0.0)):
            best = 1.0 if metric == "PCS" else 100.0
            if metric == "PCR" or not len(v):
                i, k = stats.wilson(int((v == best).sum()), len(v)), best
            else:
                i, k = stats.bootstrap(v, run.rng("scores", metric, *key)), 1
            rows.append(
                {
                    **dict(zip(["model", *by], key)),
                    "metric": metric,
                    "value": k * i.value,
                    "low": k * i.low,
                    "high": k * i.high,
                    "n": i.n,
                    "unscored": lost,
                    "least": (v.sum() + worst * lost) / len(part),
                    "most": (v.sum() + best * lost) / len(part),
                }
            )
    return pd.DataFrame(rows)


def compare(graded, run):
    """Paired tests between models on shared questions: McNemar on PCR, permutation on PCS, Holm over the pairs.

    A pair without a shared question has n 0 and no numbers.
    """
    import itertools

    import pandas as pd

    wide = (
        graded[graded["status"] == "graded"]
        .pivot(index="item", columns="model", values="value")
        .astype(float)
    )
    rows = []
    for a, b in itertools.combinations(sorted(graded["model"].unique()), 2):
        both = wide.reindex(columns=[a, b]).dropna()
        row = {"row": f"{a} vs {b}", "n": len(both)}
        if len(both):
            x, y = both[a].to_numpy(), both[b].to_numpy()
            row |= {
                "difference": 100 * ((x == 1).mean() - (y == 1).mean()),
                "mcnemar": stats.mcnemar(x == 1, y == 1),
                "permutation": stats.paired_permutation(x, y, run.rng(a, b)),
                "detectable": 100 * stats.mde_paired(len(both), ((x == 1) != (y == 1)).mean()),
            }
        rows.append(row)
    frame = pd.DataFrame(
        rows, columns=["row", "difference", "mcnemar", "permutation", "n", "detectable"]
    )
    return frame.assign(
        **{f"{p}_holm": stats.holm(frame[p].to_numpy(float)) for p in ("mcnemar", "permutation")}
    )


def in_seeded_order(items, size, run):
    """The first `size` (0: all) of an order drawn with the seed: a longer run goes on where a shorter one ended."""
    order = run.rng("order").permutation(len(items))
    return items.iloc[order[: size or len(items)]].reset_index(drop=True)


def myths(run):
    """The collected misconceptions (section 3.1): item, cancer, myth, fact, in the released order."""
    if run.profile == "sample":
        frame = run.load("cancer_myth_myths_sample")
    else:
        frame = run.load("cancer_myth_myths")
        frame = frame.assign(
            item=[f"myth-{i}" for i in range(1, len(frame) + 1)]
        )  # as source_row counts them
    return frame[["item", "cancer", "myth", "fact"]]


MYTHS_USED = {"sample": 10, "public": 16}  # by the loop, unless said otherwise


def used_myths(run, count=""):
    """The myths that the loop goes through: the first of a seeded order, LIMIT or all of them. count: as text, "0" for all."""
    return limited(run, in_seeded_order(myths(run), int(count or MYTHS_USED[run.profile]), run))


def candidates(run):
    """What the physicians reviewed (section 4.1): item, question, category, generator, spelled, first, myth; public only.

    first: of the set that was generated first and not balanced (appendix B.4). It is GPT-4o's and stands at the head of
    the file; it ends where another generator's questions begin.
    """
    frame = (
        run.load("cancer_myth_candidates")
        .rename(columns={"example_question": "question"})
        .sort_values("raw_QID")
    )
    frame = frame.assign(
        item="candidate-" + frame["raw_QID"].astype(str),
        category=frame["category"].map(CATEGORIES),
        generator=frame["from_model"].map(GENERATORS),
        spelled=frame["from_model"],
        myth=frame["source_row"],
    )
    frame["first"] = frame["generator"].isin(["GPT-4o", "Manual"]).cummin()
    return frame[
        ["item", "question", "category", "generator", "spelled", "first", "myth"]
    ].reset_index(drop=True)


def starting_examples(run):
    """What the loop starts from (appendix B.1): item, kind (valid or invalid), question, note (what is right, or why not)."""
    import pandas as pd

    if run.profile == "sample":
        return run.load("cancer_myth_examples_sample")[["item", "kind", "question", "note"]]
    parts = [
        run.load(f"cancer_myth_{kind}_examples").rename(columns={note: "note"}).assign(kind=kind)
        for kind, note in (("valid", "example_assumption"), ("invalid", "reason"))
    ]
    frame = pd.concat(parts, ignore_index=True).rename(columns={"example_question": "question"})
    return frame.assign(item=frame["kind"] + "-" + frame.index.astype(str))[
        ["item", "kind", "question", "note"]
    ]


def questions_schema(count):
    """The response format that asks for `count` questions with what sets their presuppositions right."""
    one = json_object(question={"type": "string"}, correction={"type": "string"})
    return response_format(
        "questions", questions={"type": "array", "items": one, "minItems": count, "maxItems": count}
    )


def generated(reply, count, known):
    """What a generator's reply holds: `count` triples (status, question, correction).

    status: new; copied (stands in `known`, normal texts that it has seen or written, which grows); else nothing usable
    came, and it says why: refused, truncated, unparsed, missing (fewer than asked for, or without text).
    """
    if reply.refusal or reply.finish == "content_filter":
        return [("refused", "", "")] * count
    try:
        found = [
            (q["question"].strip(), q["correction"].strip())
            for q in json.loads(reply.text)["questions"]
        ][:count]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [("truncated" if reply.truncated else "unparsed", "", "")] * count
    rows = []
    for question, correction in found:
        text = checks.normal(question)
        status = (
            "missing"
            if not text or not checks.normal(correction)
            else "copied"
            if text in known
            else "new"
        )
        known.add(text)
        rows.append((status, question, correction))
    return rows + [("missing", "", "")] * (count - len(rows))


async def generate(run, model, myths, start, example, *, settings, answer_tokens, count=PER_MYTH):
    """The adversarial loop of one generator (section 3.2): frames (questions, rounds), a row for each question and myth.

    Myth by myth: `count` questions are asked for, with up to HARD examples drawn from the valid set, up to EASY of the
    easy ones and all fixed invalid ones; the same model answers them, the run's judge grades the answers. Grade -1
    joins the valid set, 1 the easy ones, 0 and what has no grade neither. `settings` are the generator's. questions:
    generator, myth, item, question, correction, status (see `generated`), answer, verdict, value, joined. rounds:
    generator, myth, hard and easy (items shown), valid and invalid (sizes afterwards), stopped (why the loop ended here,
    else empty).

    Draws depend on seed, generator and myth alone and every reply is recorded, so that a loop cut off anywhere goes on
    where it was. A failed call ends it: what came after would rest on a gap.
    """
    import pandas as pd

    sets = {k: start[start["kind"] == k].to_dict("records") for k in ("valid", "invalid")} | {
        "easy": []
    }
    known = {checks.normal(q) for q in start["question"]}
    questions, rounds = [], []
    for myth in myths.itertuples():
        rng = run.rng("generation", model, myth.item)
        hard, easy = (_some(sets[k], n, rng) for k, n in (("valid", HARD), ("easy", EASY)))
        prompt = run.prompt(
            "generate",
            hard=hard,
            easy=easy,
            invalid=sets["invalid"],
            count=count,
            cancer=myth.cancer,
            myth=myth.myth,
            fact=myth.fact,
        )
        (reply,) = await run.ask(
            [
                Request(
                    myth.item,
                    model,
                    prompt,
                    {**settings, "seed": run.seed},
                    questions_schema(count),
                )
            ],
            "questions",
        )
        stopped, graded = reply.error, None
        if not stopped:
            mine = pd.DataFrame(
                generated(reply, count, known), columns=["status", "question", "correction"]
            )
            mine = mine.assign(
                generator=model,
                myth=myth.item,
                item=[f"{myth.item}-q{k}" for k in range(1, count + 1)],
            )
            graded, stopped = await _tried(run, model, mine, example, answer_tokens)
        if not stopped:
            for q in graded.to_dict("records"):
                if q["joined"] in ("valid", "easy"):
                    sets[q["joined"]].append(
                        {"item": q["item"], "question": q["question"], "note": q["correction"]}
                    )
            questions.append(graded)
        rounds.append(
            {
                "generator": model,
                "myth": myth.item,
                "hard": [e["item"] for e in hard],
                "easy": [e["item"] for e in easy],
                "valid": len(sets["valid"]),
                "invalid": len(sets["invalid"]) + len(sets["easy"]),
                "stopped": stopped,
            }
        )
        if stopped:
            break
    columns = [
        "generator",
        "myth",
        "item",
        "question",
        "correction",
        "status",
        "answer",
        "verdict",
        "value",
        "joined",
    ]
    return pd.concat([pd.DataFrame(columns=columns), *questions], ignore_index=True)[
        columns
    ], pd.DataFrame(rounds)


def _some(examples, most, rng):
    return [examples[i] for i in rng.choice(len(examples), min(most, len(examples)), replace=False)]


async def _tried(run, model, mine, example, max_tokens):
    """New questions answered and graded, and the set that each joins; and why the loop must stop, or nothing."""
    columns = {"answer": "", "verdict": "", "value": None, "joined": ""}
    new = mine[mine["status"] == "new"]
    if new.empty:
        return mine.assign(**columns), ""
    answered = await answers(run, new, max_tokens, [model])
    if (failed := answered["reply_status"][answered["reply_status"] != ""]).size:
        return mine, failed.iloc[0]
    new = new.merge(answered[["item", "answer", "reply_status"]], on="item", validate="one_to_one")
    verdict = await run.grade(new, GRADES, "judge", example)
    if (failed := verdict[verdict["status"] == "error"]).size:
        return mine, failed["raw"].iloc[0]
    verdict = verdict.drop(columns="raw").rename(columns={"status": "verdict"})
    new = new.drop(columns="reply_status").merge(verdict, on="item", validate="one_to_one")
    new["joined"] = new["value"].map({-1: "valid", 1: "easy"}).fillna("neither")
    mine = mine.merge(new[["item", *columns]], on="item", how="left", validate="one_to_one")
    return mine.fillna({"answer": "", "verdict": "", "joined": ""}), ""


class Categoriser:
    """The categoriser without a model: naive Bayes on the words of the corrections; `values` are the labels to learn."""

    def __init__(self, labelled, values):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.naive_bayes import ComplementNB
        from sklearn.pipeline import make_pipeline

        self.labelled = labelled
        self.model = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), ComplementNB()
        )
        self.model.fit(labelled["correction"], labelled["label"])

    def grade(self, frame):
        """Categories for `frame` (correction)."""
        return self.model.predict(frame["correction"]).tolist() if len(frame) else []

    def out_of_fold(self):
        """Categories of the labelled questions, each learnt from the others."""
        from sklearn.model_selection import LeaveOneOut, cross_val_predict

        return cross_val_predict(
            self.model, self.labelled["correction"], self.labelled["label"], cv=LeaveOneOut()
        ).tolist()


CATEGORISE = {
    "values": list(CATEGORIES),
    "template": "category",
    "baseline": Categoriser,
    "fields": ("question", "correction"),
    "key": "category",
    "max_tokens": 40,
}


async def categorise(run, items, learnt, judge=None):
    """Categories of questions (section 3.3): verdicts with one of CATEGORIES' keys as value, in their order.

    `learnt` (item, correction, label) is what the categoriser without a model learns from.
    """
    return await run.grade(
        items.assign(reply_status=""), labelled=learnt, judge=judge, **CATEGORISE
    )


def balance(items, per_model, per_category, rng, by="generator"):
    """Category-wise label balancing (Algorithm 1) of each generator's questions: the rows selected, in their order.

    Up to `per_category` of each category, all if there are no more; then, up to `per_model` in all, a random draw from
    what is left. As printed, the first step may pass `per_model`, and the second fills up from the large categories.
    """
    if unknown := set(items["category"]) - {*CATEGORIES, *CATEGORIES.values()}:
        raise ValueError(f"not a category: {sorted(map(str, unknown))}")
    chosen = []
    for _, mine in items.groupby(by, sort=False):
        rest, selected = [], []
        for _, part in mine.groupby("category", sort=True):
            order = part.index[rng.permutation(len(part))]
            selected += order[:per_category].tolist()
            rest += order[per_category:].tolist()
        more = min(max(per_model - len(selected), 0), len(rest))
        chosen += (
            selected + [rest[i] for i in rng.choice(len(rest), more, replace=False)]
            if more
            else selected
        )
    return items.loc[[i for i in items.index if i in set(chosen)]]
