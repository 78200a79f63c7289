"""What was handed in, checked again as data: no code of a student is run.

A file says how its answers were, and anybody can write a file. So the checks take the recorded
answers once more, and what the file says is kept beside what they say.
"""

import contextlib
import io

from bedside import BedsideError

from .tasks import open_in

UNCHECKED = "unchecked"  # the state of an answer that is code
CODE = "the answer is a function, and a student's code is not run here"


def check(those, sheet):
    """Check the answers of these students again, each in its place; "" or why that can't be done.

    those: hand-ins of one sheet, as `classroom.students` reads them. sheet: makes the sheet. The
    states that the files had become `told`.
    """
    try:
        made = sheet()
    except BedsideError as e:  # a sheet on released data that are not here
        return str(e)
    for one in those:
        one.told = {n: state for n, (state, *_) in one.answers.items()}
        one.answers |= {
            n: (*verdict(made, n, answer), answer)
            for n, (_, _, answer) in one.answers.items()
            if n in made.tasks()
        }
    return ""


def verdict(sheet, task, answer):
    """The state of a recorded answer and what the check says of it."""
    if sheet.tasks()[task].code and not open_in(answer):
        return UNCHECKED, CODE
    with contextlib.redirect_stdout(io.StringIO()):
        said = sheet.feedback(task, answer)
    return said.state, said.text
