"""New study: its sources as long frames, joined by the column `item`."""

from bedside.judges import with_rated
from bedside.sources import limited


def questions(run, whole=False):
    """The questions: item, question, reference; LIMIT or all."""
    frame = run.load("new_study_questions")
    return limited(run, frame[["item", "question", "reference"]], whole)


def labelled(run):
    """The labelled answers, with those that your own raters labelled, if any.

    Columns: answer_id, item, answer, label, labelled_by, rated, question, reference.
    """
    written = run.load("new_study_answers")
    answers = with_rated(run, written, "new_study_rated", "their author")
    return answers.merge(questions(run, whole=True), on="item", validate="many_to_one")
