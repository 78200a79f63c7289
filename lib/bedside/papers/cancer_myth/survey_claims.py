"""Cancer-Myth, section 2: what the tests of claims on the physicians' survey may use."""

import difflib
from typing import Any

import pandas as pd

from bedside.run import Run
from bedside.stats.rounded import Rounded, exact

from .survey import (
    ALIKE,
    EDITED,
    HUMAN,
    LINK,
    NAME,
    NUMBERED,
    RATED,
    SITE,
    answer_words,
    harmful,
    misd,
    paragraphs,
    source_tests,
    survey,
    whole_answers,
)

SUMMARY = r"[^:\n]{3,90}:\s+(?=\S)"  # what an edited paragraph begins with, after its number
NOTEBOOK = "01_physician_survey"  # which reads the ratings


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use: `survey`, all of it, or None where it isn't read."""
    found = {"human": HUMAN, "survey": None}
    if run.profile != "public" or run.notebook != NOTEBOOK:
        return found
    ratings, answers = survey(run), run.load("cancer_myth_survey_answers")
    return found | {
        "survey": {
            **of_ratings(ratings, source_tests(ratings, run)),
            **of_paragraphs(paragraphs(ratings)),
            **of_answers(answers),
        }
    }


def of_ratings(ratings: pd.DataFrame, tests: pd.DataFrame) -> dict[str, Any]:
    """What follows from whole answers' ratings and paragraphs' labels, mostly by source.

    tests: `survey.source_tests`.
    """
    whole, each = ratings[ratings["part"] == 0], whole_answers(ratings).stack()
    pairs = each.unstack("source")
    over = pairs.drop(columns=HUMAN).sub(pairs[HUMAN], axis=0)
    mine = tests[tests["row"].str.endswith(f" - {HUMAN}")]
    mine = mine.set_index(mine["row"].str.removesuffix(f" - {HUMAN}"))
    return {
        "rated": [
            *(whole[k].nunique() for k in ("question", "source", "rater")),
            whole["rating"].count(),
        ],
        "points": exact(each.groupby("source").mean()),
        "of_models": exact(pairs.drop(columns=HUMAN).groupby("question").mean().stack()),
        "above": exact((over > 0).mean()),
        "lead": exact(mine["difference"]),
        "p_lead": exact(mine["p_holm"]),
        "labelled": exact(harmful(ratings).groupby("source").mean()),
    }


def of_paragraphs(wide: pd.DataFrame) -> dict[str, Any]:
    """How far three ratings of a paragraph are apart, by source."""
    far = misd(wide)
    source = far.index.get_level_values("source")
    groups = {"all": far} | {k: far[source == k] for k in RATED.values()}
    shares = {
        k: (x.mean(), *(100 * x.between(*ends).mean() for ends in ((0, 2), (1, 2))))
        for k, x in groups.items()
    }
    columns = ["average", "to_2", "one_or_two"]
    most = {k: x.mode() for k, x in groups.items()}
    return {
        "paragraphs": len(wide),
        "spread": exact(pd.DataFrame(shares, index=columns).T),  # percent, but for the average
        "commonest": pd.Series({k: x[0] if len(x) == 1 else None for k, x in most.items()}),
    }


def of_answers(answers: pd.DataFrame) -> dict[str, Any]:
    """Lengths of the answers, and what shows who wrote them or how they were edited."""
    text, words = answers[EDITED], answer_words(answers)
    human, models = words[HUMAN], words.drop(columns=HUMAN)
    points = text.str.count(NUMBERED).sum()
    own = _own_words(answers)
    return {
        "words": {
            "shown": text.str.split().str.len().mean(),
            "site": answers[SITE].str.split().str.len().mean(),
        },
        "own_words": Rounded(min(own), sum(own) / 2, max(own)),
        "lengths": exact(words.mean()),
        "longer": exact(models.gt(human, axis=0).mean()),
        "shorter": exact(models.lt(human, axis=0).mean()),
        "alike": exact((models.div(human, axis=0) - 1).abs().le(ALIKE).mean()),
        "named": text.str.contains(NAME).sum(),
        "linked": text.str.contains(LINK).sum(),
        "listed": text.str.contains(NUMBERED).mean(),
        "summarised": text.str.count(NUMBERED + SUMMARY).sum() / points,
    }


def _own_words(answers):
    """Mean words of the edited answers that the social workers wrote themselves (A.2), in two ways.

    Words that the unedited answers have in the same order; and all but numbers and summaries.
    """

    def kept(before, after):
        match = difflib.SequenceMatcher(None, before.split(), after.split(), autojunk=False)
        return sum(block.size for block in match.get_matching_blocks())

    shared = pd.Series(map(kept, answers[SITE], answers[EDITED]))
    bare = answers[EDITED].str.replace(f"{NUMBERED}(?:{SUMMARY})?", "", regex=True)
    return shared.mean(), bare.str.split().str.len().mean()
