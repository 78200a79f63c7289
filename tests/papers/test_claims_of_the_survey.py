"""Cancer-Myth's claims on the survey: other ratings and other answers turn each interpretation."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from bedside.papers.cancer_myth import survey, survey_claims
from bedside.papers.cancer_myth.survey import EDITED, HUMAN, RATED, SITE
from claim_worlds import unturned

SUMS = {"GPT-4-Turbo": 310, "Gemini-1.5-Pro": 293, "LLaMa-3.1-405B": 268, HUMAN: 240}
MOSTLY_1 = [0.15, 0.6, 0.25, 0, 0]  # how many paragraphs have a MISD of 0 to 4
FEW = {"Overly generic": 0.1, "Factually incorrect": 0.01}  # paragraphs with a label


def ratings(rng, sums=SUMS, questions=25, parts=648, far=MOSTLY_1, human=None, labels=FEW):
    """Ratings as of `survey.survey`.

    sums: of the points of whole answers; parts: paragraphs in all; far: shares of MISDs; human:
    those of the social workers' paragraphs.
    """
    each, rows = {k: np.full(3 * questions, total // 75) for k, total in sums.items()}, []
    for k, total in sums.items():
        each[k][: total % 75] += 1
    answers = [(q, source) for q in range(questions) for source in RATED.values()]
    for i, (q, source) in enumerate(answers):
        given = [each[source][3 * q : 3 * q + 3]]
        for _ in range(parts // len(answers) + (i < parts % len(answers))):
            most = rng.choice(5, p=human if human and source == HUMAN else far)
            least = rng.integers(1, 6 - most)
            middle = rng.integers(least, least + most + 1)
            given.append(rng.permutation([least, middle, least + most]))
        for part, points in enumerate(given):
            said = [label for label, p in labels.items() if part and rng.random() < p]
            rows += [(q, source, part, f"Doctor {k}", x, said, "") for k, x in enumerate(points)]
    return pd.DataFrame(rows, columns=[*survey.KEYS, "rating", "labels", "missing"])


def answers(shown=237, site=300, length=1.6, listed=24, named=0, bare=1):
    """Answers as released, most of them lists. shown, site: words of the edited, and as they stand.

    length: of the models' answers, against the edited ones; named: how many name the site; bare:
    how many begin without a summary.
    """
    words = [f"w{k}" for k in range(1000)]
    rows = []
    for q in range(25):
        head = ["1.", "One", "point" if q < bare else "point:"] if q < listed else []
        name = ["CancerCare"] * (q < named)
        text = [*head, *name, *words[: shown - len(head) - len(name)]]
        made = {SITE: words[:site], EDITED: text}
        models = {k: words[: round(length * shown)] for k in RATED if k != EDITED}
        rows.append({k: " ".join(v) for k, v in (made | models).items()})
    return pd.DataFrame(rows)


def of(ratings, answers, p=0.01):
    """The survey's quantities. p: of each model's lead over the social workers."""
    mean = survey.whole_answers(ratings).stack().groupby("source").mean()
    lead = mean.drop(HUMAN) - mean[HUMAN]
    tests = pd.DataFrame({"row": lead.index + f" - {HUMAN}", "difference": lead, "p_holm": p})
    return {
        "survey": {
            **survey_claims.of_ratings(ratings, tests),
            **survey_claims.of_paragraphs(survey.paragraphs(ratings)),
            **survey_claims.of_answers(answers),
        }
    }


def other_survey(rng):
    """Other questions, points, paragraphs, labels, agreement, lengths and forms."""
    labels = {label: rng.choice([0, 0.9]) for label in FEW}
    far, human = ([*rng.dirichlet(most)] for most in ([3, 1, 1, 1, 1], np.ones(5) / 2))
    sums = {k: int(rng.choice([370, rng.integers(80, 370)])) for k in SUMS}
    made = ratings(rng, sums, 24, 600, far, human, labels)
    shown, length = int(rng.choice([237, 238, 240, 400])), rng.choice([1, 1.1])
    asked = answers(
        shown, 237, length, *(int(rng.choice(few)) for few in ([5, 25], [0, 5], [0, 1]))
    )
    return of(made, asked, p=0.2)


def test_each_interpretation_turns_for_some_other_survey(run_of):
    names = cancer_myth.names(run_of("cancer_myth", "01_physician_survey"))
    kept = {k: names[k] for k in ("human", "text", "within")}
    given = dict.fromkeys(names) | kept | of(ratings(np.random.default_rng(0)), answers())
    left = unturned("cancer_myth", given, other_survey, 30)
    assert not {key for key in left if key[0].startswith("cm-survey")}
