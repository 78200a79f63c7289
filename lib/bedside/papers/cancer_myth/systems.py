"""The released answers and grades of eight systems (Figures 6 and 7): `all_data.json`.

Nobody here has seen the file. So it is read by its description, and what differs from that is a
finding and no error: `checks`, `places`.
"""

import numpy as np
import pandas as pd

from bedside.judging.judges import LEXICAL
from bedside.judging.trust_cards import trust_card
from bedside.read.checks import joined, normal
from bedside.read.sources import here
from bedside.run import Run
from bedside.write.results import points

from . import data
from .study import GRADES, by_each_judge, verdicts

SYSTEMS = {  # as in the file: as here
    "Gemini-1.5-Pro": "Gemini-1.5-Pro",
    "Claude-3.5-Sonnet": "Claude-3.5-Sonnet",
    "GPT-4-Turbo": "GPT-4-Turbo",
    "DeepSeek-R1": "DeepSeek-R1",
    "DeepSeek-V3": "DeepSeek-V3",
    "GPT-4o": "GPT-4o",
    "GPT-4o (MDAgents)": "MDAgents (GPT-4o)",
    "GPT-3.5": "GPT-3.5",
}
FILE, GENERATED = "cancer_myth_answers", "cancer_myth_generated"
JUDGE = "GPT-4o, as released"
LABELLED = {  # of the trust card of a judge that grades them, too
    "labelled_by": "GPT-4o, the study's judge",
    "task": "released answers",
    "of": "answers of eight systems, graded by GPT-4o",
}
ABSENT, NO_ANSWER, NO_GRADE = "not in the file", "no answer in the file", "no grade"
PLACES = (  # columns of `places`
    "answers",
    "gaps before the last",
    "gaps at the end",
    "likeness to the own question",
    "blocks",
    MOVED := "blocks nearer to other questions",
)
NEAR, BLOCK = 5, 25  # places compared to each side; answers whose mean similarity is compared


def file(run: Run) -> pd.DataFrame | None:
    """The file as released, in its order, with `at` (place), `text` and `ours` (item); or None.

    ours: the item among the 585 released questions with this text, empty without one or where the
    text stood before.
    """
    if run.profile == "sample" or not here(FILE):
        return None
    columns = ["example_question", "category", "from_model", "answers", "scores", "QID"]
    found = run.load(FILE).reindex(columns=columns)
    ours = data.questions(run, whole=True)
    items = dict(zip(map(normal, ours["question"]), ours["item"]))
    text = found["example_question"].map(normal)
    item = text.map(items).fillna("").where(~text.duplicated(), "")
    return found.assign(at=range(len(found)), text=text, ours=item)


def by_system(found):
    """A row for each place and system that it names: at, ours, text, model, answer, score.

    answer: empty if it is no text with words. score: missing if it is none of GRADES alone; `other`
    says that something else stands there. The paper's systems come first.
    """
    rows = []
    for r in found.itertuples():
        both = [said if isinstance(said, dict) else {} for said in (r.answers, r.scores)]
        for key in both[0] | both[1]:
            answer, score = (said.get(key) for said in both)
            answer = answer if isinstance(answer, str) and answer.strip() else ""
            grade = type(score) in (int, float) and score in GRADES
            rest = (answer, score if grade else None, not grade and score is not None)
            rows.append((r.at, r.ours, r.text, SYSTEMS.get(key, key), *rest))
    columns = ["at", "ours", "text", "model", "answer", "score", "other"]
    order = {name: k for k, name in enumerate(SYSTEMS.values())}
    said = pd.DataFrame(rows, columns=columns).astype({"score": object})
    last = said["model"].map(order).fillna(len(order))
    return said.iloc[np.lexsort((said["at"], last))].reset_index(drop=True)


def answers(run, found, whole=False):
    """Answers with their grades to our questions, or all, as `study.verdicts` has them.

    A row for each question and system, by the question's text, never by its place. An answer that
    is missing or without words has a reply_status, and a score that is no grade the status error;
    neither is scored.
    """
    asked, said = data.questions(run, whole), by_system(found)
    every = pd.DataFrame({"model": said["model"].unique()}).merge(asked, how="cross")
    said = said[["ours", "model", "answer", "score"]].rename(columns={"ours": "item"})
    every = every.merge(said[said["item"] != ""], "left", ["item", "model"], validate="one_to_one")
    absent = ~every["item"].isin(found["ours"])
    answer, graded = every["answer"].fillna(""), every["score"].notna()
    why = np.select([absent, answer == ""], [ABSENT, NO_ANSWER], "")
    scored = graded & (answer != "")
    return every.drop(columns="score").assign(
        answer=answer,
        reply_status=why,
        truncated=False,
        sent="",
        status=np.where(scored, "graded", "error"),
        value=every["score"].where(scored, None),
        raw=np.where(why != "", why, np.where(graded, "", NO_GRADE)),
    )


