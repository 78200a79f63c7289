"""New study: its sources as long frames, joined by the column `item`."""

from bedside.judging.judges import with_raters_labels
from bedside.read.checks import joined
from bedside.read.sources import first_items


def questions(run, whole=False):
    """The questions: item, question, reference; LIMIT or all."""
    frame = run.load("new_study_questions")
    return first_items(run, frame[["item", "question", "reference"]], whole)


def labelled(run):
    """The labelled answers, with those that your own raters labelled, if any.

    Raters' labels of items that this profile lacks are left out, and how many is printed.

    Columns: answer_id, item, answer, label, labelled_by, rated, question, reference.
    """
    written, asked = run.load("new_study_answers"), questions(run, whole=True)
    known = asked["item"].tolist()
    rated = "new_study_rated"
    answers = with_raters_labels(run, written, rated, "their author", known)
    return joined(answers, asked, validate="many_to_one", whole="left")
