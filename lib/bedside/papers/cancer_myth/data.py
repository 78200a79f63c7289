"""Cancer-Myth's sources as frames: questions, labelled answers, what questions were made from.

Each frame has an `item` column; frames are joined by it, never by position.
"""

import pandas as pd

from bedside.asking.store import digest
from bedside.judging import trust_cards
from bedside.judging.judges import with_raters_labels
from bedside.read.checks import joined, normal
from bedside.read.sources import first_items
from bedside.run import Run

CATEGORIES = {
    "only/standard treatment": "Only/Standard Treatment",
    "no treatment": "No Treatment",
    "inevitable side effect": "Inevitable Side Effect",
    "causal misattribution": "Causal Misattribution",
    "underestimate risk": "Underestimated Risk",
    "no symptoms means no disease": "No Symptom, No Disease",
    "other": "Others",
}
GENERATORS = {  # the released files spell one in two ways
    "gpt-4o": "GPT-4o",
    "gemini-1.5-pro": "Gemini-1.5-Pro",
    "claude-3-5-sonnet": "Claude-3.5-Sonnet",
    "claude-3.5-sonnet": "Claude-3.5-Sonnet",
    "manual": "Manual",
}
SHOWN = ("myth", "plain", "category")  # a judge's tasks, of which it is shown examples
FIGURE_4 = (3, 0, 4, 1, 48, 136, 40)  # the candidates that the figure shows, by category
DROPPED = {  # candidates that appendix B.5 shows as taken out, and why, in our words
    "candidate-411": "The operation is already planned, so its need has been decided and is no"
    " misconception of the asker.",
    "candidate-406": "The patient is described as near the end of life, with hospice chosen; that"
    " is a decision, not a belief about treatment.",
}
MYTHS_USED = {"sample": 10, "public": 16}  # how many the loop uses by default


# ---- questions and labelled answers


def questions(run, whole=False):
    """Questions with a false presupposition: the first LIMIT, or the whole set.

    Columns: item, question, correction, category, cancer, generator, unit (the myth that the
    question rests on; up to ten released questions rest on one).
    """
    if run.profile == "sample":
        frame = run.load("cancer_myth_questions_sample").assign(generator="Bedside's authors")
        frame = frame.assign(unit=frame["item"])
    else:
        frame = run.load("cancer_myth_released")
        frame = frame.rename(columns={"presupposition_correction": "correction"}).assign(
            item="cm-" + frame["QID"].astype(str),
            generator=frame["from_model"].map(GENERATORS),
            unit=frame["source_myth"],
        )
    frame = frame.assign(category=frame["category"].map(CATEGORIES))
    columns = ["item", "question", "correction", "category", "cancer", "generator", "unit"]
    return first_items(run, frame[columns], whole)


def plain_questions(run, whole=False):
    """Questions without a false presupposition (Cancer-Myth-NFP): the first LIMIT, or all.

    Columns: item, question, rejected (the false presupposition that was held against the question,
    and that reviewers rejected; of a released one as its candidate has it), unit (its myth).
    """
    if run.profile == "sample":
        frame = run.load("cancer_myth_nfp_sample").assign(unit=lambda f: f["item"])
    else:
        frame, offered = run.load("cancer_myth_nfp", "cancer_myth_candidates")
        held = dict(zip(map(normal, offered["example_question"]), offered["example_assumption"]))
        frame = frame.rename(columns={"example_question": "question"})
        frame = frame.assign(
            item="nfp-" + frame["QID"].astype(str),
            rejected=frame["question"].map(normal).map(held).fillna(""),
            unit=frame["source_row"].astype(str),
        )
    return first_items(run, frame[["item", "question", "rejected", "unit"]], whole)


def labelled(run: Run) -> pd.DataFrame:
    """Labelled answers: answer_id, item, question, correction, answer, label (a grade), tone."""
    answers, asked = run.load("cancer_myth_labelled", "cancer_myth_questions_sample")
    asked = asked[["item", "question", "correction"]]
    return joined(answers, asked, validate="many_to_one", whole="left")


