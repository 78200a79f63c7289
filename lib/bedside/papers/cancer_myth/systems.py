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
PLACES = {  # columns of `places`, in words
    "own": "likeness to the own question",
    "answers": "answers",
    "gaps": "gaps before the last",
    "end": "gaps at the end",
    "blocks": "blocks",
    "moved": "blocks nearer to other questions",
}
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
    found["answers"], found["scores"] = (
        found[c].map(lambda said: said if isinstance(said, dict) else {})
        for c in ("answers", "scores")
    )
    return found.assign(at=range(len(found)), text=text, ours=item)


def named(found):
    """The systems of the file by their name there, those of the paper first."""
    there = dict.fromkeys(k for c in ("answers", "scores") for said in found[c] for k in said)
    known = {k: name for k, name in SYSTEMS.items() if k in there}
    return known | {k: k for k in there if k not in known}


def _is_grade(score):
    """Whether a score is one of GRADES: a number alone, and no truth value."""
    return isinstance(score, int | float) and not isinstance(score, bool) and score in GRADES


def _is_answer(said):
    """Whether this is a text with words."""
    return isinstance(said, str) and bool(said.strip())


def answers(run: Run, found: pd.DataFrame, whole: bool = False) -> pd.DataFrame:
    """The answers to the first LIMIT of our questions, or all, as `study.verdicts` has them.

    A row for each question and system, by the question's text, never by its place. An answer that
    is missing or without words has a reply_status, and a score that is no grade the status error;
    neither is scored.
    """
    asked = data.questions(run, whole)
    mine = asked.merge(found, left_on="item", right_on="ours", how="left", suffixes=("", "_file"))
    parts = []
    for key, name in named(found).items():
        said, score = _of(mine, key)
        came, graded = said.map(_is_answer), score.map(_is_grade)
        why = np.select([mine["ours"].isna(), ~came], [ABSENT, NO_ANSWER], "")
        scored = came & graded
        parts.append(
            asked.assign(
                model=name,
                answer=said.where(came, ""),
                reply_status=why,
                truncated=False,
                sent="",
                status=np.where(scored, "graded", "error"),
                value=score.where(scored, None),
                raw=np.where(why != "", why, np.where(graded, "", NO_GRADE)),
            )
        )
    return pd.concat(parts, ignore_index=True) if parts else asked.head(0).assign(status="")


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

    Of questions, categories, generators, and by system of answers, grades and scores that are none.
    """
    ours = data.questions(run, whole=True)
    kinds = found["category"].astype(str).str.lower().map(data.CATEGORIES)
    writers = found["from_model"].astype(str).map(data.GENERATORS)
    there = found.assign(kind=kinds, writer=writers).merge(ours, left_on="ours", right_on="item")
    known = there["kind"].notna()
    counted = [
        ("questions", len(ours), len(found)),
        ("questions of the released set", len(ours), len(there)),
        ("questions that stand there again", 0, found["text"].duplicated().sum()),
        ("places other than QID says", 0, (found["QID"] != found["at"]).sum()),
        ("categories not known", 0, kinds.isna().sum()),
        ("categories that differ", 0, (known & (there["kind"] != there["category_y"])).sum()),
        ("generators that differ", 0, (there["writer"] != there["generator"]).sum()),
    ]
    for what, made in (("category", kinds), ("generator", writers)):
        counts, expected = made.value_counts(), ours[what].value_counts()
        # one that does not occur counts 0, beside the number expected
        counted += [(f"{what}: {k}", n, counts.get(k, 0)) for k, n in expected.items()]
    keys = {name: key for key, name in named(found).items()}
    for name in dict.fromkeys([*SYSTEMS.values(), *keys]):
        said, score = _of(found, keys.get(name))  # a system that is not there has no answer
        many, scored = len(ours) * (name in SYSTEMS.values()), score.map(_is_grade)
        counted += [
            (f"{name}: answers", many, said.map(_is_answer).sum()),
            (f"{name}: grades", many, scored.sum()),
            (f"{name}: scores that are no grade", 0, (score.notna() & ~scored).sum()),
        ]
    columns = {"expected": 1, "in the file": 2}
    return points({(row[0], c): int(row[i]) for row in counted for c, i in columns.items()}, "raw")


def differing(counts):
    """The rows of `checks` whose two numbers differ, as {what: (expected, in the file)}."""
    wide = counts.pivot(index="row", columns="column", values="value")[["expected", "in the file"]]
    return {
        r: tuple(map(int, pair)) for r, pair in zip(wide.index, wide.values) if pair[0] != pair[1]
    }


def _of(found, key):
    """(answers, scores) of a system, by its name in the file."""
    return (
        found[c].map(lambda said: said.get(key) if isinstance(said, dict) else None)
        for c in ("answers", "scores")
    )


def places(found):
    """Where answers stand, by system: counts, gaps and words shared with their own questions.

    Columns: model, answers, gaps (places without an answer before the last one), end (those after
    it), own (mean cosine of TF-IDF with the question at the same place), blocks (of BLOCK answers
    in turn) and moved (blocks nearer to the questions at one other distance of up to NEAR places).
    The authors matched answers by place: one that was dropped would move all after it and leave a
    gap at the end. With a place moved, Figures 6b and 7 and paired tests change, Figure 6a doesn't.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    lines, there = [], named(found)
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    asked = words.fit_transform(found["text"]) if there else None
    for key, name in there.items():
        said, _ = _of(found, key)
        came = said.map(_is_answer).to_numpy()
        given = words.transform(said.where(came, ""))
        near = {d: _alike(given, asked, d) for d in range(-NEAR, NEAR + 1)}
        shared = pd.DataFrame(near)[came]
        blocks = shared.groupby(np.arange(len(shared)) // BLOCK).mean()
        last = int(came.nonzero()[0].max(initial=-1)) + 1
        lines.append(
            {
                "model": name,
                "answers": came.sum(),
                "gaps": last - came.sum(),
                "end": len(came) - last,
                "own": shared[0].mean(),
                "blocks": len(blocks),
                "moved": (blocks.drop(columns=0).max(axis=1) > blocks[0]).sum(),
            }
        )
    return pd.DataFrame(lines)


def _alike(given, asked, distance):
    """Cosine (n,) of each row with the row of the other at a distance, NaN past its ends."""
    n = given.shape[0]
    made, at = np.full(n, np.nan), np.arange(max(0, -distance), min(n, n - distance))
    made[at] = np.asarray(given[at].multiply(asked[at + distance]).sum(1)).ravel()
    return made
