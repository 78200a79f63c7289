"""What raters decide about Cancer-Myth's replies (labels.toml), and what becomes of the labels."""

import functools
from pathlib import Path

import numpy as np

from bedside.publish.judged_items import row_id, text, text_of
from bedside.read import paths
from bedside.read.checks import normal
from bedside.read.sources import here
from bedside.run import Run

from . import data, survey
from .display import ANSWERED, CANDIDATE, GRADES, PLAIN, REVIEWED
from .pipeline import KEPT, kept


def record(row: dict, value: str, by: str) -> dict:
    """A settled label as a row of the sources cancer_myth_rated and cancer_myth_rated_nfp."""
    return {
        "answer_id": row["id"],
        "item": row["item"],
        "question": text_of(row, "Question") or text_of(row, "Generated question"),
        "correction": text_of(row, "What sets the false presupposition right"),
        "answer": row["reply"],
        "label": int(value),
        "tone": "rated",
        "labelled_by": by,
    }


# ---- the review of candidates (3.3)


def reviewed(row: dict, value: str, by: str) -> dict:
    """A settled label as a row of the source cancer_myth_reviewed."""
    about = {"item": row["item"], "question": row["title"], "category": row["category"]}
    return {**about, "label": value, "labelled_by": by}


def _physicians_review() -> list[dict]:
    """What became of the released candidates, as labels.

    Those released as Cancer-Myth were kept, and those released as Cancer-Myth-NFP hold no false
    presupposition. By which criterion the others were taken out isn't released, so they have none.
    """
    run = Run("cancer_myth", REVIEWED, profile="public")
    raw = data.released(run)
    offered = raw["candidates"]
    plain = offered["question"].map(normal).isin(raw["nfp"]["example_question"].map(normal))
    value = np.select([kept(offered, raw["released"]), plain], ["keep", "none"], "")
    offered = offered.assign(value=value)[value != ""]
    return [
        _physicians(run, r.item, r.generator, CANDIDATE, rater="their review", value=r.value)
        for r in offered.itertuples()
    ]


def _physicians(run, item, model, section, part="", **label):
    """A label of the study's own physicians."""
    id = row_id(run.paper, run.notebook, item, model, section) + part
    return {"id": id, "item": item, "group": "physicians", "type": "", "reason": "", **label}


# ---- the physicians' survey (section 2, appendix A)

NO_ADVICE = "none"


def pieces(row: dict, whole: bool) -> list[dict]:
    """The whole answer as the survey showed it, or its paragraphs as the survey cut them.

    Each has its number in the survey, 0 for the whole answer; beside a paragraph stands the whole.
    This run's answers are edited as the authors' were before their survey.
    """
    reply = survey.edited(row["reply"]) if row["section"] == ANSWERED else row["reply"]
    if whole:
        return [{**row, "id": f"{row['id']}#0", "reply": survey.shown(reply)}]
    blocks = [*row["blocks"], text("The whole answer", survey.shown(reply))]
    return [
        {**row, "blocks": blocks, "id": f"{row['id']}#{part}", "reply": words}
        for part, words in enumerate(survey.cut(reply), 1)
    ]


def ratings(whole: bool) -> list[dict]:
    """The released ratings of whole answers, or of paragraphs, as labels."""
    if not here("cancer_myth_survey_ratings"):
        return []
    run = Run("cancer_myth", "01_physician_survey", profile="public")
    found = survey.survey(run)
    return [
        _physicians(run, f"survey-{r.question}", r.source, "survey", f"#{r.part}", rater=r.rater)
        | {"value": NO_ADVICE if r.rating != r.rating else f"{r.rating:.0f}"}
        | {"type": "; ".join(r.labels), "reason": r.missing}
        for r in found[(found["part"] == 0) == whole].itertuples()
    ]


OF_5 = {str(n): f"{n} of 5" for n in survey.SCALE}


def _survey(whole, **words):
    """What both tasks have. Nothing reads other ratings: the physicians' own are released."""
    parts, given = (functools.partial(f, whole=whole) for f in (pieces, ratings))
    return {"record": record, "split": parts, "reference": given, "words": OF_5 | words}


COMPUTED = {
    "presupposition": {"record": record, "words": {str(v): said for v, said in GRADES.items()}},
    "nfp": {"record": record, "words": {"0": PLAIN[-1], "1": PLAIN[1]}},
    "review": {"record": reviewed, "words": KEPT, "reference": _physicians_review},
    "survey_paragraphs": _survey(whole=False, **{NO_ADVICE: "no advice in it"}),
    "survey_answers": _survey(whole=True),
}
WRITTEN = paths.toml(Path(__file__).with_suffix(".toml"))
TASKS = tuple(
    {"name": name, "paper": "cancer_myth", **COMPUTED[name]}
    | {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    for name, fields in WRITTEN.items()
)