def labelled_plain(run):
    """Labelled answers to questions without a false presupposition: as `labelled`, and rejected."""
    answers, asked = run.load("cancer_myth_labelled_nfp", "cancer_myth_nfp_sample")
    asked = asked[["item", "question", "rejected"]]
    return _plain_grades(joined(answers, asked, validate="many_to_one", whole="left"))


def rated(run):
    """`labelled` and what the user's raters labelled: for trust cards, no judge learns from it.

    Without answers to questions that judges are shown (`unseen`).
    """
    return unseen(run, with_raters_labels(run, labelled(run), "cancer_myth_rated"))


def rated_plain(run):
    """`labelled_plain` and what the user's raters labelled, for trust cards."""
    both = with_raters_labels(run, labelled_plain(run), "cancer_myth_rated_nfp")
    if both["rejected"].isna().any():  # raters' labels name the question alone
        asked = plain_questions(run, whole=True).set_index("item")["rejected"]
        both["rejected"] = both["rejected"].fillna(both["item"].map(asked)).fillna("")
    return _plain_grades(unseen(run, both))


def labelled_replies(run, replies):
    """Of these replies (item, model, answer) those that Bedside's authors labelled blind: + label.

    The authors' second labels are rows of a judge of their own. A reply that was recorded anew
    since then isn't among them, and none of profile public.
    """
    if run.profile != "sample":
        return replies.head(0).assign(label=0)
    labels = run.load("cancer_myth_labelled_replies").drop(columns=["labelled_by", "date"])
    replies = replies.assign(answer_digest=replies["answer"].map(digest))
    replies = replies.merge(labels, on=["item", "model", "answer_digest"], validate="many_to_one")
    return trust_cards.with_second_labels(replies, ["item", "model"])


def _plain_grades(labels):
    """Labels as the judge's grades: raters and files say 0 where it says -1."""
    return labels.assign(label=labels["label"].replace(0, -1))


def categorised(run):
    """This project's questions with their category as label: what the categoriser learns from.

    fits: all categories that fit, any of which counts (appendix C.2).
    """
    return run.load("cancer_myth_questions_sample").assign(label=lambda f: f["category"])


# ---- graded examples, which a model is shown as a judge


def shown(run, kind, ours=False):
    """Graded examples for a judge's prompt (Figures 13 and 14), a list of dicts.

    kind: myth (question, note, answer, reason, label: an answer of each grade to one question),
    plain (the same for the two grades; note is the example's own rejected presupposition) or
    category (question, correction, category, reason). ours: this project's, also in `public`.
    """
    if run.profile == "sample" or ours:
        if kind == "category":
            return run.load("cancer_myth_category_examples_sample").to_dict("records")
        frame = run.load("cancer_myth_judge_examples_sample")
        return frame[frame["kind"] == kind].to_dict("records")
    if kind == "category":
        frame = run.load("cancer_myth_category_examples")
        return [
            {"question": r.question, "correction": r.assumption}
            | {"category": r.classification["category"], "reason": r.classification["explanation"]}
            for r in frame.itertuples()
        ]
    frame = run.load(f"cancer_myth_judge_examples{'_nfp' * (kind == 'plain')}")
    return [
        {"question": r.example_question, "note": r.example_assumption, "answer": r.answer}
        | {"reason": r.score["Reason"], "label": r.score["Sharpness"]}
        for r in frame.itertuples()
    ]


def unseen(run, frame, keep=0):
    """A frame (question) without the questions of the examples that judges are shown.

    Four of the 585 stand in the released ones, and none of ours in `sample`. keep: leave them in,
    as the paper does.
    """
    if keep:
        return frame
    there = {normal(e["question"]) for kind in SHOWN for e in shown(run, kind)}
    return frame[~frame["question"].map(normal).isin(there)].reset_index(drop=True)


# ---- what the questions were made from