def generated(run):
    """The generated questions before balancing: question, category, generator; or None."""
    if run.profile == "sample" or not here(GENERATED):
        return None
    columns = ["example_question", "category", "from_model"]
    found = run.load(GENERATED).reindex(columns=columns).astype(str)
    return pd.DataFrame(
        {
            "question": found["example_question"],
            "category": found["category"].str.lower().map(data.CATEGORIES),
            "generator": found["from_model"].map(data.GENERATORS),
        }
    )


async def by_judges(run, given, known):
    """Verdicts of word overlap and the run's judge on `answers`, and their cards: two dicts.

    A card is measured against the grades in `given`, and written.
    """
    items, made, cards = data.unseen(run, data.questions(run)), {}, {}
    columns = ["item", "model", "answer", "reply_status", "truncated", "sent"]
    for judge in dict.fromkeys([LEXICAL, run.judge]):
        made[judge] = await verdicts(run, items, given[columns], known, judge)
        cards[judge] = run.write_card(judge, card(given, made[judge]), **LABELLED)
    return made, cards


async def kept(run, given, known):
    """The `answers` for `Run.keep`: GPT-4o's grades, then those of each judge."""
    others = await by_each_judge(run, given, "myth", known)
    theirs = given.assign(judge=JUDGE, right=given["value"] == 1, kind="myth")
    made = pd.concat([theirs, others], ignore_index=True)
    return made.assign(configuration="released")


def card(given, made):
    """The trust card of a judge, with verdicts `made`, against the grades in `given`."""
    keys = ["item", "model"]
    both = joined(given[[*keys, "status", "value"]], made, keys)
    both = both[both["status_x"] == "graded"]
    found = both.rename(columns={"status_y": "status", "value_y": "value"})
    return trust_card(both["value_x"].astype(int), found, GRADES, units=both["unit"])


# ---- is the file as described?


def checks(run, found):
    """Counts of the file as table rows, beside those expected; what differs is a finding.

    Of questions, what is said of them, and by system of answers, grades and scores that are none.
    """
    ours, said = data.questions(run, whole=True), by_system(found)
    there = found.merge(ours, left_on="ours", right_on="item", suffixes=("_file", ""))
    kind = there["category_file"].astype(str).str.lower().map(data.CATEGORIES)
    writer = there["from_model"].astype(str).map(data.GENERATORS)
    counted = {
        "questions": (len(ours), len(found)),
        "questions of the released set": (len(ours), len(there)),
        "questions that stand there again": (0, found["text"].duplicated().sum()),
        "places other than QID says": (0, (found["QID"] != found["at"]).sum()),
        "categories that differ": (0, (kind != there["category"]).sum()),
        "generators that differ": (0, (writer != there["generator"]).sum()),
    }
    for name in dict.fromkeys([*SYSTEMS.values(), *said["model"]]):
        mine, many = said[said["model"] == name], len(ours) * (name in SYSTEMS.values())
        counted |= {
            f"{name}: answers": (many, (mine["answer"] != "").sum()),
            f"{name}: grades": (many, mine["score"].notna().sum()),
            f"{name}: scores that are no grade": (0, mine["other"].sum()),
        }
    return points(pd.DataFrame(counted, index=["expected", "in the file"]).T, "raw")


def differing(counts):
    """The rows of `checks` whose two numbers differ, as {what: (expected, in the file)}."""
    wide = counts.pivot(index="row", columns="column", values="value").astype(int)
    wide = wide.loc[counts["row"].unique()].query("expected != `in the file`")
    return dict(zip(wide.index, wide.itertuples(index=False, name=None)))


def places(found):
    """Where answers stand, by system: counts, gaps and words shared with their own questions.

    PLACES: answers, places without one before the last and after it, mean cosine of TF-IDF with
    the question at the same place, blocks of BLOCK answers in turn, and blocks nearer to the
    questions at one other distance of up to NEAR places.
    The authors matched answers by place: one that was dropped would move all after it and leave a
    gap at the end. With a place moved, Figures 6b and 7 and paired tests change, Figure 6a doesn't.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    lines, said = [], by_system(found)
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    asked = words.fit_transform(found["text"]) if len(said) else None
    for name, mine in said[said["answer"] != ""].groupby("model", sort=False):
        at, given = mine["at"].to_numpy(), words.transform(mine["answer"])
        near = {}
        for d in range(-NEAR, NEAR + 1):
            there = (at + d >= 0) & (at + d < len(found))
            cosine = given[there].multiply(asked[at[there] + d]).sum(1)
            near[d] = pd.Series(np.ravel(cosine), np.flatnonzero(there))
        shared = pd.DataFrame(near)  # NaN past either end
        blocks = shared.groupby(np.arange(len(shared)) // BLOCK).mean()
        moved = (blocks.drop(columns=0).max(axis=1) > blocks[0]).sum()
        gaps = at.max() + 1 - len(at)
        end = len(found) - 1 - at.max()
        lines.append((name, len(at), gaps, end, shared[0].mean(), len(blocks), moved))
    return pd.DataFrame(lines, columns=["model", *PLACES]).set_index("model")
