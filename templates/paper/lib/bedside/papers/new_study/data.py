"""New study: its sources as long frames, with an `item` column to join them by."""

from bedside.judges import with_rated
from bedside.sources import limited


def questions(run, whole=False):
    """The questions: item, question, reference; LIMIT or all."""
    frame = run.load("new_study_questions")
    return limited(run, frame[["item", "question", "reference"]], whole)


def labelled(run):
    """The labelled answers and those that your own raters labelled, if there are any.

    Columns: answer_id, item, answer, label, labelled_by, rated, question, reference.
    """
    written = run.load("new_study_answers")
    answers = with_rated(run, written, "new_study_rated", "their author")
    return answers.merge(questions(run, whole=True), on="item", validate="many_to_one")