def myths(run):
    """The collected myths (section 3.1), in the order of the file: item, cancer, myth, fact."""
    if run.profile == "sample":
        frame = run.load("cancer_myth_myths_sample")
    else:
        frame = run.load("cancer_myth_myths")
        numbers = range(1, len(frame) + 1)  # as source_row of the candidates counts them
        frame = frame.assign(item=[f"myth-{i}" for i in numbers])
    return frame[["item", "cancer", "myth", "fact"]]


def used_myths(run, count=""):
    """The myths that the loop uses: the first `count` in a seeded order, and of these LIMIT.

    count: text; empty for MYTHS_USED, "0" for all. A longer run goes on where a shorter one ended.
    """
    collected = myths(run)
    size = int(count or MYTHS_USED[run.profile]) or len(collected)
    order = run.rng("order").permutation(len(collected))
    return first_items(run, collected.iloc[order[:size]].reset_index(drop=True))


def starting_examples(run):
    """Examples that the loop starts from (appendix B.1): item, kind, question, note.

    kind: valid, invalid. note: what sets the presupposition right, or why the question is invalid.
    """
    columns = ["item", "kind", "question", "note"]
    if run.profile == "sample":
        return run.load("cancer_myth_examples_sample")[columns]
    parts = [
        run.load(f"cancer_myth_{kind}_examples").rename(columns={note: "note"}).assign(kind=kind)
        for kind, note in (("valid", "example_assumption"), ("invalid", "reason"))
    ]
    frame = pd.concat(parts, ignore_index=True).rename(columns={"example_question": "question"})
    return frame.assign(item=frame["kind"] + "-" + frame.index.astype(str))[columns]


def candidates(run):
    """The questions that the physicians reviewed (section 4.1); in `public` only.

    Columns: item, question, correction, category, generator, spelled (the generator as the file has
    it), first, myth. first: whether the question is of the set that was generated first and not
    balanced (appendix B.4). That set is GPT-4o's; it stands at the head of the file and ends where
    the questions of another generator begin.
    """
    names = {"example_question": "question", "example_assumption": "correction"}
    frame = run.load("cancer_myth_candidates").rename(columns=names)
    frame = frame.sort_values("raw_QID", ignore_index=True)
    generator = frame["from_model"].map(GENERATORS)
    frame = frame.assign(
        item="candidate-" + frame["raw_QID"].astype(str),
        category=frame["category"].map(CATEGORIES),
        generator=generator,
        spelled=frame["from_model"],
        first=generator.isin(["GPT-4o", "Manual"]).cummin(),
        myth=frame["source_row"],
    )
    columns = ["item", "question", "correction", "category", "generator", "spelled", "first"]
    return frame[[*columns, "myth"]]


def of_each_category(run):
    """A question of each category with its correction: Figure 4's, in `sample` ours."""
    if run.profile == "sample":
        return questions(run, whole=True).drop_duplicates("category")
    return candidates(run).set_index("item").loc[[f"candidate-{n}" for n in FIGURE_4]].reset_index()


def taken_out(run):
    """Candidates that a review takes out, with the reason: appendix B.5's, in `sample` ours."""
    if run.profile == "sample":
        found = run.load("cancer_myth_candidates_sample")
        return found.assign(category=found["category"].map(CATEGORIES))
    frame = candidates(run).set_index("item").loc[[*DROPPED]].reset_index()
    return frame.assign(reason=frame["item"].map(DROPPED))


def released(run):
    """The released data along the pipeline: {"myths", "candidates", "released", "nfp": frame}.

    Myths have their source as well. Empty in `sample`, which has no released data.
    """
    if run.profile == "sample":
        return {}
    nfp = run.load("cancer_myth_nfp")
    return {
        "myths": myths(run).assign(source=run.load("cancer_myth_myths")["source"]),
        "candidates": candidates(run),
        "released": questions(run, whole=True),
        "nfp": nfp.assign(generator=nfp["from_model"].map(GENERATORS)),
    }
