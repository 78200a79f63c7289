"""New study: its sources as long frames, joined by the column `item`."""

from bedside.checks import joined
from bedside.judges import with_rated
from bedside.sources import limited


def questions(run, whole=False):
    """The questions: item, question, reference; LIMIT or all."""
    frame = run.load("new_study_questions")
    return limited(run, frame[["item", "question", "reference"]], whole)


def labelled(run):
    """The labelled answers, with those that your own raters labelled, if any.

    Raters' labels of items that this profile lacks are left out, and how many is printed.

    Columns: answer_id, item, answer, label, labelled_by, rated, question, reference.
    """
    written, asked = run.load("new_study_answers"), questions(run, whole=True)
    known = asked["item"].tolist()
    answers = with_rated(run, written, "new_study_rated", "their author", known)
    return joined(answers, asked, validate="many_to_one", whole="left")
